/* What happens to files. */
#include "notice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "folders.h"
#include "sha256.h"
#include "walk.h"

#define REST_US 20000   /* between two looks at the kernel's queue, which must not overflow */
#define PENDING 2048    /* paths that are told together */
#define PENDING_SLOTS 4096
#define EVENTS_BYTES 16384 /* fewer events than half of what may be pending */
#define HASH_MOST (8u << 20) /* bytes of the largest file whose content is told by its digest */
#define HEAD_MOST 64    /* bytes of a small file that are told themselves: a ref of git's */

enum cause { WRITTEN, LEFT, READ };

static struct pending {
    char *path;
    enum cause cause;
} pending[PENDING];
static int waiting;
static int place_of[PENDING_SLOTS]; /* 0: free; else one more than the place in `pending` */

static uint32_t watch_id;
static char *texts;
static char **excluded, **named;
static char **roots;           /* watched whole, */
static char **narrow, **only;  /* and folders of which these paths alone are */
static uint64_t looked_us;
static bool lost;
static void (*tell_ends)(bool git);

/* ---- what is told ---- */

static void tell(uint32_t kind, const struct stat *found, const unsigned char digest[32],
                 const char *path, const void *head, size_t length) {
    static const unsigned char none[32];
    struct writer writer = writer_begin();
    put_u32(&writer, kind);
    put_u32(&writer, found ? found->st_mode : 0);
    put_u64(&writer, found ? (uint64_t)found->st_ctim.tv_sec * 1000000000u +
                                 (uint64_t)found->st_ctim.tv_nsec : 0);
    put_raw(&writer, digest ? digest : none, 32);
    put_text(&writer, path);
    put_bytes(&writer, head, length);
    writer_send(&writer, REPLY_TOUCHED, watch_id);
}

/* False where the file is too large, or cannot be read. */
static bool hash(const char *path, unsigned char digest[32], char *head, size_t *length) {
    static unsigned char buffer[CHUNK];
    struct sha256 sum;
    size_t total = 0;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    sha256_start(&sum);
    while ((got = read(fd, buffer, sizeof buffer)) > 0 && total <= HASH_MOST) {
        if (!total) memcpy(head, buffer, got < HEAD_MOST ? (size_t)got : HEAD_MOST);
        sha256_add(&sum, buffer, (size_t)got);
        total += (size_t)got;
    }
    close(fd);
    *length = total <= HEAD_MOST ? total : 0;
    sha256_end(&sum, digest);
    return got == 0 && total <= HASH_MOST;
}

static bool is_named(const char *path) {
    for (char **each = named; each && *each; each++)
        if (strcmp(*each, path) == 0) return true;
    return false;
}

static void tell_link(const char *path, const struct stat *found) {
    char target[PATH_MAX];
    unsigned char digest[32];
    struct sha256 sum;
    ssize_t length = readlink(path, target, sizeof target);
    if (length < 0) return tell(TOUCHED_GONE, NULL, NULL, path, NULL, 0);
    sha256_start(&sum);
    sha256_add(&sum, (const unsigned char *)target, (size_t)length);
    sha256_end(&sum, digest);
    tell(TOUCHED_FILE, found, digest, path, NULL, 0);
}

/* What stands at a path now: how it came there does not matter. */
static void tell_state(const char *path) {
    struct stat found;
    unsigned char digest[32];
    char head[HEAD_MOST];
    size_t length = 0;
    if (lstat(path, &found)) return tell(TOUCHED_GONE, NULL, NULL, path, NULL, 0);
    if (S_ISDIR(found.st_mode)) return;
    if (S_ISLNK(found.st_mode)) return tell_link(path, &found);
    bool regular = S_ISREG(found.st_mode), watched = is_named(path);
    if (watched) folders_drop(path); /* our own reading is nobody's */
    bool known = regular && hash(path, digest, head, &length);
    if (watched) folders_add(path, true);
    tell(TOUCHED_FILE, &found, known ? digest : NULL, path, head, length);
}

static void tell_one(const struct pending *one) {
    if (!queue_has_room()) queue_flush();
    if (!queue_has_room()) lost = true;
    else if (one->cause == WRITTEN) tell_state(one->path);
    else tell(one->cause == READ ? TOUCHED_READ : TOUCHED_GONE, NULL, NULL, one->path, NULL, 0);
}

/* The kernel does not say whether a file was written before or after a program ended. What git
   writes comes after the ends of hooks and others that it has run, such gits as move no branch
   among them, and before its own; anything else is told before ends, so that what was changed
   beside a run of tests is never taken for tested. */
