/*
 * Decimal numbers, and which of them a double gives back as they are written.
 */
#include "bytes.h"

/* A number that stands at `number`, with so many digits before its point, after it, and in its exponent. */
struct decimal {
    const char *number;
    size_t whole, part, exponent;
};

/* Significant digits that a double always keeps. */
enum { SURE_DIGITS = 15 };

struct decimal decimal_of(const char *number);
int is_written_so(const struct decimal *decimal);
