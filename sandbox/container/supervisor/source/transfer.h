/* Replies that are longer than a moment: they are sent in turns, as the host takes them. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "place.h"

struct transfer {
    uint32_t id;
    struct user user;
    bool (*step)(struct transfer *transfer); /* whether it is done; called only with room */
    void (*release)(struct transfer *transfer);
};

/* Takes its first turn at once and owns it from here on. */
void transfer_begin(struct transfer *transfer);
bool transfers_wait(void);
void transfers_step(void);

#endif
