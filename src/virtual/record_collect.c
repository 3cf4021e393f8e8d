/* SPDX-License-Identifier: MIT */
/* Reads back what a run left in the spool: events by time, streams finished and measured. */
#include "record_inside.h"

#include "base/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int no_memory(struct assay_error *e) { return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory"); }

static uint64_t tsc_of(const struct assay_record *r, uint64_t cycles)
{
    const struct assay_machine_model *m = &r->run.setup->model;
    return r->run.setup->tsc_base + cycles / m->core_ratio * m->max_ratio +
           cycles % m->core_ratio * m->max_ratio / m->core_ratio;
}

static uint64_t ns_of(const struct assay_record *r, uint64_t cycles)
{
    uint64_t tsc = tsc_of(r, cycles), low = tsc & ((UINT64_C(1) << r->pt.time_shift) - 1);
    return r->pt.time_zero + (tsc >> r->pt.time_shift) * r->pt.time_mult + (low * r->pt.time_mult >> r->pt.time_shift);
}

static struct assay_record_event *add_event(struct assay_record *r)
{
    if (!table_grow(&r->event, &r->event_room, r->events + 1, sizeof *r->event))
        return NULL;
    return &r->event[r->events++];
}

static const struct build_id_of *build_id_of(struct assay_record *r, const char *path)
{
    for (size_t i = 0; i < r->build_ids; i++)
        if (strcmp(r->build_id[i].path, path) == 0)
            return &r->build_id[i];
    if (!table_grow(&r->build_id, &r->build_id_room, r->build_ids + 1, sizeof *r->build_id))
        return NULL;
    struct build_id_of *b = &r->build_id[r->build_ids++];
    b->path = path;
    b->id = record_build_id(path, &b->size);
    return b;
}

/* ---- events ---- */

static void fill_mmap(struct assay_record *r, struct assay_record_event *v, const uint8_t *at)
{
    struct assay_spool_mmap m;
    memcpy(&m, at, sizeof m);
    const char *path = (const char *)at + sizeof m;
    const struct build_id_of *id = build_id_of(r, path);
    v->mmap.addr = m.addr;
    v->mmap.len = m.len;
    v->mmap.pgoff = m.pgoff;
    v->mmap.inode = m.inode;
    v->mmap.major = m.major;
    v->mmap.minor = m.minor;
    v->mmap.path = path;
    v->mmap.build_id = id ? id->id : NULL;
    v->mmap.build_id_size = id ? id->size : 0;
}

/* What a record of the spool holds besides its head; texts in it end in NUL. */
static void fill_event(struct assay_record *r, struct assay_record_event *v, const struct assay_spool_event *s,
                       const uint8_t *at)
{
    struct assay_spool_code code;
    struct assay_spool_fork parent;
    static const enum assay_record_kind kind[] = {
        [ASSAY_SPOOL_MMAP] = ASSAY_RECORD_MMAP, [ASSAY_SPOOL_CODE] = ASSAY_RECORD_CODE,
        [ASSAY_SPOOL_COMM] = ASSAY_RECORD_COMM, [ASSAY_SPOOL_FORK] = ASSAY_RECORD_FORK,
        [ASSAY_SPOOL_EXIT] = ASSAY_RECORD_EXIT, [ASSAY_SPOOL_EXEC] = ASSAY_RECORD_EXEC,
    };
    *v = (struct assay_record_event){.kind = kind[s->type], .pid = s->pid, .tid = s->tid, .time = ns_of(r, s->cycles)};
    switch (s->type) {
    case ASSAY_SPOOL_MMAP:
        fill_mmap(r, v, at);
        break;
    case ASSAY_SPOOL_CODE:
        memcpy(&code, at, sizeof code);
        v->code.addr = code.addr;
        v->code.bytes = at + sizeof code;
        v->code.size = s->size - sizeof *s - sizeof code;
        break;
    case ASSAY_SPOOL_COMM:
        v->comm.name = (const char *)at;
        break;
    case ASSAY_SPOOL_FORK:
        memcpy(&parent, at, sizeof parent);
        v->fork.ppid = parent.ppid;
        v->fork.ptid = parent.ptid;
        break;
    case ASSAY_SPOOL_EXEC:
        v->exec = (const char *)at;
        break;
    }
}

/* An exec that failed is told by a second one without a path: then neither happened. */
static void forget_exec(struct assay_record *r)
{
    uint32_t tid = r->event[--r->events].tid;
    for (size_t i = r->events; i-- > 0;)
        if (r->event[i].kind == ASSAY_RECORD_EXEC && r->event[i].tid == tid) {
            memmove(&r->event[i], &r->event[i + 1], (r->events - i - 1) * sizeof *r->event);
            r->events--;
            return;
        }
}

static int read_events(struct assay_record *r, struct assay_error *e)
{
    struct assay_spool_event s;
    const uint8_t *payload;
    int ret = run_read_events(&r->run, &r->raw, &r->raw_size, e);
    for (size_t at = 0; ret == ASSAY_OK && (payload = run_next_event(r->raw, r->raw_size, &at, &s));) {
        struct assay_record_event *v = add_event(r);
        if (!v)
            return no_memory(e);
        fill_event(r, v, &s, payload);
        if (v->kind == ASSAY_RECORD_EXEC && !*v->exec)
            forget_exec(r);
    }
    return ret;
}

/* ---- streams ---- */

/* A thread that something killed has branches pending that its unit had not written: the unit goes on here, for as long as it
 * takes to write them and to say where the thread stood. */
