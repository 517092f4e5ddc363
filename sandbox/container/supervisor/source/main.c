/* The resident supervisor of a container: one stream to the host, one loop. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "features.h"
#include "conduct.h"
#include "confine.h"
#include "file.h"
#include "forward.h"
#include "frame.h"
#include "job.h"
#include "oom.h"
#include "manifest.h"
#include "notice.h"
#include "root.h"
#include "source.h"
#include "sudo.h"
#include "transfer.h"
#include "usage.h"
#include "user.h"
#include "write.h"

#define GUARD_US 50000 /* how long root may make us the first to go when memory runs out */
#define PARKED 10              /* the first descriptor that the stream may get */
#define DESCRIPTORS_MOST 65536

static void report_usage(uint32_t id) {
    struct writer writer = writer_begin();
    put_u64(&writer, usage_memory_peak());
    put_u64(&writer, usage_cpu_us());
    put_u64(&writer, usage_kills());
    put_u32(&writer, (uint32_t)jobs_alive());
    writer_send(&writer, REPLY_OK, id);
}

static void kill_all(uint32_t id, struct cursor *payload) {
    uint32_t but = take_u32(payload);
    if (!cursor_done(payload)) return reply_fault("malformed kill_all");
    reply_number(REPLY_OK, id, (uint32_t)jobs_kill_all(but));
}

static void handle(uint8_t type, uint32_t id, struct cursor *payload) {
    switch (type) {
        case REQUEST_RUN: return job_run(id, payload);
        case REQUEST_STDIN: return job_stdin(id, payload);
        case REQUEST_KILL: return job_kill(id);
        case REQUEST_READ: return file_read(id, payload);
        case REQUEST_WRITE: return file_write(id, payload);
        case REQUEST_WRITE_DATA: return file_write_data(id, payload);
        case REQUEST_REMOVE: return file_remove(id, payload);
        case REQUEST_STAT: return file_stat(id, payload);
        case REQUEST_LIST: return folder_list(id, payload);
        case REQUEST_MANIFEST: return manifest(id, payload);
        case REQUEST_KILL_ALL: return kill_all(id, payload);
        case REQUEST_USAGE: return report_usage(id);
        case REQUEST_ANSWER_EXEC: return conduct_answer(payload);
        case REQUEST_LISTEN: return forward_listen(id, payload);
        case REQUEST_UNLISTEN: return forward_unlisten(id);
        case REQUEST_STREAM_DATA: return forward_data(id, payload);
        case REQUEST_STREAM_TAKEN: return forward_taken(id, payload);
        case REQUEST_STREAM_CLOSE: return forward_close(id, payload);
        case REQUEST_WATCH: return notice_watch(id, payload);
        case REQUEST_SETTLE: return notice_settle(id, payload);
        default: return reply_fault("unknown request type");
    }
}

static bool open_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return false;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) return false;
    int parked = fcntl(fd, F_DUPFD_CLOEXEC, PARKED);
    close(fd);
    return parked >= 0 && channel_open(parked, parked);
}

static bool open_stdio(void) {
    int from = fcntl(0, F_DUPFD_CLOEXEC, PARKED), to = fcntl(1, F_DUPFD_CLOEXEC, PARKED);
    return from >= 0 && to >= 0 && channel_open(from, to);
}

/* Nothing that a command inherits leads to the host; 0, 1, 2 and 3 are always taken. */
static bool occupy_descriptors(void) {
    int null = open("/dev/null", O_RDWR);
    if (null < 0) return false;
    for (int fd = 0; fd < 3; fd++)
        if (null != fd && dup2(null, fd) < 0) return false;
    if (null < 3 && (null = fcntl(null, F_DUPFD_CLOEXEC, 3)) < 0) return false;
    return fcntl(null, F_SETFD, FD_CLOEXEC) == 0;
}

/* All signals wait for ever, but those of our children, which come through a descriptor. */
static void take_signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    /* What we ignore a command would ignore too, and we may have inherited it: make ignores 32 and
     * 33 for what it starts. The library keeps those to itself, so the kernel is asked directly. */
    const uint64_t kernel_default[4] = {0}; /* struct sigaction as the kernel has it */
    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            syscall(SYS_rt_sigaction, number, kernel_default, NULL, sizeof(uint64_t));
}

static int listen_for_children(void) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    /* An end becomes one more thing that can be polled: signalfd(2). */
    return signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void raise_descriptors(void) {
    struct rlimit limit, raised;
    getrlimit(RLIMIT_NOFILE, &limit);
    jobs_prepare(&limit);
    raised = limit;
    raised.rlim_cur = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
    /* For ourselves; a command gets what the engine gave: getrlimit(2), a child inherits. */
    if (raised.rlim_cur > limit.rlim_cur) setrlimit(RLIMIT_NOFILE, &raised);
}

