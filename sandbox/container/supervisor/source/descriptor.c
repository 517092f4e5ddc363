/* Descriptors that may be -1. */
#include "descriptor.h"

#include <unistd.h>

void close_descriptor(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}
