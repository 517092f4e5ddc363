/* Paths that cannot be left: `path` is taken beneath `beneath`, as the kernel proves it. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINKS_MOST 40 /* as the kernel */
#define TRIES 16      /* openat2 says EAGAIN when a rename raced with `..` */

static bool have_openat2;

static bool is_root(const char *beneath) {
    return beneath[strspn(beneath, "/")] == 0;
}

/* An absolute path must lie below `beneath` in its text; it is made relative. */
static int make_relative(struct place *place) {
    if (place->path[0] == '/') {
        const char *rest = place->path;
        if (!is_root(place->beneath)) {
            size_t length = strlen(place->beneath);
            while (length && place->beneath[length - 1] == '/') length--;
            if (strncmp(rest, place->beneath, length)) return EXDEV;
            rest += length;
            if (*rest && *rest != '/') return EXDEV;
        }
        rest += strspn(rest, "/");
        memmove(place->path, rest, strlen(rest) + 1);
    }
    if (!place->path[0]) strcpy(place->path, ".");
    return 0;
}

int place_take(struct cursor *payload, struct place *place, bool links) {
    int first = take_text(payload, place->beneath, sizeof place->beneath);
    int second = take_text(payload, place->path, sizeof place->path);
    place->links = links;
    if (first || second) return first ? first : second;
    if (place->beneath[0] != '/') return EINVAL;
    return make_relative(place);
}

