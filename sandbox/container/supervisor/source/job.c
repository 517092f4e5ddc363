/* Commands: their streams, deadlines and ends, as the supervisor sees them. */
#include "job.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "conduct.h"
#include "descriptor.h"
#include "notice.h"
#include "root.h"
#include "trace.h"
#include "tree.h"
#include "usage.h"

#define READS_PER_TURN 16
#define REAPED_PER_TURN 256
#define GIVE_UP_US 10000000u
#define MINUTE_US 60000000u

static struct job *jobs[JOBS];
static struct job *spare; /* the one that was freed last */
static int job_count;
static bool more_to_reap;
static unsigned char scratch[CHUNK];

static struct job *job_find(uint32_t id) {
    for (int i = 0; i < job_count; i++)
        if (jobs[i]->id == id) return jobs[i];
    return NULL;
}

static void job_free(struct job *job) {
    close_descriptor(&job->out.fd);
    close_descriptor(&job->error.fd);
    close_descriptor(&job->status);
    close_descriptor(&job->stdin_fd);
    free(job->input);
    if (spare) free(job);
    else spare = job;
}

static struct job *job_make(void) {
    struct job *job = spare ? spare : malloc(sizeof *job);
    spare = NULL;
    if (job) memset(job, 0, sizeof *job);
    return job;
}

/* Writes what the pipe takes; the host may send as much again. */
static void feed(struct job *job) {
    size_t wrote = 0;
    while (job->input_at + wrote < job->input_length) {
        ssize_t put = write(job->stdin_fd, job->input + job->input_at + wrote,
                            job->input_length - job->input_at - wrote);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) break;
        if (put < 0) { /* nobody reads any more: what comes is thrown away */
            close_descriptor(&job->stdin_fd);
            wrote = job->input_length - job->input_at;
            break;
        }
        wrote += (size_t)put;
    }
    job->input_at += wrote;
    if (job->input_at == job->input_length) {
        job->input_at = job->input_length = 0;
        if (!job->input_due) close_descriptor(&job->stdin_fd);
    }
    if (wrote && job->input_due) {
        reply_number(REPLY_STDIN_TAKEN, job->id, (uint32_t)wrote);
    }
}

void job_run(uint32_t id, struct cursor *payload) {
    struct job *job = NULL;
    int problem = 0;
    if (job_find(id)) return reply_fault("request id is in use");
    if (job_count == JOBS) problem = EAGAIN;
    else if (!(job = job_make())) problem = ENOMEM;
    if (problem) return reply_error(id, problem, "command");
    job->id = id;
    job->out.fd = job->error.fd = job->status = job->stdin_fd = -1;
    problem = job_start(job, payload);
    if (problem) {
        job_free(job);
        if (problem < 0) return reply_fault("malformed run request");
        return reply_error(id, problem, problem == EPERM ? "user" : "command");
    }
    jobs[job_count++] = job;
    if (job->stdin_fd >= 0) feed(job);
}

void job_stdin(uint32_t id, struct cursor *payload) {
    struct job *job = job_find(id);
    if (!job || job->reported || !payload->left) return; /* it has ended meanwhile */
    if (payload->left > job->input_due) return reply_fault("more standard input than announced");
    if (payload->left > STDIN_WINDOW - (job->input_length - job->input_at))
        return reply_fault("standard input beyond its window");
    job->input_due -= payload->left;
    memmove(job->input, job->input + job->input_at, job->input_length - job->input_at);
    job->input_length -= job->input_at;
    job->input_at = 0;
    memcpy(job->input + job->input_length, payload->at, payload->left);
    job->input_length += payload->left;
    feed(job);
}

static void stream_step(struct job *job, struct stream *stream, uint64_t budget) {
    for (int reads = 0; stream->fd >= 0 && budget && reads < READS_PER_TURN; reads++) {
        bool keep = !job->reported && stream->total < stream->limit;
        if (keep && !queue_has_room()) return;
        uint64_t want = budget < CHUNK ? budget : CHUNK;
        if (keep && want > stream->limit - stream->total) want = stream->limit - stream->total;
        struct writer writer = keep ? writer_begin() : (struct writer){scratch, scratch};
        ssize_t got = read(stream->fd, put_here(&writer), want);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (job->end.event) stream->rest = 0;
            return;
        }
        if (got <= 0) {
            close_descriptor(&stream->fd);
            stream->rest = 0;
            return;
        }
        put_done(&writer, (size_t)got);
        if (keep) writer_send(&writer, stream->type, job->id);
        if (!job->reported) stream->total += (uint64_t)got;
        if (job->end.event && !job->reported) stream->rest -= (uint64_t)got;
        budget -= (uint64_t)got;
        if ((uint64_t)got < want) return; /* the pipe is empty */
    }
}

static void stream_turn(struct job *job, struct stream *stream) {
    if (stream->events & POLLIN) stream_step(job, stream, UINT64_MAX);
    else if (stream->events) close_descriptor(&stream->fd); /* empty, and nobody writes */
}

