/* SHA-256, FIPS 180-4. */
#include "sha256.h"

#include <string.h>

const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t value, int bits) {
    return value >> bits | value << (32 - bits);
}

static uint32_t big_endian(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool use_instructions;

void sha256_prepare(bool plain) {
    use_instructions = !plain && sha256_have_instructions();
}

/* One round; the variables change their roles instead of their values. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                         \
    do {                                                                                         \
        uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);                            \
        uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);                            \
        h += sum1 + ((e & f) ^ (~e & g)) + sha256_constants[i] + w[i];                           \
        d += h;                                                                                  \
        h += sum0 + ((a & b) ^ (a & c) ^ (b & c));                                               \
    } while (0)

static void compress_one(uint32_t state[8], const unsigned char block[64]) {
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 16; i++) w[i] = big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        uint32_t sigma0 = rotate(x, 7) ^ rotate(x, 18) ^ x >> 3;
        uint32_t sigma1 = rotate(y, 17) ^ rotate(y, 19) ^ y >> 10;
        w[i] = w[i - 16] + sigma0 + w[i - 7] + sigma1;
    }
    for (int i = 0; i < 64; i += 8) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

static void compress(uint32_t state[8], const unsigned char *blocks, size_t count) {
    if (use_instructions) {
        sha256_compress_by_instructions(state, blocks, count);
        return;
    }
    for (; count; count--, blocks += 64) compress_one(state, blocks);
}

void sha256_start(struct sha256 *hash) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, initial, sizeof initial);
    hash->length = 0;
}

void sha256_add(struct sha256 *hash, const unsigned char *bytes, size_t length) {
    size_t held = hash->length % 64;
    hash->length += length;
    if (held) {
        size_t part = length < 64 - held ? length : 64 - held;
        memcpy(hash->block + held, bytes, part);
        bytes += part;
        length -= part;
        if (held + part < 64) return;
        compress(hash->state, hash->block, 1);
    }
    compress(hash->state, bytes, length / 64);
    if (length % 64) memcpy(hash->block, bytes + length / 64 * 64, length % 64);
}

void sha256_end(struct sha256 *hash, unsigned char digest[32]) {
    uint64_t bits = hash->length * 8;
    unsigned char tail[72] = {0x80};
    size_t held = hash->length % 64;
    size_t padding = (held < 56 ? 56 : 120) - held;
    for (int i = 0; i < 8; i++) tail[padding + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(hash, tail, padding + 8);
    for (int i = 0; i < 32; i++)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}
