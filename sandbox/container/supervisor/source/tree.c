/* The process tree, read from /proc: parents come from the kernel and cannot be forged. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define MOST 65536 /* processes looked at in one sweep; the next sweep sees the rest */
#define STOP_SWEEPS 20
#define LOOKS 50

struct process {
    pid_t pid, parent;
    char state;
    signed char below; /* 1 below the top, 0 not, -1 not known yet */
};

static struct process processes[MOST];
static int process_count;

static bool read_stat(pid_t pid, struct process *process) {
    char name[32], text[512];
    snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0) return false;
    text[length] = 0;
    char *end = strrchr(text, ')'); /* a process may have any name, parentheses included */
    if (!end || strlen(end) < 5) return false;
    process->pid = pid;
    process->state = end[2];
    process->parent = (pid_t)strtol(end + 4, NULL, 10);
    process->below = -1;
    return true;
}

static int by_pid(const void *left, const void *right) {
    const struct process *a = left, *b = right;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static void scan(void) {
    process_count = 0;
    DIR *folder = opendir("/proc");
    if (!folder) return;
    struct dirent *entry;
    while (process_count < MOST && (entry = readdir(folder))) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (read_stat(pid, &processes[process_count])) process_count++;
    }
    closedir(folder);
    qsort(processes, (size_t)process_count, sizeof processes[0], by_pid);
}

/* Climbs from a process to the top; a parent that has gone since leads nowhere. */
static bool is_below(struct process *process, pid_t top) {
    pid_t start = process->pid;
    for (int steps = 0; process && steps < process_count; steps++) {
        if (process->below >= 0) return process->below;
        if (process->parent == top) return true;
        struct process key = {.pid = process->parent};
        process = bsearch(&key, processes, (size_t)process_count, sizeof key, by_pid);
        if (process && process->pid == start) return false;
    }
    return false;
}

static bool is_spared(pid_t pid, struct spared spared) {
    for (int i = 0; i < spared.count; i++)
        if (spared.pids[i] == pid) return true;
    return false;
}

/* Whether a process is below one that is spared with all that is below it. */
static bool is_within(pid_t pid, struct spared spared) {
    for (int steps = 0; spared.whole && steps < process_count; steps++) {
        struct process key = {.pid = pid}, *found;
        found = bsearch(&key, processes, (size_t)process_count, sizeof key, by_pid);
        if (!found) return false;
        for (int i = 0; i < spared.whole; i++)
            if (spared.pids[i] == found->parent) return true;
        pid = found->parent;
    }
    return false;
}

/* Leaves only the processes of the tree that are alive, or only those that are dead; returns how
   many others there are. */
static int scan_tree(struct spared spared, bool dead) {
    pid_t self = getpid();
    int kept = 0, others = 0;
    scan();
    for (int i = 0; i < process_count; i++)
        processes[i].below = (signed char)((self == 1 || is_below(&processes[i], self)) &&
                                           !is_within(processes[i].pid, spared));
    for (int i = 0; i < process_count; i++) {
        struct process process = processes[i];
        bool over = process.state == 'Z' || process.state == 'X';
        if (!process.below || process.pid == self || is_spared(process.pid, spared)) continue;
        if (over == dead) processes[kept++] = process;
        else others++;
    }
    process_count = kept;
    return others;
}

/* The living. Which processes there are is read before what each of them is, so that one which
   forks and ends in between hides its child: nobody is alive only where a second look finds no
   more dead than the first one. */
static void scan_living(struct spared spared) {
    int dead = -1;
    for (int look = 0; look < LOOKS; look++) {
        int now = scan_tree(spared, false);
        if (process_count || now == dead) return;
        dead = now;
    }
}

int tree_count(struct spared spared) {
    scan_living(spared);
    return process_count;
}

int tree_count_dead(struct spared spared) {
    scan_tree(spared, true);
    return process_count;
}

int tree_kill(struct spared spared) {
    uint64_t give_up = now_us() + TREE_GIVE_UP_US;
    int alive = tree_count(spared);
    /* Stopped first, so that none forks while others are being killed. */
    for (int sweep = 0; sweep < STOP_SWEEPS && process_count; sweep++) {
        bool running = false;
        for (int i = 0; i < process_count; i++) {
            if (processes[i].state == 'T') continue;
            kill(processes[i].pid, SIGSTOP);
            /* One that has stopped for its tracer does nothing more before it takes the signal. */
            if (processes[i].state != 't') running = true;
        }
        if (!running || process_count == 1) break;
        scan_living(spared);
    }
    for (unsigned pause = 100; process_count && now_us() < give_up; pause += pause / 2) {
        for (int i = 0; i < process_count; i++) kill(processes[i].pid, SIGKILL);
        usleep(pause < 20000 ? pause : 20000);
        scan_living(spared);
    }
    return alive;
}
