/* Listeners inside the container whose connections the host serves, as streams of its channel. */
#ifndef FORWARD_H
#define FORWARD_H

#include <poll.h>

#include "frame.h"

#define FORWARDS 4
#define FORWARD_CONNECTIONS 128 /* of one listener; the next ones wait to be accepted */
#define FORWARD_DESCRIPTORS (FORWARDS * (1 + FORWARD_CONNECTIONS))

void forward_listen(uint32_t id, struct cursor *payload);
/* Closes a listener and cuts its connections. */
void forward_unlisten(uint32_t id);
void forward_data(uint32_t id, struct cursor *payload);
void forward_taken(uint32_t id, struct cursor *payload);
void forward_close(uint32_t id, struct cursor *payload);

/* Appends what each listener and connection waits for; returns the new length. */
int forwards_poll(struct pollfd *polled, int length);
/* Accepts and moves data. */
void forwards_step(const struct pollfd *polled);

#endif
