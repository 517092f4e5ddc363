/* Work as root: asked for by `sudo`, decided on by the host, done below the command's shim. */
#ifndef ROOT_H
#define ROOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ask;
struct exec;
struct first;
struct source;
struct watch;
struct work;

void root_prepare(void);
/* Whether there is somebody to ask. */
bool root_works(void);
/* Whether root has been let run anything, which may change what /proc says of us. */
bool root_was_granted(void);
/* Something has come to one of its sources. */
void root_turn(struct source *source, uint32_t what);
/* The host's answer to what it was told: an errno, and the reason of a refusal. */
void root_answer(struct ask *ask, int problem, const char *reason);
/* The program that was granted is about to run, as a notification or a stop shows it: whether it
   is the one that was decided on. */
bool root_is_granted(const struct ask *ask, const struct exec *exec);
/* Who has asked for what, for the process's listener to know. */
void root_hand_over(struct work *work, struct first *first);
/* What the shim tells of a process that it started as root. */
void root_ended(uint32_t id, pid_t pid, int status);
/* Nothing of the command is left. */
void root_left(const struct watch *watch);

#endif
