/* Finds the file that an exec would run, as the kernel finds it. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXEC_CHAIN 2048 /* bytes that interpreter lines put in front of the arguments */

/* A file as it was: another one, or other content, differs. */
struct identity {
    uint64_t device, inode, size;
    int64_t changed_ns;
};

/* Where the program of an exec is looked for. */
struct search {
    const char *program;
    int folder; /* AT_FDCWD for that of the process */
    int flags;  /* of execveat */
    const char *cwd;
    pid_t pid, thread;
};

struct stat;
void identity_from(const struct stat *found, struct identity *identity);
void identity_of(int fd, struct identity *identity);
bool identity_same(const struct identity *left, const struct identity *right);
/* Opens a program to be looked at, as the kernel would find it: -1 with errno. `odd`: it lies
   behind a link of /proc that means another thing to us. */
int program_open(const struct search *search, bool *odd);
/* Follows interpreter lines from `program`, which is closed, to what runs in the end. 0 or an
   errno. `prefix` is what comes in front of the arguments but the first, `length` 0 for none. */
int program_chain(int program, const struct search *search, struct identity *last, char *prefix,
                  size_t *length);

#endif
