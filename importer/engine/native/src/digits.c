/*
 * Decimal numbers as text, for fast_path.c and json.c.
 */
#include "digits.h"
#include <stdio.h>
#include <stdlib.h>

/*
 * SURE_DIGITS are kept if the exponent has at most SURE_EXPONENT_DIGITS. MOST_DIGITS: all that a double distinguishes.
 */
enum { SURE_EXPONENT_DIGITS = 2, MOST_DIGITS = 17 };

static inline int length_in_bits(uint64_t number)
{
    return 64 - __builtin_clzll(number);
}

/*
 * Whether the floating-point number with `bits` of mantissa nearest to decimal / 10^after_point is within half of its
 * last digit. Returns 0 where 128 bits do not suffice to decide, and for multiples of ten: a digit is worth less below
 * a power of ten.
 */
static int is_near(uint64_t decimal, size_t after_point, int bits)
{
    uint64_t ten = 1;
    if (after_point > 19 || decimal % 10 == 0)
        return 0;
    for (size_t digit = 0; digit < after_point; digit++)
        ten *= 10;
    /* It is mantissa / 2^shift. */
    int shift = bits + length_in_bits(ten) - length_in_bits(decimal);
    if (shift < 2 || shift > 70)
        return 0;
    unsigned __int128 scaled = (unsigned __int128)decimal << shift;
    if (scaled / ten >> bits) {
        scaled >>= 1;
        shift--;
    }
    uint64_t above = (uint64_t)(scaled % ten), distance = above < ten - above ? above : ten - above;
    unsigned __int128 half = (unsigned __int128)1 << (shift - 1);
    /* The server makes a float from a double: rounding twice may move a value in the middle the other way. */
    return distance <= (bits == DOUBLE_BITS ? half : half - half / 64);
}

static inline const char *after_digits(const char *at)
{
    while ((byte)(*at - '0') <= 9)
        at++;
    return at;
}

/* Parses digits, maybe a point and digits, maybe an exponent, up to a zero byte. `whole` is 0 for anything else. */
struct decimal decimal_of(const char *number)
{
    const char *at = after_digits(number);
    struct decimal parsed = {.number = number, .whole = (size_t)(at - number)}, none = {0};
    if (*at == '.') {
        const char *part = at + 1;
        at = after_digits(part);
        parsed.part = (size_t)(at - part);
        if (!parsed.part)
            return none;
    }
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        at = after_digits(exponent);
        parsed.exponent = (size_t)(at - exponent);
        if (!parsed.exponent)
            return none;
    }
    return *at ? none : parsed;
}

/* Whether the number, stored with `bits` of mantissa and written with as many digits, surely gives the same digits. */
int is_written_so(const struct decimal *decimal, int bits)
{
    char digits[MOST_DIGITS], written[MOST_DIGITS + 8];
    size_t count = 0, length = decimal->whole + (decimal->part ? 1 + decimal->part : 0);
    uint64_t value = 0;
    for (const char *at = decimal->number; at < decimal->number + length; at++) {
        if (*at == '.' || (*at == '0' && !count))
            continue;
        if (count == MOST_DIGITS)
            return 0;
        digits[count++] = *at;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (!count)
        return 0;
    if (!decimal->exponent && is_near(value, decimal->part, bits))
        return 1;
    if (bits != DOUBLE_BITS)
        return 0;
    if (count <= SURE_DIGITS && decimal->exponent <= SURE_EXPONENT_DIGITS)
        return 1;
    snprintf(written, sizeof written, "%.*e", (int)count - 1, strtod(decimal->number, 0));
    return written[0] == digits[0] && !memcmp(written + 2, digits + 1, count - 1);
}
