/* What the exec watcher waits for. */
#include "source.h"

#include <stddef.h>
#include <sys/epoll.h>

#include "descriptor.h"

#define BATCH 8

static int events = -1;
static struct source *polled_sources[SOURCES_POLLED];
static struct epoll_event ready[BATCH]; /* in the order in which they came */
static int count, taken;

void sources_prepare(void) {
    /* One descriptor stands in ppoll for all, however many listeners there are: epoll(7). */
    events = epoll_create1(EPOLL_CLOEXEC);
}

int sources_descriptor(void) {
    return events;
}

bool sources_turn(void) {
    if (taken == count) {
        int came = events < 0 ? 0 : epoll_wait(events, ready, BATCH, 0);
        count = came > 0 ? came : 0;
        taken = 0;
        if (!count) return false;
    }
    struct epoll_event *next = ready + taken++;
    struct source *source = next->data.ptr;
    if (source) source->handler(source->owner, next->events);
    return taken < count || count == BATCH;
}

bool source_open(struct source *source, int fd, source_handler *handler, void *owner) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    *source = (struct source){fd, owner, handler};
    return fd >= 0 && epoll_ctl(events, EPOLL_CTL_ADD, fd, &event) == 0;
}

void source_poll(struct source *source) {
    for (int i = 0; i < SOURCES_POLLED; i++)
        if (!polled_sources[i]) {
            polled_sources[i] = source;
            return;
        }
}

int sources_poll(struct pollfd *polled, int length) {
    for (int i = 0; i < SOURCES_POLLED; i++)
        if (polled_sources[i]) polled[length++] = (struct pollfd){polled_sources[i]->fd, POLLIN, 0};
    return length;
}

void source_await_hangup(struct source *source) {
    struct epoll_event event = {.events = 0, .data.ptr = source};
    /* EPOLLHUP is told whether it is asked for or not: epoll_ctl(2). */
    epoll_ctl(events, EPOLL_CTL_MOD, source->fd, &event);
}

void source_close(struct source *source) {
    for (int i = 0; i < SOURCES_POLLED; i++)
        if (polled_sources[i] == source) polled_sources[i] = NULL;
    for (int i = taken; i < count; i++)
        if (ready[i].data.ptr == source) ready[i].data.ptr = NULL;
    /* A forked child may still hold the descriptor, and epoll(7) waits for the open file, not for
       the descriptor: closing ours would not be enough. */
    if (source->fd >= 0) epoll_ctl(events, EPOLL_CTL_DEL, source->fd, NULL);
    close_descriptor(&source->fd);
}
