/* Listings and manifests: walks whose entries go out in batches. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manifest.h"
#include "place.h"
#include "sha256.h"
#include "transfer.h"
#include "walk.h"

#define ENTRIES_PER_TURN 1024
#define BYTES_PER_TURN (4u << 20)

struct listing {
    struct transfer transfer;
    struct walk walk;
    struct batch batch;
    bool digest;
    int64_t since; /* what was not changed since is left out; 0 for all there is */
    char *texts; /* owns roots and exclusions */
    char **roots, **excluded; /* end with NULL; `roots` moves on */
    bool pending; /* an entry was found that is not in a batch yet */
    int hashed_fd;
    struct sha256 hash;
};

static void listing_release(struct transfer *transfer) {
    struct listing *listing = (struct listing *)transfer;
    if (listing->hashed_fd >= 0) close(listing->hashed_fd);
    walk_release(&listing->walk);
    free(listing->texts);
    free(listing);
}

static struct listing *listing_make(uint32_t id, struct user user,
                                    bool (*step)(struct transfer *)) {
    struct listing *listing = malloc(sizeof *listing);
    if (!listing) return NULL;
    listing->transfer = (struct transfer){id, user, step, listing_release};
    batch_clear(&listing->batch);
    listing->texts = NULL;
    listing->hashed_fd = -1;
    listing->pending = listing->digest = false;
    listing->since = 0;
    walk_prepare(&listing->walk);
    return listing;
}

/* Adds the present entry under `name`; false where the batch had to be sent and there is no room. */
static bool add(struct listing *listing, const char *name) {
    struct walk *walk = &listing->walk;
    if (!batch_has_room(&listing->batch, strlen(name), strlen(walk->target))) {
        if (!queue_has_room()) return false;
        batch_send(&listing->batch, listing->transfer.id, false);
    }
    batch_add(&listing->batch, name, walk->target, &walk->entry);
    listing->pending = false;
    return true;
}

static bool finish(struct listing *listing) {
    if (!queue_has_room()) return false;
    if (listing->walk.problem) reply_error(listing->transfer.id, listing->walk.problem, "walk");
    else batch_send(&listing->batch, listing->transfer.id, true);
    return true;
}

static bool list_step(struct transfer *transfer) {
    struct listing *listing = (struct listing *)transfer;
    for (int i = 0; i < ENTRIES_PER_TURN; i++) {
        if (!listing->pending && !walk_next(&listing->walk)) return finish(listing);
        listing->pending = true;
        if (!add(listing, listing->walk.name)) return false;
    }
    return false;
}

