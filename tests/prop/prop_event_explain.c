/* SPDX-License-Identifier: MIT */
/* Encoding, explaining and encoding again gives the same registers: every event of every built-in PMU, alone, with every
 * umask and every pair of umasks, those of loaded files, and with random sets of umasks and modifiers, from a fixed
 * seed. */
#include <assay/event.h>
#ifdef ASSAY_HAVE_JANSSON
#include <assay/event_json.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct assay_event_table t;
static uint64_t seed;
static unsigned encoded, answers;

/* xorshift64* */
static unsigned below(unsigned n)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (unsigned)((seed * UINT64_C(2685821657736338717) >> 33) % n);
}

static const char *str(uint32_t offset) { return assay_event_str(&t, offset); }

struct check {
    const char *text; /* what was encoded first */
    struct assay_event_code code;
    bool perf; /* privileges are not in the codes */
    unsigned calls, named, itself; /* answers, those with names, those that are the event first encoded */
};

static bool same_codes(const struct assay_event_code *a, const struct assay_event_code *b)
{
    return a->codes == b->codes && a->code[0] == b->code[0] && (a->codes < 2 || a->code[1] == b->code[1]) &&
           a->extra_msr == b->extra_msr;
}

static bool check_answer(void *ctx, const struct assay_event_code *found)
{
    struct check *k = ctx;
    char name[1000];
    struct assay_out o;
    struct assay_event_code again;
    struct assay_event_error e = {0};
    assay_out_init(&o, name, sizeof name - 1, NULL, NULL);
    assay_event_name(&t, found, &o);
    name[o.len] = '\0';
    if (!same_codes(found, &k->code))
        fail_msg("%s: the answer %s has other codes, %#llx %#llx", k->text, name, (unsigned long long)found->code[0],
                 (unsigned long long)found->code[1]);
    if (assay_event_encode(&t, name, o.len, ASSAY_EVENT_REGISTERS, 3, ASSAY_EVENT_NONE, &again, &e) != ASSAY_OK)
        fail_msg("%s: %s is refused, reason %u at %u", k->text, name, e.reason, e.column);
    if (!same_codes(&again, &k->code))
        fail_msg("%s: %s is %#llx %#llx", k->text, name, (unsigned long long)again.code[0],
                 (unsigned long long)again.code[1]);
    if (again.counters != found->counters)
        fail_msg("%s: %s has other counters", k->text, name);
    k->calls++;
    k->named += !found->raw;
    k->itself += found->event == k->code.event;
    answers++;
    return true;
}

/* Both forms of the codes. Returns whether the text is an event at all. */
static bool round_trip(const char *text, bool raw)
{
    struct check k = {.text = text};
    if (assay_event_encode(&t, text, strlen(text), ASSAY_EVENT_REGISTERS, 3, ASSAY_EVENT_NONE, &k.code, NULL) !=
        ASSAY_OK)
        return false;
    int n = assay_event_explain(&t, k.code.pmu, k.code.code, k.code.codes, check_answer, &k);
    encoded++;
    if (n < 1 || (unsigned)n != k.calls || (!raw && (k.named == 0 || k.itself != 1)))
        fail_msg("%s: %d answers, %u of them with names, %u the event itself", text, n, k.named, k.itself);
    if (t.pmus[k.code.pmu].scheme == ASSAY_EVENT_SOFTWARE || t.events[k.code.event].flags & ASSAY_EVENT_NO_KERNEL)
        return true;
    struct assay_event_perf p;
    uint64_t config[2];
    assay_event_to_perf(&t, &k.code, &p);
    config[0] = p.config;
    config[1] = p.config1;
    if (!p.exclude_user && !p.exclude_kernel &&
        assay_event_explain(&t, k.code.pmu, config, k.code.codes > 1 && k.code.extra_msr ? 2 : 1, check_answer, &k) < 1)
        fail_msg("%s: nothing has perf's config %#llx", text, (unsigned long long)p.config);
    return true;
}

