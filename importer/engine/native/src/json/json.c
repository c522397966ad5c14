/*
 * Reads JSON, for fast_path.c and validation/types/json_documents.py. Equal names in an object are recognised by their
 * hashes, so two names that count as equal may differ.
 */
#include "json.h"
#include "../digits.h"
#include <stdlib.h>

/* What comes next. */
enum state {
    VALUE, FIRST_VALUE, NAME, FIRST_NAME, COLON, AFTER_VALUE,
    IN_TEXT, ESCAPED, IN_HEX, LOW, LOW_U, IN_NUMBER, IN_WORD,
};

typedef int8_t signed_sixteen __attribute__((vector_size(16)));

/* Digits that a whole number keeps, one more without a minus. */
enum { SURE_WHOLE_DIGITS = 18 };
/* FNV-1a. */
#define HASH_START 0xcbf29ce484222325u
#define HASH_TIMES 0x100000001b3u

void json_start(struct json *json, byte quote_size, byte ascii_only)
{
    json->state = VALUE;
    json->depth = 0;
    json->quote_size = quote_size;
    json->ascii_only = ascii_only;
    json->count = 0;
    json->room = FEW_NAMES;
    json->names = json->few;
}

void json_free(struct json *json)
{
    if (json->names != json->few)
        free(json->names);
}

static inline int is_object(const struct json *json)
{
    return json->depth && (json->objects[json->depth / 64] >> json->depth % 64 & 1);
}

static inline enum doubt open_level(struct json *json, int object)
{
    if (json->depth == DEEPEST)
        return UNSURE;
    uint32_t depth = ++json->depth;
    uint64_t bit = (uint64_t)1 << depth % 64;
    json->objects[depth / 64] = object ? json->objects[depth / 64] | bit : json->objects[depth / 64] & ~bit;
    json->first[depth] = json->count;
    json->state = object ? FIRST_NAME : FIRST_VALUE;
    return NO_DOUBT;
}

static int compared(const void *one, const void *other)
{
    uint64_t left = *(const uint64_t *)one, right = *(const uint64_t *)other;
    return left < right ? -1 : left > right;
}

/* Whether two of the hashes are equal. Their order is lost. */
static int some_equal(uint64_t *names, size_t count)
{
    if (count <= FEW_NAMES / 4) {
        for (size_t one = 1; one < count; one++)
            for (size_t other = 0; other < one; other++)
                if (names[one] == names[other])
                    return 1;
        return 0;
    }
    qsort(names, count, sizeof *names, compared);
    for (size_t one = 1; one < count; one++)
        if (names[one] == names[one - 1])
            return 1;
    return 0;
}

static inline enum doubt close_level(struct json *json)
{
    size_t first = json->first[json->depth--];
    json->state = AFTER_VALUE;
    if (some_equal(json->names + first, json->count - first))
        return UNSURE;
    json->count = first;
    return NO_DOUBT;
}

static enum doubt end_name(struct json *json)
{
    json->state = COLON;
    if (json->name_length > LONGEST_NAME)
        return UNSURE;
    if (json->count == json->room) {
        uint64_t *more = malloc(2 * json->room * sizeof *more);
        if (!more)
            return UNSURE;
        memcpy(more, json->names, json->count * sizeof *more);
        json_free(json);
        json->names = more;
        json->room *= 2;
    }
    json->names[json->count++] = json->hash;
    return NO_DOUBT;
}

/* The bytes of the UTF-8 character at `at`, which is not ASCII; 0 if it is not valid. */
static inline size_t character(const byte *at, const byte *end)
{
    byte lead = at[0];
    size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (!length || (size_t)(end - at) < length)
        return 0;
    for (size_t place = 1; place < length; place++)
        if ((at[place] & 0xc0) != 0x80)
            return 0;
    int too_long = (lead == 0xe0 && at[1] < 0xa0) || (lead == 0xf0 && at[1] < 0x90);
    int no_character = (lead == 0xed && at[1] > 0x9f) || (lead == 0xf4 && at[1] > 0x8f);
    return too_long || no_character ? 0 : length;
}

