/*
 * Finds line feeds, empty lines, the letters NULL and bytes beyond ASCII in one pass, for source/records/byte_scan.py.
 */
#include "bytes.h"

struct byte_scan {
    uint64_t line_feeds;
    uint32_t beyond_ascii; /* whether there is a byte above 127 */
    uint32_t empty_line;   /* whether a line end comes first, or right after another one */
    uint32_t null_letters; /* whether the letters NULL occur */
};

/* Results so far for each byte of a vector: LFs are counted, in the others any byte that is not zero means yes. */
struct lanes {
    wide line_feeds, beyond_ascii, empty_line, null_letters;
};

/* Vectors after which the counts of LFs, a byte each, are added up; bytes that are read behind a vector. */
enum { MOST_VECTORS = 255, BEHIND = 3 };

static inline void scan_width(const byte *at, struct lanes *lanes)
{
    wide bytes = load_wide(at), second = load_wide(at + 1), third = load_wide(at + 2), fourth = load_wide(at + 3);
    wide feed = (wide)(bytes == '\n'), feed_next = (wide)(second == '\n');
    wide carriage_next = (wide)(second == '\r');
    lanes->line_feeds -= feed;
    lanes->beyond_ascii |= bytes;
    lanes->empty_line |= (feed & (feed_next | carriage_next)) | ((wide)(bytes == '\r') & carriage_next);
    lanes->null_letters |= (wide)((bytes == 'N') & (second == 'U') & (third == 'L') & (fourth == 'L'));
}

static inline uint64_t sum(wide counts)
{
    uint64_t total = 0;
    for (unsigned place = 0; place < WIDTH; place++)
        total += counts[place];
    return total;
}

void scan_bytes(const byte *data, size_t size, struct byte_scan *result)
{
    const byte *at = data, *end = data + size;
    struct lanes lanes = {0};
    uint64_t line_feeds = 0;
    while (end - at >= WIDTH + BEHIND) {
        for (unsigned turn = 0; turn < MOST_VECTORS && end - at >= WIDTH + BEHIND; turn++, at += WIDTH)
            scan_width(at, &lanes);
        line_feeds += sum(lanes.line_feeds);
        lanes.line_feeds ^= lanes.line_feeds;
    }
    /* The zeros after the last byte match nothing. */
    byte rest[WIDTH + WIDTH + BEHIND] = {0};
    memcpy(rest, at, (size_t)(end - at));
    scan_width(rest, &lanes);
    scan_width(rest + WIDTH, &lanes);
    result->line_feeds = line_feeds + sum(lanes.line_feeds);
    result->beyond_ascii = bits_of_wide((wide)(lanes.beyond_ascii > 127)) != 0;
    result->empty_line = bits_of_wide(lanes.empty_line) || (size && (*data == '\n' || *data == '\r'));
    result->null_letters = bits_of_wide(lanes.null_letters) != 0;
}
