/* Frames in and out: a bounded queue towards the host, a cursor over what came from it. */
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"

#define QUEUE_SIZE (1u << 20)
#define QUEUE_KEPT (3u << 16) /* memory that stays with the queue when it is empty */
#define FRAME_MOST (3u * CHUNK) /* no frame towards the host is larger */
#define INPUT_SIZE (FRAME_LIMIT + 4u)
#define GATHERED_US 4000 /* to wake the host for each report costs more than its reading does */
#define GATHERED_MOST (1u << 16)

static int input_fd = -1;
static int output_fd = -1;
static unsigned char *input, *queue;
static size_t input_length;
static size_t queue_head, queue_tail, queue_peak;
static uint64_t gathered_since; /* of a queue of reports alone; 0 for any other */
static bool faulty, held_back;

uint8_t take_u8(struct cursor *cursor) {
    if (cursor->left < 1) {
        cursor->bad = true;
        return 0;
    }
    cursor->left--;
    return *cursor->at++;
}

uint32_t take_u32(struct cursor *cursor) {
    uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 8) value |= (uint32_t)take_u8(cursor) << shift;
    return value;
}

uint64_t take_u64(struct cursor *cursor) {
    uint64_t low = take_u32(cursor);
    return low | (uint64_t)take_u32(cursor) << 32;
}

const unsigned char *take_bytes(struct cursor *cursor, size_t *length) {
    size_t claimed = take_u32(cursor);
    const unsigned char *start = cursor->at;
    if (cursor->bad || claimed > cursor->left) {
        cursor->bad = true;
        claimed = 0;
    }
    cursor->at += claimed;
    cursor->left -= claimed;
    *length = claimed;
    return start;
}

int take_text(struct cursor *cursor, char *into, size_t size) {
    size_t length;
    const unsigned char *bytes = take_bytes(cursor, &length);
    into[0] = 0;
    if (length >= size) return ENAMETOOLONG;
    if (memchr(bytes, 0, length)) return EINVAL;
    memcpy(into, bytes, length);
    into[length] = 0;
    return 0;
}

bool cursor_done(const struct cursor *cursor) {
    return !cursor->bad && cursor->left == 0;
}

void store_u16(unsigned char *at, uint16_t value) {
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

void store_u32(unsigned char *at, uint32_t value) {
    store_u16(at, (uint16_t)value);
    store_u16(at + 2, (uint16_t)(value >> 16));
}

void store_u64(unsigned char *at, uint64_t value) {
    store_u32(at, (uint32_t)value);
    store_u32(at + 4, (uint32_t)(value >> 32));
}

/* Kept out of forked children, so that a command's fork need not copy its page tables. */
static unsigned char *private_memory(size_t size) {
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, size, MADV_DONTFORK);
    return memory;
}

static bool set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool channel_open(int from, int to) {
    input_fd = from;
    output_fd = to;
    input = private_memory(INPUT_SIZE);
    queue = private_memory(QUEUE_SIZE);
    return input && queue && set_nonblocking(from) && set_nonblocking(to);
}

int channel_input(void) {
    return input_fd;
}

int channel_output(void) {
    return output_fd;
}

bool channel_is_faulty(void) {
    return faulty;
}

