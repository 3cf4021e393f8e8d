/* SPDX-License-Identifier: MIT */
/* The packet loop: bytes in, the walk and its events out. */
#include "memo.h"
#include "walk.h"

#include "pt/fast.h"
#include "pt/layout.h"

#include <stdlib.h>

/* ---- the fast way: tracing is on, nothing is pending */

/* How many of the 4 bytes of w are short TNT packets, from the lowest on: neither odd, nor PAD, nor an extended opcode. */
static inline unsigned tnt_bytes(uint32_t w)
{
    uint32_t even = w & 0xfdfdfdfd;
    uint32_t other = (w & 0x01010101) << 7 | ((even - 0x01010101) & ~even & 0x80808080);
    return other ? (unsigned)__builtin_ctz(other) >> 3 : 4;
}

static inline void fast_tip(struct assay_flow *f, uint64_t ip)
{
    uint32_t link = f->link;
    unsigned kind = LINK_KIND(link);
    if (kind < LINK_RET || kind > LINK_TIP_PUSH) {
        flow_take_tip(f, ip);
        return;
    }
    *f->out++ = LINK_ID(link);
    if (kind & 1)
        walk_push(f, LINK_ID(link));
    if (f->cyc != f->cyc_told)
        flow_put_cycles(f);
    f->link = walk_link_at(f, ip);
}

static void settle(struct assay_flow *f)
{
    f->irregular = f->state != ON || f->have_fup || f->mode_next || f->psb.open || f->block_item || f->tnt_n ||
                   f->bounds || f->stop;
}

/* What the hot loop holds in registers. */
struct hot {
    const uint8_t *p;
    uint32_t *out;
    uint64_t last_ip;
    uint32_t link;
    uint32_t cycles; /* pending: passed, not told */
    uint64_t total;  /* passed since this was made */
};

static inline struct hot hot_of(const struct assay_flow *f)
{
    return (struct hot){
        .p = f->at, .out = f->out, .last_ip = f->last_ip, .link = f->link, .cycles = (uint32_t)(f->cyc - f->cyc_told)};
}

static inline void hot_back(struct assay_flow *f, const struct hot *h)
{
    f->at = h->p;
    f->out = h->out;
    f->last_ip = h->last_ip;
    f->link = h->link;
    f->cyc += h->total;
    f->cyc_told = f->cyc - h->cycles;
}

/* A CYC of one or two bytes. */
static inline bool hot_cyc(struct hot *h, uint32_t w)
{
    uint32_t more = w >> 2 & 1;
    if (h->cycles >> 24) /* an item must hold them */
        return false;
    if (more && (w & 0x100 || (w & 0xffff00) == 0xf30200)) /* a longer one, or erratum SKD007 */
        return false;
    uint32_t n = (w >> 3 & 0x1f) | (w >> 9 & 0x7f) * more << 5;
    h->cycles += n;
    h->total += n;
    h->p += 1 + more;
    return true;
}

static inline void hot_put_cycles(struct hot *h)
{
    *h->out = 0x80000000u | h->cycles;
    h->out += h->cycles != 0;
    h->cycles = 0;
}

/* TNT packets whose way is known. */
static inline bool hot_tnt(struct assay_flow *f, struct hot *h, uint32_t w)
{
    unsigned n = h->cycles ? 1 : tnt_bytes(w);
    n = n < f->window ? n : f->window;
    const struct memo *m = memo_find(f, h->link, w & UINT32_MAX >> (32 - 8 * n));
    if (!m)
        return false;
    uint32_t path = m->path & ~MEMO_STACK;
    if (!f->take_paths || (h->cycles && !f->ways[path].rest)) {
        hot_back(f, h);
        flow_memo_put(f, path);
        h->out = f->out;
        h->cycles = 0;
        h->total = 0;
    } else if (h->cycles) {
        const struct way *way = &f->ways[path];
        h->out[0] = way->first;
        h->out[1] = 0x80000000u | h->cycles;
        h->out[2] = way->rest;
        h->out += 2 + (way->rest != WAY_SINGLE);
        h->cycles = 0;
    } else {
        *h->out++ = 0x40000000u | path;
    }
    h->link = m->next;
    h->p += n;
    return true;
}

