/* The memory of another process, read through /proc: one process at a time. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* False with errno where it cannot be read. */
bool memory_open(pid_t pid);
void memory_close(void);
/* What lies at an address: some bytes, up to a page or two; NULL where there is nothing. */
const unsigned char *memory_at(uint64_t address, size_t *length);
/* A pointer that lies at an address; false where there is none. */
bool memory_pointer(uint64_t address, uint64_t *pointer);
/* A string: 0 or an errno. */
int memory_text(uint64_t address, char *into, size_t size);

#endif
