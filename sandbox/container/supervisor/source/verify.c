/* Whether what runs after an exec is what was approved. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify.h"
#include "sha256.h"

#define CHUNK_SIZE 65536

/* Fields of /proc/PID/stat, counted from the state: proc(5). */
enum { STATE = 3, PARENT = 4, START_CODE = 26, START_STACK = 28, ARG_START = 48, ARG_END = 49 };

bool exec_layout(pid_t pid, char *state, pid_t *parent, uint64_t layout[4]) {
    char name[32], text[1024];
    snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
    int fd = openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0) return false;
    text[length] = 0;
    char *at = strrchr(text, ')');
    if (!at || strlen(at) < 5) return false;
    *state = at[2];
    int filled = 0;
    at += 3;
    for (int field = PARENT; field <= ARG_END && *at; field++) {
        uint64_t value = strtoull(at, &at, 10);
        if (field == PARENT) *parent = (pid_t)value;
        if (field == START_CODE || field == START_STACK || field == ARG_START || field == ARG_END)
            layout[filled++] = value;
    }
    return filled == 4;
}

static bool command_line_is(pid_t pid, const unsigned char digest[32]) {
    static unsigned char bytes[CHUNK_SIZE];
    unsigned char found[32];
    char name[32];
    struct sha256 hash;
    ssize_t got;
    snprintf(name, sizeof name, "/proc/%d/cmdline", (int)pid);
    int fd = openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    sha256_start(&hash);
    while ((got = read(fd, bytes, sizeof bytes)) > 0) sha256_add(&hash, bytes, (size_t)got);
    close(fd);
    sha256_end(&hash, found);
    return got == 0 && memcmp(found, digest, sizeof found) == 0;
}

static bool script_is(const struct expectation *expected) {
    struct identity found;
    if (!expected->script_path) return true;
    int fd = open(expected->script_path, O_PATH | O_CLOEXEC);
    if (fd < 0) return false;
    identity_of(fd, &found);
    close(fd);
    return identity_same(&found, &expected->script);
}

/* With the rights of its user, for what is not his to read is not his to run here. */
static enum finding compare(pid_t pid, const struct expectation *expected, bool unmoved,
                            bool stopped) {
    char name[32];
    struct identity found;
    snprintf(name, sizeof name, "/proc/%d/exe", (int)pid);
    int program = open(name, O_PATH | O_CLOEXEC);
    if (program < 0) return errno == ENOENT || errno == ESRCH ? FOUND_WAITING : FOUND_OTHER;
    identity_of(program, &found);
    close(program);
    if (unmoved && identity_same(&found, &expected->before)) return FOUND_FAILED;
    if (!identity_same(&found, &expected->program)) return FOUND_OTHER;
    if (!stopped) return FOUND_WAITING; /* its arguments may not be in place yet */
    if (!command_line_is(pid, expected->command_line)) return FOUND_OTHER;
    return script_is(expected) ? FOUND_APPROVED : FOUND_OTHER;
}

enum finding exec_verify(pid_t pid, struct user user, const struct expectation *expected) {
    char state;
    pid_t parent;
    uint64_t layout[4];
    if (!exec_layout(pid, &state, &parent, layout)) return FOUND_GONE;
    /* While a thread execs, the first thread of its process may be dead already. */
    if (state == 'Z' || state == 'X') return FOUND_WAITING;
    if (!user_become(user)) return FOUND_OTHER;
    /* Where the stack begins is drawn anew by each exec; it is 0 where it may not be read. */
    bool known = exec_layout(pid, &state, &parent, layout) && layout[1];
    bool unmoved = known && memcmp(layout, expected->layout, sizeof layout) == 0;
    bool moved = known && expected->layout[1] && !unmoved;
    enum finding finding = FOUND_WAITING;
    /* What goes on running although it was told to stop is not looked at for the last time, but
       another program is seen at once. */
    if (state == 'T' || moved) finding = compare(pid, expected, unmoved, state == 'T');
    user_leave();
    return finding;
}

void expectation_free(struct expectation *expected) {
    free(expected->script_path);
    expected->script_path = NULL;
}
