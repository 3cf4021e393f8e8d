/* SPDX-License-Identifier: MIT */
/* The core's performance counters: registers over what the machine model counts. */
#include <assay/core_unit.h>

#include <string.h>

#define BITS(high, low) ((~UINT64_C(0) >> (63 - (high))) & (~UINT64_C(0) << (low)))

enum { FIRST_FIXED = ASSAY_CORE_UNIT_GENERAL, FIXED_FIELD = 4, FIXED_OS = 1, FIXED_USR = 2, FIXED_PMI = 8 };
enum {
    DEFAULT_GENERAL = 2,
    DEFAULT_WIDTH = 40,
    OVF_BUFFER = 62,
    COND_CHANGED = 63,
    OFFCORE_CODE = 0xff,
    OFFCORE = 0xb7
};

static uint64_t counter_bits(const struct assay_core_unit *u) { return BITS(u->config.width - 1, 0); }

/* Bits of the global registers that stand for counters. */
static uint64_t all_counters(const struct assay_core_unit *u)
{
    return BITS(u->config.general - 1, 0) | BITS(FIRST_FIXED + ASSAY_CORE_UNIT_FIXED - 1, FIRST_FIXED);
}

void assay_core_unit_init(struct assay_core_unit *u, const struct assay_core_unit_config *config, const uint64_t *tally)
{
    memset(u, 0, sizeof *u);
    if (config)
        u->config = *config;
    struct assay_core_unit_config *c = &u->config;
    c->general = !c->general                            ? DEFAULT_GENERAL
                 : c->general > ASSAY_CORE_UNIT_GENERAL ? ASSAY_CORE_UNIT_GENERAL
                                                        : c->general;
    c->width = !c->width ? DEFAULT_WIDTH : c->width < 32 ? 32 : c->width > 63 ? 63 : c->width;
    u->tally = tally;
    u->global_ctrl = BITS(c->general - 1, 0);
    for (unsigned i = 0; i < FIRST_FIXED; i++)
        assay_machine_event_core(0, 0, &u->counter[i].event);
    for (unsigned i = 0; i < ASSAY_CORE_UNIT_FIXED; i++)
        assay_machine_event_fixed(i, &u->counter[FIRST_FIXED + i].event);
}

/* ---- counting ---- */

static unsigned fixed_field(const struct assay_core_unit *u, unsigned i)
{
    return (unsigned)(u->fixed_ctrl >> FIXED_FIELD * (i - FIRST_FIXED)) & 15;
}

static bool counts(const struct assay_core_unit *u, unsigned i)
{
    if (!(u->global_ctrl >> i & 1))
        return false;
    if (i >= FIRST_FIXED)
        return fixed_field(u, i) & (u->kernel ? FIXED_OS : FIXED_USR);
    return u->select[i] & ASSAY_PERFEVTSEL_EN &&
           u->select[i] & (u->kernel ? ASSAY_PERFEVTSEL_OS : ASSAY_PERFEVTSEL_USR);
}

static bool interrupts(const struct assay_core_unit *u, unsigned i)
{
    return i >= FIRST_FIXED ? fixed_field(u, i) & FIXED_PMI : (u->select[i] & ASSAY_PERFEVTSEL_INT) != 0;
}

static uint64_t count_of(const struct assay_core_unit *u, unsigned i)
{
    return assay_machine_event_sum(u->tally, u->counter[i].event.quantities);
}

/* True: it wrapped. */
static bool advance(struct assay_core_unit *u, unsigned i)
{
    uint64_t now = count_of(u, i), passed = now - u->counter[i].seen, bits = counter_bits(u);
    u->counter[i].seen = now;
    if (!counts(u, i))
        return false;
    uint64_t value = u->counter[i].value;
    u->counter[i].value = (value + passed) & bits;
    return passed > bits - value;
}

uint64_t assay_core_unit_run(struct assay_core_unit *u)
{
    uint64_t interrupt = 0;
    for (unsigned i = 0; i < ASSAY_CORE_UNIT_COUNTERS; i++) {
        if (!(all_counters(u) >> i & 1) || !advance(u, i))
            continue;
        u->global_status |= UINT64_C(1) << i;
        if (interrupts(u, i))
            interrupt |= UINT64_C(1) << i;
    }
    return interrupt;
}

void assay_core_unit_ring(struct assay_core_unit *u, bool kernel)
{
    assay_core_unit_run(u);
    u->kernel = kernel;
}

/* ---- registers ---- */

/* The event that counter i selects, from now on. */
static void select_event(struct assay_core_unit *u, unsigned i)
{
    uint64_t response = (u->select[i] & OFFCORE_CODE) == OFFCORE ? u->offcore[u->select[i] >> 9 & 1] : 0;
    assay_machine_event_core(u->select[i], response, &u->counter[i].event);
    u->counter[i].seen = count_of(u, i);
}

static int write_masked(uint64_t *reg, uint64_t value, uint64_t allowed)
{
    if (value & ~allowed)
        return ASSAY_E_ARGUMENT;
    *reg = value;
    return ASSAY_OK;
}

static int write_select(struct assay_core_unit *u, unsigned i, uint64_t value)
{
    int ret = write_masked(&u->select[i], value, BITS(31, 0));
    if (ret == ASSAY_OK)
        select_event(u, i);
    return ret;
}

