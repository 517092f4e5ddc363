/* Walks directories by descriptor: any depth, one descriptor, no link followed. */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct raw_entry { /* linux_dirent64 of getdents64(2) */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

void walk_prepare(struct walk *walk) {
    memset(walk, 0, sizeof *walk);
    walk->folder = -1;
}

void walk_release(struct walk *walk) {
    if (walk->folder >= 0) close(walk->folder);
    free(walk->levels);
    free(walk->names);
    walk->levels = NULL;
    walk->names = NULL;
    walk->folder = -1;
}

/* Doubles an array until it holds `needed` bytes. */
static bool grow(struct walk *walk, void **array, size_t *size, size_t needed) {
    size_t bigger = *size ? *size : 4096;
    while (bigger < needed) bigger *= 2;
    if (bigger == *size) return true;
    void *moved = bigger <= WALK_NAMES ? realloc(*array, bigger) : NULL;
    if (!moved) {
        walk->problem = ENOMEM;
        return false;
    }
    *array = moved;
    *size = bigger;
    return true;
}

static void stand_in(struct walk *walk, int folder) {
    if (walk->folder >= 0) close(walk->folder);
    walk->folder = folder;
}

static bool push(struct walk *walk, int folder, size_t path_length) {
    struct entry self;
    void *levels = walk->levels;
    stand_in(walk, folder);
    if (entry_read(folder, "", &self)) return false;
    if (!grow(walk, &levels, &walk->levels_size, (walk->depth + 1) * sizeof *walk->levels))
        return false;
    walk->levels = levels;
    walk->levels[walk->depth++] =
        (struct level){self.device, self.inode, path_length, walk->names_length};
    walk->reading = true;
    walk->buffer_at = walk->buffer_length = 0;
    return true;
}

static void read_target(struct walk *walk) {
    ssize_t length = -1;
    if (entry_is_link(&walk->entry))
        length = readlinkat(walk->folder < 0 ? AT_FDCWD : walk->folder, walk->name, walk->target,
                            sizeof walk->target - 1);
    walk->target[length < 0 ? 0 : length] = 0;
}

bool walk_start(struct walk *walk, const char *root) {
    size_t length = strlen(root);
    while (length > 1 && root[length - 1] == '/') length--;
    memcpy(walk->path, root, length);
    walk->path[length] = 0;
    walk->depth = walk->names_length = 0;
    walk->reading = false;
    stand_in(walk, -1);
    walk->name = walk->path;
    if (entry_read(AT_FDCWD, walk->path, &walk->root)) return false;
    walk->entry = walk->root;
    read_target(walk);
    return true;
}

bool walk_adopt(struct walk *walk, int folder) {
    walk->everywhere = true;
    walk->path[0] = 0;
    return push(walk, folder, 0);
}

static bool is_elsewhere(const struct walk *walk, const struct entry *entry) {
    if (walk->everywhere) return false;
    if (walk->root.mount && entry->mount) return walk->root.mount != entry->mount;
    if (entry->mount_known) return entry->mount_root;
    /* Of an overlay only directories tell its own device number. */
    return entry_is_directory(entry) && entry->device != walk->root.device;
}

/* Points `walk->path` at a name in the directory of the present level. */
static void set_path(struct walk *walk, const char *name) {
    size_t length = walk->levels[walk->depth - 1].path_length;
    if (length && walk->path[length - 1] != '/') walk->path[length++] = '/';
    strcpy(walk->path + length, name); /* fits: see walk_enter */
    walk->name = walk->path + length;
}

/* The next entry of the directory that is being read. */
static bool read_entry(struct walk *walk) {
    for (;;) {
        if (walk->buffer_at >= walk->buffer_length) {
            /* readdir(3) allocates a buffer a folder; this walk has one for all: getdents(2). */
            long got = syscall(SYS_getdents64, walk->folder, walk->buffer, sizeof walk->buffer);
            if (got <= 0) return false;
            walk->buffer_at = 0;
            walk->buffer_length = (size_t)got;
        }
        struct raw_entry *raw = (struct raw_entry *)(void *)(walk->buffer + walk->buffer_at);
        walk->buffer_at += raw->length;
        if (strcmp(raw->name, ".") == 0 || strcmp(raw->name, "..") == 0) continue;
        set_path(walk, raw->name);
        int problem = entry_read(walk->folder, raw->name, &walk->entry);
        if (problem == ENOENT) continue;
        if (problem) entry_unknown(&walk->entry, (uint32_t)raw->type << 12, problem);
        else if (is_elsewhere(walk, &walk->entry)) continue;
        read_target(walk);
        return true;
    }
}

/* Opens an absolute path of any length, one component at a time. */
static int open_long(const char *path, size_t length) {
    char name[NAME_MAX + 1];
    int at = open("/", OPEN_FOLDER);
    for (size_t i = 0; at >= 0 && i < length;) {
        size_t part = strcspn(path + i, "/");
        if (part > length - i) part = length - i;
        if (part && part <= NAME_MAX) {
            memcpy(name, path + i, part);
            name[part] = 0;
            int next = openat(at, name, OPEN_FOLDER);
            close(at);
            at = next;
        }
        i += part + 1;
    }
    return at;
}

static bool is_level(int folder, const struct level *level) {
    struct entry found;
    return folder >= 0 && entry_read(folder, "", &found) == 0 &&
           found.device == level->device && found.inode == level->inode;
}

/* Goes back to the directory of the present level, which may have been moved meanwhile. */
static bool return_to(struct walk *walk, const struct level *level) {
    if (is_level(walk->folder, level)) return true;
    int folder = walk->folder < 0 ? -1 : openat(walk->folder, "..", OPEN_FOLDER);
    if (!is_level(folder, level)) {
        if (folder >= 0) close(folder);
        folder = open_long(walk->path, level->path_length);
    }
    stand_in(walk, folder);
    return is_level(folder, level);
}

static const char *pop_name(struct walk *walk, size_t start) {
    size_t at = walk->names_length - 1;
    while (at > start && walk->names[at - 1]) at--;
    walk->names_length = at;
    return walk->names + at;
}

/* Enters the next directory that waits: 1, 0 with a problem in `entry`, -1 at the end. */
static int advance(struct walk *walk) {
    while (walk->depth) {
        struct level *level = &walk->levels[walk->depth - 1];
        if (walk->names_length > level->names_start && return_to(walk, level)) {
            set_path(walk, pop_name(walk, level->names_start));
            int folder = openat(walk->folder, walk->name, OPEN_FOLDER);
            int problem = errno;
            if (folder >= 0 && push(walk, folder, strlen(walk->path))) return 1;
            if (walk->problem) return -1;
            if (folder >= 0) continue; /* it went away between two calls */
            if (problem == ENOENT) continue;
            if (entry_read(walk->folder, walk->name, &walk->entry)) continue;
            entry_set_problem(&walk->entry, problem);
            read_target(walk);
            walk->refused = true;
            return 0;
        }
        walk->names_length = level->names_start;
        walk->depth--;
    }
    return -1;
}

bool walk_next(struct walk *walk) {
    walk->refused = false;
    while (!walk->problem) {
        if (walk->reading && read_entry(walk)) return true;
        walk->reading = false;
        int advanced = advance(walk);
        if (advanced < 0) return false;
        if (advanced == 0) return true;
    }
    return false;
}

void walk_enter(struct walk *walk) {
    size_t size = strlen(walk->name) + 1;
    void *names = walk->names;
    if (strlen(walk->path) + NAME_MAX + 2 > WALK_PATH) {
        entry_set_problem(&walk->entry, ENAMETOOLONG);
        return;
    }
    if (walk->depth == 0) { /* the root */
        int folder = open_long(walk->path, strlen(walk->path));
        if (folder < 0) folder = open(walk->path, OPEN_FOLDER);
        if (folder < 0) entry_set_problem(&walk->entry, errno);
        else push(walk, folder, strlen(walk->path));
        return;
    }
    if (!grow(walk, &names, &walk->names_size, walk->names_length + size)) return;
    walk->names = names;
    memcpy(walk->names + walk->names_length, walk->name, size);
    walk->names_length += size;
}
