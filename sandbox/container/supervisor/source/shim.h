/* The parent of one command: adopts its orphans, kills its tree, reports its end. */
#ifndef SHIM_H
#define SHIM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define SHIM_KILL SIGUSR1 /* the supervisor's order to kill the tree */
#define SHIM_ORDER SIGUSR2 /* and to take what it has sent */

struct launch {
    char **argv, **environment;
    const char *cwd;
    uint32_t uid, gid;
    bool kill_survivors, announce, hold;
    bool listens, traced; /* how its execs are shown, if they are */
    bool root;            /* by `sudo`: asks before it runs */
    struct rlimit descriptors; /* what the command gets, the supervisor has more */
    pid_t supervisor;
    int stdin_fd, stdout_fd, stderr_fd, status_fd; /* stdin_fd < 0: /dev/null */
    int watch_fd; /* to the supervisor: its listener goes there, orders come; < 0: none */
};

enum shim_event { SHIM_STARTED = 1, SHIM_FAILED, SHIM_ENDED, SHIM_ROOT_ENDED };
enum shim_stage { STAGE_USER = 1, STAGE_CWD, STAGE_PROGRAM, STAGE_FORK, STAGE_WATCH };

/* What goes through the status pipe, one write each. */
struct shim_report {
    uint32_t event;
    pid_t pid;                 /* SHIM_STARTED, SHIM_ROOT_ENDED */
    int32_t stage, number;     /* SHIM_FAILED: where and which errno */
    int32_t status;            /* SHIM_ENDED, SHIM_ROOT_ENDED: as wait gives it */
    uint32_t survivors;
    uint64_t ended_us, user_us, system_us, peak_bytes;
};

const char *stage_name(int stage);

/* `plain`: without close_range. */
void shim_prepare(bool plain);
/* Runs in a forked child and does not return. */
_Noreturn void shim(const struct launch *launch);

#endif