/* The first byte of a string that does not stand for itself, or the end. */
static inline const byte *special(const byte *at, const byte *end)
{
    for (; end - at >= 16; at += 16) {
        sixteen bytes = load(at);
        sixteen odd = (sixteen)((signed_sixteen)bytes < ' '); /* and what is not ASCII */
        uint32_t matches = bits((sixteen)((bytes == '"') | (bytes == '\\')) | odd);
        if (matches)
            return at + __builtin_ctz(matches);
    }
    while (at < end && *at != '"' && *at != '\\' && (int8_t)*at >= ' ')
        at++;
    return at;
}

/* Reads within a string, up to its closing quote, an escape, or the end. */
static const byte *take_text(struct json *json, const byte *at, const byte *end, enum doubt *doubt)
{
    for (;;) {
        const byte *stop = special(at, end);
        size_t length = stop < end && *stop >= 0x80 && !json->ascii_only ? character(stop, end) : 0;
        if (json->is_name) {
            for (const byte *each = at; each < stop + length; each++)
                json->hash = (json->hash ^ *each) * HASH_TIMES;
            json->name_length += (size_t)(stop - at) + length;
        }
        at = stop + length;
        if (stop == end)
            return at;
        if (length)
            continue;
        if (*at == '"') {
            json->state = AFTER_VALUE;
            *doubt = json->is_name ? end_name(json) : NO_DOUBT;
            return at + json->quote_size;
        }
        if (*at == '\\') {
            json->state = ESCAPED;
            *doubt = json->is_name ? UNSURE : NO_DOUBT;
            return at + 1;
        }
        *doubt = *at < ' ' ? WRONG : UNSURE;
        return at;
    }
}

/* Checks a complete \u escape: a character, or half of a surrogate pair. */
static enum doubt end_hex(struct json *json)
{
    uint32_t kind = json->hex & 0xfc00;
    int is_low = json->is_low;
    json->state = kind == 0xd800 && !is_low ? LOW : IN_TEXT;
    json->is_low = 0;
    return (kind == 0xdc00) == is_low ? NO_DOUBT : WRONG;
}

static inline enum doubt take_hex(struct json *json, byte character)
{
    byte digit = character - '0', letter = (character | 0x20) - 'a';
    if (digit > 9 && letter > 5)
        return WRONG;
    json->hex = json->hex << 4 | (digit <= 9 ? digit : letter + 10u);
    return --json->hex_left ? NO_DOUBT : end_hex(json);
}

static inline enum doubt take_escaped(struct json *json, byte character)
{
    if (character == 'u') {
        json->state = IN_HEX;
        json->hex = 0;
        json->hex_left = 4;
        return NO_DOUBT;
    }
    json->state = IN_TEXT;
    return character && strchr("\"\\/bfnrt", character) ? NO_DOUBT : WRONG;
}

/* Checks a complete number: is it valid, and surely kept? */
static enum doubt end_number(struct json *json)
{
    json->number[json->number_length] = 0;
    json->state = AFTER_VALUE;
    int minus = json->number[0] == '-';
    struct decimal decimal = decimal_of(json->number + minus);
    if (!decimal.whole || (decimal.whole > 1 && json->number[minus] == '0'))
        return WRONG;
    size_t most = decimal.part ? SURE_DIGITS : SURE_WHOLE_DIGITS + !minus;
    if (!decimal.exponent && decimal.whole + decimal.part <= most)
        return NO_DOUBT;
    return is_written_so(&decimal, DOUBLE_BITS) ? NO_DOUBT : NUMBER;
}

/* Reads within a number, up to the first byte that cannot belong to it. */
static const byte *take_number(struct json *json, const byte *at, const byte *end, enum doubt *doubt)
{
    for (; at < end; at++) {
        byte letter = *at | 0x20;
        if ((byte)(*at - '0') > 9 && *at != '.' && *at != '-' && *at != '+' && letter != 'e') {
            *doubt = end_number(json);
            return at;
        }
        if (json->number_length == LONGEST_JSON_NUMBER) {
            *doubt = UNSURE;
            return at;
        }
        json->number[json->number_length++] = (char)*at;
    }
    return at;
}

static inline enum doubt start_text(struct json *json, int is_name)
{
    json->state = IN_TEXT;
    json->is_name = (byte)is_name;
    json->is_low = 0;
    json->hash = HASH_START;
    json->name_length = 0;
    return NO_DOUBT;
}

