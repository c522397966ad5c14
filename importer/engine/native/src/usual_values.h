/*
 * Checks whether a value has one of the usual forms of its field's type, for fast_path.c.
 */
#include "digits.h"
#include "json/json.h"
#include "mark_positions.h"
#include "temporal.h"

/* As in validation/fast_path.py. */
enum kind { ANYTHING, TEXT, WHOLE, FIXED, FLOATING, DAY, MOMENT, STAMP, CLOCK, YEAR, WORDS, JSON };
enum flags {
    SIGN = 1, EMPTY = 2, NO_EMPTY = 4, NO_SPACE_AT_END = 8, PLAIN = 16, ASCII = 32, SLASHES = 64, NULLABLE = 128,
    BARE = 256,
};

/*
 * The usual values of a field. TEXT: at most `most` bytes. WHOLE: an integer no greater than `text`, which has `most`
 * digits. FIXED: at most `most` digits before the point and `scale` after it. FLOATING: at most `most` digits,
 * or as many as a number with `scale` bits of mantissa gives back. PLAIN numbers have no zeros before them, no plus, no
 * point without need. Times: at most `most` digits after the point, of which `scale` may be others than 0; maybe with
 * SLASHES in the date. WORDS: one of `count` words in `text`, each after a byte with its length. JSON: all of it
 * ASCII. `nulls` are `null_count` such words that may stand for a missing value, which is usual in a NULLABLE
 * column. What is BARE has no quotes around it.
 */
struct field {
    uint32_t kind, flags;
    uint64_t most;
    uint32_t scale, count, null_count;
    const byte *text, *nulls;
};

enum { MOST_EXPONENT_DIGITS = 3 };

/* A bit for each of the `length` bytes from `at` on (at most LONGEST_NUMBER) that is not a digit. */
static inline uint64_t no_digits(const byte *at, size_t length)
{
    uint64_t others = bits((sixteen)(load(at) - '0' > 9));
    if (length > 16)
        others |= (uint64_t)bits((sixteen)(load(at + 16) - '0' > 9)) << 16;
    return others & (((uint64_t)1 << length) - 1);
}

/* 19yy or 20yy. */
static inline int is_year(const byte *at)
{
    int known = (at[0] == '1' && at[1] == '9') || (at[0] == '2' && at[1] == '0');
    return known && (byte)(at[2] - '0') <= 9 && (byte)(at[3] - '0') <= 9;
}

/*
 * The form that nearly all files have, checked without branches. is_any_moment() accepts more forms, and leap days.
 */
