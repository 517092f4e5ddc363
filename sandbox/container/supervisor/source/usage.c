/* Files of control groups: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst. */
#include "usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNKNOWN UINT64_MAX

static enum groups groups = GROUPS_NONE;
static int events_fd = -1; /* kept open: it is read twice for every command */
static char memory_folder[512], cpu_folder[512];

/* The number after `name` and a space, or the first number where `name` is empty. */
static uint64_t number_in(int fd, const char *name) {
    char text[1024];
    ssize_t length = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (length <= 0) return UNKNOWN;
    text[length] = 0;
    size_t name_length = strlen(name);
    for (char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, name, name_length)) continue;
        if (name_length && line[name_length] != ' ') continue;
        return strtoull(line + name_length, NULL, 10);
    }
    return UNKNOWN;
}

static int open_in(const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static uint64_t number_of(const char *folder, const char *file, const char *name) {
    int fd = open_in(folder, file);
    uint64_t number = number_in(fd, name);
    if (fd >= 0) close(fd);
    return number;
}

/* This process' path within a hierarchy: `0::` names version 2, `:memory:` the old controller. */
static void own_path(const char *mark, char *path, size_t size) {
    char line[512];
    FILE *file = fopen("/proc/self/cgroup", "re");
    path[0] = 0;
    while (file && fgets(line, sizeof line, file)) {
        char *found = strstr(line, mark);
        if (!found) continue;
        snprintf(path, size, "%s", found + strlen(mark));
        path[strcspn(path, "\n")] = 0;
        break;
    }
    if (file) fclose(file);
}

/* The group is at its own path under the mount, or is the mount itself inside a container. */
static int find(const char *mount, const char *mark, const char *file, char *folder, size_t size) {
    char path[400];
    own_path(mark, path, sizeof path);
    snprintf(folder, size, "%s%s", mount, path);
    int fd = open_in(folder, file);
    if (fd >= 0) return fd;
    snprintf(folder, size, "%s", mount);
    return open_in(folder, file);
}

void usage_prepare(void) {
    size_t size = sizeof memory_folder;
    events_fd = find("/sys/fs/cgroup", "0::", "memory.events", memory_folder, size);
    if (events_fd >= 0) {
        groups = GROUPS_2;
        memcpy(cpu_folder, memory_folder, size);
        return;
    }
    events_fd = find("/sys/fs/cgroup/memory", ":memory:", "memory.oom_control", memory_folder, size);
    if (events_fd < 0) return;
    groups = GROUPS_1;
    int fd = find("/sys/fs/cgroup/cpuacct", ":cpuacct:", "cpuacct.usage", cpu_folder, size);
    if (fd >= 0) close(fd);
    if (fd < 0)
        fd = find("/sys/fs/cgroup/cpu,cpuacct", ":cpu,cpuacct:", "cpuacct.usage", cpu_folder, size);
    if (fd >= 0) close(fd);
}

enum groups usage_groups(void) {
    return groups;
}

uint64_t usage_kills(void) {
    uint64_t kills = number_in(events_fd, "oom_kill");
    return kills == UNKNOWN ? 0 : kills;
}

uint64_t usage_memory_peak(void) {
    if (groups == GROUPS_2) return number_of(memory_folder, "memory.peak", "");
    if (groups == GROUPS_1) return number_of(memory_folder, "memory.max_usage_in_bytes", "");
    return UNKNOWN;
}

uint64_t usage_cpu_us(void) {
    if (groups == GROUPS_2) return number_of(cpu_folder, "cpu.stat", "usage_usec");
    if (groups != GROUPS_1) return UNKNOWN;
    uint64_t nanoseconds = number_of(cpu_folder, "cpuacct.usage", "");
    return nanoseconds == UNKNOWN ? UNKNOWN : nanoseconds / 1000;
}
