/* One exec as it is asked for: who, what, and what must come of it. Read from /proc. */
#ifndef EXEC_H
#define EXEC_H

#include <limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "place.h"
#include "program.h"
#include "variables.h"
#include "verify.h"

#define EXEC_ARGUMENTS 8192 /* bytes of arguments that the host is told, ends included */

/* The exec that is being looked at; there is one at a time. */
struct exec {
    pid_t thread, pid, parent;
    int handle; /* of the process, -1 while nobody has asked for it */
    struct user user;
    uint32_t flags;         /* EXECUTION_... of the protocol */
    char program[PATH_MAX]; /* as given; /dev/fd/N where it is given by a descriptor */
    char resolved[PATH_MAX];
    char cwd[PATH_MAX];
    uint32_t count; /* of arguments; those that are told: */
    uint32_t told;
    size_t arguments_length;
    char arguments[EXEC_ARGUMENTS]; /* each ends with NUL */
    struct variables variables;
    struct expectation expected;
};
extern struct exec present;

/* What is known of a command's first exec from elsewhere. */
struct first {
    pid_t pid;
    struct user user;
    char *program, *cwd;
    char *arguments; /* each ends with NUL */
    size_t arguments_length;
};
void first_free(struct first *first);

/* What became of looking at it. */
enum reading { READ_WELL, READ_MISSING, READ_REFUSED };

/* Reads all of what a notification stands for. READ_MISSING: the kernel itself would refuse it,
   READ_REFUSED: it must not run, for it cannot be read; `problem` is then an errno. With `hold`
   the expectation is filled in, whose `script_path` is then the caller's to free. */
enum reading exec_read(struct exec *exec, const struct seccomp_notif *asked, bool hold,
                       int *problem);
/* The first exec of a command, whose process nobody can read or change: told by the command. */
enum reading exec_first(struct exec *exec, const struct first *first, bool hold, int *problem);

/* The exec that a stopped process has just done; `problem` as above. */
enum reading exec_stopped(struct exec *exec, pid_t pid, int *problem);

/* The handle of its process, the caller's to close from here on; -1 with errno. */
int exec_take_handle(struct exec *exec);
/* Where nobody takes it. */
void exec_drop_handle(struct exec *exec);

/* Parts that both ways of reading share. Begins as the user of the process; false where it is
   gone or nobody's to be read. Words end with NUL each. */
bool exec_begin(struct exec *exec, pid_t pid);
void exec_add_words(struct exec *exec, const unsigned char *bytes, size_t length);
void exec_forget_words(struct exec *exec);
/* Tells of PATH where the program finds its own files by it, and not those beside it. */
void exec_find_called(struct exec *exec);
/* A string of a process: 0 or an errno. */
int exec_text(pid_t pid, uint64_t address, char *into, size_t size);
/* The process of a thread, which has a number of its own unless it is the first. */
pid_t process_of(pid_t thread);
/* What an open file is called; empty where that is not known. */
void exec_name_of(int fd, char into[PATH_MAX]);

#endif
