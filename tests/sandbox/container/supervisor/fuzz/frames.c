/* libFuzzer: any bytes from the host, through the real reader and the real handlers.
 *
 * The process is shut into the folder that it is started in and into a network of its own, and may
 * neither start nor signal another: each handler then runs to where the kernel says no. */
#define main supervisor_main
#include "forward.c"
#include "frame.c"
#include "main.c"
#undef main

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#define PIECE 64 /* bytes that come at once; between them clients have their turn */
#define NUMBER (offsetof(struct seccomp_data, nr))
#define FIRST_ARGUMENT (offsetof(struct seccomp_data, args))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE(number, problem)                         \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
        RETURN(SECCOMP_RET_ERRNO | (problem))

static int lowest = -1; /* descriptor that is free between inputs */

static int lowest_free(void) {
    int fd = dup(0);
    close(fd);
    return fd;
}

static void stay_alone(void) {
    struct sock_filter filter[] = {
        LOAD(NUMBER),
        REFUSE(SYS_kill, EPERM),
        REFUSE(SYS_tkill, EPERM),
        REFUSE(SYS_pidfd_send_signal, EPERM),
        REFUSE(SYS_clone3, ENOSYS),
#ifdef SYS_fork
        REFUSE(SYS_fork, EAGAIN),
        REFUSE(SYS_vfork, EAGAIN),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        LOAD(FIRST_ARGUMENT),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        RETURN(SECCOMP_RET_ERRNO | EAGAIN),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        abort();
}

static void raise_loopback(void) {
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &loopback)) abort();
    close(fd);
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    struct rlimit limit;
    (void)count, (void)arguments;
    int null = open("/dev/null", O_RDWR);
    const struct means means = {.most = SEE_EXEC};
    features_prepare(&means);
    getrlimit(RLIMIT_NOFILE, &limit);
    jobs_prepare(&limit);
    if (null < 0 || !channel_open(null, null)) abort();
    if (unshare(CLONE_NEWNET | (geteuid() ? CLONE_NEWUSER : 0))) abort();
    raise_loopback();
    if (chroot(".") || chdir("/")) abort();
    stay_alone();
    return 0;
}

static void drain(void) {
    queue_head = queue_tail = 0;
}

/* A client of the first listener, that says a word and hears what there is. */
static void visit(int *client) {
    static struct pollfd polled[FORWARD_DESCRIPTORS];
    char heard[64];
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    if (forward_count && *client < 0) {
        *client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        getsockname(forwards[0]->fd, (struct sockaddr *)&address, &length);
        connect(*client, (struct sockaddr *)&address, length);
        send(*client, "word", 4, MSG_NOSIGNAL);
    }
    if (*client >= 0) recv(*client, heard, sizeof heard, 0);
    poll(polled, (nfds_t)forwards_poll(polled, 0), 0);
    forwards_step(polled);
    drain();
}

static void leave(int client) {
    while (forward_count) forward_unlisten(forwards[0]->id);
    if (client >= 0) close(client);
    drain();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (lowest < 0) lowest = lowest_free();
    size_t at = 0;
    int client = -1;
    while (!faulty && (at < size || held_back)) {
        size_t room = INPUT_SIZE - input_length, piece = size - at;
        if (piece > PIECE) piece = PIECE;
        if (piece > room) piece = room;
        memcpy(input + input_length, data + at, piece);
        input_length += piece;
        at += piece;
        drain();
        channel_resume(handle);
        drain();
        transfers_step();
        visit(&client);
        if (!piece && !held_back) break;
    }
    while (transfers_wait()) {
        drain();
        transfers_step();
    }
#ifdef FAULT
    if (!faulty) abort();
#endif
    drain();
    writes_end();
    leave(client);
    conduct_step();
    conduct_sweep();
    drain();
    faulty = held_back = false;
    input_length = 0;
    if (lowest_free() != lowest) abort(); /* an input has cost a descriptor */
    return 0;
}
