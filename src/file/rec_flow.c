/* SPDX-License-Identifier: MIT */
/* The flow of one stream: windows of bytes into the flow decoder, and by the time that it tells, tasks and address spaces. */
#include "rec_priv.h"

#include <assay/base.h>

#include <string.h>

enum {
    WINDOW = 2 << 20,
    AUX_TRUNCATED = 1,  /* flag of AUX: the buffer was full */
    MOST_MTC_FREQ = 15, /* the fields of the hardware: what a damaged file has above is not used */
    MOST_RATIO = 255,
};

struct rec_break { /* data is missing before this position of the stream */
    uint64_t position, bytes;
    const char *what;
};

struct reader {
    const struct assay_pt_recording *rec;
    const struct rec_stream *s;
    struct assay_flow *flow;
    struct assay_view *now; /* of the present task */
    struct assay_view **view;
    size_t views, view_room;
    struct table_map view_of_pid;
    size_t task; /* the present one */
    bool timed;  /* the trace tells times that compare with those of the records */
    int failed;  /* of the callback, which cannot return it */
    uint8_t *buf;
    struct rec_break *cut;
    size_t cuts, cut_room;
};

/* ---- tasks and address spaces ---- */

/* The view of a process, made on first use; NULL: no memory. Without times everything has happened. */
static struct assay_view *view_of(struct reader *r, uint32_t pid)
{
    uint32_t *place = table_map_at(&r->view_of_pid, pid);
    if (!place)
        return NULL;
    if (*place)
        return r->view[*place - 1];
    if (!table_grow(&r->view, &r->view_room, r->views + 1, sizeof *r->view) ||
        assay_view_new(r->rec->image, pid, &r->view[r->views]) < 0)
        return NULL;
    *place = (uint32_t)++r->views;
    uint64_t low, high;
    if (!r->timed)
        assay_view_advance(r->view[r->views - 1], UINT64_MAX, &low, &high);
    return r->view[r->views - 1];
}

static void advance(struct reader *r, uint64_t ns)
{
    uint64_t low, high;
    if (assay_view_advance(r->now, ns, &low, &high) > 0)
        assay_flow_forget(r->flow, low, high);
}

static void enter_task(struct reader *r, const struct assay_pt_task *t)
{
    struct assay_view *view = view_of(r, t->pid);
    if (!view || assay_flow_set_view(r->flow, view) < 0) {
        r->failed = ASSAY_E_MEMORY;
        return;
    }
    r->now = view;
    assay_flow_task(r->flow, t->pid, t->tid);
}

static void on_time(void *ctx, struct assay_flow *flow, uint64_t tsc)
{
    struct reader *r = ctx;
    (void)flow;
    if (!r->timed)
        return;
    uint64_t ns = assay_perf_tsc_to_ns(&r->rec->info, tsc);
    const struct assay_pt_stream *s = &r->s->pub;
    size_t before = r->task;
    while (r->task + 1 < s->tasks && s->task[r->task + 1].time <= ns)
        r->task++;
    if (r->task != before)
        enter_task(r, &s->task[r->task]);
    advance(r, ns);
}

/* ---- breaks ---- */

static int add_break(struct reader *r, uint64_t position, uint64_t bytes, const char *what)
{
    if (!table_grow(&r->cut, &r->cut_room, r->cuts + 1, sizeof *r->cut))
        return ASSAY_E_MEMORY;
    r->cut[r->cuts++] = (struct rec_break){position, bytes, what};
    return ASSAY_OK;
}

/* Where the AUX offset is in the stream. */
static uint64_t position_of(const struct rec_stream *s, uint64_t offset)
{
    size_t low = 0, high = s->pub.extents; /* the first extent that ends at or after offset */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->pub.extent[mid].offset + s->pub.extent[mid].size < offset)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == s->pub.extents)
        return s->pub.size;
    const struct assay_pt_extent *e = &s->pub.extent[low];
    return s->start[low] + (offset > e->offset ? offset - e->offset : 0);
}

