/* SPDX-License-Identifier: MIT */
/* Every event of loaded event files as it is encoded, a line each. usage: print_events PATH */
#include <assay/event.h>
#include <assay/event_json.h>

#include <inttypes.h>
#include <stdio.h>

static void print_event(const struct assay_event_table *t, uint32_t pmu, uint32_t event)
{
    char text[512], perf[512];
    struct assay_out o;
    struct assay_event_code c;
    struct assay_event_error e;
    int n = snprintf(text, sizeof text, "%s::%s", assay_event_str(t, t->pmus[pmu].name),
                     assay_event_str(t, t->events[event].name));
    if (assay_event_encode(t, text, (size_t)n, ASSAY_EVENT_STRICT, 3, ASSAY_EVENT_NONE, &c, &e) != ASSAY_OK) {
        printf("%s refused: %s\n", text, assay_event_reason_name(e.reason));
        return;
    }
    assay_out_init(&o, perf, sizeof perf - 1, NULL, NULL);
    assay_event_perf_string(t, &c, &o);
    perf[o.len] = '\0';
    printf("%s %#" PRIx64 " %#x %#" PRIx64 " %#" PRIx64 " %s\n", text, c.code[0], c.extra_msr,
           c.codes > 1 ? c.code[1] : 0, c.counters, perf);
}

int main(int argc, char **argv)
{
    struct assay_event_json *j;
    struct assay_error e;
    if (argc != 2 || assay_event_json_load(argv[1], NULL, &j, &e) != ASSAY_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? e.text : "usage: print_events PATH");
        return 1;
    }
    const struct assay_event_table *t = assay_event_json_table(j);
    for (uint32_t p = 0; p < t->pmu_count; p++)
        for (uint32_t i = 0; i < t->pmus[p].events; i++)
            print_event(t, p, t->pmus[p].first_event + i);
    assay_event_json_free(j);
    return 0;
}
