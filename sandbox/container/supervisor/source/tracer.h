/* Where there is no listener: programs are seen by ptrace, each before its first instruction. */
#ifndef TRACER_H
#define TRACER_H

#include <stdbool.h>
#include <sys/types.h>

/* Tries it on a child; not where it is not `wanted`. */
void tracer_prepare(bool wanted);
bool tracer_works(void);

/* In the command's process, before it changes user: has the supervisor trace it, or says why not
   with errno. Only system calls, for the memory is another's. */
bool tracer_wanted(int socket);
/* In the same, with no_new_privs: nothing that it starts can be started untraced. */
bool tracer_confine(void);
/* The supervisor's side of it: the process that is now traced, or -1. */
pid_t tracer_seize(int socket);

/* What a stopped process is told, apart from one that has stopped at an exec. */
void tracer_resume(pid_t pid, int status);
bool tracer_is_exec(int status);
/* Lets it go on after an exec; false where it has gone. */
bool tracer_continue(pid_t pid);

#endif
