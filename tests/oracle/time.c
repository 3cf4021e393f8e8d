/* SPDX-License-Identifier: MIT */
/* What TSC it is, from TSC, TMA, MTC, CBR and CYC packets. */
#include "oracle.h"

#include <string.h>

void clock_init(struct clock *c, const struct clock_config *config)
{
    memset(c, 0, sizeof *c);
    c->config = *config;
}

/* The TSC nearest to the reference that ends in these 56 bits. */
static uint64_t extend_tsc(uint64_t low, uint64_t reference)
{
    const uint64_t epoch = UINT64_C(1) << 56;
    uint64_t same = (reference & ~(epoch - 1)) | low;
    if (reference == 0)
        return low;
    if (same > reference && same - reference > epoch / 2 && same >= epoch)
        return same - epoch;
    if (same < reference && reference - same > epoch / 2)
        return same + epoch;
    return same;
}

/* The TSC so many crystal ticks after the MTC period began in which the TMA stood; rounded down once. */
static uint64_t tsc_of_ticks(const struct clock *c, uint64_t ticks)
{
    __int128 n = c->config.ctc_n, d = c->config.ctc_d;
    __int128 delta = ((__int128)ticks - (__int128)c->ctc_before) * n;
    __int128 floor = delta >= 0 ? delta / d : -((-delta + d - 1) / d);
    return c->ctc_tsc + (uint64_t)floor;
}

/* The estimate never goes back. */
static void now_is(struct clock *c, uint64_t tsc)
{
    if (tsc > c->tsc)
        c->tsc = tsc;
}

/* A place in time that is known without cycles: cycles are counted from here again. */
static void sharp_time(struct clock *c, uint64_t tsc)
{
    c->mark = tsc;
    c->cycles = 0;
    now_is(c, tsc);
}

static void on_tsc(struct clock *c, uint64_t low)
{
    c->packet_tsc = extend_tsc(low, c->tsc ? c->tsc : c->config.tsc_reference);
    c->have_tsc = true;
    c->have_ctc = false;
    c->cal_cyc = 0;
    sharp_time(c, c->packet_tsc);
}

static void on_tma(struct clock *c, uint64_t ctc, uint64_t fc)
{
    if (!c->have_tsc || c->config.ctc_d == 0)
        return;
    unsigned n = c->config.mtc_freq;
    uint64_t into_period = ctc & ((UINT64_C(1) << n) - 1);
    /* MTC shows bits n+7..n of the crystal counter, TMA only bits 15..0: what lacks comes with the first MTC. */
    c->ctc_high_unknown = n > 8;
    c->last_mtc = (uint8_t)(ctc >> n);
    c->ctc_tsc = c->packet_tsc - fc;
    c->ctc_before = into_period;
    c->ctc_ticks = 0;
    c->have_ctc = true;
    c->mtc_seen = false;
}

static bool on_mtc(struct clock *c, uint8_t mtc)
{
    if (!c->have_ctc)
        return false;
    unsigned n = c->config.mtc_freq;
    if (c->ctc_high_unknown) {
        uint8_t known = (uint8_t)((1u << (16 - n)) - 1);
        uint8_t before = (uint8_t)(mtc - 1);
        /* No MTC was lost: the missing bits are those of the MTC before this one, or of this one if they agree. */
        c->last_mtc = (uint8_t)((((mtc & known) == (c->last_mtc & known)) ? mtc : before) & ~known) |
                      (uint8_t)(c->last_mtc & known);
        c->ctc_high_unknown = false;
    }
    unsigned delta = (uint8_t)(mtc - c->last_mtc);
    if (delta == 0 && c->mtc_seen)
        delta = 256;
    c->ctc_ticks += (uint64_t)delta << n;
    c->last_mtc = mtc;
    uint64_t tsc = tsc_of_ticks(c, c->ctc_ticks);
    if (c->mtc_seen && c->cycles) {
        c->cal_tsc = tsc - c->mark;
        c->cal_cyc = c->cycles;
    }
    c->mtc_seen = true;
    sharp_time(c, tsc);
    return true;
}

static void on_cyc(struct clock *c, uint64_t cycles)
{
    c->cycles += cycles;
    if (!c->have_tsc)
        return;
    if (c->cal_cyc)
        now_is(c, c->mark + (uint64_t)((unsigned __int128)c->cycles * c->cal_tsc / c->cal_cyc));
    else if (c->core_ratio && c->config.max_ratio)
        now_is(c, c->mark + (uint64_t)((unsigned __int128)c->cycles * c->config.max_ratio / c->core_ratio));
}

static void on_cbr(struct clock *c, unsigned ratio)
{
    if (ratio != c->core_ratio)
        c->cal_cyc = 0;
    c->core_ratio = ratio;
}

bool clock_packet(struct clock *c, const struct packet *p, bool *told)
{
    *told = false;
    switch (p->kind) {
    case TSC:
        on_tsc(c, p->value);
        *told = true;
        return true;
    case TMA:
        on_tma(c, p->value, p->count);
        return true;
    case MTC:
        *told = on_mtc(c, (uint8_t)p->value);
        return true;
    case CYC:
        on_cyc(c, p->value);
        return true;
    case CBR:
        on_cbr(c, (unsigned)p->value);
        return true;
    default:
        return false;
    }
}
