/* SPDX-License-Identifier: MIT */
/* Which counter each event of a group gets, or the smallest set of events that cannot be together. */
#include "event/assign.h"

static bool is_software(const struct event_group *g, unsigned i)
{
    return g->t->pmus[g->c[i].pmu].scheme == ASSAY_EVENT_SOFTWARE;
}

static uint64_t upto(unsigned i) { return i >= 63 ? UINT64_MAX : (UINT64_C(1) << (i + 1)) - 1; }

static bool place(const struct event_group *g, uint64_t subset, bool counters_only, struct assay_event_slot *slot)
{
    if (!subset)
        return true;
    bool netburst = g->t->pmus[g->c[__builtin_ctzll(subset)].pmu].scheme == ASSAY_EVENT_NETBURST;
    return netburst ? assay_event_place_netburst(g, subset, counters_only, slot)
                    : assay_event_place_core(g, subset, counters_only, slot);
}

static int fail(struct assay_event_group_error *e, enum assay_event_conflict conflict, uint64_t events)
{
    *e = (struct assay_event_group_error){.conflict = (uint8_t)conflict,
                                          .first = (uint8_t)__builtin_ctzll(events),
                                          .second = (uint8_t)(63 - __builtin_clzll(events)),
                                          .events = events};
    return ASSAY_E_ARGUMENT;
}

/* Software events have no counter; the others must be of one PMU. */
static int sort_out(const struct event_group *g, uint64_t *hardware, struct assay_event_slot *slot,
                    struct assay_event_group_error *e)
{
    *hardware = 0;
    for (unsigned i = 0; i < g->n; i++) {
        slot[i] = (struct assay_event_slot){.counter = ASSAY_EVENT_NO_COUNTER_BIT,
                                            .upstream_counter = ASSAY_EVENT_NO_COUNTER_BIT,
                                            .metric = ASSAY_EVENT_NONE,
                                            .code0 = g->c[i].code[0]};
        if (is_software(g, i))
            continue;
        if (*hardware && g->c[__builtin_ctzll(*hardware)].pmu != g->c[i].pmu)
            return fail(e, ASSAY_EVENT_MANY_PMUS, (*hardware & (0 - *hardware)) | UINT64_C(1) << i);
        *hardware |= UINT64_C(1) << i;
    }
    return ASSAY_OK;
}

/* The events up to the first that does not fit, without all that it does not need for that. */
static uint64_t smallest_conflict(const struct event_group *g, uint64_t hardware, struct assay_event_slot *slot)
{
    unsigned last = 0;
    while (place(g, hardware & upto(last), false, slot))
        last++;
    uint64_t set = hardware & upto(last);
    for (uint64_t left = set; left; left &= left - 1) {
        uint64_t without = set & ~(left & (0 - left));
        if (!place(g, without, false, slot))
            set = without;
    }
    return set;
}

static void add_msr(struct assay_event_group_error *e, uint32_t msr)
{
    for (unsigned i = 0; i < 2 && msr && e->msr[i] != msr; i++)
        if (!e->msr[i]) {
            e->msr[i] = msr;
            return;
        }
}

static void name_core_registers(const struct event_group *g, struct assay_event_group_error *e)
{
    for (uint64_t left = e->events; left; left &= left - 1) {
        const struct assay_event_row *row = &g->t->events[g->c[__builtin_ctzll(left)].event];
        add_msr(e, row->extra_msr);
        add_msr(e, row->extra_msr_alt);
    }
}

static void name_escrs(const struct event_group *g, struct assay_event_group_error *e)
{
    for (uint64_t left = e->events; left; left &= left - 1) {
        const struct assay_event_netburst *where =
            &g->t->netburst[g->t->events[g->c[__builtin_ctzll(left)].event].netburst];
        add_msr(e, where->escr_msr[0]);
        add_msr(e, where->escr_msr[1]);
    }
}

