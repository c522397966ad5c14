/*
 * Writes a value as the servers write it when they turn the stored value into a text.
 *
 * `raw` is the value of the file. Each function returns 0 if it does not know what the server would write, for instance
 * because the column rounds the value; the caller then compares the stored value itself. A text that is no value of the
 * type may get any form: the server then stores another value.
 */
#pragma once
#include "../temporal.h"
#include <stdio.h>
#include <stdlib.h>

/* Bytes of a number or time, of which a longer one is not known here; of what is written; and of any printed double. */
enum { LONGEST_RAW = 100, LONGEST_WRITTEN = 2 * LONGEST_RAW + 16, LONGEST_PRINTED = 320 };

struct text {
    const byte *at;
    size_t length;
};

static inline int is_digit(byte character)
{
    return (byte)(character - '0') <= 9;
}

static inline size_t digits_at(const byte *at, const byte *end)
{
    size_t count = 0;
    while (at + count < end && is_digit(at[count]))
        count++;
    return count;
}

static inline byte *put(byte *out, const byte *from, size_t length)
{
    memcpy(out, from, length);
    return out + length;
}

/*
 * Of a DOUBLE, the servers write as few digits as give the same double (manual, Type Conversion in Expression
 * Evaluation), without an exponent if it is neither large nor small. SURE_DOUBLE_DIGITS always give different doubles;
 * MOST_DOUBLE_DIGITS are never exceeded.
 */
enum { SURE_DOUBLE_DIGITS = 15, MOST_DOUBLE_DIGITS = 17, MOST_WHOLE_DIGITS = 14, MOST_ZEROS_BEHIND_POINT = 3 };

/* A bit for each of the bytes from `at` on, at most 16, that is no digit. */
static inline uint32_t others_in(const byte *at, size_t length)
{
    return bits((sixteen)(load(at) - '0' > 9)) & (((uint32_t)1 << length) - 1);
}

/* Whether the number has the form that write_number() gives, as nearly all have. May be 0 for one that has it. */
static inline int is_written_number(struct text raw, size_t scale)
{
    if (!raw.length || raw.length > 16)
        return 0;
    uint32_t others = others_in(raw.at, raw.length);
    size_t minus = *raw.at == '-', whole = raw.length - minus;
    others &= ~(uint32_t)minus;
    if (scale) {
        if (whole < scale + 2 || raw.at[raw.length - scale - 1] != '.')
            return 0;
        others ^= (uint32_t)1 << (raw.length - scale - 1);
        whole -= scale + 1;
    }
    /* A zero has no sign; a number that begins with one may be a zero. */
    return !others && (raw.at[minus] != '0' || (whole == 1 && !minus)) && whole > 0;
}

/*
 * A number with `scale` digits after its point, and no point if that is 0: DECIMAL, and with 0 the integer types
 * (manual, DECIMAL Data Type Characteristics: no zeros before the first digit, no plus).
 */
static inline int write_number(struct text raw, size_t scale, byte *written, struct text *canonical)
{
    const byte *at = raw.at, *end = at + raw.length;
    int minus = at < end && *at == '-';
    if (is_written_number(raw, scale)) {
        *canonical = raw;
        return 1;
    }
    if (!raw.length || raw.length > LONGEST_RAW || scale > LONGEST_RAW / 2)
        return 0;
    if (minus || *at == '+')
        at++;
    size_t whole = digits_at(at, end);
    const byte *part = at + whole;
    size_t digits = 0;
    if (part < end && *part == '.')
        digits = digits_at(++part, end);
    if (!whole || part + digits != end)
        return 0;
    int zero = 1;
    for (size_t number = scale; number < digits; number++)
        if (part[number] != '0')
            return 0; /* rounded */
    for (; whole > 1 && *at == '0'; whole--)
        at++;
    byte *out = written + 1;
    out = put(out, at, whole);
    if (scale) {
        size_t kept = digits < scale ? digits : scale;
        *out++ = '.';
        out = put(out, part, kept);
        memset(out, '0', scale - kept);
        out += scale - kept;
    }
    for (byte *each = written + 1; each < out; each++)
        zero &= *each == '0' || *each == '.';
    /* No server keeps the sign of a zero. */
    *written = '-';
    canonical->at = written + !(minus && !zero);
    canonical->length = (size_t)(out - canonical->at);
    return 1;
}

