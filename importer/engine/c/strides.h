/*
 * What stands between fields, found 64 bytes at a time, so that no field waits for the one before it.
 */
#pragma once
#include "bytes.h"

struct marks {
    byte delimiter, quote, escape; /* 0: none */
    byte carriage;                 /* whether lines end in CR LF instead of LF */
    byte told;                     /* what quotes tell beside where a field ends: values.h's `enum told` */
};

enum { STRIDE = 64 };

/*
 * What the bytes before some stride leave to it: all ones if it begins within quotes; one after a mark, a closing quote,
 * an escape.
 */
struct before {
    uint64_t inside, mark, closing, escape;
};

/* A bit for each of the stride's bytes that is this one. */
static inline uint64_t places_of(const byte *stride, byte wanted)
{
    uint64_t found = 0;
    for (unsigned part = 0; part < STRIDE; part += 16)
        found |= (uint64_t)bits((sixteen)(load(stride + part) == wanted)) << part;
    return found;
}

/* Ones for the bytes after an escape, which are no marks and no escapes themselves. */
static inline uint64_t after_escapes(uint64_t escapes, struct before *before)
{
    uint64_t escaped = before->escape;
    before->escape = 0;
    for (escapes &= ~escaped; escapes;) {
        uint64_t escape = escapes & -escapes;
        escaped |= escape << 1;
        before->escape = escape >> (STRIDE - 1);
        escapes &= ~(escape | escape << 1);
    }
    return escaped;
}

/*
 * Of the marks between fields in a stride, those that are not within quotes; NOT_PLAIN if a quote does not stand at the
 * begin or at the end of its field, nor is one of two that stand for one.
 */
#define NOT_PLAIN UINT64_MAX
static inline uint64_t outside_quotes(uint64_t marks, uint64_t quotes, struct before *before)
{
    if (!(quotes | before->inside | before->closing)) {
        before->mark = marks >> (STRIDE - 1);
        return marks;
    }
    /* Ones from each opening quote up to the one that closes it, which is left out. */
    uint64_t inside = quotes;
    for (unsigned step = 1; step < STRIDE; step *= 2)
        inside ^= inside << step;
    inside ^= before->inside;
    marks &= ~inside;
    uint64_t opening = quotes & inside, closing = quotes & ~inside;
    uint64_t after_closing = closing << 1 | before->closing, second = opening & after_closing;
    if ((opening & ~second & ~(marks << 1 | before->mark)) || (after_closing & ~second & ~marks))
        return NOT_PLAIN;
    before->inside = inside >> (STRIDE - 1) ? ~(uint64_t)0 : 0;
    before->mark = marks >> (STRIDE - 1);
    before->closing = closing >> (STRIDE - 1);
    return marks;
}
