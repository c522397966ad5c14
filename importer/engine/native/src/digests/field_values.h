/*
 * Reads the values of a record one after another, as the server reads them: without quotes, doubled quotes and escapes.
 */
#pragma once
#include "../delimiter_marks.h"
#include "canonical.h"

/* A value of the file. `enclosed`: in quotes. `special`: with an escape or a doubled quote inside. */
struct value {
    struct text text;
    int enclosed, special;
};

static inline int is_mark(const byte *at, const byte *end, const struct marks *marks)
{
    return *at == '\n' || *at == '\r' || is_delimiter(at, end, marks);
}

/* The first byte at or after `at` that may be a mark or an escape, or the end. 16 bytes are readable behind the end. */
static inline const byte *next_candidate(const byte *at, const byte *end, const struct marks *marks)
{
    const byte delimiter = marks->delimiter[0], escape = marks->escape ? marks->escape : '\n';
    for (; at < end; at += 16) {
        sixteen bytes = load(at);
        uint32_t found = bits((sixteen)((bytes == delimiter) | (bytes == '\n') | (bytes == '\r') | (bytes == escape)));
        if (found) {
            at += __builtin_ctz(found);
            return at < end ? at : end;
        }
    }
    return end;
}

/* Reads a value that is not enclosed; returns where it ends. */
static inline const byte *bare_value(const byte *at, const byte *end, const struct marks *marks, struct value *value)
{
    const byte *begin = at;
    for (;;) {
        at = next_candidate(at, end, marks);
        if (at == end || is_mark(at, end, marks))
            break;
        if (marks->escape && *at == marks->escape) {
            value->special = 1;
            at++;
            if (at == end)
                break;
        }
        at++;
    }
    value->text = (struct text){begin, (size_t)(at - begin)};
    return at;
}

/* Reads the value whose opening quote is at `at`; returns where its closing quote ends, 0 if it has none. */
static inline const byte *quoted_value(const byte *at, const byte *end, const struct marks *marks, struct value *value)
{
    const byte *begin = ++at;
    for (; at < end; at++) {
        if (marks->escape && *at == marks->escape) {
            value->special = 1;
            at++;
        } else if (*at == marks->quote) {
            if (at + 1 == end || at[1] != marks->quote) {
                value->text = (struct text){begin, (size_t)(at - begin)};
                return at + 1;
            }
            value->special = 1;
            at++;
        }
    }
    return 0;
}

/* Reads the value at `at`; returns where the mark behind it begins, or 0 if there is none in the right place. */
static inline const byte *next_value(const byte *at, const byte *end, const struct marks *marks, struct value *value)
{
    value->enclosed = marks->quote && at < end && *at == marks->quote;
    value->special = 0;
    if (!value->enclosed)
        return bare_value(at, end, marks, value);
    at = quoted_value(at, end, marks, value);
    return at && (at == end || is_mark(at, end, marks)) ? at : 0;
}

/* The value without its escapes, and if it is enclosed without doubled quotes, written to `out`. */
static inline struct text decoded(const struct value *value, const struct marks *marks, byte *out)
{
    const byte *at = value->text.at, *end = at + value->text.length;
    byte *begin = out;
    while (at < end) {
        if (marks->escape && *at == marks->escape && at + 1 < end)
            *out++ = unescaped(*++at);
        else if (value->enclosed && *at == marks->quote && at + 1 < end && at[1] == marks->quote)
            *out++ = *++at;
        else
            *out++ = *at;
        at++;
    }
    return (struct text){begin, (size_t)(out - begin)};
}
