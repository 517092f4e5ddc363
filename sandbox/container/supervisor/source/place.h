/* Paths that cannot be left: `path` is taken beneath `beneath`, as the kernel proves it. */
#ifndef PLACE_H
#define PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"
#include "user.h"

struct place {
    char beneath[PATH_MAX];
    char path[PATH_MAX]; /* relative to `beneath` */
    bool links;          /* whether symbolic links may be followed at all */
};

/* Reads `beneath` and `path`: 0 or an errno. */
int place_take(struct cursor *payload, struct place *place, bool links);

/* Whether openat2 works here; without it a path is walked name by name. */
bool place_prepare(bool plain);

/* Opens it with O_CLOEXEC; -1 with errno EXDEV where it leads out, ELOOP for a refused link. */
int place_open(const struct place *place, int flags);
/* Opens the directory that holds it (O_PATH), following links at its end if they are allowed,
   and points `name` at the last component; makes missing directories with `parents`. */
int place_parent(struct place *place, bool follow_last, bool parents, const char **name);

#endif
