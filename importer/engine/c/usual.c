/*
 * Whether values are as they usually are, for exactness/usual.py: a look over every byte of a file. Nothing here decides
 * anything: what is not usual is left to Python.
 */
#include "digits.h"
#include "json.h"
#include "times.h"

/* As in usual.py. */
enum kind { ANYTHING, TEXT, WHOLE, FIXED, FLOATING, DAY, MOMENT, STAMP, CLOCK, YEAR, WORDS, JSON };
enum flags {
    SIGN = 1, EMPTY = 2, NO_EMPTY = 4, NO_SPACE_AT_END = 8, PLAIN = 16, DOUBLED = 32, ASCII = 64, SLASHES = 128,
};

/*
 * How the usual values of a field look. TEXT: at most `most` bytes. WHOLE: digits that make no more than `text`, which
 * has `most` digits. FIXED: at most `most` digits before the point and `scale` after it. FLOATING: at most `most` digits,
 * or as many as a number with `scale` bits of mantissa gives back. PLAIN numbers have no zeros before them, no plus, no
 * point without need. Times: at most `most` digits after the point, of which `scale` may be others than 0; maybe with
 * SLASHES in the date. WORDS: one of `count` words in `text`, each after a byte with its length. JSON: with quotes DOUBLED,
 * all of it ASCII. `nulls` are `null_count` such words that may stand for a missing value.
 */
struct field {
    uint32_t kind, flags;
    uint64_t most;
    uint32_t scale, count, null_count;
    const byte *text, *nulls;
};

struct marks {
    byte delimiter, quote, escape; /* 0: none */
    byte carriage;                 /* whether lines end in CR LF instead of LF */
};

/* Numbers are looked at this many bytes at a time; a longer one is not usual. */
enum { LONGEST_NUMBER = 32, STRIDE = 64, MOST_EXPONENT_DIGITS = 3 };

/* Of the `length` bytes from `at` on, 32 at most, a bit for each that is no digit. 32 bytes can be read there. */
static inline uint32_t no_digits(const byte *at, size_t length)
{
    uint32_t found = bits((sixteen)(load(at) - '0' > 9));
    if (length > 16)
        found |= bits((sixteen)(load(at + 16) - '0' > 9)) << 16;
    return length < 32 ? found & ((1u << length) - 1) : found;
}

/* 19yy or 20yy. */
static inline int is_year(const byte *at)
{
    int known = (at[0] == '1' && at[1] == '9') || (at[0] == '2' && at[1] == '0');
    return known && (byte)(at[2] - '0') <= 9 && (byte)(at[3] - '0') <= 9;
}

/* As nearly all files write it: what is quickest to tell. is_any_moment() knows more. */
static inline int is_moment(const byte *at, size_t length, int stamp)
{
    if (length == 10)
        return !stamp && is_day(at);
    if (length != 19 || !is_day(at) || !is_clock(at + 11, 23))
        return 0;
    return stamp ? at[0] == '2' && at[10] == ' ' : at[10] == ' ' || at[10] == 'T';
}

static __attribute__((noinline)) int is_word(const byte *word, uint32_t count, const byte *at, size_t length)
{
    for (uint32_t number = 0; number < count; number++, word += 1 + word[0])
        if (word[0] == length && !memcmp(word + 1, at, length))
            return 1;
    return 0;
}

/* A quote in it is one of two: those are looked at before. */
static __attribute__((noinline)) int is_json(const struct field *field, const byte *at, size_t length)
{
    struct json json;
    size_t taken;
    json_start(&json, field->flags & DOUBLED ? 2 : 1, (field->flags & ASCII) != 0);
    int usual = !json_take(&json, at, length, &taken) && !json_end(&json);
    json_free(&json);
    return usual;
}

