/* SPDX-License-Identifier: MIT */
/* Placing NetBurst events: an ESCR of two, a counter that can listen to it, and what at-retirement events need upstream
 * (SDM Vol. 3B 18.15.4 to 18.15.7). */
#include "event/assign.h"
#include "event/compose.h"

enum {
    ITEMS = 2 * ASSAY_EVENT_MAX_COUNTERS,
    ESCRS = 64,
    COUNTERS = 18,
    ESCR_BASE = 0x3a0,
    ESCR_ROOM = 0x50,
    PEBS_COUNTER = 16
};

/* Something that takes a counter and an ESCR: an event of the group, or the tagging upstream of one. */
struct item {
    const struct assay_event_netburst *where;
    uint32_t counters;
    uint32_t value; /* of the ESCR */
    uint16_t only;  /* the ESCR it has to be, 0 either */
    bool upstream;  /* an event that programs the same ESCR does the work */
    bool pebs;      /* the counter that can make records is best */
    uint8_t first;  /* choice of ESCR to begin with */
    uint8_t event;  /* of the group */
    uint8_t counter;
    uint16_t escr;
};

struct search {
    struct item item[ITEMS];
    unsigned n;
    bool counters_only;
    uint32_t busy;             /* counters */
    uint32_t value[ESCR_ROOM]; /* by MSR - ESCR_BASE */
    uint8_t users[ESCR_ROOM];
    uint64_t part[2]; /* items of the part that is being placed: bit i % 64 of part[i / 64] */
};

uint64_t assay_event_netburst_counters(const struct assay_event_code *c)
{
    return c->modifier[ASSAY_EVENT_MOD_PRECISE] ? c->counters & 1u << PEBS_COUNTER : c->counters;
}

uint32_t assay_event_metric_of(const struct assay_event_table *t, const struct assay_event_code *c, bool *clash)
{
    uint32_t found = ASSAY_EVENT_NONE;
    *clash = false;
    for (uint32_t m = 0; m < t->metric_count; m++)
        for (uint32_t i = 0; i < c->umasks && t->metrics[m].event == c->event; i++) {
            if (t->metrics[m].umask != c->umask[i])
                continue;
            *clash |= found != ASSAY_EVENT_NONE;
            found = m;
        }
    return found;
}

int assay_event_mechanism(const struct assay_event_table *t, const struct assay_event_code *c)
{
    for (uint32_t m = 0; m < t->metric_count; m++)
        if (t->metrics[m].event == c->event)
            return t->metrics[m].mechanism;
    return -1;
}

bool assay_event_metrics_clash(const struct event_group *g, uint64_t subset)
{
    const struct assay_event_metric *first = NULL;
    for (; subset; subset &= subset - 1) {
        bool clash;
        uint32_t m = assay_event_metric_of(g->t, &g->c[__builtin_ctzll(subset)], &clash);
        if (clash)
            return true;
        if (m == ASSAY_EVENT_NONE)
            continue;
        const struct assay_event_metric *own = &g->t->metrics[m];
        if (first && (first->pebs_enable != own->pebs_enable || first->matrix_vert != own->matrix_vert))
            return true;
        first = own;
    }
    return false;
}

bool assay_event_mechanisms_clash(const struct event_group *g, uint64_t subset)
{
    unsigned mechanisms = 0;
    bool pebs = false;
    for (; subset; subset &= subset - 1) {
        const struct assay_event_code *c = &g->c[__builtin_ctzll(subset)];
        int m = assay_event_mechanism(g->t, c);
        if (m < 0)
            continue;
        mechanisms |= 1u << m;
        pebs |= c->modifier[ASSAY_EVENT_MOD_PRECISE] > 0;
    }
    return pebs && mechanisms & (mechanisms - 1);
}

static uint32_t upstream_value(const struct event_group *g, const struct assay_event_metric *m, unsigned i)
{
    const struct assay_event_row *up = &g->t->events[m->upstream_event];
    uint32_t tag = m->upstream_tag ? ESCR_TAG_ENABLE | (uint32_t)m->upstream_tag << ESCR_TAG_AT : 0;
    return (uint32_t)up->config | m->upstream_mask << ESCR_MASK_AT | tag | (uint32_t)(g->c[i].code[0] & 0xf);
}

static void add_items(struct search *s, const struct event_group *g, uint64_t subset, bool upstream)
{
    for (; subset; subset &= subset - 1) {
        unsigned i = (unsigned)__builtin_ctzll(subset);
        const struct assay_event_code *c = &g->c[i];
        struct item *it = &s->item[s->n];
        bool clash;
        uint32_t m = assay_event_metric_of(g->t, c, &clash);
        *it = (struct item){.event = (uint8_t)i, .upstream = upstream, .value = (uint32_t)c->code[0]};
        it->counters = (uint32_t)assay_event_netburst_counters(c);
        it->where = &g->t->netburst[g->t->events[c->event].netburst];
        it->pebs = !upstream && g->t->events[c->event].flags & ASSAY_EVENT_PEBS;
        if (upstream) {
            if (m == ASSAY_EVENT_NONE || g->t->metrics[m].upstream_event == ASSAY_EVENT_NONE)
                continue;
            it->value = upstream_value(g, &g->t->metrics[m], i);
            it->only = g->t->metrics[m].upstream_escr;
            it->counters = UINT32_MAX;
            it->where = &g->t->netburst[g->t->events[g->t->metrics[m].upstream_event].netburst];
        }
        s->n++;
    }
}

