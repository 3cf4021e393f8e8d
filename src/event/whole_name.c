/* SPDX-License-Identifier: MIT */
/* An event's name as the reference library spells it: every umask, and those that are made of others as these. */
#include <assay/event.h>

#include <string.h>

/* Umasks as a set of places among those of the event, which are at most 64. */
static uint64_t umask_set(const struct assay_event_table *t, const struct assay_event_code *c)
{
    uint32_t first = t->events[c->event].first_umask;
    uint64_t set = 0;
    for (uint32_t i = 0; i < c->umasks; i++) {
        const struct assay_event_umask *u = &t->umasks[c->umask[i]];
        const char *part = u->equiv ? assay_event_str(t, u->equiv) : "";
        if (!strchr(part, ':')) {
            set |= UINT64_C(1) << ((c->umask[i] - first) & 63);
            continue;
        }
        for (size_t n; *part; part += n + (part[n] == ':')) {
            const char *end = strchr(part, ':');
            n = end ? (size_t)(end - part) : strlen(part);
            set |= UINT64_C(1) << ((assay_event_find_umask(t, c->event, part, n) - first) & 63);
        }
    }
    return set;
}

void assay_event_whole_name(const struct assay_event_table *t, const struct assay_event_code *c, struct assay_out *o)
{
    const struct assay_event_row *row = &t->events[c->event];
    uint64_t set = umask_set(t, c);
    assay_out_str(o, assay_event_str(t, t->pmus[c->pmu].name));
    assay_out_str(o, "::");
    assay_out_str(o, assay_event_str(t, row->name));
    for (uint32_t i = 0; i < row->umasks && i < 64; i++)
        if (set >> i & 1) {
            assay_out_char(o, ':');
            assay_out_str(o, assay_event_str(t, t->umasks[row->first_umask + i].name));
        }
    if (c->raw) {
        assay_out_str(o, ":0x");
        assay_out_hex(o, c->raw_umask);
    }
}