/* 33 bytes can be read at `at`. */
static inline int is_number(const struct field *field, const byte *at, size_t length)
{
    size_t minus = (field->flags & SIGN) && *at == '-';
    at += minus;
    length -= minus;
    if (!length || length > LONGEST_NUMBER - 1)
        return 0;
    uint32_t others = no_digits(at, length);
    if ((field->flags & PLAIN) && length > 1 && *at == '0' && !(others & 2))
        return 0;
    if (field->kind == WHOLE)
        return !others && (length < field->most || (length == field->most && memcmp(at, field->text, length) <= 0));
    size_t whole = length, part = 0;
    if (others) {
        whole = (size_t)__builtin_ctz(others);
        part = length - whole - 1;
        if ((others & (others - 1)) || at[whole] != '.' || !whole || !part)
            return 0;
    }
    if (field->kind == FIXED)
        return whole <= field->most && part <= field->scale;
    /* A zero before the point is no significant digit. */
    return whole + part - (part && *at == '0') <= field->most;
}

/* Whether a value that is there is as the field's usually are. */
static inline __attribute__((always_inline)) int is_usual_value(const struct field *field, const byte *at, size_t length)
{
    uint32_t kind = field->kind;
    if (!length)
        return kind == ANYTHING || kind == TEXT ? !(field->flags & NO_EMPTY) : (field->flags & EMPTY) != 0;
    switch (kind) {
    case TEXT:
        return length <= field->most && !((field->flags & NO_SPACE_AT_END) && at[length - 1] == ' ');
    case WHOLE:
    case FIXED:
    case FLOATING:
        return is_number(field, at, length);
    case DAY:
        return length == 10 && is_day(at);
    case MOMENT:
    case STAMP:
        return is_moment(at, length, kind == STAMP);
    case CLOCK:
        return length == 8 && is_clock(at, 99);
    case YEAR:
        return length == 4 && is_year(at);
    case WORDS:
        return is_word(field->text, field->count, at, length);
    case JSON:
        return is_json(field, at, length);
    default:
        return 1;
    }
}

/* hh:mm, hh:mm:ss, or that with a fraction of which all is kept. */
static int is_time(const struct field *field, const byte *at, size_t length, unsigned most_hours)
{
    if (length == 5) {
        byte whole[8] = "hh:mm:00";
        memcpy(whole, at, 5);
        return is_clock(whole, most_hours);
    }
    if (length < 8 || !is_clock(at, most_hours))
        return 0;
    if (length == 8)
        return 1;
    if (at[8] != '.' || length == 9 || length - 9 > field->most)
        return 0;
    for (size_t digit = 0; digit < length - 9; digit++)
        if ((byte)(at[9 + digit] - '0') > (digit < field->scale ? 9 : 0))
            return 0;
    return 1;
}

/* A day, with slashes where the field takes them, that a time may follow. */
static int is_any_moment(const struct field *field, const byte *at, size_t length)
{
    byte day[10];
    if (length < 10 || (field->kind == STAMP && *at != '2'))
        return 0;
    memcpy(day, at, sizeof day);
    if ((field->flags & SLASHES) && day[4] == '/' && day[7] == '/')
        day[4] = day[7] = '-';
    if (!is_day(day))
        return 0;
    if (length == 10)
        return 1;
    return field->kind != DAY && (at[10] == ' ' || at[10] == 'T') && is_time(field, at + 11, length - 11, 23);
}

/* Whether a float or a double gives the number back as it is written, up to a zero byte. */
static int is_given_back(const char *number, int bits)
{
    struct decimal decimal = decimal_of(number);
    return decimal.whole && decimal.exponent <= MOST_EXPONENT_DIGITS && is_written_so(&decimal, bits);
}

