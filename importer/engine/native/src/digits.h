/*
 * Decimal numbers as text: which of them a float or a double gives back as written.
 */
#include "bytes.h"

/* The number at `number`: how many digits it has before its point (whole), after it (part), and in its exponent. */
struct decimal {
    const char *number;
    size_t whole, part, exponent;
};

/* Of a double: bits of its mantissa, and significant digits that it always keeps. */
enum { DOUBLE_BITS = 53, SURE_DIGITS = 15 };

struct decimal decimal_of(const char *number);
int is_written_so(const struct decimal *decimal, int bits);
