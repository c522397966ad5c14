/*
 * How a field's values usually look, and whether one does, for usual.c.
 */
#include "digits.h"
#include "json.h"
#include "places.h"
#include "times.h"

/* As in usual.py. */
enum kind { ANYTHING, TEXT, WHOLE, FIXED, FLOATING, DAY, MOMENT, STAMP, CLOCK, YEAR, WORDS, JSON };
enum flags {
    SIGN = 1, EMPTY = 2, NO_EMPTY = 4, NO_SPACE_AT_END = 8, PLAIN = 16, ASCII = 32, SLASHES = 64, NULLABLE = 128,
    BARE = 256,
};

/*
 * How the usual values of a field look. TEXT: at most `most` bytes. WHOLE: digits that make no more than `text`, which
 * has `most` digits. FIXED: at most `most` digits before the point and `scale` after it. FLOATING: at most `most` digits,
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

/* Without quotes: nothing is NULL, the word NULL is, nothing after a record's last delimiter is no field. */
enum told { EMPTY_IS_NULL = 1, WORD_IS_NULL = 2, NO_LAST_FIELD = 4 };

enum { MOST_EXPONENT_DIGITS = 3 };

/* Of the `length` bytes from `at` on, LONGEST_NUMBER at most, a bit for each that is no digit. */
static inline uint64_t no_digits(const byte *at, size_t length)
{
    uint64_t found = bits((sixteen)(load(at) - '0' > 9));
    if (length > 16)
        found |= (uint64_t)bits((sixteen)(load(at + 16) - '0' > 9)) << 16;
    return found & (((uint64_t)1 << length) - 1);
}

/* 19yy or 20yy. */
static inline int is_year(const byte *at)
{
    int known = (at[0] == '1' && at[1] == '9') || (at[0] == '2' && at[1] == '0');
    return known && (byte)(at[2] - '0') <= 9 && (byte)(at[3] - '0') <= 9;
}

/*
 * As nearly all files write it: what is quickest to tell. is_any_moment() knows more, and the leap days. Nothing waits
 * for a comparison before the last line.
 */
static inline int is_full_moment(const byte *at, int stamp)
{
    static const byte days[20] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    /* From the year's first digit on, and from its fourth: what stands there, and what may be added to it. */
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

/* What the byte after an escape stands for (unescape() in the servers' sql_load.cc). */
static byte meant(byte escaped)
{
    switch (escaped) {
    case '0':
        return 0;
    case 'b':
        return '\b';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'Z':
        return 26;
    default:
        return escaped;
    }
}

/* json_take() of a value with escapes, these and doubled quotes undone. 0: it is no JSON, or not surely. */
static int take_undone(struct json *json, const byte *at, size_t length, int enclosed, const struct marks *marks)
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
        byte one = *stop == marks->escape ? meant(stop[1]) : *stop;
        if (json_take(json, &one, 1, &taken))
            return 0;
        at = stop + 2;
    }
    return 1;
}

/* An escape is not its last byte, and enclosed, a quote in it is one of two: those are looked at before. */
static __attribute__((noinline)) int is_json(
    const struct field *field, const byte *at, size_t length, int enclosed, const struct marks *marks)
{
    struct json json;
    size_t taken;
    int escapes = marks->escape && memchr(at, marks->escape, length), doubled = enclosed && marks->quote == '"';
    json_start(&json, doubled && !escapes ? 2 : 1, (field->flags & ASCII) != 0);
    int usual = escapes ? take_undone(&json, at, length, enclosed, marks) : !json_take(&json, at, length, &taken);
    usual = usual && !json_end(&json);
    json_free(&json);
    return usual;
}

/* 33 bytes can be read at `at`. Nothing waits for a comparison that could go either way. */
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

/* Whether a value that is there is as the field's usually are. */
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

/* hh:mm, hh:mm:ss, or that with a fraction of which all is kept. */
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

/* A day, with slashes where the field takes them, that a time may follow. */
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

/* Whether a float or a double gives the number back as it is written, up to a zero byte. */
static int is_given_back(const char *number, int bits)
{
    struct decimal decimal = decimal_of(number);
    return decimal.whole && decimal.exponent <= MOST_EXPONENT_DIGITS && is_written_so(&decimal, bits);
}

/* A number with spaces or a sign before it, a whole one with zeros after a point, or with every digit of a double. */
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
    if (field->kind == FLOATING && !is_name && is_given_back((const char *)at, (int)field->scale))
        return 1;
    return is_number(field, field->kind, at, length) && *at != '-';
}

/* The same of a word for a missing value, and of other ways of writing that mean what they say. */
static __attribute__((noinline)) int is_written_otherwise(const struct field *field, const byte *at, size_t length)
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
 * Whether the value is as the field's, of this kind, usually are; 33 bytes can be read at `at`. In a `simple` dialect
 * there is no escape, and quotes tell nothing but where a field ends.
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
        if (!enclosed && !length && (marks->told & EMPTY_IS_NULL))
            return (field->flags & NULLABLE) != 0;
        if (!enclosed && length == 4 && (marks->told & WORD_IS_NULL) && !memcmp(at, "NULL", 4))
            return is_word(field->nulls, field->null_count, at, length);
    }
    return is_usual_value(field, kind, at, length, enclosed, marks) || is_written_otherwise(field, at, length);
}
