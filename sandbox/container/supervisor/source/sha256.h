/* SHA-256, FIPS 180-4. */
#ifndef SHA256_H
#define SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const unsigned char *bytes, size_t length);
void sha256_end(struct sha256 *hash, unsigned char digest[32]);

/* sha256_x86.c: several times faster where the processor has instructions for it. */
extern const uint32_t sha256_constants[64];
bool sha256_have_instructions(void);
/* `plain`: without them. */
void sha256_prepare(bool plain);
void sha256_compress_by_instructions(uint32_t state[8], const unsigned char *blocks, size_t count);

#endif