/* Whether the number has as few digits as give the same double, and is the nearest number with that many. */
static inline int is_shortest(const char *number, int digits)
{
    char written[LONGEST_PRINTED];
    double value = strtod(number, 0);
    for (int fewer = SURE_DOUBLE_DIGITS; fewer < digits; fewer++) {
        snprintf(written, sizeof written, "%.*g", fewer, value);
        if (strtod(written, 0) == value)
            return 0;
    }
    snprintf(written, sizeof written, "%.*g", digits, value);
    return !strcmp(written, number);
}

/* A DOUBLE, of a number without an exponent: no zeros before the first digit, none at the end of a fraction. */
static inline int write_double(struct text raw, byte *written, struct text *canonical)
{
    const byte *at = raw.at, *end = at + raw.length;
    byte *out = written;
    if (!raw.length || raw.length > LONGEST_RAW)
        return 0;
    if (*at == '-')
        *out++ = '-';
    at += *at == '-' || *at == '+';
    size_t whole = digits_at(at, end), part = 0;
    const byte *fraction = at + whole;
    if (fraction < end && *fraction == '.')
        part = digits_at(++fraction, end);
    if (!whole || fraction + part != end)
        return 0;
    for (; whole > 1 && *at == '0'; whole--)
        at++;
    while (part && fraction[part - 1] == '0')
        part--;
    size_t zeros = 0;
    while (*at == '0' && zeros < part && fraction[zeros] == '0')
        zeros++;
    size_t digits = *at == '0' ? part - zeros : whole + part;
    if (whole > MOST_WHOLE_DIGITS || zeros > MOST_ZEROS_BEHIND_POINT || digits > MOST_DOUBLE_DIGITS)
        return 0;
    if (!digits && out != written)
        return 0; /* the sign of a zero */
    out = put(out, at, whole);
    if (part) {
        *out++ = '.';
        out = put(out, fraction, part);
    }
    *out = 0;
    *canonical = (struct text){written, (size_t)(out - written)};
    return digits <= SURE_DOUBLE_DIGITS || is_shortest((const char *)written, (int)digits);
}

/* One or two digits as two. Returns the end of those at `at`, 0 if there are none or more. */
static inline const byte *write_two(const byte *at, const byte *end, byte **out)
{
    size_t count = digits_at(at, end);
    if (!count || count > 2)
        return 0;
    *(*out)++ = count == 2 ? at[0] : '0';
    *(*out)++ = at[count - 1];
    return at + count;
}

/* yyyy-mm-dd from a year of four digits, a month and a day. Returns the end of the date at `at`, 0 if there is none. */
static inline const byte *write_date(const byte *at, const byte *end, byte **out)
{
    if (digits_at(at, end) != 4)
        return 0;
    *out = put(*out, at, 4);
    at += 4;
    for (int part = 0; part < 2; part++) {
        if (at >= end || *at != '-')
            return 0;
        *(*out)++ = '-';
        at = write_two(at + 1, end, out);
        if (!at)
            return 0;
    }
    return at;
}