/* Its program never ran. */
static void job_failed(struct job *job, int problem, int stage) {
    reply_error(job->id, problem, stage_name(stage));
    job->end.event = SHIM_ENDED;
    job->reported = true;
    job->deadline_us = 0;
    close_descriptor(&job->stdin_fd);
}

static void job_report(struct job *job) {
    const struct shim_report *end = &job->end;
    jobs_reap(); /* ends that have come are told before this one */
    if (job->refused || conduct_was_refused(job->id)) return job_failed(job, EACCES, STAGE_PROGRAM);
    bool exited = WIFEXITED(end->status);
    conduct_settle(job->id, end->status, end->survivors == 0);
    uint32_t flags = (job->timed_out ? ENDED_TIMED_OUT : 0) | (job->killed ? ENDED_KILLED : 0);
    if (usage_kills() > job->kills_before) flags |= ENDED_OUT_OF_MEMORY;
    notice_drain();
    struct writer writer = writer_begin();
    put_u32(&writer, exited ? (uint32_t)WEXITSTATUS(end->status) : UINT32_MAX);
    put_u32(&writer, exited ? 0 : (uint32_t)WTERMSIG(end->status));
    put_u32(&writer, flags);
    put_u32(&writer, end->survivors);
    put_u64(&writer, job->out.total);
    put_u64(&writer, job->error.total);
    put_u64(&writer, end->ended_us - job->started_us);
    put_u64(&writer, end->user_us);
    put_u64(&writer, end->system_us);
    put_u64(&writer, end->peak_bytes);
    writer_send(&writer, REPLY_ENDED, job->id);
    job->reported = true;
    job->deadline_us = 0;
    close_descriptor(&job->stdin_fd);
    free(job->input);
    job->input = NULL;
    job->input_length = job->input_at = 0;
}

/* Only what was in the pipe at the end counts: a survivor may write for ever. */
static uint64_t bytes_waiting(int fd) {
    int waiting = 0;
    /* How many bytes a pipe holds: pipe(7), "I/O on pipes and FIFOs". */
    return fd >= 0 && ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0 ? (uint64_t)waiting : 0;
}

static void job_ended(struct job *job, const struct shim_report *report) {
    job->end = *report;
    job->out.rest = bytes_waiting(job->out.fd);
    job->error.rest = bytes_waiting(job->error.fd);
}

static void read_status(struct job *job) {
    struct shim_report report;
    ssize_t got = read(job->status, &report, sizeof report);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got != sizeof report) {
        close_descriptor(&job->status);
        /* The shim itself was killed, as a command of root's may do. */
        struct shim_report lost = {.event = SHIM_ENDED, .status = SIGKILL, .ended_us = now_us()};
        if (!job->end.event) job_ended(job, &lost);
    } else if (report.event == SHIM_STARTED) {
        reply_number(REPLY_STARTED, job->id, (uint32_t)report.pid);
    } else if (report.event == SHIM_FAILED) {
        job_failed(job, report.number, report.stage);
    } else if (report.event == SHIM_ROOT_ENDED) {
        root_ended(job->id, report.pid, report.status);
    } else if (!job->end.event) { /* else it was given up before */
        job_ended(job, &report);
    }
}

static void order_death(struct job *job, uint64_t now) {
    job->deadline_us = 0;
    job->give_up_us = now + GIVE_UP_US;
    if (job->shim <= 0) return;
    kill(job->shim, SHIM_KILL);
    kill(job->shim, SIGCONT); /* a command of root's may have stopped it */
}

static void job_step(struct job *job, uint64_t now) {
    if (job->deadline_us && now >= job->deadline_us && !job->end.event) {
        job->timed_out = true;
        order_death(job, now);
    }
    if (job->give_up_us && now >= job->give_up_us && !job->end.event) {
        /* It hangs in the kernel, which will kill it when it can. */
        struct shim_report stuck = {
            .event = SHIM_ENDED, .status = SIGKILL, .survivors = 1, .ended_us = now};
        job_ended(job, &stuck);
    }
    if (job->stdin_fd >= 0 && job->input_length && queue_has_room()) feed(job);
    if (!job->end.event || job->reported) {
        stream_turn(job, &job->out);
        stream_turn(job, &job->error);
    }
    if (job->status >= 0 && job->status_events && queue_has_room()) read_status(job);
    if (!job->end.event || job->reported) return;
    if (job->out.rest) stream_step(job, &job->out, job->out.rest);
    if (job->error.rest) stream_step(job, &job->error, job->error.rest);
    if (!job->out.rest && !job->error.rest && queue_has_room()) job_report(job);
}

/* ---- all of them ---- */

static int poll_one(struct pollfd *polled, int fd, short events) {
    if (fd < 0 || !events) return 0;
    *polled = (struct pollfd){fd, events, 0};
    return 1;
}

static bool stream_readable(const struct job *job, const struct stream *stream) {
    if (job->reported) return true;
    if (job->end.event) return false; /* its rest is taken without being asked */
    return stream->total >= stream->limit || queue_has_room();
}

