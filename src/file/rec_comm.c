/* SPDX-License-Identifier: MIT */
/* What threads were called when. */
#include "rec_priv.h"

static int order(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_time(const void *a, const void *b)
{
    const struct rec_comm *x = a, *y = b;
    return x->time != y->time ? order(x->time, y->time) : order(x->seq, y->seq);
}

static int compare_thread(const void *a, const void *b)
{
    const struct rec_comm *x = a, *y = b;
    return x->tid != y->tid ? order(x->tid, y->tid) : compare_time(a, b);
}

/* In the order of time, a fork passes the parent's name on. */
static int inherit(struct rec_comm *comm, size_t n)
{
    struct table_map last = {0}; /* tid to index */
    int rc = ASSAY_OK;
    for (size_t i = 0; i < n && rc == ASSAY_OK; i++) {
        if (!comm[i].name) {
            uint32_t parent = assay_rec_find(&last, comm[i].parent, UINT32_MAX);
            comm[i].name = parent == UINT32_MAX ? "" : comm[parent].name;
        }
        uint32_t *place = table_map_at(&last, comm[i].tid);
        if (place)
            *place = (uint32_t)i + 1;
        else
            rc = ASSAY_E_MEMORY;
    }
    table_map_free(&last);
    return rc;
}

int assay_rec_make_comms(struct assay_pt_recording *rec, struct rec_collected *c)
{
    if (c->comms == 0)
        return ASSAY_OK;
    qsort(c->comm, c->comms, sizeof *c->comm, compare_time);
    int rc = inherit(c->comm, c->comms);
    qsort(c->comm, c->comms, sizeof *c->comm, compare_thread);
    rec->comm = c->comm;
    rec->comms = c->comms;
    c->comm = NULL;
    return rc;
}

/* The last name given up to the time; before the first one, that. */
const char *assay_pt_recording_comm(const struct assay_pt_recording *rec, uint32_t tid, uint64_t time)
{
    size_t low = 0, high = rec->comms; /* the first entry of a greater (tid, time) is in [low, high] */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct rec_comm *m = &rec->comm[mid];
        if (m->tid < tid || (m->tid == tid && m->time <= time))
            low = mid + 1;
        else
            high = mid;
    }
    if (low > 0 && rec->comm[low - 1].tid == tid)
        return rec->comm[low - 1].name;
    return low < rec->comms && rec->comm[low].tid == tid ? rec->comm[low].name : "";
}
