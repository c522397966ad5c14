/*
 * Records with the bytes that hexadecimal digits stand for in place of the digits, for unhexing.py. Nothing is decided
 * here: a record that is not as usual ends the way.
 */
#include "bytes.h"

/* `hexadecimal` has a byte for each of the `count` fields: whether its digits are to become bytes. */
struct form {
    byte delimiter, quote;
    byte carriage; /* whether lines end in CR LF instead of LF */
    size_t count;
    const byte *hexadecimal;
};

/* Where reading and writing are. `at` is 0 once what is read is cut, or is not as usual: then `unusual` says which. */
struct way {
    const byte *at, *end;
    byte *out;
    int unusual;
};

enum { NO_DIGIT = 16 };

static inline unsigned digit(byte character)
{
    byte number = character - '0', letter = (character | 0x20) - 'a';
    return number <= 9 ? number : letter <= 5 ? letter + 10u : NO_DIGIT;
}

/* Of eight digits' values, one in each byte, the four bytes that they make. */
static inline uint64_t four_bytes(uint64_t values)
{
    uint64_t pairs = (values << 4 | values >> 8) & 0x00ff00ff00ff00ff;
    pairs = (pairs | pairs >> 8) & 0x0000ffff0000ffff;
    return (pairs | pairs >> 16) & 0xffffffff;
}

/* The eight bytes of sixteen digits, the first one lowest; 0 if some are none, else 1. */
static inline int eight_bytes(const byte *at, uint64_t *made)
{
    sixteen digits = load(at), numbers = digits - '0', letters = (digits | 0x20) - 'a';
    sixteen is_number = (sixteen)(numbers <= 9), is_letter = (sixteen)(letters <= 5);
    if (bits(is_number | is_letter) != 0xffff)
        return 0;
    sixteen values = (numbers & is_number) | ((letters + 10) & is_letter);
    uint64_t halves[2];
    memcpy(halves, &values, sizeof halves);
    *made = four_bytes(halves[0]) | four_bytes(halves[1]) << 32;
    return 1;
}

/* Whether one of the bytes is this one, or perhaps. */
static inline int may_have(uint64_t word, byte wanted)
{
    word ^= EACH(wanted);
    return ((word - EACH(1)) & ~word & EACH(0x80)) != 0;
}

/* Writes a byte that stands between quotes; gives where to go on. */
static inline byte *enclosed(byte *out, byte value, byte quote)
{
    *out++ = value;
    if (value == quote)
        *out++ = quote;
    return out;
}

/* Digits up to something else, as bytes between quotes. 8 bytes more than are needed can be written. */
static void bytes_of_digits(struct way *way, byte quote)
{
    const byte *at = way->at, *end = way->end;
    byte *out = way->out;
    uint64_t eight;
    if (end - at >= 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
        at += 2;
    *out++ = quote;
    for (; end - at >= 16 && eight_bytes(at, &eight); at += 16) {
        if (may_have(eight, quote)) {
            for (unsigned place = 0; place < 8; place++)
                out = enclosed(out, (byte)(eight >> 8 * place), quote);
        } else {
            memcpy(out, &eight, sizeof eight);
            out += sizeof eight;
        }
    }
    for (; end - at >= 2 && digit(at[0]) != NO_DIGIT && digit(at[1]) != NO_DIGIT; at += 2)
        out = enclosed(out, (byte)(digit(at[0]) << 4 | digit(at[1])), quote);
    *out++ = quote;
    way->at = at;
    way->out = out;
}

/* Where the field at `at` ends, behind its closing quote if it has quotes; 0 where the bytes end before. */
static const byte *after_field(const byte *at, const byte *end, const struct form *form)
{
    if (at < end && *at == form->quote) {
        for (at++; (at = memchr(at, form->quote, (size_t)(end - at))); at += 2) {
            if (end - at < 2)
                return 0;
            if (at[1] != form->quote)
                return at + 1;
        }
        return 0;
    }
    for (; end - at >= 16; at += 16) {
        sixteen field = load(at);
        uint32_t found = bits((sixteen)((field == form->delimiter) | (field == '\n') | (field == '\r')));
        if (found)
            return at + __builtin_ctz(found);
    }
    while (at < end && *at != form->delimiter && *at != '\n' && *at != '\r')
        at++;
    return at < end ? at : 0;
}

/* A field as it is. */
static void copy(struct way *way, const struct form *form)
{
    const byte *end = after_field(way->at, way->end, form);
    if (end) {
        memcpy(way->out, way->at, (size_t)(end - way->at));
        way->out += end - way->at;
    }
    way->at = end;
}

/* A field of digits, between quotes or not. */
static void unhex(struct way *way, const struct form *form)
{
    int quoted = way->at < way->end && *way->at == form->quote;
    way->at += quoted;
    bytes_of_digits(way, form->quote);
    if (way->end - way->at == 1 && digit(*way->at) != NO_DIGIT)
        way->at = 0; /* The other one of a pair is cut off. */
    else if (quoted && way->at < way->end && *way->at++ != form->quote) {
        way->unusual = 1;
        way->at = 0;
    }
}

/* One character that must come next. */
static void expect(struct way *way, byte character)
{
    if (!way->at)
        return;
    if (way->at == way->end) {
        way->at = 0;
    } else if (*way->at != character) {
        way->unusual = 1;
        way->at = 0;
    } else {
        *way->out++ = *way->at++;
    }
}

static void record(struct way *way, const struct form *form)
{
    for (size_t number = 0; number < form->count && way->at; number++) {
        (form->hexadecimal[number] ? unhex : copy)(way, form);
        if (number + 1 < form->count)
            expect(way, form->delimiter);
    }
    if (form->carriage)
        expect(way, '\r');
    expect(way, '\n');
}

/*
 * How many of the bytes are whole records, which are written to `out`, as `written` bytes; SIZE_MAX if one is not as
 * usual. `out` has room for three times as many bytes, and 32 more.
 */
size_t unhexed(const byte *data, size_t size, const struct form *form, byte *out, size_t *written)
{
    const byte *done = data;
    struct way way = {data, data + size, out, 0};
    *written = 0;
    while (way.at && way.at < way.end) {
        record(&way, form);
        if (way.unusual)
            return SIZE_MAX;
        if (way.at) {
            done = way.at;
            *written = (size_t)(way.out - out);
        }
    }
    return (size_t)(done - data);
}
