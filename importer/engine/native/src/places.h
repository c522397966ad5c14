/*
 * Where the marks between fields are in a stretch of a file, as numbers, so that its values can be looked at column by
 * column.
 */
#pragma once
#include "strides.h"

/*
 * Marks that are looked for at once, at least as many as a record has; the most columns that a table may have are 4,096.
 * Numbers are read so many bytes at a time.
 */
enum { FEW_MARKS = 32, MANY_MARKS = 512, MOST_MARKS = 8192, LONGEST_NUMBER = 32 };
/* Bytes; a place has 32 bits. */
#define MOST_LOOKED_THROUGH ((ptrdiff_t)1 << 30)

/*
 * Behind at[0], which is the place of the last mark before, the places of `count` marks, counted from `data`. They were
 * looked for up to `next`, and cannot be further where `ended`. `quoted`: some of the fields that they end may stand in
 * quotes.
 */
struct places {
    const byte *data, *next, *end;
    struct before left;
    size_t count;
    int ended, quoted;
    uint32_t at[1 + MOST_MARKS + STRIDE];
};

static inline void start_places(struct places *places, const byte *data, const byte *end)
{
    places->data = places->next = data;
    places->end = end - data > MOST_LOOKED_THROUGH ? data + MOST_LOOKED_THROUGH : end;
    places->left = (struct before){.mark = 1};
    places->count = 0;
    places->ended = places->quoted = 0;
    places->at[0] = UINT32_MAX; /* one before the first byte */
}

/* Ones in a word, for processors of any age. */
static inline unsigned ones_in(uint64_t word)
{
    word -= word >> 1 & EACH(0x55);
    word = (word & EACH(0x33)) + (word >> 2 & EACH(0x33));
    return (unsigned)(((word + (word >> 4)) & EACH(0x0f)) * EACH(1) >> 56);
}

/* Write the places of the ones of a word, and up to three numbers more behind them. */
static inline void write_places(uint32_t *places, uint32_t base, uint64_t ones)
{
    /* Four at a time, whether there are as many: a processor cannot foretell how many there are. */
    while (ones)
        for (unsigned each = 0; each < 4; each++, ones &= ones - 1)
            *places++ = base + (uint32_t)__builtin_ctzll(ones | (uint64_t)1 << (STRIDE - 1));
}

/*
 * The marks of a stride, where the fields between them are plain: NOT_PLAIN otherwise. In a `simple` dialect there is no
 * escape, delimiters have one byte, and quotes tell nothing but where a field ends.
 */
static inline __attribute__((always_inline)) uint64_t marks_in(
    const byte *stride, const struct marks *marks, struct before *left, int *quoted, int simple)
{
    const byte delimiter = marks->delimiter[0], quote = marks->quote, escape = marks->escape;
    uint64_t ends = 0, quotes = 0;
    wide odd = {0};
    for (unsigned part = 0; part < STRIDE; part += WIDTH) {
        wide bytes = load_wide(stride + part);
        ends |= (uint64_t)bits_of_wide((wide)((bytes == delimiter) | (bytes == '\n') | (bytes == '\r'))) << part;
        quotes |= (uint64_t)bits_of_wide((wide)(bytes == quote)) << part;
        odd |= (wide)(bytes == escape);
    }
    /* Without an escape, a zero byte; without quotes, one is no different from others. */
    if (quote && !escape && bits_of_wide(odd))
        return NOT_PLAIN;
    struct between between = {ends, ends};
    if (!simple) {
        uint64_t escaped = 0;
        if (escape && (bits_of_wide(odd) || left->escape))
            escaped = after_escapes(places_of(stride, escape), left);
        uint64_t line_ends = (places_of(stride, '\n') | places_of(stride, '\r')) & ~escaped;
        between = delimiters_of(stride, marks, escaped, left);
        between.begins |= line_ends;
        between.ends |= line_ends;
        quotes &= ~escaped;
    }
    if (!quote)
        return between.begins;
    *quoted |= quotes != 0;
    return outside_quotes(between, quotes, left);
}

/* Look on until there are `wanted` marks at least, or as many as there can be. */
static inline __attribute__((always_inline)) void find_marks(
    struct places *places, const struct marks *marks, size_t wanted, int simple)
{
    struct before left = places->left;
    const byte *next = places->next;
    size_t count = places->count;
    int quoted = left.closing || (count && places->quoted);
    for (; count < wanted; next += STRIDE) {
        uint64_t found = NOT_PLAIN;
        if (places->end - next >= STRIDE + LONGEST_NUMBER)
            found = marks_in(next, marks, &left, &quoted, simple);
        if (found == NOT_PLAIN) {
            places->ended = 1;
            break;
        }
        write_places(places->at + 1 + count, (uint32_t)(next - places->data), found);
        count += ones_in(found);
    }
    places->left = left;
    places->next = next;
    places->count = count;
    places->quoted = quoted;
}

/* Take away the first `count` places. */
static inline void drop_places(struct places *places, size_t count)
{
    places->count -= count;
    memmove(places->at, places->at + count, (1 + places->count) * sizeof *places->at);
}