static int write_offcore(struct assay_core_unit *u, unsigned n, uint64_t value)
{
    int ret = write_masked(&u->offcore[n], value, n == 0 ? BITS(38, 0) : BITS(37, 0));
    for (unsigned i = 0; ret == ASSAY_OK && i < u->config.general; i++)
        if ((u->select[i] & OFFCORE_CODE) == OFFCORE)
            select_event(u, i);
    return ret;
}

static int write_legacy(struct assay_core_unit *u, unsigned i, uint64_t value)
{
    u->counter[i].value = (uint64_t)(int64_t)(int32_t)(uint32_t)value & counter_bits(u);
    return ASSAY_OK;
}

/* The number of a register of a row of `n`, or -1. */
static int place_of(uint32_t msr, uint32_t first, unsigned n) { return msr - first < n ? (int)(msr - first) : -1; }

static int place_of_full_width(const struct assay_core_unit *u, uint32_t msr)
{
    return u->config.no_full_width ? -1 : place_of(msr, ASSAY_MSR_A_PMC0, u->config.general);
}

int assay_core_unit_wrmsr(struct assay_core_unit *u, uint32_t msr, uint64_t value)
{
    int i;
    assay_core_unit_run(u);
    if ((i = place_of(msr, ASSAY_MSR_PMC0, u->config.general)) >= 0)
        return write_legacy(u, (unsigned)i, value);
    if ((i = place_of_full_width(u, msr)) >= 0)
        return write_masked(&u->counter[i].value, value, counter_bits(u));
    if ((i = place_of(msr, ASSAY_MSR_PERFEVTSEL0, u->config.general)) >= 0)
        return write_select(u, (unsigned)i, value);
    if ((i = place_of(msr, ASSAY_MSR_FIXED_CTR0, ASSAY_CORE_UNIT_FIXED)) >= 0)
        return write_masked(&u->counter[FIRST_FIXED + i].value, value, counter_bits(u));
    if ((i = place_of(msr, ASSAY_MSR_OFFCORE_RSP_0, 2)) >= 0)
        return write_offcore(u, (unsigned)i, value);
    switch (msr) {
    case ASSAY_MSR_FIXED_CTR_CTRL:
        return write_masked(&u->fixed_ctrl, value, BITS(FIXED_FIELD * ASSAY_CORE_UNIT_FIXED - 1, 0));
    case ASSAY_MSR_PERF_GLOBAL_CTRL:
        return write_masked(&u->global_ctrl, value, all_counters(u));
    case ASSAY_MSR_PERF_GLOBAL_OVF_CTRL:
        if (value & ~(all_counters(u) | BITS(COND_CHANGED, OVF_BUFFER)))
            return ASSAY_E_ARGUMENT;
        u->global_status &= ~value;
        return ASSAY_OK;
    case ASSAY_MSR_PERF_GLOBAL_STATUS:
    case ASSAY_MSR_PERF_CAPABILITIES:
        return ASSAY_E_ARGUMENT; /* read-only */
    default:
        return ASSAY_E_NOT_FOUND;
    }
}

int assay_core_unit_rdmsr(struct assay_core_unit *u, uint32_t msr, uint64_t *value)
{
    int i;
    assay_core_unit_run(u);
    if ((i = place_of(msr, ASSAY_MSR_PMC0, u->config.general)) >= 0 || (i = place_of_full_width(u, msr)) >= 0)
        *value = u->counter[i].value;
    else if ((i = place_of(msr, ASSAY_MSR_PERFEVTSEL0, u->config.general)) >= 0)
        *value = u->select[i];
    else if ((i = place_of(msr, ASSAY_MSR_FIXED_CTR0, ASSAY_CORE_UNIT_FIXED)) >= 0)
        *value = u->counter[FIRST_FIXED + i].value;
    else if ((i = place_of(msr, ASSAY_MSR_OFFCORE_RSP_0, 2)) >= 0)
        *value = u->offcore[i];
    else if (msr == ASSAY_MSR_FIXED_CTR_CTRL)
        *value = u->fixed_ctrl;
    else if (msr == ASSAY_MSR_PERF_GLOBAL_CTRL)
        *value = u->global_ctrl;
    else if (msr == ASSAY_MSR_PERF_GLOBAL_STATUS)
        *value = u->global_status;
    else if (msr == ASSAY_MSR_PERF_GLOBAL_OVF_CTRL)
        *value = 0;
    else if (msr == ASSAY_MSR_PERF_CAPABILITIES)
        *value = u->config.no_full_width ? 0 : ASSAY_PERF_FW_WRITE;
    else
        return ASSAY_E_NOT_FOUND;
    return ASSAY_OK;
}

int assay_core_unit_rdpmc(struct assay_core_unit *u, uint32_t index, uint64_t *value)
{
    enum { FIXED = 1 << 30 };
    unsigned n = index & ~(uint32_t)FIXED, there = index & FIXED ? ASSAY_CORE_UNIT_FIXED : u->config.general;
    if (n >= there)
        return ASSAY_E_ARGUMENT;
    assay_core_unit_run(u);
    *value = u->counter[n + (index & FIXED ? FIRST_FIXED : 0u)].value;
    return ASSAY_OK;
}

const struct assay_machine_event *assay_core_unit_event(const struct assay_core_unit *u, unsigned counter)
{
    return &u->counter[counter].event;
}
