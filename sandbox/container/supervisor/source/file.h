/* Reads, removes and looks at single files. */
#ifndef FILE_H
#define FILE_H

#include "frame.h"

void file_read(uint32_t id, struct cursor *payload);
void file_remove(uint32_t id, struct cursor *payload);
void file_stat(uint32_t id, struct cursor *payload);

#endif
