/*
 * Reads JSON in one pass and in pieces: is it valid, and does MySQL keep all of it?
 */
#include "../bytes.h"

/*
 * WRONG: not JSON that MySQL takes. NUMBER: a number has more digits than are surely kept; reading can continue.
 * UNSURE: the text must be checked as a whole.
 */
enum doubt { NO_DOUBT, NUMBER, WRONG, UNSURE };

/* As in json_documents.py and values.md: how deep MySQL nests, and how long a name may be, in bytes. */
enum { DEEPEST = 100, LONGEST_NAME = 65535, LONGEST_JSON_NUMBER = 63, FEW_NAMES = 64 };

/*
 * State of a reader. `objects` has a bit for each level: 1 for an object, 0 for an array. `first`: index of a level's
 * first name among the `count` hashes in `names`. `number` ends with a zero byte.
 */
struct json {
    uint32_t state, depth, hex, hex_left;
    byte is_name, is_low; /* the text is the name of a value; the escape is the second half of a character */
    byte quote_size;      /* how many bytes stand for a quote */
    byte ascii_only;      /* bytes beyond ASCII are UNSURE, else they are UTF-8 */
    const char *rest;     /* of a word */
    uint64_t objects[2], hash;
    size_t name_length, number_length;
    char number[LONGEST_JSON_NUMBER + 1];
    size_t count, room, first[DEEPEST + 1];
    uint64_t *names, few[FEW_NAMES];
};

void json_start(struct json *json, byte quote_size, byte ascii_only);
enum doubt json_take(struct json *json, const byte *data, size_t size, size_t *taken);
enum doubt json_end(struct json *json);
void json_free(struct json *json);
