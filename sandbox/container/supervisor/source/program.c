/* Finds the file that an exec would run, as the kernel finds it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

#define LEVELS 5   /* interpreters of interpreters, as fs/exec.c allows */
#define HEAD 256   /* of a file, where its interpreter line must end: BINPRM_BUF_SIZE */

void identity_from(const struct stat *found, struct identity *identity) {
    identity->device = found->st_dev;
    identity->inode = found->st_ino;
    identity->size = (uint64_t)found->st_size;
    identity->changed_ns = found->st_ctim.tv_sec * 1000000000ll + found->st_ctim.tv_nsec;
}

void identity_of(int fd, struct identity *identity) {
    struct stat found;
    if (fstat(fd, &found)) memset(&found, 0, sizeof found);
    identity_from(&found, identity);
}

bool identity_same(const struct identity *left, const struct identity *right) {
    return left->inode && left->device == right->device && left->inode == right->inode &&
           left->size == right->size && left->changed_ns == right->changed_ns;
}

/* Links such as /proc/self mean the supervisor where we follow them: theirs by name, or false. */
static bool of_the_process(const struct search *search, char into[PATH_MAX]) {
    static const struct {
        const char *from, *to;
    } names[] = {{"/proc/self/", ""}, {"/proc/thread-self/", ""}, {"/dev/fd/", "fd/"}};
    const char *path = search->program;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].from);
        if (strncmp(path, names[i].from, length)) continue;
        int size = snprintf(into, PATH_MAX, "/proc/%d/%s%s", (int)search->thread, names[i].to,
                            path + length);
        return size < PATH_MAX;
    }
    return false;
}

/* Never through a link of /proc that leads to a file directly. */
static int open_plainly(int folder, const char *path, int flags, bool *odd) {
    struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_NO_MAGICLINKS};
    /* A magic link of /proc would lead to our own file, not to the asker's: openat2(2). */
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (fd >= 0) return fd;
    if (errno == ENOSYS || errno == EPERM) return openat(folder, path, flags);
    if (errno != ELOOP) return -1;
    fd = openat(folder, path, flags);
    *odd = fd >= 0;
    if (fd >= 0) close(fd);
    errno = *odd ? EACCES : ELOOP;
    return -1;
}

static int open_in_process(pid_t pid, const char *format, int number) {
    char name[64];
    int length = snprintf(name, sizeof name, "/proc/%d/", (int)pid);
    snprintf(name + length, sizeof name - (size_t)length, format, number);
    return open(name, O_PATH | O_CLOEXEC);
}

int program_open(const struct search *search, bool *odd) {
    char other[PATH_MAX];
    int flags = O_PATH | O_CLOEXEC;
    *odd = false;
    if (search->flags & AT_SYMLINK_NOFOLLOW) flags |= O_NOFOLLOW;
    if (of_the_process(search, other)) return open(other, flags);
    if (search->program[0] == '/') return open_plainly(AT_FDCWD, search->program, flags, odd);
    bool here = search->folder == AT_FDCWD;
    int folder = here ? open_in_process(search->pid, "cwd", 0)
                      : open_in_process(search->thread, "fd/%d", search->folder);
    if (folder < 0 && here) folder = open(search->cwd, O_PATH | O_CLOEXEC);
    if (folder < 0) {
        if (!here && errno == ENOENT) errno = EBADF;
        return -1;
    }
    if (!search->program[0]) return folder;
    int fd = open_plainly(folder, search->program, flags, odd);
    int problem = errno;
    close(folder);
    errno = problem;
    return fd;
}

/* Puts strings in front of what is there: false where there is no room. */
static bool put_before(char *prefix, size_t *length, const char *text) {
    size_t size = strlen(text) + 1;
    if (*length + size > EXEC_CHAIN) return false;
    memmove(prefix + size, prefix, *length);
    memcpy(prefix, text, size);
    *length += size;
    return true;
}

static char *skip_blanks(char *at) {
    return at + strspn(at, " \t");
}

/* Cuts an interpreter line as fs/binfmt_script.c does; NULL where there is none in it. */
static char *interpreter_of(char *head, size_t length, char **argument) {
    char *line = head + 2, *end = memchr(line, '\n', length - 2);
    if (!end) end = head + length; /* a file of one line, or an interpreter that is cut */
    *end = 0;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t')) *--end = 0;
    char *name = skip_blanks(line);
    if (!*name) return NULL;
    char *rest = name + strcspn(name, " \t");
    *argument = NULL;
    if (!*rest) return name;
    *rest++ = 0;
    rest = skip_blanks(rest);
    if (*rest) *argument = rest;
    return name;
}

/* Only of a regular file: opening another kind to be read may do something. */
static ssize_t read_head(int program, char head[HEAD + 1]) {
    char name[32];
    struct stat found;
    if (fstat(program, &found) || !S_ISREG(found.st_mode)) {
        errno = EACCES; /* as the kernel says of such an interpreter */
        return -1;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", program);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    ssize_t length = read(fd, head, HEAD);
    int problem = errno;
    close(fd);
    errno = problem;
    head[length > 0 ? length : 0] = 0;
    return length;
}

int program_chain(int program, const struct search *search, struct identity *last, char *prefix,
                  size_t *length) {
    char head[HEAD + 1], *argument, *name, by_descriptor[PATH_MAX];
    struct search next = *search;
    bool odd;
    const char *path = search->program;
    if (search->folder != AT_FDCWD && path[0] != '/') {
        snprintf(by_descriptor, sizeof by_descriptor, "/dev/fd/%d%s%.*s", search->folder,
                 path[0] ? "/" : "", PATH_MAX - 32, path);
        path = by_descriptor;
    }
    *length = 0;
    for (int level = 0; level <= LEVELS; level++) {
        ssize_t size = read_head(program, head);
        int problem = size < 0 ? errno : 0;
        identity_of(program, last);
        close(program);
        if (problem) return problem;
        if (size > 4 && memcmp(head, "\177ELF", 4) == 0) return 0;
        if (size < 3 || memcmp(head, "#!", 2)) return ENOEXEC;
        if (!(name = interpreter_of(head, (size_t)size, &argument))) return ENOEXEC;
        if (!*length && !put_before(prefix, length, path)) return E2BIG;
        if (argument && !put_before(prefix, length, argument)) return E2BIG;
        if (!put_before(prefix, length, name)) return E2BIG;
        next.program = name;
        next.folder = AT_FDCWD;
        next.flags = 0;
        program = program_open(&next, &odd);
        if (program < 0) return errno;
    }
    close(program);
    return ELOOP;
}
