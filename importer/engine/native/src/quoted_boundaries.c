/*
 * Finds the ends of records, for source/records/boundary/quoted_boundaries.py. A quote encloses a whole field, or is
 * data within a field that is not enclosed.
 */
#include "delimiter_marks.h"

/*
 * `count` ends were written. `whole`: all the data was read, and ends outside quotes. `regular`: no field that is not
 * enclosed contains a quote.
 */
struct boundaries {
    uint64_t count;
    uint32_t whole, regular;
};

/* How reading a stride ended: at its end, at a line end of another kind, at a quote that cannot be read safely. */
enum outcome { COMPLETE, FOREIGN, STRAY };

struct reading {
    const byte *data;
    size_t size;
    const struct marks *marks;
    struct before before;
    uint64_t carriage; /* whether the last byte is a CR that counts */
    uint64_t *ends;
    struct boundaries *result;
};

/* Whether lines end in CR LF and this CR is followed by LF, or by nothing. */
static inline int begins_line_end(const struct reading *reading, size_t at)
{
    return reading->marks->carriage && (at + 1 == reading->size || reading->data[at + 1] == '\n');
}

/*
 * Reads the stride at data[at], 64 bytes at once. Changes nothing and returns STRAY if a quote is not at a field's
 * border.
 */
static inline enum outcome read_at_once(struct reading *reading, size_t at)
{
    const struct marks *marks = reading->marks;
    const byte *stride = reading->data + at;
    byte last[STRIDE + LONGEST_DELIMITER] = {0};
    size_t left = reading->size - at;
    uint64_t beyond = left < STRIDE ? (uint64_t)1 << left : 0, escaped = 0;
    struct before before = reading->before;
    if (left < sizeof last)
        stride = memcpy(last, stride, left);
    uint64_t escapes = marks->escape ? bits_equal(stride, marks->escape) : 0;
    if (escapes | before.escape)
        escaped = after_escapes(escapes, &before);
    struct between between = delimiters_of(stride, marks, escaped, &before);
    uint64_t feeds = bits_equal(stride, '\n') & ~escaped, carriages = bits_equal(stride, '\r');
    between.begins |= feeds | beyond;
    between.ends |= feeds;
    if (marks->carriage) {
        int cut = !beyond && begins_line_end(reading, at + STRIDE - 1);
        carriages &= ~escaped & ((feeds | beyond) >> 1 | (uint64_t)cut << (STRIDE - 1));
        between.begins |= carriages;
        between.ends |= carriages;
    }
    uint64_t quotes = marks->quote ? bits_equal(stride, marks->quote) & ~escaped : 0;
    uint64_t outside = outside_quotes(between, quotes, &before);
    if (outside == NOT_PLAIN)
        return STRAY;
    feeds &= outside;
    uint64_t after_carriage = carriages << 1 | reading->carriage;
    uint64_t foreign = feeds & (marks->carriage ? ~after_carriage : after_carriage);
    if (foreign)
        feeds &= (foreign & -foreign) - 1;
    for (; feeds; feeds &= feeds - 1)
        reading->ends[reading->result->count++] = at + (size_t)__builtin_ctzll(feeds) + 1;
    reading->before = before;
    reading->carriage = carriages >> (STRIDE - 1);
    return foreign ? FOREIGN : COMPLETE;
}

enum state { FIELD_START, PLAIN_FIELD, IN_QUOTES, CLOSED };

/* Reads the stride at data[at] byte by byte: a quote within a field that is not enclosed is data. */
static enum outcome read_slowly(struct reading *reading, size_t at)
{
    const struct marks *marks = reading->marks;
    const struct before *before = &reading->before;
    size_t end = reading->size - at < STRIDE ? reading->size : at + STRIDE, size = marks->delimiter_size;
    enum state state = before->inside ? IN_QUOTES : before->mark ? FIELD_START : before->closing ? CLOSED : PLAIN_FIELD;
    uint64_t escaped = before->escape, carriage = reading->carriage;
    if (before->delimiter && !before->inside) {
        at += (size_t)__builtin_popcountll(before->delimiter);
        state = FIELD_START;
    }
    for (; at < end; at++) {
        byte here = reading->data[at];
        uint64_t after_carriage = carriage;
        carriage = here == '\r' && !marks->carriage;
        if (escaped || (marks->escape && here == marks->escape)) {
            if (state == CLOSED)
                return STRAY;
            state = state == IN_QUOTES ? IN_QUOTES : PLAIN_FIELD;
            escaped = !escaped;
        } else if (marks->quote && here == marks->quote && state != PLAIN_FIELD) {
            state = state == IN_QUOTES ? CLOSED : IN_QUOTES;
        } else if (state == IN_QUOTES) {
            continue;
        } else if (reading->size - at >= size && !memcmp(reading->data + at, marks->delimiter, size)) {
            at += size - 1;
            state = FIELD_START;
        } else if (here == '\n') {
            if (after_carriage != marks->carriage)
                return FOREIGN;
            reading->ends[reading->result->count++] = at + 1;
            state = FIELD_START;
        } else if (here == '\r' && begins_line_end(reading, at)) {
            carriage = 1;
            state = FIELD_START;
        } else if (state == CLOSED) {
            return STRAY;
        } else {
            state = PLAIN_FIELD;
        }
    }
    size_t left = at - end;
    reading->before = (struct before){
        .inside = state == IN_QUOTES ? ~(uint64_t)0 : 0,
        .mark = state == FIELD_START && !left,
        .closing = state == CLOSED,
        .escape = escaped,
        .delimiter = ((uint64_t)1 << left) - 1,
        .delimiter_end = left ? (uint64_t)1 << (left - 1) : 0,
    };
    reading->carriage = carriage;
    return COMPLETE;
}

/*
 * Writes the end of each record (the offset behind its LF), up to the first line end of another kind. Returns 0 if a
 * closing quote is not followed by the end of its field, else 1. `ends` must have room for as many as the data has LFs.
 */
int find_quoted_boundaries(
    const byte *data, size_t size, const struct marks *marks, uint64_t *ends, struct boundaries *result)
{
    struct reading reading = {.data = data, .size = size, .marks = marks, .ends = ends, .result = result};
    reading.before.mark = 1;
    *result = (struct boundaries){.regular = 1};
    for (size_t at = 0; at < size; at += STRIDE) {
        enum outcome outcome = read_at_once(&reading, at);
        if (outcome == STRAY) {
            result->regular = 0;
            outcome = read_slowly(&reading, at);
        }
        if (outcome != COMPLETE)
            return outcome == FOREIGN;
    }
    result->whole = !reading.before.inside;
    return 1;
}