static bool is_gits(const struct pending *one) {
    return strstr(one->path, "/.git/") != NULL;
}

static uint32_t mixed(const char *path, enum cause cause) {
    uint32_t sum = 2166136261u + cause; /* FNV-1a */
    for (; *path; path++) sum = (sum ^ (unsigned char)*path) * 16777619u;
    return sum;
}

/* Where something pending stands in `place_of`, or would stand. */
static uint32_t slot_of(const struct pending *one) {
    uint32_t at = mixed(one->path, one->cause) % PENDING_SLOTS;
    for (; place_of[at]; at = (at + 1) % PENDING_SLOTS) {
        const struct pending *other = &pending[place_of[at] - 1];
        if (other->cause == one->cause && strcmp(other->path, one->path) == 0) break;
    }
    return at;
}

/* Tells what is pending, in order; the rest where `until_git`, from the first that git wrote on: what
   a shell wrote when its git had ended comes after what that git wrote. */
static void tell_pending(bool until_git) {
    int told = 0;
    for (; told < waiting && !(until_git && is_gits(&pending[told])); told++) {
        tell_one(&pending[told]);
        free(pending[told].path);
    }
    if (told) {
        waiting -= told;
        memmove(pending, pending + told, (size_t)waiting * sizeof *pending);
        memset(place_of, 0, sizeof place_of);
        for (int left = 0; left < waiting; left++) place_of[slot_of(&pending[left])] = left + 1;
    }
    if (lost && !waiting && queue_has_room()) {
        tell(TOUCHED_LOST, NULL, NULL, "", NULL, 0);
        lost = false;
    }
}

/* ---- what has happened ---- */

static void note(const char *path, enum cause cause) {
    if (waiting == PENDING) tell_pending(false);
    struct pending one = {(char *)path, cause};
    uint32_t at = slot_of(&one);
    if (place_of[at]) return;
    if (!(one.path = strdup(path))) {
        lost = true;
        return;
    }
    pending[waiting++] = one;
    place_of[at] = waiting;
}

/* Whether a path is another, or a folder above it. */
static bool leads_to(const char *path, const char *other) {
    size_t length = strlen(path);
    return strncmp(path, other, length) == 0 && (!other[length] || other[length] == '/');
}

static bool lies_in(const char *path, char **folders) {
    for (char **each = folders; each && *each; each++)
        if (leads_to(*each, path)) return true;
    return false;
}

static bool is_led_to(const char *path, char **paths) {
    for (char **each = paths; each && *each; each++)
        if (leads_to(path, *each)) return true;
    return false;
}

/* By its whole path, or by its last component where the exclusion has no slash; or for where it lies
   all but a few are meant. */
static bool is_excluded(const char *path) {
    const char *name = strrchr(path, '/') + 1;
    if (lies_in(path, narrow) && !lies_in(path, roots) && !lies_in(path, only) &&
        !is_led_to(path, only))
        return true;
    for (char **each = excluded; each && *each; each++)
        if (strcmp(strchr(*each, '/') ? path : name, *each) == 0) return true;
    return false;
}

/* Whether a folder is watched whole for its own sake, and not for that of one above it. */
static bool is_anothers(const char *path, const char *root) {
    for (char **each = roots; each && *each; each++)
        if (strcmp(path, *each) == 0) return strcmp(path, root) != 0;
    return false;
}

/* Watches a folder and all below it; `news`: and what it holds has just come there. A folder is
   watched before it is looked into, so nothing that comes meanwhile is missed. False where there is
   none any more. */
static bool watch_tree(const char *root, bool news) {
    static struct walk walk;
    walk_prepare(&walk);
    bool there = walk_start(&walk, root), found = there;
    while (found && !walk.problem) {
        if (!is_excluded(walk.path) && !walk.refused && !is_anothers(walk.path, root)) {
            if (!entry_is_directory(&walk.entry)) {
                if (news) note(walk.path, WRITTEN);
            } else if (folders_add(walk.path, false)) {
                walk_enter(&walk);
            } else if (errno != ENOENT && errno != ENOTDIR) {
                lost = true;
                if (errno == ENOSPC) break;
            }
        }
        found = walk_next(&walk);
    }
    if (walk.problem) lost = true;
    walk_release(&walk);
    return there;
}

