/* SPDX-License-Identifier: MIT */
/* Any bytes as an event string, in every mode and on every PMU, and as requests of an average latency: either an error
 * that names a place in the string, or an event whose own name is the same event again. */
#include "../prop/event_check.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *check_latency(const struct assay_event_table *t, const char *text, size_t size, unsigned mode)
{
    struct assay_event_code pair[2];
    struct assay_event_error e;
    if (assay_event_latency(t, text, size, mode, 3, ASSAY_EVENT_NONE, pair, &e) != ASSAY_OK)
        return event_check_error(t, text, size, &e, mode == ASSAY_EVENT_PERF_EXT);
    const char *complaint = event_check_code(t, &pair[0], mode);
    return complaint ? complaint : event_check_code(t, &pair[1], mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_event_table t;
    const char *text = (const char *)data, *complaint = NULL;
    assay_event_builtin(&t);
    for (unsigned m = 0; m < EVENT_MODES && !complaint; m++) {
        unsigned mode = event_modes[m];
        bool ok;
        complaint = event_check(&t, text, size, mode, 3, ASSAY_EVENT_NONE, mode == ASSAY_EVENT_PERF_EXT, &ok);
        for (uint32_t pmu = 0; pmu < t.pmu_count && !complaint; pmu++)
            complaint = event_check(&t, text, size, mode, pmu % 4, pmu, false, &ok);
        if (!complaint)
            complaint = check_latency(&t, text, size, mode);
    }
    if (complaint) {
        fprintf(stderr, "%s: %.*s\n", complaint, (int)(size < 500 ? size : 500), text);
        abort();
    }
    return 0;
}
