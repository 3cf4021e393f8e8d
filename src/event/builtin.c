/* SPDX-License-Identifier: MIT */
/* The table that is compiled in: tools/compile_events.py makes its rows from data/event/. */
#include <assay/event_table.h>

#include "event/event_data.h"

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

void assay_event_builtin(struct assay_event_table *t)
{
    *t = (struct assay_event_table){
        .pool = data_pool,
        .pmus = data_pmus,
        .events = data_events,
        .umasks = data_umasks,
        .netburst = data_netburst,
        .metrics = data_metrics,
        .models = data_models,
        .slots = data_slots,
        .pmu_count = COUNT(data_pmus),
        .event_count = COUNT(data_events),
        .umask_count = COUNT(data_umasks),
        .netburst_count = COUNT(data_netburst),
        .metric_count = COUNT(data_metrics),
        .pool_size = sizeof(data_pool),
        .model_count = COUNT(data_models),
        .slot_count = COUNT(data_slots),
    };
}
