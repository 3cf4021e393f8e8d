/* SPDX-License-Identifier: MIT */
/* The register writes that program a group of events: what selects and tags first, what lets counters run last. */
#include "event/assign.h"
#include "event/compose.h"

enum {
    PERFEVTSEL0 = 0x186,
    CCCR0 = 0x360,
    FIXED_CTR_CTRL = 0x38d,
    GLOBAL_CTRL = 0x38f,
    PEBS_ENABLE = 0x3f1,
    MATRIX_VERT = 0x3f2,

    PEBS_MY_THR = 1 << 25,
    PEBS_COUNTER = 16,
};

struct list {
    const struct assay_event_table *t;
    const struct assay_event_code *c;
    const struct assay_event_slot *slot;
    unsigned n, flags;
    struct assay_event_write *w;
    unsigned count, max;
    enum assay_event_scheme scheme;
};

static void add(struct list *l, uint32_t msr, uint64_t value, const char *why)
{
    const struct assay_event_msr *r = assay_event_register_at(msr, l->scheme);
    if (l->count < l->max)
        l->w[l->count] = (struct assay_event_write){.msr = msr, .value = value, .name = r ? r->name : "", .why = why};
    l->count++;
}

/* Unless it was written before: registers that events share. */
static void add_once(struct list *l, uint32_t msr, uint64_t value, const char *why)
{
    for (unsigned i = 0; i < l->count && i < l->max; i++)
        if (l->w[i].msr == msr)
            return;
    add(l, msr, value, why);
}

static bool counts(const struct list *l, unsigned i) { return l->slot[i].counter != ASSAY_EVENT_NO_COUNTER_BIT; }

/* Those that ask for it; if none does, those that can. */
static bool makes_records(const struct list *l, unsigned i)
{
    bool asked = false;
    for (unsigned j = 0; j < l->n; j++)
        asked |= l->c[j].modifier[ASSAY_EVENT_MOD_PRECISE] > 0;
    bool wanted = asked ? l->c[i].modifier[ASSAY_EVENT_MOD_PRECISE] > 0
                        : (l->t->events[l->c[i].event].flags & ASSAY_EVENT_PEBS) != 0;
    return l->flags & ASSAY_EVENT_WRITE_PEBS && counts(l, i) && wanted;
}

static uint64_t event_select(const struct list *l, unsigned i)
{
    return makes_records(l, i) ? l->slot[i].code0 & ~(uint64_t)EVENT_INT : l->slot[i].code0;
}

/* A fixed counter's four bits say what an event select says with its own. */
static uint64_t fixed_control(uint64_t select)
{
    return (select & EVENT_OS ? 1u : 0) | (select & EVENT_USR ? 2u : 0) | (select & EVENT_ANY ? 4u : 0) |
           (select & EVENT_INT ? 8u : 0);
}

static void write_core(struct list *l)
{
    uint64_t fixed = 0, run = 0, pebs = 0;
    add(l, GLOBAL_CTRL, 0, "counters stand still");
    for (unsigned i = 0; i < l->n; i++)
        if (counts(l, i) && l->slot[i].extra_msr)
            add_once(l, l->slot[i].extra_msr, l->c[i].code[1], "which of them count");
    for (unsigned i = 0; i < l->n; i++) {
        unsigned counter = l->slot[i].counter;
        if (!counts(l, i))
            continue;
        run |= UINT64_C(1) << counter;
        pebs |= (uint64_t)makes_records(l, i) << counter;
        if (counter < 32)
            add(l, PERFEVTSEL0 + counter, event_select(l, i), "the event");
        else
            fixed |= fixed_control(event_select(l, i)) << 4 * (counter - 32);
    }
    if (run >> 32)
        add(l, FIXED_CTR_CTRL, fixed, "privilege of the fixed counters");
    if (pebs)
        add(l, PEBS_ENABLE, pebs, "counters that make records");
    add(l, GLOBAL_CTRL, run, "counters run");
}

/* One thread's: logical processor 0. */
static uint64_t escr_of_t0(uint64_t escr) { return (escr & ~UINT64_C(15)) | ((escr | escr << 2) & 12); }