/* A TIP to a known run. */
static inline bool hot_tip(struct assay_flow *f, struct hot *h, unsigned byte)
{
    static const uint64_t mask[8] = {0, 0xffff, 0xffffffff, 0xffffffffffff, 0xffffffffffff, 0, UINT64_MAX, 0};
    static const uint8_t sign[8] = {[3] = 16};
    unsigned kind = LINK_KIND(h->link), ipbytes = byte >> 5;
    uint64_t ip = (h->last_ip & ~mask[ipbytes]) | (pt_load64(h->p + 1) & mask[ipbytes]);
    ip = (uint64_t)((int64_t)(ip << sign[ipbytes]) >> sign[ipbytes]);
    const struct slot *s = &f->slots[ip * UINT64_C(0x9e3779b97f4a7c15) >> f->slot_shift];
    if (kind - LINK_RET > LINK_TIP_PUSH - LINK_RET || !mask[ipbytes] || s->ip != ip || !s->link || s->mode != f->mode)
        return false;
    *h->out++ = LINK_ID(h->link);
    hot_put_cycles(h);
    if (kind & 1)
        walk_push(f, LINK_ID(h->link));
    h->link = s->link;
    h->last_ip = ip;
    h->p += 1 + pt_ip_size(ipbytes);
    return true;
}

/* CYC, TNT and TIP packets from f->at on that lead where the walk was before: nothing but tables and registers. */
static void fast_ways(struct assay_flow *f, const uint8_t *end)
{
    struct hot h = hot_of(f);
    bool known = true;
    while (known && h.p < end && h.out < f->out_limit) {
        uint32_t w = (uint32_t)pt_load64(h.p);
        if ((w & 3) == 3) {
            known = hot_cyc(&h, w);
            w = (uint32_t)pt_load64(h.p);
        }
        if ((w & 1) == 0)
            known = known && w & 0xfd && hot_tnt(f, &h, w);
        else if ((w & 0x1f) == 0x0d)
            known = known && hot_tip(f, &h, w & 0xff);
        else
            known = known && (w & 3) == 3;
    }
    hot_back(f, &h);
}

/* Packets from f->at on while they are the usual ones; end leaves PT_FAST_ROOM bytes to read. */
static void fast_packets(struct assay_flow *f, const uint8_t *end)
{
    const uint8_t *p = f->at;
    while (p < end) {
        f->at = p;
        if (f->out >= f->out_limit)
            flow_deliver(f);
        if (!f->cyc_held && f->cyc - f->cyc_told < 1 << 20) {
            fast_ways(f, end);
            if ((p = f->at) >= end)
                break;
        }
        unsigned byte = *p;
        if (!(byte & 1) && byte != 2) {
            if (byte == 0) {
                p++;
                continue;
            }
            uint32_t w = (uint32_t)pt_load64(p);
            unsigned n = f->cyc != f->cyc_told ? 1 : tnt_bytes(w);
            n = n < f->window ? n : f->window;
            p += flow_memo_tnt(f, w & UINT32_MAX >> (32 - 8 * n), n);
            if (f->state != ON || f->tnt_n || f->stop || f->crowded)
                break;
        } else if ((byte & 3) == 3) {
            uint64_t cycles;
            unsigned size = pt_cyc(p, &cycles);
            if (!size || (size == 2 && p[1] == 2 && p[2] == 0xf3))
                return;
            f->cyc += cycles;
            p += size;
        } else if ((byte & 0x1f) == 0x0d && byte != 0x0d && !pt_ip_reserved(byte >> 5)) {
            unsigned size = pt_ip_size(byte >> 5);
            f->last_ip = pt_ip_apply(byte >> 5, pt_payload(p + 1, size), f->last_ip);
            p += 1 + size;
            fast_tip(f, f->last_ip);
            if (f->state != ON || f->stop || f->crowded)
                break;
        } else if (byte == 0x59) {
            flow_clock_mtc(f, p[1]);
            p += 2;
        } else {
            return;
        }
    }
    f->at = p;
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
            fast_packets(f, end - PT_FAST_ROOM);
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
