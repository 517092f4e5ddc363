/* The filter that shows each exec of a command, and the way its listener takes to the supervisor. */
#ifndef LISTENER_H
#define LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Asks the kernel what it can do; nothing with `plain`. With `exits` a process asks as it ends,
   too: where the kernel does not tell how it did. */
void listener_prepare(bool plain, bool exits);
/* Whether execs can be seen, and whether a process that waits can only be killed meanwhile:
   without that nobody can say what came of an exec that was held. */
bool listener_works(void);
bool listener_holds(void);

/* Makes this process and all below it ask at each exec (and exit): 0, or -1 with errno. It tells `socket` of
   the listener, of this process and of the program that will be its first. With `hold` a process
   cannot be continued or traced either. Only system calls, for the memory is another's. */
int listener_install(int socket, const char *program, bool hold);
/* The listener, or -1 where nothing was sent. */
int listener_receive(int socket, pid_t *pid, char *program, size_t size);

/* A request to a listener: seccomp_unotify(2). Whether it was carried out. */
bool listener_ask(int listener, unsigned long request, void *argument);

#endif
