/* SPDX-License-Identifier: MIT */
/* The fewest umask names that make a register's bits: iterative deepening over sets that encoding would accept. */
#include "event/cover.h"

#include <string.h>

enum { PATIENCE = 1 << 16 }; /* sets looked at; the built-in tables need a few hundred */

struct search {
    const struct assay_event_table *t;
    const struct event_goal *g;
    struct assay_event_code *c;
    const struct assay_event_row *e;
    uint32_t chosen[ASSAY_EVENT_MAX_UMASKS];
    uint32_t depth;
    uint32_t patience;
    unsigned least; /* free modifiers of the best set so far, UINT_MAX none */
};

uint64_t assay_event_umask_bits(const struct assay_event_table *t, uint32_t pmu, uint32_t umask)
{
    const struct assay_event_umask *u = &t->umasks[umask];
    if (t->pmus[pmu].scheme != ASSAY_EVENT_NETBURST)
        return u->value;
    if (u->flags & ASSAY_EVENT_TAG)
        return u->value << 16;
    return UINT64_C(1) << (u->flags & ASSAY_EVENT_VIRTUAL ? u->value + 32 : u->value);
}

static bool excludes(const struct assay_event_umask *a, const struct assay_event_umask *b)
{
    if (a->group == b->group)
        return a->flags & ASSAY_EVENT_NO_COMBINE;
    if (a->flags & ASSAY_EVENT_ALONE && b->group != 0)
        return true;
    return a->flags & ASSAY_EVENT_OVERRIDES && b->group > a->group;
}

static bool fits(const struct search *s, const uint32_t *set, uint32_t n, uint32_t umask)
{
    const struct assay_event_umask *u = &s->t->umasks[umask];
    for (uint32_t i = 0; i < n; i++) {
        const struct assay_event_umask *v = &s->t->umasks[set[i]];
        if (set[i] == umask || excludes(u, v) || excludes(v, u))
            return false;
    }
    return true;
}

/* What fills a group that has no umask: its default, which encoding adds; where that has other bits, a umask without bits
 * instead; or ASSAY_EVENT_NONE. */
static uint32_t filler(const struct search *s, unsigned group)
{
    uint32_t empty = ASSAY_EVENT_NONE, taken = ASSAY_EVENT_NONE;
    for (uint32_t u = s->e->first_umask; u < s->e->first_umask + s->e->umasks; u++) {
        const struct assay_event_umask *row = &s->t->umasks[u];
        if (row->group != group || row->alias != ASSAY_EVENT_NONE)
            continue;
        if (row->flags & ASSAY_EVENT_DEFAULT)
            taken = u;
        if (empty == ASSAY_EVENT_NONE && row->value == 0 && !(row->flags & ASSAY_EVENT_VIRTUAL) &&
            s->t->pmus[s->c->pmu].scheme != ASSAY_EVENT_NETBURST)
            empty = u;
    }
    bool other_bits = taken != ASSAY_EVENT_NONE && assay_event_umask_bits(s->t, s->c->pmu, taken) & ~s->g->bits;
    return taken == ASSAY_EVENT_NONE || (other_bits && empty != ASSAY_EVENT_NONE) ? empty : taken;
}

static bool has_group(const struct search *s, const uint32_t *set, uint32_t n, unsigned group)
{
    for (uint32_t i = 0; i < n; i++)
        if (s->t->umasks[set[i]].group == group)
            return true;
    return false;
}

static bool has_flag(const struct search *s, const uint32_t *set, uint32_t n, uint32_t flag)
{
    for (uint32_t i = 0; i < n; i++)
        if (s->t->umasks[set[i]].flags & flag)
            return true;
    return false;
}

/* Adds what encoding adds. Returns the new size, or ASSAY_EVENT_NONE when that changes the bits or cannot be. */
static uint32_t complete(const struct search *s, uint32_t *set, uint32_t n)
{
    for (unsigned group = 0; group < s->e->groups; group++) {
        if (has_group(s, set, n, group))
            continue;
        if (group == 1 && has_flag(s, set, n, ASSAY_EVENT_ALONE))
            continue;
        uint32_t u = filler(s, group);
        if (u == ASSAY_EVENT_NONE)
            continue;
        if (n == ASSAY_EVENT_MAX_UMASKS || !fits(s, set, n, u) ||
            assay_event_umask_bits(s->t, s->c->pmu, u) & ~s->g->bits)
            return ASSAY_EVENT_NONE;
        set[n++] = u;
    }
    return n == 0 && s->e->umasks > 0 ? ASSAY_EVENT_NONE : n;
}

/* The value that the set gives a modifier by itself; false when two of its umasks differ. */
static bool fixed_value(const struct search *s, const uint32_t *set, uint32_t n, unsigned modifier, bool *fixed,
                        uint64_t *v)
{
    *fixed = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct assay_event_umask *u = &s->t->umasks[set[i]];
        if (!(u->fixed_modifiers >> modifier & 1))
            continue;
        uint64_t own = modifier == ASSAY_EVENT_MOD_E   ? u->fixed_edge
                       : modifier == ASSAY_EVENT_MOD_I ? u->fixed_invert
                                                       : u->fixed_cmask;
        if (*fixed && own != *v)
            return false;
        *fixed = true;
        *v = own;
    }
    return true;
}

