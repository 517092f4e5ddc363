/* One exec as it is asked for: who, what, and what must come of it. Read from /proc. */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "called.h"
#include "handle.h"
#include "memory.h"
#include "protocol.h"
#include "sha256.h"

#define ARGUMENTS_MOST (8u << 20) /* bytes; the kernel takes no more, */
#define POINTERS_MOST (ARGUMENTS_MOST / sizeof(uint64_t)) /* and counts what leads to them, too */

struct exec present = {.handle = -1};

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* ---- arguments ---- */

struct sink {
    struct exec *exec;
    bool hashing, skipping; /* the first one is not part of the command line of a script */
    struct sha256 hash;
    size_t total, start; /* where the present one starts in what is told */
    bool full;
};

static void sink_add(struct sink *sink, const unsigned char *bytes, size_t length, bool ends) {
    struct exec *exec = sink->exec;
    sink->total += length;
    if (sink->hashing && !sink->skipping) sha256_add(&sink->hash, bytes, length);
    if (!sink->full) {
        size_t room = EXEC_ARGUMENTS - 1 - exec->arguments_length;
        size_t taken = length < room ? length : room;
        memcpy(exec->arguments + exec->arguments_length, bytes, taken);
        exec->arguments_length += taken;
        if (taken < length) {
            sink->full = true;
            exec->flags |= EXECUTION_TRUNCATED;
            exec->arguments[exec->arguments_length++] = 0;
            exec->told++;
        } else if (ends) {
            exec->told++;
        }
    }
    if (!ends) return;
    exec->count++;
    sink->skipping = false;
}

static int string_into(struct sink *sink, uint64_t address) {
    for (;;) {
        size_t length;
        const unsigned char *bytes = memory_at(address, &length);
        if (!bytes) return EFAULT;
        const unsigned char *end = memchr(bytes, 0, length);
        if (end) length = (size_t)(end - bytes) + 1;
        sink_add(sink, bytes, length, end != NULL);
        if (end) return 0;
        address += length;
        if (sink->total > ARGUMENTS_MOST) return E2BIG;
        if (sink->full && !sink->hashing) {
            sink->exec->count++;
            return 0;
        }
    }
}

/* Everything where it will be compared, else what the host is told. */
static int arguments_into(struct sink *sink, uint64_t vector) {
    uint64_t pointer;
    for (; vector && sink->exec->count <= POINTERS_MOST; vector += sizeof pointer) {
        if (!memory_pointer(vector, &pointer)) return EFAULT;
        if (!pointer) return 0;
        if (sink->full && !sink->hashing) { /* only their number matters now */
            sink->exec->count++;
            continue;
        }
        int problem = string_into(sink, pointer);
        if (problem) return problem;
        if (sink->total > ARGUMENTS_MOST) return E2BIG;
    }
    return vector ? E2BIG : 0;
}

/* What the environment has of telling variables; false where the host is not told all of it. */
static bool variables_into(struct variables *variables, uint64_t vector) {
    static char text[PATH_VARIABLE + 8];
    uint64_t pointer;
    bool whole = true;
    for (size_t seen = 0; vector && seen < POINTERS_MOST; seen++, vector += sizeof pointer) {
        if (!memory_pointer(vector, &pointer)) return false;
        if (!pointer) return whole;
        if (memory_text(pointer, text, sizeof text) == EFAULT) return false;
        text[sizeof text - 1] = 0;
        whole = variables_take(variables, text) && whole;
    }
    return whole && !vector; /* the kernel refuses more of them */
}

static void sink_open(struct sink *sink, struct exec *exec, bool hashing, const char *prefix,
                      size_t prefix_length) {
    *sink = (struct sink){.exec = exec, .hashing = hashing, .skipping = prefix_length > 0};
    if (!hashing) return;
    sha256_start(&sink->hash);
    sha256_add(&sink->hash, (const unsigned char *)prefix, prefix_length);
}

static void sink_close(struct sink *sink, size_t prefix_length) {
    if (!sink->hashing) return;
    if (!sink->exec->count && !prefix_length) /* the kernel gives it an empty first one */
        sha256_add(&sink->hash, (const unsigned char *)"", 1);
    sha256_end(&sink->hash, sink->exec->expected.command_line);
}

/* ---- who asks ---- */

static int read_link(const char *format, pid_t pid, char *into) {
    char name[32];
    snprintf(name, sizeof name, format, (int)pid);
    ssize_t length = readlink(name, into, PATH_MAX - 1);
    into[length > 0 ? length : 0] = 0;
    return length > 0 ? 0 : -1;
}

pid_t process_of(pid_t thread) {
    char name[40], text[1024], *found;
    snprintf(name, sizeof name, "/proc/%d/status", (int)thread);
    int fd = openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return thread;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    found = strstr(text, "\nTgid:");
    return found ? (pid_t)strtol(found + 6, NULL, 10) : thread;
}

