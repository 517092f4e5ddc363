/* The parent of one command: adopts its orphans, kills its tree, reports its end. */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "listener.h"
#include "order.h"
#include "tracer.h"
#include "tree.h"
#include "user.h"

#define STATUS_FD 3
#define WATCH_FD 4
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static volatile int failed_stage, failed_errno; /* written by the child, which shares our memory */

const char *stage_name(int stage) {
    switch (stage) {
        case STAGE_USER: return "user";
        case STAGE_CWD: return "cwd";
        case STAGE_PROGRAM: return "program";
        case STAGE_WATCH: return "watch";
        default: return "fork";
    }
}

static bool without_close_range;

void shim_prepare(bool plain) {
    without_close_range = plain;
}

static void close_from(int first) {
    /* One call for all, from Linux 5.9 on; else /proc tells which there are: close_range(2). */
    if (!without_close_range && syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0) return;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) _exit(1);
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (fd >= first && fd != dirfd(folder)) close(fd);
    }
    closedir(folder);
}

static void take_descriptors(const struct launch *launch) {
    /* All of the supervisor's descriptors are above 3, so no source is overwritten. */
    if (launch->stdin_fd >= 0) dup2(launch->stdin_fd, 0);
    dup2(launch->stdout_fd, 1);
    dup2(launch->stderr_fd, 2);
    if (launch->status_fd != STATUS_FD) dup3(launch->status_fd, STATUS_FD, O_CLOEXEC);
    bool watched = launch->watch_fd >= 0;
    if (watched && launch->watch_fd != WATCH_FD) dup3(launch->watch_fd, WATCH_FD, O_CLOEXEC);
    close_from(watched ? WATCH_FD + 1 : STATUS_FD + 1);
}

_Noreturn static void fail(const struct launch *launch, int stage) {
    if (launch->root) order_failed(WATCH_FD, launch->argv[0]);
    failed_errno = errno;
    failed_stage = stage;
    _exit(127);
}

/* A watched process asks with its first exec already, and names the program beforehand. */
static bool execute(const struct launch *launch, const char *program) {
    if (launch->listens || launch->root) {
        struct stat found;
        if (stat(program, &found)) return false;
        if (!S_ISREG(found.st_mode) || access(program, X_OK)) {
            errno = EACCES;
            return false;
        }
        if (launch->root && !order_granted(WATCH_FD, program)) _exit(1);
    }
    if (launch->listens && listener_install(WATCH_FD, program, launch->hold))
        fail(launch, STAGE_WATCH);
    execve(program, launch->argv, launch->environment);
    return launch->listens || launch->root;
}

/* As execvp, but searching the command's own PATH, and without a shell for odd files. */
static void search_and_execute(const struct launch *launch) {
    const char *name = launch->argv[0], *path = DEFAULT_PATH;
    char candidate[PATH_MAX];
    bool denied = false;
    size_t name_length = strlen(name);
    if (strchr(name, '/')) {
        execute(launch, name);
        return;
    }
    for (char **variable = launch->environment; *variable; variable++)
        if (strncmp(*variable, "PATH=", 5) == 0) path = *variable + 5;
    errno = ENOENT;
    while (name_length) {
        size_t length = strcspn(path, ":");
        if (length + name_length + 2 <= sizeof candidate) {
            memcpy(candidate, path, length);
            if (length) candidate[length++] = '/';
            memcpy(candidate + length, name, name_length + 1);
            if (execute(launch, candidate)) return; /* a second filter would be one too many */
            if (errno == EACCES) denied = true;
            else if (errno != ENOENT && errno != ENOTDIR) return;
        }
        path += strcspn(path, ":");
        if (!*path++) break;
    }
    errno = denied ? EACCES : ENOENT;
}

/* Between vfork and exec: nothing but system calls, our memory is the shim's. */
__attribute__((noinline)) _Noreturn static void become(const struct launch *launch) {
    sigset_t none;
    /* What it sends to its own group must not reach the shim: setsid(2). */
    setsid();
    if (launch->traced && !tracer_wanted(WATCH_FD)) fail(launch, STAGE_WATCH);
    if (!user_turn((struct user){launch->uid, launch->gid},
                   launch->root ? ORDER_CAPABILITIES : USER_ALL)) fail(launch, STAGE_USER);
    /* No set-id program gives rights back, and filters may be installed: no_new_privs in the
       kernel's userspace-api documentation. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail(launch, STAGE_USER);
    if (launch->root && !order_confine()) fail(launch, STAGE_USER);
    if (launch->traced && !tracer_confine()) fail(launch, STAGE_WATCH);
    if (launch->cwd && chdir(launch->cwd)) fail(launch, STAGE_CWD);
    /* The limit, the mask of files and that of signals are all kept over exec: execve(2). */
    setrlimit(RLIMIT_NOFILE, &launch->descriptors);
    umask(022);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    search_and_execute(launch);
    fail(launch, STAGE_PROGRAM);
}

