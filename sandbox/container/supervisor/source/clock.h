#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

/* Microseconds of the monotonic clock. */
static inline uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

#endif