/* For all that is started here, too: podman without root does not pass the engine's limit on. */
static void forbid_cores(void) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
}

static bool prepare(int count, char **arguments, int *signals) {
    struct means means = {.most = SEE_EXEC};
    while (count > 2 && means_take(&means, arguments[count - 1])) count--;
    take_signals();
    raise_descriptors();
    forbid_cores();
    bool open = false;
    if (count == 2 && strcmp(arguments[1], "--stdio") == 0) open = open_stdio();
    else if (count == 3 && strcmp(arguments[1], "--unix") == 0) open = open_socket(arguments[2]);
    else fprintf(stderr, "usage: supervisor --stdio | --unix PATH  [--ptrace | --top-level] [--plain]\n");
    if (!open || !occupy_descriptors() || chdir("/")) return false;
    if ((*signals = listen_for_children()) < 0) return false;
    oom_prepare();
    /* Orphans of a shim that was killed become ours where we are not PID 1, as in tests:
       PR_SET_CHILD_SUBREAPER(2const). */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (!user_prepare(means.plain)) return false;
    /* /proc/1 then belongs to root and nobody of the agent's may read it or attach: proc(5),
       ptrace(2) "Ptrace access mode checking". */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    umask(0);
    if (!confine()) return false;
    features_prepare(&means);
    return true;
}

/* As long as poll may wait at most; NULL for ever. */
static const struct timespec *timeout(void) {
    static struct timespec time;
    int64_t jobs = jobs_timeout_us(), watched = conduct_timeout_us(), next = jobs;
    if (jobs < 0 || (watched >= 0 && watched < jobs)) next = watched;
    int64_t noticed = notice_timeout_us();
    if (noticed >= 0 && (next < 0 || noticed < next)) next = noticed;
    int64_t gathered = queue_timeout_us();
    if (gathered >= 0 && (next < 0 || gathered < next)) next = gathered;
    if ((transfers_wait() && queue_has_room()) || jobs_reap_more()) next = 0;
    if (root_was_granted() && (next < 0 || next > GUARD_US)) next = GUARD_US;
    time = (struct timespec){next / 1000000, next % 1000000 * 1000};
    return next < 0 ? NULL : &time;
}

static void loop(int signals) {
    static struct pollfd
        polled[5 + SOURCES_POLLED + JOBS * JOB_DESCRIPTORS + FORWARD_DESCRIPTORS];
    struct signalfd_siginfo seen[4];
    while (!channel_is_faulty()) {
        polled[0] = (struct pollfd){queue_has_room() ? channel_input() : -1, POLLIN, 0};
        polled[1] = (struct pollfd){channel_output(), queue_is_due() ? POLLOUT : 0, 0};
        polled[2] = (struct pollfd){signals, POLLIN, 0};
        polled[3] = (struct pollfd){queue_has_room() ? sources_descriptor() : -1, POLLIN, 0};
        polled[4] = (struct pollfd){queue_has_room() ? notice_descriptor() : -1, POLLIN, 0};
        int length = forwards_poll(polled, jobs_poll(polled, 5));
        if (queue_has_room()) length = sources_poll(polled, length);
        /* Waits for microseconds, where poll has milliseconds: poll(2). */
        if (ppoll(polled, (nfds_t)length, timeout(), NULL) < 0 && errno != EINTR) return;
        if (polled[1].revents & POLLERR) return;
        if (root_was_granted()) oom_withdraw(); /* root may have volunteered us */
        if (polled[3].revents || conduct_timeout_us() >= 0) conduct_step();
        if (polled[4].revents) notice_look();
        forwards_step(polled);
        jobs_step(polled);
        if (!queue_flush()) return; /* whoever waits for an end need not wait for the rest */
        while (polled[2].revents && read(signals, seen, sizeof seen) > 0) {
        }
        if (polled[2].revents || jobs_reap_more()) jobs_reap();
        conduct_sweep();
        if (queue_has_room()) channel_resume(handle);
        if (polled[0].revents && queue_has_room() && !channel_receive(handle)) return;
        transfers_step();
        if (!queue_flush()) return;
    }
}

static bool is_sudo(const char *name) {
    const char *last = strrchr(name, '/');
    return strcmp(last ? last + 1 : name, "sudo") == 0;
}

int main(int count, char **arguments) {
    int signals;
    if (count && is_sudo(arguments[0])) return sudo_main(count, arguments);
    if (!prepare(count, arguments, &signals)) return 2;
    features_greet();
    loop(signals);
    queue_flush_finally();
    writes_end();
    notice_end();
    jobs_end();
    return 0;
}
