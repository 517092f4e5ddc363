/* Whether what runs after an exec is what was approved. */
#ifndef VERIFY_H
#define VERIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "place.h"
#include "program.h"

/* What must be found once the exec is done. */
struct expectation {
    struct identity program, script; /* what runs in the end; the file of an interpreter line */
    char *script_path;               /* where the interpreter will open it, or NULL */
    unsigned char command_line[32];  /* SHA-256 of /proc/PID/cmdline */
    struct identity before;          /* what runs until then, */
    uint64_t layout[4];              /* and where its memory lies */
};

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
