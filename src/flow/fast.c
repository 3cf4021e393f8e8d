/* SPDX-License-Identifier: MIT */
/* The packets that make up nearly all of a trace, while tracing is on and nothing is pending. */
#include "memo.h"
#include "walk.h"

#include "pt/fast.h"

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
void flow_fast_packets(struct assay_flow *f, const uint8_t *end)
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
