/*
 * Finds records whose values are all usual, for validation/fast_path.py, in one pass over every byte of a file. A
 * record that is not usual is not wrong: Python checks it. Records are checked column by column, so that the kind of a
 * value is known before it is read.
 */
#include "usual_values.h"

/* The fields of one column in consecutive records; see usual_values(). */
struct column {
    const byte *data;
    const uint32_t *ends;  /* where they end; the position of the mark before each is the number before */
    size_t records, marks; /* marks in each record */
    size_t delimiter_size; /* bytes of the mark before each field */
    byte mark;             /* first byte of the mark after each field */
};

/*
 * BARE: no field is enclosed, no escape, a delimiter of one byte. QUOTED: as BARE, but fields may be enclosed. FULL:
 * all that `struct marks` can say.
 */
enum style { BARE_FIELDS, QUOTED_FIELDS, FULL_FIELDS, STYLES };

/* The number of usual values at the begin of the column. */
static inline __attribute__((always_inline)) size_t usual_values(
    const struct column *given, const struct field *field, const struct marks *marks, uint32_t kind, enum style style)
{
    const struct column column = *given;
    const uint32_t *end = column.ends;
    for (size_t record = 0; record < column.records; record++, end += column.marks) {
        const byte *at = column.data + (uint32_t)(end[-1] + column.delimiter_size), *stop = column.data + end[0];
        if (*stop != column.mark)
            return record;
        int enclosed = style != BARE_FIELDS && marks->quote && *at == marks->quote;
        size_t length = (size_t)(stop - at) - 2 * (size_t)enclosed;
        if (!is_usual(field, kind, at + enclosed, length, enclosed, marks, style != FULL_FIELDS))
            return record;
    }
    return column.records;
}

typedef size_t usual_column(const struct column *, const struct field *, const struct marks *);

#define LOOK(NAME, KIND, STYLE) \
    static size_t NAME(const struct column *column, const struct field *field, const struct marks *marks) \
    { \
        return usual_values(column, field, marks, KIND, STYLE); \
    }
