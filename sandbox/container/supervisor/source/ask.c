/* One exec from the moment it is asked for to the end of what it started. */
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
#include "frame.h"
#include "git.h"
#include "handle.h"
#include "leave.h"
#include "listener.h"
#include "notice.h"
#include "tracer.h"

#define VERIFY_GIVE_UP_US 10000000u

struct ask *asks;
static uint64_t last_number;
static int verifying;

/* ---- what the host is told ---- */

static void tell_exec(uint8_t type, uint32_t id, uint64_t number, const struct exec *exec,
                      int problem) {
    notice_drain(); /* what came first is told first */
    struct writer writer = writer_begin();
    put_u64(&writer, number);
    put_u32(&writer, exec->flags);
    put_u32(&writer, (uint32_t)problem);
    put_u32(&writer, (uint32_t)exec->pid);
    put_u32(&writer, (uint32_t)exec->parent);
    put_u32(&writer, exec->user.uid);
    put_u32(&writer, exec->count);
    put_text(&writer, exec->program);
    put_text(&writer, exec->resolved);
    put_text(&writer, exec->cwd);
    put_u32(&writer, exec->told);
    for (size_t at = 0, i = 0; i < exec->told; i++) {
        put_text(&writer, exec->arguments + at);
        at += strlen(exec->arguments + at) + 1;
    }
    put_u32(&writer, exec->variables.count);
    for (size_t at = 0; at < exec->variables.length; at += strlen(exec->variables.text + at) + 1)
        put_text(&writer, exec->variables.text + at);
    writer_send(&writer, type, id);
}

static void tell_end(const struct ask *ask, uint32_t outcome, int status) {
    uint64_t ended = ask->ended_us ? ask->ended_us : now_us();
    bool known = outcome == OUTCOME_EXITED, exited = known && WIFEXITED(status);
    struct writer writer = writer_begin();
    put_u64(&writer, ask->number);
    put_u32(&writer, outcome);
    put_u32(&writer, exited ? (uint32_t)WEXITSTATUS(status) : UINT32_MAX);
    put_u32(&writer, known && !exited ? (uint32_t)WTERMSIG(status) : 0);
    put_u64(&writer, ended - ask->started_us);
    writer_send(&writer, REPLY_EXEC_ENDED, ask->watch->id);
}

/* ---- one exec ---- */

static void ask_set(struct ask *ask, enum state state) {
    verifying += (state == VERIFYING) - (ask->state == VERIFYING);
    ask->state = state;
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
    if (--watch->open == 0 && watch_is_left(watch)) watch_is_over(watch);
}

void ask_end(struct ask *ask, uint32_t outcome, int status) {
    tell_end(ask, outcome, status);
    ask_close(ask);
}

