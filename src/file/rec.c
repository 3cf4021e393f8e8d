/* SPDX-License-Identifier: MIT */
/* A Processor Trace recording: opening, and what it holds. */
#include "rec_priv.h"

#include <stdio.h>
#include <string.h>

static int system_or_memory(const struct assay_perf *f, const char *path, int rc, struct assay_error *e)
{
    const struct assay_diag *d = assay_perf_diag(f);
    if (rc == ASSAY_E_SYSTEM)
        return assay_error_set(e, rc, d->offset, "%s: %s", path, d->what);
    return assay_error_set(e, rc, UINT64_MAX, "%s: no memory", path);
}

static void read_cpu(struct assay_pt_recording *rec)
{
    const char *cpuid = assay_perf_feature_string(rec->file, ASSAY_PERF_FEAT_CPUID);
    if (cpuid && sscanf(cpuid, "GenuineIntel,%u,%u,%u", &rec->family, &rec->model, &rec->stepping) != 3)
        rec->family = rec->model = rec->stepping = 0;
}

/* The text stands at the end of the file; the processor's description, which says so too, among the first records. */
static const char *read_virtual(struct assay_perf *f)
{
    const char *text = assay_perf_feature_string(f, ASSAY_PERF_FEAT_VIRTUAL);
    const char *cpu = text ? NULL : assay_perf_feature_string(f, ASSAY_PERF_FEAT_CPUDESC);
    return cpu && strncmp(cpu, ASSAY_PERF_VIRTUAL_CPU, strlen(ASSAY_PERF_VIRTUAL_CPU)) == 0 ? "virtual=1\n" : text;
}

/* Everything that the records tell. AUX data of other hardware makes no streams. */
static int read_recording(struct assay_pt_recording *rec, struct rec_collected *c)
{
    int rc = assay_rec_collect(rec->file, c, &rec->texts);
    rec->faults = c->faults;
    rec->dropped = c->dropped;
    memcpy(rec->fault, c->fault, sizeof rec->fault);
    rec->info = *assay_perf_pt(rec->file);
    if (rc == ASSAY_OK && rec->info.present)
        rc = assay_rec_make_streams(rec, c);
    if (rc == ASSAY_OK)
        rc = assay_rec_make_image(rec, c);
    if (rc == ASSAY_OK)
        rc = assay_rec_make_comms(rec, c);
    read_cpu(rec);
    rec->virtual_text = read_virtual(rec->file);
    rec->command = assay_rec_command(rec->file, &rec->texts);
    return rc;
}

static int open_file(struct assay_pt_recording *rec, const char *path, struct assay_error *e)
{
    int rc = assay_perf_open(path, &rec->file, e);
    if (rc < 0)
        return rc;
    rc = assay_image_new(&rec->image, e);
    if (rc < 0)
        return rc;
    struct rec_collected c = {0};
    rc = read_recording(rec, &c);
    assay_rec_collected_free(&c);
    return rc < 0 ? system_or_memory(rec->file, path, rc, e) : ASSAY_OK;
}

int assay_pt_recording_open(const char *path, struct assay_pt_recording **out, struct assay_error *e)
{
    struct assay_pt_recording *rec = calloc(1, sizeof *rec);
    if (!rec)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "%s: no memory", path);
    rec->raw.fd = -1;
    int rc = open_file(rec, path, e);
    if (rc < 0) {
        assay_pt_recording_close(rec);
        return rc;
    }
    *out = rec;
    return ASSAY_OK;
}

void assay_pt_recording_close(struct assay_pt_recording *rec)
{
    if (!rec)
        return;
    assay_perf_close(rec->file);
    assay_source_close(&rec->raw);
    assay_image_free(rec->image);
    free(rec->stream);
    free(rec->extent);
    free(rec->start);
    free(rec->task);
    free(rec->lost);
    free(rec->comm);
    assay_rec_texts_free(rec->texts);
    free(rec);
}

uint64_t assay_pt_recording_dropped(const struct assay_pt_recording *rec) { return rec->dropped; }
const struct assay_perf *assay_pt_recording_file(const struct assay_pt_recording *rec) { return rec->file; }
struct assay_image *assay_pt_recording_image(const struct assay_pt_recording *rec) { return rec->image; }
size_t assay_pt_recording_streams(const struct assay_pt_recording *rec) { return rec->streams; }
const struct assay_perf_pt_info *assay_pt_recording_info(const struct assay_pt_recording *rec) { return &rec->info; }
uint64_t assay_pt_recording_faults(const struct assay_pt_recording *rec) { return rec->faults; }

const struct assay_diag *assay_pt_recording_fault(const struct assay_pt_recording *rec, size_t n)
{
    return n < rec->faults && n < ASSAY_RECORDING_FAULTS ? &rec->fault[n] : NULL;
}

const char *assay_pt_recording_command(const struct assay_pt_recording *rec) { return rec->command; }
const char *assay_pt_recording_virtual(const struct assay_pt_recording *rec) { return rec->virtual_text; }

const struct assay_pt_stream *assay_pt_recording_stream(const struct assay_pt_recording *rec, size_t n)
{
    return n < rec->streams ? &rec->stream[n].pub : NULL;
}

void assay_pt_recording_cpu(const struct assay_pt_recording *rec, unsigned *family, unsigned *model, unsigned *stepping)
{
    *family = rec->family;
    *model = rec->model;
    *stepping = rec->stepping;
}

/* ---- bytes of a stream ---- */

static int64_t read_at(const struct assay_pt_recording *rec, uint64_t at, void *buf, size_t n)
{
    return rec->file ? assay_perf_read(rec->file, at, buf, n) : assay_source_read(&rec->raw, at, buf, n);
}

/* The extent that holds a position below s->pub.size. */
static size_t extent_at(const struct rec_stream *s, uint64_t position)
{
    size_t low = 0, high = s->pub.extents;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (s->start[mid] <= position)
            low = mid;
        else
            high = mid;
    }
    return low;
}

int64_t assay_pt_stream_read(const struct assay_pt_recording *rec, const struct assay_pt_stream *stream,
                             uint64_t position, void *buf, size_t size)
{
    const struct rec_stream *s = (const struct rec_stream *)stream;
    size_t done = 0;
    if (position >= stream->size)
        return 0;
    for (size_t i = extent_at(s, position); i < stream->extents && done < size; i++) {
        uint64_t from = position + done - s->start[i], left = stream->extent[i].size - from;
        size_t want = left < size - done ? (size_t)left : size - done;
        int64_t got = read_at(rec, stream->extent[i].data + from, (char *)buf + done, want);
        if (got < 0)
            return got;
        done += (size_t)got;
        if ((size_t)got < want)
            break;
    }
    return (int64_t)done;
}
