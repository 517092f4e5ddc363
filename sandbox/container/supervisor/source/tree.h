/* The process tree, read from /proc: parents come from the kernel and cannot be forged. */
#ifndef TREE_H
#define TREE_H

#include <sys/types.h>

/* Everything below this process, or every other process where this one is PID 1;
   the `spare_count` processes in `spare` are left out, what is below them is not. */
int tree_count(const pid_t *spare, int spare_count);

/* Those that are dead and that nobody has waited for yet; they still count against the limit on
   processes. */
int tree_count_dead(const pid_t *spare, int spare_count);

/* Kills them all, also those that fork meanwhile; how many were alive at first.
   Gives up after TREE_GIVE_UP_US, for a process may hang in the kernel. */
#define TREE_GIVE_UP_US 5000000u
int tree_kill(const pid_t *spare, int spare_count);

#endif