static int try_openat2(int base, const char *path, int flags, uint64_t resolve) {
    struct open_how how = {.flags = (uint64_t)(unsigned)flags | O_CLOEXEC, .resolve = resolve};
    int fd = -1;
    for (int i = 0; i < TRIES; i++) {
        /* The one call that keeps a whole path beneath a folder, whatever is renamed: openat2(2). */
        fd = (int)syscall(SYS_openat2, base, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
    }
    return fd;
}

bool place_prepare(bool plain) {
    int fd = plain ? -1 : try_openat2(AT_FDCWD, "/", O_PATH, RESOLVE_NO_MAGICLINKS);
    have_openat2 = fd >= 0;
    if (fd >= 0) close(fd);
    return have_openat2;
}

/* Where a walk without openat2 has come to: nothing of it is a link, or was when it was opened. */
struct walk {
    int base, at;
    char passed[PATH_MAX]; /* the folders from the base to where it is, each with a slash behind it */
    char rest[PATH_MAX];   /* what is still to be walked */
};

static int open_folder_in(int folder, const char *name) {
    return openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool move_to(struct walk *walk, int folder) {
    if (folder < 0) return false;
    close(walk->at);
    walk->at = folder;
    return true;
}

static bool enter(struct walk *walk, const char *name) {
    size_t length = strlen(walk->passed), more = strlen(name);
    if (length + more + 2 > sizeof walk->passed) errno = ENAMETOOLONG;
    else if (move_to(walk, open_folder_in(walk->at, name))) {
        memcpy(walk->passed + length, name, more);
        strcpy(walk->passed + length + more, "/");
        return true;
    }
    return false;
}

/* Back to the folder above, from the base on: where a folder was moved meanwhile its `..` may be
   anywhere. */
static bool leave(struct walk *walk) {
    char passed[PATH_MAX], *left = NULL;
    strcpy(passed, walk->passed);
    walk->passed[0] = 0;
    size_t length = strlen(passed);
    if (!length) errno = EXDEV;
    if (!length || !move_to(walk, open_folder_in(walk->base, "."))) return false;
    passed[length - 1] = 0;
    char *last = strrchr(passed, '/');
    *(last ? last : passed) = 0;
    for (char *name = strtok_r(passed, "/", &left); name; name = strtok_r(NULL, "/", &left))
        if (!enter(walk, name)) return false;
    return true;
}

/* Puts what a link says before the rest: 1 where the name is that of a link, -1 with errno. As many
   `links` as are given are followed. */
static int unfold(struct walk *walk, const char *name, int *links) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(walk->at, name, target, sizeof target);
    if (length < 0) return errno == EINVAL || errno == ENOENT ? 0 : -1;
    size_t kept = strlen(walk->rest);
    if (!*links) errno = ELOOP;
    else if (length && target[0] == '/') errno = EXDEV;
    else if ((size_t)length + kept + 1 > sizeof walk->rest) errno = ENAMETOOLONG;
    else {
        memmove(walk->rest + length, walk->rest, kept + 1); /* it is empty, or begins with a slash */
        memcpy(walk->rest, target, (size_t)length);
        --*links;
        return 1;
    }
    return -1;
}

/* Takes the next name off the rest: its length, 0 at the end, -1 with errno. */
static ssize_t take_name(struct walk *walk, char name[NAME_MAX + 1]) {
    char *from = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(from, "/");
    if (length > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(name, from, length);
    name[length] = 0;
    memmove(walk->rest, from + length, strlen(from + length) + 1);
    return (ssize_t)length;
}

/* One step, or the end of the walk with what is there in `found`; false with errno. */
static bool step(struct walk *walk, const char *name, int flags, int *links, int *found) {
    bool last = !walk->rest[0], itself = last && (flags & O_NOFOLLOW); /* else it is a folder */
    if (strcmp(name, ".") == 0) return true;
    if (strcmp(name, "..") == 0) return leave(walk);
    int unfolded = itself ? 0 : unfold(walk, name, links);
    if (unfolded) return unfolded > 0;
    if (!last) return enter(walk, name);
    *found = openat(walk->at, name, flags | O_NOFOLLOW | O_CLOEXEC);
    return *found >= 0;
}

static int walk_on(struct walk *walk, int flags, int links) {
    char name[NAME_MAX + 1];
    ssize_t length;
    int found = -1;
    while ((length = take_name(walk, name)) > 0)
        if (!step(walk, name, flags, &links, &found) || found >= 0) return found;
    return length < 0 ? -1 : openat(walk->at, ".", flags | O_CLOEXEC);
}

/* As openat2(2) with RESOLVE_BENEATH, name by name. */
static int walk(int base, const char *path, int flags, bool links) {
    static struct walk walk;
    walk.base = base;
    walk.passed[0] = 0;
    strcpy(walk.rest, path);
    walk.at = open_folder_in(base, ".");
    if (walk.at < 0) return -1;
    int found = walk_on(&walk, flags, links ? LINKS_MOST : 0), problem = errno;
    close(walk.at);
    errno = problem;
    return found;
}

static int open_below(int base, const char *path, int flags, bool links, bool confined) {
    uint64_t resolve = RESOLVE_NO_MAGICLINKS;
    if (!links) resolve |= RESOLVE_NO_SYMLINKS;
    if (confined) resolve |= RESOLVE_BENEATH;
    if (have_openat2) return try_openat2(base, path, flags, resolve);
    if (links && !confined) return openat(base, path, flags | O_CLOEXEC);
    return walk(base, path, flags, links);
}

int place_open(const struct place *place, int flags) {
    /* The working directory is the root. */
    if (is_root(place->beneath))
        return open_below(AT_FDCWD, place->path, flags, place->links, false);
    const char *below_root = place->beneath + strspn(place->beneath, "/");
    int base = open_below(AT_FDCWD, below_root, O_PATH | O_DIRECTORY, place->links, false);
    if (base < 0) return -1;
    int fd = open_below(base, place->path, flags, place->links, true);
    int problem = errno;
    close(base);
    errno = problem;
    return fd;
}

/* Cuts the last component off; NULL where there is none that could be made or removed. */
static char *split(char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') path[--length] = 0;
    char *slash = strrchr(path, '/');
    char *name = slash ? slash + 1 : path;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return NULL;
    return name;
}

/* Makes what is missing of the first `length` bytes of the path. */
static bool make_folders(const struct place *place, size_t length) {
    static struct place above, folder;
    above = folder = *place;
    for (size_t end = 0; end < length; end++) {
        end += strcspn(place->path + end, "/");
        memcpy(folder.path, place->path, end);
        folder.path[end] = 0;
        const char *name = split(folder.path);
        if (!name) continue; /* `.` and `..` are there */
        size_t before = (size_t)(name - folder.path);
        memcpy(above.path, before ? folder.path : ".", before ? before : 1);
        above.path[before ? before : 1] = 0;
        int fd = place_open(&above, O_PATH | O_DIRECTORY);
        if (fd < 0) return false;
        int made = mkdirat(fd, name, 0755);
        int problem = errno;
        close(fd);
        errno = problem;
        if (made && problem != EEXIST) return false;
    }
    return true;
}

static int open_folder(const struct place *place, const char *name, bool parents) {
    static struct place folder;
    size_t length = (size_t)(name - place->path);
    folder = *place;
    memcpy(folder.path, length ? place->path : ".", length ? length : 1);
    folder.path[length ? length : 1] = 0;
    int fd = place_open(&folder, O_PATH | O_DIRECTORY);
    if (fd >= 0 || errno != ENOENT || !parents) return fd;
    return make_folders(place, length) ? place_open(&folder, O_PATH | O_DIRECTORY) : -1;
}

/* Replaces the link at the end of the path by what it points to: 0 or an errno. */
static int follow(struct place *place, const char *name, const char *target, size_t length) {
    char path[PATH_MAX];
    size_t kept = target[0] == '/' ? 0 : (size_t)(name - place->path);
    if (target[0] == '/' && !is_root(place->beneath)) return EXDEV;
    if (kept + length >= sizeof path) return ENAMETOOLONG;
    memcpy(path, place->path, kept);
    memcpy(path + kept, target, length);
    path[kept + length] = 0;
    memcpy(place->path, path, kept + length + 1);
    return make_relative(place);
}

int place_parent(struct place *place, bool follow_last, bool parents, const char **name) {
    char target[PATH_MAX];
    for (int links = 0; links < LINKS_MOST; links++) {
        if (!(*name = split(place->path))) {
            errno = EINVAL;
            return -1;
        }
        int folder = open_folder(place, *name, parents);
        if (folder < 0 || !follow_last) return folder;
        ssize_t length = readlinkat(folder, *name, target, sizeof target - 1);
        if (length < 0) return folder; /* not a link, or nothing yet */
        close(folder);
        int problem = place->links ? follow(place, *name, target, (size_t)length) : ELOOP;
        if (problem) {
            errno = problem;
            return -1;
        }
    }
    errno = ELOOP;
    return -1;
}
