/* Commands: their streams, deadlines and ends, as the supervisor sees them. */
#ifndef JOB_H
#define JOB_H

#include <poll.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "frame.h"
#include "shim.h"

#define JOBS 1024
#define JOB_DESCRIPTORS 4

struct stream {
    int fd;
    uint8_t type;
    uint64_t total, limit;
    uint64_t rest; /* still in the pipe when the command ended */
    short events;
};

struct job {
    uint32_t id;
    pid_t shim; /* 0 once reaped */
    struct stream out, error;
    int status, stdin_fd;
    short status_events;
    int polled, polled_end; /* its part of the polled descriptors */
    uint64_t started_us, deadline_us, kills_before;
    uint64_t give_up_us; /* when a tree that does not die is reported all the same */
    bool killed, timed_out, reported;
    bool refused; /* its program, after it had been loaded */
    struct shim_report end; /* its event is 0 until the command has ended */
    unsigned char *input;   /* standard input that the pipe did not take yet */
    size_t input_at, input_length;
    uint64_t input_due; /* bytes that the host has still to send */
};

/* The limit on descriptors that commands get. */
void jobs_prepare(const struct rlimit *descriptors);
/* 0, an errno, or -1 where the request is malformed. */
int job_start(struct job *job, struct cursor *payload);

void job_run(uint32_t id, struct cursor *payload);
void job_stdin(uint32_t id, struct cursor *payload);
void job_kill(uint32_t id);
/* Marks all as killed on request and kills every process but supervisor and shims; the command of
   the request `but` is left alone with all that it has started, none where that is 0. */
int jobs_kill_all(uint32_t but);
int jobs_alive(void);
/* Kills everything, shims too: the supervisor is about to leave. */
void jobs_end(void);

/* Appends what each job waits for; returns the new length. */
int jobs_poll(struct pollfd *polled, int length);
/* Microseconds until the next deadline, -1 where there is none. */
int64_t jobs_timeout_us(void);
/* Moves data, notices ends and deadlines. */
void jobs_step(const struct pollfd *polled);
/* Reaps children and hears of what is traced; to be called on SIGCHLD, and again while there is
   more than one turn takes. */
void jobs_reap(void);
bool jobs_reap_more(void);

#endif
