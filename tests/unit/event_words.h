/* SPDX-License-Identifier: MIT */
/* Events in tests: the built-in table, and answers spelled in a plain way of the tests' own. */
#ifndef EVENT_WORDS_H
#define EVENT_WORDS_H

#include <assay/event.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct assay_event_table table;

static inline uint32_t pmu_called(const char *name)
{
    for (uint32_t i = 0; i < table.pmu_count; i++)
        if (strcmp(assay_event_str(&table, table.pmus[i].name), name) == 0)
            return i;
    fail_msg("no PMU %s", name);
    return 0;
}

static inline uint32_t event_called(uint32_t pmu, const char *name)
{
    const struct assay_event_pmu *p = &table.pmus[pmu];
    for (uint32_t i = p->first_event; i < p->first_event + p->events; i++)
        if (strcmp(assay_event_str(&table, table.events[i].name), name) == 0)
            return i;
    fail_msg("no event %s", name);
    return 0;
}

static inline uint32_t umask_called(uint32_t event, const char *name)
{
    const struct assay_event_row *e = &table.events[event];
    for (uint32_t i = e->first_umask; i < e->first_umask + e->umasks; i++)
        if (strcmp(assay_event_str(&table, table.umasks[i].name), name) == 0)
            return i;
    fail_msg("no umask %s", name);
    return 0;
}

/* Encodes for code that writes registers itself, so that nothing is refused for Linux's sake. */
static inline void encode_to(const char *text, struct assay_event_code *c)
{
    struct assay_event_error e = {0};
    unsigned mode = ASSAY_EVENT_REGISTERS | ASSAY_EVENT_PERF_EXT;
    if (assay_event_encode(&table, text, strlen(text), mode, 3, ASSAY_EVENT_NONE, c, &e) != ASSAY_OK)
        fail_msg("%s: reason %u at %u", text, e.reason, e.column);
}

/* "EVENT:UMASK:0xRAW:u:e=1": u and k when not both, other modifiers when not 0. */
static inline void spell(const struct assay_event_code *c, char *out, size_t room)
{
    static const char *const modifier[] = {"u", "k", "e", "i", "c", "t", "cmpl", "thr"};
    bool rings = !c->modifier[0] || !c->modifier[1];
    size_t n = (size_t)snprintf(out, room, "%s", assay_event_str(&table, table.events[c->event].name));
    for (uint32_t i = 0; i < c->umasks; i++)
        n += (size_t)snprintf(out + n, room - n, ":%s", assay_event_str(&table, table.umasks[c->umask[i]].name));
    if (c->raw)
        n += (size_t)snprintf(out + n, room - n, ":0x%llx", (unsigned long long)c->raw_umask);
    for (unsigned m = 0; m < 8; m++)
        if (c->modifier[m] && (m > 1 || rings))
            n += (size_t)snprintf(out + n, room - n, m > 1 ? ":%s=%llu" : ":%s", modifier[m],
                                  (unsigned long long)c->modifier[m]);
}

#endif
