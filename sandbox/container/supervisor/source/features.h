/* What works here; the greeting says it. */
#ifndef FEATURES_H
#define FEATURES_H

#include <stdbool.h>

#include "conduct.h"

/* What is to be made use of. */
struct means {
    bool plain; /* as if kernel and processor were old, to try what is done there */
    bool older; /* as if the kernel were one before 6.15 */
    enum sight most;
};

/* Takes an option of the command line; false where it is none. */
bool means_take(struct means *means, const char *option);
void features_prepare(const struct means *means);
void features_greet(void);

#endif