static bool answer_kernel(const struct listening *listening, uint64_t notification, int problem) {
    struct seccomp_notif_resp response = {
        .id = notification,
        .error = -problem,
        .flags = problem ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE,
    };
    return listening && listener_ask(listening->source.fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* The process waits, hence lives: what it has run until now will be replaced, not ended, however
   soon it ends once it goes on. */
static void supersede(const struct ask *successor) {
    int status = 0; /* the number may be another process's by now */
    for (struct ask *ask = asks; ask; ask = ask->next)
        if (ask != successor && ask->pid == successor->pid && ask->state == RUNNING)
            ask->superseded = !leave_status(ask, &status);
}

/* The program that the process ran until now gives way. */
static void replace(pid_t pid, const struct ask *successor) {
    struct ask *next;
    for (struct ask *ask = asks; ask; ask = next) {
        next = ask->next;
        if (ask == successor || ask->pid != pid || ask->state != RUNNING) continue;
        int status = 0;
        bool known = ask->watch->traced || ask->superseded;
        bool ended = !known && leave_status(ask, &status);
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
    supersede(ask);
    if (!ask->watch->wish.hold && !(ask->work && listener_holds())) {
        if (answer_kernel(ask->listening, ask->notification, 0)) run_on(ask);
        else ask_end(ask, OUTCOME_GONE, 0);
        return;
    }
    /* It stops as soon as the exec is done, before anything of the new program runs. The signal
       is for the thread: another one of the process could take it and then be ended by the exec. */
    syscall(SYS_tgkill, ask->pid, ask->thread, SIGSTOP);
    if (answer_kernel(ask->listening, ask->notification, 0)) {
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
    ask->git = git_moves_branches(exec);
    ask->state = HELD;
    ask->handle.fd = -1;
    ask->next = asks;
    asks = ask;
    watch->open++;
    return ask;
}

/* Its handle says that it has ended, or that its parent knows of it. */
static void ask_ended(void *owner, uint32_t what) {
    struct ask *ask = owner;
    int status = 0;
    if (ask_waits(ask)) return ask_end(ask, OUTCOME_GONE, 0);
    if (!ask->ended_us || ask->git) notice_before_end(ask->git); /* it writes nothing any more */
    if (!ask->ended_us) ask->ended_us = now_us();
    bool known = !handle_tells_status() || what & EPOLLHUP; /* else its parent has not heard yet */
    if (known && leave_status(ask, &status)) return ask_end(ask, OUTCOME_EXITED, status);
    bool own = ask->pid == ask->watch->own->first.pid;
    if (!handle_tells_status() && !own) return ask_end(ask, OUTCOME_UNKNOWN, 0);
    ask_set(ask, REAPING); /* its parent has still to take its status */
    if (handle_tells_status()) source_await_hangup(&ask->handle);
    else source_close(&ask->handle);
}

/* The same, and its end will be heard of. */
static struct ask *ask_open(struct watch *watch, struct exec *exec) {
    struct ask *ask = ask_make(watch, exec);
    if (!ask || watch->traced) return ask;
    if (source_open(&ask->handle, exec_take_handle(exec), ask_ended, ask)) return ask;
    source_close(&ask->handle);
    asks = ask->next;
    watch->open--;
    free(ask);
    return NULL;
}

static void refuse_exec(struct listening *listening, const struct seccomp_notif *asked, int problem) {
    struct watch *watch = listening->watch;
    watch->seen++;
    if (watch->told < watch->wish.limit) {
        watch->told++;
        tell_exec(REPLY_EXEC_SEEN, watch->id, ++last_number, &present, problem);
    }
    answer_kernel(listening, asked->id, problem);
}

static void admit(struct listening *listening, const struct seccomp_notif *asked) {
    struct watch *watch = listening->watch;
    bool hold = watch->wish.hold, over = !hold && watch->told >= watch->wish.limit;
    uint64_t valid = asked->id;
    /* The process may have gone, and another have its number: seccomp_unotify(2), "Notes". */
    bool gone = !listener_ask(listening->source.fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &valid);
    struct ask *ask = NULL;
    if (!gone && !over) {
        last_number++;
        ask = ask_open(watch, &present);
        if (!ask) { /* no descriptor is left, or no memory */
            expectation_free(&present.expected);
            return refuse_exec(listening, asked, EAGAIN);
        }
        ask->notification = asked->id;
        ask->listening = listening;
        ask->expected = present.expected;
        memset(&present.expected, 0, sizeof present.expected);
    }
    expectation_free(&present.expected);
    exec_drop_handle(&present);
    if (gone) return;
    watch->seen++;
    if (over) {
        replace(present.pid, NULL);
        answer_kernel(listening, asked->id, 0);
        return;
    }
    watch->told++;
    tell_exec(hold ? REPLY_EXEC_HELD : REPLY_EXEC_SEEN, watch->id, ask->number, &present, 0);
    if (!hold) ask_allow(ask);
}

/* The first exec of a process that became root is the one that was decided on, or none. */
static void take_granted(struct listening *listening, const struct seccomp_notif *asked) {
    int problem = EACCES;
    struct ask *ask = ask_granted(listening->first.pid);
    enum reading reading = exec_first(&present, &listening->first, true, &problem);
    bool right = ask && reading == READ_WELL && ask_is_granted(ask, &present);
    if (ask) ask->listening = listening;
    if (right) {
        expectation_free(&ask->expected);
        ask->expected = present.expected;
        ask->notification = asked->id;
        return ask_allow(ask);
    }
    expectation_free(&present.expected);
    answer_kernel(listening, asked->id, EACCES);
    if (ask) ask_end(ask, OUTCOME_MISMATCH, 0);
}

void ask_take(struct listening *listening) {
    static union {
        struct seccomp_notif asked;
        char room[512]; /* for a kernel that tells more */
    } notification;
    int problem = 0;
    memset(&notification, 0, sizeof notification);
    if (!listener_ask(listening->source.fd, SECCOMP_IOCTL_NOTIF_RECV, &notification)) return;
    if (notification.asked.data.nr == SYS_exit_group)
        return leave_take(listening, &notification.asked);
    enum reading reading;
    bool hold = listening->watch->wish.hold;
    if (!listening->asked) {
        listening->asked = true;
        if (listening->first.pid != listening->watch->own->first.pid)
            return take_granted(listening, &notification.asked);
        reading = exec_first(&present, &listening->first, hold, &problem);
        present.flags |= EXECUTION_FIRST;
        first_free(&listening->first);
    } else {
        reading = exec_read(&present, &notification.asked, hold, &problem);
    }
    if (reading == READ_WELL) return admit(listening, &notification.asked);
    expectation_free(&present.expected);
    if (reading == READ_MISSING) answer_kernel(listening, notification.asked.id, problem);
    else refuse_exec(listening, &notification.asked, problem);
}

void asks_tell_ended(bool git) {
    bool any = false;
    for (struct ask *ask = asks; ask; ask = ask->next) {
        if (ask->watch->traced || ask_waits(ask) || ask->state == VERIFYING) continue;
        if (ask->git != git) continue;
        ask->over = leave_status(ask, &ask->status);
        any |= ask->over;
    }
    /* It may have ended since somebody looked at what it had written until then. */
    if (any && git) notice_before_end(true);
    struct ask *next;
    for (struct ask *ask = asks; ask; ask = next) {
        next = ask->next;
        if (ask->over && ask->git == git) ask_end(ask, OUTCOME_EXITED, ask->status);
    }
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
        tell_exec(type, watch->id, last_number, exec, problem);
    }
    replace(exec->pid, ask);
    if (problem) {
        if (exec->pid == watch->own->first.pid && !watch->own->asked) watch->refused = true;
        kill(exec->pid, SIGKILL);
    } else if (!ask) tracer_continue(exec->pid);
    else if (!hold) ask_allow(ask);
}

void ask_refuse(struct ask *ask, int problem) {
    if (ask->work) return ask_end(ask, OUTCOME_REFUSED, 0); /* it has been told, and ends */
    if (ask->watch->traced) {
        if (ask->first) ask->watch->refused = true;
        kill(ask->pid, SIGKILL);
        return ask_end(ask, OUTCOME_REFUSED, 0);
    }
    bool there = answer_kernel(ask->listening, ask->notification, problem);
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
    tell_exec(REPLY_EXEC_HELD, watch->id, ask->number, exec, 0);
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

bool ask_is_granted(const struct ask *ask, const struct exec *exec) {
    return identity_same(&ask->expected.program, &exec->expected.program);
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

void asks_lose(const struct listening *listening) {
    for (struct ask *ask = asks; ask; ask = ask->next)
        if (ask->listening == listening) ask->listening = NULL;
}
