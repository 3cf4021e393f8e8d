/* SPDX-License-Identifier: MIT */
/* What the verbs about events share: the tables, which PMU is meant, and how an event is shown. */
#ifndef ASSAY_CLI_EVENTS_H
#define ASSAY_CLI_EVENTS_H

#include "cli.h"

#include <assay/event.h>
#include <assay/event_json.h>

enum { EVENTS_PMU = 1100, EVENTS_CPU, EVENTS_FILE };
#define EVENTS_OPTION_FILE                                                                                             \
    {                                                                                                                  \
        EVENTS_FILE, 0, "events", "PATH", "Intel's event files, too: one or a folder; default: $ASSAY_EVENTS"          \
    }
#define EVENTS_OPTIONS                                                                                                 \
    EVENTS_OPTION_FILE, {EVENTS_PMU, 0, "pmu", "NAME", "the PMU of names that say none (`assay list` shows them)"},    \
    {                                                                                                                  \
        EVENTS_CPU, 0, "cpu", "F/M/S", "the PMU of a processor: family/model/stepping, 6/133/0, or `this`"             \
    }

struct events_cpu {
    unsigned family, model, stepping;
};
struct events {
    struct assay_event_table table;
    uint32_t pmu;                    /* of --pmu or --cpu, ASSAY_EVENT_NONE */
    struct assay_event_json *loaded; /* of --events, NULL; the table is its own then */
};

/* The tables, and the PMU that the options name. CLI_OK, or another status after a message; closed in any case. */
int events_open(struct cli *c, struct events *e);
void events_close(struct events *e);
/* The processor at hand; false where it is not an Intel one. */
bool events_this_cpu(struct events_cpu *cpu);
/* The row of a PMU, or CLI_USAGE after a message that names the nearest. */
int events_find_pmu(struct cli *c, const struct events *e, const char *name, uint32_t *pmu);

const char *events_pmu_name(const struct events *e, uint32_t pmu);
const char *events_event_name(const struct events *e, uint32_t event);
const char *events_umask_name(const struct events *e, uint32_t umask);

#endif