/* What counts tagged micro-operations comes behind what may tag them. */
static bool is_downstream(const struct list *l, unsigned i) { return assay_event_mechanism(l->t, &l->c[i]) >= 0; }

static void write_escrs(struct list *l)
{
    for (unsigned i = 0; i < l->n; i++)
        if (counts(l, i) && l->slot[i].upstream_escr)
            add_once(l, l->slot[i].upstream_escr, escr_of_t0(l->slot[i].upstream_value), "tags what is to be counted");
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < l->n; i++)
            if (counts(l, i) && is_downstream(l, i) == (turn == 1))
                add_once(l, l->slot[i].escr, escr_of_t0(l->slot[i].code0), "the event");
}

static void write_tagging(struct list *l)
{
    const struct assay_event_metric *metric = NULL;
    bool pebs = false;
    for (unsigned i = 0; i < l->n; i++) {
        if (counts(l, i) && l->slot[i].metric != ASSAY_EVENT_NONE)
            metric = &l->t->metrics[l->slot[i].metric];
        pebs |= makes_records(l, i);
    }
    if (metric)
        add(l, PEBS_ENABLE, pebs ? metric->pebs_enable_pebs : metric->pebs_enable,
            pebs ? "replay metric, tags, records" : "replay metric and tags");
    else if (pebs)
        add(l, PEBS_ENABLE, PEBS_MY_THR, "records");
    if (metric)
        add(l, MATRIX_VERT, metric->matrix_vert, "loads, stores or branches");
}

static void write_cccrs(struct list *l)
{
    for (unsigned i = 0; i < l->n; i++) {
        if (!counts(l, i) || l->slot[i].upstream_counter == ASSAY_EVENT_NO_COUNTER_BIT)
            continue;
        uint32_t up = l->t->metrics[l->slot[i].metric].upstream_event;
        uint64_t select = l->t->netburst[l->t->events[up].netburst].escr_select;
        add(l, CCCR0 + l->slot[i].upstream_counter, CCCR_ANY_THREAD | select << CCCR_SELECT_AT | CCCR_ENABLE,
            "keeps the tagging unit awake");
    }
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < l->n; i++) {
            bool interrupts = l->flags & ASSAY_EVENT_WRITE_PMI || makes_records(l, i);
            if (counts(l, i) && is_downstream(l, i) == (turn == 1))
                add(l, CCCR0 + l->slot[i].counter, l->c[i].code[1] | (interrupts ? CCCR_OVF_PMI_T0 : 0),
                    "the counter runs");
        }
}

static void write_netburst(struct list *l)
{
    write_escrs(l);
    write_tagging(l);
    write_cccrs(l);
}

/* Not every counter makes records; of NetBurst's two, one is the other logical processor's. */
static bool can_make_records(const struct list *l)
{
    for (unsigned i = 0; i < l->n; i++) {
        if (!makes_records(l, i))
            continue;
        uint64_t can = l->t->pmus[l->c[i].pmu].precise;
        if (l->scheme == ASSAY_EVENT_NETBURST ? l->slot[i].counter != PEBS_COUNTER
                                              : can && !(can >> l->slot[i].counter & 1))
            return false;
    }
    return true;
}

int assay_event_writes(const struct assay_event_table *t, const struct assay_event_code *c,
                       const struct assay_event_slot *slot, unsigned n, unsigned flags, struct assay_event_write *w,
                       unsigned max)
{
    struct list l = {.t = t, .c = c, .slot = slot, .n = n, .flags = flags, .w = w, .max = max};
    unsigned first = 0;
    while (first < n && !counts(&l, first))
        first++;
    if (first == n)
        return 0;
    l.scheme = t->pmus[c[first].pmu].scheme;
    if (!can_make_records(&l))
        return ASSAY_E_ARGUMENT;
    if (l.scheme == ASSAY_EVENT_NETBURST)
        write_netburst(&l);
    else
        write_core(&l);
    return l.count <= max ? (int)l.count : ASSAY_E_ARGUMENT;
}
