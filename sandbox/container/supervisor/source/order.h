/* Orders to start something as root: from the program `sudo` to the supervisor, and to the shim. */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "shim.h"
#include "sudo.h"

#define ORDER_TEXT (SUDO_REQUEST_MOST + 1024)

/* An order as it was received; all its strings end with NUL. */
struct order {
    struct sudo_request counts;
    size_t length;
    char text[ORDER_TEXT];
    int descriptors[SUDO_DESCRIPTORS + 1]; /* the last one is the channel, of an order alone */
};

/* The supervisor's: takes one from a client; false where it is none. */
bool order_receive(int client, struct order *order);
/* Bytes of its words. */
size_t order_words(const struct order *order);
/* Hands it to a shim, with what root gets of its variables. */
bool order_send(int shim, const struct order *order, int channel, const struct ucred *from);
void order_forget(struct order *order);
/* What the process says when it is ready: its id and program, else an errno below 0. */
pid_t order_ready(int channel, char *program);

/* The shim's: starts what has been ordered, each in a process of its own that becomes it. */
typedef void order_become(const struct launch *launch, int channel);
void orders_take(const struct launch *launch, int orders, order_become *become);
/* Whether this was such a process, which has ended. */
bool order_is_over(pid_t pid);

/* The process's own: waits for the answer; false where it is refused. */
bool order_granted(int channel, const char *program);
_Noreturn void order_failed(int channel, const char *what);
/* Keeps it from becoming the supervisor's user. */
bool order_confine(void);
#define ORDER_CAPABILITIES 0xcb /* CHOWN, DAC_OVERRIDE, FOWNER, SETGID, SETUID; not KILL */

#endif
