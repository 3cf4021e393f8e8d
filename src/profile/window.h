/* SPDX-License-Identifier: MIT */
/* Shares cycles among what was executed since the last exact time. */
#ifndef ASSAY_PROFILE_WINDOW_H
#define ASSAY_PROFILE_WINDOW_H

#include <assay/profile.h>

struct window_bin {
    struct assay_profile_counts counts;
    uint64_t open; /* instructions since the last exact time */
};

struct window {
    struct window_bin *bin;
    size_t bins, room;
    uint32_t *touched; /* bins with open > 0 */
    size_t touched_n, touched_room;
    uint64_t open; /* sum over them */
    uint32_t last; /* took part in the last closed window; UINT32_MAX: none */
};

void window_free(struct window *w);
/* A further bin; its index, or UINT32_MAX when memory is out. */
uint32_t window_new_bin(struct window *w);
/* Tracing begins anew: nothing executed before may get what comes. */
void window_restart(struct window *w);
/* `cycles` passed since the last exact time. The cycles that no execution can be charged with: all or none. */
double window_close(struct window *w, double cycles);

/* Room for touched[] was made when the bin was. */
static inline void window_add(struct window *w, uint32_t bin, uint64_t insns)
{
    struct window_bin *b = &w->bin[bin];
    if (b->open == 0)
        w->touched[w->touched_n++] = bin;
    b->open += insns;
    b->counts.insns += insns;
    w->open += insns;
}

#endif
