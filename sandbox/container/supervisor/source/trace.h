/* What traced processes tell: execs, ends, and all that they only have to be let go on after. */
#ifndef TRACE_H
#define TRACE_H

#include <stdint.h>
#include <sys/types.h>

/* The command that a process belongs to, by the shim that it is below; 0 for none. */
uint32_t command_of(pid_t pid);
/* A traced process or thread has stopped, as wait says. */
void trace_stopped(pid_t pid, int status);
/* A process has ended that may have been traced. */
void trace_ended(pid_t pid, int status);

#endif
