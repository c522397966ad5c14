/*
 * What occurs in some bytes, for source/records/byte_scan.py, told by one look over all of them.
 */
#include "bytes.h"

struct survey {
    uint64_t line_feeds;
    uint32_t beyond_ascii; /* whether there is a byte above 127 */
    uint32_t empty_line;   /* whether a line end comes first, or right after another one */
    uint32_t null_letters; /* whether the letters NULL occur */
};

/* What has been found so far, of each byte of a width by itself: one that is not zero says yes, LFs are counted. */
struct found {
    wide line_feeds, beyond_ascii, empty_line, null_letters;
};

/* No more fits into a byte. */
enum { MOST_TURNS = 255 };
/* Bytes that are read behind a width. */
enum { BEHIND = 3 };

static inline void look(const byte *at, struct found *found)
{
    wide bytes = load_wide(at), second = load_wide(at + 1), third = load_wide(at + 2), fourth = load_wide(at + 3);
    wide feed = (wide)(bytes == '\n'), feed_next = (wide)(second == '\n');
    wide carriage_next = (wide)(second == '\r');
    found->line_feeds -= feed;
    found->beyond_ascii |= bytes;
    found->empty_line |= (feed & (feed_next | carriage_next)) | ((wide)(bytes == '\r') & carriage_next);
    found->null_letters |= (wide)((bytes == 'N') & (second == 'U') & (third == 'L') & (fourth == 'L'));
}

static inline uint64_t sum(wide counts)
{
    uint64_t total = 0;
    for (unsigned place = 0; place < WIDTH; place++)
        total += counts[place];
    return total;
}

void survey(const byte *data, size_t size, struct survey *result)
{
    const byte *at = data, *end = data + size;
    struct found found = {0};
    uint64_t line_feeds = 0;
    while (end - at >= WIDTH + BEHIND) {
        for (unsigned turn = 0; turn < MOST_TURNS && end - at >= WIDTH + BEHIND; turn++, at += WIDTH)
            look(at, &found);
        line_feeds += sum(found.line_feeds);
        found.line_feeds ^= found.line_feeds;
    }
    /* Zeros after the last byte are nothing that is looked for. */
    byte rest[WIDTH + WIDTH + BEHIND] = {0};
    memcpy(rest, at, (size_t)(end - at));
    look(rest, &found);
    look(rest + WIDTH, &found);
    result->line_feeds = line_feeds + sum(found.line_feeds);
    result->beyond_ascii = bits_of_wide((wide)(found.beyond_ascii > 127)) != 0;
    result->empty_line = bits_of_wide(found.empty_line) || (size && (*data == '\n' || *data == '\r'));
    result->null_letters = bits_of_wide(found.null_letters) != 0;
}
