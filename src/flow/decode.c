/* SPDX-License-Identifier: MIT */
/* The packet loop: bytes in, the walk and its events out. */
#include "internal.h"

#include "pt/fast.h"
#include "pt/layout.h"

#include <stdlib.h>

/* Is anything pending that only the general way knows of? */
static void settle(struct assay_flow *f)
{
    f->irregular = f->state != ON || f->have_fup || f->mode_next || f->psb.open || f->block_item || f->tnt_n ||
                   f->bounds || f->stop;
}

/* ---- the general way */

static void damaged(struct assay_flow *f, int code, const char *why)
{
    f->psb.open = false;
    f->block_item = 0;
    flow_fail(f, code, 0, why, NULL);
    f->state = UNSYNCED;
}

/* SKD007: OVF may come after the first byte of a two-byte CYC. SKZ84: a broken TMA has a stray byte. How many bytes to pass
 * over; all that there are when more must be seen first. n is what decoding said. */
static size_t erratum_skip(const struct assay_flow *f, size_t size, int n)
{
    const uint8_t *p = f->at;
    if (f->errata & ERRATUM_SKD007 && n == 2 && (p[0] & 7) == 7 && p[1] == 2)
        return size == 2 ? 2 : p[2] == 0xf3;
    if (f->errata & ERRATUM_SKZ84 && n == ASSAY_E_BAD_PACKET && p[0] == 2 && p[1] == 0x73)
        return size < 8 ? size : 8;
    return 0;
}

static void track_state(struct assay_flow *f, struct assay_pt_packet *p)
{
    if (!assay_pt_layout[p->type].passive)
        f->block_item = 0;
    if (pt_is_ip(p->type))
        assay_pt_last_ip(p, &f->last_ip);
    else if (p->type == ASSAY_PT_OVF)
        f->last_ip = 0;
    else if (p->type == ASSAY_PT_BBP)
        f->block_item = p->bbp.item_bytes;
}

/* One packet. False at one that is not complete. */
static bool general_packet(struct assay_flow *f, size_t size, bool last)
{
    struct assay_pt_packet p;
    const char *why;
    int n = assay_pt_decode(f->at, size, f->block_item, &p, &why);
    size_t skip = erratum_skip(f, size, n);
    if (n == ASSAY_E_TRUNCATED || (skip == size && !last))
        return false;
    if (skip && skip < size) {
        f->at += skip;
    } else if (n < 0) {
        damaged(f, n, why);
    } else {
        track_state(f, &p);
        flow_packet(f, &p);
        f->at += n;
    }
    settle(f);
    return true;
}

/* Looks for a PSB. False when there is none in the bytes in hand. */
static bool find_sync(struct assay_flow *f, const uint8_t *end, bool last)
{
    size_t size = (size_t)(end - f->at), n = assay_pt_find_psb(f->at, size);
    if (n == size && !last)
        n = size < ASSAY_PT_MAX_PACKET ? 0 : size - (ASSAY_PT_MAX_PACKET - 1);
    if (!f->have_gap && n) {
        const uint8_t *p = pt_skip_pad(f->at, f->at + n);
        n -= (size_t)(p - f->at);
        f->at = p; /* padding before the first PSB is no loss */
        if (n)
            flow_begin_unsynced(f);
    }
    f->at += n;
    size = (size_t)(end - f->at);
    return size >= ASSAY_PT_MAX_PACKET && assay_pt_find_psb(f->at, ASSAY_PT_MAX_PACKET) == 0;
}

/* Everything up to end, or up to a packet that is not complete. */
static void decode(struct assay_flow *f, const uint8_t *end, bool last)
{
    while (f->at < end && !f->stop) {
        size_t size = (size_t)(end - f->at);
        if (f->crowded)
            flow_begin_anew(f);
        if (f->state == UNSYNCED && !find_sync(f, end, last))
            return;
        if (!f->irregular && size > PT_FAST_ROOM) {
            const uint8_t *before = f->at;
            flow_fast_packets(f, end - PT_FAST_ROOM);
            settle(f);
            if (f->at != before)
                continue;
        }
        if (!general_packet(f, (size_t)(end - f->at), last))
            return;
    }
}

