/* SPDX-License-Identifier: MIT */
/* What each of the two decoders makes of one trace, in a form that can be compared. */
#ifndef SIDES_H
#define SIDES_H

#include "walker.h"

struct point {
    uint64_t insns, value; /* executed before it; cycles or TSC */
};

struct side {
    uint64_t *ip; /* executed instructions */
    size_t n;
    size_t sure;     /* instructions before the first error; n when there was none */
    uint64_t *maybe; /* walked over since the last decided branch when that error came: the oracle's only */
    size_t maybe_n;
    bool erred;
    uint64_t error_offset, error_ip;
    const char *error;
    struct point *cycles; /* cumulative, one for each place */
    size_t cycles_n;
    struct point *time;
    size_t time_n;
};

struct side side_of_oracle(const struct text *text, const uint8_t *data, size_t size);
/* Fed in pieces of at most `piece` new bytes; 0: at once. With paths, runs may be told several at a time. */
struct side side_of_flow(const struct text *text, const uint8_t *data, size_t size, size_t piece, bool paths);
void side_free(struct side *s);

#endif
