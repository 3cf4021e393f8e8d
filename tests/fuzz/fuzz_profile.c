/* SPDX-License-Identifier: MIT */
/* Any trace over any code that changes in time, as far as a profile: the ledger closes, every item names something that is there, and neither the sizes of the pieces nor
 * paths nor tables that begin anew change what was executed. The input is
 *   byte 0     mode of the processor, address of the code, processor model, whether a PSB+ comes first
 *   byte 1     size of the pieces
 *   bytes 2-3  bytes of code, little endian; a second copy of it, shifted, takes its place as time goes on
 *   the rest   code, then trace. */
#include <assay/cursor.h>
#include <assay/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 4, MOST_CODE = 4096, LEAD = 64, PID = 7, LATER = 1 << 12 };

struct input {
    const uint8_t *code;
    size_t code_size, size, piece;
    uint64_t base;
    uint8_t *trace; /* exactly as large as the trace */
    struct assay_flow_config config;
};

struct run {
    struct assay_view *view;
    struct assay_profile *profile;
    struct assay_flow_digest digest;
    uint64_t order; /* over all that was told, in its order */
    bool paths;
};

static void fail(const char *complaint)
{
    fprintf(stderr, "%s\n", complaint);
    abort();
}

static void must(bool sound, const char *complaint)
{
    if (!sound)
        fail(complaint);
}

/* ---- what is told */

static void note(struct run *r, uint64_t v)
{
    r->order = (r->order ^ v) * UINT64_C(0x9e3779b97f4a7c15) + (r->order >> 40);
}

static void check_run(struct run *r, const struct assay_flow *f, uint32_t id)
{
    must(id > 0 && id < assay_flow_runs(f), "a run that does not exist");
    const struct assay_flow_run *run = assay_flow_run_at(f, id);
    uint32_t insns = 0;
    for (uint32_t i = 0; i < run->blocks; i++) {
        const struct assay_flow_block *b = assay_flow_block_at(f, run->first_block + i);
        must(b && b->insns > 0, "a run with a block that does not exist or is empty");
        uint64_t at = b->ip;
        for (uint32_t k = 0; k + 1 < b->insns; k++)
            at += assay_flow_sizes(f, b)[k];
        must(b->mode == 64 ? at == b->last_ip : (uint32_t)at == (uint32_t)b->last_ip,
             "sizes do not lead to the last instruction");
        insns += b->insns;
    }
    must(insns > 0 && insns == run->insns, "a run's instructions are not those of its blocks");
    note(r, run->ip << 8 ^ run->insns);
}

static void check_path(struct run *r, const struct assay_flow *f, uint32_t index)
{
    const struct assay_flow_path *p = assay_flow_path_at(f, index);
    must(p && p->runs > 0, "a path that does not exist or is empty");
    for (uint32_t i = 0; i < p->runs; i++)
        check_run(r, f, assay_flow_path_runs(f, p)[i]);
}

static void check_event(struct run *r, const struct assay_flow *f, const struct assay_flow_event *e)
{
    must(e->type < ASSAY_FLOW_EVENTS, "an event of no type");
    must(e->type != ASSAY_FLOW_GAP || e->what, "a gap without a reason");
    note(r, (uint64_t)e->type << 56 ^ e->offset << 20 ^ e->ip ^ e->value);
    if (e->type != ASSAY_FLOW_PARTIAL)
        return;
    check_run(r, f, e->run);
    must(e->insns > 0 && e->insns <= assay_flow_run_at(f, e->run)->insns, "more of a run than there is");
}

static int on_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct run *r = ctx;
    for (size_t i = 0; i < b->items_n; i++) {
        uint32_t item = b->items[i];
        if (ASSAY_FLOW_IS_RUN(item)) {
            check_run(r, f, item);
        } else if (ASSAY_FLOW_IS_PATH(item)) {
            must(r->paths, "a path that nobody asked for");
            check_path(r, f, ASSAY_FLOW_INDEX(item));
        } else if (ASSAY_FLOW_IS_CYCLES(item)) {
            note(r, item);
        } else {
            must(ASSAY_FLOW_INDEX(item) < b->events_n, "an event that does not exist");
            check_event(r, f, &b->events[ASSAY_FLOW_INDEX(item)]);
        }
    }
    assay_flow_digest_add(&r->digest, f, b);
    if (r->paths)
        assay_flow_take_paths(f);
    return r->profile ? assay_profile_add(r->profile, f, b) : 0;
}

static void on_time(void *ctx, struct assay_flow *f, uint64_t tsc)
{
    struct run *r = ctx;
    uint64_t low, high;
    if (assay_view_advance(r->view, tsc, &low, &high) > 0)
        assay_flow_forget(f, low, high);
}

/* ---- one decode */

static void feed_all(const struct input *in, struct assay_flow *f, size_t piece)
{
    size_t at = 0, used, n = piece;
    do {
        bool last = in->size - at <= n;
        n = last ? in->size - at : n;
        uint8_t *exact = malloc(n + !n); /* so that a read behind the piece is seen */
        memcpy(exact, in->trace + at, n);
        must(assay_flow_feed(f, exact, n, last, &used) == ASSAY_OK, "the flow stopped");
        must(used <= n && (!last || used == n), "more or less was taken than given");
        free(exact);
        at += used;
        n = piece + (n - used);
    } while (at < in->size);
    const struct assay_ledger *l = assay_flow_ledger(f);
    must(assay_ledger_closes(l) && l->in == in->size, "the ledger does not close");
}

