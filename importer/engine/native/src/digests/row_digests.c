/*
 * The digest of rows of a file, for load/readback/file_digests.py: the number of rows and the sum of their hashes, to
 * be compared with what the server computes of the stored rows (load/readback/digest_sql.py).
 *
 * Each value is brought into the form in which the server shows it, and gets a CRC-32. The hash of a row binds these
 * together, so that a value in another row or column changes it.
 */
#include "crc32.h"
#include "field_values.h"

/* As in load/readback/canonical_forms.py. SKIPPED: the field goes into no column. */
enum form { SKIPPED, VERBATIM, STRIPPED, PADDED, NUMBER, DAY, MOMENT, CLOCK, BITS, DOUBLE };

/*
 * A field of the file. `scale`: digits after the point, or the length that zero bytes PAD to. `factor` is below 2^31.
 * `nulls` are `null_count` words, each after a byte with its length, that stand for NULL.
 */
struct digest_field {
    uint32_t form, scale, factor, null_count;
    const byte *nulls;
};

struct digest_rule {
    struct marks marks;
    size_t count;
    uint32_t null_crc; /* stands for NULL */
    const struct digest_field *fields;
};

/* The number of rows, and the sum of their hashes. */
struct digest {
    uint64_t rows, sum;
};

/* The CRC-32 of a number as decimal text. */
static inline uint32_t crc_of_number(uint64_t number)
{
    byte text[32];
    byte *end = text + 20, *at = end;
    do
        *--at = '0' + (byte)(number % 10);
    while (number /= 10);
    return crc32_of(0, at, (size_t)(end - at));
}

static int is_null_word(const struct digest_field *field, struct text text)
{
    const byte *word = field->nulls;
    for (uint32_t number = 0; number < field->null_count; number++, word += 1 + word[0])
        if (word[0] == text.length && !memcmp(word + 1, text.at, text.length))
            return 1;
    return 0;
}

/* Whether the value is NULL; -1 if the server and the file may disagree about that. */
static inline int is_null(
    const struct digest_field *field, const struct value *value, struct text text, const struct marks *marks)
{
    if (marks->escape && value->text.length == 2 && value->text.at[0] == marks->escape && value->text.at[1] == 'N')
        return 1;
    if (!value->enclosed && !value->text.length && (marks->null_rules & EMPTY_IS_NULL))
        return 1;
    if (field->null_count && is_null_word(field, text))
        return 1;
    int is_word = (marks->null_rules & WORD_IS_NULL) && !value->enclosed && text.length == 4;
    return is_word && !memcmp(text.at, "NULL", 4) ? -1 : 0;
}

/* The CRC-32 of a value that is not NULL. Returns 0 if the server's form of it is not known. */
static inline int crc_of(const struct digest_field *field, struct text raw, uint32_t *crc)
{
    static const byte zeros[64 + 8];
    byte written[LONGEST_WRITTEN];
    struct text text = raw;
    int known = 1;
    switch (field->form) {
    case STRIPPED:
        while (text.length && text.at[text.length - 1] == ' ')
            text.length--;
        break;
    case NUMBER:
        known = write_number(raw, field->scale, written, &text);
        break;
    case DAY:
    case MOMENT:
        known = write_moment(raw, field->form == MOMENT, field->scale, written, &text);
        break;
    case CLOCK:
        known = write_clock(raw, field->scale, written, &text);
        break;
    case BITS:
        known = write_bits(raw, written, &text);
        break;
    case DOUBLE:
        known = write_double(raw, written, &text);
        break;
    }
    *crc = crc32_of(0, text.at, text.length);
    if (field->form == PADDED)
        for (size_t length = text.length, more; length < field->scale; length += more) {
            more = field->scale - length < 64 ? field->scale - length : 64;
            *crc = crc32_of(*crc, zeros, more);
        }
    return known;
}

/* Reads an integer in decimal digits, without spaces. Returns 0 if the text is none, or one of more than 18 digits. */
static int read_integer(struct text text, int64_t *number)
{
    size_t at = text.length && (text.at[0] == '-' || text.at[0] == '+');
    if (at == text.length || text.length - at > 18)
        return 0;
    int64_t read = 0;
    for (; at < text.length; at++) {
        if (text.at[at] < '0' || text.at[at] > '9')
            return 0;
        read = read * 10 + (text.at[at] - '0');
    }
    *number = text.at[0] == '-' ? -read : read;
    return 1;
}

/*
 * Adds the value at `at` to the hash of its row, and reads it into `key` unless that is 0. Returns where the mark behind
 * it begins, 0 if its form is not known, or the key is no integer.
 */
static inline const byte *add_value(
    const struct digest_rule *rule, const struct digest_field *field, const byte *at, const byte *end, byte *scratch,
    uint64_t *mixed, int64_t *key)
{
    struct value value;
    at = next_value(at, end, &rule->marks, &value);
    if (!at || field->form == SKIPPED)
        return at;
    struct text text = value.special ? decoded(&value, &rule->marks, scratch) : value.text;
    int null = is_null(field, &value, text, &rule->marks);
    uint32_t crc = rule->null_crc;
    if (null < 0 || (!null && !crc_of(field, text, &crc)))
        return 0;
    if (key && (null || !read_integer(text, key)))
        return 0;
    *mixed ^= (uint64_t)crc * field->factor;
    return at;
}

/*
 * Adds the values of the record at `at` to its hash, and reads that of `key_field` into `key` unless that is 0. Returns
 * where the record ends, 0 as add_value().
 */
static inline const byte *add_record(
    const struct digest_rule *rule, const byte *at, const byte *end, byte *scratch, uint64_t *mixed, size_t key_field,
    int64_t *key)
{
    const struct marks *marks = &rule->marks;
    for (size_t number = 0; number < rule->count; number++) {
        at = add_value(rule, &rule->fields[number], at, end, scratch, mixed, number == key_field ? key : 0);
        if (!at)
            return 0;
        if (number + 1 < rule->count) {
            if (at == end || *at == '\n' || *at == '\r')
                return 0;
            at += marks->delimiter_size;
        }
    }
    return after_line_end(at, end, marks);
}

/*
 * Adds the records in the data to the digest. Returns the bytes up to the first record that has a value of unknown form
 * or the wrong number of fields. `scratch` has as many bytes as the data. 16 more bytes of both must be accessible.
 */
size_t digest_rows(
    const byte *data, size_t size, const struct digest_rule *rule, byte *scratch, struct digest *digest)
{
    const byte *at = data, *end = data + size;
    while (at < end) {
        uint64_t mixed = 0;
        const byte *next = add_record(rule, at, end, scratch, &mixed, 0, 0);
        if (!next)
            break;
        digest->rows++;
        digest->sum += crc_of_number(mixed);
        at = next;
    }
    return (size_t)(at - data);
}

/*
 * Stores the key, an integer in the field `key_field`, and the hash of each record in the data, of which there are at
 * most `most`. Returns their number, 0 if one has a key or a value of unknown form, or the wrong number of fields.
 * `scratch` and further bytes as for digest_rows().
 */
size_t hash_rows(
    const byte *data, size_t size, const struct digest_rule *rule, byte *scratch, size_t key_field, size_t most,
    int64_t *keys, uint32_t *hashes)
{
    const byte *at = data, *end = data + size;
    size_t rows = 0;
    for (; at < end; rows++) {
        uint64_t mixed = 0;
        at = rows < most ? add_record(rule, at, end, scratch, &mixed, key_field, &keys[rows]) : 0;
        if (!at)
            return 0;
        hashes[rows] = crc_of_number(mixed);
    }
    return rows;
}
