#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"
#include "clock.h"
#include "handle.h"
#include "job.h"
#include "listener.h"
#include "root.h"
#include "tracer.h"

#define TURNS 16
#define VERIFY_EAGER_US 5000u
#define VERIFY_PAUSE_US 20
#define VERIFY_LONG_PAUSE_US 1000

static int events = -1;
static struct watch *watches;

void watch_prepare(bool plain, enum sight most) {
    listener_prepare(plain || most != SEE_EXEC);
    tracer_prepare(!listener_holds() && most != SEE_COMMANDS);
    handle_prepare();
    events = epoll_create1(EPOLL_CLOEXEC);
    root_prepare();
}

bool watch_knows_ends(void) {
    return handle_tells_status();
}

int watch_descriptor(void) {
    return events;
}

int64_t watch_timeout_us(void) {
    uint64_t youngest = 0, now;
    if (!asks_verifying()) return -1;
    now = now_us();
    for (struct ask *ask = asks; ask; ask = ask->next)
        if (ask->state == VERIFYING && ask->started_us > youngest) youngest = ask->started_us;
    return now - youngest < VERIFY_EAGER_US ? VERIFY_PAUSE_US : VERIFY_LONG_PAUSE_US;
}

bool source_open(struct source *source, enum kind kind, int fd, void *owner) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    *source = (struct source){kind, fd, owner};
    return fd >= 0 && epoll_ctl(events, EPOLL_CTL_ADD, fd, &event) == 0;
}

void source_close(struct source *source) {
    /* A forked child may still hold the descriptor, so that closing it would not be enough. */
    if (source->fd >= 0) epoll_ctl(events, EPOLL_CTL_DEL, source->fd, NULL);
    close_descriptor(&source->fd);
}

/* ---- commands ---- */

static void tell_count(const struct watch *watch, bool over) {
    unsigned char payload[20];
    put_u64(payload, watch->seen);
    put_u64(payload + 8, watch->seen - watch->told);
    put_u32(payload + 16, over);
    reply(REPLY_EXEC_COUNT, watch->id, payload, sizeof payload);
}

void watch_choose(const struct watch_wish *wish, struct launch *launch) {
    bool seen = wish->hold || wish->log;
    launch->listens = seen && (wish->hold ? listener_holds() : listener_works());
    launch->traced = seen && !launch->listens;
}

int watch_orders(const struct watch *watch) {
    return watch->orders;
}

bool watch_is_left(const struct watch *watch) {
    if (watch->traced || watch->blind) return watch->left;
    for (struct listening *one = watch->listenings; one; one = one->next)
        if (one->source.fd >= 0) return false;
    return true;
}

struct watch *watch_find(uint32_t id) {
    for (struct watch *watch = watches; watch; watch = watch->next)
        if (watch->id == id) return watch;
    return NULL;
}

static struct listening *listening_make(struct watch *watch) {
    struct listening *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->source.fd = -1;
    made->watch = watch;
    made->next = watch->listenings;
    return watch->listenings = made;
}

static void listening_free(struct listening *listening) {
    struct listening **at = &listening->watch->listenings;
    while (*at != listening) at = &(*at)->next;
    *at = listening->next;
    for (struct ask *ask = asks; ask; ask = ask->next)
        if (ask->listening == listening) ask->listening = NULL;
    source_close(&listening->source);
    first_free(&listening->first);
    free(listening);
}

static void watch_close(struct watch *watch) {
    struct watch **at = &watches;
    while (*at != watch) at = &(*at)->next;
    *at = watch->next;
    root_left(watch);
    while (watch->listenings) listening_free(watch->listenings);
    source_close(&watch->socket);
    close_descriptor(&watch->orders);
    free(watch);
}

static char *copy(const char *bytes, size_t length) {
    char *made = malloc(length);
    return made ? memcpy(made, bytes, length) : NULL;
}

static bool keep_first(struct first *first, const struct launch *launch) {
    size_t last = 0;
    while (launch->argv[last + 1]) last++;
    const char *end = launch->argv[last] + strlen(launch->argv[last]) + 1;
    first->arguments_length = (size_t)(end - launch->argv[0]);
    first->arguments = copy(launch->argv[0], first->arguments_length);
    first->cwd = copy(launch->cwd, strlen(launch->cwd) + 1);
    first->program = calloc(1, PATH_MAX);
    first->user = (struct user){launch->uid, launch->gid};
    return first->arguments && first->cwd && first->program;
}

