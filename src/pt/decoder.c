/* SPDX-License-Identifier: MIT */
/* A stream of packets: state between them, damage, the ledger. */
#include <assay/pt.h>

#include "pt/fast.h"
#include "pt/layout.h"

static uint64_t offset_of(const struct assay_pt_decoder *d, const uint8_t *at)
{
    return d->base + (uint64_t)(at - d->begin);
}

/* Brings the ledger up to the present position. */
static void count_decoded(struct assay_pt_decoder *d)
{
    uint64_t n = (uint64_t)(d->at - d->counted);
    d->ledger.decoded += n;
    d->ledger.unread -= n;
    d->counted = d->at;
}

static void skip(struct assay_pt_decoder *d, size_t n, enum assay_skip reason)
{
    count_decoded(d);
    d->ledger.skipped[reason] += n;
    d->ledger.unread -= n;
    d->at += n;
    d->counted = d->at;
}

static void diagnose(struct assay_pt_decoder *d, int code, const char *what)
{
    d->diag = (struct assay_diag){.code = code, .offset = d->gap_from, .what = what};
}

/* From here on bytes are a gap, until the next PSB. */
static void begin_gap(struct assay_pt_decoder *d, enum assay_skip reason)
{
    d->synced = false;
    d->block_item = 0;
    d->gap_from = offset_of(d, d->at);
    d->gap_reason = (uint8_t)reason;
}

static int emit_gap(struct assay_pt_decoder *d, struct assay_pt_packet *p)
{
    uint64_t here = offset_of(d, d->at);
    if (d->gap_reason == ASSAY_SKIP_BEFORE_SYNC)
        diagnose(d, ASSAY_E_NO_SYNC, "no PSB before here");
    *p = (struct assay_pt_packet){.offset = d->gap_from, .type = ASSAY_PT_GAP};
    p->gap.bytes = here - d->gap_from;
    p->gap.code = d->diag.code;
    p->gap.what = d->diag.what;
    d->gap_from = here;
    return 1;
}

/* Passes over bytes to the next PSB, which ends the gap, or to where it may begin in bytes to come, or to the end. */
static void seek_psb(struct assay_pt_decoder *d)
{
    size_t size = (size_t)(d->end - d->at), n = assay_pt_find_psb(d->at, size);
    d->synced = n < size;
    if (!d->synced && d->more)
        n = size < ASSAY_PT_MAX_PACKET ? 0 : size - (ASSAY_PT_MAX_PACKET - 1);
    skip(d, n, (enum assay_skip)d->gap_reason);
}

void assay_pt_decoder_init(struct assay_pt_decoder *d, const void *data, size_t size, uint64_t base, bool synced)
{
    const uint8_t *begin = (const uint8_t *)data;
    *d = (struct assay_pt_decoder){.begin = begin, .at = begin, .end = begin + size, .base = base, .counted = begin};
    d->ledger.in = d->ledger.unread = size;
    d->synced = synced;
    if (!synced)
        begin_gap(d, ASSAY_SKIP_BEFORE_SYNC);
}

uint64_t assay_pt_decoder_pos(const struct assay_pt_decoder *d) { return offset_of(d, d->at); }

const struct assay_diag *assay_pt_decoder_diag(const struct assay_pt_decoder *d) { return &d->diag; }

const struct assay_ledger *assay_pt_decoder_ledger(struct assay_pt_decoder *d)
{
    count_decoded(d);
    return &d->ledger;
}

void assay_pt_decoder_refill(struct assay_pt_decoder *d, const void *data, size_t size)
{
    count_decoded(d);
    d->base = offset_of(d, d->at);
    d->ledger.in += size - d->ledger.unread;
    d->ledger.unread = size;
    d->begin = d->at = d->counted = (const uint8_t *)data;
    d->end = d->begin + size;
}

int assay_pt_decoder_resync(struct assay_pt_decoder *d)
{
    if (d->synced)
        begin_gap(d, ASSAY_SKIP_DAMAGED);
    seek_psb(d);
    d->gap_from = offset_of(d, d->at);
    if (d->synced)
        return 0;
    diagnose(d, ASSAY_E_NO_SYNC, "no PSB before here");
    return ASSAY_E_NO_SYNC;
}

static void complete_ip(struct assay_pt_decoder *d, struct assay_pt_packet *p)
{
    if (pt_ip_alone(p->ip.ipbytes))
        d->have_last_ip = true;
    assay_pt_last_ip(p, &d->last_ip);
    if (!d->have_last_ip) {
        p->ip.known = false;
        p->ip.ip = 0;
    }
}

/* What a packet changes for those that follow it. */
static void follow(struct assay_pt_decoder *d, struct assay_pt_packet *p)
{
    if (!assay_pt_layout[p->type].passive)
        d->block_item = 0;
    switch (p->type) {
    case ASSAY_PT_TIP:
    case ASSAY_PT_TIP_PGE:
    case ASSAY_PT_TIP_PGD:
    case ASSAY_PT_FUP:
        complete_ip(d, p);
        break;
    case ASSAY_PT_PSB:
    case ASSAY_PT_OVF:
        d->last_ip = 0;
        d->have_last_ip = true;
        break;
    case ASSAY_PT_BBP:
        d->block_item = p->bbp.item_bytes;
        break;
    default:
        break;
    }
}

static int next_in_gap(struct assay_pt_decoder *d, struct assay_pt_packet *p)
{
    seek_psb(d);
    if (offset_of(d, d->at) != d->gap_from && (d->synced || !d->more))
        return emit_gap(d, p);
    return d->synced ? assay_pt_decoder_next(d, p) : 0;
}

static int cut_off(struct assay_pt_decoder *d, struct assay_pt_packet *p, const char *why)
{
    begin_gap(d, ASSAY_SKIP_TRUNCATED);
    diagnose(d, ASSAY_E_TRUNCATED, why);
    skip(d, (size_t)(d->end - d->at), ASSAY_SKIP_TRUNCATED);
    emit_gap(d, p);
    d->gap_reason = ASSAY_SKIP_BEFORE_SYNC; /* of what a refill may bring */
    return 1;
}

static int next_any(struct assay_pt_decoder *d, struct assay_pt_packet *p)
{
    const char *why;
    int size = assay_pt_decode(d->at, (size_t)(d->end - d->at), d->block_item, p, &why);
    if (size > 0) {
        p->offset = offset_of(d, d->at);
        d->at += size;
        follow(d, p);
        return 1;
    }
    if (size == ASSAY_E_TRUNCATED) {
        count_decoded(d);
        return d->more ? 0 : cut_off(d, p, why);
    }
    begin_gap(d, ASSAY_SKIP_DAMAGED);
    diagnose(d, size, why);
    return next_in_gap(d, p);
}

int assay_pt_decoder_next(struct assay_pt_decoder *d, struct assay_pt_packet *p)
{
    if (!d->synced)
        return next_in_gap(d, p);
    if ((size_t)(d->end - d->at) >= PT_FAST_ROOM && !d->block_item) {
        unsigned size = pt_fast_packet(d->at, p);
        if (size > 0) {
            p->offset = offset_of(d, d->at);
            d->at += size;
            if (pt_is_ip(p->type))
                complete_ip(d, p);
            return 1;
        }
    } else if (d->at == d->end) {
        count_decoded(d);
        return 0;
    }
    return next_any(d, p);
}
