/* Starts a command: its request, its pipes, its shim. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "job.h"
#include "conduct.h"
#include "descriptor.h"
#include "job.h"
#include "oom.h"
#include "usage.h"
#include "user.h"

#define BLOCK_KEPT 65536

static struct rlimit command_descriptors;
static void *block;
static size_t block_size;

void jobs_prepare(const struct rlimit *descriptors) {
    command_descriptors = *descriptors;
}


struct request {
    struct launch launch;
    struct watch_wish wish;
    uint64_t timeout_ms, stdout_limit, stderr_limit, input_total;
    const unsigned char *input;
    size_t input_length;
};

static char **take_strings(struct cursor *cursor, uint32_t count, char ***slot, char **text,
                           int *problem) {
    char **first = *slot;
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        const unsigned char *bytes = take_bytes(cursor, &length);
        if (cursor->bad) return first;
        if (memchr(bytes, 0, length)) *problem = EINVAL;
        memcpy(*text, bytes, length);
        (*text)[length] = 0;
        *(*slot)++ = *text;
        *text += length + 1;
    }
    *(*slot)++ = NULL;
    return first;
}

static void block_release(void) {
    free(block);
    block = NULL;
    block_size = 0;
}

/* Holds the strings of one request at a time; allocating anew for each would show. */
static void *memory_for(size_t size) {
    if (size <= block_size) return block;
    block_release();
    size_t rounded = size < BLOCK_KEPT ? BLOCK_KEPT : size;
    block = malloc(rounded);
    if (block) block_size = rounded;
    return block;
}

/* 0, an errno, or -1 where the payload is malformed. */
static int parse(struct cursor *payload, struct request *request) {
    int problem = 0;
    uint32_t flags = take_u32(payload);
    size_t strings = payload->left / 4 + 4; /* each takes at least its length field */
    char **slot = memory_for(strings * sizeof(char *) + payload->left + 1);
    if (!slot) return ENOMEM;
    char *text = (char *)(slot + strings);
    request->launch.kill_survivors = flags & RUN_KILL_SURVIVORS;
    request->launch.announce = flags & RUN_ANNOUNCE;
    request->launch.uid = take_u32(payload);
    request->launch.gid = take_u32(payload);
    request->timeout_ms = take_u64(payload);
    request->stdout_limit = take_u64(payload);
    request->stderr_limit = take_u64(payload);
    request->launch.cwd = take_strings(payload, 1, &slot, &text, &problem)[0];
    request->launch.argv = take_strings(payload, take_u32(payload), &slot, &text, &problem);
    request->launch.environment =
        take_strings(payload, take_u32(payload), &slot, &text, &problem);
    request->input_total = take_u64(payload);
    request->input = take_bytes(payload, &request->input_length);
    request->wish.log = flags & RUN_EXEC_LOG;
    request->wish.hold = request->launch.hold = flags & RUN_EXEC_HOLD;
    request->wish.root = flags & RUN_ROOT;
    if (flags & (RUN_EXEC_LOG | RUN_EXEC_HOLD)) request->wish.limit = take_u64(payload);
    if (!cursor_done(payload) || request->input_length > request->input_total) return -1;
    if (request->input_length > STDIN_WINDOW) return -1;
    if (!request->launch.argv[0]) problem = EINVAL;
    struct user own = user_own();
    if (!user_is_root() && (request->launch.uid != own.uid || request->launch.gid != own.gid))
        return EPERM;
    return problem;
}

static bool open_pipe(int pipe_fds[2], int ours) {
    if (pipe2(pipe_fds, O_CLOEXEC)) {
        pipe_fds[0] = pipe_fds[1] = -1;
        return false;
    }
    return fcntl(pipe_fds[ours], F_SETFL, O_NONBLOCK) == 0;
}

/* Lets a command open its own streams as /dev/stdin, /dev/stdout and /dev/stderr: these are pipes
 * of ours, and who runs it is another user. /proc shows them to who may trace a process alone, and
 * what it prints cannot be read there. Where a pipe has no mode (gVisor), it stays as it is. */
static void open_by_name(const struct request *request, const int in[2], const int out[2],
                         const int error[2]) {
    if (!request->wish.log && !request->wish.hold) return;
    if (in[0] >= 0) (void)fchmod(in[0], 0444);
    (void)fchmod(out[1], 0222);
    (void)fchmod(error[1], 0222);
}

static bool prepare_input(struct job *job, const struct request *request) {
    bool more = request->input_total > request->input_length;
    job->input_due = request->input_total - request->input_length;
    if (!request->input_total) return true;
    job->input = malloc(more ? STDIN_WINDOW : request->input_length);
    if (!job->input) return false;
    memcpy(job->input, request->input, request->input_length);
    job->input_length = request->input_length;
    return true;
}

/* 0 or an errno. */
static int start(struct job *job, struct request *request) {
    int in[2] = {-1, -1}, out[2] = {-1, -1}, error[2] = {-1, -1}, status[2] = {-1, -1};
    int problem = 0;
    bool ready = open_pipe(out, 0) && open_pipe(error, 0) && open_pipe(status, 0) &&
                 (!request->input_total || open_pipe(in, 1)) && prepare_input(job, request);
    request->launch.watch_fd = -1;
    if (ready) open_by_name(request, in, out, error);
    if (ready && (request->wish.log || request->wish.hold || request->wish.root)) {
        watch_choose(&request->wish, &request->launch);
        request->launch.watch_fd = conduct_begin(job->id, &request->launch, &request->wish);
        ready = request->launch.watch_fd >= 0;
    }
    if (ready) {
        struct launch *launch = &request->launch;
        launch->stdin_fd = in[0];
        launch->stdout_fd = out[1];
        launch->stderr_fd = error[1];
        launch->status_fd = status[1];
        launch->descriptors = command_descriptors;
        launch->supervisor = getpid();
        oom_volunteer();
        job->shim = fork();
        if (job->shim == 0) shim(launch);
        int failure = errno;
        oom_withdraw();
        errno = failure;
        ready = job->shim > 0;
        if (ready) conduct_launched(job->id, job->shim);
    }
    if (!ready) problem = errno;
    job->out.fd = out[0];
    job->error.fd = error[0];
    job->status = status[0];
    job->stdin_fd = in[1];
    int theirs[] = {in[0], out[1], error[1], status[1], request->launch.watch_fd};
    for (int i = 0; i < 5; i++) close_descriptor(&theirs[i]);
    return problem;
}

int job_start(struct job *job, struct cursor *payload) {
    struct request request = {0};
    int problem = parse(payload, &request);
    if (!problem) {
        job->out = (struct stream){.fd = -1, .type = REPLY_STDOUT, .limit = request.stdout_limit};
        job->error = (struct stream){.fd = -1, .type = REPLY_STDERR, .limit = request.stderr_limit};
        job->status = job->stdin_fd = -1;
        job->kills_before = usage_kills();
        job->started_us = now_us();
        if (request.timeout_ms) job->deadline_us = job->started_us + request.timeout_ms * 1000u;
        problem = start(job, &request);
    }
    if (block_size > BLOCK_KEPT) block_release();
    return problem;
}