#define LOOKS(NAME, KIND) \
    LOOK(NAME##_bare, KIND, BARE_FIELDS) LOOK(NAME##_quoted, KIND, QUOTED_FIELDS) LOOK(NAME##_full, KIND, FULL_FIELDS)

LOOKS(text, TEXT)
LOOKS(whole, WHOLE)
LOOKS(fixed, FIXED)
LOOKS(floating, FLOATING)
LOOKS(moment, MOMENT)
LOOKS(stamp, STAMP)
LOOKS(other, field->kind)

/* The frequent kinds have loops of their own. */
static inline usual_column *usual_of(uint32_t kind, enum style style)
{
#define ALL(NAME) {NAME##_bare, NAME##_quoted, NAME##_full}
    static usual_column *const looks[][STYLES] = {
        [TEXT] = ALL(text), [WHOLE] = ALL(whole), [FIXED] = ALL(fixed), [FLOATING] = ALL(floating),
        [MOMENT] = ALL(moment), [STAMP] = ALL(stamp),
    };
    static usual_column *const others[STYLES] = ALL(other);
    return kind <= STAMP && looks[kind][style] ? looks[kind][style] : others[style];
}

/* No escape, a delimiter of one byte, and no rule by which quotes change a value. */
static inline int is_simple(const struct marks *marks)
{
    return !marks->escape && !marks->null_rules && marks->delimiter_size == 1;
}

/* The number of records at the begin that have an LF right behind the CR that ends them; each has `marks` marks. */
static size_t ended_twice(const struct mark_positions *positions, size_t records, size_t marks)
{
    const uint32_t *end = positions->at + marks;
    for (size_t record = 0; record < records; record++, end += marks)
        if (end[0] != end[-1] + 1 || positions->data[end[0]] != '\n')
            return record;
    return records;
}

/* The number of records at the begin whose marks are all known and whose values are all usual. */
static size_t usual_records(
    const struct mark_positions *positions, const struct marks *marks, const struct field *fields, size_t count)
{
    struct column column = {.data = positions->data, .ends = positions->at + 1, .marks = count + marks->carriage};
    column.records = positions->count / column.marks;
    enum style style = !is_simple(marks) ? FULL_FIELDS : positions->quoted ? QUOTED_FIELDS : BARE_FIELDS;
    /* The mark before a field was checked in the column before it; a record may begin behind anything. */
    column.delimiter_size = 1;
    for (size_t number = 0; number < count && column.records; number++, column.ends++) {
        column.mark = number + 1 < count ? marks->delimiter[0] : marks->carriage ? '\r' : '\n';
        column.records = usual_of(fields[number].kind, style)(&column, &fields[number], marks);
        column.delimiter_size = marks->delimiter_size;
    }
    return marks->carriage ? ended_twice(positions, column.records, column.marks) : column.records;
}

/* The begin of the first record that is not plain and usual throughout, or too near to the end. */
static inline __attribute__((always_inline)) const byte *after_plain_of(
    const byte *data, const byte *end, const struct marks *marks, const struct field *fields, size_t count, int simple)
{
    struct mark_positions positions;
    start_positions(&positions, data, end);
    size_t each = count + marks->carriage;
    /* Unusual records often stand together: marks found behind one would be of no use. */
    for (size_t wanted = FEW_MARKS; each <= MOST_MARKS; wanted = wanted < MANY_MARKS ? 2 * wanted : wanted) {
        find_marks(&positions, marks, wanted < each ? each : wanted, simple);
        size_t records = usual_records(&positions, marks, fields, count), complete = positions.count / each;
        drop_positions(&positions, records * each);
        if (records < complete || positions.ended)
            break;
    }
    return data + (uint32_t)(positions.at[0] + 1);
}

static const byte *after_plain(
    const byte *data, const byte *end, const struct marks *marks, const struct field *fields, size_t count)
{
    return is_simple(marks) ? after_plain_of(data, end, marks, fields, count, 1)
                            : after_plain_of(data, end, marks, fields, count, 0);
}

/*
 * The first byte of a mark between fields, or an escape, or the end. In a dialect without an escape, a zero byte counts
 * as one.
 */
static inline const byte *next_of_all(const byte *at, const byte *end, const struct marks *marks)
{
    const byte delimiter = marks->delimiter[0], escape = marks->escape;
    for (; end - at >= 16; at += 16) {
        sixteen bytes = load(at);
        sixteen is_mark = (sixteen)((bytes == delimiter) | (bytes == '\n') | (bytes == '\r') | (bytes == escape));
        uint32_t matches = bits(is_mark);
        if (matches)
            return at + __builtin_ctz(matches);
    }
    while (at < end && *at != delimiter && *at != '\n' && *at != '\r' && *at != escape)
        at++;
    return at;
}

static inline int is_escape(const byte *at, const byte *end, const struct marks *marks)
{
    return at < end && marks->escape && *at == marks->escape;
}

/*
 * The first mark between fields that is not escaped, for a field that is not enclosed. As in find_marks(), a zero byte
 * counts as a mark if the dialect has no escape but a quote.
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

/* The closing quote of the enclosed field at `at`, a zero byte if one comes first, or the end. */
static inline const byte *closing_quote(const byte *at, const byte *end, const struct marks *marks)
{
    const byte quote = marks->quote, escape = marks->escape;
    for (;; at += 2) {
        while (at < end && *at != quote && *at != escape)
            at++;
        /* A doubled quote stands for one. */
        if (!is_escape(at, end, marks) && (end - at < 2 || *at != quote || at[1] != quote))
            return at;
    }
}

/* The end of the usual value that begins at `at`; 0 if it is not usual. */
static const byte *after_value(
    const struct field *field, const byte *at, const byte *end, int enclosed, const struct marks *marks)
{
    const byte *stop = enclosed ? closing_quote(at, end, marks) : next_mark(at, end, marks);
    size_t length = (size_t)(stop - at);
    /* One byte more than LONGEST_NUMBER: a minus moves the digits by one. */
    byte apart[LONGEST_NUMBER + 1] = {0};
    if (end - at <= LONGEST_NUMBER) {
        memcpy(apart, at, length);
        at = apart;
    }
    return is_usual(field, field->kind, at, length, enclosed, marks, is_simple(marks)) ? stop : 0;
}

/* The end of the record at `at` if it has `count` fields, all with usual values, else 0. */
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
    return after_line_end(at, end, marks);
}

/* The size in bytes of the records at the begin of the data whose values are all usual. */
size_t count_fast_path_bytes(
    const byte *data, size_t size, const struct marks *marks, const struct field *fields, size_t count)
{
    /* An escape needs a byte after it. */
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