static void try_modifiers(char *text, size_t n, size_t room, const struct assay_event_row *e, bool raw)
{
    round_trip(text, raw);
    for (unsigned m = ASSAY_EVENT_MOD_U; m <= ASSAY_EVENT_MOD_THR; m++) {
        if (!(e->modifiers >> m & 1))
            continue;
        const char *name = assay_event_modifier_name(m);
        snprintf(text + n, room - n, assay_event_modifier_boolean(m) ? ":%s" : ":%s=13", name);
        round_trip(text, raw);
        if (m == ASSAY_EVENT_MOD_E || m == ASSAY_EVENT_MOD_I) {
            snprintf(text + n, room - n, ":%s:c=255:u", name);
            round_trip(text, raw);
        }
    }
    text[n] = '\0';
}

static void every_pair(uint32_t pmu, uint32_t event)
{
    const struct assay_event_row *e = &t.events[event];
    char text[300];
    size_t n = (size_t)snprintf(text, sizeof text, "%s::%s", str(t.pmus[pmu].name), str(e->name));
    try_modifiers(text, n, sizeof text, e, false);
    for (uint32_t a = 0; a < e->umasks; a++) {
        const char *one = str(t.umasks[e->first_umask + a].name);
        size_t m = n + (size_t)snprintf(text + n, sizeof text - n, ":%s", one);
        try_modifiers(text, m, sizeof text, e, false);
        for (uint32_t b = a + 1; b < e->umasks; b++) {
            snprintf(text + m, sizeof text - m, ":%s", str(t.umasks[e->first_umask + b].name));
            round_trip(text, false);
        }
    }
}

static void every_umask_and_pair_survives(void **state)
{
    (void)state;
    encoded = answers = 0;
    for (uint32_t p = 0; p < t.pmu_count; p++)
        for (uint32_t e = t.pmus[p].first_event; e < t.pmus[p].first_event + t.pmus[p].events; e++)
            every_pair(p, e);
    assert_in_range(encoded, 5000, 1000000);
    assert_true(answers >= encoded);
}

#ifdef ASSAY_HAVE_JANSSON
/* The forms of Intel's files. */
static void loaded_events_survive(void **state)
{
    (void)state;
    static const char *const folders[] = {"events", "events/linux", "events/odd"};
    struct assay_event_table builtin = t;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[4096];
        struct assay_event_json *j;
        const char *data = getenv("ASSAY_DATA");
        snprintf(path, sizeof path, "%s/%s", data ? data : "tests/data", folders[i]);
        assert_int_equal(assay_event_json_load(path, &builtin, &j, NULL), ASSAY_OK);
        t = *assay_event_json_table(j);
        encoded = 0;
        for (uint32_t p = assay_event_json_first_pmu(j); p < t.pmu_count; p++)
            for (uint32_t e = t.pmus[p].first_event; e < t.pmus[p].first_event + t.pmus[p].events; e++)
                every_pair(p, e);
        /* each alone, with u, with k */
        assert_true(encoded >= 3 * assay_event_json_sums(j)->events);
        t = builtin;
        assay_event_json_free(j);
    }
}
#endif

static void random_event(char *text, size_t room, bool *raw)
{
    const struct assay_event_pmu *p = &t.pmus[below(t.pmu_count)];
    const struct assay_event_row *e = &t.events[p->first_event + below(p->events)];
    size_t n = (size_t)snprintf(text, room, "%s::%s", str(p->name), str(e->name));
    *raw = e->raw_bits && below(4) == 0;
    if (*raw)
        n += (size_t)snprintf(text + n, room - n, ":0x%llx",
                              ((unsigned long long)below(1u << 31) << 16 | below(65536)) &
                                  ((1ull << (e->raw_bits - 1) << 1) - 1));
    for (unsigned i = below(7); i > 0 && !*raw && e->umasks; i--)
        n += (size_t)snprintf(text + n, room - n, ":%s", str(t.umasks[e->first_umask + below(e->umasks)].name));
    for (unsigned i = below(4); i > 0; i--) {
        enum assay_event_modifier m = (enum assay_event_modifier)below(ASSAY_EVENT_MOD_THR + 1);
        if (e->modifiers >> m & 1)
            n += (size_t)snprintf(text + n, room - n, ":%s=%u", assay_event_modifier_name(m),
                                  m == ASSAY_EVENT_MOD_C     ? below(256)
                                  : m == ASSAY_EVENT_MOD_THR ? below(16)
                                                             : 1);
    }
}

