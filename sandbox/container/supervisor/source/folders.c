/* The folders and files that the kernel tells of. */
#include "folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define SLOTS (2u * FOLDERS_MOST) /* a power of two */
#define OF_FOLDER                                                                              \
    (IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |          \
     IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK)
#define OF_FILE (IN_ACCESS | IN_DONT_FOLLOW)

static int queue = -1;
static struct watched *slots;
static int count;

bool folders_open(void) {
    if (queue >= 0) return true;
    slots = malloc(SLOTS * sizeof *slots);
    /* Tells of each change without a privilege, who made it not: inotify(7), "Limitations and
       caveats". */
    queue = slots ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
    for (size_t i = 0; queue >= 0 && i < SLOTS; i++) slots[i].number = -1;
    if (queue < 0) free(slots);
    return queue >= 0;
}

void folders_close(void) {
    if (queue < 0) return;
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].number >= 0) free(slots[i].path);
    free(slots);
    close(queue);
    queue = -1;
    count = 0;
}

int folders_queue(void) {
    return queue;
}

int folders_count(void) {
    return count;
}

static size_t slot_of(int number) {
    size_t at = (uint32_t)number * 2654435769u % SLOTS; /* Knuth's multiplicative hash */
    while (slots[at].number >= 0 && slots[at].number != number) at = (at + 1) % SLOTS;
    return at;
}

const struct watched *folders_find(int number) {
    const struct watched *found = &slots[slot_of(number)];
    return found->number == number ? found : NULL;
}

/* What stood behind it moves up, so that no search ends too early. */
static void clear_slot(size_t at) {
    free(slots[at].path);
    slots[at].number = -1;
    count--;
    for (size_t next = (at + 1) % SLOTS; slots[next].number >= 0; next = (next + 1) % SLOTS) {
        struct watched moved = slots[next];
        slots[next].number = -1;
        slots[slot_of(moved.number)] = moved;
    }
}

void folders_forget(int number) {
    size_t at = slot_of(number);
    if (slots[at].number == number) clear_slot(at);
}

bool folders_add(const char *path, bool file) {
    if (count >= FOLDERS_MOST) {
        errno = ENOSPC;
        return false;
    }
    /* One inode has one number, whatever name it is reached by: inotify_add_watch(2). */
    int number = inotify_add_watch(queue, path, file ? OF_FILE : OF_FOLDER);
    if (number < 0) return false;
    char *kept = strdup(path);
    if (!kept) return false;
    size_t at = slot_of(number);
    if (slots[at].number == number) free(slots[at].path); /* the same one under another name */
    else count++;
    slots[at] = (struct watched){number, file, kept};
    return true;
}

void folders_drop(const char *path) {
    size_t length = strlen(path);
    int *dropped = malloc(sizeof *dropped * (size_t)(count ? count : 1)), found = 0;
    if (!dropped) return;
    for (size_t i = 0; i < SLOTS; i++) {
        const char *other = slots[i].path;
        if (slots[i].number < 0 || strncmp(other, path, length)) continue;
        if (other[length] == '/' || !other[length]) dropped[found++] = slots[i].number;
    }
    for (int i = 0; i < found; i++) {
        inotify_rm_watch(queue, dropped[i]);
        folders_forget(dropped[i]);
    }
    free(dropped);
}
