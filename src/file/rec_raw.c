/* SPDX-License-Identifier: MIT */
/* A raw trace with images given by hand, as a recording of one stream. */
#include "rec_priv.h"

#include <errno.h>
#include <sys/stat.h>

enum { MTC_FREQ_SHIFT = 14, MTC_FREQ_MASK = 0xf << MTC_FREQ_SHIFT }; /* in RTIT_CTL and in attr.config */

static int add_image(struct assay_image *im, const struct assay_raw_image *r, struct assay_error *e)
{
    struct stat st;
    if (stat(r->path, &st) < 0)
        return assay_error_sys(e, errno, "cannot open the image %s", r->path);
    uint64_t file = (uint64_t)st.st_size;
    if (r->offset >= file || r->size > file - r->offset)
        return assay_error_set(e, ASSAY_E_ARGUMENT, UINT64_MAX, "%s has %llu bytes: the piece given of it is not there",
                               r->path, (unsigned long long)file);
    int rc = assay_image_map(im, 0, 0, r->addr, r->size ? r->size : file - r->offset, r->offset, r->path, NULL, 0);
    return rc < 0 ? assay_error_set(e, rc, UINT64_MAX, "%s cannot be mapped at 0x%llx", r->path,
                                    (unsigned long long)r->addr)
                  : ASSAY_OK;
}

static int make_image(struct assay_pt_recording *rec, const struct assay_raw_options *o, struct assay_error *e)
{
    int rc = assay_image_new(&rec->image, e);
    for (size_t i = 0; i < o->images && rc == ASSAY_OK; i++)
        rc = add_image(rec->image, &o->image[i], e);
    if (rc < 0)
        return rc;
    rc = assay_image_seal(rec->image);
    return rc < 0 ? assay_error_set(e, rc, UINT64_MAX, "no memory for the images") : ASSAY_OK;
}

/* One stream of one extent, task 0/0. */
static int make_stream(struct assay_pt_recording *rec)
{
    rec->stream = calloc(1, sizeof *rec->stream);
    rec->extent = calloc(1, sizeof *rec->extent);
    rec->start = calloc(1, sizeof *rec->start);
    rec->task = calloc(1, sizeof *rec->task);
    if (!rec->stream || !rec->extent || !rec->start || !rec->task)
        return ASSAY_E_MEMORY;
    rec->streams = 1;
    rec->extent->size = rec->raw.size;
    rec->stream->start = rec->start;
    rec->stream->pub = (struct assay_pt_stream){
        .cpu = REC_NOBODY, .extent = rec->extent, .extents = 1, .task = rec->task, .tasks = 1, .size = rec->raw.size};
    return ASSAY_OK;
}

static void take_options(struct assay_pt_recording *rec, const struct assay_raw_options *o)
{
    rec->family = o->family;
    rec->model = o->model;
    rec->stepping = o->stepping;
    rec->mode = o->mode;
    rec->info.config = (uint64_t)o->mtc_freq << MTC_FREQ_SHIFT & MTC_FREQ_MASK;
    rec->info.mtc_freq_bits = MTC_FREQ_MASK;
    rec->info.max_nonturbo_ratio = o->max_ratio;
    rec->info.tsc_ctc_n = o->tsc_ctc_n;
    rec->info.tsc_ctc_d = o->tsc_ctc_d;
}

static int open_raw(struct assay_pt_recording *rec, const char *path, const struct assay_raw_options *o,
                    struct assay_error *e)
{
    int rc = assay_source_open(path, &rec->raw, e);
    if (rc < 0)
        return rc;
    take_options(rec, o);
    if (make_stream(rec) < 0)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "%s: no memory", path);
    return make_image(rec, o, e);
}

int assay_pt_recording_open_raw(const char *path, const struct assay_raw_options *o, struct assay_pt_recording **out,
                                struct assay_error *e)
{
    struct assay_pt_recording *rec = calloc(1, sizeof *rec);
    if (!rec)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "%s: no memory", path);
    rec->raw.fd = -1;
    int rc = open_raw(rec, path, o, e);
    if (rc < 0) {
        assay_pt_recording_close(rec);
        return rc;
    }
    *out = rec;
    return ASSAY_OK;
}
