/* Work as root: asked for by `sudo`, decided on by the host, done below the command's shim. */
#ifndef ROOT_H
#define ROOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ask.h"
#include "source.h"
#include "watch.h"

/* `listened` takes what comes from the listeners of processes that became root. */
void root_prepare(source_handler *listened);
/* Whether there is somebody to ask. */
bool root_works(void);
/* Whether root has been let run anything, which may change what /proc says of us. */
bool root_was_granted(void);
/* The host's answer to what it was told: an errno, and the reason of a refusal. */
void root_answer(struct ask *ask, int problem, const char *reason);
/* What the shim tells of a process that it started as root. */
void root_ended(uint32_t id, pid_t pid, int status);
/* Nothing of the command is left. */
void root_left(const struct watch *watch);

#endif
