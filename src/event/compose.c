/* SPDX-License-Identifier: MIT */
/* From rows and modifier values to register values. */
#include "event/compose.h"

static uint64_t umask_bits(const struct assay_event_table *t, const struct assay_event_code *c)
{
    uint64_t bits = c->raw ? c->raw_umask : 0;
    for (uint32_t i = 0; i < c->umasks; i++)
        bits |= t->umasks[c->umask[i]].value;
    return bits;
}

/* A field that a modifier set replaces what the event itself has there. */
static uint64_t put_modifier(const struct assay_event_code *c, enum assay_event_modifier m, uint64_t field,
                             uint64_t lowest, uint64_t config)
{
    return c->named >> m & 1 ? (config & ~field) | (c->modifier[m] * lowest & field) : config;
}

static void compose_core(const struct assay_event_table *t, struct assay_event_code *c)
{
    const struct assay_event_row *e = &t->events[c->event];
    uint64_t v = e->config, bits = umask_bits(t, c);
    v = put_modifier(c, ASSAY_EVENT_MOD_E, EVENT_EDGE, EVENT_EDGE, v);
    v = put_modifier(c, ASSAY_EVENT_MOD_T, EVENT_ANY, EVENT_ANY, v);
    v = put_modifier(c, ASSAY_EVENT_MOD_I, EVENT_INV, EVENT_INV, v);
    v = put_modifier(c, ASSAY_EVENT_MOD_C, UINT64_C(0xff) << 24, UINT64_C(1) << 24, v);
    v |= c->modifier[ASSAY_EVENT_MOD_U] ? EVENT_USR : 0;
    v |= c->modifier[ASSAY_EVENT_MOD_K] ? EVENT_OS : 0;
    bool second = e->flags & ASSAY_EVENT_OFFCORE;
    c->code[0] = v | EVENT_INT | EVENT_EN | (second ? 0 : bits << 8);
    c->code[1] = e->extra | (second ? bits : 0);
    c->codes = e->extra_msr ? 2 : 1;
    c->extra_msr = e->extra_msr;
}

static void compose_netburst(const struct assay_event_table *t, struct assay_event_code *c)
{
    const struct assay_event_row *e = &t->events[c->event];
    uint64_t escr = e->config, cccr = CCCR_ENABLE | CCCR_ANY_THREAD;
    for (uint32_t i = 0; i < c->umasks; i++) {
        const struct assay_event_umask *u = &t->umasks[c->umask[i]];
        if (u->flags & ASSAY_EVENT_TAG)
            escr |= ESCR_TAG_ENABLE | u->value << ESCR_TAG_AT;
        else if (!(u->flags & ASSAY_EVENT_VIRTUAL))
            escr |= UINT64_C(1) << (ESCR_MASK_AT + u->value);
    }
    uint64_t rings = (c->modifier[ASSAY_EVENT_MOD_U] ? 1u : 0) | (c->modifier[ASSAY_EVENT_MOD_K] ? 2u : 0);
    bool edge = c->modifier[ASSAY_EVENT_MOD_E], complement = c->modifier[ASSAY_EVENT_MOD_CMPL];
    uint64_t threshold = c->modifier[ASSAY_EVENT_MOD_THR];
    cccr |= (uint64_t)t->netburst[e->netburst].escr_select << CCCR_SELECT_AT | threshold << CCCR_THRESHOLD_AT;
    cccr |= (edge || complement || threshold ? CCCR_COMPARE : 0) | (complement ? CCCR_COMPLEMENT : 0) |
            (edge ? CCCR_EDGE : 0);
    c->code[0] = escr | rings | rings << 2;
    c->code[1] = cccr;
    c->codes = 2;
    c->extra_msr = 0;
}

/* Fixed counters count their event and privileges, nothing else. */
static uint64_t usable_counters(const struct assay_event_table *t, const struct assay_event_code *c)
{
    const struct assay_event_row *e = &t->events[c->event];
    uint64_t counters = e->counters;
    for (uint32_t i = 0; i < c->umasks; i++)
        if (t->umasks[c->umask[i]].counters)
            counters &= t->umasks[c->umask[i]].counters;
    if (c->modifier[ASSAY_EVENT_MOD_PRECISE] && t->pmus[c->pmu].precise)
        counters &= t->pmus[c->pmu].precise;
    bool plain = !c->modifier[ASSAY_EVENT_MOD_E] && !c->modifier[ASSAY_EVENT_MOD_I] &&
                 !c->modifier[ASSAY_EVENT_MOD_C] && !c->raw;
    return plain || e->flags & ASSAY_EVENT_FIXED_ONLY ? counters : counters & UINT32_MAX;
}

void assay_event_compose(const struct assay_event_table *t, struct assay_event_code *c)
{
    switch (t->pmus[c->pmu].scheme) {
    case ASSAY_EVENT_CORE:
        compose_core(t, c);
        break;
    case ASSAY_EVENT_NETBURST:
        compose_netburst(t, c);
        break;
    default:
        c->code[0] = t->events[c->event].config | umask_bits(t, c);
        c->codes = 1;
        c->extra_msr = 0;
    }
    c->counters = usable_counters(t, c);
}
