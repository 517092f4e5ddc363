/* What no command may call, whatever the engine's own filter lets through. */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdbool.h>

/* For this process and all below it, hence once and not anew for each command. False where the kernel
   has filters and this one could not be set: then nothing may be run. */
bool confine(void);
/* Whether the kernel has filters. */
bool confine_works(void);

#endif
