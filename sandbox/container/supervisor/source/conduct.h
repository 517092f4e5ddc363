/* How commands are watched: from the launch over the host's decisions to the end of all of it. */
#ifndef CONDUCT_H
#define CONDUCT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"
#include "watch.h"

/* How much may be seen at most. */
enum sight { SEE_EXEC = 1, SEE_PROGRAMS, SEE_COMMANDS };

/* `older`: as with a kernel that does not tell how processes ended. */
void conduct_prepare(bool plain, bool older, enum sight most);
/* A socket for the launched command's `watch_fd`, or -1 with errno. */
int conduct_begin(uint32_t id, const struct launch *launch, const struct watch_wish *wish);
/* Its shim has been started. */
void conduct_launched(uint32_t id, pid_t shim);
/* The host's answer to a held exec: u64 number, u32 errno or 0, string reason. */
void conduct_answer(struct cursor *payload);
/* Whether the command's own program was refused: it has never run. */
bool conduct_was_refused(uint32_t id);
/* Tells all that has ended of a command, whose own process ended with this status; `alone`: and
   no other of it is left. */
void conduct_settle(uint32_t id, int status, bool alone);
/* The command's shim has ended: none of its processes is left. */
void conduct_left(uint32_t id);

void conduct_step(void);
/* Closes what is over; to be called when nobody holds a watch. */
void conduct_sweep(void);
/* How soon to come back in any case; -1: no need to. */
int64_t conduct_timeout_us(void);

#endif
