/* An exec that has happened: read from the process, which has stopped before it does anything. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exec.h"

#define PIECE 4096

static int open_of(pid_t pid, const char *name, int flags) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return open(path, flags | O_CLOEXEC);
}

/* The name that the kernel was given; that of a script too. */
static bool read_name(struct exec *exec) {
    Elf64_auxv_t vector[64];
    int fd = open_of(exec->pid, "auxv", O_RDONLY);
    if (fd < 0) return false;
    ssize_t length = read(fd, vector, sizeof vector);
    close(fd);
    for (ssize_t i = 0; i < length / (ssize_t)sizeof *vector; i++)
        if (vector[i].a_type == AT_EXECFN)
            return exec_text(exec->pid, vector[i].a_un.a_val, exec->program, PATH_MAX) == 0;
    return false;
}

/* Reads the command line from `skip` on; false where it does not begin with `prefix`. */
static bool read_words(struct exec *exec, const char *prefix, size_t skip) {
    static unsigned char piece[PIECE];
    ssize_t got;
    size_t at = 0;
    bool right = true;
    int fd = open_of(exec->pid, "cmdline", O_RDONLY);
    if (fd < 0) return false;
    while (right && (got = read(fd, piece, sizeof piece)) > 0) {
        size_t length = (size_t)got, start = 0;
        if (at < skip) {
            start = skip - at < length ? skip - at : length;
            right = memcmp(piece, prefix + at, start) == 0;
        }
        exec_add_words(exec, piece + start, length - start);
        at += length;
    }
    close(fd);
    return right && at >= skip;
}

static void read_variables(struct exec *exec) {
    static unsigned char piece[PIECE];
    static char text[PATH_VARIABLE + 8];
    ssize_t got;
    size_t filled = 0;
    int fd = open_of(exec->pid, "environ", O_RDONLY);
    bool whole = fd >= 0;
    while (fd >= 0 && (got = read(fd, piece, sizeof piece)) > 0)
        for (ssize_t i = 0; i < got; i++) {
            if (filled < sizeof text - 1) text[filled++] = (char)piece[i];
            if (piece[i]) continue;
            text[filled] = 0;
            whole = variables_take(&exec->variables, text) && whole;
            filled = 0;
        }
    if (fd >= 0) close(fd);
    if (!whole) exec->flags |= EXECUTION_VARIABLES_CUT;
}

/* What an interpreter line has put in front of the words, if one has: then the file is a script
   whose last interpreter runs. A name that leads elsewhere by now says nothing. */
static size_t read_script(struct exec *exec, const struct identity *running, char *prefix) {
    struct search search = {exec->program, AT_FDCWD, 0, exec->cwd, exec->pid, exec->pid};
    struct identity named, last;
    char path[PATH_MAX];
    size_t length = 0;
    bool odd;
    int file = program_open(&search, &odd);
    if (file < 0) return 0;
    identity_of(file, &named);
    if (identity_same(&named, running)) {
        close(file);
        return 0;
    }
    exec_name_of(file, path);
    if (program_chain(file, &search, &last, prefix, &length) || !identity_same(&last, running))
        return 0;
    strcpy(exec->resolved, path);
    return length;
}

static bool read_all(struct exec *exec) {
    char prefix[EXEC_CHAIN], real[PATH_MAX];
    int program = open_of(exec->pid, "exe", O_PATH);
    if (program < 0) return false;
    identity_of(program, &exec->expected.program);
    exec_name_of(program, exec->resolved);
    close(program);
    strcpy(real, exec->resolved);
    if (!read_name(exec)) return false;
    read_variables(exec);
    size_t length = read_script(exec, &exec->expected.program, prefix);
    if (length) {
        exec_add_words(exec, (unsigned char *)exec->program, strlen(exec->program) + 1);
        if (read_words(exec, prefix, length)) return true;
        exec_forget_words(exec);
        strcpy(exec->resolved, real);
    }
    return read_words(exec, prefix, 0);
}

enum reading exec_stopped(struct exec *exec, pid_t pid, int *problem) {
    *problem = EACCES;
    bool whole = exec_begin(exec, pid) && read_all(exec);
    if (whole) exec_find_called(exec);
    user_leave();
    return whole ? READ_WELL : READ_REFUSED;
}
