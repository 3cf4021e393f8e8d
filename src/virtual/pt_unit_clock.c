/* SPDX-License-Identifier: MIT */
/* The trace unit's clocks: core cycles to TSC and crystal ticks, and the packets that tell of them. */
#include "pt_unit_inside.h"
#include "pt_unit_put.h"

/* a * b / c, rounded down; exact as long as the result fits. */
static uint64_t scale_down(uint64_t a, uint32_t b, uint32_t c) { return a / c * b + a % c * b / c; }
static uint64_t scale_up(uint64_t a, uint32_t b, uint32_t c) { return a / c * b + (a % c * b + c - 1) / c; }

static uint64_t tsc_of_cycle(const struct assay_pt_unit *u, uint64_t cycle)
{
    return u->tsc_base + u->clock_tsc + scale_down(cycle - u->clock_cycle, u->config.max_ratio, u->core_ratio);
}

static uint64_t ctc_of_tsc(const struct assay_pt_unit *u, uint64_t tsc)
{
    return scale_down(tsc, u->config.tsc_ctc_d, u->config.tsc_ctc_n);
}

static uint64_t tsc_of_ctc(const struct assay_pt_unit *u, uint64_t ctc)
{
    return scale_up(ctc, u->config.tsc_ctc_n, u->config.tsc_ctc_d);
}

/* The first cycle at which the crystal's counter shows ctc. */
static uint64_t cycle_of_ctc(const struct assay_pt_unit *u, uint64_t ctc)
{
    uint64_t tsc = tsc_of_ctc(u, ctc) - u->tsc_base - u->clock_tsc;
    return u->clock_cycle + scale_up(tsc, u->core_ratio, u->config.max_ratio);
}

uint64_t assay_pt_unit_tsc(const struct assay_pt_unit *u) { return tsc_of_cycle(u, u->cycles); }

void assay_pt_unit_clock_restart(struct assay_pt_unit *u)
{
    u->next_mtc = UINT64_MAX;
    if (u->ctl & ASSAY_RTIT_MTCEN) {
        unsigned n = ctl_field(u, ASSAY_RTIT_MTCFREQ_SHIFT);
        u->next_ctc = ((ctc_of_tsc(u, assay_pt_unit_tsc(u)) >> n) + 1) << n;
        u->next_mtc = cycle_of_ctc(u, u->next_ctc);
    }
    u->next_tick = assay_pt_unit_next_due(u);
}

void assay_pt_unit_clock_ratio(struct assay_pt_unit *u, unsigned core_ratio)
{
    u->clock_tsc = assay_pt_unit_tsc(u) - u->tsc_base;
    u->clock_cycle = u->cycles;
    u->core_ratio = core_ratio;
    assay_pt_unit_clock_restart(u);
}

/* A pending TNT counts as if its CYC were out already: hardware sends it with the first branch. */
uint64_t assay_pt_unit_next_due(const struct assay_pt_unit *u)
{
    if (u->cyc_thresh == UINT64_MAX)
        return u->next_mtc;
    uint64_t last = u->last_cyc;
    if (u->enabled && u->tnt != 1 && u->tnt_cycle - last >= u->cyc_min)
        last = u->tnt_cycle;
    uint64_t wrap = last + (UINT64_C(1) << u->config.cyc_counter_bits) - 1;
    return wrap < u->next_mtc ? wrap : u->next_mtc;
}

void assay_pt_unit_put_time(struct assay_pt_unit *u)
{
    if (!(u->ctl & ASSAY_RTIT_TSCEN))
        return;
    put_cyc(u, u->cycles);
    uint64_t tsc = assay_pt_unit_tsc(u);
    *u->out_at++ = 0x19;
    store_le64(u->out_at, tsc);
    u->out_at += 7;
    if (u->ctl & ASSAY_RTIT_MTCEN) {
        uint64_t ctc = ctc_of_tsc(u, tsc);
        uint64_t fc = (tsc - tsc_of_ctc(u, ctc)) & 0x1ff;
        put_ext(u, EXT_TMA, (ctc & 0xffff) | fc << 24, 5);
    }
}

/* One MTC, or one stand-alone CYC before the counter wraps; the latter makes the next eligible packet bring a CYC. */
static void put_due(struct assay_pt_unit *u, uint64_t due)
{
    put_tnt(u);
    if (due == u->next_mtc) {
        unsigned n = ctl_field(u, ASSAY_RTIT_MTCFREQ_SHIFT);
        put_cyc(u, due);
        put_mtc(u, (uint8_t)(u->next_ctc >> n));
        u->next_ctc += UINT64_C(1) << n;
        u->next_mtc = cycle_of_ctc(u, u->next_ctc);
    } else {
        u->cyc_min = 1;
        put_cyc(u, due);
        u->cyc_min = 1;
    }
}

/* What TraceEn's setting writes. */
static void start(struct assay_pt_unit *u)
{
    u->started = true;
    if (!assay_pt_unit_room(u))
        return;
    if (pt_unit_position(u) == u->psb_last || u->out_at >= u->psb_at) { /* PacketByteCnt is 0, or the period is over */
        assay_pt_unit_psb(u, 0);
    } else {
        assay_pt_unit_put_time(u);
        put_cbr(u);
    }
}

void assay_pt_unit_tick(struct assay_pt_unit *u)
{
    if (!triggered(u)) {
        u->next_tick = UINT64_MAX;
        return;
    }
    if (!u->started) {
        start(u);
        assay_pt_unit_clock_restart(u);
    }
    uint64_t due;
    while ((due = assay_pt_unit_next_due(u)) <= u->cycles) {
        if (!assay_pt_unit_room(u)) { /* no timing packets while others are lost */
            u->lost++;
            assay_pt_unit_clock_restart(u);
            u->next_tick = u->next_mtc;
            return;
        }
        put_due(u, due);
    }
    u->next_tick = due;
}
