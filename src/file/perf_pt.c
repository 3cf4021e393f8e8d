/* SPDX-License-Identifier: MIT */
/* What a recording says of its Intel PT: AUXTRACE_INFO, TIME_CONV, the event's config; TSC to ns and back. */
#include "perf_priv.h"

#include <string.h>

enum {
    INFO_INTEL_PT = 1, /* AUXTRACE_INFO type */
};

/* The priv[] words in their order (Linux tools/perf/util/intel-pt.h); files of older perfs stop early. */
static const size_t info_word[] = {
#define WORD(name) offsetof(struct assay_perf_pt_info, name)
    WORD(pmu_type),           WORD(time_shift),    WORD(time_mult),     WORD(time_zero),
    WORD(cap_user_time_zero), WORD(tsc_bit),       WORD(noretcomp_bit), WORD(have_sched_switch),
    WORD(snapshot_mode),      WORD(per_cpu_mmaps), WORD(mtc_bit),       WORD(mtc_freq_bits),
    WORD(tsc_ctc_n),          WORD(tsc_ctc_d),     WORD(cyc_bit),       WORD(max_nonturbo_ratio),
#undef WORD
};

static void take_filter(struct perf_rd *r, struct assay_perf_pt_info *i)
{
    uint64_t length = perf_rd64(r);
    if (length == 0 || length >= sizeof i->filter)
        return;
    const uint8_t *text = assay_rd_bytes(&r->r, (size_t)length);
    if (text)
        memcpy(i->filter, text, (size_t)length);
}

void assay_pf_take_auxtrace_info(struct assay_perf *f, const uint8_t *body, uint32_t size)
{
    struct perf_rd r = {assay_rd_of(body, size), f->big};
    if (perf_rd32(&r) != INFO_INTEL_PT)
        return;
    perf_rd32(&r);
    struct assay_perf_pt_info before = f->pt;
    f->pt = (struct assay_perf_pt_info){.present = true};
    for (size_t i = 0; i < sizeof info_word / sizeof *info_word; i++) {
        uint64_t v = perf_rd64(&r);
        memcpy((char *)&f->pt + info_word[i], &v, sizeof v);
    }
    take_filter(&r, &f->pt);
    if (f->pt.time_mult == 0 && before.time_mult != 0)
        assay_pf_take_time_conv(f, before.time_shift, before.time_mult, before.time_zero);
    assay_pf_find_pt_event(f);
}

void assay_pf_take_time_conv(struct assay_perf *f, uint64_t shift, uint64_t mult, uint64_t zero)
{
    if (f->pt.time_mult != 0)
        return;
    f->pt.time_shift = shift;
    f->pt.time_mult = mult;
    f->pt.time_zero = zero;
    f->pt.cap_user_time_zero = 1;
}

void assay_pf_find_pt_event(struct assay_perf *f)
{
    for (size_t i = 0; f->pt.present && i < f->events.attrs; i++) {
        const struct perf_attr *a = &f->events.attr[i];
        if (a->type != f->pt.pmu_type)
            continue;
        f->pt.config = a->config;
        f->pt.exclude_kernel = a->exclude_kernel;
        f->pt.exclude_user = a->exclude_user;
        return;
    }
}

/* a * b >> shift with all 128 bits of the product, for shift < 64; bits above 64 of the result are dropped. */
static uint64_t mul_shift(uint64_t a, uint64_t b, unsigned shift)
{
    uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32); /* cannot overflow: (2^32-1)^2 + 2^32-1 < 2^64 */
    uint64_t mid2 = al * bh + (mid & UINT32_MAX);
    uint64_t low = a * b;
    uint64_t high = ah * bh + (mid >> 32) + (mid2 >> 32);
    return shift == 0 ? low : low >> shift | high << (64 - shift);
}

uint64_t assay_perf_tsc_to_ns(const struct assay_perf_pt_info *i, uint64_t tsc)
{
    if (i->time_shift > 63)
        return i->time_zero;
    unsigned shift = (unsigned)i->time_shift;
    uint64_t rest = tsc & ((UINT64_C(1) << shift) - 1);
    return i->time_zero + (tsc >> shift) * i->time_mult + mul_shift(rest, i->time_mult, shift);
}

uint64_t assay_perf_ns_to_tsc(const struct assay_perf_pt_info *i, uint64_t ns)
{
    if (i->time_mult == 0 || i->time_shift > 63)
        return 0;
    uint64_t t = ns - i->time_zero;
    return (t / i->time_mult << i->time_shift) + (t % i->time_mult << i->time_shift) / i->time_mult;
}

const struct assay_perf_pt_info *assay_perf_pt(const struct assay_perf *f) { return &f->pt; }
