/* Whole files: a new one beside the old, renamed over it when it is complete. */
#ifndef WRITE_H
#define WRITE_H

#include "frame.h"

void file_write(uint32_t id, struct cursor *payload);
void file_write_data(uint32_t id, struct cursor *payload);
/* Removes what unfinished writes left. */
void writes_end(void);

#endif
