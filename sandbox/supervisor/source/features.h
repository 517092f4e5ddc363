/* What works here; the greeting says it. */
#ifndef FEATURES_H
#define FEATURES_H

#include <stdbool.h>

/* `plain`: as if kernel and processor were old, to try what is done there. */
void features_prepare(bool plain);
void features_greet(void);

#endif
