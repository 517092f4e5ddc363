/* What the control group counts. */
#ifndef USAGE_H
#define USAGE_H

#include <stdint.h>

enum groups { GROUPS_NONE, GROUPS_1, GROUPS_2 };

/* Finds the control group's files, once. */
void usage_prepare(void);
enum groups usage_groups(void);
/* How often the kernel killed for memory; 0 where it cannot be read. */
uint64_t usage_kills(void);
/* UINT64_MAX where they cannot be read. */
uint64_t usage_memory_peak(void);
uint64_t usage_cpu_us(void);

#endif
