/*
 * The positions of the marks between fields in a part of a file, so that its values can be checked column by column.
 */
#pragma once
#include "delimiter_marks.h"

/*
 * Marks to find in one go: FEW at first, at most MANY, but never fewer than a record has. MOST_MARKS is above the limit
 * of 4,096 columns in a table. LONGEST_NUMBER: bytes that are read at once for a number.
 */
enum { FEW_MARKS = 32, MANY_MARKS = 512, MOST_MARKS = 8192, LONGEST_NUMBER = 32 };
/* Bytes; a position has 32 bits. */
#define MOST_LOOKED_THROUGH ((ptrdiff_t)1 << 30)

/*
 * at[0] is the position of the last mark already used; the positions of `count` more follow, in bytes from `data`. The
 * search has come to `next`; `ended`: it cannot go further. `quoted`: some fields before these marks may be enclosed.
 */
struct mark_positions {
    const byte *data, *next, *end;
    struct before left;
    size_t count;
    int ended, quoted;
    uint32_t at[1 + MOST_MARKS + STRIDE];
};

static inline void start_positions(struct mark_positions *positions, const byte *data, const byte *end)
{
    positions->data = positions->next = data;
    positions->end = end - data > MOST_LOOKED_THROUGH ? data + MOST_LOOKED_THROUGH : end;
    positions->left = (struct before){.mark = 1};
    positions->count = 0;
    positions->ended = positions->quoted = 0;
    positions->at[0] = UINT32_MAX; /* one before the first byte */
}

/* The number of ones in a word, without the instruction that older processors lack. */
static inline unsigned ones_in(uint64_t word)
{
    word -= word >> 1 & EACH(0x55);
    word = (word & EACH(0x33)) + (word >> 2 & EACH(0x33));
    return (unsigned)(((word + (word >> 4)) & EACH(0x0f)) * EACH(1) >> 56);
}

/* Writes the positions of the ones in a word, and up to three more numbers behind them. */
static inline void write_positions(uint32_t *positions, uint32_t base, uint64_t ones)
{
    /* Four at a time, even if there are fewer: the number of ones cannot be predicted by the processor. */
    while (ones)
        for (unsigned each = 0; each < 4; each++, ones &= ones - 1)
            *positions++ = base + (uint32_t)__builtin_ctzll(ones | (uint64_t)1 << (STRIDE - 1));
}

/*
 * The marks of a stride; NOT_PLAIN if a field in it is not plain. A `simple` dialect has no escape, a delimiter of one
 * byte, and no rule by which quotes change a value.
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
    /*
     * With no escape character, `escape` is 0 and zero bytes end up here; with no quote character they do not matter.
     */
    if (quote && !escape && bits_of_wide(odd))
        return NOT_PLAIN;
    struct between between = {ends, ends};
    if (!simple) {
        uint64_t escaped = 0;
        if (escape && (bits_of_wide(odd) || left->escape))
            escaped = after_escapes(bits_equal(stride, escape), left);
        uint64_t line_ends = (bits_equal(stride, '\n') | bits_equal(stride, '\r')) & ~escaped;
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

/* Continues the search until there are at least `wanted` marks, or no more can be found. */
static inline __attribute__((always_inline)) void find_marks(
    struct mark_positions *positions, const struct marks *marks, size_t wanted, int simple)
{
    struct before left = positions->left;
    const byte *next = positions->next;
    size_t count = positions->count;
    int quoted = left.closing || (count && positions->quoted);
    for (; count < wanted; next += STRIDE) {
        uint64_t stride_marks = NOT_PLAIN;
        if (positions->end - next >= STRIDE + LONGEST_NUMBER)
            stride_marks = marks_in(next, marks, &left, &quoted, simple);
        if (stride_marks == NOT_PLAIN) {
            positions->ended = 1;
            break;
        }
        write_positions(positions->at + 1 + count, (uint32_t)(next - positions->data), stride_marks);
        count += ones_in(stride_marks);
    }
    positions->left = left;
    positions->next = next;
    positions->count = count;
    positions->quoted = quoted;
}

/* Removes the first `count` positions. */
static inline void drop_positions(struct mark_positions *positions, size_t count)
{
    positions->count -= count;
    memmove(positions->at, positions->at + count, (1 + positions->count) * sizeof *positions->at);
}