int watch_begin(uint32_t id, const struct launch *launch, const struct watch_wish *wish) {
    int pair[2] = {-1, -1};
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch) return -1;
    watch->next = watches;
    watches = watch;
    watch->id = id;
    watch->wish = *wish;
    watch->traced = launch->traced;
    watch->blind = !launch->traced && !launch->listens;
    watch->announce = launch->announce;
    watch->socket.fd = watch->orders = -1;
    watch->own = listening_make(watch);
    bool ready = watch->own && keep_first(&watch->own->first, launch) &&
                 socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0;
    if (ready && watch->blind) watch->orders = pair[0];
    else ready = ready && source_open(&watch->socket, KIND_SOCKET, pair[0], watch);
    if (ready) return pair[1];
    int problem = errno;
    close_descriptor(&pair[1]);
    watch_close(watch);
    errno = problem;
    return -1;
}

void watch_begun(struct watch *watch) {
    unsigned char pid[4];
    if (!watch->announce) return;
    watch->announce = false;
    put_u32(pid, (uint32_t)watch->own->first.pid);
    reply(REPLY_STARTED, watch->id, pid, sizeof pid);
}

void watch_left(uint32_t id) {
    struct watch *watch = watch_find(id);
    if (!watch) return;
    root_left(watch);
    if (!watch->traced && !watch->blind) return;
    watch->left = true;
    if (!watch->open) watch_over(watch);
}

/* Nothing is waited for there any more, but orders go there. */
static void keep_orders(struct watch *watch) {
    watch->orders = fcntl(watch->socket.fd, F_DUPFD_CLOEXEC, 3);
    source_close(&watch->socket);
}

static void receive_listener(struct watch *watch) {
    struct listening *own = watch->own;
    if (watch->traced) {
        own->first.pid = tracer_seize(watch->socket.fd);
        return keep_orders(watch);
    }
    int listener =
        listener_receive(watch->socket.fd, &own->first.pid, own->first.program, PATH_MAX);
    keep_orders(watch);
    if (listener >= 0 && source_open(&own->source, KIND_LISTENER, listener, own)) return;
    watch_close(watch); /* without its listener the kernel refuses each exec */
}

void listening_receive(struct watch *watch, int socket, struct work *work) {
    struct listening *made = listening_make(watch);
    char program[PATH_MAX];
    pid_t pid;
    int listener = listener_receive(socket, &pid, program, sizeof program);
    if (made) root_hand_over(work, &made->first);
    if (made && listener >= 0 && source_open(&made->source, KIND_LISTENER, listener, made)) return;
    if (!made) close_descriptor(&listener);
    else listening_free(made);
}

void watch_over(struct watch *watch) {
    tell_count(watch, true);
    watch_close(watch);
}

static void listener_turn(struct listening *listening, uint32_t what) {
    struct watch *watch = listening->watch;
    if (what & EPOLLIN) return ask_take(listening);
    source_close(&listening->source); /* nobody is left who could ask */
    if (listening != watch->own) listening_free(listening);
    if (!watch->open && watch_is_left(watch)) watch_over(watch);
}

/* ---- ends ---- */

void ask_ended(struct ask *ask) {
    int status = 0;
    if (ask_waits(ask)) return ask_end(ask, OUTCOME_GONE, 0);
    if (!ask->ended_us) ask->ended_us = now_us();
    if (handle_status(ask->handle.fd, &status)) return ask_end(ask, OUTCOME_EXITED, status);
    if (!handle_tells_status()) return ask_end(ask, OUTCOME_UNKNOWN, 0);
    /* Its parent has still to take its status; that is told as a hang-up. */
    struct epoll_event event = {.events = 0, .data.ptr = &ask->handle};
    ask_await(ask);
    epoll_ctl(events, EPOLL_CTL_MOD, ask->handle.fd, &event);
}

void watch_settle(uint32_t id, int own_status, bool alone) {
    struct watch *watch = watch_find(id);
    struct ask *next;
    if (!watch) return;
    if (alone) close_descriptor(&watch->orders); /* nobody is left who could ask for root */
    for (struct ask *ask = asks; ask; ask = next) {
        int status = own_status;
        next = ask->next;
        if (ask->watch != watch || ask_waits(ask) || ask->state == VERIFYING) continue;
        if (watch->traced) continue; /* its end is waited for */
        bool known = handle_status(ask->handle.fd, &status) || ask->pid == watch->own->first.pid;
        if (known) ask_end(ask, OUTCOME_EXITED, status);
    }
    tell_count(watch, false);
}

void watch_answer(struct cursor *payload) {
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

void watch_step(void) {
    struct epoll_event ready;
    asks_verify();
    for (int turn = 0; turn < TURNS && queue_has_room(); turn++) {
        if (events < 0 || epoll_wait(events, &ready, 1, 0) != 1) return;
        struct source *source = ready.data.ptr;
        if (source->kind == KIND_SOCKET) receive_listener(source->owner);
        else if (source->kind == KIND_LISTENER) listener_turn(source->owner, ready.events);
        else if (source->kind == KIND_HANDLE) ask_ended(source->owner);
        else root_turn(source, ready.events);
    }
}
