/* SPDX-License-Identifier: MIT */
/* Shares cycles among what was executed since the last exact time. */
#include "profile/window.h"

#include "base/table.h"

#include <stdlib.h>

void window_free(struct window *w)
{
    free(w->bin);
    free(w->touched);
    *w = (struct window){.last = UINT32_MAX};
}

uint32_t window_new_bin(struct window *w)
{
    if (w->bins >= UINT32_MAX - 1 || !table_grow(&w->bin, &w->room, w->bins + 1, sizeof *w->bin) ||
        !table_grow(&w->touched, &w->touched_room, w->bins + 1, sizeof *w->touched))
        return UINT32_MAX;
    w->bin[w->bins] = (struct window_bin){0};
    return (uint32_t)w->bins++;
}

void window_restart(struct window *w)
{
    for (size_t i = 0; i < w->touched_n; i++)
        w->bin[w->touched[i]].open = 0;
    w->touched_n = 0;
    w->open = 0;
    w->last = UINT32_MAX;
}

double window_close(struct window *w, double cycles)
{
    if (w->touched_n == 0) {
        if (w->last == UINT32_MAX)
            return cycles;
        w->bin[w->last].counts.cycles += cycles; /* a count too large for one item goes on */
        return 0;
    }
    double each = cycles / (double)w->open;
    for (size_t i = 0; i < w->touched_n; i++) {
        struct window_bin *b = &w->bin[w->touched[i]];
        b->counts.cycles += each * (double)b->open;
        b->counts.timed += b->open;
        b->open = 0;
    }
    w->last = w->touched[w->touched_n - 1];
    w->touched_n = 0;
    w->open = 0;
    return 0;
}