/* A number with spaces or a sign before it, a whole one with zeros after a point, or with every digit of a double. */
static int is_any_number(const struct field *field, const byte *at, size_t length)
{
    byte number[2 * LONGEST_NUMBER] = {0};
    int plain = field->flags & PLAIN;
    if (length >= LONGEST_NUMBER)
        return 0;
    memcpy(number, at, length);
    at = number;
    for (; length && *at == ' ' && !plain; length--)
        at++;
    int minus = *at == '-', sign = (minus && (field->flags & SIGN)) || (*at == '+' && !plain);
    at += sign;
    length -= (size_t)sign;
    if (field->kind == WHOLE && !plain && memchr(at, '.', length)) {
        while (at[length - 1] == '0') /* the point ends that */
            length--;
        length -= at[length - 1] == '.';
    }
    int is_name = plain && *at == '0' && (byte)(at[1] - '0') <= 9;
    if (field->kind == FLOATING && !is_name && is_given_back((const char *)at, (int)field->scale))
        return 1;
    return is_number(field, at, length) && *at != '-';
}

/* The same of a word for a missing value, and of other ways of writing that mean what they say. */
static __attribute__((noinline)) int is_written_otherwise(const struct field *field, const byte *at, size_t length)
{
    if (is_word(field->nulls, field->null_count, at, length))
        return 1;
    switch (field->kind) {
    case WHOLE:
    case FIXED:
    case FLOATING:
        return is_any_number(field, at, length);
    case DAY:
    case MOMENT:
    case STAMP:
        return is_any_moment(field, at, length);
    case CLOCK:
        return is_time(field, at, length, 99);
    default:
        return 0;
    }
}

/* Whether the value is as the field's usually are; 33 bytes can be read at `at`, if the field is one of numbers. */
static inline __attribute__((always_inline)) int is_usual(const struct field *field, const byte *at, size_t length)
{
    return is_usual_value(field, at, length) || is_written_otherwise(field, at, length);
}

/* What the bytes before some stride leave to it: all ones if it begins within quotes; one after a mark, a closing quote. */
struct before {
    uint64_t inside, mark, closing;
};

/*
 * Of the marks between fields in a stride, those that are not within quotes; NOT_PLAIN if a quote does not stand at the
 * begin or at the end of its field, nor is one of two that stand for one.
 */
#define NOT_PLAIN UINT64_MAX
static inline uint64_t outside_quotes(uint64_t marks, uint64_t quotes, struct before *before)
{
    if (!(quotes | before->inside | before->closing)) {
        before->mark = marks >> (STRIDE - 1);
        return marks;
    }
    /* Ones from each opening quote up to the one that closes it, which is left out. */
    uint64_t inside = quotes;
    for (unsigned step = 1; step < STRIDE; step *= 2)
        inside ^= inside << step;
    inside ^= before->inside;
    marks &= ~inside;
    uint64_t opening = quotes & inside, closing = quotes & ~inside;
    uint64_t after_closing = closing << 1 | before->closing, second = opening & after_closing;
    if ((opening & ~second & ~(marks << 1 | before->mark)) || (after_closing & ~second & ~marks))
        return NOT_PLAIN;
    before->inside = inside >> (STRIDE - 1) ? ~(uint64_t)0 : 0;
    before->mark = marks >> (STRIDE - 1);
    before->closing = closing >> (STRIDE - 1);
    return marks;
}

/*
 * Where the first record begins that is not plain and usual throughout, or too near to the end. What stands between the
 * fields is found many bytes at a time, so that no field waits for the one before it.
 */
static const byte *after_plain(
    const byte *data, const byte *end, const struct marks *marks, const struct field *fields, size_t count)
{
    const byte line_end = marks->carriage ? '\r' : '\n', quote = marks->quote, escape = marks->escape;
    const byte *record = data, *start = data;
    struct before before = {.mark = 1};
    size_t number = 0;
    for (const byte *base = data; end - base >= STRIDE + LONGEST_NUMBER; base += STRIDE) {
        uint64_t ends = 0, quotes = 0;
        sixteen odd = {0};
        for (unsigned part = 0; part < STRIDE; part += 16) {
            sixteen bytes = load(base + part);
            ends |= (uint64_t)bits((sixteen)((bytes == marks->delimiter) | (bytes == '\n') | (bytes == '\r'))) << part;
            quotes |= (uint64_t)bits((sixteen)(bytes == quote)) << part;
            odd |= (sixteen)(bytes == escape);
        }
        if ((quote || escape) && bits(odd))
            return record;
        if (quote && (ends = outside_quotes(ends, quotes, &before)) == NOT_PLAIN)
            return record;
        for (; ends; ends &= ends - 1) {
            const byte *stop = base + __builtin_ctzll(ends);
            if (number == count) { /* what is left of CR LF */
                if (stop != start || *stop != '\n')
                    return record;
            } else {
                if (*stop != (number + 1 < count ? marks->delimiter : line_end))
                    return record;
                size_t enclosed = quote && stop != start && *start == quote;
                if (!is_usual(&fields[number], start + enclosed, (size_t)(stop - start) - 2 * enclosed))
                    return record;
                number++;
            }
            start = stop + 1;
            if (number == count && *stop == '\n') {
                record = start;
                number = 0;
            }
        }
    }
    return record;
}