void folder_list(uint32_t id, struct cursor *payload) {
    static struct place place;
    struct user user = {.uid = take_u32(payload), .gid = take_u32(payload)};
    int problem = place_take(payload, &place, true);
    if (!cursor_done(payload)) return reply_fault("malformed list request");
    if (problem) return reply_error(id, problem, "path");
    if (!user_become(user)) return reply_error(id, errno, "user");
    int folder = place_open(&place, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    problem = errno;
    user_leave();
    if (folder < 0) return reply_error(id, problem, "path");
    struct listing *listing = listing_make(id, user, list_step);
    if (!listing) {
        close(folder);
        return reply_error(id, ENOMEM, "path");
    }
    walk_adopt(&listing->walk, folder);
    transfer_begin(&listing->transfer);
}

static bool is_excluded(const struct listing *listing, const char *path) {
    for (char **excluded = listing->excluded; *excluded; excluded++) {
        size_t length = strlen(*excluded);
        while (length && (*excluded)[length - 1] == '/') length--;
        if (strncmp(path, *excluded, length) == 0 && (!path[length] || path[length] == '/'))
            return true;
    }
    return false;
}

/* The next entry of all roots that is not excluded. */
static bool next_entry(struct listing *listing) {
    struct walk *walk = &listing->walk;
    for (;;) {
        bool found = walk_next(walk);
        if (walk->problem) return false;
        while (!found && *listing->roots) found = walk_start(walk, *listing->roots++);
        if (!found) return false;
        if (!is_excluded(listing, walk->path)) return true;
    }
}

static void hash_start(struct listing *listing) {
    struct walk *walk = &listing->walk;
    struct entry opened;
    int at = walk->folder < 0 ? AT_FDCWD : walk->folder;
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = openat(at, walk->name, flags);
    int problem = fd < 0 ? errno : entry_read(fd, "", &opened);
    if (!problem && (!entry_is_regular(&opened) || opened.inode != walk->entry.inode))
        problem = ESTALE;
    if (problem) {
        entry_set_problem(&walk->entry, problem);
        if (fd >= 0) close(fd);
        return;
    }
    listing->hashed_fd = fd;
    sha256_start(&listing->hash);
}

/* Hashes on; whether the file is done. */
static bool hash_step(struct listing *listing, size_t *bytes_left) {
    static unsigned char buffer[CHUNK];
    while (*bytes_left) {
        ssize_t got = read(listing->hashed_fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) {
            sha256_add(&listing->hash, buffer, (size_t)got);
            *bytes_left -= (size_t)got < *bytes_left ? (size_t)got : *bytes_left;
            if (listing->hash.length < listing->walk.entry.size) continue;
        }
        unsigned char digest[32];
        sha256_end(&listing->hash, digest);
        if (got < 0) entry_set_problem(&listing->walk.entry, errno);
        else entry_set_digest(&listing->walk.entry, digest);
        close(listing->hashed_fd);
        listing->hashed_fd = -1;
        return true;
    }
    return false;
}

static bool manifest_step(struct transfer *transfer) {
    struct listing *listing = (struct listing *)transfer;
    struct walk *walk = &listing->walk;
    size_t bytes_left = BYTES_PER_TURN;
    for (int i = 0; i < ENTRIES_PER_TURN && bytes_left; i++) {
        if (!listing->pending) {
            if (!next_entry(listing)) return finish(listing);
            if (entry_is_directory(&walk->entry) && !walk->refused) walk_enter(walk);
            if (listing->since && walk->entry.changed_ns <= listing->since) continue;
            listing->pending = true;
            if (listing->digest && entry_is_regular(&walk->entry)) hash_start(listing);
        }
        if (listing->hashed_fd >= 0 && !hash_step(listing, &bytes_left)) return false;
        if (!add(listing, walk->path)) return false;
    }
    return false;
}

/* Reads a counted list of absolute paths into `slot` and `text`: 0 or an errno. */
static int take_paths(struct cursor *payload, char ***slot, char **text, const char *end) {
    uint32_t count = take_u32(payload);
    int problem = 0;
    for (uint32_t i = 0; i < count && !payload->bad && !problem; i++) {
        problem = take_text(payload, *text, (size_t)(end - *text));
        if (!problem && (*text)[0] != '/') problem = EINVAL;
        if (!problem && strlen(*text) >= PATH_MAX) problem = ENAMETOOLONG;
        *(*slot)++ = *text;
        *text += strlen(*text) + 1;
    }
    *(*slot)++ = NULL;
    return problem;
}

void manifest(uint32_t id, struct cursor *payload) {
    struct user self = user_own();
    struct listing *listing = listing_make(id, self, manifest_step);
    if (!listing) return reply_error(id, ENOMEM, "walk");
    uint32_t flags = take_u32(payload);
    listing->digest = flags & MANIFEST_DIGEST;
    if (flags & MANIFEST_SINCE) listing->since = (int64_t)take_u64(payload);
    size_t slots = payload->left / 4 + 2, size = slots * sizeof(char *) + payload->left + 1;
    listing->texts = malloc(size);
    int problem = listing->texts ? 0 : ENOMEM;
    if (!problem) {
        char **slot = (char **)(void *)listing->texts, *text = (char *)(slot + slots);
        const char *end = listing->texts + size;
        listing->roots = slot;
        problem = take_paths(payload, &slot, &text, end);
        listing->excluded = slot;
        if (!problem) problem = take_paths(payload, &slot, &text, end);
    }
    if (problem || !cursor_done(payload)) {
        listing_release(&listing->transfer);
        if (problem) reply_error(id, problem, "path");
        else reply_fault("malformed manifest request");
        return;
    }
    transfer_begin(&listing->transfer);
}
