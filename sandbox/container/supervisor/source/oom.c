/* Whom the kernel takes when memory runs out. */
#include "oom.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOWEST "-1000"
#define HIGHEST "1000"

static int adjustment = -1; /* kept open, for it is written twice for every command */
static char own[16];

static void set(const char *value) {
    if (pwrite(adjustment, value, strlen(value), 0) < 0) { /* then it stays as it is */
    }
}

/* Lowering takes CAP_SYS_RESOURCE; back to where we were does not. */
void oom_prepare(void) {
    /* From -1000, never taken, to 1000, the first to go: proc(5), oom_score_adj. */
    adjustment = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (adjustment < 0) return;
    set(LOWEST);
    ssize_t length = pread(adjustment, own, sizeof own - 1, 0);
    if (length > 0) return;
    close(adjustment);
    adjustment = -1;
}

void oom_volunteer(void) {
    if (adjustment >= 0) set(HIGHEST);
}

void oom_withdraw(void) {
    if (adjustment >= 0) set(own);
}
