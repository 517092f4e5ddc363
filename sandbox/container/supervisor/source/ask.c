#include "ask.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "handle.h"
#include "job.h"
#include "listener.h"
#include "root.h"
#include "tracer.h"

#define VERIFY_GIVE_UP_US 10000000u

struct ask *asks;
static uint64_t last_number;
static int verifying;
static struct exec seen;

/* ---- what the host is told ---- */

static unsigned char *put_bytes(unsigned char *into, const void *bytes, size_t length) {
    put_u32(into, (uint32_t)length);
    memcpy(into + 4, bytes, length);
    return into + 4 + length;
}

static void tell(uint8_t type, uint32_t id, uint64_t number, const struct exec *exec,
                 int problem) {
    unsigned char *start = queue_reserve(), *into = start + 32;
    put_u64(start, number);
    put_u32(start + 8, exec->flags);
    put_u32(start + 12, (uint32_t)problem);
    put_u32(start + 16, (uint32_t)exec->pid);
    put_u32(start + 20, (uint32_t)exec->parent);
    put_u32(start + 24, exec->user.uid);
    put_u32(start + 28, exec->count);
    into = put_bytes(into, exec->program, strlen(exec->program));
    into = put_bytes(into, exec->resolved, strlen(exec->resolved));
    into = put_bytes(into, exec->cwd, strlen(exec->cwd));
    put_u32(into, exec->told);
    into += 4;
    for (size_t at = 0, i = 0; i < exec->told; i++) {
        size_t length = strlen(exec->arguments + at);
        into = put_bytes(into, exec->arguments + at, length);
        at += length + 1;
    }
    queue_commit(type, id, (size_t)(into - start));
}

static void tell_end(const struct ask *ask, uint32_t outcome, int status) {
    unsigned char payload[28];
    uint64_t ended = ask->ended_us ? ask->ended_us : now_us();
    bool known = outcome == OUTCOME_EXITED, exited = known && WIFEXITED(status);
    put_u64(payload, ask->number);
    put_u32(payload + 8, outcome);
    put_u32(payload + 12, exited ? (uint32_t)WEXITSTATUS(status) : UINT32_MAX);
    put_u32(payload + 16, known && !exited ? (uint32_t)WTERMSIG(status) : 0);
    put_u64(payload + 20, ended - ask->started_us);
    reply(REPLY_EXEC_ENDED, ask->watch->id, payload, sizeof payload);
}

/* ---- one exec ---- */

static void ask_set(struct ask *ask, enum state state) {
    verifying += (state == VERIFYING) - (ask->state == VERIFYING);
    ask->state = state;
}

void ask_await(struct ask *ask) {
    ask_set(ask, REAPING);
}

static void ask_close(struct ask *ask) {
    struct ask **at = &asks;
    while (*at != ask) at = &(*at)->next;
    *at = ask->next;
    ask_set(ask, REAPING);
    source_close(&ask->handle);
    expectation_free(&ask->expected);
    struct watch *watch = ask->watch;
    free(ask);
    if (--watch->open == 0 && watch_is_left(watch)) watch_over(watch);
}

void ask_end(struct ask *ask, uint32_t outcome, int status) {
    tell_end(ask, outcome, status);
    ask_close(ask);
}

