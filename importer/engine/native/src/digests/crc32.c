/*
 * CRC-32 eight bytes at a time (Kounavis and Berry, "A Systematic Approach to Building High Performance Software-Based
 * CRC Generators", 2005): values are short, so that instructions for long runs of bytes would gain nothing.
 */
#include "crc32.h"

enum { AT_ONCE = 8 };
#define POLYNOMIAL 0xedb88320u

/* What a byte adds to the CRC if this number of bytes follow it. */
static uint32_t added[AT_ONCE][256];

static __attribute__((constructor)) void fill_table(void)
{
    for (uint32_t number = 0; number < 256; number++) {
        uint32_t crc = number;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        added[0][number] = crc;
    }
    for (size_t behind = 1; behind < AT_ONCE; behind++)
        for (size_t number = 0; number < 256; number++)
            added[behind][number] = added[behind - 1][number] >> 8 ^ added[0][added[behind - 1][number] & 0xff];
}

/* The CRC after eight bytes; the CRC before them is xored into the first four. */
static inline uint32_t after_word(uint64_t word)
{
    return added[7][word & 0xff] ^ added[6][word >> 8 & 0xff] ^ added[5][word >> 16 & 0xff] ^
        added[4][word >> 24 & 0xff] ^ added[3][word >> 32 & 0xff] ^ added[2][word >> 40 & 0xff] ^
        added[1][word >> 48 & 0xff] ^ added[0][word >> 56];
}

uint32_t crc32_of(uint32_t before, const byte *at, size_t length)
{
    uint32_t crc = ~before;
    uint64_t word;
    for (; length > AT_ONCE; at += AT_ONCE, length -= AT_ONCE) {
        memcpy(&word, at, AT_ONCE);
        crc = after_word(word ^ crc);
    }
    if (!length)
        return before;
    /* The last one to eight bytes at the end of a word of zeros, which add nothing. */
    memcpy(&word, at, AT_ONCE);
    unsigned unused = (unsigned)(AT_ONCE - length) * 8;
    uint32_t rest = length < 4 ? crc >> 8 * length : 0;
    return ~(rest ^ after_word((word ^ crc) << unused));
}
