/* Orders to start something as root: from the program `sudo` to the supervisor, and to the shim. */
#include "order.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "filter.h"
#include "listener.h"
#include "user.h"

#define MOST 64
#define PARKED 10 /* the first descriptor that is none of those a process has */

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE((SUDO_DESCRIPTORS + 1) * sizeof(int))];
};

void order_forget(struct order *order) {
    for (int i = 0; i <= SUDO_DESCRIPTORS; i++) {
        if (order->descriptors[i] >= 0) close(order->descriptors[i]);
        order->descriptors[i] = -1;
    }
}

/* As many strings as it claims, and nothing else. */
static bool well_formed(const struct order *order) {
    const char *at = order->text, *end = at + order->length;
    uint64_t strings = (uint64_t)order->counts.words + order->counts.variables;
    if (!order->counts.words) return false;
    for (; strings && at < end; strings--) {
        const char *stop = memchr(at, 0, (size_t)(end - at));
        if (!stop) return false;
        at = stop + 1;
    }
    return strings == 0 && at == end && order->text[0];
}

static bool receive(int from, struct order *order, int descriptors) {
    union control control;
    struct iovec parts[] = {{&order->counts, sizeof order->counts},
                            {order->text, sizeof order->text}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = 2,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    memset(order->descriptors, -1, sizeof order->descriptors);
    ssize_t got = recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0) return false;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    bool passed = header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS;
    size_t size = passed ? header->cmsg_len - CMSG_LEN(0) : 0;
    if (passed) memcpy(order->descriptors, CMSG_DATA(header), size);
    order->length = (size_t)got < sizeof order->counts ? 0 : (size_t)got - sizeof order->counts;
    bool whole = !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    if (whole && size == (size_t)descriptors * sizeof(int) && well_formed(order)) return true;
    order_forget(order);
    errno = EPROTO;
    return false;
}

/* ---- the supervisor's ---- */

bool order_receive(int client, struct order *order) {
    return receive(client, order, SUDO_DESCRIPTORS);
}

size_t order_words(const struct order *order) {
    size_t length = 0;
    for (uint32_t i = 0; i < order->counts.words; i++)
        length += strlen(order->text + length) + 1;
    return length;
}

/* What every process of root's gets; nothing that decides what runs is the agent's. */
static size_t fixed_variables(char *into, size_t size, const struct ucred *from, uint32_t *count) {
    int length = snprintf(into, size,
                          "PATH=" SUDO_PATH "%cHOME=/root%cUSER=root%cLOGNAME=root%cSHELL=/bin/sh"
                          "%cSUDO_UID=%u%cSUDO_GID=%u",
                          0, 0, 0, 0, 0, from->uid, 0, from->gid);
    *count = 7;
    return (size_t)length + 1;
}

