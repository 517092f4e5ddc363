/* Descriptors that may be -1. */
#ifndef DESCRIPTOR_H
#define DESCRIPTOR_H

/* Closes a descriptor that may be -1, and makes it so. */
void close_descriptor(int *fd);

#endif
