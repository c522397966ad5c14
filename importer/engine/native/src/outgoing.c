/*
 * The copying of a feed's pieces into the client library's buffers, for outgoing.py.
 */
#include "bytes.h"

/* What is being sent: the rest of a piece, and what fetches the next one; that gives 0 at the end, less for an error. */
struct outgoing {
    const byte *rest;
    size_t left;
    int (*fetch)(void);
};

/* Fill the buffer as the client library's local_infile_read does: how many bytes, 0 at the end, less for an error. */
int next_bytes(void *state, char *buffer, unsigned int size)
{
    struct outgoing *outgoing = state;
    if (!outgoing->left) {
        int fetched = outgoing->fetch();
        if (fetched <= 0)
            return fetched;
    }
    if (size > outgoing->left)
        size = (unsigned int)outgoing->left;
    memcpy(buffer, outgoing->rest, size);
    outgoing->rest += size;
    outgoing->left -= size;
    return (int)size;
}