/* What it is that is scarce. */
static int diagnose(const struct event_group *g, uint64_t set, struct assay_event_slot *slot,
                    struct assay_event_group_error *e)
{
    bool netburst = g->t->pmus[g->c[__builtin_ctzll(set)].pmu].scheme == ASSAY_EVENT_NETBURST;
    if (netburst && assay_event_metrics_clash(g, set))
        return fail(e, ASSAY_EVENT_ONE_MATRIX, set);
    if (netburst && assay_event_mechanisms_clash(g, set))
        return fail(e, ASSAY_EVENT_ONE_MECHANISM, set);
    if (!place(g, set, true, slot)) {
        int status = fail(e, ASSAY_EVENT_NO_COUNTER, set);
        for (; set; set &= set - 1) {
            const struct assay_event_code *c = &g->c[__builtin_ctzll(set)];
            e->counters |= netburst ? assay_event_netburst_counters(c) : c->counters;
        }
        return status;
    }
    fail(e, netburst ? ASSAY_EVENT_ONE_ESCR : ASSAY_EVENT_ONE_MSR, set);
    if (netburst)
        name_escrs(g, e);
    else
        name_core_registers(g, e);
    return ASSAY_E_ARGUMENT;
}

static uint64_t bits_of_flag(const struct assay_event_table *t, const struct assay_event_row *e, uint32_t flag)
{
    for (uint32_t u = e->first_umask; u < e->first_umask + e->umasks; u++)
        if (t->umasks[u].flags & flag)
            return t->umasks[u].value;
    return 0;
}

/* Whether b counts the requests whose waiting a counts: the other register, the same rings. */
static bool is_partner(const struct event_group *g, unsigned a, unsigned b, uint64_t outstanding)
{
    const struct assay_event_row *row = &g->t->events[g->c[b].event];
    uint64_t want = (g->c[a].code[1] & ~outstanding) | bits_of_flag(g->t, row, ASSAY_EVENT_OVERRIDES);
    return row->flags & ASSAY_EVENT_OFFCORE && g->c[b].code[1] == want &&
           !((g->c[a].code[0] ^ g->c[b].code[0]) >> 16 & 3);
}

/* libpfm_intel_knm(3): OUTSTANDING goes with the same requests and ANY_RESPONSE in the other register. */
static int check_latency(const struct event_group *g, uint64_t hardware, struct assay_event_group_error *e)
{
    for (uint64_t left = hardware; left; left &= left - 1) {
        unsigned a = (unsigned)__builtin_ctzll(left);
        const struct assay_event_row *row = &g->t->events[g->c[a].event];
        uint64_t outstanding = row->flags & ASSAY_EVENT_OFFCORE ? bits_of_flag(g->t, row, ASSAY_EVENT_ALONE) : 0;
        bool found = !(g->c[a].code[1] & outstanding);
        for (unsigned b = 0; b < g->n && !found; b++)
            found = hardware >> b & 1 && is_partner(g, a, b, outstanding);
        if (!found)
            return fail(e, ASSAY_EVENT_LATENCY_PAIR, UINT64_C(1) << a);
    }
    return ASSAY_OK;
}

int assay_event_assign(const struct assay_event_table *t, const struct assay_event_code *c, unsigned n, unsigned mode,
                       struct assay_event_slot *slot, struct assay_event_group_error *e)
{
    struct assay_event_group_error unwanted;
    struct event_group g = {.t = t, .c = c, .n = n < ASSAY_EVENT_MAX_COUNTERS ? n : ASSAY_EVENT_MAX_COUNTERS};
    uint64_t hardware;
    e = e ? e : &unwanted;
    *e = (struct assay_event_group_error){.conflict = ASSAY_EVENT_FITS};
    if (n > ASSAY_EVENT_MAX_COUNTERS)
        return fail(e, ASSAY_EVENT_NO_COUNTER, UINT64_MAX);
    int status = sort_out(&g, &hardware, slot, e);
    if (status != ASSAY_OK)
        return status;
    if (!place(&g, hardware, false, slot))
        return diagnose(&g, smallest_conflict(&g, hardware, slot), slot, e);
    return hardware & (hardware - 1) && !(mode & ASSAY_EVENT_LIBPFM4) ? check_latency(&g, hardware, e) : ASSAY_OK;
}
