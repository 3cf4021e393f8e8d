/* SPDX-License-Identifier: MIT */
/* The moving window through which the data section is read: memory stays bounded, whatever the file's size. */
#include "perf_priv.h"

static int fill_window(struct assay_perf *f, uint64_t at)
{
    uint64_t left = f->end - at;
    size_t want = left < PERF_WINDOW ? (size_t)left : PERF_WINDOW;
    int64_t got = assay_source_read(&f->src, at, f->window, want);
    f->window_at = at;
    f->window_len = got < 0 ? 0 : (size_t)got;
    return got < 0 ? (int)got : 0;
}

int64_t assay_pf_peek(struct assay_perf *f, uint64_t at, size_t want, const uint8_t **p)
{
    if (at >= f->end)
        return 0;
    if (want > f->end - at)
        want = (size_t)(f->end - at);
    bool inside =
        at >= f->window_at && at - f->window_at <= f->window_len && want <= f->window_len - (size_t)(at - f->window_at);
    if (!inside) {
        int rc = fill_window(f, at);
        if (rc < 0)
            return rc;
    }
    *p = f->window + (at - f->window_at);
    return (int64_t)(f->window_len - (size_t)(at - f->window_at));
}
