/*
 * Vectors of 16 bytes, or of 32 in the build for newer processors (loader.py's NEWER). Words of eight bytes are read at
 * any address, lowest byte first: for little-endian machines only. Two of the compiler's builtins are used by their
 * names: <immintrin.h>, which has others for them, would double the time to compile this library.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* A bit for each byte of a comparison's result: 1 where the byte is 255, 0 where it is 0. Bit 0 is the first byte. */
static inline uint32_t bits(sixteen matches)
{
#ifdef __SSE2__
    return (uint32_t)__builtin_ia32_pmovmskb128((char __attribute__((vector_size(16))))matches);
#else
    const sixteen weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint64_t halves[2];
    matches &= weights;
    memcpy(halves, &matches, sizeof halves);
    return (uint32_t)(halves[0] * EACH(1) >> 56 | halves[1] * EACH(1) >> 56 << 8);
#endif
}

/* The widest vector with instructions of its own: compilers split a wider one into single bytes. */
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

/* bits() of a wide vector. */
static inline uint32_t bits_of_wide(wide matches)
{
#ifdef __AVX2__
    return (uint32_t)__builtin_ia32_pmovmskb256((char __attribute__((vector_size(32))))matches);
#else
    return bits(matches);
#endif
}
