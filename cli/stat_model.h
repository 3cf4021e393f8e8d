/* SPDX-License-Identifier: MIT */
/* Events of a list on the machine model: what they are counted as, and their counts. */
#ifndef ASSAY_CLI_STAT_MODEL_H
#define ASSAY_CLI_STAT_MODEL_H

#include "stat.h"

#include <assay/event.h>
#include <assay/machine_event.h>

struct model_event {
    struct assay_event_code code;
    struct assay_machine_event event;
    bool core;      /* programmed into the virtual core's counters; else a generic name, which is read off the tally */
    bool user_only; /* the kernel's part was not ruled out by name */
    char reason[200], remedy[200]; /* why it is not modelled; "" when it is */
};
/* CLI_OK whether or not it is modelled; a name that is none is CLI_USAGE after a message. */
int model_event_read(struct cli *c, const struct assay_event_item *item, const struct assay_machine_model *m,
                     struct model_event *v);
uint64_t model_event_count(const struct model_event *v, const uint64_t *tally);

#endif
