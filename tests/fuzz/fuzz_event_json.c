/* SPDX-License-Identifier: MIT */
/* Any bytes as an event file: what is loaded is a sound table, and what is said of it has a place. */
#include <assay/event.h>
#include <assay/event_json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool sound, const char *complaint)
{
    if (sound)
        return;
    fprintf(stderr, "%s\n", complaint);
    abort();
}

static void check_row(const struct assay_event_table *t, uint32_t pmu, uint32_t event)
{
    const struct assay_event_row *r = &t->events[event];
    const char *name = assay_event_str(t, r->name);
    must(r->name < t->pool_size && r->desc < t->pool_size && *name, "strings outside of the pool");
    must(assay_event_find(t, pmu, name, strlen(name)) == event, "an event that its name does not find");
    must(r->counters != 0, "an event without a counter");
    must((r->extra & ~r->extra_ok) == 0, "bits that the second register does not have");
    must((r->config & 0xd00530000ull) == 0, "bits that are not the event's");
}

static void check_table(const struct assay_event_json *j)
{
    const struct assay_event_table *t = assay_event_json_table(j);
    const struct assay_event_json_sums *sums = assay_event_json_sums(j);
    must(sums->events == t->event_count && t->event_count > 0, "events that are lost");
    must((sums->bad + sums->duplicates == 0) || sums->warnings > 0, "something left out without a word");
    for (uint32_t p = 0; p < t->pmu_count; p++)
        for (uint32_t i = 0; i < t->pmus[p].events; i++)
            check_row(t, p, t->pmus[p].first_event + i);
    for (size_t i = 0; assay_event_json_warning(j, i); i++)
        must(strncmp(assay_event_json_warning(j, i), "fuzz.json:", 10) == 0, "a warning without a place");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_event_json *j;
    struct assay_error e = {0};
    int rc = assay_event_json_parse("fuzz.json", data, size, NULL, &j, &e);
    must((rc == ASSAY_OK) == (j != NULL), "a result with an error, or none without");
    if (j)
        check_table(j);
    else
        must(strncmp(e.text, "fuzz.json:", 10) == 0, "an error without a place");
    assay_event_json_free(j);
    return 0;
}
