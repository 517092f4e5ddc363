/* One thing of a file system, as the fixed record of the protocol. */
#include "entry.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frame.h"

#define KIND 0170000u
#define MOUNT_ID 0x1000u          /* STATX_MNT_ID, Linux 5.8 */
#define ATTRIBUTE_MOUNT 0x2000u   /* STATX_ATTR_MOUNT_ROOT, Linux 5.8 */

/* Offsets within the record; docs/supervisor-protocol.md has the table. */
enum { MODE = 0, PROBLEM = 2, UID = 4, GID = 8, LINKS = 12, SIZE = 16, MTIME = 24, CTIME = 32,
       INODE = 40, DIGEST = 48 };

static uint64_t nanoseconds(const struct statx_timestamp *time) {
    return (uint64_t)time->tv_sec * 1000000000u + time->tv_nsec;
}

static bool mounts_known = true;

void entry_prepare(bool plain) {
    mounts_known = !plain;
}

static bool look(int folder, const char *name, struct statx *found) {
    static int unmounted = AT_NO_AUTOMOUNT;
    int flags = AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH);
    unsigned wanted = STATX_BASIC_STATS | MOUNT_ID;
    /* By number: the C library that this is built with has no statx of its own. */
    if (!syscall(SYS_statx, folder, name, flags | unmounted, wanted, found)) return true;
    if (errno != EINVAL || !unmounted) return false;
    unmounted = 0; /* gVisor mounts nothing by itself, and does not know the flag */
    return !syscall(SYS_statx, folder, name, flags, wanted, found);
}

int entry_read(int folder, const char *name, struct entry *entry) {
    struct statx found;
    if (!look(folder, name, &found)) return errno;
    entry->mode = found.stx_mode;
    entry->device = (uint64_t)found.stx_dev_major << 32 | found.stx_dev_minor;
    entry->inode = found.stx_ino;
    entry->size = found.stx_size;
    entry->changed_ns = (int64_t)nanoseconds(&found.stx_ctime);
    /* stx_mnt_id is at offset 144; older headers do not name it. */
    uint64_t mount;
    memcpy(&mount, (const char *)&found + 144, sizeof mount);
    entry->mount = mounts_known && found.stx_mask & MOUNT_ID ? mount : 0;
    entry->mount_known = mounts_known && found.stx_attributes_mask & ATTRIBUTE_MOUNT;
    entry->mount_root = found.stx_attributes & ATTRIBUTE_MOUNT;
    unsigned char *record = entry->record;
    memset(record, 0, sizeof entry->record);
    store_u16(record + MODE, (uint16_t)found.stx_mode);
    store_u32(record + UID, found.stx_uid);
    store_u32(record + GID, found.stx_gid);
    store_u32(record + LINKS, found.stx_nlink);
    store_u64(record + SIZE, found.stx_size);
    store_u64(record + MTIME, nanoseconds(&found.stx_mtime));
    store_u64(record + CTIME, nanoseconds(&found.stx_ctime));
    store_u64(record + INODE, found.stx_ino);
    return 0;
}

void entry_set_problem(struct entry *entry, int number) {
    store_u16(entry->record + PROBLEM, (uint16_t)number);
}

void entry_set_digest(struct entry *entry, const unsigned char digest[32]) {
    memcpy(entry->record + DIGEST, digest, 32);
}

void entry_unknown(struct entry *entry, uint32_t mode, int problem) {
    memset(entry, 0, sizeof *entry);
    entry->mode = mode;
    entry->changed_ns = INT64_MAX; /* nobody knows */
    store_u16(entry->record + MODE, (uint16_t)mode);
    entry_set_problem(entry, problem);
}

bool entry_is_directory(const struct entry *entry) {
    return (entry->mode & KIND) == S_IFDIR;
}

bool entry_is_regular(const struct entry *entry) {
    return (entry->mode & KIND) == S_IFREG;
}

bool entry_is_link(const struct entry *entry) {
    return (entry->mode & KIND) == S_IFLNK;
}

void batch_clear(struct batch *batch) {
    batch->count = 0;
    batch->names_length = batch->records_length = 0;
}

bool batch_has_room(const struct batch *batch, size_t name_length, size_t target_length) {
    return batch->names_length + name_length + target_length + 2 <= sizeof batch->names &&
           batch->records_length + RECORD_SIZE <= sizeof batch->records;
}

void batch_add(struct batch *batch, const char *name, const char *target,
               const struct entry *entry) {
    size_t name_size = strlen(name) + 1, target_size = strlen(target) + 1;
    memcpy(batch->names + batch->names_length, name, name_size);
    memcpy(batch->names + batch->names_length + name_size, target, target_size);
    memcpy(batch->records + batch->records_length, entry->record, RECORD_SIZE);
    batch->names_length += name_size + target_size;
    batch->records_length += RECORD_SIZE;
    batch->count++;
}

void batch_send(struct batch *batch, uint32_t id, bool last) {
    struct writer writer = writer_begin();
    put_u32(&writer, batch->count);
    put_bytes(&writer, batch->names, batch->names_length);
    put_raw(&writer, batch->records, batch->records_length);
    writer_send(&writer, last ? REPLY_OK : REPLY_DATA, id);
    batch_clear(batch);
}
