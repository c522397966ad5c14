/*
 * Copies the pieces of a feed into the client library's buffers, for mysql/infile_buffer.py.
 */
#include "bytes.h"

/*
 * The data being sent: the `left` bytes at `rest` of the current piece. `fetch` sets both to the next piece; it returns
 * 0 at the end, less than 0 for an error.
 */
struct infile_buffer {
    const byte *rest;
    size_t left;
    int (*fetch)(void);
};

/*
 * Fills the buffer, as local_infile_read of the client library. Returns bytes written, 0 at the end, < 0 for an error.
 */
int read_infile_buffer(void *state, char *buffer, unsigned int size)
{
    struct infile_buffer *infile = state;
    if (!infile->left) {
        int fetched = infile->fetch();
        if (fetched <= 0)
            return fetched;
    }
    if (size > infile->left)
        size = (unsigned int)infile->left;
    memcpy(buffer, infile->rest, size);
    infile->rest += size;
    infile->left -= size;
    return (int)size;
}
