/* SPDX-License-Identifier: MIT */
/* Streams and address spaces of a recording, through the library's readers of files and images. */
#include "streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool streams_add_image(struct streams_request *r, const char *word)
{
    const char *at = strrchr(word, '@');
    if (!at || r->images == sizeof r->image / sizeof *r->image)
        return false;
    struct assay_raw_image *image = &r->image[r->images];
    char *end;
    image->addr = strtoull(at + 1, &end, 0);
    if (*end == ':')
        image->offset = strtoull(end + 1, &end, 0);
    if (*end == ':')
        image->size = strtoull(end + 1, &end, 0);
    image->path = strndup(word, (size_t)(at - word));
    if (*end || !image->path)
        return false;
    r->images++;
    return true;
}

struct assay_pt_recording *streams_open(const struct streams_request *r)
{
    struct assay_pt_recording *rec = NULL;
    struct assay_error e = {0};
    struct assay_raw_options raw = {.image = r->image, .images = r->images, .mode = r->mode};
    int rc = r->raw ? assay_pt_recording_open_raw(r->raw, &raw, &rec, &e) : assay_pt_recording_open(r->file, &rec, &e);
    if (rc < 0)
        fprintf(stderr, "oracle: %s\n", e.text);
    return rc < 0 ? NULL : rec;
}

/* The address space of one process, as far as time went in this stream. */
struct space {
    uint32_t pid;
    struct assay_view *view;
};

struct memory_of_stream {
    const struct assay_pt_recording *rec;
    const struct assay_perf_pt_info *info;
    const struct assay_pt_stream *stream;
    struct space *space;
    size_t spaces;
    struct assay_view *now;
};

static bool has_times(const struct memory_of_stream *m)
{
    return m->info->time_mult != 0 && (m->info->config & m->info->tsc_bit) != 0;
}

static void advance(struct assay_view *view, uint64_t ns)
{
    uint64_t low, high;
    assay_view_advance(view, ns, &low, &high);
}

static struct assay_view *view_of(struct memory_of_stream *m, uint32_t pid)
{
    for (size_t i = 0; i < m->spaces; i++)
        if (m->space[i].pid == pid)
            return m->space[i].view;
    m->space = realloc(m->space, (m->spaces + 1) * sizeof *m->space);
    if (!m->space)
        abort();
    struct space *s = &m->space[m->spaces++];
    s->pid = pid;
    if (assay_view_new(assay_pt_recording_image(m->rec), pid, &s->view) != ASSAY_OK)
        abort();
    if (!has_times(m)) /* all has happened */
        advance(s->view, UINT64_MAX);
    return s->view;
}

static size_t read_code(void *ctx, uint64_t ip, uint8_t *buf, size_t size)
{
    struct memory_of_stream *m = ctx;
    return assay_view_read(m->now, ip, buf, size);
}

static uint64_t ns_of(const struct assay_perf_pt_info *i, uint64_t tsc)
{
    uint64_t quotient = tsc >> i->time_shift, rest = tsc & ((UINT64_C(1) << i->time_shift) - 1);
    return i->time_zero + quotient * i->time_mult + ((rest * i->time_mult) >> i->time_shift);
}

static void on_time(void *ctx, uint64_t tsc)
{
    struct memory_of_stream *m = ctx;
    if (!has_times(m) || tsc == 0)
        return;
    uint64_t ns = ns_of(m->info, tsc);
    for (size_t i = 1; i < m->stream->tasks; i++)
        if (m->stream->task[i].time <= ns)
            m->now = view_of(m, m->stream->task[i].pid);
    advance(m->now, ns);
}

static struct oracle_config config_of(const struct memory_of_stream *m, unsigned mode)
{
    const struct assay_perf_pt_info *i = m->info;
    uint64_t mask = i->mtc_freq_bits;
    struct oracle_config c = {.mode = mode};
    c.clock.mtc_freq = mask ? (unsigned)((i->config & mask) >> __builtin_ctzll(mask)) & 15 : 0;
    c.clock.ctc_n = i->tsc_ctc_n;
    c.clock.ctc_d = i->tsc_ctc_d;
    c.clock.max_ratio = (unsigned)i->max_nonturbo_ratio;
    c.clock.tsc_reference = m->stream->extents ? m->stream->extent[0].reference : 0;
    return c;
}

/* Where data is missing before this position of the stream: the AUX offset jumps, or the kernel flags (1) that its
 * buffer was full. */
static bool is_cut(const struct assay_pt_stream *s, size_t extent, uint64_t offset)
{
    const struct assay_pt_extent *e = &s->extent[extent];
    if (offset == e->offset && extent > 0 && e[-1].offset + e[-1].size != offset)
        return true;
    for (size_t i = 0; i < s->losts; i++)
        if (s->lost[i].flags & 1 && s->lost[i].offset == offset)
            return true;
    return false;
}

static void run_all(struct oracle *o, const struct assay_pt_stream *s, const uint8_t *data)
{
    uint64_t from = 0, at = 0;
    for (size_t i = 0; i < s->extents; i++)
        for (uint64_t k = 0; k < s->extent[i].size; k++, at++)
            if (at > from && is_cut(s, i, s->extent[i].offset + k)) {
                oracle_run(o, data + from, (size_t)(at - from), from);
                from = at;
            }
    oracle_run(o, data + from, (size_t)(at - from), from);
}

void streams_decode(const struct assay_pt_recording *rec, size_t n, unsigned mode, const struct findings *find)
{
    const struct assay_pt_stream *s = assay_pt_recording_stream(rec, n);
    struct memory_of_stream m = {.rec = rec, .info = assay_pt_recording_info(rec), .stream = s};
    struct memory memory = {&m, read_code, on_time};
    struct oracle_config config = config_of(&m, mode);
    struct oracle o;
    uint8_t *data = malloc(s->size + 1);
    if (!data || assay_pt_stream_read(rec, s, 0, data, s->size) != (int64_t)s->size)
        abort();
    m.now = view_of(&m, s->tasks ? s->task[0].pid : 0);
    oracle_init(&o, &config, &memory, find);
    run_all(&o, s, data);
    oracle_free(&o);
    for (size_t i = 0; i < m.spaces; i++)
        assay_view_free(m.space[i].view);
    free(m.space);
    free(data);
}
