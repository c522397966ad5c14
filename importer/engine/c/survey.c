/*
 * What occurs in some bytes, for records/survey.py, told by one look over all of them.
 */
#include "bytes.h"

struct survey {
    uint64_t line_feeds;
    uint32_t beyond_ascii; /* whether there is a byte above 127 */
    uint32_t empty_line;   /* whether a line end comes first, or right after another one */
    uint32_t null_letters; /* whether the letters NULL occur */
};

/* What has been found so far, of each sixteenth byte by itself: a byte that is not zero says yes, LFs are counted. */
struct found {
    sixteen line_feeds, beyond_ascii, empty_line, null_letters;
};

/* No more fits into a byte. */
enum { MOST_TURNS = 255 };

/* Three bytes after the sixteen can be read, too. */
static inline void look(const byte *at, struct found *found)
{
    sixteen bytes = load(at), second = load(at + 1), third = load(at + 2), fourth = load(at + 3);
    sixteen feed = (sixteen)(bytes == '\n'), feed_next = (sixteen)(second == '\n');
    sixteen carriage_next = (sixteen)(second == '\r');
    found->line_feeds -= feed;
    found->beyond_ascii |= bytes;
    found->empty_line |= (feed & (feed_next | carriage_next)) | ((sixteen)(bytes == '\r') & carriage_next);
    found->null_letters |= (sixteen)((bytes == 'N') & (second == 'U') & (third == 'L') & (fourth == 'L'));
}

static inline uint64_t sum(sixteen counts)
{
    uint64_t total = 0;
    for (unsigned place = 0; place < sizeof counts; place++)
        total += counts[place];
    return total;
}

void survey(const byte *data, size_t size, struct survey *result)
{
    const byte *at = data, *end = data + size;
    struct found found = {0};
    uint64_t line_feeds = 0;
    while (end - at >= 16 + 3) {
        for (unsigned turn = 0; turn < MOST_TURNS && end - at >= 16 + 3; turn++, at += 16)
            look(at, &found);
        line_feeds += sum(found.line_feeds);
        found.line_feeds ^= found.line_feeds;
    }
    /* Zeros after the last byte are nothing that is looked for. */
    byte rest[16 + 16 + 3] = {0};
    memcpy(rest, at, (size_t)(end - at));
    look(rest, &found);
    look(rest + 16, &found);
    result->line_feeds = line_feeds + sum(found.line_feeds);
    result->beyond_ascii = bits((sixteen)(found.beyond_ascii > 127)) != 0;
    result->empty_line = bits(found.empty_line) || (size && (*data == '\n' || *data == '\r'));
    result->null_letters = bits(found.null_letters) != 0;
}
