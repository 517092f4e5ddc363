/* What works here; the greeting says it. */
#ifndef FEATURES_H
#define FEATURES_H

#include <stdbool.h>

void features_prepare(bool without_openat2);
void features_greet(void);

#endif