/* Nothing follows: what is left over is told. */
static void finish(struct assay_flow *f, const uint8_t *end)
{
    if (f->at < end && !f->stop) {
        uint64_t pos = flow_pos(f), left = (uint64_t)(end - f->at);
        if (f->state != UNSYNCED) {
            flow_fail(f, ASSAY_E_TRUNCATED, 0, "the trace ends inside a packet", NULL);
            flow_count_as(f, pos, 1 + ASSAY_SKIP_TRUNCATED);
        }
        f->at = end;
        flow_end_gap(f, pos + left);
    }
    flow_release_bound(f, false, 0);
    if (f->state == PROVISIONAL)
        flow_confirm(f);
    flow_end_gap(f, flow_pos(f));
    flow_put_last_cycles(f);
    flow_count_until(f, flow_pos(f));
    flow_deliver(f);
}

int assay_flow_feed(struct assay_flow *f, const uint8_t *data, size_t size, bool last, size_t *used)
{
    f->begin = f->at = data;
    f->base = f->fed;
    if (!f->stop)
        settle(f);
    decode(f, data + size, last);
    if (last)
        finish(f, data + size);
    else
        flow_count_until(f, flow_pos(f));
    *used = (size_t)(f->at - data);
    f->fed = flow_pos(f);
    f->base = f->fed;
    f->begin = f->at = NULL;
    return f->stop;
}

const struct assay_ledger *assay_flow_ledger(const struct assay_flow *f) { return &f->ledger; }

/* ---- making and freeing */

static bool allocate(struct assay_flow *f, struct assay_view *view)
{
    f->items = malloc((ITEMS + ITEMS_ROOM) * sizeof *f->items);
    f->events = malloc(EVENTS_MAX * sizeof *f->events);
    if (!f->items || !f->events || !flow_memo_new(f) || !flow_use_view(f, view))
        return false;
    uint32_t cap = 0; /* run 0 stands for "none" */
    if (!flow_reserve(f, &f->nodes, &cap, sizeof *f->nodes, 1) ||
        !flow_reserve(f, &f->runs, &f->runs_cap, sizeof *f->runs, 1) ||
        !flow_reserve(f, &f->sites, &f->sites_cap, sizeof *f->sites, 1))
        return false;
    f->nodes[0] = (struct node){0};
    f->runs[0] = (struct assay_flow_run){0};
    f->sites[0] = (struct site){0};
    f->runs_n = 1;
    f->sites_n = 1;
    f->out = f->items;
    f->out_limit = f->items + ITEMS;
    return true;
}

static bool sound_config(const struct assay_flow_config *c)
{
    return (c->mode == 0 || c->mode == 16 || c->mode == 32 || c->mode == 64) && c->mtc_freq < 16 &&
           c->max_ratio < 1 << 12;
}

int assay_flow_new(const struct assay_flow_config *config, struct assay_view *view, assay_flow_batch_fn *on_batch,
                   void *ctx, struct assay_flow **out)
{
    *out = NULL;
    if (!sound_config(config))
        return ASSAY_E_ARGUMENT;
    struct assay_flow *f = calloc(1, sizeof *f);
    if (!f)
        return ASSAY_E_MEMORY;
    f->config = *config;
    if (!f->config.loop_limit)
        f->config.loop_limit = 65536;
    if (!f->config.table_limit)
        f->config.table_limit = TABLE_LIMIT;
    f->mode = (uint8_t)(config->mode ? config->mode : 64);
    f->errata = flow_errata(config->family, config->model);
    f->on_batch = on_batch;
    f->ctx = ctx;
    f->state = UNSYNCED;
    f->link = LINK_NONE;
    if (!allocate(f, view)) {
        assay_flow_free(f);
        return ASSAY_E_MEMORY;
    }
    *out = f;
    return ASSAY_OK;
}

void assay_flow_free(struct assay_flow *f)
{
    if (!f)
        return;
    flow_graph_free(f);
    flow_memo_free(f);
    free(f->items);
    free(f->events);
    free(f);
}