/* Settles the modifiers for a set of umasks; returns how many of them have to be written, or UINT_MAX. */
static unsigned settle_modifiers(const struct search *s, const uint32_t *set, uint32_t n, uint64_t *modifier,
                                 uint32_t *named)
{
    unsigned written = 0;
    *named = 0;
    for (unsigned m = ASSAY_EVENT_MOD_E; m <= ASSAY_EVENT_MOD_THR; m++) {
        bool fixed;
        uint64_t v = s->g->base[m];
        if (!fixed_value(s, set, n, m, &fixed, &v))
            return UINT32_MAX;
        modifier[m] = s->g->value[m];
        if (fixed || s->g->base[m])
            *named |= 1u << m;
        if (v == s->g->value[m])
            continue;
        if (fixed || s->g->base[m] || !(s->e->modifiers >> m & 1))
            return UINT32_MAX;
        *named |= 1u << m;
        written++;
    }
    return written;
}

static void sort_rows(uint32_t *row, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0 && row[j - 1] > row[j]; j--) {
            uint32_t keep = row[j];
            row[j] = row[j - 1];
            row[j - 1] = keep;
        }
}

/* A set that has all bits: kept when it is legal and needs fewer modifiers than the one before. */
static void judge(struct search *s, uint32_t n)
{
    uint32_t set[ASSAY_EVENT_MAX_UMASKS], named;
    uint64_t modifier[ASSAY_EVENT_MODS];
    memcpy(set, s->chosen, n * sizeof *set);
    n = complete(s, set, n);
    if (n == ASSAY_EVENT_NONE)
        return;
    unsigned written = settle_modifiers(s, set, n, modifier, &named);
    if (written >= s->least)
        return;
    s->least = written;
    sort_rows(set, n);
    memcpy(s->c->umask, set, n * sizeof *set);
    s->c->umasks = n;
    for (unsigned m = ASSAY_EVENT_MOD_E; m <= ASSAY_EVENT_MOD_THR; m++)
        s->c->modifier[m] = modifier[m];
    s->c->named = (s->c->named & ((1u << ASSAY_EVENT_MOD_E) - 1)) | named;
}

/* Whether a umask can be in the set that is being made. */
static bool usable(const struct search *s, uint32_t n, uint32_t u)
{
    return !(assay_event_umask_bits(s->t, s->c->pmu, u) & ~s->g->bits) && s->t->umasks[u].alias == ASSAY_EVENT_NONE &&
           fits(s, s->chosen, n, u);
}

/* Every set of exactly depth names: the lowest bit still missing is in one of them. */
static void try_sets(struct search *s, uint64_t missing, uint32_t n)
{
    if (!missing || n == s->depth) {
        if (!missing && n == s->depth)
            judge(s, n);
        return;
    }
    for (uint32_t u = s->e->first_umask; u < s->e->first_umask + s->e->umasks && s->patience; u++) {
        uint64_t bits = assay_event_umask_bits(s->t, s->c->pmu, u);
        if (!(bits & missing & (0 - missing)) || !usable(s, n, u))
            continue;
        s->patience--;
        s->chosen[n] = u;
        try_sets(s, missing & ~bits, n + 1);
    }
}

/* The only usable umask with the lowest bit of `bit`; none or several: ASSAY_EVENT_NONE and *none tells which. */
static uint32_t only_one_with(const struct search *s, uint64_t bit, uint32_t n, bool *none)
{
    uint32_t found = ASSAY_EVENT_NONE;
    *none = true;
    for (uint32_t u = s->e->first_umask; u < s->e->first_umask + s->e->umasks; u++) {
        if (!(assay_event_umask_bits(s->t, s->c->pmu, u) & bit & (0 - bit)) || !usable(s, n, u))
            continue;
        if (!*none)
            return ASSAY_EVENT_NONE;
        *none = false;
        found = u;
    }
    return found;
}

/* Puts the umasks into the set that every set must have, since nothing else has one of their bits: mostly that settles it.
 * False when a bit is left that no umask brings. */
static bool choose_forced(struct search *s, uint64_t *missing, uint32_t *n)
{
    for (uint64_t left = *missing; left;) {
        bool none;
        uint32_t u = only_one_with(s, left, *n, &none);
        if (none || *n == ASSAY_EVENT_MAX_UMASKS)
            return false;
        left &= left - 1;
        if (u == ASSAY_EVENT_NONE)
            continue;
        s->chosen[(*n)++] = u;
        left = *missing &= ~assay_event_umask_bits(s->t, s->c->pmu, u); /* what it excludes may force others */
    }
    return true;
}

bool assay_event_cover(const struct assay_event_table *t, const struct event_goal *g, struct assay_event_code *c,
                       unsigned *free_modifiers)
{
    struct search s = {.t = t, .g = g, .c = c, .e = &t->events[c->event], .patience = PATIENCE, .least = UINT32_MAX};
    uint64_t missing = g->bits;
    uint32_t forced = 0;
    if (!choose_forced(&s, &missing, &forced))
        return false;
    uint64_t more = missing; /* a set needs no more names than there are bits */
    s.depth = forced;
    for (bool last = false; !last && s.depth < ASSAY_EVENT_MAX_UMASKS && s.least == UINT32_MAX && s.patience;
         s.depth++) {
        try_sets(&s, missing, forced);
        last = !more;
        more &= more - 1;
    }
    *free_modifiers = s.least;
    return s.least != UINT32_MAX;
}

bool assay_event_cover_modifiers(const struct assay_event_table *t, const struct event_goal *g,
                                 struct assay_event_code *c, unsigned *free_modifiers)
{
    struct search s = {.t = t, .g = g, .c = c, .e = &t->events[c->event]};
    uint32_t named;
    *free_modifiers = settle_modifiers(&s, NULL, 0, c->modifier, &named);
    c->named |= named;
    return *free_modifiers != UINT32_MAX;
}
