/* Single files and directories. */
#ifndef FILE_H
#define FILE_H

#include "frame.h"

void file_read(uint32_t id, struct cursor *payload);
void file_remove(uint32_t id, struct cursor *payload);
void file_stat(uint32_t id, struct cursor *payload);

/* write.c */
void file_write(uint32_t id, struct cursor *payload);
void file_write_data(uint32_t id, struct cursor *payload);
/* Removes what unfinished writes left. */
void file_end(void);

/* walk.c */
void folder_list(uint32_t id, struct cursor *payload);
void manifest(uint32_t id, struct cursor *payload);

#endif