static bool identify(struct exec *exec, pid_t thread, bool hold) {
    char name[32], state;
    struct stat owner;
    exec->thread = exec->pid = thread;
    snprintf(name, sizeof name, "/proc/%d", (int)thread);
    if (stat(name, &owner)) return false;
    exec->user = (struct user){owner.st_uid, owner.st_gid};
    /* Works for the first thread only, whose number is the process's: pidfd_open(2), EINVAL. */
    exec->handle = handle_open(thread);
    if (exec->handle < 0) exec->pid = process_of(thread);
    if (!user_become(exec->user)) return false;
    if (!hold && handle_parent(exec->handle, &exec->parent)) return true;
    /* Where its memory lies is told to its user only. */
    return exec_layout(exec->pid, &state, &exec->parent, exec->expected.layout);
}

static bool other_root(pid_t pid) {
    char name[32];
    struct stat ours, theirs;
    snprintf(name, sizeof name, "/proc/%d/root", (int)pid);
    return stat("/", &ours) || stat(name, &theirs) || ours.st_ino != theirs.st_ino ||
           ours.st_dev != theirs.st_dev;
}

/* ---- what is asked for ---- */

void exec_name_of(int fd, char into[PATH_MAX]) {
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, into, PATH_MAX - 1);
    into[length > 0 ? length : 0] = 0;
}

/* Where an interpreter will open its script; a relative path by way of the working directory. */
static char *script_place(const struct exec *exec) {
    char *path = malloc(strlen(exec->cwd) + strlen(exec->program) + 2);
    if (!path) return NULL;
    if (exec->program[0] == '/') return strcpy(path, exec->program);
    sprintf(path, "%s/%s", exec->cwd, exec->program);
    return path;
}

/* Finds the program; with `hold` also what will run. As the user of the process. */
static enum reading look(struct exec *exec, const struct search *search, bool hold, char *prefix,
                         size_t *length, int *problem) {
    bool odd;
    struct stat found;
    int program = program_open(search, &odd);
    *length = 0;
    if (program < 0) {
        *problem = errno;
        if (odd && !hold) return READ_WELL; /* the kernel knows better; it stays unresolved */
        return odd ? READ_REFUSED : READ_MISSING;
    }
    exec_name_of(program, exec->resolved);
    if (fstat(program, &found)) memset(&found, 0, sizeof found);
    identity_from(&found, &exec->expected.script);
    if (!S_ISREG(found.st_mode) || !(found.st_mode & 0111)) {
        *problem = S_ISLNK(found.st_mode) ? ELOOP : EACCES;
        close(program);
        return READ_MISSING;
    }
    if (!hold) {
        close(program);
        return READ_WELL;
    }
    *problem = program_chain(program, search, &exec->expected.program, prefix, length);
    if (*problem) return *problem == EACCES ? READ_REFUSED : READ_MISSING;
    bool by_path = strncmp(exec->program, "/dev/fd/", 8) != 0;
    if (*length && by_path && !(exec->expected.script_path = script_place(exec))) {
        *problem = ENOMEM;
        return READ_REFUSED;
    }
    return READ_WELL;
}

/* The name that the kernel gives a program which is named by a descriptor. */
static int name_program(struct exec *exec, const struct seccomp_notif *asked, char *given,
                        struct search *search) {
    bool at = asked->data.nr == SYS_execveat;
    int problem = memory_text(asked->data.args[at ? 1 : 0], given, PATH_MAX);
    if (problem) return problem;
    *search = (struct search){given, AT_FDCWD, 0, exec->cwd, exec->pid, exec->thread};
    if (at) {
        search->folder = (int)asked->data.args[0];
        search->flags = (int)asked->data.args[4];
        exec->flags |= EXECUTION_AT;
    }
    if (!given[0] && !(search->flags & AT_EMPTY_PATH)) return ENOENT;
    if (search->folder == AT_FDCWD || given[0] == '/') {
        strcpy(exec->program, given);
    } else {
        snprintf(exec->program, sizeof exec->program, "/dev/fd/%d%s%.*s", search->folder,
                 given[0] ? "/" : "", PATH_MAX - 32, given);
    }
    return 0;
}

static enum reading read_all(struct exec *exec, const struct seccomp_notif *asked, bool hold,
                             int *problem) {
    static char given[PATH_MAX];
    char prefix[EXEC_CHAIN];
    size_t length;
    struct search search;
    struct sink sink;
    bool at = asked->data.nr == SYS_execveat;
    *problem = EACCES;
    if (!memory_open(exec->thread) || read_link("/proc/%d/cwd", exec->pid, exec->cwd))
        return READ_REFUSED;
    if (hold && other_root(exec->pid)) return READ_REFUSED;
    if ((*problem = name_program(exec, asked, given, &search))) return READ_MISSING;
    enum reading reading = look(exec, &search, hold, prefix, &length, problem);
    if (reading == READ_MISSING) return reading;
    sink_open(&sink, exec, hold && reading == READ_WELL, prefix, length);
    int bad = arguments_into(&sink, asked->data.args[at ? 2 : 1]);
    sink_close(&sink, length);
    if (!variables_into(&exec->variables, asked->data.args[at ? 3 : 2]))
        exec->flags |= EXECUTION_VARIABLES_CUT;
    exec_find_called(exec);
    if (reading == READ_WELL && bad) {
        *problem = bad;
        return READ_MISSING;
    }
    return reading;
}

