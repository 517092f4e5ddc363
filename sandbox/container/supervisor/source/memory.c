/* The memory of another process. What an exec is given lies close together, as a rule: a few pages
   are kept from one question to the next. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u
#define WINDOW (2 * PAGE)
#define WINDOWS 4

struct window {
    uint64_t start;
    size_t length;
    unsigned used; /* when it was last asked for */
    unsigned char bytes[WINDOW];
};

static int memory = -1;
static struct window windows[WINDOWS];
static unsigned questions;

bool memory_open(pid_t pid) {
    char name[32];
    snprintf(name, sizeof name, "/proc/%d/mem", (int)pid);
    for (int i = 0; i < WINDOWS; i++) windows[i].length = windows[i].used = 0;
    questions = 0;
    memory = openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    return memory >= 0;
}

void memory_close(void) {
    if (memory >= 0) close(memory);
    memory = -1;
}

/* The one that an address lies in, else the one that was not asked for the longest. */
static struct window *window_for(uint64_t address) {
    struct window *oldest = windows;
    for (int i = 0; i < WINDOWS; i++) {
        if (address - windows[i].start < windows[i].length) return windows + i;
        if (windows[i].used < oldest->used) oldest = windows + i;
    }
    return oldest;
}

const unsigned char *memory_at(uint64_t address, size_t *length) {
    struct window *window = window_for(address);
    if (address - window->start >= window->length) {
        window->start = address & ~(uint64_t)(PAGE - 1);
        ssize_t got = pread(memory, window->bytes, WINDOW, (off_t)window->start);
        window->length = got > 0 ? (size_t)got : 0;
        if (address - window->start >= window->length) {
            window->length = 0;
            return NULL;
        }
    }
    window->used = ++questions;
    *length = window->length - (size_t)(address - window->start);
    return window->bytes + (address - window->start);
}

bool memory_pointer(uint64_t address, uint64_t *pointer) {
    unsigned char bytes[sizeof *pointer];
    for (size_t filled = 0, length; filled < sizeof bytes; filled += length) {
        const unsigned char *found = memory_at(address + filled, &length);
        if (!found) return false;
        if (length > sizeof bytes - filled) length = sizeof bytes - filled;
        memcpy(bytes + filled, found, length);
    }
    memcpy(pointer, bytes, sizeof bytes);
    return true;
}

int memory_text(uint64_t address, char *into, size_t size) {
    size_t filled = 0;
    while (filled < size) {
        size_t length;
        const unsigned char *bytes = memory_at(address + filled, &length);
        if (!bytes) return EFAULT;
        if (length > size - filled) length = size - filled;
        const unsigned char *end = memchr(bytes, 0, length);
        if (end) length = (size_t)(end - bytes) + 1;
        memcpy(into + filled, bytes, length);
        filled += length;
        if (end) return 0;
    }
    return ENAMETOOLONG;
}
