/* SPDX-License-Identifier: MIT */
/* assay dump: the streams of a perf.data, each in the pieces between which data is missing. */
#include "dump.h"
#include "trace.h"

#include <assay/recording.h>

#include <inttypes.h>
#include <stdio.h>

enum { AUX_TRUNCATED = 1 }; /* flag of an AUX record: the buffer was full */

struct stream_source {
    const struct assay_pt_recording *rec;
    const struct assay_pt_stream *stream;
    uint64_t at, to; /* positions in the stream */
};

static int64_t read_stream(void *ctx, void *buf, size_t n, struct assay_error *e)
{
    struct stream_source *s = ctx;
    uint64_t left = s->to - s->at;
    int64_t got = assay_pt_stream_read(s->rec, s->stream, s->at, buf, left < n ? (size_t)left : n);
    if (got < 0)
        return assay_error_set(e, (int)got, s->at, "cannot read the trace at 0x%" PRIx64, s->at);
    s->at += (uint64_t)got;
    return got;
}

/* ---- where data is missing */

struct breaks {
    const struct assay_pt_stream *stream;
    size_t extent, lost; /* the next ones to look at */
    uint64_t start;      /* of the extent, in the stream */
};

struct piece_end {
    uint64_t position, missing; /* missing: bytes, 0 when nobody counted them */
    const char *what;           /* NULL: the stream ends here */
};

/* The next AUX record in the present extent that says that the buffer was full, as a position; or `none`. */
static uint64_t next_full(struct breaks *b, uint64_t none)
{
    const struct assay_pt_extent *e = &b->stream->extent[b->extent];
    for (; b->lost < b->stream->losts; b->lost++) {
        const struct assay_pt_lost *l = &b->stream->lost[b->lost];
        if (l->offset > e->offset + e->size)
            return none;
        if ((l->flags & AUX_TRUNCATED) && l->offset > e->offset)
            return b->start + (l->offset - e->offset);
    }
    return none;
}

static struct piece_end next_break(struct breaks *b)
{
    const struct assay_pt_stream *s = b->stream;
    for (; b->extent < s->extents; b->extent++) {
        const struct assay_pt_extent *e = &s->extent[b->extent];
        uint64_t full = next_full(b, UINT64_MAX);
        if (full != UINT64_MAX) {
            b->lost++;
            return (struct piece_end){full, 0, "the AUX buffer was full"};
        }
        b->start += e->size;
        uint64_t end = e->offset + e->size;
        if (b->extent + 1 < s->extents && e[1].offset != end) {
            b->extent++;
            return (struct piece_end){b->start, e[1].offset - end, "a piece of the AUX data is not in the file"};
        }
    }
    return (struct piece_end){s->size, 0, NULL};
}

/* ---- what is printed beside packets */

static void show_stream(struct dump *d, const struct assay_pt_recording *rec, const struct assay_pt_stream *s)
{
    struct assay_out *o = &d->cli->out;
    bool modelled = assay_pt_recording_virtual(rec) != NULL;
    if (d->cli->json) {
        struct assay_json j;
        assay_json_init(&j, o);
        assay_json_open(&j, NULL);
        assay_json_u64(&j, "stream", (uint64_t)d->stream);
        assay_json_u64(&j, "offset", 0);
        assay_json_u64(&j, "size", 0);
        assay_json_str(&j, "packet", "stream");
        assay_json_s64(&j, "cpu", (int32_t)s->cpu);
        assay_json_s64(&j, "tid", (int32_t)s->tid);
        assay_json_u64(&j, "bytes", s->size);
        assay_json_bool(&j, "virtual", modelled);
        assay_json_close(&j);
        return;
    }
    char line[160], cpu[32] = "", tid[32] = "";
    if (s->cpu != UINT32_MAX)
        snprintf(cpu, sizeof cpu, "cpu %" PRIu32 ", ", s->cpu);
    if (s->tid != UINT32_MAX)
        snprintf(tid, sizeof tid, "thread %" PRIu32 ", ", s->tid);
    snprintf(line, sizeof line, "stream %" PRId64 ": %s%s%" PRIu64 " bytes%s\n", d->stream, cpu, tid, s->size,
             modelled ? ", of virtual hardware" : "");
    cli_sgr(d->cli, "1");
    assay_out_str(o, line);
    cli_sgr(d->cli, "0");
}