static void take(const struct inotify_event *event) {
    static char path[WALK_PATH + NAME_MAX + 2];
    if (event->mask & IN_Q_OVERFLOW) lost = true;
    const struct watched *watched = event->wd < 0 ? NULL : folders_find(event->wd);
    if (!watched) return;
    if (event->mask & (IN_IGNORED | IN_MOVE_SELF)) {
        /* What stands in the place of the first root is another folder, and is not watched. */
        if (strcmp(watched->path, roots[0]) == 0) lost = true;
        if (event->mask & IN_IGNORED) folders_forget(event->wd);
        return;
    }
    if (watched->file) {
        if (event->mask & IN_ACCESS) note(watched->path, READ);
        return;
    }
    if (!event->len || strlen(watched->path) + strlen(event->name) + 2 > sizeof path) return;
    strcpy(path, watched->path);
    strcat(strcat(path, "/"), event->name);
    if (is_excluded(path)) return;
    if (!(event->mask & IN_ISDIR)) return note(path, WRITTEN);
    if (event->mask & IN_MOVED_FROM) { /* what is deleted was empty, and its watch goes by itself */
        folders_drop(path);
        note(path, LEFT);
        tell_pending(true); /* before what comes in its place */
    }
    if (event->mask & (IN_CREATE | IN_MOVED_TO) && !watch_tree(path, true)) note(path, LEFT);
}

/* Takes what the kernel's queue holds. Where `patient`, what is pending is told before it is too much
   to be told at once, and no more is taken than the host has room for. */
static void look(bool patient) {
    static union {
        struct inotify_event event;
        char bytes[EVENTS_BYTES];
    } buffer;
    ssize_t got;
    looked_us = now_us();
    for (;;) {
        if (patient && waiting > PENDING / 2) {
            if (!queue_has_room()) return;
            tell_pending(false);
            if (!queue_flush()) return;
        }
        got = read(folders_queue(), &buffer, sizeof buffer);
        if (got <= 0) return;
        for (ssize_t at = 0; at < got;) {
            const struct inotify_event *event = (const void *)(buffer.bytes + at);
            take(event);
            at += (ssize_t)(sizeof *event + event->len);
        }
    }
}

void notice_look(void) {
    look(true);
}

void notice_drain(void) {
    notice_before_end(true);
    if (tell_ends) tell_ends(true);
}

void notice_before_end(bool git) {
    if (folders_queue() >= 0) look(false);
    tell_pending(true);
    if (!git) return;
    if (tell_ends) tell_ends(false);
    tell_pending(false);
}

void notice_prepare(void (*ends)(bool git)) {
    tell_ends = ends;
}

int notice_descriptor(void) {
    return notice_timeout_us() < 0 ? folders_queue() : -1;
}

int64_t notice_timeout_us(void) {
    if (folders_queue() < 0) return -1;
    uint64_t rested = now_us() - looked_us;
    return rested < REST_US ? (int64_t)(REST_US - rested) : -1;
}

/* ---- what the host asks ---- */

/* Copies a list of strings into `*into`, each ended by NUL, and points `*list` at them. */
static bool take_list(struct cursor *payload, char **into, char ***list) {
    uint32_t count = take_u32(payload);
    if (count > payload->left / 4 || !(*list = calloc(count + 1u, sizeof **list))) return false;
    for (uint32_t i = 0; i < count; i++) {
        (*list)[i] = *into;
        if (take_text(payload, *into, PATH_MAX)) return false;
        *into += strlen(*into) + 1;
    }
    return true;
}

void notice_watch(uint32_t id, struct cursor *payload) {
    take_u32(payload);
    if (texts) return reply_error(id, EBUSY, "watch");
    /* Every string is shorter here than in the frame, and none may be written past the end. */
    texts = malloc(payload->left + PATH_MAX);
    char *into = texts;
    bool well = texts && take_list(payload, &into, &roots) &&
                take_list(payload, &into, &excluded) && take_list(payload, &into, &named) &&
                take_list(payload, &into, &narrow) && take_list(payload, &into, &only);
    if (!well || !cursor_done(payload)) return reply_fault("malformed watch request");
    if (!folders_open()) return reply_error(id, errno, "watch");
    watch_id = id;
    for (char **root = roots; *root; root++) watch_tree(*root, false);
    for (char **folder = narrow; *folder; folder++) watch_tree(*folder, false);
    for (char **file = named; *file; file++)
        if (!folders_add(*file, true) && errno != ENOENT && errno != ENOTDIR) lost = true;
    reply_number(REPLY_OK, id, (uint32_t)folders_count());
}

void notice_settle(uint32_t id, struct cursor *payload) {
    if (!cursor_done(payload)) return reply_fault("malformed settle request");
    notice_drain();
    reply_empty(REPLY_OK, id);
}

void notice_end(void) {
    folders_close();
}
