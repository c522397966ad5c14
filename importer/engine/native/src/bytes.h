/*
 * Sixteen bytes at a time, or twice as many where the processor takes them in one step (native.py's NEWER). Words of
 * eight bytes are read at any address and their lowest byte comes first, so this is for little-endian machines.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only for little-endian machines"
#endif

typedef uint8_t byte;
typedef byte sixteen __attribute__((vector_size(16)));

#define EACH(value) ((uint64_t)0x0101010101010101 * (byte)(value))

static inline sixteen load(const byte *at)
{
    sixteen bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* A bit for each byte that is all ones in `found`, where the others are zero; the lowest for the first one. */
static inline uint32_t bits(sixteen found)
{
#ifdef __SSE2__
    return (uint32_t)_mm_movemask_epi8((__m128i)found);
#else
    const sixteen places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint64_t halves[2];
    found &= places;
    memcpy(halves, &found, sizeof halves);
    return (uint32_t)(halves[0] * EACH(1) >> 56 | halves[1] * EACH(1) >> 56 << 8);
#endif
}

/* As many as one step takes: of more, compilers take each byte by itself. */
#ifdef __AVX2__
typedef byte wide __attribute__((vector_size(32)));
#else
typedef sixteen wide;
#endif
enum { WIDTH = sizeof(wide) };

static inline wide load_wide(const byte *at)
{
    wide bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* The same as bits(). */
static inline uint32_t bits_of_wide(wide found)
{
#ifdef __AVX2__
    return (uint32_t)_mm256_movemask_epi8((__m256i)found);
#else
    return bits(found);
#endif
}
