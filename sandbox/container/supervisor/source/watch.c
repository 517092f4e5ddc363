/* The commands whose execs are seen. */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"
#include "frame.h"
#include "listener.h"

#define DEPTH_MOST 65536
#define TRIES 4 /* a process whose parent ends meanwhile has another one */

struct watch *watches;

void watch_tell_count(const struct watch *watch, bool over) {
    struct writer writer = writer_begin();
    put_u64(&writer, watch->seen);
    put_u64(&writer, watch->seen - watch->told);
    put_u32(&writer, over);
    writer_send(&writer, REPLY_EXEC_COUNT, watch->id);
}

void watch_choose(const struct watch_wish *wish, struct launch *launch) {
    bool seen = wish->hold || wish->log;
    launch->listens = seen && (wish->hold ? listener_holds() : listener_works());
    launch->traced = seen && !launch->listens;
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

static struct watch *watch_of_shim(pid_t pid) {
    for (struct watch *watch = watches; watch && pid > 0; watch = watch->next)
        if (watch->shim == pid) return watch;
    return NULL;
}

struct watch *watch_of(pid_t pid) {
    uint64_t layout[4];
    char state;
    for (int try = 0; try < TRIES; try++) {
        pid_t at = pid, parent = 0;
        for (int depth = 0; depth < DEPTH_MOST && exec_layout(at, &state, &parent, layout); depth++) {
            struct watch *watch = watch_of_shim(parent);
            if (watch || parent <= 1) return watch;
            at = parent;
        }
    }
    return NULL;
}

/* ---- listeners ---- */

static struct listening *listening_make(struct watch *watch) {
    struct listening *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->source.fd = -1;
    made->watch = watch;
    made->next = watch->listenings;
    return watch->listenings = made;
}

void listening_free(struct listening *listening) {
    struct listening **at = &listening->watch->listenings;
    while (*at != listening) at = &(*at)->next;
    *at = listening->next;
    source_close(&listening->source);
    first_free(&listening->first);
    free(listening);
}

void listening_receive(struct watch *watch, int socket, struct first *first,
                       source_handler *handler) {
    struct listening *made = listening_make(watch);
    char program[PATH_MAX];
    pid_t pid;
    int listener = listener_receive(socket, &pid, program, sizeof program);
    if (!made) {
        close_descriptor(&listener);
        return;
    }
    made->first = *first;
    *first = (struct first){.pid = made->first.pid};
    if (listener < 0 || !source_open(&made->source, listener, handler, made)) listening_free(made);
    else source_poll(&made->source);
}

/* ---- from the launch to the end ---- */

void watch_close(struct watch *watch) {
    struct watch **at = &watches;
    while (*at != watch) at = &(*at)->next;
    *at = watch->next;
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

struct watch *watch_make(uint32_t id, const struct launch *launch, const struct watch_wish *wish) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch) return NULL;
    watch->next = watches;
    watches = watch;
    watch->id = id;
    watch->wish = *wish;
    watch->traced = launch->traced;
    watch->blind = !launch->traced && !launch->listens;
    watch->announce = launch->announce;
    watch->socket.fd = watch->orders = -1;
    watch->own = listening_make(watch);
    if (watch->own && keep_first(&watch->own->first, launch)) return watch;
    watch_close(watch);
    errno = ENOMEM;
    return NULL;
}

void watch_begun(struct watch *watch) {
    if (!watch->announce) return;
    watch->announce = false;
    reply_number(REPLY_STARTED, watch->id, (uint32_t)watch->own->first.pid);
}

void watch_is_over(struct watch *watch) {
    if (!watch->over) watch_tell_count(watch, true);
    watch->over = true;
}

void watch_keep_orders(struct watch *watch) {
    watch->orders = fcntl(watch->socket.fd, F_DUPFD_CLOEXEC, 3);
    source_close(&watch->socket);
}