int jobs_poll(struct pollfd *polled, int length) {
    for (int i = 0; i < job_count; i++) {
        struct job *job = jobs[i];
        job->polled = length;
        length += poll_one(polled + length, job->out.fd,
                           stream_readable(job, &job->out) ? POLLIN : 0);
        length += poll_one(polled + length, job->error.fd,
                           stream_readable(job, &job->error) ? POLLIN : 0);
        length += poll_one(polled + length, job->status, queue_has_room() ? POLLIN : 0);
        length += poll_one(polled + length, job->stdin_fd, job->input_length ? POLLOUT : 0);
        job->polled_end = length;
    }
    return length;
}

int64_t jobs_timeout_us(void) {
    uint64_t now = now_us(), next = UINT64_MAX;
    for (int i = 0; i < job_count; i++) {
        struct job *job = jobs[i];
        if (job->end.event && !job->reported && queue_has_room()) return 0;
        if (job->deadline_us && job->deadline_us < next) next = job->deadline_us;
        bool dying = job->give_up_us && !job->end.event;
        if (dying && job->give_up_us < next) next = job->give_up_us;
    }
    if (next == UINT64_MAX) return -1;
    if (next <= now) return 0;
    return next - now < MINUTE_US ? (int64_t)(next - now) : (int64_t)MINUTE_US;
}

static void take_events(struct job *job, const struct pollfd *polled) {
    job->out.events = job->error.events = job->status_events = 0;
    for (int i = job->polled; i < job->polled_end; i++) {
        if (polled[i].fd == job->out.fd) job->out.events = polled[i].revents;
        if (polled[i].fd == job->error.fd) job->error.events = polled[i].revents;
        if (polled[i].fd == job->status) job->status_events = polled[i].revents;
    }
}

void jobs_step(const struct pollfd *polled) {
    uint64_t now = now_us();
    for (int i = 0; i < job_count; i++) {
        struct job *job = jobs[i];
        take_events(job, polled);
        job_step(job, now);
        if (!job->reported || job->status >= 0 || job->out.fd >= 0 || job->error.fd >= 0) continue;
        if (job->shim > 0) continue; /* it closes its end before it is gone, and still counts */
        job_free(job);
        jobs[i--] = jobs[--job_count];
    }
}

static void reaped(pid_t pid, int status) {
    trace_ended(pid, status);
    for (int i = 0; i < job_count; i++) {
        if (jobs[i]->shim != pid) continue;
        jobs[i]->shim = 0;
        if (conduct_was_refused(jobs[i]->id)) jobs[i]->refused = true;
        conduct_left(jobs[i]->id);
    }
}

void jobs_reap(void) {
    pid_t pid;
    int status;
    more_to_reap = true;
    for (int turn = 0; turn < REAPED_PER_TURN; turn++) {
        if (!queue_has_room()) return;
        /* __WALL: processes that are traced and not our children, too: wait(2). */
        if ((pid = waitpid(-1, &status, WNOHANG | __WALL)) <= 0) {
            more_to_reap = false;
            return;
        }
        if (WIFSTOPPED(status)) trace_stopped(pid, status);
        else reaped(pid, status);
    }
}

bool jobs_reap_more(void) {
    return more_to_reap && queue_has_room();
}

void job_kill(uint32_t id) {
    struct job *job = job_find(id);
    if (!job || job->shim <= 0) return;
    if (!job->end.event) job->killed = true;
    order_death(job, now_us());
}

/* All shims; that of `but`, if there is one, comes first and is spared with what is below it. */
static struct spared shims(pid_t *pids, const struct job *but) {
    struct spared spared = {.pids = pids};
    if (but && but->shim > 0) {
        pids[spared.count++] = but->shim;
        spared.whole = 1;
    }
    for (int i = 0; i < job_count; i++)
        if (jobs[i] != but && jobs[i]->shim > 0) pids[spared.count++] = jobs[i]->shim;
    return spared;
}

/* The next command must find room for its processes, and on a busy machine a shim may be slow to
   wait for those it has adopted. What we trace we let go first. */
static void await_the_dead(struct spared spared) {
    uint64_t give_up = now_us() + TREE_GIVE_UP_US;
    for (unsigned pause = 100; queue_has_room() && now_us() < give_up; pause += pause / 2) {
        jobs_reap();
        if (!tree_count_dead(spared)) return;
        usleep(pause < 20000 ? pause : 20000);
    }
}

int jobs_kill_all(uint32_t but) {
    pid_t pids[JOBS];
    const struct job *left = but ? job_find(but) : NULL;
    for (int i = 0; i < job_count; i++)
        if (jobs[i] != left && !jobs[i]->end.event) jobs[i]->killed = true;
    struct spared spared = shims(pids, left);
    int alive = tree_kill(spared);
    await_the_dead(spared);
    return alive;
}

int jobs_alive(void) {
    pid_t pids[JOBS];
    return tree_count(shims(pids, NULL));
}

void jobs_end(void) {
    tree_kill(NOBODY);
}
