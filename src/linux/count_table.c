/* SPDX-License-Identifier: MIT */
/* Events of the tables: the kernel's generic ones, those of this processor. */
#include "count.h"

#include <assay/event.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

static void take_row(const struct assay_event_row *row, struct assay_count_event *event)
{
    static const char *const kind[] = {"hardware", "software", "tracepoint", "cache", "cpu"};
    event->type = row->perf_type;
    event->config = row->config;
    COUNT_SAY(event->pmu, "%s", kind[row->perf_type < 4 ? row->perf_type : 4]);
    if (event->type == PERF_TYPE_SOFTWARE &&
        (event->config == PERF_COUNT_SW_TASK_CLOCK || event->config == PERF_COUNT_SW_CPU_CLOCK)) {
        event->scale = 1e-6; /* the kernel counts nanoseconds */
        COUNT_SAY(event->unit, "ms");
    }
}

static bool is_sysfs_event(const struct assay_sys *s, struct count_span name, char text[COUNT_TEXT])
{
    char file[COUNT_TEXT + 64];
    snprintf(file, sizeof file, "/sys/bus/event_source/devices/cpu/events/%.*s", (int)name.size, name.text);
    snprintf(text, COUNT_TEXT, "cpu/%.*s/", (int)name.size, name.text);
    return count_is_word(name.text, name.size) && sys_exists(s, file);
}

int count_name(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
               struct assay_count_event *event, struct assay_error *e)
{
    char alias[COUNT_TEXT];
    struct count_span name = {text.text, count_find(text, ':'), text.at}, rest = count_from(text, name.size);
    uint32_t generic = assay_event_find_pmu(t, "perf", strlen("perf"));
    uint32_t row = assay_event_find(t, generic, name.text, name.size);
    if (row != ASSAY_EVENT_NONE && t->events[row].umasks == 0) {
        take_row(&t->events[row], event);
        return count_put_modifiers(rest, event, e);
    }
    if (is_sysfs_event(s, name, alias)) {
        int r = count_sysfs_pmu(s, (struct count_span){alias, strlen(alias), text.at}, event, e);
        return r < 0 ? r : count_put_modifiers(rest, event, e);
    }
    return assay_error_set(e, ASSAY_E_NOT_FOUND, text.at, "no event %.*s", (int)text.size, text.text);
}

int count_named(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
                struct assay_count_event *event, struct assay_error *e)
{
    return count_name(s, t, text, event, e);
}
