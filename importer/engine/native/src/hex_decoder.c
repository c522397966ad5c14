/*
 * Replaces hexadecimal digits in records by the bytes they stand for, for feed/hex_decoder.py. A record of an
 * unexpected form ends the conversion; the caller decides what to do then.
 */
#include "bytes.h"

/* `hexadecimal` has a byte for each of the `count` fields: 1 if its digits are to become bytes, else 0. */
struct record_format {
    byte delimiter, quote;
    byte carriage; /* whether lines end in CR LF instead of LF */
    size_t count;
    const byte *hexadecimal;
};

/* Reads from `at`, writes to `out`. `at` is 0 after an error: the record is `invalid`, or else cut off by the end. */
struct cursor {
    const byte *at, *end;
    byte *out;
    int invalid;
};

enum { NO_DIGIT = 16 };

static inline unsigned digit(byte character)
{
    byte number = character - '0', letter = (character | 0x20) - 'a';
    return number <= 9 ? number : letter <= 5 ? letter + 10u : NO_DIGIT;
}

/* The four bytes that eight digits make; each byte of `values` is the value of one digit. */
static inline uint64_t four_bytes(uint64_t values)
{
    uint64_t pairs = (values << 4 | values >> 8) & 0x00ff00ff00ff00ff;
    pairs = (pairs | pairs >> 8) & 0x0000ffff0000ffff;
    return (pairs | pairs >> 16) & 0xffffffff;
}

/* Decodes sixteen digits to eight bytes, the first one lowest. Returns 0 if one of them is not a digit, else 1. */
static inline int eight_bytes(const byte *at, uint64_t *decoded)
{
    sixteen digits = load(at), numbers = digits - '0', letters = (digits | 0x20) - 'a';
    sixteen is_number = (sixteen)(numbers <= 9), is_letter = (sixteen)(letters <= 5);
    if (bits(is_number | is_letter) != 0xffff)
        return 0;
    sixteen values = (numbers & is_number) | ((letters + 10) & is_letter);
    uint64_t halves[2];
    memcpy(halves, &values, sizeof halves);
    *decoded = four_bytes(halves[0]) | four_bytes(halves[1]) << 32;
    return 1;
}

/* 0 only if none of the bytes is `wanted`. */
static inline int may_have(uint64_t word, byte wanted)
{
    word ^= EACH(wanted);
    return ((word - EACH(1)) & ~word & EACH(0x80)) != 0;
}

/* Writes a byte of an enclosed field, a quote twice. Returns the next position. */
static inline byte *write_quoted(byte *out, byte value, byte quote)
{
    *out++ = value;
    if (value == quote)
        *out++ = quote;
    return out;
}

/* Converts the digits from `at` on to an enclosed field of bytes. May write 8 bytes more than needed. */
static void bytes_of_digits(struct cursor *cursor, byte quote)
{
    const byte *at = cursor->at, *end = cursor->end;
    byte *out = cursor->out;
    uint64_t eight;
    if (end - at >= 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
        at += 2;
    *out++ = quote;
    for (; end - at >= 16 && eight_bytes(at, &eight); at += 16) {
        if (may_have(eight, quote)) {
            for (unsigned place = 0; place < 8; place++)
                out = write_quoted(out, (byte)(eight >> 8 * place), quote);
        } else {
            memcpy(out, &eight, sizeof eight);
            out += sizeof eight;
        }
    }
    for (; end - at >= 2 && digit(at[0]) != NO_DIGIT && digit(at[1]) != NO_DIGIT; at += 2)
        out = write_quoted(out, (byte)(digit(at[0]) << 4 | digit(at[1])), quote);
    *out++ = quote;
    cursor->at = at;
    cursor->out = out;
}

/* The end of the field at `at`, behind its closing quote if it is enclosed; 0 if the bytes end before. */
static const byte *after_field(const byte *at, const byte *end, const struct record_format *format)
{
    if (at < end && *at == format->quote) {
        for (at++; (at = memchr(at, format->quote, (size_t)(end - at))); at += 2) {
            if (end - at < 2)
                return 0;
            if (at[1] != format->quote)
                return at + 1;
        }
        return 0;
    }
    for (; end - at >= 16; at += 16) {
        sixteen field = load(at);
        uint32_t marks = bits((sixteen)((field == format->delimiter) | (field == '\n') | (field == '\r')));
        if (marks)
            return at + __builtin_ctz(marks);
    }
    while (at < end && *at != format->delimiter && *at != '\n' && *at != '\r')
        at++;
    return at < end ? at : 0;
}

/* Copies a field unchanged. */
static void copy_field(struct cursor *cursor, const struct record_format *format)
{
    const byte *end = after_field(cursor->at, cursor->end, format);
    if (end) {
        memcpy(cursor->out, cursor->at, (size_t)(end - cursor->at));
        cursor->out += end - cursor->at;
    }
    cursor->at = end;
}

/* Decodes a field of digits, enclosed or not. */
static void decode_field(struct cursor *cursor, const struct record_format *format)
{
    int quoted = cursor->at < cursor->end && *cursor->at == format->quote;
    cursor->at += quoted;
    bytes_of_digits(cursor, format->quote);
    if (cursor->end - cursor->at == 1 && digit(*cursor->at) != NO_DIGIT)
        cursor->at = 0; /* The second digit of a pair is cut off. */
    else if (quoted && cursor->at < cursor->end && *cursor->at++ != format->quote) {
        cursor->invalid = 1;
        cursor->at = 0;
    }
}

/* Copies the next character, which must be this one. */
static void expect(struct cursor *cursor, byte character)
{
    if (!cursor->at)
        return;
    if (cursor->at == cursor->end) {
        cursor->at = 0;
    } else if (*cursor->at != character) {
        cursor->invalid = 1;
        cursor->at = 0;
    } else {
        *cursor->out++ = *cursor->at++;
    }
}

static void decode_record(struct cursor *cursor, const struct record_format *format)
{
    for (size_t number = 0; number < format->count && cursor->at; number++) {
        (format->hexadecimal[number] ? decode_field : copy_field)(cursor, format);
        if (number + 1 < format->count)
            expect(cursor, format->delimiter);
    }
    if (format->carriage)
        expect(cursor, '\r');
    expect(cursor, '\n');
}

/*
 * Decodes the whole records at the begin of the data into `out`. Returns how many bytes of data they have and sets
 * `written` to the bytes in `out`; SIZE_MAX if a record is invalid. `out` must have room for 3 * size + 32 bytes.
 */
size_t decode_hex(const byte *data, size_t size, const struct record_format *format, byte *out, size_t *written)
{
    const byte *done = data;
    struct cursor cursor = {data, data + size, out, 0};
    *written = 0;
    while (cursor.at && cursor.at < cursor.end) {
        decode_record(&cursor, format);
        if (cursor.invalid)
            return SIZE_MAX;
        if (cursor.at) {
            done = cursor.at;
            *written = (size_t)(cursor.out - out);
        }
    }
    return (size_t)(done - data);
}