static int compare_breaks(const void *a, const void *b)
{
    const struct rec_break *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

/* Jumps of the AUX offset, and places where the kernel says that the buffer was full. */
static int find_breaks(struct reader *r)
{
    const struct assay_pt_stream *s = &r->s->pub;
    int rc = ASSAY_OK;
    for (size_t i = 1; i < s->extents && rc == ASSAY_OK; i++) {
        uint64_t end = s->extent[i - 1].offset + s->extent[i - 1].size;
        if (s->extent[i].offset != end)
            rc = add_break(r, r->s->start[i], s->extent[i].offset - end, "a piece of the AUX data is not in the file");
    }
    for (size_t i = 0; i < s->losts && rc == ASSAY_OK; i++)
        if (s->lost[i].flags & AUX_TRUNCATED)
            rc = add_break(r, position_of(r->s, s->lost[i].offset), 0, "the AUX buffer was full");
    if (r->cuts > 0)
        qsort(r->cut, r->cuts, sizeof *r->cut, compare_breaks);
    return rc;
}

/* ---- bytes ---- */

/* Feeds bytes [from, to) of the stream; nothing of them is left over. */
static int feed(struct reader *r, uint64_t from, uint64_t to)
{
    size_t have = 0;
    for (;;) {
        uint64_t left = to - from;
        size_t want = left < WINDOW - have ? (size_t)left : WINDOW - have;
        int64_t got = assay_pt_stream_read(r->rec, &r->s->pub, from, r->buf + have, want);
        if (got != (int64_t)want)
            return ASSAY_E_SYSTEM;
        have += want;
        from += want;
        size_t used = 0;
        int rc = assay_flow_feed(r->flow, r->buf, have, from == to, &used);
        if (rc != ASSAY_OK || r->failed)
            return rc != ASSAY_OK ? rc : r->failed;
        if (from == to)
            return ASSAY_OK;
        have -= used;
        memmove(r->buf, r->buf + used, have);
    }
}

static int feed_all(struct reader *r)
{
    uint64_t from = 0;
    for (size_t i = 0; i < r->cuts; i++) {
        uint64_t bytes = r->cut[i].bytes;
        const char *what = r->cut[i].what;
        for (; i + 1 < r->cuts && r->cut[i + 1].position == r->cut[i].position; i++)
            bytes += r->cut[i + 1].bytes;
        int rc = feed(r, from, r->cut[i].position);
        if (rc == ASSAY_OK)
            rc = assay_flow_lost(r->flow, bytes, what);
        if (rc != ASSAY_OK)
            return rc;
        from = r->cut[i].position;
    }
    return feed(r, from, r->s->pub.size);
}

/* ---- the whole ---- */

static struct assay_flow_config flow_config(const struct assay_pt_recording *rec, const struct assay_pt_stream *s)
{
    const struct assay_perf_pt_info *i = &rec->info;
    uint64_t mtc = i->mtc_freq_bits;
    uint64_t mtc_freq = mtc ? (i->config & mtc) >> __builtin_ctzll(mtc) : 0;
    return (struct assay_flow_config){
        .family = rec->family,
        .model = rec->model,
        .stepping = rec->stepping,
        .mode = rec->mode,
        .mtc_freq = mtc_freq <= MOST_MTC_FREQ ? (unsigned)mtc_freq : 0,
        .tsc_ctc_n = (uint32_t)i->tsc_ctc_n,
        .tsc_ctc_d = (uint32_t)i->tsc_ctc_d,
        .max_ratio = i->max_nonturbo_ratio <= MOST_RATIO ? (unsigned)i->max_nonturbo_ratio : 0,
        .tsc_reference = s->extents ? s->extent->reference : 0,
    };
}

static int open_reader(struct reader *r, assay_flow_batch_fn *on_batch, void *ctx)
{
    const struct assay_perf_pt_info *i = &r->rec->info;
    const struct assay_pt_task *first = r->s->pub.task;
    r->timed = i->time_mult != 0 && (i->config & i->tsc_bit) != 0;
    struct assay_flow_config config = flow_config(r->rec, &r->s->pub);
    r->buf = malloc(WINDOW);
    r->now = view_of(r, first->pid);
    if (!r->buf || !r->now)
        return ASSAY_E_MEMORY;
    int rc = assay_flow_new(&config, r->now, on_batch, ctx, &r->flow);
    if (rc < 0)
        return rc;
    assay_flow_on_time(r->flow, on_time, r);
    assay_flow_task(r->flow, first->pid, first->tid);
    return find_breaks(r);
}

static void close_reader(struct reader *r)
{
    assay_flow_free(r->flow);
    for (size_t i = 0; i < r->views; i++)
        assay_view_free(r->view[i]);
    free(r->view);
    free(r->cut);
    free(r->buf);
    table_map_free(&r->view_of_pid);
}

static void close_ledger(const struct reader *r, struct assay_ledger *ledger)
{
    *ledger = *assay_flow_ledger(r->flow);
    ledger->in += r->s->overlap;
    ledger->skipped[ASSAY_SKIP_OVERLAP] += r->s->overlap;
}

int assay_pt_recording_flow(const struct assay_pt_recording *rec, const struct assay_pt_stream *s,
                            assay_flow_batch_fn *on_batch, void *ctx, struct assay_ledger *ledger,
                            struct assay_error *e)
{
    struct reader r = {.rec = rec, .s = (const struct rec_stream *)s};
    int rc = open_reader(&r, on_batch, ctx);
    if (rc == ASSAY_OK)
        rc = feed_all(&r);
    if (r.flow && ledger)
        close_ledger(&r, ledger);
    close_reader(&r);
    if (rc == ASSAY_E_MEMORY)
        assay_error_set(e, rc, UINT64_MAX, "no memory to decode stream %u", s->idx);
    else if (rc == ASSAY_E_SYSTEM)
        assay_error_set(e, rc, UINT64_MAX, "the trace of stream %u cannot be read from the file", s->idx);
    return rc;
}