static bool answer(const struct listening *listening, uint64_t notification, int problem) {
    struct seccomp_notif_resp response = {
        .id = notification,
        .error = -problem,
        .flags = problem ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE,
    };
    return listening && ioctl(listening->source.fd, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0;
}

/* The program that the process ran until now gives way. */
static void replace(pid_t pid, const struct ask *successor) {
    struct ask *next;
    for (struct ask *ask = asks; ask; ask = next) {
        next = ask->next;
        if (ask == successor || ask->pid != pid || ask->state != RUNNING) continue;
        int status = 0; /* the number may be another process's by now */
        bool ended = !ask->watch->traced && handle_status(ask->handle.fd, &status);
        ask_end(ask, ended ? OUTCOME_EXITED : OUTCOME_REPLACED, status);
    }
}

static void run_on(struct ask *ask) {
    ask_set(ask, RUNNING);
    replace(ask->pid, ask);
}

void ask_allow(struct ask *ask) {
    ask->started_us = now_us();
    if (ask->watch->traced) {
        ask_set(ask, RUNNING);
        watch_begun(ask->watch);
        tracer_continue(ask->pid); /* one that has gone is told when it is waited for */
        return;
    }
    if (ask->watch->blind) return run_on(ask);
    if (!ask->watch->wish.hold && !(ask->work && listener_holds())) {
        if (answer(ask->listening, ask->notification, 0)) run_on(ask);
        else ask_end(ask, OUTCOME_GONE, 0);
        return;
    }
    /* It stops as soon as the exec is done, before anything of the new program runs. The signal
       is for the thread: another one of the process could take it and then be ended by the exec. */
    syscall(SYS_tgkill, ask->pid, ask->thread, SIGSTOP);
    if (answer(ask->listening, ask->notification, 0)) {
        ask_set(ask, VERIFYING);
        return;
    }
    handle_kill(ask->handle.fd, SIGCONT);
    ask_end(ask, OUTCOME_GONE, 0);
}

static void verify(struct ask *ask, uint64_t now) {
    enum finding finding = exec_verify(ask->pid, ask->user, &ask->expected);
    bool late = now - ask->started_us > VERIFY_GIVE_UP_US;
    if (finding == FOUND_WAITING && !late) {
        syscall(SYS_tgkill, ask->pid, ask->thread, SIGSTOP);
        return;
    }
    if (finding == FOUND_GONE) { /* its handle tells how it ended */
        run_on(ask);
    } else if (finding == FOUND_APPROVED) {
        run_on(ask);
        handle_kill(ask->handle.fd, SIGCONT);
    } else if (finding == FOUND_FAILED) {
        handle_kill(ask->handle.fd, SIGCONT);
        ask_end(ask, OUTCOME_FAILED, 0);
    } else {
        handle_kill(ask->handle.fd, SIGKILL);
        ask_end(ask, OUTCOME_MISMATCH, 0);
    }
}

static struct ask *ask_make(struct watch *watch, const struct exec *exec) {
    struct ask *ask = calloc(1, sizeof *ask);
    if (!ask) return NULL;
    ask->watch = watch;
    ask->number = last_number;
    ask->started_us = now_us();
    ask->pid = exec->pid;
    ask->thread = exec->thread;
    ask->user = exec->user;
    ask->first = exec->flags & EXECUTION_FIRST;
    ask->state = HELD;
    ask->handle.fd = -1;
    ask->next = asks;
    asks = ask;
    watch->open++;
    return ask;
}

/* The same, and its end will be heard of. */
static struct ask *ask_open(struct watch *watch, const struct exec *exec) {
    struct ask *ask = ask_make(watch, exec);
    if (!ask || watch->traced) return ask;
    if (source_open(&ask->handle, KIND_HANDLE, handle_open(exec->pid), ask)) return ask;
    source_close(&ask->handle);
    asks = ask->next;
    watch->open--;
    free(ask);
    return NULL;
}

static void refuse(struct listening *listening, const struct seccomp_notif *asked, int problem) {
    struct watch *watch = listening->watch;
    watch->seen++;
    if (watch->told < watch->wish.limit) {
        watch->told++;
        tell(REPLY_EXEC_SEEN, watch->id, ++last_number, &seen, problem);
    }
    answer(listening, asked->id, problem);
}

static void admit(struct listening *listening, const struct seccomp_notif *asked) {
    struct watch *watch = listening->watch;
    bool hold = watch->wish.hold, over = !hold && watch->told >= watch->wish.limit;
    uint64_t valid = asked->id;
    /* The process may have gone, and another have its number. */
    bool gone = ioctl(listening->source.fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &valid) != 0;
    struct ask *ask = NULL;
    if (!gone && !over) {
        last_number++;
        ask = ask_open(watch, &seen);
        if (!ask) { /* no descriptor is left, or no memory */
            expectation_free(&seen.expected);
            return refuse(listening, asked, EAGAIN);
        }
        ask->notification = asked->id;
        ask->listening = listening;
        ask->expected = seen.expected;
        memset(&seen.expected, 0, sizeof seen.expected);
    }
    expectation_free(&seen.expected);
    if (gone) return;
    watch->seen++;
    if (over) {
        replace(seen.pid, NULL);
        answer(listening, asked->id, 0);
        return;
    }
    watch->told++;
    tell(hold ? REPLY_EXEC_HELD : REPLY_EXEC_SEEN, watch->id, ask->number, &seen, 0);
    if (!hold) ask_allow(ask);
}

void first_free(struct first *first) {
    free(first->program);
    free(first->cwd);
    free(first->arguments);
    first->program = first->cwd = first->arguments = NULL;
}

/* The first exec of a process that became root is the one that was decided on, or none. */
static void take_granted(struct listening *listening, const struct seccomp_notif *asked) {
    int problem = EACCES;
    struct ask *ask = ask_granted(listening->first.pid);
    enum reading reading = exec_first(&seen, &listening->first, true, &problem);
    bool right = ask && reading == READ_WELL && root_is_granted(ask, &seen);
    if (ask) ask->listening = listening;
    if (right) {
        expectation_free(&ask->expected);
        ask->expected = seen.expected;
        ask->notification = asked->id;
        return ask_allow(ask);
    }
    expectation_free(&seen.expected);
    answer(listening, asked->id, EACCES);
    if (ask) ask_end(ask, OUTCOME_MISMATCH, 0);
}

void ask_take(struct listening *listening) {
    static union {
        struct seccomp_notif asked;
        char room[512]; /* for a kernel that tells more */
    } notification;
    int problem = 0;
    memset(&notification, 0, sizeof notification);
    if (ioctl(listening->source.fd, SECCOMP_IOCTL_NOTIF_RECV, &notification)) return;
    enum reading reading;
    bool hold = listening->watch->wish.hold;
    if (!listening->asked) {
        listening->asked = true;
        if (listening->first.pid != listening->watch->own->first.pid)
            return take_granted(listening, &notification.asked);
        reading = exec_first(&seen, &listening->first, hold, &problem);
        seen.flags |= EXECUTION_FIRST;
        first_free(&listening->first);
    } else {
        reading = exec_read(&seen, &notification.asked, hold, &problem);
    }
    if (reading == READ_WELL) return admit(listening, &notification.asked);
    expectation_free(&seen.expected);
    if (reading == READ_MISSING) answer(listening, notification.asked.id, problem);
    else refuse(listening, &notification.asked, problem);
}

void ask_stopped(struct watch *watch, struct exec *exec, int problem) {
    bool hold = watch->wish.hold, over = !hold && watch->told >= watch->wish.limit;
    struct ask *ask = over || problem ? NULL : ask_make(watch, exec);
    if (!over && !ask && !problem) problem = EAGAIN;
    watch->seen++;
    last_number++;
    if (!over) {
        watch->told++;
        if (ask) ask->number = last_number;
        uint8_t type = hold && ask ? REPLY_EXEC_HELD : REPLY_EXEC_SEEN;
        tell(type, watch->id, last_number, exec, problem);
    }
    replace(exec->pid, ask);
    if (problem) {
        if (exec->pid == watch->own->first.pid && !watch->own->asked) job_refused(watch->id);
        kill(exec->pid, SIGKILL);
    } else if (!ask) tracer_continue(exec->pid);
    else if (!hold) ask_allow(ask);
}

void ask_refuse(struct ask *ask, int problem) {
    if (ask->work) return ask_end(ask, OUTCOME_REFUSED, 0); /* it has been told, and ends */
    if (ask->watch->traced) {
        if (ask->first) job_refused(ask->watch->id);
        kill(ask->pid, SIGKILL);
        return ask_end(ask, OUTCOME_REFUSED, 0);
    }
    bool there = answer(ask->listening, ask->notification, problem);
    ask_end(ask, there ? OUTCOME_REFUSED : OUTCOME_GONE, 0);
}

bool ask_waits(const struct ask *ask) {
    return ask->state == HELD || ask->state == GRANTED_TO_ROOT;
}

/* ---- what is to be root ---- */

struct ask *ask_root(struct watch *watch, struct exec *exec, struct work *work) {
    last_number++;
    struct ask *ask = ask_open(watch, exec);
    if (!ask) return NULL;
    ask->work = work;
    ask->expected = exec->expected;
    memset(&exec->expected, 0, sizeof exec->expected);
    watch->seen++;
    watch->told++;
    tell(REPLY_EXEC_HELD, watch->id, ask->number, exec, 0);
    return ask;
}

void ask_grant(struct ask *ask) {
    ask_set(ask, GRANTED_TO_ROOT);
    if (ask->watch->blind) ask_allow(ask);
}

struct ask *ask_granted(pid_t pid) {
    for (struct ask *ask = asks; ask; ask = ask->next)
        if (ask->pid == pid && ask->state == GRANTED_TO_ROOT) return ask;
    return NULL;
}

void ask_settle(struct ask *ask, bool right) {
    if (right) return ask_allow(ask);
    kill(ask->pid, SIGKILL);
    ask_end(ask, OUTCOME_MISMATCH, 0);
}

void ask_root_ended(const struct work *work) {
    for (struct ask *ask = asks; ask; ask = ask->next)
        if (ask->work == work) ask->work = NULL;
}

int asks_verifying(void) {
    return verifying;
}

void asks_verify(void) {
    struct ask *next;
    uint64_t now = verifying ? now_us() : 0;
    for (struct ask *ask = asks; verifying && ask; ask = next) {
        next = ask->next;
        if (ask->state == VERIFYING) verify(ask, now);
    }
}

