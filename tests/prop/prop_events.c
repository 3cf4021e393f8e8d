/* SPDX-License-Identifier: MIT */
/* Every event of every PMU, with every umask, every pair of umasks and every modifier, in every mode: an event whose own name
 * is the same event again, or an error that names the token; in any case and with either delimiter the same. */
#include "event_check.h"

#ifdef ASSAY_HAVE_JANSSON
#include <assay/event_json.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static unsigned events, errors;

static void check(const struct assay_event_table *t, const char *text, unsigned mode)
{
    bool ok;
    const char *complaint = event_check(t, text, strlen(text), mode, 3, ASSAY_EVENT_NONE, true, &ok);
    if (complaint)
        fail_msg("%s in mode %#x: %s", text, mode, complaint);
    events += ok;
    errors += !ok;
}

static const char *str(const struct assay_event_table *t, uint32_t offset) { return assay_event_str(t, offset); }

/* "pmu::event" and up to two umasks, rows or NONE. */
static size_t write_event(const struct assay_event_table *t, uint32_t pmu, uint32_t event, uint32_t a, uint32_t b,
                          char *text, size_t size)
{
    const char *none = "";
    return (size_t)snprintf(
        text, size, "%s::%s%s%s%s%s", str(t, t->pmus[pmu].name), str(t, t->events[event].name),
        a == ASSAY_EVENT_NONE ? none : ":", a == ASSAY_EVENT_NONE ? none : str(t, t->umasks[a].name),
        b == ASSAY_EVENT_NONE ? none : ":", b == ASSAY_EVENT_NONE ? none : str(t, t->umasks[b].name));
}

static const char *const modifiers[] = {
    "",    ":u",     ":k",         ":u:k",         ":u=0",        ":c=1",     ":c=255:i",  ":e:c=1",
    ":e",  ":i",     ":t",         ":t:e:i:c=7",   ":cmpl",       ":thr=1",   ":thr=15:e", ":thr=15:cmpl:k",
    ":h",  ":h=0:u", ":precise=1", ":precise=3:u", ":period=100", ":freq=50", ":excl",     ":pinned",
    ":mg", ":mh=0",  ":mg:mh",     ":cpu=0",       ":0x1",        ":0x10001",
};

static void check_modifiers(const struct assay_event_table *t, uint32_t pmu, uint32_t event, uint32_t umask)
{
    char text[512];
    size_t n = write_event(t, pmu, event, umask, ASSAY_EVENT_NONE, text, sizeof text);
    for (size_t m = 0; m < sizeof modifiers / sizeof modifiers[0]; m++)
        for (size_t mode = 0; mode < EVENT_MODES; mode++) {
            snprintf(text + n, sizeof text - n, "%s", modifiers[m]);
            check(t, text, event_modes[mode]);
        }
}

static void check_pairs(const struct assay_event_table *t, uint32_t pmu, uint32_t event, uint32_t umask)
{
    const struct assay_event_row *e = &t->events[event];
    char text[512];
    for (uint32_t other = e->first_umask; other < e->first_umask + e->umasks; other++) {
        write_event(t, pmu, event, umask, other, text, sizeof text);
        check(t, text, ASSAY_EVENT_STRICT);
        check(t, text, ASSAY_EVENT_LIBPFM4);
    }
}

static void every_event_umask_and_modifier(void **state)
{
    (void)state;
    struct assay_event_table t;
    assay_event_builtin(&t);
    events = errors = 0;
    for (uint32_t pmu = 0; pmu < t.pmu_count; pmu++)
        for (uint32_t i = 0; i < t.pmus[pmu].events; i++) {
            uint32_t event = t.pmus[pmu].first_event + i;
            const struct assay_event_row *e = &t.events[event];
            check_modifiers(&t, pmu, event, ASSAY_EVENT_NONE);
            for (uint32_t u = e->first_umask; u < e->first_umask + e->umasks; u++) {
                check_modifiers(&t, pmu, event, u);
                check_pairs(&t, pmu, event, u);
            }
        }
    print_message("%u events, %u errors\n", events, errors);
    assert_true(events > 20000 && errors > 20000);
}

/* Another spelling of a string: letters of the other case, dots for colons behind the event. */
static void respell(const char *from, char *to)
{
    const char *event = strstr(from, "::") + 2;
    for (size_t i = 0;; i++) {
        char ch = from[i];
        bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
        to[i] = letter ? (char)(ch ^ 0x20) : ch == ':' && from + i >= event ? '.' : ch;
        if (!ch)
            return;
    }
}

static void spelling_does_not_matter(void **state)
{
    (void)state;
    struct assay_event_table t;
    assay_event_builtin(&t);
    for (uint32_t pmu = 0; pmu < t.pmu_count; pmu++)
        for (uint32_t i = 0; i < t.pmus[pmu].events; i++) {
            uint32_t event = t.pmus[pmu].first_event + i;
            const struct assay_event_row *e = &t.events[event];
            for (uint32_t u = e->first_umask; u < e->first_umask + e->umasks; u++) {
                char text[512], other[512];
                struct assay_event_code a, b;
                size_t n = write_event(&t, pmu, event, u, ASSAY_EVENT_NONE, text, sizeof text - 2);
                strcpy(text + n, ":u");
                respell(text, other);
                int status = assay_event_encode(&t, text, n + 2, ASSAY_EVENT_REGISTERS, 3, ASSAY_EVENT_NONE, &a, NULL);
                int status2 =
                    assay_event_encode(&t, other, n + 2, ASSAY_EVENT_REGISTERS, 3, ASSAY_EVENT_NONE, &b, NULL);
                if (status != status2 || (status == ASSAY_OK && !event_same(&a, &b)))
                    fail_msg("%s and %s", text, other);
            }
        }
}

#ifdef ASSAY_HAVE_JANSSON
/* Names with dots, modifiers that are part of the event. */
static void every_event_of_loaded_files(void **state)
{
    (void)state;
    const char *data = getenv("ASSAY_DATA");
    char path[4096];
    struct assay_event_table builtin;
    struct assay_event_json *json = NULL;
    assay_event_builtin(&builtin);
    snprintf(path, sizeof path, "%s/events", data ? data : "tests/data");
    assert_int_equal(assay_event_json_load(path, &builtin, &json, NULL), ASSAY_OK);
    const struct assay_event_table *t = assay_event_json_table(json);
    events = errors = 0;
    for (uint32_t pmu = 0; pmu < t->pmu_count; pmu++)
        for (uint32_t i = 0; i < t->pmus[pmu].events && t->pmus[pmu].flat; i++)
            check_modifiers(t, pmu, t->pmus[pmu].first_event + i, ASSAY_EVENT_NONE);
    print_message("%u events, %u errors\n", events, errors);
    assert_true(events > 200);
    assay_event_json_free(json);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_umask_and_modifier),
        cmocka_unit_test(spelling_does_not_matter),
#ifdef ASSAY_HAVE_JANSSON
        cmocka_unit_test(every_event_of_loaded_files),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
