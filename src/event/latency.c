/* SPDX-License-Identifier: MIT */
/* The two events whose quotient is the average latency of offcore requests (libpfm_intel_knm(3), average latency mode). */
#include <assay/base.h>

#include "event/encode.h"

/* The umask with a flag, ASSAY_EVENT_NONE when the event has none. */
static uint32_t find_flag(const struct assay_event_table *t, uint32_t event, uint32_t flag)
{
    const struct assay_event_row *e = &t->events[event];
    for (uint32_t i = 0; i < e->umasks; i++)
        if (t->umasks[e->first_umask + i].flags & flag)
            return i;
    return ASSAY_EVENT_NONE;
}

/* The PMU's offcore event with (true) or without a umask for outstanding requests. */
static uint32_t find_offcore(const struct assay_event_table *t, uint32_t pmu, bool outstanding)
{
    const struct assay_event_pmu *p = &t->pmus[pmu];
    for (uint32_t e = p->first_event; e < p->first_event + p->events; e++)
        if (t->events[e].flags & ASSAY_EVENT_OFFCORE && t->events[e].umasks &&
            (find_flag(t, e, ASSAY_EVENT_ALONE) != ASSAY_EVENT_NONE) == outstanding)
            return e;
    return ASSAY_EVENT_NONE;
}

static int encode_half(struct event_request *r, uint32_t pmu, uint32_t event, uint32_t flag)
{
    assay_event_begin(r, pmu, event, 0, 0);
    assay_event_take_umask(r, find_flag(r->t, event, flag), 0);
    size_t end = event_name_end(r->text, 0, r->size);
    int status = r->size ? assay_event_attribute(r, 0, &end) : ASSAY_OK;
    if (status == ASSAY_OK)
        status = assay_event_attributes(r, end);
    return status == ASSAY_OK ? assay_event_finish(r) : status;
}

int assay_event_latency(const struct assay_event_table *t, const char *requests, size_t n, unsigned mode, unsigned plm,
                        uint32_t pmu, struct assay_event_code pair[2], struct assay_event_error *e)
{
    struct assay_event_error unused;
    struct event_request r = {.t = t, .text = requests, .size = n, .mode = mode, .plm = plm, .e = e ? e : &unused};
    uint32_t event[2] = {ASSAY_EVENT_NONE, ASSAY_EVENT_NONE};
    uint32_t first = pmu == ASSAY_EVENT_NONE ? 0 : pmu, last = pmu == ASSAY_EVENT_NONE ? t->pmu_count : pmu + 1;
    for (pmu = first; pmu < last; pmu++) {
        event[0] = find_offcore(t, pmu, true);
        event[1] = find_offcore(t, pmu, false);
        if (event[0] != ASSAY_EVENT_NONE && event[1] != ASSAY_EVENT_NONE)
            break;
    }
    if (pmu == last)
        return assay_event_fail(&r, ASSAY_EVENT_NO_EVENT, 0);
    r.c = &pair[0];
    int status = encode_half(&r, pmu, event[0], ASSAY_EVENT_ALONE);
    r.c = &pair[1];
    return status == ASSAY_OK ? encode_half(&r, pmu, event[1], ASSAY_EVENT_OVERRIDES) : status;
}
