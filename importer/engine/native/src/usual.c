/*
 * Whether values are as they usually are, for validation/fast_path.py: a look over every byte of a file. Nothing here decides
 * anything: what is not usual is left to Python.
 */
#include "columns.h"

/* Without an escape, with a delimiter of one byte, and with quotes that tell nothing but where a field ends. */
static inline int is_simple(const struct marks *marks)
{
    return !marks->escape && !marks->told && marks->delimiter_size == 1;
}

/* How many records have an LF right behind the CR that ends them, from the first one on; each has so many marks. */
static size_t ended_twice(const struct places *places, size_t records, size_t marks)
{
    const uint32_t *end = places->at + marks;
    for (size_t record = 0; record < records; record++, end += marks)
        if (end[0] != end[-1] + 1 || places->data[end[0]] != '\n')
            return record;
    return records;
}

/* How many of the records of which all marks are found are usual throughout, from the first one on. */
static size_t usual_records(
    const struct places *places, const struct marks *marks, const struct field *fields, size_t count)
{
    struct column column = {.data = places->data, .ends = places->at + 1, .marks = count + marks->carriage};
    column.records = places->count / column.marks;
    enum style style = !is_simple(marks) ? FULL_FIELDS : places->quoted ? QUOTED_FIELDS : BARE_FIELDS;
    /* What the mark before a field is has been seen in the column before it; a record may begin behind anything. */
    column.delimiter_size = 1;
    for (size_t number = 0; number < count && column.records; number++, column.ends++) {
        column.mark = number + 1 < count ? marks->delimiter[0] : marks->carriage ? '\r' : '\n';
        column.records = usual_of(fields[number].kind, style)(&column, &fields[number], marks);
        column.delimiter_size = marks->delimiter_size;
    }
    return marks->carriage ? ended_twice(places, column.records, column.marks) : column.records;
}

/* Where the first record begins that is not plain and usual throughout, or too near to the end. */
static inline __attribute__((always_inline)) const byte *after_plain_of(
    const byte *data, const byte *end, const struct marks *marks, const struct field *fields, size_t count, int simple)
{
    struct places places;
    start_places(&places, data, end);
    size_t each = count + marks->carriage;
    /* Where one record was not usual, others may be near: what is found behind it is of no use. */
    for (size_t wanted = FEW_MARKS; each <= MOST_MARKS; wanted = wanted < MANY_MARKS ? 2 * wanted : wanted) {
        find_marks(&places, marks, wanted < each ? each : wanted, simple);
        size_t records = usual_records(&places, marks, fields, count), found = places.count / each;
        drop_places(&places, records * each);
        if (records < found || places.ended)
            break;
    }
    return data + (uint32_t)(places.at[0] + 1);
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

/*
 * The first mark between fields that no escape stands before; a quote is none, in a field without quotes. As find_marks()
 * has it, a zero byte is one for want of an escape, unless there are no quotes either.
 */
static inline const byte *next_mark(const byte *at, const byte *end, const struct marks *marks)
{
    for (;;) {
        at = next_of_all(at, end, marks);
        if (is_escape(at, end, marks))
            at += 2;
        else if (at < end && *at == marks->delimiter[0] && !is_delimiter(at, end, marks))
            at++;
        else if (at < end && !*at && !marks->quote)
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
    return is_usual(field, field->kind, at, length, enclosed, marks, is_simple(marks)) ? stop : 0;
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
