/* Listeners inside the container whose connections the host serves, as streams of its channel. */
#include "forward.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128
#define READS_PER_TURN 4 /* so that commands find room in the queue, too */

struct connection {
    uint32_t number;
    int fd, polled;
    bool heard;        /* the client sends no more, and the host knows */
    bool said;         /* the host sends no more */
    bool closing;      /* the host does not want to hear more either */
    bool shut;         /* the client knows that */
    uint32_t under_way; /* bytes that the host has not taken yet */
    unsigned char *buffer; /* bytes that the client has not taken yet */
    size_t at, length;
};

struct forward {
    uint32_t id, last;
    int fd, polled;
    int count;
    unsigned next; /* has the first turn */
    struct connection connections[FORWARD_CONNECTIONS];
};

static struct forward *forwards[FORWARDS];
static int forward_count;

static struct forward *forward_find(uint32_t id) {
    for (int i = 0; i < forward_count; i++)
        if (forwards[i]->id == id) return forwards[i];
    return NULL;
}

/* NULL where it was closed meanwhile, or never was. */
static struct connection *connection_find(uint32_t id, uint32_t number) {
    struct forward *forward = forward_find(id);
    for (int i = 0; forward && i < forward->count; i++)
        if (forward->connections[i].number == number) return &forward->connections[i];
    return NULL;
}

/* ---- one connection ---- */

static void connection_end(struct connection *connection, bool cut) {
    struct linger at_once = {1, 0}; /* the client reads an error, not an end */
    /* With no time to linger closing sends a reset: socket(7), SO_LINGER. */
    if (cut) setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(connection->fd);
    free(connection->buffer);
}

/* Writes what the client takes; the host may send as much again. False where it is gone. */
static bool deliver(uint32_t id, struct connection *connection) {
    size_t sent = 0;
    while (connection->length) {
        ssize_t put = send(connection->fd, connection->buffer + connection->at,
                           connection->length, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) break;
        if (put < 0) return false;
        connection->at += (size_t)put;
        connection->length -= (size_t)put;
        sent += (size_t)put;
    }
    if (sent) {
        struct writer writer = writer_begin();
        put_u32(&writer, connection->number);
        put_u32(&writer, (uint32_t)sent);
        writer_send(&writer, REPLY_DELIVERED, id);
    }
    if (connection->said && !connection->length && !connection->shut) {
        connection->shut = true;
        /* Its own half only, for the client may go on speaking: shutdown(2). */
        shutdown(connection->fd, SHUT_WR);
    }
    return true;
}

/* Reads once what the host has room for. False where the client is gone. */
static bool hear(uint32_t id, struct connection *connection) {
    size_t room = STREAM_WINDOW - connection->under_way;
    struct writer writer = writer_begin();
    put_u32(&writer, connection->number);
    ssize_t got = recv(connection->fd, put_here(&writer), room < CHUNK ? room : CHUNK, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    put_done(&writer, (size_t)got);
    writer_send(&writer, REPLY_RECEIVED, id);
    connection->under_way += (uint32_t)got;
    connection->heard = got == 0;
    return true;
}

static bool wants_to_hear(const struct connection *connection) {
    return !connection->heard && !connection->closing && connection->under_way < STREAM_WINDOW;
}

static bool is_over(const struct connection *connection) {
    return connection->shut && (connection->heard || connection->closing);
}

/* ---- one listener ---- */

static void drop(struct forward *forward, int place, bool cut) {
    struct connection *connection = &forward->connections[place];
    reply_number(REPLY_CLOSED, forward->id, connection->number);
    connection_end(connection, cut);
    *connection = forward->connections[--forward->count];
}

static void settle(struct forward *forward, struct connection *connection, bool alive) {
    if (alive && !is_over(connection)) return;
    drop(forward, (int)(connection - forward->connections), !alive);
}

static void accept_one(struct forward *forward) {
    int fd = accept4(forward->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    forward->connections[forward->count++] =
        (struct connection){.number = ++forward->last, .fd = fd, .polled = -1};
    reply_number(REPLY_ACCEPTED, forward->id, forward->last);
}

/* A listening socket on the loopback, or -1 with errno; 0 is any port. */
static int open_listener(uint32_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    int one = 1, memory = STREAM_WINDOW;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    /* Else what is left of earlier connections would keep the port for a minute. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    /* Connections inherit these; the kernel would let each grow to megabytes. */
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &memory, sizeof memory);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &memory, sizeof memory);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, BACKLOG)) {
        int problem = errno;
        close(fd);
        errno = problem;
        return -1;
    }
    return fd;
}