void exec_find_called(struct exec *exec) {
    if (!exec->told || !called_elsewhere(exec)) return;
    if (!variables_tell_path(&exec->variables)) exec->flags |= EXECUTION_VARIABLES_CUT;
}

static void look_at_present(struct exec *exec) {
    char name[32];
    snprintf(name, sizeof name, "/proc/%d/exe", (int)exec->pid);
    int program = open(name, O_PATH | O_CLOEXEC);
    memset(&exec->expected.before, 0, sizeof exec->expected.before);
    if (program < 0) return;
    identity_of(program, &exec->expected.before);
    close(program);
}

static void clear(struct exec *exec) {
    exec->flags = exec->count = exec->told = 0;
    exec->arguments_length = 0;
    variables_clear(&exec->variables);
    exec->program[0] = exec->resolved[0] = exec->cwd[0] = 0;
    memset(&exec->expected, 0, sizeof exec->expected);
    exec_drop_handle(exec);
}

void exec_drop_handle(struct exec *exec) {
    if (exec->handle >= 0) close(exec->handle);
    exec->handle = -1;
}

int exec_take_handle(struct exec *exec) {
    int handle = exec->handle >= 0 ? exec->handle : handle_open(exec->pid);
    exec->handle = -1;
    return handle;
}

enum reading exec_read(struct exec *exec, const struct seccomp_notif *asked, bool hold,
                       int *problem) {
    clear(exec);
    *problem = EACCES;
    enum reading reading = READ_REFUSED;
    if (identify(exec, (pid_t)asked->pid, hold)) reading = read_all(exec, asked, hold, problem);
    if (hold && reading == READ_WELL) look_at_present(exec);
    if (reading != READ_WELL) exec_drop_handle(exec);
    memory_close();
    user_leave();
    return reading;
}

enum reading exec_first(struct exec *exec, const struct first *first, bool hold, int *problem) {
    char prefix[EXEC_CHAIN], state;
    size_t length;
    struct sink sink;
    struct search search = {first->program, AT_FDCWD, 0, first->cwd, first->pid, first->pid};
    clear(exec);
    exec->thread = exec->pid = first->pid;
    exec->user = first->user;
    snprintf(exec->program, sizeof exec->program, "%s", first->program);
    snprintf(exec->cwd, sizeof exec->cwd, "%s", first->cwd);
    *problem = EACCES;
    if (!exec_layout(exec->pid, &state, &exec->parent, exec->expected.layout)) return READ_REFUSED;
    if (!user_become(exec->user)) return READ_REFUSED;
    enum reading reading = look(exec, &search, hold, prefix, &length, problem);
    user_leave();
    if (reading != READ_WELL) return reading;
    sink_open(&sink, exec, hold, prefix, length);
    for (size_t at = 0; at < first->arguments_length;) {
        size_t size = strlen(first->arguments + at) + 1;
        sink_add(&sink, (const unsigned char *)first->arguments + at, size, true);
        at += size;
    }
    sink_close(&sink, length);
    return reading;
}

/* ---- what stopped.c shares ---- */

bool exec_begin(struct exec *exec, pid_t pid) {
    clear(exec);
    return identify(exec, pid, true) && read_link("/proc/%d/cwd", pid, exec->cwd) == 0;
}

void exec_add_words(struct exec *exec, const unsigned char *bytes, size_t length) {
    struct sink sink = {.exec = exec, .full = exec->flags & EXECUTION_TRUNCATED};
    while (length) {
        const unsigned char *end = memchr(bytes, 0, length);
        size_t size = end ? (size_t)(end - bytes) + 1 : length;
        sink_add(&sink, bytes, size, end != NULL);
        bytes += size;
        length -= size;
    }
}

void exec_forget_words(struct exec *exec) {
    exec->count = exec->told = 0;
    exec->arguments_length = 0;
    exec->flags &= ~(uint32_t)EXECUTION_TRUNCATED;
}

int exec_text(pid_t pid, uint64_t address, char *into, size_t size) {
    int problem = memory_open(pid) ? memory_text(address, into, size) : errno;
    memory_close();
    return problem;
}

void first_free(struct first *first) {
    free(first->program);
    free(first->cwd);
    free(first->arguments);
    first->program = first->cwd = first->arguments = NULL;
}
