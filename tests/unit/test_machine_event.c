/* SPDX-License-Identifier: MIT */
/* The table of what the machine model counts against the tables of events: every name is that of its code, every event of Knights
 * Mill and of Linux has a row, and what is not modelled names one that is. */
#include <assay/event.h>
#include <assay/machine_event.h>

#include "virtual/machine_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct assay_event_table table;

static uint32_t pmu_of(const char *name) { return assay_event_find_pmu(&table, name, strlen(name)); }

static const char *pmu_name(unsigned space) { return space == MACHINE_EVENT_PERF ? "perf" : "knm"; }

static void encode(const char *text, unsigned space, struct assay_event_code *c)
{
    struct assay_event_error e;
    if (assay_event_encode(&table, text, strlen(text), ASSAY_EVENT_STRICT, ASSAY_EVENT_USER, pmu_of(pmu_name(space)), c,
                           &e))
        fail_msg("%s: %s", text, assay_event_reason_name(e.reason));
}

/* As the rows have it. */
static uint64_t code_of(const char *text, unsigned space)
{
    struct assay_event_code c;
    struct assay_event_perf p;
    encode(text, space, &c);
    if (space != MACHINE_EVENT_PERF)
        return c.code[0] & 0xffff;
    assay_event_to_perf(&table, &c, &p);
    return (uint64_t)p.type << 32 | p.config;
}

static void names_have_their_codes(void **state)
{
    (void)state;
    unsigned seen = 0;
    for (unsigned i = 0; i < assay_machine_event_row_count; i++) {
        const struct machine_event_row *r = &assay_machine_event_rows[i];
        if (r->space != MACHINE_EVENT_KNM && r->space != MACHINE_EVENT_PERF)
            continue;
        if (code_of(r->name, r->space) != r->code)
            fail_msg("%s is not %llx", r->name, (unsigned long long)r->code);
        seen++;
    }
    assert_true(seen > 100);
}

static void requests_and_responses_have_their_bits(void **state)
{
    (void)state;
    char text[160];
    struct assay_event_code c;
    for (unsigned i = 0; i < assay_machine_event_row_count; i++) {
        const struct machine_event_row *r = &assay_machine_event_rows[i];
        if (r->space != MACHINE_EVENT_REQUEST && r->space != MACHINE_EVENT_RESPONSE)
            continue;
        snprintf(text, sizeof text, "OFFCORE_RESPONSE_0:%s", r->name);
        encode(text, MACHINE_EVENT_KNM, &c);
        uint64_t bits = r->space == MACHINE_EVENT_REQUEST ? 0xffff : ~UINT64_C(0xffff);
        assert_int_equal(c.code[1] & bits, r->code);
    }
}

static void what_is_not_modelled_names_what_is(void **state)
{
    (void)state;
    struct assay_machine_event v;
    for (unsigned i = 0; i < assay_machine_event_row_count; i++) {
        const struct machine_event_row *r = &assay_machine_event_rows[i];
        if (r->quantities)
            continue;
        assert_true(*r->note);
        uint64_t code = code_of(r->nearest, r->space);
        int ret = r->space == MACHINE_EVENT_PERF ? assay_machine_event_perf((uint32_t)(code >> 32), (uint32_t)code, &v)
                                                 : assay_machine_event_core(code, 0, &v);
        if (ret != ASSAY_OK)
            fail_msg("%s: %s is not modelled either", r->name, r->nearest);
    }
}

static void check_row(uint32_t pmu, uint32_t event, uint32_t umask)
{
    char text[300];
    struct assay_machine_event v;
    const struct assay_event_row *e = &table.events[event];
    snprintf(text, sizeof text, "%s%s%s", assay_event_str(&table, e->name), umask == ASSAY_EVENT_NONE ? "" : ":",
             umask == ASSAY_EVENT_NONE ? "" : assay_event_str(&table, table.umasks[umask].name));
    unsigned space = table.pmus[pmu].scheme == ASSAY_EVENT_SOFTWARE ? MACHINE_EVENT_PERF : MACHINE_EVENT_KNM;
    uint64_t code = code_of(text, space);
    if (space == MACHINE_EVENT_PERF)
        assay_machine_event_perf((uint32_t)(code >> 32), (uint32_t)code, &v);
    else
        assay_machine_event_core(code, 0, &v);
    if (!v.name && (space == MACHINE_EVENT_KNM || code >> 32 != 1)) /* 1: events of the kernel */
        fail_msg("%s (%llx) has no row", text, (unsigned long long)code);
}

static void every_event_has_a_row(void **state)
{
    (void)state;
    static const char *const pmus[] = {"knm", "perf"};
    for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
        const struct assay_event_pmu *p = &table.pmus[pmu_of(pmus[i])];
        for (uint32_t event = p->first_event; event < p->first_event + p->events; event++) {
            const struct assay_event_row *e = &table.events[event];
            if (e->flags & ASSAY_EVENT_OFFCORE || strstr(assay_event_str(&table, e->name), "HW_CACHE_"))
                continue; /* two groups of umasks: what they give together has rows */
            if (!e->umasks)
                check_row(pmu_of(pmus[i]), event, ASSAY_EVENT_NONE);
            for (uint32_t u = e->first_umask; u < e->first_umask + e->umasks; u++)
                check_row(pmu_of(pmus[i]), event, u);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_their_codes),
        cmocka_unit_test(requests_and_responses_have_their_bits),
        cmocka_unit_test(what_is_not_modelled_names_what_is),
        cmocka_unit_test(every_event_has_a_row),
    };
    assay_event_builtin(&table);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
