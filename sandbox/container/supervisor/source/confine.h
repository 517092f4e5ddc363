/* What no command may call, whatever the engine's own filter lets through. */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdbool.h>

void confine_prepare(void);
bool confine_works(void);
/* Holds for this process and all below it; needs no_new_privs. False where it could not be set. */
bool confine(void);

#endif