static uint32_t u32_at(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void channel_resume(frame_handler *handler) {
    size_t at = 0;
    held_back = false;
    while (!faulty && input_length - at >= 4) {
        uint32_t length = u32_at(input + at);
        if (length < FRAME_HEADER - 4 || length > FRAME_LIMIT) {
            reply_fault("frame length out of bounds");
            break;
        }
        if (input_length - at - 4 < length) break;
        if (!queue_has_room()) {
            held_back = true;
            break;
        }
        struct cursor payload = {input + at + FRAME_HEADER, length + 4 - FRAME_HEADER, false};
        handler(input[at + 4], u32_at(input + at + 5), &payload);
        at += length + 4;
    }
    if (at) memmove(input, input + at, input_length - at);
    input_length -= at;
}

bool channel_receive(frame_handler *handler) {
    if (!held_back) {
        ssize_t got = read(input_fd, input + input_length, INPUT_SIZE - input_length);
        if (got == 0) return false;
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        input_length += (size_t)got;
    }
    channel_resume(handler);
    return true;
}

bool queue_has_room(void) {
    return QUEUE_SIZE - (queue_tail - queue_head) >= 2 * FRAME_MOST;
}

bool queue_is_empty(void) {
    return queue_head == queue_tail;
}

int64_t queue_timeout_us(void) {
    if (!gathered_since) return -1;
    uint64_t waited = now_us() - gathered_since;
    return waited < GATHERED_US ? (int64_t)(GATHERED_US - waited) : 0;
}

bool queue_is_due(void) {
    if (queue_is_empty()) return false;
    if (queue_tail - queue_head > GATHERED_MOST) gathered_since = 0;
    return queue_timeout_us() <= 0;
}

bool queue_flush(void) {
    if (!queue_is_due()) return true;
    gathered_since = 0;
    while (queue_head < queue_tail) {
        ssize_t put = write(output_fd, queue + queue_head, queue_tail - queue_head);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno == EAGAIN;
        queue_head += (size_t)put;
    }
    queue_head = queue_tail = 0;
    /* Given back to the kernel, the addresses stay: madvise(2), MADV_DONTNEED. */
    if (queue_peak > QUEUE_KEPT) madvise(queue + QUEUE_KEPT, QUEUE_SIZE - QUEUE_KEPT, MADV_DONTNEED);
    queue_peak = 0;
    return true;
}

void queue_flush_finally(void) {
    gathered_since = 0;
    for (int tries = 0; tries < 10 && !queue_is_empty(); tries++) {
        struct pollfd wait = {output_fd, POLLOUT, 0};
        if (!queue_flush()) return;
        if (!queue_is_empty()) poll(&wait, 1, 100);
    }
}

/* ---- frames towards the host ---- */

struct writer writer_begin(void) {
    if (QUEUE_SIZE - queue_tail < FRAME_MOST) {
        memmove(queue, queue + queue_head, queue_tail - queue_head);
        queue_tail -= queue_head;
        queue_head = 0;
    }
    unsigned char *start = queue + queue_tail + FRAME_HEADER;
    return (struct writer){start, start};
}

void put_u32(struct writer *writer, uint32_t value) {
    store_u32(writer->at, value);
    writer->at += 4;
}

void put_u64(struct writer *writer, uint64_t value) {
    store_u64(writer->at, value);
    writer->at += 8;
}

void put_raw(struct writer *writer, const void *bytes, size_t length) {
    if (length) memcpy(writer->at, bytes, length);
    writer->at += length;
}

void put_bytes(struct writer *writer, const void *bytes, size_t length) {
    put_u32(writer, (uint32_t)length);
    put_raw(writer, bytes, length);
}

void put_text(struct writer *writer, const char *text) {
    put_bytes(writer, text, strlen(text));
}

unsigned char *put_here(struct writer *writer) {
    return writer->at;
}

void put_done(struct writer *writer, size_t length) {
    writer->at += length;
}

/* What nobody waits for. */
static bool is_report(uint8_t type) {
    return type == REPLY_EXEC_SEEN || type == REPLY_EXEC_ENDED || type == REPLY_TOUCHED;
}

void writer_send(const struct writer *writer, uint8_t type, uint32_t id) {
    unsigned char *frame = queue + queue_tail;
    size_t length = (size_t)(writer->at - writer->start);
    if (!is_report(type)) gathered_since = 0;
    else if (queue_is_empty()) gathered_since = now_us();
    store_u32(frame, (uint32_t)(length + FRAME_HEADER - 4));
    frame[4] = type;
    store_u32(frame + 5, id);
    queue_tail += length + FRAME_HEADER;
    if (queue_tail > queue_peak) queue_peak = queue_tail;
}

void reply_bytes(uint8_t type, uint32_t id, const void *bytes, size_t length) {
    struct writer writer = writer_begin();
    put_raw(&writer, bytes, length);
    writer_send(&writer, type, id);
}

void reply_empty(uint8_t type, uint32_t id) {
    reply_bytes(type, id, NULL, 0);
}

void reply_number(uint8_t type, uint32_t id, uint32_t value) {
    struct writer writer = writer_begin();
    put_u32(&writer, value);
    writer_send(&writer, type, id);
}

void reply_error(uint32_t id, int number, const char *subject) {
    struct writer writer = writer_begin();
    put_u32(&writer, (uint32_t)number);
    put_text(&writer, subject);
    writer_send(&writer, REPLY_ERROR, id);
}

void reply_fault(const char *text) {
    struct writer writer = writer_begin();
    put_text(&writer, text);
    writer_send(&writer, REPLY_FAULT, 0);
    faulty = true;
}
