/* SPDX-License-Identifier: MIT */
/* Why the events of a group cannot be together, in one line. */
#include <assay/event.h>

enum { NAMES = 6 }; /* more are counted */

static unsigned bits_in(uint64_t set)
{
    unsigned n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

/* "," or " and" before all but the first. */
static void join(struct assay_out *o, unsigned at, bool last)
{
    if (at)
        assay_out_str(o, last ? " and " : ", ");
}

static void print_names(const struct assay_event_table *t, const struct assay_event_code *c, uint64_t events,
                        struct assay_out *o)
{
    unsigned all = bits_in(events), at = 0;
    for (; events && at < NAMES; events &= events - 1, at++) {
        join(o, at, at + 1 == all);
        assay_event_name(t, &c[__builtin_ctzll(events)], o);
    }
    if (all > NAMES) {
        assay_out_str(o, " and ");
        assay_out_dec(o, all - NAMES);
        assay_out_str(o, " more");
    }
}

static void print_counter(bool netburst, unsigned counter, struct assay_out *o)
{
    if (netburst) {
        assay_out_str(o, assay_event_register_at(0x300 + counter, ASSAY_EVENT_NETBURST)->name);
        return;
    }
    assay_out_str(o, counter < 32 ? "general counter " : "fixed counter ");
    assay_out_dec(o, counter % 32);
}

static void print_counters(bool netburst, uint64_t counters, struct assay_out *o)
{
    unsigned all = bits_in(counters), at = 0;
    for (; counters; counters &= counters - 1, at++) {
        join(o, at, at + 1 == all);
        print_counter(netburst, (unsigned)__builtin_ctzll(counters), o);
    }
}

static void print_contention(const struct assay_event_table *t, const struct assay_event_code *c,
                             const struct assay_event_group_error *e, struct assay_out *o)
{
    bool netburst = t->pmus[c[e->first].pmu].scheme == ASSAY_EVENT_NETBURST;
    print_names(t, c, e->events, o);
    if (!e->counters) {
        assay_out_str(o, ": no counter counts it");
        return;
    }
    assay_out_str(o, e->first == e->second ? " needs more than there is: " : " contend for ");
    print_counters(netburst, e->counters, o);
}

static void print_registers(const struct assay_event_table *t, const struct assay_event_code *c,
                            const struct assay_event_group_error *e, struct assay_out *o)
{
    enum assay_event_scheme scheme = t->pmus[c[e->first].pmu].scheme;
    print_names(t, c, e->events, o);
    assay_out_str(o, e->first == e->second ? " needs more than one value in " : " need different values in ");
    for (unsigned i = 0; i < 2 && e->msr[i]; i++) {
        const struct assay_event_msr *r = assay_event_register_at(e->msr[i], scheme);
        join(o, i, true);
        assay_out_str(o, r ? r->name : "MSR 0x");
        if (!r)
            assay_out_hex(o, e->msr[i]);
    }
}

struct partner {
    const struct assay_event_table *t;
    struct assay_out *o;
};

static bool print_partner(void *ctx, const struct assay_event_code *c)
{
    struct partner *p = ctx;
    assay_event_name(p->t, c, p->o);
    return false;
}

/* The other register's event with the same requests and ANY_RESPONSE. */
static void print_latency(const struct assay_event_table *t, const struct assay_event_code *c, struct assay_out *o)
{
    const struct assay_event_row *e = &t->events[c->event];
    uint64_t codes[2] = {(c->code[0] & ~UINT64_C(0xffff)) | e->config_alt, c->code[1]};
    for (uint32_t u = e->first_umask; u < e->first_umask + e->umasks; u++) {
        if (t->umasks[u].flags & ASSAY_EVENT_ALONE)
            codes[1] &= ~t->umasks[u].value;
        else if (t->umasks[u].flags & ASSAY_EVENT_OVERRIDES)
            codes[1] |= t->umasks[u].value;
    }
    assay_event_name(t, c, o);
    assay_out_str(o, " is half of an average latency; the group needs ");
    assay_event_explain(t, c->pmu, codes, 2, print_partner, &(struct partner){.t = t, .o = o});
    assay_out_str(o, " beside it");
}

void assay_event_group_error_print(const struct assay_event_table *t, const struct assay_event_code *c,
                                   const struct assay_event_group_error *e, struct assay_out *o)
{
    switch (e->conflict) {
    case ASSAY_EVENT_MANY_PMUS:
        print_names(t, c, e->events, o);
        assay_out_str(o, " are of different PMUs; a group is of one");
        break;
    case ASSAY_EVENT_NO_COUNTER:
        print_contention(t, c, e, o);
        break;
    case ASSAY_EVENT_ONE_MSR:
    case ASSAY_EVENT_ONE_ESCR:
        print_registers(t, c, e, o);
        break;
    case ASSAY_EVENT_ONE_MATRIX:
        print_names(t, c, e->events, o);
        assay_out_str(o, ": there is one MSR_PEBS_ENABLE and one MSR_PEBS_MATRIX_VERT, for one replay metric");
        break;
    case ASSAY_EVENT_ONE_MECHANISM:
        print_names(t, c, e->events, o);
        assay_out_str(o, " tag in different ways; PEBS takes one way at a time");
        break;
    case ASSAY_EVENT_LATENCY_PAIR:
        print_latency(t, &c[e->first], o);
        break;
    default:
        assay_out_str(o, "the events fit");
    }
}