static void send_report(const struct shim_report *report) {
    while (write(STATUS_FD, report, sizeof *report) < 0 && errno == EINTR) {
    }
}

static uint64_t microseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

static void report_end(const struct launch *launch, int status, bool alone) {
    struct shim_report report = {.event = SHIM_ENDED, .status = status, .ended_us = now_us()};
    struct rusage used;
    if (!alone) report.survivors = (uint32_t)tree_count(NOBODY);
    if (report.survivors && launch->kill_survivors) tree_kill(NOBODY);
    while (launch->kill_survivors && waitpid(-1, NULL, WNOHANG) > 0) {
    }
    /* Counts those that have been waited for, so the dead are reaped first: getrusage(2). */
    getrusage(RUSAGE_CHILDREN, &used);
    report.user_us = microseconds(used.ru_utime);
    report.system_us = microseconds(used.ru_stime);
    report.peak_bytes = (uint64_t)used.ru_maxrss * 1024u;
    send_report(&report);
    /* The supervisor is awake on our processor, and need not wait until we have left: sched(7). */
    sched_yield();
}

/* Reaps whoever has ended; false once no child is left. */
static bool reap(const struct launch *launch, pid_t command, bool *ended) {
    pid_t pid;
    int status, end = 0;
    bool over = false;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (order_is_over(pid)) {
            struct shim_report report = {
                .event = SHIM_ROOT_ENDED, .pid = pid, .status = status};
            send_report(&report);
        }
        if (pid != command || *ended) continue;
        over = true;
        end = status;
    }
    if (over) {
        *ended = true;
        report_end(launch, end, pid < 0);
        return pid == 0;
    }
    return pid == 0;
}

/* In a child of the shim's that is to be root; `channel` leads to the supervisor. */
static void become_root(const struct launch *launch, int channel) {
    dup2(channel, WATCH_FD);
    fcntl(WATCH_FD, F_SETFD, FD_CLOEXEC);
    close(STATUS_FD);
    close_from(WATCH_FD + 1);
    become(launch);
}

static void watch(const struct launch *launch, pid_t command) {
    sigset_t awaited;
    bool ended = false;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SHIM_KILL);
    sigaddset(&awaited, SHIM_ORDER);
    do {
        /* All are blocked, so each is taken here and none interrupts: sigwaitinfo(2). */
        int number = sigwaitinfo(&awaited, NULL);
        if (number == SHIM_KILL) tree_kill(NOBODY);
        if (number == SHIM_ORDER) orders_take(launch, WATCH_FD, become_root);
    } while (reap(launch, command, &ended) || !ended);
}

_Noreturn void shim(const struct launch *launch) {
    take_descriptors(launch);
    /* What daemonizes stays below the shim, which can count and kill it:
       PR_SET_CHILD_SUBREAPER(2const). */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* Without the supervisor nobody ends the tree; the next line looks whether it went before
       this took effect: PR_SET_PDEATHSIG(2const). */
    prctl(PR_SET_PDEATHSIG, SHIM_KILL, 0, 0, 0);
    if (getppid() != launch->supervisor) _exit(1);
    /* No page tables are copied, and we wait until its exec has come or failed: vfork(2). */
    pid_t command = vfork();
    if (command == 0) become(launch);
    struct shim_report report = {.event = SHIM_STARTED, .pid = command};
    if (command < 0) {
        failed_stage = STAGE_FORK;
        failed_errno = errno;
    }
    if (failed_stage) {
        report.event = SHIM_FAILED;
        report.stage = failed_stage;
        report.number = failed_errno;
        send_report(&report);
        _exit(0);
    }
    /* Only the command may keep its streams open. */
    close(0);
    close(1);
    close(2);
    if (launch->announce && !launch->traced) send_report(&report);
    watch(launch, command);
    _exit(0);
}
