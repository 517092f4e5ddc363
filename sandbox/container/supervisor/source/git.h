/* What git is asked to do. */
#ifndef GIT_H
#define GIT_H

#include <stdbool.h>

#include "exec.h"

/* Whether an exec is of git and may move a branch; not so where it only reads, or writes no more
   than the index and objects. */
bool git_moves_branches(const struct exec *exec);

#endif