/* `:mm:ss` and a fraction of `scale` digits, up to the end. Returns 0 if that is not all or would be rounded. */
static inline int write_rest_of_time(const byte *at, const byte *end, size_t scale, byte **out)
{
    for (int part = 0; part < 2; part++) {
        *(*out)++ = ':';
        if (part && at == end) {
            *(*out)++ = '0';
            *(*out)++ = '0';
        } else {
            if (at >= end || *at != ':')
                return 0;
            at = write_two(at + 1, end, out);
            if (!at)
                return 0;
        }
    }
    size_t digits = 0;
    if (at < end && *at == '.')
        digits = digits_at(++at, end);
    if (at + digits != end)
        return 0;
    for (size_t number = scale; number < digits; number++)
        if (at[number] != '0')
            return 0; /* cut or rounded */
    if (scale) {
        size_t kept = digits < scale ? digits : scale;
        *(*out)++ = '.';
        *out = put(*out, at, kept);
        memset(*out, '0', scale - kept);
        *out += scale - kept;
    }
    return 1;
}

/* Whether the time has the form that write_moment() gives with a scale of 0. 20 bytes must be readable. */
static inline int is_written_moment(struct text raw)
{
    return raw.length == 19 && raw.at[10] == ' ' && less_pattern(raw.at, "0000-00-") != NOT_ALIKE &&
        less_pattern(raw.at + 2, "00-00-00") != NOT_ALIKE && less_pattern(raw.at + 11, "00:00:00") != NOT_ALIKE;
}

/* yyyy-mm-dd; with `timed`, hh:mm:ss and a fraction of `scale` digits behind it. */
static inline int write_moment(struct text raw, int timed, size_t scale, byte *written, struct text *canonical)
{
    static const byte midnight[8] = "00:00:00";
    byte *out = written;
    const byte *end = raw.at + raw.length;
    if (timed && !scale && is_written_moment(raw)) {
        *canonical = raw;
        return 1;
    }
    if (raw.length > LONGEST_RAW || scale > LONGEST_RAW / 2)
        return 0;
    const byte *at = write_date(raw.at, end, &out);
    if (!at || (!timed && at != end))
        return 0;
    if (timed) {
        *out++ = ' ';
        if (at == end) {
            out = put(out, midnight, 2);
            at = midnight + 2;
            end = midnight + sizeof midnight;
        } else {
            if (*at != ' ' && *at != 'T')
                return 0;
            at = write_two(at + 1, end, &out);
            if (!at)
                return 0;
        }
        if (!write_rest_of_time(at, end, scale, &out))
            return 0;
    }
    *canonical = (struct text){written, (size_t)(out - written)};
    return 1;
}

/* hh:mm:ss with a fraction of `scale` digits; more digits of hours, and a minus, as the file has them. */
static inline int write_clock(struct text raw, size_t scale, byte *written, struct text *canonical)
{
    const byte *at = raw.at, *end = at + raw.length;
    byte *out = written;
    if (raw.length > LONGEST_RAW || scale > LONGEST_RAW / 2)
        return 0;
    if (at < end && *at == '-') {
        *out++ = '-';
        at++;
    }
    for (; end - at > 2 && *at == '0' && is_digit(at[1]) && is_digit(at[2]); at++)
        ;
    size_t hours = digits_at(at, end);
    if (!hours || hours > 3)
        return 0;
    if (hours == 1)
        *out++ = '0';
    out = put(out, at, hours);
    if (!write_rest_of_time(at + hours, end, scale, &out))
        return 0;
    *canonical = (struct text){written, (size_t)(out - written)};
    int zero = 1;
    for (byte *each = written; each < out; each++)
        zero &= !is_digit(*each) || *each == '0';
    return !(zero && *written == '-');
}

/* The bytes of a BIT column as a decimal number: the first byte is the highest. */
static inline int write_bits(struct text raw, byte *written, struct text *canonical)
{
    uint64_t number = 0;
    byte *out = written + LONGEST_RAW;
    if (raw.length > sizeof number)
        return 0;
    for (size_t place = 0; place < raw.length; place++)
        number = number << 8 | raw.at[place];
    do
        *--out = '0' + (byte)(number % 10);
    while (number /= 10);
    *canonical = (struct text){out, (size_t)(written + LONGEST_RAW - out)};
    return 1;
}
