/* SPDX-License-Identifier: MIT */
/* The rules on modifiers: privilege, what umasks set themselves, edge and invert, and what is for the kernel alone. */
#include <assay/base.h>

#include <limits.h>

#include "event/encode.h"

static bool is_named(const struct event_request *r, enum assay_event_modifier m) { return r->c->named & EVENT_BIT(m); }

/* If one of u, k is named, what is not named is off. Nothing at all is left only to the reference, and not on demand. */
static int set_privilege(struct event_request *r)
{
    struct assay_event_code *c = r->c;
    uint64_t *v = c->modifier;
    bool named = c->named & EVENT_PRIVILEGE;
    if (!(r->allowed & EVENT_PRIVILEGE)) { /* no part of the event */
        v[ASSAY_EVENT_MOD_U] = v[ASSAY_EVENT_MOD_K] = 1;
        return ASSAY_OK;
    }
    if (!(c->named & (EVENT_BIT(ASSAY_EVENT_MOD_U) | EVENT_BIT(ASSAY_EVENT_MOD_K)))) {
        if (!named || !v[ASSAY_EVENT_MOD_H]) {
            v[ASSAY_EVENT_MOD_U] = r->plm & ASSAY_EVENT_USER ? 1 : 0;
            v[ASSAY_EVENT_MOD_K] = r->plm & ASSAY_EVENT_KERNEL ? 1 : 0;
        }
    }
    if (v[ASSAY_EVENT_MOD_U] | v[ASSAY_EVENT_MOD_K] | v[ASSAY_EVENT_MOD_H] || (event_is_libpfm4(r) && !named))
        return ASSAY_OK;
    enum assay_event_modifier m = is_named(r, ASSAY_EVENT_MOD_U) ? ASSAY_EVENT_MOD_U : ASSAY_EVENT_MOD_K;
    if (is_named(r, m))
        return assay_event_fail_modifier(r, ASSAY_EVENT_NO_PRIVILEGE, m);
    return assay_event_fail(r, ASSAY_EVENT_NO_PRIVILEGE, r->event_at);
}

/* A value that comes with the event or a umask. */
static int fix_modifier(struct event_request *r, enum assay_event_modifier m, uint64_t value)
{
    if ((is_named(r, m) || r->fixed & EVENT_BIT(m)) && r->c->modifier[m] != value) {
        enum assay_event_reason reason = ASSAY_EVENT_FIXED_MODIFIER;
        int status =
            is_named(r, m) ? assay_event_fail_modifier(r, reason, m) : assay_event_fail(r, reason, r->event_at);
        r->e->modifier = (uint8_t)m;
        r->e->value = value;
        return status;
    }
    r->c->modifier[m] = value;
    r->fixed |= EVENT_BIT(m);
    return ASSAY_OK;
}

static int fix_by_umask(struct event_request *r, uint32_t row)
{
    const struct assay_event_umask *u = &r->t->umasks[row];
    int status = ASSAY_OK;
    if (u->fixed_modifiers & EVENT_BIT(ASSAY_EVENT_MOD_E))
        status = fix_modifier(r, ASSAY_EVENT_MOD_E, u->fixed_edge);
    if (status == ASSAY_OK && u->fixed_modifiers & EVENT_BIT(ASSAY_EVENT_MOD_I))
        status = fix_modifier(r, ASSAY_EVENT_MOD_I, u->fixed_invert);
    if (status == ASSAY_OK && u->fixed_modifiers & EVENT_BIT(ASSAY_EVENT_MOD_C))
        status = fix_modifier(r, ASSAY_EVENT_MOD_C, u->fixed_cmask);
    if (status != ASSAY_OK)
        r->e->umask = row;
    return status;
}

/* Bits of the event's own select that modifiers would set. */
static int fix_by_event(struct event_request *r)
{
    uint64_t config = r->event->config;
    int status = ASSAY_OK;
    if (config & EVENT_EDGE)
        status = fix_modifier(r, ASSAY_EVENT_MOD_E, 1);
    if (status == ASSAY_OK && config & EVENT_INV)
        status = fix_modifier(r, ASSAY_EVENT_MOD_I, 1);
    if (status == ASSAY_OK && config & EVENT_ANY)
        status = fix_modifier(r, ASSAY_EVENT_MOD_T, 1);
    if (status == ASSAY_OK && config >> EVENT_CMASK_AT & 0xff)
        status = fix_modifier(r, ASSAY_EVENT_MOD_C, config >> EVENT_CMASK_AT & 0xff);
    return status;
}

static int judge_core(struct event_request *r)
{
    const uint64_t *v = r->c->modifier;
    int status = r->event->config >> 18 ? fix_by_event(r) : ASSAY_OK;
    for (uint32_t i = 0; i < r->c->umasks && status == ASSAY_OK; i++)
        if (r->t->umasks[r->c->umask[i]].fixed_modifiers)
            status = fix_by_umask(r, r->c->umask[i]);
    if (status != ASSAY_OK)
        return status;
    /* What comes with the event is the vendor's affair. */
    uint64_t mine = r->c->named & ~r->fixed;
    if (v[ASSAY_EVENT_MOD_E] && !v[ASSAY_EVENT_MOD_C] && mine & EVENT_BIT(ASSAY_EVENT_MOD_E))
        return assay_event_fail_modifier(r, ASSAY_EVENT_EDGE_CMASK, ASSAY_EVENT_MOD_E);
    if (v[ASSAY_EVENT_MOD_I] && !v[ASSAY_EVENT_MOD_C] && mine & EVENT_BIT(ASSAY_EVENT_MOD_I))
        return assay_event_fail_modifier(r, ASSAY_EVENT_INVERT_CMASK, ASSAY_EVENT_MOD_I);
    r->c->named |= r->fixed;
    return ASSAY_OK;
}

