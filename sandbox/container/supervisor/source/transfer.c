/* Replies that are longer than a moment: they are sent in turns, as the host takes them. */
#include "transfer.h"

#include <errno.h>

#define TRANSFERS 64

static struct transfer *transfers[TRANSFERS];
static int transfer_count;

static bool turn(struct transfer *transfer) {
    bool done = true;
    if (user_become(transfer->user)) done = transfer->step(transfer);
    else reply_error(transfer->id, errno, "user");
    user_leave();
    if (done) transfer->release(transfer);
    return done;
}

void transfer_begin(struct transfer *transfer) {
    if (transfer_count == TRANSFERS) {
        reply_error(transfer->id, EAGAIN, "request");
        transfer->release(transfer);
        return;
    }
    if (!turn(transfer)) transfers[transfer_count++] = transfer;
}

bool transfers_wait(void) {
    return transfer_count > 0;
}

void transfers_step(void) {
    for (int i = 0; i < transfer_count && queue_has_room(); i++)
        if (turn(transfers[i])) transfers[i--] = transfers[--transfer_count];
}
