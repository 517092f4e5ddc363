/* Walks directories by descriptor: any depth, one descriptor, no link followed. */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entry.h"

#define WALK_PATH 16384          /* what lies deeper is not entered, and named as a problem */
#define WALK_NAMES (64u << 20)   /* most bytes of names that wait to be entered */

struct level {
    uint64_t device, inode;
    size_t path_length;
    size_t names_start; /* its directories that are still to be entered */
};

struct walk {
    int folder;      /* the directory that was opened last, -1 for none */
    bool reading;    /* whether it has more to tell */
    bool everywhere; /* whether other mounts belong to it */
    char path[WALK_PATH];
    struct level *levels;
    size_t depth, levels_size;
    char *names; /* each ends with NUL */
    size_t names_length, names_size;
    size_t buffer_at, buffer_length;
    char buffer[32768];
    struct entry root;
    struct entry entry; /* what was found last */
    const char *name;   /* its name within `folder` */
    char target[4096];  /* where it points if it is a link */
    bool refused;       /* it could not be entered, and comes a second time to say so */
    int problem;        /* the walk failed: errno */
};

void walk_prepare(struct walk *walk);
/* Stands on a root, `walk->entry`; false where there is none. */
bool walk_start(struct walk *walk, const char *root);
/* Reads one open directory, which it takes over, without entering what is in it. */
bool walk_adopt(struct walk *walk, int folder);
/* Finds the next entry; false at the end or on a problem. */
bool walk_next(struct walk *walk);
/* The present entry, a directory, is to be entered later. */
void walk_enter(struct walk *walk);
void walk_release(struct walk *walk);

#endif
