/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: an event's full name: umasks in the order of the table, every modifier with its value. */
#include "compat.h"

#include <stdlib.h>
#include <string.h>

/* What a modifier is in the end; of the kernel's, what the structure says that the caller brought. False: not worth a
 * word. */
static bool value_of(const struct assay_event_code *c, uint8_t m, const struct perf_event_attr *attr, uint64_t *v)
{
    bool named = c->named >> m & 1;
    *v = c->modifier[m];
    switch (m) {
    case ASSAY_EVENT_MOD_PERIOD:
        *v = attr->sample_period;
        return *v && !attr->freq;
    case ASSAY_EVENT_MOD_FREQ:
        *v = attr->sample_period;
        return *v && attr->freq;
    case ASSAY_EVENT_MOD_PRECISE:
        *v = attr->precise_ip;
        return true;
    case ASSAY_EVENT_MOD_EXCL:
        *v = attr->exclusive;
        return true;
    case ASSAY_EVENT_MOD_MG:
        *v = !attr->exclude_guest;
        return true;
    case ASSAY_EVENT_MOD_MH:
        *v = !attr->exclude_host;
        return true;
    case ASSAY_EVENT_MOD_H:
    case ASSAY_EVENT_MOD_CPU:
    case ASSAY_EVENT_MOD_PINNED:
        return named;
    default:
        return true;
    }
}

static void print(const struct assay_event_table *t, const struct assay_event_code *c, pfm_os_t os,
                  const struct perf_event_attr *attr, struct assay_out *o)
{
    const struct assay_event_pmu *p = &t->pmus[c->pmu];
    const struct assay_event_row *e = &t->events[c->event];
    assay_event_whole_name(t, c, o);
    struct compat_walk w;
    compat_walk(p, e, os, COMPAT_NAMED, &w);
    uint64_t v;
    for (const struct compat_modifier *m; (m = compat_walk_next(&w));) {
        if (!value_of(c, m->id, attr, &v))
            continue;
        assay_out_char(o, ':');
        assay_out_str(o, assay_event_modifier_name(m->id));
        assay_out_char(o, '=');
        assay_out_dec(o, v);
    }
}

char *compat_name(const struct assay_event_table *t, const struct assay_event_code *c, pfm_os_t os,
                  const struct perf_event_attr *attr)
{
    char text[2048]; /* all umasks and modifiers of any event of the built-in tables fit */
    struct assay_out o;
    assay_out_init(&o, text, sizeof text, NULL, NULL);
    print(t, c, os, attr, &o);
    assay_out_char(&o, '\0');
    char *name = o.cut ? NULL : malloc(o.len);
    return name ? memcpy(name, text, o.len) : NULL;
}
