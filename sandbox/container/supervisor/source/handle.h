/* Handles of processes that are not our children: when and how they end. */
#ifndef HANDLE_H
#define HANDLE_H

#include <stdbool.h>
#include <sys/types.h>

/* `older`: as before 6.15. */
void handle_prepare(bool older);
/* Whether the kernel tells how they ended: 6.15. */
bool handle_tells_status(void);
/* -1 with errno. */
int handle_open(pid_t pid);
/* Whether it was reaped and left its status, as wait gives it. */
bool handle_status(int handle, int *status);
/* Its parent; false where statuses are not told either, and where it has ended. */
bool handle_parent(int handle, pid_t *parent);
/* Whether it has ended, reaped or not. */
bool handle_is_over(int handle);
void handle_kill(int handle, int number);

#endif
