/* SPDX-License-Identifier: MIT */
/* Packets and full flow of one recording, ours beside libipt's, in one process and one run. Single thread.
 * usage: bench_flow RECORDING [PASSES] */
#include <assay/assay.h>

#include <intel-pt.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct trace { /* the largest stream of the recording, in memory */
    uint8_t *data;
    size_t size;
    const struct assay_pt_recording *rec;
    const struct assay_pt_stream *stream;
    const char *path;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_flow: %s\n", what);
    exit(4);
}

static void load(struct trace *t)
{
    for (size_t i = 0; i < assay_pt_recording_streams(t->rec); i++) {
        const struct assay_pt_stream *s = assay_pt_recording_stream(t->rec, i);
        if (!t->stream || s->size > t->stream->size)
            t->stream = s;
    }
    if (!t->stream)
        fail("no stream in the recording");
    t->size = (size_t)t->stream->size;
    t->data = malloc(t->size);
    if (!t->data || assay_pt_stream_read(t->rec, t->stream, 0, t->data, t->size) != (int64_t)t->size)
        fail("cannot load the stream");
}

/* ---- packets ---- */

static uint64_t our_packets(const struct trace *t)
{
    struct assay_pt_decoder d;
    struct assay_pt_packet p[256];
    uint64_t n = 0;
    assay_pt_decoder_init(&d, t->data, t->size, 0, false);
    for (size_t got; (got = assay_pt_decoder_batch(&d, p, 256)) > 0;)
        for (size_t i = 0; i < got; i++)
            n += p[i].type != ASSAY_PT_PAD && p[i].type != ASSAY_PT_GAP;
    return n;
}

static unsigned mtc_freq(const struct assay_perf_pt_info *i)
{
    uint64_t bits = i->mtc_freq_bits;
    return bits ? (unsigned)((i->config & bits) / (bits & (0 - bits))) : 0;
}

static void configure(const struct trace *t, struct pt_config *c)
{
    const struct assay_perf_pt_info *i = assay_pt_recording_info(t->rec);
    unsigned family, model, stepping;
    assay_pt_recording_cpu(t->rec, &family, &model, &stepping);
    pt_config_init(c);
    c->begin = t->data;
    c->end = t->data + t->size;
    c->cpu = (struct pt_cpu){
        .vendor = pcv_intel, .family = (uint16_t)family, .model = (uint8_t)model, .stepping = (uint8_t)stepping};
    pt_cpu_errata(&c->errata, &c->cpu);
    c->cpuid_0x15_eax = (uint32_t)i->tsc_ctc_d;
    c->cpuid_0x15_ebx = (uint32_t)i->tsc_ctc_n;
    c->nom_freq = (uint8_t)i->max_nonturbo_ratio;
    c->mtc_freq = (uint8_t)mtc_freq(i);
}

static uint64_t their_packets(const struct trace *t)
{
    struct pt_config c;
    configure(t, &c);
    struct pt_packet_decoder *d = pt_pkt_alloc_decoder(&c);
    struct pt_packet p;
    uint64_t n = 0;
    if (!d || pt_pkt_sync_forward(d) < 0)
        fail("libipt: no packets");
    while (pt_pkt_next(d, &p, sizeof p) > 0)
        n += p.type != ppt_pad;
    pt_pkt_free_decoder(d);
    return n;
}

/* ---- flow ---- */

static int digest_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    assay_flow_take_paths(f);
    assay_flow_digest_add(ctx, f, b);
    return 0;
}

struct ours {
    struct assay_view *view;
    struct assay_flow *flow;
    struct assay_flow_digest digest;
};

static void our_open(const struct trace *t, struct ours *o)
{
    const struct assay_perf_pt_info *i = assay_pt_recording_info(t->rec);
    struct assay_flow_config c = {.mtc_freq = mtc_freq(i),
                                  .tsc_ctc_n = (uint32_t)i->tsc_ctc_n,
                                  .tsc_ctc_d = (uint32_t)i->tsc_ctc_d,
                                  .max_ratio = (unsigned)i->max_nonturbo_ratio};
    assay_pt_recording_cpu(t->rec, &c.family, &c.model, &c.stepping);
    if (assay_view_new(assay_pt_recording_image(t->rec), t->stream->task[0].pid, &o->view) != ASSAY_OK ||
        assay_flow_new(&c, o->view, digest_batch, &o->digest, &o->flow) != ASSAY_OK)
        fail("out of memory");
    uint64_t low, high;
    assay_view_advance(o->view, UINT64_MAX, &low, &high); /* one picture of memory, as libipt has it */
}

static uint64_t our_flow(const struct trace *t, struct ours *o)
{
    uint64_t before = o->digest.insns;
    size_t used;
    if (assay_flow_feed(o->flow, t->data, t->size, true, &used) != ASSAY_OK)
        fail("flow");
    assay_flow_lost(o->flow, 0, "the same trace again");
    return o->digest.insns - before;
}

