/* Frames in and out: a bounded queue towards the host, a cursor over what came from it. */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct cursor {
    const unsigned char *at;
    size_t left;
    bool bad; /* the payload is shorter than it claims */
};

uint8_t take_u8(struct cursor *cursor);
uint32_t take_u32(struct cursor *cursor);
uint64_t take_u64(struct cursor *cursor);
/* Points into the frame; `length` is 0 where the cursor is bad. */
const unsigned char *take_bytes(struct cursor *cursor, size_t *length);
/* Copies a string and ends it with NUL: 0, EINVAL for a NUL within, ENAMETOOLONG. */
int take_text(struct cursor *cursor, char *into, size_t size);
/* Whether the payload was well formed and ends here. */
bool cursor_done(const struct cursor *cursor);

/* Numbers of a record whose fields have fixed places. */
void store_u16(unsigned char *at, uint16_t value);
void store_u32(unsigned char *at, uint32_t value);
void store_u64(unsigned char *at, uint64_t value);

/* The payload of one frame, field by field, where the queue will send it from; at most two chunks
   and a bit. Nothing else may be queued before it is sent. */
struct writer {
    unsigned char *start, *at;
};

struct writer writer_begin(void);
void put_u32(struct writer *writer, uint32_t value);
void put_u64(struct writer *writer, uint64_t value);
void put_raw(struct writer *writer, const void *bytes, size_t length);
/* The length in front. */
void put_bytes(struct writer *writer, const void *bytes, size_t length);
void put_text(struct writer *writer, const char *text);
/* Room of one chunk for who writes by himself; `put_done` says how much it was. */
unsigned char *put_here(struct writer *writer);
void put_done(struct writer *writer, size_t length);
void writer_send(const struct writer *writer, uint8_t type, uint32_t id);

typedef void frame_handler(uint8_t type, uint32_t id, struct cursor *payload);

/* Takes over two descriptors (perhaps the same one); false with errno set where it cannot. */
bool channel_open(int input, int output);
int channel_input(void);
int channel_output(void);
/* Reads once and hands out every complete frame; false once the stream has ended. */
bool channel_receive(frame_handler *handler);
/* Hands out frames that were held back for want of room in the queue. */
void channel_resume(frame_handler *handler);

/* Room for at least one more frame of the largest size that the supervisor sends. */
bool queue_has_room(void);
bool queue_is_empty(void);
/* Whether something is to be written now: reports alone wait for more of them. */
bool queue_is_due(void);
/* Until the reports that are gathered have to leave; -1 where none are. */
int64_t queue_timeout_us(void);
/* Writes what is due and the stream takes now; false once the stream is broken. */
bool queue_flush(void);
/* Flushes for up to a second, for last words. */
void queue_flush_finally(void);

/* A frame without a payload, and one of a single number. */
void reply_empty(uint8_t type, uint32_t id);
void reply_number(uint8_t type, uint32_t id, uint32_t value);
void reply_bytes(uint8_t type, uint32_t id, const void *bytes, size_t length);
/* `subject` names what the error is about, e.g. "cwd". */
void reply_error(uint32_t id, int number, const char *subject);
/* Tells the host what it did wrong; the main loop ends after it. */
void reply_fault(const char *text);
bool channel_is_faulty(void);

#endif