int assay_event_judge_modifiers(struct event_request *r)
{
    int status = r->pmu->scheme == ASSAY_EVENT_CORE ? judge_core(r) : ASSAY_OK;
    return status == ASSAY_OK ? set_privilege(r) : status;
}

/* Host and guests: the one that is not named is the other one's opposite; without either, the host. */
static int judge_guests(struct event_request *r)
{
    uint64_t *mg = &r->c->modifier[ASSAY_EVENT_MOD_MG], *mh = &r->c->modifier[ASSAY_EVENT_MOD_MH];
    if (!is_named(r, ASSAY_EVENT_MOD_MH))
        *mh = !*mg;
    else if (!is_named(r, ASSAY_EVENT_MOD_MG))
        *mg = !*mh;
    if (*mg || *mh)
        return ASSAY_OK;
    return assay_event_fail_modifier(r, ASSAY_EVENT_NO_PRIVILEGE, ASSAY_EVENT_MOD_MG);
}

static int fail_no_pebs(struct event_request *r, uint32_t umask)
{
    int status = assay_event_fail_modifier(r, ASSAY_EVENT_NO_PEBS, ASSAY_EVENT_MOD_PRECISE);
    r->e->umask = umask;
    return status;
}

/* Each umask has to have PEBS; a raw one has to be the value of one that has. */
static int judge_pebs(struct event_request *r)
{
    const struct assay_event_umask *u = event_umasks(r);
    bool found = r->event->umasks == 0 || !r->c->raw;
    for (uint32_t i = 0; i < r->c->umasks; i++)
        if (!(r->t->umasks[r->c->umask[i]].flags & ASSAY_EVENT_PEBS))
            return fail_no_pebs(r, r->c->umask[i]);
    for (uint32_t i = 0; i < r->event->umasks && !found; i++)
        found = u[i].flags & ASSAY_EVENT_PEBS && u[i].value == r->c->raw_umask;
    return found ? ASSAY_OK : fail_no_pebs(r, ASSAY_EVENT_NONE);
}

static int judge_precise(struct event_request *r)
{
    uint64_t v = r->c->modifier[ASSAY_EVENT_MOD_PRECISE];
    if (v > 3)
        return assay_event_fail_modifier(r, ASSAY_EVENT_VALUE_RANGE, ASSAY_EVENT_MOD_PRECISE);
    if (v && r->pmu->scheme == ASSAY_EVENT_NETBURST && event_is_linux(r))
        return assay_event_fail_modifier(r, ASSAY_EVENT_KERNEL_REFUSES, ASSAY_EVENT_MOD_PRECISE);
    return v && r->pmu->scheme == ASSAY_EVENT_CORE ? judge_pebs(r) : ASSAY_OK;
}

static int judge_sampling(struct event_request *r)
{
    const uint64_t *v = r->c->modifier;
    bool period = is_named(r, ASSAY_EVENT_MOD_PERIOD), freq = is_named(r, ASSAY_EVENT_MOD_FREQ);
    if (period && freq)
        return assay_event_fail_modifier(r, ASSAY_EVENT_EXCLUDES,
                                         r->modifier_at[ASSAY_EVENT_MOD_PERIOD] > r->modifier_at[ASSAY_EVENT_MOD_FREQ]
                                             ? ASSAY_EVENT_MOD_PERIOD
                                             : ASSAY_EVENT_MOD_FREQ);
    if (period && v[ASSAY_EVENT_MOD_PERIOD] == 0)
        return assay_event_fail_modifier(r, ASSAY_EVENT_VALUE_RANGE, ASSAY_EVENT_MOD_PERIOD);
    if (freq && v[ASSAY_EVENT_MOD_FREQ] == 0)
        return assay_event_fail_modifier(r, ASSAY_EVENT_VALUE_RANGE, ASSAY_EVENT_MOD_FREQ);
    return v[ASSAY_EVENT_MOD_CPU] < INT_MAX
               ? ASSAY_OK
               : assay_event_fail_modifier(r, ASSAY_EVENT_VALUE_RANGE, ASSAY_EVENT_MOD_CPU);
}

int assay_event_judge_kernel(struct event_request *r)
{
    if (!(r->c->named & (EVENT_KERNEL_ONLY | EVENT_GUESTS))) {
        r->c->modifier[ASSAY_EVENT_MOD_MH] = 1;
        return ASSAY_OK;
    }
    int status = judge_precise(r);
    if (status == ASSAY_OK)
        status = judge_sampling(r);
    return status == ASSAY_OK ? judge_guests(r) : status;
}
