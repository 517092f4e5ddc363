/* Whole files: a new one beside the old, renamed over it when it is complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write.h"

#include "frame.h"
#include "place.h"

#define IN_PLACE_MOST (64u << 20) /* bytes that may be held in memory */

struct writing {
    struct writing *next;
    uint32_t id;
    struct user user;
    int folder, fd;
    int target; /* the file itself where its directory takes no new one, else -1 */
    int problem;
    uint64_t due;
    bool replaces;
    struct stat old;
    bool keep_mode; /* of the old file, if there is one */
    mode_t mode;
    char name[NAME_MAX + 1], temporary[32];
};

static struct writing *writings;

static void forget(struct writing *writing) {
    struct writing **link = &writings;
    while (*link != writing) link = &(*link)->next;
    *link = writing->next;
    if (writing->temporary[0]) unlinkat(writing->folder, writing->temporary, 0);
    if (writing->fd >= 0) close(writing->fd);
    if (writing->target >= 0) close(writing->target);
    if (writing->folder >= 0) close(writing->folder);
    free(writing);
}

/* What is there already: 0, or why it cannot be written. */
static int look_at_old(struct writing *writing) {
    if (fstatat(writing->folder, writing->name, &writing->old, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(writing->old.st_mode)) return EISDIR;
    if (!S_ISREG(writing->old.st_mode)) return EINVAL;
    int flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
    writing->target = openat(writing->folder, writing->name, flags);
    /* A program that runs cannot be written to, but it can be replaced. */
    if (writing->target < 0 && errno != ETXTBSY) return errno;
    if (writing->target >= 0 && fstat(writing->target, &writing->old)) return errno;
    if (!S_ISREG(writing->old.st_mode)) return EINVAL;
    writing->replaces = true;
    return 0;
}

static int make_temporary(struct writing *writing) {
    uint64_t number[2];
    if (getrandom(number, sizeof number, 0) != sizeof number) return EIO;
    snprintf(writing->temporary, sizeof writing->temporary, ".%014llx%014llx",
             (unsigned long long)(number[0] >> 8), (unsigned long long)(number[1] >> 8));
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    writing->fd = openat(writing->folder, writing->temporary, flags, 0600);
    if (writing->fd >= 0) {
        if (writing->target >= 0) close(writing->target);
        writing->target = -1;
        return 0;
    }
    int problem = errno;
    writing->temporary[0] = 0;
    bool closed = problem == EACCES || problem == EPERM;
    if (!closed || writing->target < 0) return problem;
    if (writing->due > IN_PLACE_MOST) return EFBIG;
    writing->fd = memfd_create("write", MFD_CLOEXEC);
    return writing->fd < 0 ? errno : 0;
}

static int prepare(struct writing *writing, struct place *place, bool parents) {
    const char *name;
    writing->folder = place_parent(place, true, parents, &name);
    if (writing->folder < 0) return errno;
    if (strlen(name) > NAME_MAX) return ENAMETOOLONG;
    strcpy(writing->name, name);
    int problem = look_at_old(writing);
    return problem ? problem : make_temporary(writing);
}

static int append(int fd, const unsigned char *bytes, size_t length) {
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return put < 0 ? errno : EIO;
        bytes += put;
        length -= (size_t)put;
    }
    return 0;
}

/* The bytes go into the old file; space is claimed before anything is overwritten. */
static int finish_in_place(struct writing *writing) {
    struct stat new;
    if (fstat(writing->fd, &new)) return errno;
    if (!writing->keep_mode && fchmod(writing->target, writing->mode)) return errno;
    if (new.st_size > writing->old.st_size &&
        fallocate(writing->target, FALLOC_FL_KEEP_SIZE, 0, new.st_size) &&
        errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    off_t at = 0;
    while (at < new.st_size) {
        ssize_t put = sendfile(writing->target, writing->fd, &at, (size_t)(new.st_size - at));
        if (put <= 0) return put < 0 ? errno : EIO;
    }
    return ftruncate(writing->target, new.st_size) ? errno : 0;
}

/* Mode and owner of the file that is about to appear: 0 or an errno. */
static int dress(struct writing *writing) {
    const struct stat *old = &writing->old;
    struct user user = writing->user;
    mode_t mode = writing->replaces && writing->keep_mode ? old->st_mode & 07777 : writing->mode;
    bool given = writing->replaces && (old->st_uid != user.uid || old->st_gid != user.gid);
    if (given) {
        mode &= (mode_t)~06000; /* as a write by another than the owner would do */
        user_leave();           /* giving a file away takes the supervisor's own rights */
        if (fchown(writing->fd, old->st_uid, old->st_gid) && errno != EPERM) return errno;
    }
    int problem = fchmod(writing->fd, mode) ? errno : 0;
    return user_become(user) ? problem : errno;
}

static int finish_by_rename(struct writing *writing) {
    int problem = dress(writing);
    if (problem) return problem;
    if (close(writing->fd)) {
        writing->fd = -1;
        return errno; /* a delayed report of a full disk */
    }
    writing->fd = -1;
    /* Whoever reads sees the old file or the new one: rename(2). */
    if (renameat(writing->folder, writing->temporary, writing->folder, writing->name))
        return errno;
    writing->temporary[0] = 0;
    return 0;
}

static void take_data(struct writing *writing, const unsigned char *bytes, size_t length) {
    if (length > writing->due) {
        user_leave();
        return reply_fault("more data than announced");
    }
    writing->due -= length;
    if (!writing->problem && !user_become(writing->user)) writing->problem = errno;
    if (!writing->problem) writing->problem = append(writing->fd, bytes, length);
    if (!writing->due) {
        if (!writing->problem)
            writing->problem = writing->target >= 0 ? finish_in_place(writing)
                                                    : finish_by_rename(writing);
        if (writing->problem) reply_error(writing->id, writing->problem, "path");
        else reply_empty(REPLY_OK, writing->id);
        forget(writing);
    }
    user_leave();
}

static struct writing *find(uint32_t id) {
    struct writing *writing = writings;
    while (writing && writing->id != id) writing = writing->next;
    return writing;
}

void file_write(uint32_t id, struct cursor *payload) {
    static struct place place;
    struct writing *writing = calloc(1, sizeof *writing);
    if (!writing) return reply_fault("out of memory");
    size_t length;
    uint32_t flags = take_u32(payload);
    writing->user.uid = take_u32(payload);
    writing->user.gid = take_u32(payload);
    writing->mode = take_u32(payload) & 07777;
    writing->due = take_u64(payload);
    int problem = place_take(payload, &place, flags & FILE_FOLLOW);
    const unsigned char *bytes = take_bytes(payload, &length);
    bool malformed = !cursor_done(payload) || find(id);
    if (malformed) free(writing);
    if (malformed) return reply_fault("malformed write request");
    writing->id = id;
    writing->folder = writing->fd = writing->target = -1;
    writing->keep_mode = flags & FILE_KEEP_MODE;
    writing->next = writings;
    writings = writing;
    if (!problem && !user_become(writing->user)) problem = errno;
    if (!problem) problem = prepare(writing, &place, flags & FILE_PARENTS);
    writing->problem = problem; /* told when all data has come, so that there is one reply */
    take_data(writing, bytes, length);
}

void file_write_data(uint32_t id, struct cursor *payload) {
    struct writing *writing = find(id);
    if (!writing) return reply_fault("data for no write");
    take_data(writing, payload->at, payload->left);
}

void writes_end(void) {
    while (writings) forget(writings);
}
