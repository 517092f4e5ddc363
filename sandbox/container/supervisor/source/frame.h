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

void put_u16(unsigned char *at, uint16_t value);
void put_u32(unsigned char *at, uint32_t value);
void put_u64(unsigned char *at, uint64_t value);

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
/* Writes what the stream takes now; false once the stream is broken. */
bool queue_flush(void);
/* Flushes for up to a second, for last words. */
void queue_flush_finally(void);
/* Where the payload of the next frame may be built; at most two chunks and a bit. */
unsigned char *queue_reserve(void);
void queue_commit(uint8_t type, uint32_t id, size_t length);

void reply(uint8_t type, uint32_t id, const void *payload, size_t length);
/* `subject` names what the error is about, e.g. "cwd". */
void reply_error(uint32_t id, int number, const char *subject);
/* Tells the host what it did wrong; the main loop ends after it. */
void reply_fault(const char *text);
bool channel_is_faulty(void);

#endif