static void add_sections(const struct trace *t, struct pt_image *image, struct pt_image_section_cache *cache)
{
    struct assay_perf *f;
    struct assay_error e;
    struct assay_perf_record r;
    if (assay_perf_open(t->path, &f, &e) != ASSAY_OK)
        fail(e.text);
    while (assay_perf_next(f, &r) > 0) {
        if ((r.type != ASSAY_PERF_MMAP2 && r.type != ASSAY_PERF_MMAP) || r.mmap.filename[0] != '/')
            continue;
        int id = pt_iscache_add_file(cache, r.mmap.filename, r.mmap.pgoff, r.mmap.len, r.mmap.addr);
        if (id > 0)
            pt_image_add_cached(image, cache, id, NULL);
    }
    assay_perf_close(f);
}

struct theirs {
    struct pt_image *image;
    struct pt_image_section_cache *cache;
};

static uint64_t their_flow(const struct trace *t, const struct theirs *h, uint64_t *errors)
{
    struct pt_config c;
    configure(t, &c);
    c.flags.variant.block.end_on_call = 0;
    struct pt_block_decoder *d = pt_blk_alloc_decoder(&c);
    if (!d || pt_blk_set_image(d, h->image) < 0)
        fail("libipt: no block decoder");
    uint64_t insns = 0;
    for (int status = pt_blk_sync_forward(d); status >= 0 || status == -pte_bad_query || status == -pte_nomap;) {
        struct pt_event event;
        while (status >= 0 && status & pts_event_pending)
            status = pt_blk_event(d, &event, sizeof event);
        if (status < 0) {
            ++*errors;
            status = pt_blk_sync_forward(d);
            continue;
        }
        struct pt_block b;
        status = pt_blk_next(d, &b, sizeof b);
        insns += b.ninsn;
        if (status < 0) {
            *errors += status != -pte_eos;
            status = status == -pte_eos ? status : pt_blk_sync_forward(d);
        }
    }
    pt_blk_free_decoder(d);
    return insns;
}

static void line(const char *what, double ours, double theirs, size_t size)
{
    double mb = (double)size / 1e6;
    printf("%-28s %10.1f MB/s %10.1f MB/s %8.1f x\n", what, mb / ours, mb / theirs, theirs / ours);
}

static double least(double a, double b) { return a < b ? a : b; }

static void bench_packets(const struct trace *t, int passes)
{
    double a = 1e9, b = 1e9;
    uint64_t na = 0, nb = 0;
    for (int i = 0; i < passes; i++) {
        double t0 = now();
        na = our_packets(t);
        double t1 = now();
        nb = their_packets(t);
        a = least(a, t1 - t0);
        b = least(b, now() - t1);
    }
    line("packets", a, b, t->size);
    if (na != nb)
        printf("packet counts differ: %" PRIu64 " %" PRIu64 "\n", na, nb);
}

static void bench_flow(const struct trace *t, int passes)
{
    struct ours o = {0};
    struct theirs h = {pt_image_alloc(NULL), pt_iscache_alloc(NULL)};
    add_sections(t, h.image, h.cache);
    our_open(t, &o);
    double first[2] = {0}, warm[2] = {1e9, 1e9};
    uint64_t na = 0, nb = 0, errors = 0;
    for (int i = 0; i < passes; i++) {
        double t0 = now();
        na = our_flow(t, &o);
        double t1 = now();
        errors = 0;
        nb = their_flow(t, &h, &errors);
        double t2 = now();
        if (i == 0) {
            first[0] = t1 - t0;
            first[1] = t2 - t1;
        } else {
            warm[0] = least(warm[0], t1 - t0);
            warm[1] = least(warm[1], t2 - t1);
        }
    }
    line("flow, first pass", first[0], first[1], t->size);
    if (passes > 1)
        line("flow, warm", warm[0], warm[1], t->size);
    printf("instructions                 %15" PRIu64 " %15" PRIu64 " %s (libipt errors: %" PRIu64 ")\n", na, nb,
           na == nb ? "equal" : "DIFFERENT", errors);
    assay_flow_free(o.flow);
    assay_view_free(o.view);
}

int main(int argc, char **argv)
{
    struct trace t = {.path = argv[1]};
    struct assay_pt_recording *rec;
    struct assay_error e;
    if (argc < 2)
        fail("usage: bench_flow RECORDING [PASSES]");
    if (assay_pt_recording_open(t.path, &rec, &e) != ASSAY_OK)
        fail(e.text);
    t.rec = rec;
    load(&t);
    printf("%s: %.1f MB of trace\n%-28s %15s %15s %10s\n", t.path, (double)t.size / 1e6, "", "assay", "libipt",
           "ratio");
    int passes = argc > 2 ? atoi(argv[2]) : 3;
    bench_packets(&t, passes);
    bench_flow(&t, passes);
    free(t.data);
    assay_pt_recording_close(rec);
    return 0;
}
