/* One thing of a file system, as the fixed record of the protocol. */
#ifndef ENTRY_H
#define ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct entry {
    unsigned char record[RECORD_SIZE];
    uint32_t mode;
    uint64_t device, inode, size;
    int64_t changed_ns; /* the time of its status */
    uint64_t mount;   /* 0 where the kernel does not tell */
    bool mount_known; /* whether `mount_root` means anything */
    bool mount_root;
};

/* `plain`: mounts are told apart by device number alone. */
void entry_prepare(bool plain);
/* `name` may be "" for what `folder` itself is; never follows a link. 0 or an errno. */
int entry_read(int folder, const char *name, struct entry *entry);
void entry_set_problem(struct entry *entry, int number);
void entry_set_digest(struct entry *entry, const unsigned char digest[32]);
/* A record for something that could not be looked at, of which only the kind is known. */
void entry_unknown(struct entry *entry, uint32_t mode, int problem);

bool entry_is_directory(const struct entry *entry);
bool entry_is_regular(const struct entry *entry);
bool entry_is_link(const struct entry *entry);

/* Collects entries for one frame: u32 count, u32 length of names, names, records. */
struct batch {
    uint32_t count;
    size_t names_length, records_length;
    unsigned char names[CHUNK], records[CHUNK];
};

void batch_clear(struct batch *batch);
/* Whether a name and a target of these lengths still fit. */
bool batch_has_room(const struct batch *batch, size_t name_length, size_t target_length);
void batch_add(struct batch *batch, const char *name, const char *target,
               const struct entry *entry);
/* Sends it as the last frame of the reply, or as one of several. */
void batch_send(struct batch *batch, uint32_t id, bool last);

#endif
