/* SPDX-License-Identifier: MIT */
/* Which events the machine model counts, and as what: data/machine/events.tsv. Constant data, thread safe. */
#ifndef ASSAY_MACHINE_EVENT_H
#define ASSAY_MACHINE_EVENT_H

#include <assay/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_machine_event {
    uint64_t quantities; /* the count is the sum of these of a tally; 0: not modelled */
    unsigned parts;      /* without these parts (enum assay_machine_part) a model has no such count */
    const char *name;    /* as in the table, NULL when the code is not in it; strings are constant */
    const char *nearest; /* not modelled: the event to take in its place, "" none */
    const char *note; /* why it is not modelled, or how the model's event differs from hardware's; "" nothing to say */
};
/* Each gives ASSAY_OK, or ASSAY_E_UNSUPPORTED when it is not modelled; *out is filled in both cases.
 * IA32_PERFEVTSELx of Knights Mill and of the architectural events: event select, umask, E, INV and CMASK are looked at. response:
 * MSR_OFFCORE_RSP_x, for the events that take it. */
int assay_machine_event_core(uint64_t perfevtsel, uint64_t response, struct assay_machine_event *out);
int assay_machine_event_fixed(unsigned counter, struct assay_machine_event *out);
/* type and config of struct perf_event_attr. */
int assay_machine_event_perf(uint32_t type, uint64_t config, struct assay_machine_event *out);
/* The first part that the event needs and the model does not have ("l2"), NULL when it has all. */
const char *assay_machine_event_lacks(const struct assay_machine_event *v, const struct assay_machine_model *m);
/* The count. */
uint64_t assay_machine_event_sum(const uint64_t *tally, uint64_t quantities);

#ifdef __cplusplus
}
#endif
#endif