static void decode(const struct input *in, struct assay_image *im, struct run *r, size_t piece)
{
    struct assay_flow *f;
    must(assay_view_new(im, PID, &r->view) == ASSAY_OK, "no view");
    must(assay_flow_new(&in->config, r->view, on_batch, r, &f) == ASSAY_OK, "no flow");
    assay_flow_on_time(f, on_time, r);
    feed_all(in, f, piece);
    assay_flow_free(f);
    assay_view_free(r->view);
}

/* ---- the profile says what the flow said */

static void check_profile(struct assay_profile *p, const struct assay_flow_digest *d)
{
    uint64_t insns = 0, below = 0;
    must(assay_profile_stream_end(p) == ASSAY_OK && assay_profile_finish(p) == ASSAY_OK, "the profile cannot end");
    for (size_t i = 0; i < assay_profile_functions(p); i++)
        insns += assay_profile_function(p, i)->self.insns;
    for (size_t i = 0; i < assay_profile_nodes(p); i++)
        below += assay_profile_node(p, i)->self.insns;
    must(assay_profile_totals(p)->counts.insns == d->insns, "the profile counts other instructions than the digest");
    must(insns == d->insns, "functions do not sum up");
    must(below == d->insns, "call paths do not sum up");
    must(assay_profile_nodes(p) == 0 || assay_profile_node(p, 0)->total.insns == d->insns, "the root has not all");
    for (size_t i = 0; i < assay_profile_edges(p); i++)
        must(assay_profile_edge(p, i)->from_function < assay_profile_functions(p), "an edge out of no function");
}

/* ---- the input */

static bool parse(struct input *in, const uint8_t *data, size_t size)
{
    static const uint64_t bases[] = {0x400000, 0xfffffff0, UINT64_MAX - 100, 0};
    static const unsigned modes[] = {64, 32, 16, 64}, models[] = {0, 61, 78, 92};
    if (size < HEADER)
        return false;
    size_t code = assay_load_le(data + 2, 2) % (MOST_CODE + 1), lead = data[0] & 0x40 ? LEAD : 0;
    code = code < size - HEADER ? code : size - HEADER;
    in->code = data + HEADER;
    in->code_size = code;
    in->base = bases[data[0] >> 2 & 3];
    in->piece = 1u + data[1];
    in->config = (struct assay_flow_config){.mode = modes[data[0] & 3],
                                            .family = 6,
                                            .model = models[data[0] >> 4 & 3],
                                            .mtc_freq = 3,
                                            .tsc_ctc_n = 84,
                                            .tsc_ctc_d = 2,
                                            .max_ratio = 24,
                                            .loop_limit = data[0] & 0x80 ? 0 : 100};
    in->size = size - HEADER - code + lead;
    in->trace = calloc(1, in->size + 1);
    if (lead) { /* PSB, FUP at the code, PSBEND, padding; where it runs */
        for (unsigned i = 0; i < 16; i++)
            in->trace[i] = i & 1 ? 0x82 : 0x02;
        in->trace[16] = 0xdd;
        assay_store_le(in->trace + 17, in->base, 8);
        memcpy(in->trace + 25, "\x02\x23", 2);
    }
    memcpy(in->trace + lead, data + HEADER + code, in->size - lead);
    return true;
}

static struct assay_image *image_of(const struct input *in)
{
    struct assay_image *im;
    uint64_t until_end = UINT64_MAX - in->base;
    size_t half = in->code_size / 2, n = in->code_size < until_end ? in->code_size : (size_t)until_end;
    must(assay_image_new(&im, NULL) == ASSAY_OK, "no image");
    must(assay_image_code(im, PID, 0, in->base, in->code, n, "code") == ASSAY_OK, "no code");
    must(assay_image_code(im, PID, 0, 0x7f0000001ff0, in->code, in->code_size, "over two pages") == ASSAY_OK,
         "no code");
    must(assay_image_code(im, PID, LATER, in->base, in->code + half, n / 2, "code that came later") == ASSAY_OK,
         "no code");
    must(assay_image_seal(im) == ASSAY_OK, "no image");
    return im;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in;
    if (!parse(&in, data, size))
        return 0;
    struct assay_image *im = image_of(&in);
    struct run whole = {0}, pieces = {0}, paths = {.paths = true}, small = {.paths = true};
    must(assay_profile_new(im, ASSAY_PROFILE_TREE | ASSAY_PROFILE_EDGES, &whole.profile) == ASSAY_OK, "no profile");
    decode(&in, im, &whole, in.size + 1);
    check_profile(whole.profile, &whole.digest);
    assay_profile_free(whole.profile);
    decode(&in, im, &pieces, in.piece);
    decode(&in, im, &paths, in.piece * 16);
    in.config.table_limit = 400;
    decode(&in, im, &small, in.size + 1);
    must(whole.digest.insns == small.digest.insns && whole.digest.chk == small.digest.chk,
         "small tables change the digest");
    must(whole.order == small.order, "small tables change what is told");
    must(whole.digest.insns == pieces.digest.insns && whole.digest.chk == pieces.digest.chk,
         "pieces change the digest");
    must(whole.digest.insns == paths.digest.insns && whole.digest.chk == paths.digest.chk, "paths change the digest");
    must(whole.order == pieces.order, "pieces change what is told");
    must(whole.order == paths.order, "paths change what is told");
    assay_image_free(im);
    free(in.trace);
    return 0;
}
