/*
 * Finds the marks between fields (delimiters and line ends) in strides of 64 bytes, as bit masks.
 */
#pragma once
#include "bytes.h"

enum { STRIDE = 64, LONGEST_DELIMITER = 16 };

/*
 * For fields that are not enclosed: empty means NULL; the word NULL means NULL; empty after the last delimiter is no
 * field.
 */
enum null_rules { EMPTY_IS_NULL = 1, WORD_IS_NULL = 2, NO_LAST_FIELD = 4 };

struct marks {
    byte delimiter[LONGEST_DELIMITER];
    byte delimiter_size;  /* in bytes */
    byte quote, escape;   /* 0: none */
    byte carriage;        /* whether lines end in CR LF instead of LF */
    byte null_rules;      /* what quotes say about NULL: `enum null_rules` */
};

/* Whether the delimiter is at `at`. */
static inline int is_delimiter(const byte *at, const byte *end, const struct marks *marks)
{
    return end - at >= marks->delimiter_size && !memcmp(at, marks->delimiter, marks->delimiter_size);
}

/* Where the record after the line end at `at` begins; the end after the last record, which may have none; else 0. */
static inline const byte *after_line_end(const byte *at, const byte *end, const struct marks *marks)
{
    if (at == end)
        return at;
    if (marks->carriage && *at++ != '\r')
        return 0;
    return at < end && *at == '\n' ? at + 1 : 0;
}

/* The byte that an escaped byte stands for (unescape() in the servers' sql_load.cc). */
static inline byte unescaped(byte escaped)
{
    switch (escaped) {
    case '0':
        return 0;
    case 'b':
        return '\b';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'Z':
        return 26;
    default:
        return escaped;
    }
}

/*
 * State carried over from the bytes before a stride. `inside`: all ones if it begins within quotes. `mark`, `closing`,
 * `escape`: 1 if the byte before it ends a mark, is a closing quote, is an escape. If the stride begins within a
 * delimiter, `delimiter` has ones for the rest of it, `delimiter_end` a one for its last byte.
 */
struct before {
    uint64_t inside, mark, closing, escape, delimiter, delimiter_end;
};

/* The marks of a stride: where each begins, and where it ends. */
struct between {
    uint64_t begins, ends;
};

/* A bit for each byte of the stride that equals `wanted`. */
static inline uint64_t bits_equal(const byte *stride, byte wanted)
{
    uint64_t equal = 0;
    for (unsigned part = 0; part < STRIDE; part += WIDTH)
        equal |= (uint64_t)bits_of_wide((wide)(load_wide(stride + part) == wanted)) << part;
    return equal;
}

/* Ones for the bytes after an escape: they are neither marks nor escapes. */
static inline uint64_t after_escapes(uint64_t escapes, struct before *before)
{
    uint64_t escaped = before->escape;
    before->escape = 0;
    for (escapes &= ~escaped; escapes;) {
        uint64_t escape = escapes & -escapes;
        escaped |= escape << 1;
        before->escape = escape >> (STRIDE - 1);
        escapes &= ~(escape | escape << 1);
    }
    return escaped;
}

/* The delimiters that begin in a stride. LONGEST_DELIMITER bytes behind it can be read. */
static inline struct between delimiters_of(
    const byte *stride, const struct marks *marks, uint64_t escaped, struct before *before)
{
    unsigned more = marks->delimiter_size - 1u;
    uint64_t begins = bits_equal(stride, marks->delimiter[0]) & ~escaped;
    if (!more)
        return (struct between){begins, begins};
    for (unsigned place = 1; begins && place <= more; place++)
        begins &= bits_equal(stride + place, marks->delimiter[place]);
    /* Of two that overlap, the first one counts. */
    begins &= ~before->delimiter;
    before->delimiter = 0;
    for (uint64_t left = begins; left; left &= left - 1) {
        unsigned at = (unsigned)__builtin_ctzll(left);
        uint64_t rest = ((uint64_t)1 << more) - 1;
        before->delimiter = at + more >= STRIDE ? rest >> (STRIDE - 1 - at) : 0;
        rest = at + 1 < STRIDE ? rest << (at + 1) : 0;
        begins &= ~rest;
        left &= ~rest;
    }
    uint64_t ends = begins << more | before->delimiter_end;
    before->delimiter_end = begins >> (STRIDE - more);
    return (struct between){begins, ends};
}

/*
 * The begins of the marks in a stride that are not within quotes; NOT_PLAIN if a quote is neither at the begin or end
 * of its field nor half of a doubled quote.
 */
#define NOT_PLAIN UINT64_MAX
static inline uint64_t outside_quotes(struct between marks, uint64_t quotes, struct before *before)
{
    if (!(quotes | before->inside | before->closing)) {
        before->mark = marks.ends >> (STRIDE - 1);
        return marks.begins;
    }
    /* Ones from each opening quote up to its closing quote, without the latter. */
    uint64_t inside = quotes;
    for (unsigned step = 1; step < STRIDE; step *= 2)
        inside ^= inside << step;
    inside ^= before->inside;
    marks.begins &= ~inside;
    uint64_t opening = quotes & inside, closing = quotes & ~inside;
    uint64_t after_closing = closing << 1 | before->closing, second = opening & after_closing;
    if ((opening & ~second & ~(marks.ends << 1 | before->mark)) || (after_closing & ~second & ~marks.begins))
        return NOT_PLAIN;
    before->inside = inside >> (STRIDE - 1) ? ~(uint64_t)0 : 0;
    before->mark = (marks.ends & ~inside) >> (STRIDE - 1);
    before->closing = closing >> (STRIDE - 1);
    return marks.begins;
}
