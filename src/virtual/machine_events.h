/* SPDX-License-Identifier: MIT */
/* The table of data/machine/events.tsv, as tools/compile_machine_events.py puts it into C. */
#ifndef ASSAY_VIRTUAL_MACHINE_EVENTS_H
#define ASSAY_VIRTUAL_MACHINE_EVENTS_H

#include <stdint.h>

enum machine_event_space {
    MACHINE_EVENT_FIXED,
    MACHINE_EVENT_KNM,
    MACHINE_EVENT_PERF, /* code: type << 32 | config */
    MACHINE_EVENT_REQUEST,
    MACHINE_EVENT_RESPONSE,
};
struct machine_event_row {
    uint64_t code, quantities;
    const char *name, *nearest, *note;
    uint8_t space, parts;
};
extern const struct machine_event_row assay_machine_event_rows[];
extern const unsigned assay_machine_event_row_count;

#endif
