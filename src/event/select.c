/* SPDX-License-Identifier: MIT */
/* Which umasks an event gets: what was named, what stands in for groups that were not, and which exclude each other. */
#include <assay/base.h>

#include "event/encode.h"

static unsigned lowest(uint64_t mask) { return (unsigned)__builtin_ctzll(mask); }

/* Umasks that exclude each other: of one group, and one of them stands alone there. */
static bool is_apart(const struct event_request *r, const struct assay_event_umask *a,
                     const struct assay_event_umask *b)
{
    uint32_t both = a->flags & b->flags, any = a->flags | b->flags;
    if (both & ASSAY_EVENT_VIRTUAL) /* one MSR_PEBS_MATRIX_VERT */
        return true;
    return a->group == b->group && (any & ASSAY_EVENT_NO_COMBINE || r->pmu->scheme == ASSAY_EVENT_SOFTWARE);
}

/* The first umask in the string that cannot be beside one before it, and that one. */
static bool find_apart(const struct event_request *r, unsigned *second, unsigned *first)
{
    const struct assay_event_umask *u = event_umasks(r);
    uint32_t at = UINT32_MAX;
    for (uint64_t i = r->umasks; i; i &= i - 1)
        for (uint64_t j = i & (i - 1); j; j &= j - 1) {
            unsigned a = lowest(i), b = lowest(j), later = r->umask_at[a] > r->umask_at[b] ? a : b;
            if (!is_apart(r, u + a, u + b) || r->umask_at[later] >= at)
                continue;
            at = r->umask_at[later];
            *second = later;
            *first = later == a ? b : a;
        }
    return at != UINT32_MAX;
}

/* The modifier of the hardware whose value is too large, the first in the string; ASSAY_EVENT_MODS when there is none. */
static enum assay_event_modifier find_range(const struct event_request *r)
{
    bool c = r->c->modifier[ASSAY_EVENT_MOD_C] > 0xff, thr = r->c->modifier[ASSAY_EVENT_MOD_THR] > 0xf;
    if (c || thr)
        return c ? ASSAY_EVENT_MOD_C : ASSAY_EVENT_MOD_THR;
    return ASSAY_EVENT_MODS;
}

static bool is_wide(const struct event_request *r)
{
    return r->c->raw && r->event->raw_bits < 64 && r->c->raw_umask >> r->event->raw_bits;
}

static int fail_wide(struct event_request *r)
{
    int status = assay_event_fail(r, ASSAY_EVENT_RAW_WIDTH, r->raw_at);
    r->e->value = r->c->raw_umask >> r->event->raw_bits << r->event->raw_bits;
    return status;
}

/* Of several complaints the first in the string. */
static int judge_values(struct event_request *r, bool apart)
{
    unsigned second = 0, first = 0;
    enum assay_event_modifier m = find_range(r);
    size_t at = m == ASSAY_EVENT_MODS ? SIZE_MAX : r->modifier_at[m];
    if (apart && find_apart(r, &second, &first) && r->umask_at[second] < at)
        return assay_event_fail_umask(r, ASSAY_EVENT_NOT_TOGETHER, second, first);
    if (is_wide(r) && r->raw_at < at)
        return fail_wide(r);
    return m == ASSAY_EVENT_MODS ? ASSAY_OK : assay_event_fail_modifier(r, ASSAY_EVENT_VALUE_RANGE, m);
}

/* Adds the defaults of the groups that are missing. */
static void add_defaults(struct event_request *r, uint32_t missing)
{
    const struct assay_event_umask *u = event_umasks(r);
    for (unsigned i = 0; missing; i++) {
        if (!(u[i].flags & ASSAY_EVENT_DEFAULT) || !(missing & EVENT_BIT(u[i].group)))
            continue;
        r->umasks |= (uint64_t)1 << i;
        r->umask_at[i] = (uint32_t)r->event_at;
        r->flags |= u[i].flags;
        missing &= ~EVENT_BIT(u[i].group);
    }
}

/* NetBurst's replay metrics are no bits of the event mask: what is counted is retired uops, NBOGUS unless said otherwise. */
static void add_replay(struct event_request *r)
{
    const struct assay_event_umask *u = event_umasks(r);
    for (uint64_t i = r->umasks; i; i &= i - 1)
        if (!(u[lowest(i)].flags & ASSAY_EVENT_VIRTUAL))
            return;
    for (unsigned i = 0; i < r->event->umasks; i++)
        if (!(u[i].flags & ASSAY_EVENT_VIRTUAL)) {
            r->umasks |= (uint64_t)1 << i;
            r->umask_at[i] = (uint32_t)r->event_at;
            return;
        }
}

/* Average latency: requests alone stand beside OUTSTANDING. */
static int judge_latency(struct event_request *r)
{
    const struct assay_event_umask *u = event_umasks(r);
    unsigned alone = 0, other = ASSAY_EVENT_MAX_UMASKS;
    for (uint64_t i = r->umasks; i; i &= i - 1) {
        if (u[lowest(i)].flags & ASSAY_EVENT_ALONE)
            alone = lowest(i);
        else if (u[lowest(i)].group > 0 && other == ASSAY_EVENT_MAX_UMASKS)
            other = lowest(i);
    }
    if (other == ASSAY_EVENT_MAX_UMASKS)
        return ASSAY_OK;
    if (r->umask_at[other] < r->umask_at[alone])
        return assay_event_fail_umask(r, ASSAY_EVENT_LATENCY, alone, other);
    return assay_event_fail_umask(r, ASSAY_EVENT_LATENCY, other, alone);
}

static int complete(struct event_request *r, uint32_t groups)
{
    uint32_t missing = ~groups & (r->flags & ASSAY_EVENT_ALONE ? 1 : ~0u);
    if (missing & ~(uint32_t)r->event->defaults & 1)
        return assay_event_fail(r, ASSAY_EVENT_NEEDS_UMASK, r->event_at);
    add_defaults(r, missing & r->event->defaults);
    if (r->flags & ASSAY_EVENT_VIRTUAL)
        add_replay(r);
    return r->flags & ASSAY_EVENT_ALONE ? judge_latency(r) : ASSAY_OK;
}

/* An ESCR tag is no event: strict mode wants one beside it, the reference counts nothing. */
static bool fills_group(const struct event_request *r, const struct assay_event_umask *u)
{
    return !(u->flags & ASSAY_EVENT_TAG) || event_is_libpfm4(r);
}

int assay_event_select_umasks(struct event_request *r)
{
    const struct assay_event_umask *u = event_umasks(r);
    uint32_t groups = 0, twice = 0;
    r->flags = 0;
    for (uint64_t i = r->umasks; i; i &= i - 1) {
        const struct assay_event_umask *one = u + lowest(i);
        twice |= groups & EVENT_BIT(one->group);
        groups |= fills_group(r, one) ? EVENT_BIT(one->group) : 0;
        r->flags |= one->flags;
    }
    if (r->twice_at != SIZE_MAX)
        return assay_event_fail(r, ASSAY_EVENT_SET_TWICE, r->twice_at);
    int status = judge_values(r, twice != 0);
    if (status == ASSAY_OK && r->event->umasks && !r->c->raw)
        status = complete(r, groups);
    uint32_t n = 0;
    for (uint64_t i = r->umasks; i; i &= i - 1)
        r->c->umask[n++] = r->event->first_umask + lowest(i);
    r->c->umasks = n;
    return status;
}
