/* By which path a program believes to have been called. */
#ifndef CALLED_H
#define CALLED_H

#include <stdbool.h>

struct exec;

/* Whether Python, called by a bare name, would find another file of that name in PATH than the
   one that runs, and so the packages of another environment. As the user of the process. */
bool called_elsewhere(const struct exec *exec);

#endif
