/* A process that forks and ends while a sweep is about to look at it: does its child outlive
   tree_kill? `tree.c` is compiled with this file's `told_open` in the place of open(2). */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree.h"

static int told[2], held[2];
static char stat_of_parent[32];

int told_open(const char *name, int flags, ...) {
    if (stat_of_parent[0] && strcmp(name, stat_of_parent) == 0) {
        siginfo_t end;
        stat_of_parent[0] = 0;
        close(told[1]);
        waitid(P_ALL, 0, &end, WEXITED | WNOWAIT);
    }
    return open(name, flags);
}

int main(void) {
    char byte;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (pipe(told) || pipe(held)) return 2;
    pid_t parent = fork();
    if (parent == 0) {
        close(told[1]);
        if (read(told[0], &byte, 1)) _exit(2);
        if (fork() == 0) pause();
        _exit(0);
    }
    close(held[1]);
    snprintf(stat_of_parent, sizeof stat_of_parent, "/proc/%d/stat", (int)parent);
    tree_kill(NOBODY);
    /* At its end once nobody holds it any more. */
    struct pollfd end = {.fd = held[0]};
    if (poll(&end, 1, 2000) == 1) return 0;
    while (tree_kill(NOBODY)) {
    }
    return 1;
}
