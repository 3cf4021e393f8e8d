/* SPDX-License-Identifier: MIT */
/* Placing a group of events: what assign.c asks of the two kinds of PMU. */
#ifndef ASSAY_EVENT_ASSIGN_H
#define ASSAY_EVENT_ASSIGN_H

#include <assay/event.h>

struct event_group {
    const struct assay_event_table *t;
    const struct assay_event_code *c;
    unsigned n;
};

/* Whether the events of `subset` (bit i: event i) can be together; fills their slots if so. With counters_only every event has
 * registers of its own, and only counters are scarce. */
bool assay_event_place_core(const struct event_group *g, uint64_t subset, bool counters_only,
                            struct assay_event_slot *slot);
bool assay_event_place_netburst(const struct event_group *g, uint64_t subset, bool counters_only,
                                struct assay_event_slot *slot);

/* The counters that c can have on logical processor 0: PEBS is for one alone. */
uint64_t assay_event_netburst_counters(const struct assay_event_code *c);
/* The replay metric that a umask of c stands for; with two that differ, *clash. ASSAY_EVENT_NONE: none. */
uint32_t assay_event_metric_of(const struct assay_event_table *t, const struct assay_event_code *c, bool *clash);
/* How the at-retirement event of c has its micro-operations tagged: 0 front end, 1 execution, 2 replay; -1: it has not. */
int assay_event_mechanism(const struct assay_event_table *t, const struct assay_event_code *c);
/* Whether two events of `subset` want different replay metrics, or PEBS with different mechanisms. */
bool assay_event_metrics_clash(const struct event_group *g, uint64_t subset);
bool assay_event_mechanisms_clash(const struct event_group *g, uint64_t subset);

#endif
