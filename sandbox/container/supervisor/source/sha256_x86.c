/* Intel's SHA extensions: "Intel SHA Extensions", 2013, and the SHA256RNDS2 pages of the manual. */
#include "sha256.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

#define BIT(number) (1u << (number))

bool sha256_have_instructions(void) {
    unsigned a, b, c, d;
    bool sse = false, sha = false;
    if (__get_cpuid(1, &a, &b, &c, &d)) sse = c & BIT(19) && c & BIT(9); /* SSE4.1, SSSE3 */
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) sha = b & BIT(29);
    return sse && sha;
}

__attribute__((target("sha,sse4.1,ssse3"))) void sha256_compress_by_instructions(
    uint32_t state[8], const unsigned char *blocks, size_t count) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(void *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(void *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count; count--, blocks += 64) {
        __m128i before_abef = abef, before_cdgh = cdgh, w[4];
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i % 4];
            const __m128i *last = &w[(i + 3) % 4];
            if (i < 4) {
                const void *words = blocks + 16 * i;
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)words), swap);
            } else {
                __m128i sum = _mm_sha256msg1_epu32(*now, w[(i + 1) % 4]);
                sum = _mm_add_epi32(sum, _mm_alignr_epi8(*last, w[(i + 2) % 4], 4));
                *now = _mm_sha256msg2_epu32(sum, *last);
            }
            const void *constants = sha256_constants + 4 * i;
            __m128i input = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)constants));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
        }
        abef = _mm_add_epi32(abef, before_abef);
        cdgh = _mm_add_epi32(cdgh, before_cdgh);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

#else

bool sha256_have_instructions(void) {
    return false;
}

void sha256_compress_by_instructions(uint32_t state[8], const unsigned char *blocks, size_t count) {
    (void)state;
    (void)blocks;
    (void)count;
}

#endif