bool order_send(int shim, const struct order *order, int channel, const struct ucred *from) {
    static char variables[ORDER_TEXT];
    union control control;
    struct sudo_request counts = {order->counts.words, 0};
    size_t words = order_words(order);
    size_t length = fixed_variables(variables, sizeof variables, from, &counts.variables);
    for (const char *at = order->text + words; at < order->text + order->length;) {
        size_t size = strlen(at) + 1;
        if (sudo_keeps(at) && length + size <= sizeof variables) {
            memcpy(variables + length, at, size);
            length += size;
            counts.variables++;
        }
        at += size;
    }
    if (words + length > ORDER_TEXT) return false;
    int descriptors[SUDO_DESCRIPTORS + 1];
    memcpy(descriptors, order->descriptors, sizeof descriptors);
    descriptors[SUDO_DESCRIPTORS] = channel;
    struct iovec parts[] = {{&counts, sizeof counts},
                            {(void *)order->text, words},
                            {variables, length}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = 3,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    memset(&control, 0, sizeof control);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptors);
    memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
    /* The descriptors are those of whoever asked: unix(7), SCM_RIGHTS. */
    return sendmsg(shim, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

pid_t order_ready(int channel, char *program) {
    pid_t pid = -ECHILD;
    struct iovec parts[] = {{&pid, sizeof pid}, {program, PATH_MAX - 1}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t got = recvmsg(channel, &message, MSG_DONTWAIT);
    program[got > (ssize_t)sizeof pid ? got - (ssize_t)sizeof pid : 0] = 0;
    return pid;
}

/* ---- the shim's ---- */

static pid_t working[MOST];

static char **take_strings(char **at, uint32_t count) {
    char **strings = calloc(count + 1u, sizeof *strings);
    for (uint32_t i = 0; strings && i < count; i++) {
        strings[i] = *at;
        *at += strlen(*at) + 1;
    }
    return strings;
}

static void begin(const struct launch *launch, struct order *order, order_become *become) {
    struct launch own = *launch;
    char *at = order->text;
    int parked[SUDO_DESCRIPTORS + 1];
    own.argv = take_strings(&at, order->counts.words);
    own.environment = take_strings(&at, order->counts.variables);
    if (!own.argv || !own.environment) _exit(1);
    for (int i = 0; i <= SUDO_DESCRIPTORS; i++)
        parked[i] = fcntl(order->descriptors[i], F_DUPFD_CLOEXEC, PARKED);
    for (int i = 0; i < 3; i++)
        if (dup2(parked[i], i) < 0) _exit(1);
    if (fchdir(parked[3])) _exit(1);
    own.uid = own.gid = 0;
    own.cwd = NULL;
    own.root = true;
    own.hold = own.listens && listener_holds();
    become(&own, parked[SUDO_DESCRIPTORS]);
}

void orders_take(const struct launch *launch, int orders, order_become *become) {
    static struct order order;
    while (receive(orders, &order, SUDO_DESCRIPTORS + 1)) {
        int slot = 0;
        while (slot < MOST && working[slot]) slot++;
        pid_t pid = slot < MOST ? fork() : -1;
        if (pid == 0) begin(launch, &order, become);
        if (pid > 0) working[slot] = pid;
        order_forget(&order);
    }
}

bool order_is_over(pid_t pid) {
    for (int i = 0; i < MOST; i++) {
        if (working[i] != pid) continue;
        working[i] = 0;
        return true;
    }
    return false;
}

/* ---- the process's ---- */

static bool told;

bool order_granted(int channel, const char *program) {
    pid_t pid = getpid();
    int problem = EPIPE;
    struct iovec parts[] = {{&pid, sizeof pid}, {(void *)program, strlen(program)}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    told = true;
    if (sendmsg(channel, &message, MSG_NOSIGNAL) < 0) return false;
    while (recv(channel, &problem, sizeof problem, 0) < 0 && errno == EINTR) {
    }
    return problem == 0;
}

void order_failed(int channel, const char *what) {
    pid_t problem = -errno;
    if (told) dprintf(2, "sudo: %s: %s\n", what, strerror(errno));
    else send(channel, &problem, sizeof problem, MSG_NOSIGNAL);
    _exit(127);
}

#define REFUSE_USER(call, index) REFUSE_CALL(call, index, UINT32_MAX, USER_PRIVATE)

bool order_confine(void) {
    static const struct sock_filter own[] = {
        REFUSE_USER(SYS_setuid, 0),
        REFUSE_USER(SYS_setreuid, 0),
        REFUSE_USER(SYS_setreuid, 1),
        REFUSE_USER(SYS_setresuid, 0),
        REFUSE_USER(SYS_setresuid, 1),
        REFUSE_USER(SYS_setresuid, 2),
        REFUSE_USER(SYS_setfsuid, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter filter[FILTER_NATIVE + sizeof own / sizeof *own];
    memcpy(filter + filter_start(filter), own, sizeof own);
    struct sock_fprog program = {(unsigned short)(sizeof filter / sizeof *filter), filter};
    /* A filter stays over exec and in children: seccomp(2). */
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
