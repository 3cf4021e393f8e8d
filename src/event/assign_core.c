/* SPDX-License-Identifier: MIT */
/* Placing core events: a matching of events and counters, and the second registers that several events may share. */
#include "event/assign.h"

enum { COUNTERS = 64 };

struct matching {
    const struct event_group *g;
    uint8_t event[COUNTERS]; /* + 1; 0 free */
};

static unsigned lowest(uint64_t set) { return (unsigned)__builtin_ctzll(set); }

/* Fixed counters before general ones, lower before higher. */
static unsigned first_choice(uint64_t counters)
{
    return counters >> 32 ? 32 + lowest(counters >> 32) : lowest(counters);
}

static uint64_t free_counters(const struct matching *m)
{
    uint64_t set = 0;
    for (unsigned i = 0; i < COUNTERS; i++)
        set |= m->event[i] ? 0 : UINT64_C(1) << i;
    return set;
}

/* A counter for event i, if need be by moving others; *seen are the counters that were asked already. */
static bool augment(struct matching *m, unsigned i, uint64_t *seen)
{
    uint64_t mine = m->g->c[i].counters, idle = mine & free_counters(m) & ~*seen;
    if (idle) {
        m->event[first_choice(idle)] = (uint8_t)(i + 1);
        return true;
    }
    for (uint64_t left; (left = mine & ~*seen) != 0;) {
        unsigned counter = first_choice(left);
        *seen |= UINT64_C(1) << counter;
        if (augment(m, m->event[counter] - 1u, seen)) {
            m->event[counter] = (uint8_t)(i + 1);
            return true;
        }
    }
    return false;
}

static bool match_counters(const struct event_group *g, uint64_t subset, struct assay_event_slot *slot)
{
    struct matching m = {.g = g};
    for (uint64_t left = subset; left; left &= left - 1) {
        uint64_t seen = 0;
        if (!augment(&m, lowest(left), &seen))
            return false;
    }
    for (unsigned i = 0; i < COUNTERS; i++)
        if (m.event[i])
            slot[m.event[i] - 1].counter = (uint8_t)i;
    return true;
}

/* Values that second registers have got; there are few such registers. */
struct shared {
    const struct event_group *g;
    uint64_t subset;
    struct {
        uint32_t msr;
        uint64_t value;
    } held[8];
    unsigned n;
};

/* Puts value into msr unless it holds another. Returns false if it does; *added: there was nothing before. */
static bool hold(struct shared *s, uint32_t msr, uint64_t value, bool *added)
{
    *added = false;
    for (unsigned i = 0; i < s->n; i++)
        if (s->held[i].msr == msr)
            return s->held[i].value == value;
    if (s->n == sizeof s->held / sizeof s->held[0])
        return false;
    s->held[s->n].msr = msr;
    s->held[s->n++].value = value;
    *added = true;
    return true;
}

static const struct assay_event_row *row_of(const struct event_group *g, unsigned i)
{
    return &g->t->events[g->c[i].event];
}

/* The register that event i uses now is its first or its other one; the two trade places when c came with the other. */
static uint32_t other_msr(const struct event_group *g, unsigned i)
{
    const struct assay_event_row *e = row_of(g, i);
    return g->c[i].extra_msr == e->extra_msr ? e->extra_msr_alt : e->extra_msr;
}

static bool other_takes(const struct event_group *g, unsigned i)
{
    const struct assay_event_row *e = row_of(g, i);
    uint64_t ok = g->c[i].extra_msr == e->extra_msr ? e->extra_alt_ok : e->extra_ok;
    return e->config_alt && other_msr(g, i) && !(g->c[i].code[1] & ~ok);
}

static void use_own(const struct event_group *g, unsigned i, struct assay_event_slot *slot)
{
    slot[i].alt = false;
    slot[i].code0 = g->c[i].code[0];
    slot[i].extra_msr = g->c[i].extra_msr;
}

static void use_other(const struct event_group *g, unsigned i, struct assay_event_slot *slot)
{
    const struct assay_event_row *e = row_of(g, i);
    uint64_t low = g->c[i].extra_msr == e->extra_msr ? e->config_alt : e->config & 0xffff;
    slot[i].alt = true;
    slot[i].code0 = (g->c[i].code[0] & ~UINT64_C(0xffff)) | low;
    slot[i].extra_msr = other_msr(g, i);
}

/* Every event in its own register, when that works. */
static bool share_as_written(struct shared *s, struct assay_event_slot *slot)
{
    bool added;
    s->n = 0;
    for (uint64_t left = s->subset; left; left &= left - 1) {
        unsigned i = lowest(left);
        use_own(s->g, i, slot);
        if (slot[i].extra_msr && !hold(s, slot[i].extra_msr, s->g->c[i].code[1], &added))
            return false;
    }
    return true;
}

/* Events from the lowest of `left` on. One that finds its value in a register takes it: another would not help. */
static bool share(struct shared *s, uint64_t left, struct assay_event_slot *slot)
{
    if (!left)
        return true;
    unsigned i = lowest(left), before = s->n;
    uint64_t value = s->g->c[i].code[1];
    bool added, settled;
    use_own(s->g, i, slot);
    if (!slot[i].extra_msr)
        return share(s, left & (left - 1), slot);
    if (hold(s, slot[i].extra_msr, value, &added)) {
        settled = !added;
        if (share(s, left & (left - 1), slot))
            return true;
        s->n = before;
        if (settled)
            return false;
    }
    if (!other_takes(s->g, i) || !hold(s, other_msr(s->g, i), value, &added))
        return false;
    use_other(s->g, i, slot);
    if (share(s, left & (left - 1), slot))
        return true;
    s->n = before;
    return false;
}

bool assay_event_place_core(const struct event_group *g, uint64_t subset, bool counters_only,
                            struct assay_event_slot *slot)
{
    struct shared s = {.g = g, .subset = subset};
    if (!match_counters(g, subset, slot))
        return false;
    if (counters_only || share_as_written(&s, slot))
        return true;
    s.n = 0;
    return share(&s, subset, slot);
}
