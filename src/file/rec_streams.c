/* SPDX-License-Identifier: MIT */
/* Streams: the AUXTRACE pieces of one index in order, who ran on them, and where the kernel lost data. */
#include "rec_priv.h"

enum { MOST_PADDING = 7 }; /* a piece is padded to a multiple of 8, and its size says so */

static int order(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_pieces(const void *a, const void *b)
{
    const struct rec_piece *x = a, *y = b;
    if (x->idx != y->idx)
        return order(x->idx, y->idx);
    if (x->extent.offset != y->extent.offset)
        return order(x->extent.offset, y->extent.offset);
    return order(x->extent.data, y->extent.data);
}

static int compare_marks(const void *a, const void *b)
{
    const struct rec_mark *x = a, *y = b;
    if (x->cpu != y->cpu)
        return order(x->cpu, y->cpu);
    return x->time != y->time ? order(x->time, y->time) : order(x->seq, y->seq);
}

static int compare_lost(const void *a, const void *b)
{
    const struct assay_pt_lost *x = a, *y = b;
    return x->offset != y->offset ? order(x->offset, y->offset) : order(x->time, y->time);
}

static void sort(void *p, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n > 0)
        qsort(p, n, size, compare);
}

/* ---- extents ---- */

/* Puts a piece behind the last extent of s. Where they overlap, the new piece is right about the last bytes, which may be
 * padding in the old one; the rest is a copy (a snapshot), which is left out. */
static void add_extent(struct rec_stream *s, struct assay_pt_extent *extent, uint64_t *start, struct assay_pt_extent e)
{
    size_t n = s->pub.extents;
    struct assay_pt_extent *last = n ? &extent[n - 1] : NULL;
    uint64_t end = last ? last->offset + last->size : 0;
    if (last && e.offset < end) {
        uint64_t again = end - e.offset, tail = again < MOST_PADDING ? again : MOST_PADDING;
        if (e.size <= again)
            tail = 0;
        tail = tail < last->size ? tail : last->size;
        again = again - tail < e.size ? again - tail : e.size;
        last->size -= tail;
        s->pub.size -= tail;
        s->overlap += again;
        e.data += again;
        e.offset += again;
        e.size -= again;
    }
    if (e.size == 0)
        return;
    extent[n] = e;
    start[n] = s->pub.size;
    s->pub.size += e.size;
    s->pub.extents = n + 1;
}

static int make_extents(struct assay_pt_recording *rec, struct rec_collected *c)
{
    sort(c->piece, c->pieces, sizeof *c->piece, compare_pieces);
    rec->extent = calloc(c->pieces, sizeof *rec->extent);
    rec->start = calloc(c->pieces, sizeof *rec->start);
    rec->stream = calloc(c->pieces, sizeof *rec->stream);
    if (!rec->extent || !rec->start || !rec->stream)
        return ASSAY_E_MEMORY;
    struct rec_stream *s = NULL;
    size_t first = 0;
    for (size_t i = 0; i < c->pieces; i++) {
        const struct rec_piece *p = &c->piece[i];
        if (!s || s->pub.idx != p->idx) {
            s = &rec->stream[rec->streams++];
            s->pub.idx = p->idx;
            s->pub.cpu = p->cpu;
            s->pub.tid = p->tid;
            s->pub.extent = rec->extent + i;
            s->start = rec->start + i;
            first = i;
        }
        add_extent(s, rec->extent + first, rec->start + first, p->extent);
    }
    return ASSAY_OK;
}

/* ---- tasks ---- */