static inline int is_full_moment(const byte *at, int stamp)
{
    static const byte days[20] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    /*
     * The lowest character at each position, and how much more it may be: from the year's first digit, and from its
     * fourth.
     */
    const sixteen head = {'0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 0, '0', '0', ':', '0', '0'};
    const sixteen head_more = {9, 9, 9, 9, 0, 1, 9, 0, 3, 9, 255, 2, 9, 0, 5, 9};
    const sixteen tail = {'0', '-', '0', '0', '-', '0', '0', 0, '0', '0', ':', '0', '0', ':', '0', '0'};
    const sixteen tail_more = {9, 0, 1, 9, 0, 3, 9, 255, 2, 9, 0, 5, 9, 0, 5, 9};
    uint32_t others = bits((sixteen)((load(at) - head > head_more) | (load(at + 3) - tail > tail_more)));
    unsigned month = at[5] * 10u + at[6] - 11 * '0', day = at[8] * 10u + at[9] - 11 * '0';
    int between = stamp ? (at[10] == ' ') & (at[0] == '2') : (at[10] == ' ') | (at[10] == 'T');
    return !others && ((day - 1 < days[month]) & ((at[11] != '2') | (at[12] < '4')) & between);
}

static inline int is_moment(const byte *at, size_t length, int stamp)
{
    return length == 19 ? is_full_moment(at, stamp) : length == 10 && !stamp && is_day(at);
}

static __attribute__((noinline)) int is_word(const byte *word, uint32_t count, const byte *at, size_t length)
{
    for (uint32_t number = 0; number < count; number++, word += 1 + word[0])
        if (word[0] == length && !memcmp(word + 1, at, length))
            return 1;
    return 0;
}

/* json_take() of a value whose escapes and doubled quotes are undone. 0: it is not JSON, or this cannot be decided. */
static int take_unescaped(struct json *json, const byte *at, size_t length, int enclosed, const struct marks *marks)
{
    size_t taken;
    for (const byte *end = at + length; at < end;) {
        const byte *stop = at;
        while (stop < end && *stop != marks->escape && (!enclosed || *stop != marks->quote))
            stop++;
        if (stop > at && json_take(json, at, (size_t)(stop - at), &taken))
            return 0;
        if (stop == end)
            return 1;
        byte one = *stop == marks->escape ? unescaped(stop[1]) : *stop;
        if (json_take(json, &one, 1, &taken))
            return 0;
        at = stop + 2;
    }
    return 1;
}

/* The caller has checked that the last byte is no escape, and that quotes in an enclosed value are doubled. */
static __attribute__((noinline)) int is_json(
    const struct field *field, const byte *at, size_t length, int enclosed, const struct marks *marks)
{
    struct json json;
    size_t taken;
    int escapes = marks->escape && memchr(at, marks->escape, length), doubled = enclosed && marks->quote == '"';
    json_start(&json, doubled && !escapes ? 2 : 1, (field->flags & ASCII) != 0);
    int usual = escapes ? take_unescaped(&json, at, length, enclosed, marks) : !json_take(&json, at, length, &taken);
    usual = usual && !json_end(&json);
    json_free(&json);
    return usual;
}

/* 33 bytes must be readable at `at`. Free of branches that cannot be predicted. */
static inline __attribute__((always_inline)) int is_number(
    const struct field *field, uint32_t kind, const byte *at, size_t length)
{
    uint64_t minus = (field->flags & SIGN) & (*at == '-');
    size_t digits = length - minus;
    if (digits - 1 >= LONGEST_NUMBER - 1)
        return 0;
    uint64_t others = no_digits(at, length) ^ minus;
    if ((field->flags & PLAIN) && digits > 1 && at[minus] == '0' && !(others >> minus & 2))
        return 0;
    if (kind == WHOLE) {
        if (digits >= field->most)
            return !others && digits == field->most && memcmp(at + minus, field->text, digits) <= 0;
        return !others;
    }
    size_t point = (size_t)__builtin_ctzll(others | (uint64_t)1 << length), whole = point - minus;
    size_t part = length - point; /* the point counts */
    int known = (whole != 0) & (part != 1) & !(others & (others - 1)) & (!others | (at[point] == '.'));
    if (kind == FIXED)
        return known & (whole <= field->most) & (part <= field->scale + 1);
    /* A zero before the point is no significant digit. */
    return known & (digits - (part != 0) - (part && at[minus] == '0') <= field->most);
}

/* Whether the value has the most frequent form of the field's values. */
static inline __attribute__((always_inline)) int is_usual_value(
    const struct field *field, uint32_t kind, const byte *at, size_t length, int enclosed, const struct marks *marks)
{
    if (!length)
        return kind == ANYTHING || kind == TEXT ? !(field->flags & NO_EMPTY) : (field->flags & EMPTY) != 0;
    switch (kind) {
    case TEXT:
        return length <= field->most && !((field->flags & NO_SPACE_AT_END) && at[length - 1] == ' ');
    case WHOLE:
    case FIXED:
    case FLOATING:
        return is_number(field, kind, at, length);
    case DAY:
        return length == 10 && is_day(at);
    case MOMENT:
    case STAMP:
        return is_moment(at, length, kind == STAMP);
    case CLOCK:
        return length == 8 && is_clock(at, 99);
    case YEAR:
        return length == 4 && is_year(at);
    case WORDS:
        return is_word(field->text, field->count, at, length);
    case JSON:
        return is_json(field, at, length, enclosed, marks);
    default:
        return 1;
    }
}

/* hh:mm, hh:mm:ss, or hh:mm:ss with a fraction that is kept in full. */
static int is_time(const struct field *field, const byte *at, size_t length, unsigned most_hours)
{
    if (length == 5) {
        byte whole[8] = "hh:mm:00";
        memcpy(whole, at, 5);
        return is_clock(whole, most_hours);
    }
    if (length < 8 || !is_clock(at, most_hours))
        return 0;
    if (length == 8)
        return 1;
    if (at[8] != '.' || length == 9 || length - 9 > field->most)
        return 0;
    for (size_t digit = 0; digit < length - 9; digit++)
        if ((byte)(at[9 + digit] - '0') > (digit < field->scale ? 9 : 0))
            return 0;
    return 1;
}

/* A day, with slashes if the field takes them, and maybe a time. */
static int is_any_moment(const struct field *field, const byte *at, size_t length)
{
    byte day[10];
    if (length < 10 || (field->kind == STAMP && *at != '2'))
        return 0;
    memcpy(day, at, sizeof day);
    if ((field->flags & SLASHES) && day[4] == '/' && day[7] == '/')
        day[4] = day[7] = '-';
    if (!is_day(day))
        return 0;
    if (length == 10)
        return 1;
    return field->kind != DAY && (at[10] == ' ' || at[10] == 'T') && is_time(field, at + 11, length - 11, 23);
}

/* Whether a float or a double gives the number back as written. It ends with a zero byte. */
static int survives_float(const char *number, int bits)
{
    struct decimal decimal = decimal_of(number);
    return decimal.whole && decimal.exponent <= MOST_EXPONENT_DIGITS && is_written_so(&decimal, bits);
}

/* A number after spaces or a sign, an integer with zeros after a point, or a double with all its digits. */
static int is_any_number(const struct field *field, const byte *at, size_t length)
{
    byte number[2 * LONGEST_NUMBER] = {0};
    int plain = field->flags & PLAIN;
    if (length >= LONGEST_NUMBER)
        return 0;
    memcpy(number, at, length);
    at = number;
    for (; length && *at == ' ' && !plain; length--)
        at++;
    int minus = *at == '-', sign = (minus && (field->flags & SIGN)) || (*at == '+' && !plain);
    at += sign;
    length -= (size_t)sign;
    if (field->kind == WHOLE && !plain && memchr(at, '.', length)) {
        while (at[length - 1] == '0') /* the point ends that */
            length--;
        length -= at[length - 1] == '.';
    }
    int is_name = plain && *at == '0' && (byte)(at[1] - '0') <= 9;
    if (field->kind == FLOATING && !is_name && survives_float((const char *)at, (int)field->scale))
        return 1;
    return is_number(field, field->kind, at, length) && *at != '-';
}

/* Whether the value is a word for NULL, or has one of the less frequent forms. */
static __attribute__((noinline)) int has_other_form(const struct field *field, const byte *at, size_t length)
{
    if (is_word(field->nulls, field->null_count, at, length))
        return 1;
    switch (field->kind) {
    case WHOLE:
    case FIXED:
    case FLOATING:
        return is_any_number(field, at, length);
    case DAY:
    case MOMENT:
    case STAMP:
        return is_any_moment(field, at, length);
    case CLOCK:
        return is_time(field, at, length, 99);
    default:
        return 0;
    }
}

/*
 * Whether the value is usual for a field of this kind. 33 bytes must be readable at `at`. A `simple` dialect has no
 * escape, and no rule by which quotes change a value.
 */
static inline __attribute__((always_inline)) int is_usual(
    const struct field *field, uint32_t kind, const byte *at, size_t length, int enclosed, const struct marks *marks,
    int simple)
{
    if (!simple) {
        if (marks->escape && length == 2 && *at == marks->escape && at[1] == 'N')
            return (field->flags & NULLABLE) != 0;
        if (enclosed && (field->flags & BARE))
            return 0;
        if (!enclosed && !length && (marks->null_rules & EMPTY_IS_NULL))
            return (field->flags & NULLABLE) != 0;
        if (!enclosed && length == 4 && (marks->null_rules & WORD_IS_NULL) && !memcmp(at, "NULL", 4))
            return is_word(field->nulls, field->null_count, at, length);
    }
    return is_usual_value(field, kind, at, length, enclosed, marks) || has_other_form(field, at, length);
}
