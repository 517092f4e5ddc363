/* By which path a program believes to have been called. */
#include "called.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec.h"

#define PYTHON "python"

/* Copies a path without `./` in front and with one slash where there are several. */
static void plain(const char *path, char into[PATH_MAX]) {
    size_t length = 0;
    while (path[0] == '.' && path[1] == '/') path += 2 + strspn(path + 2, "/");
    for (; *path && length < PATH_MAX - 1; path++)
        if (*path != '/' || !length || into[length - 1] != '/') into[length++] = *path;
    into[length] = 0;
}

static bool runs(int folder, const char *path) {
    struct stat found;
    return fstatat(folder, path, &found, 0) == 0 && S_ISREG(found.st_mode) &&
           (found.st_mode & 0111);
}

/* CPython, Modules/getpath.py: the first regular file of that name in PATH that may be run. */
static bool first_in(const char *list, const char *name, int folder, char into[PATH_MAX]) {
    char path[PATH_MAX];
    while (list) {
        const char *end = strchr(list, ':');
        int length = end ? (int)(end - list) : (int)strlen(list);
        int size = snprintf(path, sizeof path, "%.*s%s%s", length, list, length ? "/" : "", name);
        if (size > 0 && size < (int)sizeof path && runs(folder, path)) {
            plain(path, into);
            return true;
        }
        list = end ? end + 1 : NULL;
    }
    return false;
}

bool called_elsewhere(const struct exec *exec) {
    char name[32], found[PATH_MAX], program[PATH_MAX];
    const char *first = exec->arguments;
    if (strncmp(first, PYTHON, sizeof PYTHON - 1) || strchr(first, '/')) return false;
    size_t length = strlen(exec->variables.path);
    if (length == sizeof exec->variables.path - 1) return true; /* who knows what was cut off */
    if (!length) return false;
    snprintf(name, sizeof name, "/proc/%d/cwd", (int)exec->pid);
    int folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool elsewhere = first_in(exec->variables.path, first, folder, found);
    if (folder >= 0) close(folder);
    plain(exec->program, program);
    return elsewhere && strcmp(found, program) != 0;
}