static void random_sets_survive(void **state)
{
    (void)state;
    char text[600];
    bool raw;
    unsigned good = 0;
    seed = 1;
    for (unsigned i = 0; i < 60000; i++) {
        random_event(text, sizeof text, &raw);
        good += round_trip(text, raw);
    }
    assert_in_range(good, 10000, 60000);
}

static bool has_umask(void *ctx, const struct assay_event_code *c)
{
    uint32_t *umask = ctx;
    for (uint32_t i = 0; i < c->umasks; i++)
        if (c->umask[i] == *umask)
            *umask = ASSAY_EVENT_NONE;
    return true;
}

/* Replay metrics are in no ESCR; their two registers tell them, and so does perf's config as Linux has it. */
static void replay_metrics_survive(void **state)
{
    (void)state;
    unsigned metrics = 0;
    for (uint32_t i = 0; i < t.metric_count; i++) {
        const struct assay_event_metric *m = &t.metrics[i];
        if (m->umask == ASSAY_EVENT_NONE)
            continue;
        uint32_t pmu = 0;
        while (m->event < t.pmus[pmu].first_event || m->event >= t.pmus[pmu].first_event + t.pmus[pmu].events)
            pmu++;
        uint64_t codes[4] = {0x1200020f, 0x3b000, m->pebs_enable, m->matrix_vert};
        uint64_t perf = UINT64_C(37) << 57 | UINT64_C(1) << 41 | 0x3b000 | (t.umasks[m->umask].value - 1);
        uint32_t sought = m->umask;
        assert_int_equal(assay_event_explain(&t, pmu, codes, 4, has_umask, &sought), 1);
        assert_int_equal(sought, ASSAY_EVENT_NONE);
        sought = m->umask;
        assert_int_equal(assay_event_explain(&t, pmu, &perf, 1, has_umask, &sought), 1);
        assert_int_equal(sought, ASSAY_EVENT_NONE);
        metrics++;
    }
    assert_int_equal(metrics, 18); /* nine on each of two PMUs */
}

/* Any value whatever: an answer has that value, but for what is no part of an event. */
static bool check_value(void *ctx, const struct assay_event_code *c)
{
    const uint64_t part = ~UINT64_C(0x2f00580000);
    assert_true((c->code[0] & part) == (*(uint64_t *)ctx & part));
    answers++;
    return true;
}

static void random_values_are_told_as_they_are(void **state)
{
    (void)state;
    uint32_t knm = assay_event_find_pmu(&t, "knm", 3);
    answers = 0;
    for (unsigned i = 0; i < 100000; i++) {
        const struct assay_event_row *e = &t.events[t.pmus[knm].first_event + below(t.pmus[knm].events)];
        uint64_t codes[2] = {e->config | below(1u << 12) << 8 | (uint64_t)below(4) << 16 | 1u << 22, below(1u << 31)};
        codes[0] ^= below(3) ? 0 : (uint64_t)below(65536) << 24;
        codes[1] = below(2) ? codes[1] << 7 | below(128) : 0;
        assay_event_explain(&t, knm, codes, e->extra_msr ? 2 : 1, check_value, codes);
    }
    assert_in_range(answers, 50000, 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_umask_and_pair_survives),
#ifdef ASSAY_HAVE_JANSSON
        cmocka_unit_test(loaded_events_survive),
#endif
        cmocka_unit_test(random_sets_survive),
        cmocka_unit_test(replay_metrics_survive),
        cmocka_unit_test(random_values_are_told_as_they_are),
    };
    assay_event_builtin(&t);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
