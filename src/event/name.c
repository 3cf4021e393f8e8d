/* SPDX-License-Identifier: MIT */
/* The canonical name of an encoded event. */
#include <assay/base.h>

#include "event/encode.h"

static void put_value(struct assay_out *o, enum assay_event_modifier m, uint64_t value)
{
    assay_out_char(o, ':');
    assay_out_str(o, assay_event_modifier_name(m));
    if (assay_event_modifier_boolean(m) && value)
        return;
    assay_out_char(o, '=');
    assay_out_dec(o, value);
}

/* u and k together are what is set without them, but for h beside them. */
static void put_privilege(const struct assay_event_code *c, struct assay_out *o)
{
    const uint64_t *v = c->modifier;
    bool h = c->named & EVENT_BIT(ASSAY_EVENT_MOD_H), all = v[ASSAY_EVENT_MOD_U] && v[ASSAY_EVENT_MOD_K];
    bool written = !all || (h && v[ASSAY_EVENT_MOD_H]);
    if (written && v[ASSAY_EVENT_MOD_U])
        put_value(o, ASSAY_EVENT_MOD_U, 1);
    if (written && v[ASSAY_EVENT_MOD_K])
        put_value(o, ASSAY_EVENT_MOD_K, 1);
    if (h)
        put_value(o, ASSAY_EVENT_MOD_H, v[ASSAY_EVENT_MOD_H]);
}

/* Modifiers that the event or a umask sets. */
static uint32_t fixed_modifiers(const struct assay_event_table *t, const struct assay_event_code *c)
{
    uint64_t config = t->pmus[c->pmu].scheme == ASSAY_EVENT_CORE ? t->events[c->event].config : 0;
    uint32_t mask = 0;
    for (uint32_t i = 0; i < c->umasks; i++)
        mask |= t->umasks[c->umask[i]].fixed_modifiers;
    mask |= config & EVENT_EDGE ? EVENT_BIT(ASSAY_EVENT_MOD_E) : 0;
    mask |= config & EVENT_INV ? EVENT_BIT(ASSAY_EVENT_MOD_I) : 0;
    mask |= config & EVENT_ANY ? EVENT_BIT(ASSAY_EVENT_MOD_T) : 0;
    mask |= config >> EVENT_CMASK_AT & 0xff ? EVENT_BIT(ASSAY_EVENT_MOD_C) : 0;
    return mask;
}

/* A CPU may be 0, guests say something about the host. */
static bool is_written(const struct assay_event_code *c, unsigned m)
{
    if (m == ASSAY_EVENT_MOD_CPU)
        return c->named & EVENT_BIT(m);
    if (m == ASSAY_EVENT_MOD_MH)
        return c->modifier[ASSAY_EVENT_MOD_MG] && c->modifier[m];
    return c->modifier[m] != 0;
}

void assay_event_name(const struct assay_event_table *t, const struct assay_event_code *c, struct assay_out *o)
{
    assay_out_str(o, assay_event_str(t, t->pmus[c->pmu].name));
    assay_out_str(o, "::");
    assay_out_str(o, assay_event_str(t, t->events[c->event].name));
    for (uint32_t i = 0; i < c->umasks; i++) {
        assay_out_char(o, ':');
        assay_out_str(o, assay_event_str(t, t->umasks[c->umask[i]].name));
    }
    if (c->raw) {
        assay_out_str(o, ":0x");
        assay_out_hex(o, c->raw_umask);
    }
    put_privilege(c, o);
    uint32_t silent = fixed_modifiers(t, c) | EVENT_PRIVILEGE;
    for (unsigned m = 0; m < ASSAY_EVENT_MODS; m++)
        if (!(silent & EVENT_BIT(m)) && is_written(c, m))
            put_value(o, (enum assay_event_modifier)m, c->modifier[m]);
}
