/* What traced processes tell: execs, ends, and all that they only have to be let go on after. */
#ifndef TRACE_H
#define TRACE_H

#include <sys/types.h>

/* A traced process or thread has stopped, as wait says. */
void trace_stopped(pid_t pid, int status);
/* A process has ended that may have been traced. */
void trace_ended(pid_t pid, int status);

#endif
