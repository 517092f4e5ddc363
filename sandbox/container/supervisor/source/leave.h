/* How a process ended, and before Linux 6.15, which does not tell, how it asked to. */
#ifndef LEAVE_H
#define LEAVE_H

#include <linux/seccomp.h>
#include <stdbool.h>

#include "ask.h"

/* Whether what an exec began has ended, and it is known with which status, as wait gives it. */
bool leave_status(const struct ask *ask, int *status);
/* Takes the notification of an exit_group, and lets it be done. */
void leave_take(struct listening *listening, const struct seccomp_notif *asked);

#endif
