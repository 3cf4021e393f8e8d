/* SPDX-License-Identifier: MIT */
/* assay list: what is shown, as a table, JSON or CSV. */
#ifndef ASSAY_CLI_LIST_H
#define ASSAY_CLI_LIST_H

#include "events.h"

/* The rows to show of one PMU. */
struct list_rows {
    uint32_t pmu;
    const bool *shown; /* by event of the PMU; NULL: everything */
};

/* One hit of a search. */
struct list_hit {
    uint32_t pmu, event, umask; /* rows; umask ASSAY_EVENT_NONE: the event */
    unsigned score;
    uint64_t pmus; /* mask of all PMUs, up to 64, that have it under the same name and code */
};

/* Tables for people. */
void list_pmus(struct cli *c, const struct events *e);
void list_events(struct cli *c, const struct events *e, const struct list_rows *r);
void list_hits(struct cli *c, const struct events *e, const struct list_hit *hit, size_t n);
/* One event, with its routing, modifiers and umasks. */
void list_whole(struct cli *c, const struct events *e, uint32_t pmu, uint32_t event);

/* An event's umasks under the titles of their groups. */
void list_umasks(struct cli *c, const struct events *e, const struct assay_event_row *event);

/* The same as records. */
void list_json_pmus(struct cli *c, const struct events *e);
void list_json_events(struct cli *c, const struct events *e, const struct list_rows *r);
void list_json_hits(struct cli *c, const struct events *e, const struct list_hit *hit, size_t n);
void list_csv_events(struct cli *c, const struct events *e, const struct list_rows *r);
/* "knm::ICACHE:HIT", one a line, events before their umasks. */
void list_names(struct cli *c, const struct events *e, const struct list_rows *r);

/* Hits of a query, best first, at most `room`; pmu ASSAY_EVENT_NONE: of all. */
size_t list_search(const struct events *e, uint32_t pmu, const char *query, struct list_hit *hit, size_t room);

/* Facts as words, for all three forms. */
uint64_t list_umask_code(const struct assay_event_row *event, const struct assay_event_umask *u); /* perf's config */
void list_put_model(struct assay_out *o, uint32_t model);                                         /* "6/133" */
void list_put_flags(struct assay_out *o, uint32_t flags, const char *separator); /* "default, single, PEBS" */
/* perf's config and config1 of an event with one umask (or none) and what is taken by default: 1 or 2 values. */
unsigned list_codes(const struct events *e, const struct list_hit *h, uint64_t code[2]);
/* Name of the lowest flag of a mask: "pebs", "no_combine"; for records. */
const char *list_flag_name(uint32_t flags);
/* The PMU of this machine, ASSAY_EVENT_NONE when there is no table for it. */
uint32_t list_this_pmu(const struct events *e);

#endif
