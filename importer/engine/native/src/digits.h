/*
 * Decimal numbers, and which of them a float or a double gives back as they are written.
 */
#include "bytes.h"

/* A number that stands at `number`, with so many digits before its point, after it, and in its exponent. */
struct decimal {
    const char *number;
    size_t whole, part, exponent;
};

/* A double has so many bits of mantissa, and always keeps so many significant digits. */
enum { DOUBLE_BITS = 53, SURE_DIGITS = 15 };

struct decimal decimal_of(const char *number);
int is_written_so(const struct decimal *decimal, int bits);