/* An event that is also the upstream of another is best where that needs it. */
static void prefer_upstream(struct search *s)
{
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned up = i + 1; up < s->n; up++)
            if (s->item[up].upstream && s->item[up].value == s->item[i].value &&
                s->item[up].only == s->item[i].where->escr_msr[1])
                s->item[i].first = 1;
}

static uint32_t reach(const struct item *it)
{
    return (it->where->counters[0] | it->where->counters[1]) & it->counters;
}

static bool in_part(const struct search *s, unsigned i) { return s->part[i / 64] >> i % 64 & 1; }

/* The items that contend with item `from`, and with those, and so on. */
static void gather_part(struct search *s, unsigned from)
{
    uint32_t counters = reach(&s->item[from]), before;
    s->part[0] = s->part[1] = 0;
    s->part[from / 64] |= UINT64_C(1) << from % 64;
    do {
        before = counters;
        for (unsigned i = 0; i < s->n; i++)
            if (reach(&s->item[i]) & counters) {
                counters |= reach(&s->item[i]);
                s->part[i / 64] |= UINT64_C(1) << i % 64;
            }
    } while (counters != before);
}

static bool place_from(struct search *s, unsigned i);

static bool place_on(struct search *s, unsigned i, unsigned choice)
{
    struct item *it = &s->item[i];
    uint16_t escr = it->where->escr_msr[choice];
    unsigned at = escr - ESCR_BASE;
    if (!escr || at >= ESCR_ROOM || (it->only && it->only != escr) ||
        (choice != it->first && escr == it->where->escr_msr[1u ^ choice]))
        return false;
    if (!s->counters_only && s->users[at] && s->value[at] != it->value)
        return false;
    it->escr = escr;
    if (it->upstream && s->users[at] && s->value[at] == it->value) {
        it->counter = ASSAY_EVENT_NO_COUNTER_BIT; /* somebody else keeps it awake */
        return place_from(s, i + 1);
    }
    uint32_t before = s->value[at];
    s->users[at]++;
    s->value[at] = it->value;
    for (uint32_t left = it->where->counters[choice] & it->counters & ~s->busy; left; left &= ~(1u << it->counter)) {
        bool best = it->pebs && left >> PEBS_COUNTER & 1;
        it->counter = best ? PEBS_COUNTER : (uint8_t)__builtin_ctz(left);
        s->busy |= 1u << it->counter;
        if (place_from(s, i + 1))
            return true;
        s->busy &= ~(1u << it->counter); /* the deeper steps leave it->counter alone */
    }
    s->users[at]--;
    s->value[at] = before;
    return false;
}

/* The items of the part from i on. */
static bool place_from(struct search *s, unsigned i)
{
    while (i < s->n && !in_part(s, i))
        i++;
    return i == s->n || place_on(s, i, s->item[i].first) || place_on(s, i, 1u ^ s->item[i].first);
}

static unsigned bits_in(uint32_t v)
{
    unsigned n = 0;
    for (; v; v &= v - 1)
        n++;
    return n;
}

/* More events than counters: no need to try them all. */
static bool crowded(const struct search *s)
{
    uint32_t counters = 0;
    unsigned events = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (in_part(s, i) && !s->item[i].upstream) {
            counters |= reach(&s->item[i]);
            events++;
        }
    return events > bits_in(counters);
}

static bool place_all(struct search *s)
{
    uint64_t done[2] = {0, 0};
    for (unsigned i = 0; i < s->n; i++) {
        if (done[i / 64] >> i % 64 & 1)
            continue;
        gather_part(s, i);
        if (crowded(s) || !place_from(s, i))
            return false;
        done[0] |= s->part[0];
        done[1] |= s->part[1];
    }
    return true;
}

static void fill_slots(const struct search *s, const struct event_group *g, struct assay_event_slot *slot)
{
    for (unsigned i = 0; i < s->n; i++) {
        const struct item *it = &s->item[i];
        struct assay_event_slot *own = &slot[it->event];
        bool clash;
        if (it->upstream) {
            own->upstream_counter = it->counter;
            own->upstream_escr = it->escr;
            own->upstream_value = it->value;
        } else {
            own->counter = it->counter;
            own->escr = it->escr;
            own->code0 = g->c[it->event].code[0];
            own->metric = assay_event_metric_of(g->t, &g->c[it->event], &clash);
        }
    }
}

bool assay_event_place_netburst(const struct event_group *g, uint64_t subset, bool counters_only,
                                struct assay_event_slot *slot)
{
    struct search s = {.counters_only = counters_only};
    if (!counters_only && (assay_event_metrics_clash(g, subset) || assay_event_mechanisms_clash(g, subset)))
        return false;
    add_items(&s, g, subset, false);
    add_items(&s, g, subset, true);
    prefer_upstream(&s);
    if (!place_all(&s))
        return false;
    fill_slots(&s, g, slot);
    return true;
}