static size_t first_mark_of(const struct rec_collected *c, uint32_t cpu)
{
    size_t low = 0, high = c->marks;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (c->mark[mid].cpu < cpu)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Writes who ran on a cpu to task[]: their number. The first holds from the start. */
static size_t tasks_of_cpu(const struct rec_collected *c, uint32_t cpu, struct assay_pt_task *task)
{
    size_t n = 0;
    for (size_t i = first_mark_of(c, cpu); i < c->marks && c->mark[i].cpu == cpu; i++) {
        const struct rec_mark *m = &c->mark[i];
        if (n == 0 || task[n - 1].pid != m->pid || task[n - 1].tid != m->tid)
            task[n++] = (struct assay_pt_task){m->time, m->pid, m->tid};
    }
    if (n > 0)
        task[0].time = 0;
    return n;
}

/* Where nobody was told of: the thread that the trace says. Without its process, its only thread is the process. */
static struct assay_pt_task task_of_thread(const struct rec_collected *c, uint32_t tid)
{
    return (struct assay_pt_task){0, assay_rec_find(&c->pid_of_tid, tid, tid), tid};
}

/* What says where a stream's sideband is: its cpu, or its thread. */
static uint64_t stream_key(uint32_t cpu, uint32_t tid) { return cpu != REC_NOBODY ? cpu : UINT64_C(1) << 32 | tid; }

/* Streams of one cpu share their tasks. `first` gets the first stream of each key. */
static int make_tasks(struct assay_pt_recording *rec, struct rec_collected *c, struct table_map *first)
{
    sort(c->mark, c->marks, sizeof *c->mark, compare_marks);
    size_t used = 0;
    rec->task = calloc(c->marks + rec->streams, sizeof *rec->task);
    if (!rec->task)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < rec->streams; i++) {
        struct assay_pt_stream *s = &rec->stream[i].pub;
        uint32_t *seen = table_map_at(first, stream_key(s->cpu, s->tid));
        if (!seen)
            return ASSAY_E_MEMORY;
        s->task = rec->task + used;
        if (*seen) {
            s->task = rec->stream[*seen - 1].pub.task;
            s->tasks = rec->stream[*seen - 1].pub.tasks;
            continue;
        }
        *seen = (uint32_t)i + 1;
        s->tasks = s->cpu == REC_NOBODY ? 0 : tasks_of_cpu(c, s->cpu, rec->task + used);
        if (s->tasks == 0)
            rec->task[used + s->tasks++] = task_of_thread(c, s->tid);
        used += s->tasks;
    }
    return ASSAY_OK;
}

/* ---- losses ---- */

static const struct rec_stream *stream_of_loss(const struct assay_pt_recording *rec, const struct table_map *first,
                                               const struct rec_loss *l)
{
    uint32_t i = table_map_find(first, stream_key(l->cpu, l->tid));
    if (!i)
        i = table_map_find(first, stream_key(REC_NOBODY, l->tid)); /* streams of threads, records with a cpu */
    return i ? &rec->stream[i - 1] : NULL;
}

/* Counts, gives each stream its part of one array, fills it. */
static int make_losses(struct assay_pt_recording *rec, struct rec_collected *c, const struct table_map *first)
{
    if (c->losses == 0)
        return ASSAY_OK;
    rec->lost = calloc(c->losses, sizeof *rec->lost);
    size_t *at = calloc(rec->streams, sizeof *at);
    if (!rec->lost || !at) {
        free(at);
        return ASSAY_E_MEMORY;
    }
    for (size_t i = 0; i < c->losses; i++) {
        const struct rec_stream *s = stream_of_loss(rec, first, &c->loss[i]);
        if (s)
            rec->stream[s - rec->stream].pub.losts++;
    }
    for (size_t i = 1; i < rec->streams; i++)
        at[i] = at[i - 1] + rec->stream[i - 1].pub.losts;
    for (size_t i = 0; i < rec->streams; i++)
        rec->stream[i].pub.lost = rec->lost + at[i];
    for (size_t i = 0; i < c->losses; i++) {
        const struct rec_stream *s = stream_of_loss(rec, first, &c->loss[i]);
        if (s)
            rec->lost[at[s - rec->stream]++] = c->loss[i].lost;
    }
    for (size_t i = 0; i < rec->streams; i++)
        sort(rec->lost + (at[i] - rec->stream[i].pub.losts), rec->stream[i].pub.losts, sizeof *rec->lost, compare_lost);
    free(at);
    return ASSAY_OK;
}

int assay_rec_make_streams(struct assay_pt_recording *rec, struct rec_collected *c)
{
    if (c->pieces == 0)
        return ASSAY_OK;
    struct table_map first = {0};
    int rc = make_extents(rec, c);
    if (rc == ASSAY_OK)
        rc = make_tasks(rec, c, &first);
    if (rc == ASSAY_OK)
        rc = make_losses(rec, c, &first);
    table_map_free(&first);
    return rc;
}
