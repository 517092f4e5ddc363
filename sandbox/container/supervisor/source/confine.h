/* What no command may call, whatever the engine's own filter lets through. */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdbool.h>

/* For this process and all below it, hence once and not anew for each command. */
void confine(void);
/* Whether it is so. */
bool confine_works(void);

#endif
