/* Handles of processes that are not our children: when and how they end. */
#include "handle.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/pidfd.h, which the C library's headers do not have yet. */
struct info {
    uint64_t mask, control_group;
    uint32_t pid, process, parent, users[8];
    int32_t status;
};
#define GET_INFO _IOWR(0xFF, 11, struct info)
#define INFO_PID 1u
#define INFO_STATUS 8u
#define PROBE 7

static bool tells;

int handle_open(pid_t pid) {
    /* Unlike a number, a handle never means another process: pidfd_open(2). */
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

bool handle_status(int handle, int *status) {
    struct info info = {.mask = INFO_STATUS};
    /* Tells the status of one that somebody else has reaped, from Linux 6.15 on:
       include/uapi/linux/pidfd.h, PIDFD_INFO_EXIT. */
    if (ioctl(handle, (int)GET_INFO, &info) || !(info.mask & INFO_STATUS)) return false;
    *status = info.status;
    return true;
}

bool handle_parent(int handle, pid_t *parent) {
    struct info info = {.mask = INFO_PID};
    if (!tells || handle < 0 || ioctl(handle, (int)GET_INFO, &info)) return false;
    *parent = (pid_t)info.parent;
    return info.mask & INFO_PID;
}

bool handle_is_over(int handle) {
    struct pollfd ended = {.fd = handle, .events = POLLIN}; /* pidfd_open(2) */
    return handle >= 0 && poll(&ended, 1, 0) == 1 && ended.revents & POLLIN;
}

void handle_kill(int handle, int number) {
    /* A number may have been given to another process meanwhile: pidfd_send_signal(2). */
    syscall(SYS_pidfd_send_signal, handle, number, NULL, 0);
}

bool handle_tells_status(void) {
    return tells;
}

/* A child of ours shows whether the kernel keeps what we have reaped. */
void handle_prepare(bool older) {
    int status = 0;
    if (older) return;
    pid_t child = fork();
    if (child == 0) _exit(PROBE);
    if (child < 0) return;
    int handle = handle_open(child);
    waitpid(child, NULL, 0);
    tells = handle >= 0 && handle_status(handle, &status) && WEXITSTATUS(status) == PROBE;
    if (handle >= 0) close(handle);
}