void forward_listen(uint32_t id, struct cursor *payload) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    uint32_t port = take_u32(payload);
    if (!cursor_done(payload)) return reply_fault("malformed listen request");
    if (forward_find(id)) return reply_fault("request id is in use");
    if (port > UINT16_MAX) return reply_error(id, EINVAL, "listen");
    if (forward_count == FORWARDS) return reply_error(id, EAGAIN, "listen");
    struct forward *forward = calloc(1, sizeof *forward);
    if (!forward) return reply_error(id, ENOMEM, "listen");
    forward->id = id;
    forward->fd = open_listener(port);
    if (forward->fd < 0) {
        reply_error(id, errno, "listen");
        return free(forward);
    }
    getsockname(forward->fd, (struct sockaddr *)&address, &length);
    forwards[forward_count++] = forward;
    reply_number(REPLY_LISTENING, id, ntohs(address.sin_port));
}

void forward_unlisten(uint32_t id) {
    for (int i = 0; i < forward_count; i++) {
        struct forward *forward = forwards[i];
        if (forward->id != id) continue;
        close(forward->fd);
        for (int k = 0; k < forward->count; k++) connection_end(&forward->connections[k], true);
        free(forward);
        forwards[i] = forwards[--forward_count];
        return reply_empty(REPLY_OK, id);
    }
}

static bool keep(struct connection *connection, const unsigned char *bytes, size_t length) {
    if (!connection->buffer) connection->buffer = malloc(STREAM_WINDOW);
    if (!connection->buffer) return false;
    memmove(connection->buffer, connection->buffer + connection->at, connection->length);
    connection->at = 0;
    memcpy(connection->buffer + connection->length, bytes, length);
    connection->length += length;
    return true;
}

void forward_data(uint32_t id, struct cursor *payload) {
    struct connection *connection = connection_find(id, take_u32(payload));
    if (payload->bad) return reply_fault("malformed stream data");
    if (!connection) return; /* it was closed meanwhile */
    if (connection->said) return reply_fault("stream data after its end");
    if (payload->left > STREAM_WINDOW - connection->length)
        return reply_fault("stream data beyond its window");
    connection->said = !payload->left;
    bool kept = keep(connection, payload->at, payload->left);
    settle(forward_find(id), connection, kept && deliver(id, connection));
}

void forward_taken(uint32_t id, struct cursor *payload) {
    struct connection *connection = connection_find(id, take_u32(payload));
    uint32_t count = take_u32(payload);
    if (!cursor_done(payload)) return reply_fault("malformed stream request");
    if (!connection) return;
    if (count > connection->under_way) return reply_fault("more taken than was sent");
    connection->under_way -= count;
}

void forward_close(uint32_t id, struct cursor *payload) {
    struct connection *connection = connection_find(id, take_u32(payload));
    if (!cursor_done(payload)) return reply_fault("malformed stream request");
    if (!connection) return;
    connection->said = connection->closing = true;
    settle(forward_find(id), connection, deliver(id, connection));
}

/* ---- all of them ---- */

static int poll_one(struct pollfd *polled, int length, int fd, short events) {
    polled[length] = (struct pollfd){fd, events, 0};
    return length;
}

/* What can only wait for the host is left out: the kernel would tell of its end again and again. */
int forwards_poll(struct pollfd *polled, int length) {
    bool room = queue_has_room();
    for (int i = 0; i < forward_count; i++) {
        struct forward *forward = forwards[i];
        forward->polled = -1;
        if (room && forward->count < FORWARD_CONNECTIONS)
            forward->polled = poll_one(polled, length++, forward->fd, POLLIN);
        for (int k = 0; k < forward->count; k++) {
            struct connection *connection = &forward->connections[k];
            bool hears = wants_to_hear(connection);
            short events = (short)((hears ? POLLIN : 0) | (connection->length ? POLLOUT : 0));
            connection->polled = -1;
            if (room && (events || connection->heard))
                connection->polled = poll_one(polled, length++, connection->fd, events);
        }
    }
    return length;
}

/* False where the client is gone. */
static bool turn(uint32_t id, struct connection *connection, short events, int *reads) {
    if (events & POLLERR) return false;
    if (events & POLLOUT && !deliver(id, connection)) return false;
    if (!(events & (POLLIN | POLLHUP))) return true;
    if (!wants_to_hear(connection)) return !(events & POLLHUP);
    return (*reads)-- <= 0 || hear(id, connection);
}

static void forward_step(struct forward *forward, const struct pollfd *polled) {
    int reads = READS_PER_TURN, count = forward->count;
    int first = count ? (int)(forward->next++ % (unsigned)count) : 0;
    /* Backwards, for one that ends is replaced by the last. */
    for (int i = count - 1; i >= 0 && queue_has_room(); i--) {
        if (i >= forward->count) continue;
        struct connection *connection = &forward->connections[(i + first) % forward->count];
        short events = connection->polled < 0 ? 0 : polled[connection->polled].revents;
        connection->polled = -1;
        if (events) settle(forward, connection, turn(forward->id, connection, events, &reads));
    }
    if (forward->polled < 0 || !polled[forward->polled].revents || !queue_has_room()) return;
    accept_one(forward);
}

void forwards_step(const struct pollfd *polled) {
    for (int i = 0; i < forward_count; i++) forward_step(forwards[i], polled);
}