static void show_missing(struct dump *d, const struct piece_end *end)
{
    struct assay_out *o = &d->cli->out;
    if (end->position < d->filter.from || end->position >= d->filter.to)
        return;
    if (d->cli->json) {
        struct assay_json j;
        assay_json_init(&j, o);
        assay_json_open(&j, NULL);
        assay_json_u64(&j, "stream", (uint64_t)d->stream);
        assay_json_u64(&j, "offset", end->position);
        assay_json_u64(&j, "size", 0);
        assay_json_str(&j, "packet", "lost");
        if (end->missing)
            assay_json_u64(&j, "bytes", end->missing);
        else
            assay_json_null(&j, "bytes");
        assay_json_str(&j, "what", end->what);
        assay_json_close(&j);
        return;
    }
    char bytes[40] = "";
    if (end->missing)
        snprintf(bytes, sizeof bytes, "%" PRIu64 " bytes: ", end->missing);
    char line[160];
    snprintf(line, sizeof line, "%08" PRIx64 "  lost      %s%s", end->position, bytes, end->what);
    cli_sgr(d->cli, "31");
    assay_out_str(o, line);
    cli_sgr(d->cli, "0");
    assay_out_char(o, '\n');
}

/* ---- streams */

/* *breaks counts the places where data is missing. */
static int dump_stream(struct dump *d, const struct assay_pt_recording *rec, const struct assay_pt_stream *s,
                       uint64_t *breaks, struct assay_error *e)
{
    struct breaks b = {.stream = s};
    struct stream_source from = {.rec = rec, .stream = s};
    struct dump_source source = {read_stream, &from};
    show_stream(d, rec, s);
    for (;;) {
        struct piece_end end = next_break(&b);
        uint64_t start = from.at;
        from.to = end.position;
        int done = dump_packets(d, &source, start, 0, e);
        if (done != 0 || !end.what)
            return done < 0 ? done : ASSAY_OK;
        from.at = end.position;
        show_missing(d, &end);
        ++*breaks;
    }
}

static uint64_t total_size(const struct assay_pt_recording *rec)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < assay_pt_recording_streams(rec); i++)
        sum += assay_pt_recording_stream(rec, i)->size;
    return sum;
}

/* What was lost: damage in the file, data that the kernel could not keep, damage in the trace. */
static int report_losses(struct dump *d, const struct assay_pt_recording *rec, uint64_t breaks)
{
    struct cli *c = d->cli;
    assay_out_flush(&c->out);
    bool faults = trace_faults(c, rec);
    int file = cli_report_ledger(c, assay_perf_ledger(assay_pt_recording_file(rec)));
    if (breaks > 0)
        cli_note(c, "losses: trace data is missing at %" PRIu64 " place%s", breaks, breaks == 1 ? "" : "s");
    int trace = cli_report_ledger(c, &d->ledger);
    int worst = file > trace ? file : trace;
    return worst == CLI_OK && (breaks > 0 || faults) ? CLI_LOSSES : worst;
}

int dump_perf(struct dump *d, const char *path, const uint64_t *only_stream)
{
    struct cli *c = d->cli;
    struct assay_pt_recording *rec;
    struct assay_error e = {0};
    uint64_t breaks = 0;
    int status = trace_open_perf(c, path, &rec);
    if (status != CLI_OK)
        return status;
    size_t streams = assay_pt_recording_streams(rec), first = 0, last = streams;
    if (only_stream && *only_stream >= streams)
        status = cli_fail(c, CLI_USAGE, "--stream %" PRIu64 ": the file has %zu stream%s, counted from 0", *only_stream,
                          streams, streams == 1 ? "" : "s");
    else if (only_stream)
        last = (first = (size_t)*only_stream) + 1;
    cli_progress_begin(&d->progress, "dump", total_size(rec));
    for (size_t i = first; i < last && status == CLI_OK && !c->out.failed; i++) {
        d->stream = (int64_t)i;
        if (dump_stream(d, rec, assay_pt_recording_stream(rec, i), &breaks, &e) < 0)
            status = cli_fail_error(c, &e);
    }
    cli_progress_end(&d->progress);
    if (status == CLI_OK)
        status = report_losses(d, rec, breaks);
    assay_pt_recording_close(rec);
    return status;
}
