/* SPDX-License-Identifier: MIT */
/* Intel's published event files, loaded at run time into the rows of an event table: one file, a directory with
 * mapfile.csv (the form of github.com/intel/perfmon), or a directory of Linux's tools/perf/pmu-events/arch/x86.
 * docs/formats/events.md, "Intel's event files", says what each field becomes. */
#ifndef ASSAY_EVENT_JSON_H
#define ASSAY_EVENT_JSON_H

#include <assay/base.h>
#include <assay/event_table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Refused beyond these. */
enum {
    ASSAY_EVENT_JSON_MOST_BYTES = 64 << 20,  /* of one file */
    ASSAY_EVENT_JSON_MOST_EVENTS = 1 << 15,  /* of one PMU */
    ASSAY_EVENT_JSON_MOST_PMUS = 512,
};

/* What was loaded. Read only after loading, so that threads may share it. */
struct assay_event_json;

/* What an event says besides what a table has columns for. Counters as in assay_event_row.counters, 0: not said. */
struct assay_event_facts {
    uint64_t sample_after;    /* the period that is recommended for sampling, 0: not said */
    uint64_t pebs_counters;   /* that write precise records */
    uint64_t pdist_counters;  /* that do so with a precise distribution */
    uint64_t counters_ht_off; /* that count it when hyper-threading is off */
    uint32_t long_desc;       /* pool offset of the longer description, 0: none, or the same as the short one */
    uint32_t errata;          /* pool offset: "HSD62, HSD61", 0: none */
    uint8_t pebs;             /* 0 no precise records, 1 possible, 2 precise only */
    bool taken_alone;         /* no second event of its kind beside it */
    bool data_address;        /* precise records hold the data's address */
};

struct assay_event_json_sums {
    uint32_t files;         /* read */
    uint32_t files_other;   /* of mapfile.csv, of kinds that hold no core events: uncore, metrics ... */
    uint32_t files_missing; /* named by mapfile.csv, but not there */
    uint32_t events;        /* in the table */
    uint32_t bad;           /* left out: a field that is wrong */
    uint32_t duplicates;    /* left out: a name that was there already */
    uint32_t other;         /* left out: of another unit (uncore), or no event (a metric) */
    uint32_t unknown_keys;  /* that were passed over */
    uint32_t warnings;      /* also those that were not kept */
};

/* Loads what `path` names. The table of the result begins with the rows of `base` (NULL: with none), whose arrays
 * outlive the result; then come the PMUs that were loaded. ASSAY_OK and *out, to be freed; else *e: its text begins
 * with "file:line:column: " where a file's contents are at fault. What can be left out is a warning. */
int assay_event_json_load(const char *path, const struct assay_event_table *base, struct assay_event_json **out,
                          struct assay_error *e);
/* The same for a file's bytes. `name` stands for its path: in messages, and for the name of the PMU. */
int assay_event_json_parse(const char *name, const void *data, size_t size, const struct assay_event_table *base,
                           struct assay_event_json **out, struct assay_error *e);
void assay_event_json_free(struct assay_event_json *j); /* NULL is fine */

const struct assay_event_table *assay_event_json_table(const struct assay_event_json *j);
const struct assay_event_json_sums *assay_event_json_sums(const struct assay_event_json *j);
/* Row of the first PMU that was loaded; the others follow it. */
uint32_t assay_event_json_first_pmu(const struct assay_event_json *j);
/* NULL for an event of `base`. */
const struct assay_event_facts *assay_event_json_facts(const struct assay_event_json *j, uint32_t event);
/* One line each, "file:line:column: what"; the first hundred are kept. NULL past the last. */
const char *assay_event_json_warning(const struct assay_event_json *j, size_t i);

#ifdef __cplusplus
}
#endif
#endif
