/* The execs of commands: told to the host, held where it wants to decide, followed to their end. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "shim.h"

struct watch_wish {
    bool log, hold, root;
    uint64_t limit; /* execs that the host is told of, those that it decides on not counted */
};

/* How much may be seen at most. */
enum sight { SEE_EXEC = 1, SEE_PROGRAMS, SEE_COMMANDS };

void watch_prepare(bool plain, enum sight most);
/* Whether the kernel tells how a process ended that is not our child. */
bool watch_knows_ends(void);
/* How the execs that are wished for can be shown. */
void watch_choose(const struct watch_wish *wish, struct launch *launch);
/* A socket for the launched command's `watch_fd`, or -1 with errno. */
int watch_begin(uint32_t id, const struct launch *launch, const struct watch_wish *wish);
/* The host's answer to a held exec: u64 number, u32 errno or 0, string reason. */
void watch_answer(struct cursor *payload);
/* Tells all that has ended of a command, whose own process ended with this status; `alone`: and
   no other of it is left. */
void watch_settle(uint32_t id, int status, bool alone);

/* The command's shim has ended: none of its processes is left. */
void watch_left(uint32_t id);

/* Readable where there is something to do. */
int watch_descriptor(void);
void watch_step(void);
/* How soon to come back in any case; -1: no need to. */
int64_t watch_timeout_us(void);

#endif
