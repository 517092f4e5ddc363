/* What asks for work as root: the program `sudo`, and what it and the supervisor say. */
#ifndef SUDO_H
#define SUDO_H

#include <stdbool.h>
#include <stdint.h>

#define SUDO_DOOR "sandbox/sudo" /* of the abstract namespace: there before any command is */
#define SUDO_REQUEST_MOST 65536
#define SUDO_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* One message: this, and words and variables, each ended by NUL. With it come descriptors: input,
   output, errors, working directory. */
struct sudo_request {
    uint32_t words, variables;
};
#define SUDO_DESCRIPTORS 4

/* The one answer: why it is refused, or how it has ended. */
struct sudo_answer {
    uint32_t refused;
    int32_t status; /* as wait gives it */
    char reason[1024];
};

/* Whether a variable `NAME=value` reaches what root runs: none that could change what that is. */
bool sudo_keeps(const char *variable);
/* The program itself. */
int sudo_main(int count, char **arguments);

#endif
