/* What the exec watcher waits for: descriptors, each with what is to be done when something comes. */
#ifndef SOURCE_H
#define SOURCE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define SOURCES_POLLED 8 /* further ones are waited for as all others are */

/* `what` are events of epoll_wait(2). */
typedef void source_handler(void *owner, uint32_t what);

struct source {
    int fd;
    void *owner;
    source_handler *handler;
};

void sources_prepare(void);
/* Readable where there is something to do; -1 where nothing can be waited for. */
int sources_descriptor(void);
/* Has one source handled; whether another one may wait. */
bool sources_turn(void);

/* Begins to wait for a descriptor, which the source owns from here on, also where this fails. */
bool source_open(struct source *source, int fd, source_handler *handler, void *owner);
/* Waits for it in ppoll itself, too: who wakes an epoll cannot hand its processor over. */
void source_poll(struct source *source);
int sources_poll(struct pollfd *polled, int length);
/* From now on only its hang-up is told. */
void source_await_hangup(struct source *source);
void source_close(struct source *source);

#endif
