/*
 * Whether values are as they usually are, for exactness/usual.py: a look over every byte of a file. Nothing here decides
 * anything: what is not usual is left to Python.
 */
#include "values.h"

/* Without an escape, with a delimiter of one byte, and with quotes that tell nothing but where a field ends. */
static inline int is_simple(const struct marks *marks)
{
    return !marks->escape && !marks->told && marks->delimiter_size == 1;
}

/*
 * Where the first record begins that is not plain and usual throughout, or too near to the end. What stands between the
 * fields is found many bytes at a time, so that no field waits for the one before it.
 */
static inline __attribute__((always_inline)) const byte *after_plain_of(
    const byte *data, const byte *end, const struct marks *marks, const struct field *fields, size_t count, int simple)
{
    const byte delimiter = marks->delimiter[0], quote = marks->quote, escape = marks->escape;
    const byte line_end = marks->carriage ? '\r' : '\n', *record = data, *start = data;
    struct before before = {.mark = 1};
    size_t number = 0;
    for (const byte *base = data; end - base >= STRIDE + LONGEST_NUMBER; base += STRIDE) {
        uint64_t ends = 0, quotes = 0;
        sixteen odd = {0};
        for (unsigned part = 0; part < STRIDE; part += 16) {
            sixteen bytes = load(base + part);
            ends |= (uint64_t)bits((sixteen)((bytes == delimiter) | (bytes == '\n') | (bytes == '\r'))) << part;
            quotes |= (uint64_t)bits((sixteen)(bytes == quote)) << part;
            odd |= (sixteen)(bytes == escape);
        }
        if (simple && quote && bits(odd))
            return record;
        struct between between = {ends, ends};
        if (!simple) {
            if (quote && !escape && bits(odd))
                return record;
            uint64_t escaped = 0;
            if (escape && (bits(odd) || before.escape))
                escaped = after_escapes(places_of(base, escape), &before);
            uint64_t line_ends = (places_of(base, '\n') | places_of(base, '\r')) & ~escaped;
            between = delimiters_of(base, marks, escaped, &before);
            between.begins |= line_ends;
            between.ends |= line_ends;
            quotes &= ~escaped;
        }
        ends = quote ? outside_quotes(between, quotes, &before) : between.begins;
        if (quote && ends == NOT_PLAIN)
            return record;
        for (; ends; ends &= ends - 1) {
            const byte *stop = base + __builtin_ctzll(ends);
            if (number == count) { /* what is left of CR LF */
                if (stop != start || *stop != '\n')
                    return record;
            } else {
                if (*stop != (number + 1 < count ? delimiter : line_end))
                    return record;
                size_t enclosed = quote && stop != start && *start == quote;
                size_t length = (size_t)(stop - start) - 2 * enclosed;
                if (!is_usual(&fields[number], start + enclosed, length, (int)enclosed, marks, simple))
                    return record;
                number++;
            }
            start = stop + (!simple && *stop == delimiter ? marks->delimiter_size : 1);
            if (number == count && *stop == '\n') {
                record = start;
                number = 0;
            }
        }
    }
    return record;
}

static const byte *after_plain(
    const byte *data, const byte *end, const struct marks *marks, const struct field *fields, size_t count)
{
    return is_simple(marks) ? after_plain_of(data, end, marks, fields, count, 1)
                            : after_plain_of(data, end, marks, fields, count, 0);
}

/*
 * The first byte of a mark between fields, or an escape, from `at` on, or the end. Without an escape, a zero byte passes
 * for one.
 */
static inline const byte *next_of_all(const byte *at, const byte *end, const struct marks *marks)
{
    const byte delimiter = marks->delimiter[0], escape = marks->escape;
    for (; end - at >= 16; at += 16) {
        sixteen bytes = load(at);
        uint32_t found = bits((sixteen)((bytes == delimiter) | (bytes == '\n') | (bytes == '\r') | (bytes == escape)));
        if (found)
            return at + __builtin_ctz(found);
    }
    while (at < end && *at != delimiter && *at != '\n' && *at != '\r' && *at != escape)
        at++;
    return at;
}

static inline int is_delimiter(const byte *at, const byte *end, const struct marks *marks)
{
    return end - at >= marks->delimiter_size && !memcmp(at, marks->delimiter, marks->delimiter_size);
}

static inline int is_escape(const byte *at, const byte *end, const struct marks *marks)
{
    return at < end && marks->escape && *at == marks->escape;
}

/* The first mark between fields that no escape stands before; a quote is none, in a field without quotes. */
static inline const byte *next_mark(const byte *at, const byte *end, const struct marks *marks)
{
    for (;;) {
        at = next_of_all(at, end, marks);
        if (is_escape(at, end, marks))
            at += 2;
        else if (at < end && *at == marks->delimiter[0] && !is_delimiter(at, end, marks))
            at++;
        else
            return at;
    }
}

/* The quote that closes what stands in quotes from `at` on, or the end; where a zero byte is if that comes first. */
static inline const byte *closing_quote(const byte *at, const byte *end, const struct marks *marks)
{
    const byte quote = marks->quote, escape = marks->escape;
    for (;; at += 2) {
        while (at < end && *at != quote && *at != escape)
            at++;
        /* Two stand for one. */
        if (!is_escape(at, end, marks) && (end - at < 2 || *at != quote || at[1] != quote))
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
    return is_usual(field, at, length, enclosed, marks, is_simple(marks)) ? stop : 0;
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
        if (number + 1 < count) {
            if (!is_delimiter(at, end, marks))
                return 0;
            at += marks->delimiter_size;
        }
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
    /* An escape has a byte after it. */
    if (size && marks->escape && data[size - 1] == marks->escape)
        return 0;
    const byte *end = data + size, *at = data;
    while (at < end) {
        at = after_plain(at, end, marks, fields, count);
        const byte *next = at < end ? after_record(at, end, marks, fields, count) : 0;
        if (!next)
            break;
        at = next;
    }
    return (size_t)(at - data);
}