static int finish_stream(struct assay_spool_stream *s, int fd, uint64_t *size, struct assay_error *e)
{
    uint8_t tail[4096];
    uint64_t done = s->data + assay_pt_unit_written(&s->unit);
    s->unit.on_full = NULL;
    assay_pt_unit_output(&s->unit, tail, sizeof tail);
    assay_pt_unit_async_leave(&s->unit, s->at);
    size_t n = assay_pt_unit_written(&s->unit);
    if (pwrite(fd, tail, n, (off_t)done) != (ssize_t)n)
        return assay_error_sys(e, errno, "cannot finish a stream");
    *size = done + n - ASSAY_SPOOL_DATA;
    return ASSAY_OK;
}

static int add_start(struct assay_record *r, const struct assay_record_stream *t, struct assay_error *e)
{
    struct assay_record_event *v = add_event(r);
    if (!v)
        return no_memory(e);
    *v = (struct assay_record_event){.kind = ASSAY_RECORD_START, .pid = t->pid, .tid = t->tid, .time = t->start};
    return ASSAY_OK;
}

static int read_stream(struct assay_record *r, unsigned n, struct assay_error *e)
{
    struct assay_spool_stream s;
    int fd = run_open_stream(&r->run, n, &s);
    if (fd < 0)
        return ASSAY_OK;
    struct assay_record_stream t = {.idx = n, .pid = s.pid, .tid = s.tid, .start = ns_of(r, s.birth)};
    t.killed = s.unit.enabled;
    int ret = finish_stream(&s, fd, &t.size, e);
    close(fd);
    t.end = ns_of(r, s.unit.cycles);
    t.end_tsc = tsc_of(r, s.unit.cycles);
    t.insns = s.insns;
    t.chk = s.chk;
    t.lost = s.unit.lost;
    t.block_count = s.block_count;
    if (ret < 0)
        return ret;
    if (!table_grow(&r->stream, &r->stream_room, r->streams + 1, sizeof *r->stream))
        return no_memory(e);
    r->stream[r->streams++] = t;
    return add_start(r, &t, e);
}

/* By time; at one time births first, then as they came. */
static int by_time(const void *a, const void *b)
{
    const struct assay_record_event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    bool fx = x->kind == ASSAY_RECORD_FORK, fy = y->kind == ASSAY_RECORD_FORK;
    return fy - fx;
}

/* Merge sort keeps the order of what is equal; qsort of the C library promises nothing. */
static bool sort_events(struct assay_record *r)
{
    struct assay_record_event *from = r->event, *to = malloc((r->events + 1) * sizeof *to), *spare = to;
    if (!to)
        return false;
    for (size_t run = 1; run < r->events; run *= 2) {
        for (size_t at = 0; at < r->events; at += 2 * run) {
            size_t middle = at + run < r->events ? at + run : r->events;
            size_t end = middle + run < r->events ? middle + run : r->events;
            size_t i = at, j = middle;
            for (size_t k = at; k < end; k++)
                to[k] = j == end || (i < middle && by_time(&from[i], &from[j]) <= 0) ? from[i++] : from[j++];
        }
        struct assay_record_event *t = from;
        from = to;
        to = t;
    }
    if (from != r->event)
        memcpy(r->event, from, r->events * sizeof *from);
    free(spare);
    return true;
}

int assay_record_collect(struct assay_record *r, struct assay_error *e)
{
    int ret = read_events(r, e);
    for (unsigned i = 0; ret == ASSAY_OK && i < r->run.setup->streams; i++)
        ret = read_stream(r, i, e);
    if (ret == ASSAY_OK && r->events > 0 && !sort_events(r))
        ret = no_memory(e);
    if (ret == ASSAY_OK && r->run.setup->failed)
        ret = assay_error_sys(e, r->run.setup->failed, "%s: cannot write the trace (TMPDIR may name another place)",
                              r->run.spool);
    return ret;
}

size_t assay_record_events(const struct assay_record *r) { return r->events; }
const struct assay_record_event *assay_record_event(const struct assay_record *r, size_t n) { return &r->event[n]; }
size_t assay_record_streams(const struct assay_record *r) { return r->streams; }
const struct assay_record_stream *assay_record_stream(const struct assay_record *r, size_t n) { return &r->stream[n]; }

int assay_record_stream_open(const struct assay_record *r, size_t n, uint64_t *offset, struct assay_error *e)
{
    *offset = ASSAY_SPOOL_DATA;
    int fd = run_open_file(&r->run, "stream", r->stream[n].idx, O_RDONLY);
    return fd >= 0 ? fd : assay_error_sys(e, errno, "%s: cannot read", r->run.spool);
}

int assay_record_stream_blocks(const struct assay_record *r, size_t n,
                               bool (*f)(void *ctx, uint64_t ip, uint32_t insns), void *ctx, struct assay_error *e)
{
    struct assay_spool_block b[256];
    int fd = run_open_file(&r->run, "blocks", r->stream[n].idx, O_RDONLY);
    if (fd < 0)
        return errno == ENOENT ? ASSAY_OK : assay_error_sys(e, errno, "%s: cannot read", r->run.spool);
    ssize_t got;
    bool more = true;
    while (more && (got = read(fd, b, sizeof b)) > 0)
        for (size_t i = 0; more && i < (size_t)got / sizeof *b; i++)
            more = f(ctx, b[i].ip, b[i].insns);
    close(fd);
    return ASSAY_OK;
}