/* The first mark from `at` on, or the end. Where there is no quote or escape, a zero byte passes for one. */
static inline const byte *next_mark(const byte *at, const byte *end, const struct marks *marks)
{
    const byte delimiter = marks->delimiter, quote = marks->quote, escape = marks->escape;
    for (; end - at >= 16; at += 16) {
        sixteen bytes = load(at);
        uint32_t found = bits((sixteen)((bytes == delimiter) | (bytes == '\n') | (bytes == '\r') | (bytes == quote) |
                                        (bytes == escape)));
        if (found)
            return at + __builtin_ctz(found);
    }
    while (at < end && *at != delimiter && *at != '\n' && *at != '\r' && *at != quote && *at != escape)
        at++;
    return at;
}

/* The quote that closes what stands in quotes from `at` on, or the end; where an escape is if that comes first. */
static inline const byte *closing_quote(const byte *at, const byte *end, const struct marks *marks)
{
    const byte quote = marks->quote, escape = marks->escape;
    for (;; at += 2) {
        while (at < end && *at != quote && *at != escape)
            at++;
        /* Two stand for one. */
        if (end - at < 2 || *at != quote || at[1] != quote)
            return at;
    }
}

/* The end of the usual value that begins at `at` and goes on to some mark; 0 if it is not usual. */
static const byte *after_value(
    const struct field *field, const byte *at, const byte *end, int enclosed, const struct marks *marks)
{
    const byte *stop = enclosed ? closing_quote(at, end, marks) : next_mark(at, end, marks);
    size_t length = (size_t)(stop - at);
    /* A minus moves what is read by one. */
    byte apart[LONGEST_NUMBER + 1] = {0};
    if (end - at <= LONGEST_NUMBER) {
        memcpy(apart, at, length);
        at = apart;
    }
    return is_usual(field, at, length) ? stop : 0;
}

/*
 * The end of the record at `at` if it has `count` fields, all with usual values, else 0. A field may stand in quotes.
 */
static const byte *after_record(
    const byte *at, const byte *end, const struct marks *marks, const struct field *fields, size_t count)
{
    for (size_t number = 0; number < count; number++) {
        int enclosed = marks->quote && at < end && *at == marks->quote;
        at = after_value(&fields[number], at + enclosed, end, enclosed, marks);
        if (!at || (enclosed && (at >= end || *at++ != marks->quote)))
            return 0;
        if (number + 1 < count && (at >= end || *at++ != marks->delimiter))
            return 0;
    }
    if (at == end)
        return at;
    if (marks->carriage && *at++ != '\r')
        return 0;
    return at < end && *at == '\n' ? at + 1 : 0;
}

/* How many of the bytes are records in which all is usual, from the first one on. */
size_t usual_bytes(
    const byte *data, size_t size, const struct marks *marks, const struct field *fields, size_t count)
{
    const byte *end = data + size, *at = after_plain(data, end, marks, fields, count);
    while (at < end) {
        const byte *next = after_record(at, end, marks, fields, count);
        if (!next)
            break;
        at = next;
    }
    return (size_t)(at - data);
}
