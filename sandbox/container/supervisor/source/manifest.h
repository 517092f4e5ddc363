/* Directories: one as a listing, trees as manifests. */
#ifndef MANIFEST_H
#define MANIFEST_H

#include "frame.h"

void folder_list(uint32_t id, struct cursor *payload);
void manifest(uint32_t id, struct cursor *payload);

#endif
