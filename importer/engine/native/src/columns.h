/*
 * A look at many records, column by column: what is to be done for a value is then known before it is read.
 */
#include "values.h"

/* The fields of one column in records that stand one after another; see usual_values(). */
struct column {
    const byte *data;
    const uint32_t *ends;  /* the places where they end; those where they begin stand right before */
    size_t records, marks; /* the latter in each record */
    size_t delimiter_size; /* of what stands before each, in bytes */
    byte mark;             /* what stands after each */
};

/*
 * How fields are told apart. BARE: none is in quotes, there is no escape, delimiters have one byte. QUOTED: the same, but
 * quotes may tell where a field ends. FULL: all that `struct marks` knows.
 */
enum style { BARE_FIELDS, QUOTED_FIELDS, FULL_FIELDS, STYLES };

/* How many of the column's values are usual, from the first one on. */
static inline __attribute__((always_inline)) size_t usual_values(
    const struct column *given, const struct field *field, const struct marks *marks, uint32_t kind, enum style style)
{
    const struct column column = *given;
    const uint32_t *end = column.ends;
    for (size_t record = 0; record < column.records; record++, end += column.marks) {
        const byte *at = column.data + (uint32_t)(end[-1] + column.delimiter_size), *stop = column.data + end[0];
        if (*stop != column.mark)
            return record;
        int enclosed = style != BARE_FIELDS && marks->quote && *at == marks->quote;
        size_t length = (size_t)(stop - at) - 2 * (size_t)enclosed;
        if (!is_usual(field, kind, at + enclosed, length, enclosed, marks, style != FULL_FIELDS))
            return record;
    }
    return column.records;
}

typedef size_t usual_column(const struct column *, const struct field *, const struct marks *);

#define LOOK(NAME, KIND, STYLE) \
    static size_t NAME(const struct column *column, const struct field *field, const struct marks *marks) \
    { \
        return usual_values(column, field, marks, KIND, STYLE); \
    }
#define LOOKS(NAME, KIND) \
    LOOK(NAME##_bare, KIND, BARE_FIELDS) LOOK(NAME##_quoted, KIND, QUOTED_FIELDS) LOOK(NAME##_full, KIND, FULL_FIELDS)

LOOKS(text, TEXT)
LOOKS(whole, WHOLE)
LOOKS(fixed, FIXED)
LOOKS(floating, FLOATING)
LOOKS(moment, MOMENT)
LOOKS(stamp, STAMP)
LOOKS(other, field->kind)

/* The frequent kinds have loops of their own. */
static inline usual_column *usual_of(uint32_t kind, enum style style)
{
#define ALL(NAME) {NAME##_bare, NAME##_quoted, NAME##_full}
    static usual_column *const looks[][STYLES] = {
        [TEXT] = ALL(text), [WHOLE] = ALL(whole), [FIXED] = ALL(fixed), [FLOATING] = ALL(floating),
        [MOMENT] = ALL(moment), [STAMP] = ALL(stamp),
    };
    static usual_column *const others[STYLES] = ALL(other);
    return kind <= STAMP && looks[kind][style] ? looks[kind][style] : others[style];
}