static inline enum doubt start_word(struct json *json, const char *rest)
{
    json->state = IN_WORD;
    json->rest = rest;
    return NO_DOUBT;
}

/* The first byte of a value. */
static inline enum doubt start_value(struct json *json, byte character)
{
    switch (character) {
    case '"':
        return start_text(json, 0);
    case '{':
        return open_level(json, 1);
    case '[':
        return open_level(json, 0);
    case 't':
        return start_word(json, "rue");
    case 'f':
        return start_word(json, "alse");
    case 'n':
        return start_word(json, "ull");
    default:
        if (character != '-' && (byte)(character - '0') > 9)
            return WRONG;
        json->state = IN_NUMBER;
        json->number[0] = (char)character;
        json->number_length = 1;
        return NO_DOUBT;
    }
}

/* Takes a byte between values that is not white space. */
static inline enum doubt take_mark(struct json *json, byte mark)
{
    switch (json->state) {
    case FIRST_VALUE:
        if (mark == ']')
            return close_level(json);
        return start_value(json, mark);
    case VALUE:
        return start_value(json, mark);
    case FIRST_NAME:
        if (mark == '}')
            return close_level(json);
        return mark == '"' ? start_text(json, 1) : WRONG;
    case NAME:
        return mark == '"' ? start_text(json, 1) : WRONG;
    case COLON:
        json->state = VALUE;
        return mark == ':' ? NO_DOUBT : WRONG;
    default: /* AFTER_VALUE */
        if (!json->depth)
            return WRONG;
        if (mark == (is_object(json) ? '}' : ']'))
            return close_level(json);
        json->state = is_object(json) ? NAME : VALUE;
        return mark == ',' ? NO_DOUBT : WRONG;
    }
}

/* Takes a byte in an escape or a word. */
static inline enum doubt take_letter(struct json *json, byte letter)
{
    switch (json->state) {
    case ESCAPED:
        return take_escaped(json, letter);
    case IN_HEX:
        return take_hex(json, letter);
    case LOW:
        json->state = LOW_U;
        return letter == '\\' ? NO_DOUBT : WRONG;
    case LOW_U:
        json->is_low = 1;
        return letter == 'u' ? take_escaped(json, letter) : WRONG;
    default: /* IN_WORD */
        if (letter != (byte)*json->rest)
            return WRONG;
        if (!*++json->rest)
            json->state = AFTER_VALUE;
        return NO_DOUBT;
    }
}

static inline int is_white(byte character)
{
    return character == ' ' || character == '\n' || character == '\t' || character == '\r';
}

/* Reads the next piece up to the first doubt; `taken`: bytes read. A piece must not end within a character. */
enum doubt json_take(struct json *json, const byte *data, size_t size, size_t *taken)
{
    const byte *at = data, *end = data + size;
    enum doubt doubt = NO_DOUBT;
    while (at < end && !doubt) {
        if (json->state == IN_TEXT)
            at = take_text(json, at, end, &doubt);
        else if (json->state == IN_NUMBER)
            at = take_number(json, at, end, &doubt);
        else if (json->state > IN_TEXT) {
            at += *at == '"' ? json->quote_size : 1;
            doubt = take_letter(json, at[-1]);
        } else if (is_white(*at))
            at++;
        else {
            at += *at == '"' ? json->quote_size : 1;
            doubt = take_mark(json, at[-1]);
        }
    }
    *taken = (size_t)(at - data);
    return doubt;
}

/* To be called after the last piece: is the text complete? Reports a NUMBER at its very end. */
enum doubt json_end(struct json *json)
{
    enum doubt doubt = json->state == IN_NUMBER ? end_number(json) : NO_DOUBT;
    return doubt ? doubt : json->state == AFTER_VALUE && !json->depth ? NO_DOUBT : WRONG;
}

/* A reader on the heap, for a text without doubled quotes. */
struct json *json_new(void)
{
    struct json *json = malloc(sizeof *json);
    if (json)
        json_start(json, 1, 0);
    return json;
}

void json_delete(struct json *json)
{
    json_free(json);
    free(json);
}

const char *json_number(const struct json *json)
{
    return json->number;
}
