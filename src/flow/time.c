/* SPDX-License-Identifier: MIT */
/* Time: what TSC, TMA, MTC, CYC and CBR together say. */
#include "internal.h"

enum { RATIO_BITS = 16 };

/* Estimates that a damaged packet threw far ahead must not hold time for ever: a TSC this much behind is believed. */
static const uint64_t far_back = UINT64_C(1) << 40;

/* TSC ticks of a count of crystal ticks, without overflow and without adding up what rounding loses. */
static uint64_t ticks_of(const struct assay_flow *f, uint64_t ctc)
{
    uint64_t d = f->config.tsc_ctc_d, n = f->config.tsc_ctc_n;
    return d ? ctc / d * n + ctc % d * n / d : 0;
}

uint64_t flow_clock_now(struct assay_flow *f)
{
    struct clock *c = &f->clock;
    if (!c->known)
        return 0;
    uint64_t cycles = f->cyc - c->base_cyc;
    if (cycles >> 40)
        cycles = UINT64_C(1) << 40;
    uint64_t t = c->base + (cycles * c->ratio >> RATIO_BITS);
    if (t > c->now)
        c->now = t;
    return c->now;
}

/* A packet says that it is `tsc` now. */
static void set_time(struct assay_flow *f, uint64_t tsc)
{
    struct clock *c = &f->clock;
    if (c->now > tsc && c->now - tsc > far_back)
        c->now = tsc;
    c->base = tsc;
    c->base_cyc = f->cyc;
    c->known = c->measured = true;
    if (f->state != LOST && f->state != UNSYNCED) {
        struct assay_flow_event e = {.type = ASSAY_FLOW_TIME, .exact = true, .offset = flow_pos(f)};
        flow_event(f, &e);
    }
    if (f->on_time)
        f->on_time(f->time_ctx, f, flow_clock_now(f));
}

/* The 56 bits of a packet, in the epoch nearest to the reference. */
static uint64_t extend_tsc(const struct assay_flow *f, uint64_t tsc)
{
    const uint64_t epoch = UINT64_C(1) << 56;
    uint64_t reference = f->config.tsc_reference;
    uint64_t t = (reference & ~(epoch - 1)) | tsc;
    if (!reference)
        return tsc;
    if (t > reference && t - reference > epoch / 2 && t >= epoch)
        return t - epoch;
    if (t < reference && reference - t > epoch / 2)
        return t + epoch;
    return t;
}

void flow_clock_tsc(struct assay_flow *f, uint64_t tsc)
{
    flow_hold_cycles(f);
    f->clock.have_ctc = false;
    set_time(f, extend_tsc(f, tsc));
}

void flow_clock_tma(struct assay_flow *f, unsigned ctc, unsigned fc)
{
    struct clock *c = &f->clock;
    if (!c->known || !f->config.tsc_ctc_d)
        return;
    uint32_t fraction = ctc & ((1u << f->config.mtc_freq) - 1);
    c->ctc_base = c->base - fc - ticks_of(f, fraction);
    c->ctc = 0;
    c->last_mtc = (uint8_t)(ctc >> f->config.mtc_freq);
    c->have_ctc = c->since_tma = true;
}

/* MTC periods since the last one. TMA has only 16 bits of the count: above them the first MTC is believed. */
static unsigned mtc_delta(const struct assay_flow *f, unsigned mtc)
{
    const struct clock *c = &f->clock;
    if (!c->since_tma) {
        unsigned delta = (mtc - c->last_mtc) & 0xff;
        return delta ? delta : 256;
    }
    unsigned bits = f->config.mtc_freq > 8 ? 16 - f->config.mtc_freq : 8;
    return (mtc - c->last_mtc) & ((1u << bits) - 1);
}

/* Core cycles between two MTCs in a row tell how fast the core runs. */
static void calibrate(struct assay_flow *f, uint64_t tsc)
{
    struct clock *c = &f->clock;
    uint64_t cycles = f->cyc - c->base_cyc, ticks = tsc - c->base;
    if (c->since_tma || !cycles || cycles >> 40 || ticks >> 40 || tsc <= c->base)
        return;
    uint64_t ratio = (ticks << RATIO_BITS) / cycles;
    if (ratio && ratio < UINT64_C(256) << RATIO_BITS) {
        c->ratio = (uint32_t)ratio;
        c->calibrated = true;
    }
}

void flow_clock_mtc(struct assay_flow *f, unsigned mtc)
{
    struct clock *c = &f->clock;
    flow_hold_cycles(f);
    if (!c->have_ctc)
        return;
    unsigned delta = mtc_delta(f, mtc);
    c->ctc += (uint64_t)delta << f->config.mtc_freq;
    uint64_t tsc = c->ctc_base + ticks_of(f, c->ctc);
    if (c->measured && delta == 1)
        calibrate(f, tsc);
    c->since_tma = false;
    c->last_mtc = (uint8_t)mtc;
    set_time(f, tsc);
}

void flow_clock_cbr(struct assay_flow *f, unsigned ratio)
{
    struct clock *c = &f->clock;
    bool first = !c->ratio;
    if (ratio && f->config.max_ratio && (!f->psb.open || !c->calibrated)) {
        uint64_t now = flow_clock_now(f); /* cycles so far ran at the old speed */
        c->base = now;
        c->base_cyc = f->cyc;
        c->measured = false;
        c->ratio = (uint32_t)((f->config.max_ratio << RATIO_BITS) / ratio);
        c->calibrated = false;
    }
    if ((!f->psb.open || first) && f->state != LOST && f->state != UNSYNCED)
        flow_event_at(f, ASSAY_FLOW_FREQUENCY, false, 0, ratio);
}

void assay_flow_on_time(struct assay_flow *f, void (*fn)(void *ctx, struct assay_flow *f, uint64_t tsc), void *ctx)
{
    f->on_time = fn;
    f->time_ctx = ctx;
}
