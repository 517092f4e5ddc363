/* The process tree, read from /proc: parents come from the kernel and cannot be forged. */
#ifndef TREE_H
#define TREE_H

#include <sys/types.h>

/* Processes that are left out of a tree. What is below them is not, but below the first `whole`. */
struct spared {
    const pid_t *pids;
    int count, whole;
};
#define NOBODY ((struct spared){0})

/* Everything below this process, or every other process where this one is PID 1. */
int tree_count(struct spared spared);

/* Those that are dead and that nobody has waited for yet; they still count against the limit on
   processes. */
int tree_count_dead(struct spared spared);

/* Kills them all, also those that fork meanwhile; how many were alive at first.
   Gives up after TREE_GIVE_UP_US, for a process may hang in the kernel. */
#define TREE_GIVE_UP_US 5000000u
int tree_kill(struct spared spared);

#endif
