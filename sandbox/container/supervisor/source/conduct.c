/* How commands are watched. */
#include "conduct.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "ask.h"
#include "clock.h"
#include "descriptor.h"
#include "handle.h"
#include "leave.h"
#include "listener.h"
#include "notice.h"
#include "root.h"
#include "tracer.h"

#define TURNS 16
#define VERIFY_EAGER_US 5000u
#define VERIFY_PAUSE_US 20
#define VERIFY_LONG_PAUSE_US 1000

static void listener_turn(void *owner, uint32_t what) {
    struct listening *listening = owner;
    struct watch *watch = listening->watch;
    if (what & EPOLLIN) return ask_take(listening);
    asks_lose(listening); /* nobody is left who could ask */
    source_close(&listening->source);
    if (listening != watch->own) listening_free(listening);
    if (!watch->open && watch_is_left(watch)) watch_is_over(watch);
}

void conduct_prepare(bool plain, bool older, enum sight most) {
    handle_prepare(older);
    listener_prepare(plain || most != SEE_EXEC, !handle_tells_status());
    tracer_prepare(!listener_holds() && most != SEE_COMMANDS);
    sources_prepare();
    root_prepare(listener_turn);
    notice_prepare(asks_tell_ended);
}

int64_t conduct_timeout_us(void) {
    uint64_t youngest = 0, now;
    if (!asks_verifying()) return -1;
    now = now_us();
    for (struct ask *ask = asks; ask; ask = ask->next)
        if (ask->state == VERIFYING && ask->started_us > youngest) youngest = ask->started_us;
    return now - youngest < VERIFY_EAGER_US ? VERIFY_PAUSE_US : VERIFY_LONG_PAUSE_US;
}

/* ---- from the launch to the end ---- */

/* Whoever holds something of a watch gives it back first. */
static void close_watch(struct watch *watch) {
    root_left(watch);
    for (struct listening *one = watch->listenings; one; one = one->next) asks_lose(one);
    watch_close(watch);
}

static void receive_listener(void *owner, uint32_t what) {
    struct watch *watch = owner;
    struct listening *own = watch->own;
    (void)what;
    if (watch->traced) {
        own->first.pid = tracer_seize(watch->socket.fd);
        return watch_keep_orders(watch);
    }
    int listener =
        listener_receive(watch->socket.fd, &own->first.pid, own->first.program, PATH_MAX);
    watch_keep_orders(watch);
    if (listener >= 0 && source_open(&own->source, listener, listener_turn, own))
        return source_poll(&own->source);
    close_watch(watch); /* without its listener the kernel refuses each exec */
}

int conduct_begin(uint32_t id, const struct launch *launch, const struct watch_wish *wish) {
    int pair[2] = {-1, -1};
    struct watch *watch = watch_make(id, launch, wish);
    if (!watch) return -1;
    /* Packets: a listener and the name of its program come together or not at all: unix(7). */
    bool ready = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0;
    if (ready && watch->blind) watch->orders = pair[0];
    else ready = ready && source_open(&watch->socket, pair[0], receive_listener, watch);
    if (ready) return pair[1];
    int problem = errno;
    close_descriptor(&pair[1]);
    close_watch(watch);
    errno = problem;
    return -1;
}

void conduct_launched(uint32_t id, pid_t shim) {
    struct watch *watch = watch_find(id);
    if (watch) watch->shim = shim;
}

bool conduct_was_refused(uint32_t id) {
    const struct watch *watch = watch_find(id);
    return watch && watch->refused;
}

void conduct_left(uint32_t id) {
    struct watch *watch = watch_find(id);
    if (!watch) return;
    watch->shim = 0;
    root_left(watch);
    if (!watch->traced && !watch->blind) return;
    watch->left = true;
    if (!watch->open) watch_is_over(watch);
}

void conduct_sweep(void) {
    struct watch *next;
    for (struct watch *watch = watches; watch; watch = next) {
        next = watch->next;
        if (watch->over) close_watch(watch);
    }
}

void conduct_settle(uint32_t id, int own_status, bool alone) {
    struct watch *watch = watch_find(id);
    struct ask *next;
    if (!watch || watch->over) return;
    if (alone) close_descriptor(&watch->orders); /* nobody is left who could ask for root */
    for (struct ask *ask = asks; ask; ask = next) {
        int status = own_status;
        next = ask->next;
        if (ask->watch != watch || ask_waits(ask) || ask->state == VERIFYING) continue;
        if (watch->traced) continue; /* its end is waited for */
        bool known = leave_status(ask, &status) || ask->pid == watch->own->first.pid;
        if (known) ask_end(ask, OUTCOME_EXITED, status);
    }
    if (!watch->over) watch_tell_count(watch, false);
}

/* ---- the host's decisions ---- */

void conduct_answer(struct cursor *payload) {
    uint64_t number = take_u64(payload);
    uint32_t problem = take_u32(payload);
    char reason[1024] = "";
    take_text(payload, reason, sizeof reason);
    if (!cursor_done(payload) || problem > 4095) return reply_fault("malformed answer to an exec");
    for (struct ask *ask = asks; ask; ask = ask->next) {
        if (ask->number != number || ask->state != HELD) continue;
        bool root = ask->work != NULL;
        if (root) root_answer(ask, (int)problem, reason);
        if (problem) ask_refuse(ask, (int)problem);
        else if (root) ask_grant(ask);
        else ask_allow(ask);
        return;
    }
}

void conduct_step(void) {
    asks_verify();
    for (int turn = 0; turn < TURNS && queue_has_room(); turn++)
        if (!sources_turn()) return;
}
