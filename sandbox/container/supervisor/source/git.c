/* What git is asked to do: git(1), "OPTIONS" and "GIT COMMANDS". */
#include "git.h"

#include <string.h>

#include "protocol.h"

/* Each takes its value as the next word. */
static const char *const with_value[] = {"-C",          "-c",           "--git-dir",
                                         "--work-tree", "--namespace",  "--super-prefix",
                                         "--config-env", "--attr-source", NULL};

/* Built in, so that no alias and no program in PATH can take their place. */
static const char *const harmless[] = {
    "add",         "blame",        "cat-file",    "check-attr", "check-ignore", "describe",
    "diff",        "diff-files",   "diff-index",  "diff-tree",  "for-each-ref", "grep",
    "hash-object", "log",          "ls-files",    "ls-tree",    "merge-base",   "mv",
    "name-rev",    "rev-list",     "rev-parse",   "rm",         "show",         "show-ref",
    "status",      "update-index", "write-tree",  NULL};

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

static const char *name_in(const char *path) {
    const char *last = strrchr(path, '/');
    return last ? last + 1 : path;
}

/* Whether a word may be short for `--output`, by which diff and log write any file. */
static bool may_be_output(const char *word) {
    return strncmp(word, "--o", 3) == 0;
}

bool git_moves_branches(const struct exec *exec) {
    if (strcmp(name_in(exec->resolved), "git") != 0) return false;
    if (!exec->told || exec->flags & EXECUTION_TRUNCATED) return true;
    const char *word = exec->arguments, *end = word + exec->arguments_length, *command = NULL;
    if (strcmp(name_in(word), "git") != 0) return true; /* `git-commit` is a command as well */
    bool value = false;
    for (word += strlen(word) + 1; word < end; word += strlen(word) + 1) {
        if (may_be_output(word)) return true;
        if (!command && !value && word[0] != '-') command = word;
        value = !command && !value && is_one_of(word, with_value);
    }
    return !command || !is_one_of(command, harmless);
}
