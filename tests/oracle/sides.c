/* SPDX-License-Identifier: MIT */
/* The two decoders on one trace in memory. */
#include "sides.h"

#include <assay/flow.h>

#include <stdlib.h>
#include <string.h>

static const struct clock_config crystal = {.mtc_freq = 3, .ctc_n = 100, .ctc_d = 3, .max_ratio = 30};

static void *grow(void *p, size_t n, size_t each)
{
    if (n & (n - 1))
        return p;
    p = realloc(p, (n ? 2 * n : 1) * each);
    if (!p)
        abort();
    return p;
}

static void add_insn(struct side *s, uint64_t ip)
{
    s->ip = grow(s->ip, s->n, sizeof *s->ip);
    s->ip[s->n++] = ip;
}

/* Cycles at the same place are one point. */
static void add_cycles(struct side *s, uint64_t cycles)
{
    if (cycles == 0)
        return;
    uint64_t sum = cycles + (s->cycles_n ? s->cycles[s->cycles_n - 1].value : 0);
    if (s->cycles_n == 0 || s->cycles[s->cycles_n - 1].insns != s->n) {
        s->cycles = grow(s->cycles, s->cycles_n, sizeof *s->cycles);
        s->cycles_n++;
    }
    s->cycles[s->cycles_n - 1] = (struct point){s->n, sum};
}

static void add_time(struct side *s, uint64_t tsc)
{
    s->time = grow(s->time, s->time_n, sizeof *s->time);
    s->time[s->time_n++] = (struct point){s->n, tsc};
}

static void add_error(struct side *s, uint64_t offset, uint64_t ip, const char *why)
{
    if (s->erred)
        return;
    s->erred = true;
    s->sure = s->n;
    s->error_offset = offset;
    s->error_ip = ip;
    s->error = why;
}

static void finish(struct side *s)
{
    if (!s->erred)
        s->sure = s->n;
}

void side_free(struct side *s)
{
    free(s->ip);
    free(s->cycles);
    free(s->time);
    free(s->maybe);
}

static void oracle_insn(void *ctx, const struct insn *in) { add_insn(ctx, in->ip); }
static void oracle_cycles(void *ctx, uint64_t cycles) { add_cycles(ctx, cycles); }
static void oracle_time(void *ctx, uint64_t tsc) { add_time(ctx, tsc); }
static void oracle_unproved(void *ctx, const struct insn *in)
{
    struct side *s = ctx;
    if (s->erred)
        return;
    s->maybe = grow(s->maybe, s->maybe_n, sizeof *s->maybe);
    s->maybe[s->maybe_n++] = in->ip;
}
static void oracle_loss(void *ctx, uint64_t offset, uint64_t ip, const char *why)
{
    struct side *s = ctx;
    if (strcmp(why, "overflow") != 0)
        add_error(s, offset, ip, why);
    else if (!s->erred)
        s->maybe_n = 0;
}

struct side side_of_oracle(const struct text *text, const uint8_t *data, size_t size)
{
    struct side s = {0};
    struct memory memory = {(void *)text, text_read, NULL};
    struct findings find = {.ctx = &s,
                            .insn = oracle_insn,
                            .cycles = oracle_cycles,
                            .time = oracle_time,
                            .unproved = oracle_unproved,
                            .loss = oracle_loss};
    struct oracle_config config = {.clock = crystal};
    struct oracle o;
    oracle_init(&o, &config, &memory, &find);
    oracle_run(&o, data, size, 0);
    oracle_free(&o);
    finish(&s);
    return s;
}

static void flow_run(struct side *s, const struct assay_flow *f, uint32_t id, uint32_t most)
{
    const struct assay_flow_run *run = assay_flow_run_at(f, id);
    for (uint32_t b = 0; b < run->blocks; b++) {
        const struct assay_flow_block *block = assay_flow_block_at(f, run->first_block + b);
        const uint8_t *sizes = assay_flow_sizes(f, block);
        uint64_t ip = block->ip;
        for (uint32_t i = 0; i < block->insns && most > 0; i++, most--) {
            add_insn(s, ip);
            ip += sizes[i];
        }
    }
}

static void flow_event(struct side *s, const struct assay_flow *f, const struct assay_flow_event *e)
{
    switch (e->type) {
    case ASSAY_FLOW_PARTIAL:
        flow_run(s, f, e->run, e->insns);
        break;
    case ASSAY_FLOW_TIME:
        add_time(s, e->tsc);
        break;
    case ASSAY_FLOW_GAP: /* bytes before the first PSB and an incomplete packet at the end are no error */
        if (e->code != ASSAY_E_NO_SYNC && e->code != ASSAY_E_TRUNCATED)
            add_error(s, e->offset, e->ip, e->what);
        break;
    default:
        break;
    }
}

static void flow_path(struct side *s, const struct assay_flow *f, uint32_t index)
{
    const struct assay_flow_path *path = assay_flow_path_at(f, index);
    for (uint32_t i = 0; i < path->runs; i++)
        flow_run(s, f, assay_flow_path_runs(f, path)[i], UINT32_MAX);
}

static int flow_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct side *s = ctx;
    for (size_t i = 0; i < b->items_n; i++) {
        uint32_t item = b->items[i], index = ASSAY_FLOW_INDEX(item);
        if (ASSAY_FLOW_IS_RUN(item))
            flow_run(s, f, item, UINT32_MAX);
        else if (ASSAY_FLOW_IS_PATH(item))
            flow_path(s, f, index);
        else if (ASSAY_FLOW_IS_CYCLES(item))
            add_cycles(s, index);
        else
            flow_event(s, f, &b->events[index]);
    }
    return 0;
}

/* The new bytes are copied each time, so that a read beyond them is seen by a checker of memory. */
static void feed(struct assay_flow *f, const uint8_t *data, size_t size, size_t piece)
{
    size_t at = 0, end = 0;
    if (piece == 0)
        piece = size;
    do {
        end = size - end < piece ? size : end + piece;
        size_t used = 0, n = end - at;
        uint8_t *copy = malloc(n ? n : 1);
        if (!copy)
            abort();
        memcpy(copy, data + at, n);
        if (assay_flow_feed(f, copy, n, end == size, &used) != ASSAY_OK || used > n)
            abort();
        free(copy);
        at += used;
    } while (end < size);
    if (at != size || !assay_ledger_closes(assay_flow_ledger(f)))
        abort();
}

struct side side_of_flow(const struct text *text, const uint8_t *data, size_t size, size_t piece, bool paths)
{
    struct side s = {0};
    struct assay_image *image;
    struct assay_view *view;
    struct assay_flow *flow;
    struct assay_flow_config config = {.mtc_freq = crystal.mtc_freq,
                                       .tsc_ctc_n = (uint32_t)crystal.ctc_n,
                                       .tsc_ctc_d = (uint32_t)crystal.ctc_d,
                                       .max_ratio = crystal.max_ratio};
    if (assay_image_new(&image, NULL) != ASSAY_OK ||
        assay_image_code(image, 1, 0, text->address, text->bytes, text->size, "text") != ASSAY_OK ||
        assay_image_seal(image) != ASSAY_OK || assay_view_new(image, 1, &view) != ASSAY_OK ||
        assay_flow_new(&config, view, flow_batch, &s, &flow) != ASSAY_OK)
        abort();
    if (paths)
        assay_flow_take_paths(flow);
    feed(flow, data, size, piece);
    assay_flow_free(flow);
    assay_view_free(view);
    assay_image_free(image);
    finish(&s);
    return s;
}
