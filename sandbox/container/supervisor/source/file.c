/* Reads, removes and looks at single files. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "entry.h"
#include "place.h"
#include "transfer.h"

struct reading {
    struct transfer transfer;
    int fd;
    uint64_t left;
};

static bool read_step(struct transfer *transfer) {
    struct reading *reading = (struct reading *)transfer;
    while (queue_has_room()) {
        size_t want = reading->left < CHUNK ? reading->left : CHUNK, have = 0;
        struct writer writer = writer_begin();
        unsigned char *into = put_here(&writer);
        ssize_t got = 1;
        while (have < want && got > 0) {
            got = read(reading->fd, into + have, want - have);
            if (got < 0 && errno == EINTR) got = 1;
            else if (got > 0) have += (size_t)got;
        }
        if (got < 0) {
            reply_error(transfer->id, errno, "path");
            return true;
        }
        reading->left -= have;
        bool last = got == 0 || reading->left == 0;
        put_done(&writer, have);
        writer_send(&writer, last ? REPLY_OK : REPLY_DATA, transfer->id);
        if (last) return true;
    }
    return false;
}

static void read_release(struct transfer *transfer) {
    close(((struct reading *)transfer)->fd);
    free(transfer);
}

/* Opens a regular file without ever blocking on what only looks like one. */
static int open_regular(const struct place *place, struct stat *found) {
    int fd = place_open(place, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENXIO) errno = EINVAL; /* a socket */
    if (fd < 0) return -1;
    int problem = fstat(fd, found) ? errno : S_ISREG(found->st_mode) ? 0 : EINVAL;
    if (S_ISDIR(found->st_mode)) problem = EISDIR;
    if (!problem) return fd;
    close(fd);
    errno = problem;
    return -1;
}

void file_read(uint32_t id, struct cursor *payload) {
    static struct place place;
    struct stat found;
    uint32_t flags = take_u32(payload);
    struct user user = {.uid = take_u32(payload), .gid = take_u32(payload)};
    uint64_t offset = take_u64(payload), limit = take_u64(payload);
    int problem = place_take(payload, &place, flags & FILE_FOLLOW);
    if (!cursor_done(payload)) return reply_fault("malformed read request");
    if (problem) return reply_error(id, problem, "path");
    if (!user_become(user)) return reply_error(id, errno, "user");
    int fd = open_regular(&place, &found);
    problem = errno;
    user_leave();
    if (fd < 0) return reply_error(id, problem, "path");
    struct reading *reading = malloc(sizeof *reading);
    if (!reading || (offset && lseek(fd, (off_t)offset, SEEK_SET) < 0)) {
        problem = errno;
        free(reading);
        close(fd);
        return reply_error(id, problem, "path");
    }
    /* What grows while it is read must not be read for ever; /proc says 0 and means the rest. */
    uint64_t size = found.st_size > 0 ? (uint64_t)found.st_size : UINT64_MAX;
    uint64_t rest = size > offset ? size - offset : 0;
    *reading = (struct reading){{id, user, read_step, read_release}, fd,
                                limit < rest ? limit : rest};
    transfer_begin(&reading->transfer);
}

void file_remove(uint32_t id, struct cursor *payload) {
    static struct place place;
    uint32_t flags = take_u32(payload);
    struct user user = {.uid = take_u32(payload), .gid = take_u32(payload)};
    int problem = place_take(payload, &place, flags & FILE_FOLLOW);
    const char *name;
    if (!cursor_done(payload)) return reply_fault("malformed remove request");
    if (problem) return reply_error(id, problem, "path");
    if (!user_become(user)) return reply_error(id, errno, "user");
    int folder = place_parent(&place, false, false, &name);
    if (folder < 0) problem = errno;
    else if (unlinkat(folder, name, 0)) problem = errno;
    if (problem == EISDIR) problem = unlinkat(folder, name, AT_REMOVEDIR) ? errno : 0;
    user_leave();
    if (folder >= 0) close(folder);
    if (problem) return reply_error(id, problem, "path");
    reply_empty(REPLY_OK, id);
}

void file_stat(uint32_t id, struct cursor *payload) {
    static struct place place;
    static struct batch batch;
    static char target[PATH_MAX];
    struct entry entry;
    uint32_t flags = take_u32(payload);
    int problem = place_take(payload, &place, true);
    if (!cursor_done(payload)) return reply_fault("malformed stat request");
    if (problem) return reply_error(id, problem, "path");
    int fd = place_open(&place, O_PATH | (flags & FILE_FOLLOW ? 0 : O_NOFOLLOW));
    problem = fd < 0 ? errno : entry_read(fd, "", &entry);
    target[0] = 0;
    if (!problem && entry_is_link(&entry)) {
        ssize_t length = readlinkat(fd, "", target, sizeof target - 1);
        target[length < 0 ? 0 : length] = 0;
    }
    if (fd >= 0) close(fd);
    if (problem) return reply_error(id, problem, "path");
    batch_add(&batch, "", target, &entry);
    batch_send(&batch, id, true);
}
