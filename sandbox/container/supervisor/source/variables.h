/* Variables of an environment that make a program run other code, or less, than its words say. */
#ifndef VARIABLES_H
#define VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VARIABLE_LONGEST 1024 /* bytes of one that the host is told, its end included */
#define VARIABLES_MOST 16     /* of one exec */
#define PATH_VARIABLE 8192    /* bytes of PATH that are looked at, its end included */

struct variables {
    uint32_t count;
    size_t length;
    char text[VARIABLES_MOST * VARIABLE_LONGEST]; /* `NAME=value`, each ends with NUL */
    char path[PATH_VARIABLE]; /* the value of PATH, which is told on request alone */
};

void variables_clear(struct variables *variables);
/* Takes `NAME=value`, cut where it is long, if its name is one of those. False where the host is not
   told all of it. */
bool variables_take(struct variables *variables, const char *text);
/* Takes PATH, too, of what was taken. */
bool variables_tell_path(struct variables *variables);

#endif
