/*
 * Checks dates and times of day, eight bytes at a time.
 */
#include "bytes.h"

#define HIGH EACH(0x80)

/* Eight bytes minus those of a pattern in which 0 stands for any digit; NOT_ALIKE if they do not match it. */
#define NOT_ALIKE UINT64_MAX
static inline uint64_t less_pattern(const byte *at, const char pattern[8])
{
    uint64_t word, like;
    memcpy(&word, at, 8);
    memcpy(&like, pattern, 8);
    /* The difference may be up to 9 where the pattern has a digit, and must be 0 elsewhere. */
    uint64_t others = like ^ EACH('0');
    uint64_t digits = (~(((others & ~HIGH) + ~HIGH) | others) & HIGH) >> 7;
    word ^= like;
    return (((word & ~HIGH) + ~HIGH - digits * 9) | word) & HIGH ? NOT_ALIKE : word;
}

/* The number that two digits make, the first at this position of a difference from less_pattern(). */
static inline unsigned two(uint64_t digits, unsigned place)
{
    return (unsigned)(digits >> 8 * place & 0xff) * 10 + (unsigned)(digits >> 8 * (place + 1) & 0xff);
}

/* Whether the year of these two pairs of digits has a leap day; 0 for year 0, which is left to Python. */
static inline int is_leap(unsigned century, unsigned year)
{
    return year ? year % 4 == 0 : century && century % 4 == 0;
}

/* yyyy-mm-dd of a day that exists. */
static inline int is_day(const byte *at)
{
    static const byte days[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint64_t head = less_pattern(at, "0000-00-"), tail = less_pattern(at + 2, "00-00-00");
    if (head == NOT_ALIKE || tail == NOT_ALIKE)
        return 0;
    unsigned year = two(tail, 0), month = two(tail, 3), day = two(tail, 6);
    if (month < 1 || month > 12 || day < 1)
        return 0;
    return day <= days[month] || (month == 2 && day == 29 && is_leap(two(head, 0), year));
}

/* hh:mm:ss with at most `most_hours`. */
static inline int is_clock(const byte *at, unsigned most_hours)
{
    uint64_t clock = less_pattern(at, "00:00:00");
    return clock != NOT_ALIKE && two(clock, 0) <= most_hours && two(clock, 3) < 60 && two(clock, 6) < 60;
}
