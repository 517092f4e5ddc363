/* The filter that shows each exec of a command, and each exit where the kernel does not tell of it,
   and the way its listener takes to the supervisor. */
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* from Linux 6.6 on; the compiler's headers are older */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1ull
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t)
#endif
#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

static unsigned long filter_flags; /* 0 where there is no listener */
static bool shows_exits;

/* From 2 on Yama keeps the memory of every other process from us. */
static bool memory_is_closed(void) {
    char scope = '0';
    int fd = open(YAMA, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    if (read(fd, &scope, 1) != 1) scope = '0';
    close(fd);
    return scope > '1';
}

void listener_prepare(bool plain, bool exits) {
    unsigned long listen = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    unsigned long killable = listen | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    filter_flags = 0;
    shows_exits = exits;
    if (plain || memory_is_closed()) return;
    if (filter_flags_work(killable)) filter_flags = killable;
    else if (filter_flags_work(listen)) filter_flags = listen;
}

bool listener_works(void) {
    return filter_flags != 0;
}

bool listener_holds(void) {
    return filter_flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
}

/* Nobody wakes or traces a process that is stopped until its new program has been looked at. */
static const struct sock_filter undisturbed[] = {
    REFUSE_CALL(SYS_kill, 1, UINT32_MAX, SIGCONT),
    REFUSE_CALL(SYS_tkill, 1, UINT32_MAX, SIGCONT),
    REFUSE_CALL(SYS_tgkill, 2, UINT32_MAX, SIGCONT),
    REFUSE_CALL(SYS_rt_sigqueueinfo, 1, UINT32_MAX, SIGCONT),
    REFUSE_CALL(SYS_rt_tgsigqueueinfo, 2, UINT32_MAX, SIGCONT),
    REFUSE_CALL(SYS_pidfd_send_signal, 1, UINT32_MAX, SIGCONT),
    REFUSE_CALL(SYS_fcntl, 1, UINT32_MAX, F_SETSIG), /* a descriptor could send it */
    REFUSE_CALL(SYS_prctl, 0, UINT32_MAX, PR_SET_PDEATHSIG), /* a parent's end could */
    REFUSE_CALL(SYS_clone, 0, 0xff, SIGCONT),
    IF_EQUAL(SYS_clone3, 1), /* its flags cannot be seen; the C library takes clone instead */
    REFUSE(ENOSYS),
    IF_EQUAL(SYS_ptrace, 1),
    REFUSE(EPERM),
};

static const struct sock_filter exits[] = {
    IF_EQUAL(SYS_exit_group, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
};

static const struct sock_filter execs[] = {
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
};

#define APPEND(end, part) \
    ((struct sock_filter *)memcpy(end, part, sizeof part) + sizeof part / sizeof *part)

static int install(bool hold) {
    struct sock_filter
        filter[FILTER_NATIVE + (sizeof undisturbed + sizeof exits + sizeof execs) / sizeof *execs];
    struct sock_filter *end = filter + filter_start(filter);
    if (hold) end = APPEND(end, undisturbed);
    if (shows_exits) end = APPEND(end, exits);
    end = APPEND(end, execs);
    unsigned short length = (unsigned short)(end - filter);
    struct sock_fprog program = {length, filter};
    /* A new listener takes the system call; prctl takes no flags: seccomp(2). */
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, filter_flags, &program);
}

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int listener_install(int socket, const char *program, bool hold) {
    union control control;
    pid_t pid = getpid();
    struct iovec parts[] = {{&pid, sizeof pid}, {(void *)program, strlen(program)}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = 2,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    int listener = install(hold);
    if (listener < 0) return -1;
    memset(&control, 0, sizeof control);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof listener);
    memcpy(CMSG_DATA(header), &listener, sizeof listener);
    /* Only whoever installed a filter has its listener, and passes it on: seccomp_unotify(2). */
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    close(listener);
    return sent < 0 ? -1 : 0;
}

int listener_receive(int socket, pid_t *pid, char *program, size_t size) {
    union control control;
    int listener = -1;
    struct iovec parts[] = {{pid, sizeof *pid}, {program, size - 1}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = 2,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < (ssize_t)sizeof *pid) return -1;
    program[got - (ssize_t)sizeof *pid] = 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS) return -1;
    memcpy(&listener, CMSG_DATA(header), sizeof listener);
    /* Whoever execs hands its processor over to us, and we hand it back: seccomp(2). */
    ioctl(listener, (int)SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
    return listener;
}

bool listener_ask(int listener, unsigned long request, void *argument) {
    return ioctl(listener, (int)request, argument) == 0; /* musl has the request as an int */
}
