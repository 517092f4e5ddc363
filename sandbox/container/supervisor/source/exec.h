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

#define EXEC_ARGUMENTS 8192 /* bytes of arguments that the host is told, ends included */
#define EXEC_CHAIN 2048     /* what interpreter lines put in front of the arguments */

/* A file as it was: another one, or other content, differs. */
struct identity {
    uint64_t device, inode, size;
    int64_t changed_ns;
};

/* What must be found once the exec is done. */
struct expectation {
    struct identity program, script; /* what runs in the end; the file of an interpreter line */
    char *script_path;               /* where the interpreter will open it, or NULL */
    unsigned char command_line[32];  /* SHA-256 of /proc/PID/cmdline */
    struct identity before;          /* what runs until then, */
    uint64_t layout[4];              /* and where its memory lies */
};

/* The exec that is being looked at; there is one at a time. */
struct exec {
    pid_t thread, pid, parent;
    struct user user;
    uint32_t flags;         /* EXECUTION_... of the protocol */
    char program[PATH_MAX]; /* as given; /dev/fd/N where it is given by a descriptor */
    char resolved[PATH_MAX];
    char cwd[PATH_MAX];
    uint32_t count; /* of arguments; those that are told: */
    uint32_t told;
    size_t arguments_length;
    char arguments[EXEC_ARGUMENTS]; /* each ends with NUL */
    struct expectation expected;
};

/* What is known of a command's first exec from elsewhere. */
struct first {
    pid_t pid;
    struct user user;
    char *program, *cwd;
    char *arguments; /* each ends with NUL */
    size_t arguments_length;
};

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

/* Parts that both ways of reading share. Begins as the user of the process; false where it is
   gone or nobody's to be read. Words end with NUL each. */
bool exec_begin(struct exec *exec, pid_t pid);
void exec_add_words(struct exec *exec, const unsigned char *bytes, size_t length);
void exec_forget_words(struct exec *exec);
/* A string of a process: 0 or an errno. */
int exec_text(pid_t pid, uint64_t address, char *into, size_t size);
/* What an open file is called; empty where that is not known. */
void exec_name_of(int fd, char into[PATH_MAX]);

/* ---- program.c ---- */

/* Where the program of an exec is looked for. */
struct search {
    const char *program;
    int folder; /* AT_FDCWD for that of the process */
    int flags;  /* of execveat */
    const char *cwd;
    pid_t pid, thread;
};

void identity_of(int fd, struct identity *identity);
bool identity_same(const struct identity *left, const struct identity *right);
/* Opens a program to be looked at, as the kernel would find it: -1 with errno. `odd`: it lies
   behind a link of /proc that means another thing to us. */
int program_open(const struct search *search, bool *odd);
/* Follows interpreter lines from `program`, which is closed, to what runs in the end. 0 or an
   errno. `prefix` is what comes in front of the arguments but the first, `length` 0 for none. */
int program_chain(int program, const struct search *search, struct identity *last, char *prefix,
                  size_t *length);

/* ---- verify.c ---- */

enum finding {
    FOUND_WAITING,  /* it has not stopped yet */
    FOUND_APPROVED, /* what was approved runs */
    FOUND_FAILED,   /* the kernel refused it, all is as before */
    FOUND_OTHER,    /* something else runs */
    FOUND_GONE,
};

/* Where the process is, so that it can be told whether an exec has happened; false: unreadable. */
bool exec_layout(pid_t pid, char *state, pid_t *parent, uint64_t layout[4]);
enum finding exec_verify(pid_t pid, struct user user, const struct expectation *expected);
void expectation_free(struct expectation *expected);

#endif
