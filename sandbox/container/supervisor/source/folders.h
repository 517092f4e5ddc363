/* The folders and files that the kernel tells of: inotify(7), and the path of each watch. */
#ifndef FOLDERS_H
#define FOLDERS_H

#include <stdbool.h>

#define FOLDERS_MOST 65536 /* watches that are kept; the kernel's own limit may be lower */

struct watched {
    int number; /* the kernel's; -1 where the slot is free */
    bool file;  /* a file that is named, else a folder */
    char *path;
};

/* Begins; false with errno where the kernel gives no queue. */
bool folders_open(void);
void folders_close(void);
/* The kernel's queue; -1 where nothing is watched. */
int folders_queue(void);

/* Watches one folder, or one named file for being read; false with errno. */
bool folders_add(const char *path, bool file);
/* What a number of the kernel's stands for; NULL for one that was dropped. */
const struct watched *folders_find(int number);
/* The kernel has dropped it. */
void folders_forget(int number);
/* Drops a path and all that lies below it. */
void folders_drop(const char *path);
int folders_count(void);

#endif
