/* SPDX-License-Identifier: MIT */
/* Event files: what each form of them becomes (the fixtures of tests/data/events show which file has which), and what is
 * said of damaged ones. Values are worked out by hand from the SDM's register layouts and Linux's conventions. */
#include <assay/event_json.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <assay/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALL                                                                                                            \
    (1u << ASSAY_EVENT_MOD_U | 1u << ASSAY_EVENT_MOD_K | 1u << ASSAY_EVENT_MOD_E | 1u << ASSAY_EVENT_MOD_I |           \
     1u << ASSAY_EVENT_MOD_C)
#define UK       (1u << ASSAY_EVENT_MOD_U | 1u << ASSAY_EVENT_MOD_K)
#define T        (1u << ASSAY_EVENT_MOD_T)
#define ICMASK   (ALL & ~(1u << ASSAY_EVENT_MOD_I) & ~(1u << ASSAY_EVENT_MOD_C))
#define NOCMASK  (ALL & ~(1u << ASSAY_EVENT_MOD_C))
#define NOEDGE   (ALL & ~(1u << ASSAY_EVENT_MOD_E))
#define FIXED(n) (1ull << (32 + (n)))
#define ANY64    UINT64_MAX

static const char *data_path(const char *name)
{
    static char path[4096];
    const char *data = getenv("ASSAY_DATA");
    snprintf(path, sizeof path, "%s/%s", data ? data : "tests/data", name);
    return path;
}

static struct assay_event_json *load(const char *name)
{
    struct assay_event_json *j;
    struct assay_error e = {0};
    int rc = assay_event_json_load(data_path(name), NULL, &j, &e);
    if (rc != ASSAY_OK)
        fail_msg("%s: %s", name, e.text);
    return j;
}

static uint32_t find_pmu(const struct assay_event_table *t, const char *name)
{
    uint32_t pmu = assay_event_find_pmu(t, name, strlen(name));
    if (pmu == ASSAY_EVENT_NONE)
        fail_msg("no PMU %s", name);
    return pmu;
}

static uint32_t find_event(const struct assay_event_table *t, const char *pmu, const char *name)
{
    uint32_t event = assay_event_find(t, find_pmu(t, pmu), name, strlen(name));
    if (event == ASSAY_EVENT_NONE)
        fail_msg("no event %s::%s", pmu, name);
    return event;
}

/* ---- values ---- */

static const struct vector {
    const char *pmu, *event;
    uint64_t config;
    uint32_t msr, msr_alt;
    uint64_t extra;
    uint16_t config_alt;
    uint64_t counters;
    uint32_t modifiers, flags;
} vectors[] = {
    /* Nehalem numbers fixed counters from 1, and gives none of them a umask. */
    {"nhm-ep", "INST_RETIRED.ANY", 0xc0, 0, 0, 0, 0, FIXED(0), UK | T, ASSAY_EVENT_FIXED_ONLY},
    {"nhm-ep", "CPU_CLK_UNHALTED.THREAD", 0x3c, 0, 0, 0, 0, FIXED(1), UK | T, ASSAY_EVENT_FIXED_ONLY},
    {"nhm-ep", "CPU_CLK_UNHALTED.REF", 0x300, 0, 0, 0, 0, FIXED(2), UK | T, ASSAY_EVENT_FIXED_ONLY},
    {"nhm-ep", "ARITH.DIV", 0x1840114, 0, 0, 0, 0, 15, UK | T, 0},
    {"nhm-ep", "MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_0", 0x100b, 0x3f6, 0, 0, 0, 8, ALL | T, ASSAY_EVENT_PEBS},
    {"nhm-ep", "MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_1024", 0x100b, 0x3f6, 0, 0x400, 0, 8, ALL | T,
     ASSAY_EVENT_PEBS},
    {"nhm-ep", "OFFCORE_RESPONSE_0.ANY_RFO.REMOTE_DRAM", 0x1b7, 0x1a6, 0, 0x2022, 0, 4, ALL | T, 0},
    /* Bonnell's code for what is on fixed counters is 0xa. */
    {"bnl", "INST_RETIRED.ANY", 0xc0, 0, 0, 0, 0, FIXED(0), UK | T, ASSAY_EVENT_FIXED_ONLY},
    {"bnl", "CPU_CLK_UNHALTED.CORE", 0x3c, 0, 0, 0, 0, FIXED(1), UK | T, ASSAY_EVENT_FIXED_ONLY},
    {"bnl", "CPU_CLK_UNHALTED.REF", 0x300, 0, 0, 0, 0, FIXED(2), UK | T, ASSAY_EVENT_FIXED_ONLY},
    {"bnl", "INST_RETIRED.ANY_P", 0xc0, 0, 0, 0, 0, 3, ALL | T, ASSAY_EVENT_PEBS},
    {"bnl", "REISSUE.ANY.AR", 0xff03, 0, 0, 0, 0, 3, ALL | T, 0},
    {"snb", "CPU_CLK_UNHALTED.THREAD_ANY", 0x20003c, 0, 0, 0, 0, FIXED(1), UK, ASSAY_EVENT_FIXED_ONLY},
    {"snb", "INT_MISC.RECOVERY_CYCLES_ANY", 0x120030d, 0, 0, 0, 0, 15, NOCMASK, 0},
    {"snb", "INT_MISC.RECOVERY_STALLS_COUNT", 0x104030d, 0, 0, 0, 0, 15, (NOCMASK & NOEDGE) | T, 0},
    {"snb", "OFFCORE_RESPONSE.ALL_DATA_RD.LLC_HIT.ANY_RESPONSE", 0x1b7, 0x1a6, 0x1a7, 0x3f803c0091, 0x1bb, 15, ALL | T,
     0},
    {"hsw", "OFFCORE_RESPONSE", 0x1b7, 0, 0, 0, 0, 15, ALL | T, 0},
    /* Knights Landing: the umask says which of the two registers. */
    {"knl", "OFFCORE_RESPONSE.ANY_REQUEST.DDR_NEAR", 0x1b7, 0x1a6, 0x1a7, 0x80808000, 0x2b7, 3, ALL | T, 0},
    {"knl", "OFFCORE_RESPONSE.ANY_REQUEST.OUTSTANDING", 0x1b7, 0x1a6, 0, 0x4000008000, 0, 3, ALL | T, 0},
    {"knl", "OFFCORE_RESPONSE.STREAMING_STORES.ANY_RESPONSE", 0x2b7, 0x1a7, 0, 0x14800, 0, 3, ALL | T, 0},
    {"knl", "PAGE_WALKS.D_SIDE_WALKS", 0x40105, 0, 0, 0, 0, 3, NOEDGE | T, 0},
    {"skx", "INST_RETIRED.ANY", 0xc0, 0, 0, 0, 0, FIXED(0), UK | T, ASSAY_EVENT_FIXED_ONLY},
    {"skx", "CPU_CLK_UNHALTED.REF_TSC", 0x300, 0, 0, 0, 0, FIXED(2), UK | T, ASSAY_EVENT_FIXED_ONLY},
    {"skx", "INST_RETIRED.PREC_DIST", 0x1c0, 0, 0, 0, 0, 2, ALL | T, ASSAY_EVENT_PEBS},
    {"skx", "IDQ_UOPS_NOT_DELIVERED.CYCLES_FE_WAS_OK", 0x180019c, 0, 0, 0, 0, 15, ICMASK | T, 0},
    {"skx", "SQ_MISC.SPLIT_LOCK", 0x10f4, 0, 0, 0, 0, 15, ALL | T, 0},
    {"skx", "FRONTEND_RETIRED.LATENCY_GE_2_BUBBLES_GE_2", 0x1c6, 0x3f7, 0, 0x200206, 0, 15, ALL | T, ASSAY_EVENT_PEBS},
    {"skx", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128", 0x1cd, 0x3f6, 0, 0x80, 0, 15, ALL | T, ASSAY_EVENT_PEBS},
    {"skx", "OCR.PF_L2_RFO.L3_MISS.REMOTE_HITM", 0x1b7, 0x1a6, 0x1a7, 0x103fc00020, 0x1bb, 15, ALL | T,
     ASSAY_EVENT_DEPRECATED},
    /* Without AnyThread in the file there is no such bit. */
    {"icx", "TOPDOWN.SLOTS", 0x400, 0, 0, 0, 0, FIXED(3), UK, ASSAY_EVENT_FIXED_ONLY},
    {"icx", "INST_RETIRED.PREC_DIST", 0x100, 0, 0, 0, 0, FIXED(0), UK, ASSAY_EVENT_FIXED_ONLY | ASSAY_EVENT_PEBS},
    {"icx", "INT_MISC.CLEARS_COUNT", 0x104010d, 0, 0, 0, 0, 0xff, NOCMASK &NOEDGE, 0},
    {"adl-core", "OCR.DEMAND_DATA_RD.L3_HIT.SNOOP_HITM", 0x12a, 0x1a6, 0x1a7, 0x10003c0001, 0x12b, 15, ALL, 0},
    {"adl-core", "INT_MISC.UNKNOWN_BRANCH_CYCLES", 0x40ad, 0x3f7, 0, 7, 0, 0xff, ALL, 0},
    {"adl-core", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128", 0x1cd, 0x3f6, 0, 0x80, 0, 0xfe, ALL, ASSAY_EVENT_PEBS},
    {"adl-atom", "OCR.DEMAND_DATA_RD.L3_HIT", 0x1b7, 0x1a6, 0x1a7, 0x3f803c0001, 0x2b7, 0x3f, ALL, 0},
    {"adl-atom", "LD_BLOCKS.4K_ALIAS", 0x403, 0, 0, 0, 0, 0x3f, ALL, ASSAY_EVENT_PEBS | ASSAY_EVENT_DEPRECATED},
    {"lnl-core", "FIXTURE.SECOND_UMASK", 0x2a00000010d4, 0, 0, 0, 0, 0x3ff, ALL, 0},
    {"lnl-core", "FIXTURE.EQUAL", 0x100200030d, 0, 0, 0, 0, 0x3ff, NOCMASK, 0},
    {"cwf", "TOPDOWN_RETIRING.ALL", 0x700, 0, 0, 0, 0, FIXED(6), UK, ASSAY_EVENT_FIXED_ONLY | ASSAY_EVENT_PEBS},
    {"nvl-core", "FIXTURE.OFF_MODULE", 0x12a, 0x3e0, 0x3e1, 0x4000000000000001, 0x22a, 0xff, ALL, 0},
    {"nvl-core", "FIXTURE.OFF_MODULE_2", 0x42a, 0x3e2, 0x3e3, 0x4000000000000002, 0x82a, 0xff, ALL, 0},
    {"cwf", "FIXTURE.SNOOP", 0x127, 0x1328, 0x1329, 1, 0x227, 0xff, ALL, 0},
    {"nvl-core", "LD_BLOCKS.BANK_CONFLICT", 0x4003, 0, 0, 0, 0, 0xff, ALL, 0},
};

static void check_vector(const struct assay_event_table *t, const struct vector *v)
{
    const struct assay_event_row *r = &t->events[find_event(t, v->pmu, v->event)];
    print_message("%s::%s\n", v->pmu, v->event);
    assert_int_equal(r->config, v->config);
    assert_int_equal(r->extra_msr, v->msr);
    assert_int_equal(r->extra_msr_alt, v->msr_alt);
    assert_int_equal(r->extra, v->extra);
    assert_int_equal(r->config_alt, v->config_alt);
    assert_int_equal(r->counters, v->counters);
    assert_int_equal(r->modifiers, v->modifiers);
    assert_int_equal(r->flags, v->flags);
    assert_int_equal(r->extra & ~r->extra_ok, 0);
    assert_int_equal(r->umasks, 0);
    assert_true(r->desc != 0);
}

static void each_form_becomes_registers(void **state)
{
    (void)state;
    struct assay_event_json *j = load("events");
    const struct assay_event_table *t = assay_event_json_table(j);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        check_vector(t, &vectors[i]);
    const struct assay_event_json_sums *sums = assay_event_json_sums(j);
    for (size_t i = 0; assay_event_json_warning(j, i); i++)
        print_error("%s\n", assay_event_json_warning(j, i));
    assert_int_equal(sums->warnings, 0);
    assert_int_equal(sums->files, 13);
    assert_int_equal(sums->files_other, 6);
    assert_int_equal(sums->events, t->event_count);
    assert_int_equal(sums->unknown_keys, 0);
    assert_int_equal(sums->bad + sums->duplicates + sums->other + sums->files_missing, 0);
    assay_event_json_free(j);
}

static void pmus_have_names_models_and_counters(void **state)
{
    (void)state;
    static const struct {
        const char *name, *kernel;
        unsigned generic, fixed, registers, precise;
    } pmus[] = {
        {"nhm-ep", "", 4, 3, 2, 0},
        {"bnl", "", 2, 3, 1, 0},
        {"knl", "", 2, 3, 2, 1},
        {"skx", "", 4, 3, 2, 0},
        {"icx", "", 8, 4, 2, 0},
        {"cwf", "", 8, 7, 2, 0},
        {"adl-core", "cpu_core", 8, 1, 2, 0},
        {"adl-atom", "cpu_atom", 6, 2, 2, 0x3f},
        {"lnl-core", "cpu_core", 10, 1, 2, 0},
    };
    struct assay_event_json *j = load("events");
    const struct assay_event_table *t = assay_event_json_table(j);
    for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
        const struct assay_event_pmu *p = &t->pmus[find_pmu(t, pmus[i].name)];
        assert_string_equal(assay_event_str(t, p->kernel_pmu), pmus[i].kernel);
        assert_int_equal(p->generic, pmus[i].generic);
        assert_int_equal(p->fixed, pmus[i].fixed);
        assert_int_equal(p->registers, pmus[i].registers);
        assert_int_equal(p->precise, pmus[i].precise);
        assert_int_equal(p->flat, 1);
        assert_int_equal(p->scheme, ASSAY_EVENT_CORE);
    }
    assert_string_equal(assay_event_str(t, t->pmus[find_pmu(t, "nhm-ep")].desc), "Fixture: Nehalem-EP core");
    static const struct {
        unsigned family, model, stepping;
        const char *pmu;
    } cpus[] = {
        {6, 0x55, 4, "skx"},  {6, 0x55, 0, "skx"},      {6, 0x55, 5, "clx"},      {6, 0x55, 7, "clx"},
        {6, 0x55, 15, "clx"}, {6, 0x97, 2, "adl-core"}, {6, 0xbe, 0, "adl-atom"}, {6, 0x85, 0, "knl"},
        {6, 0x57, 1, "knl"},  {18, 3, 0, "nvl-core"},   {6, 0x6a, 6, "icx"},      {6, 0x6c, 1, "icx"},
    };
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        assert_int_equal(assay_event_find_model(t, cpus[i].family, cpus[i].model, cpus[i].stepping),
                         find_pmu(t, cpus[i].pmu));
    assert_int_equal(assay_event_find_model(t, 6, 0xad, 0), ASSAY_EVENT_NONE);
    assay_event_json_free(j);
}

static void facts_are_kept(void **state)
{
    (void)state;
    struct assay_event_json *j = load("events");
    const struct assay_event_table *t = assay_event_json_table(j);
    const struct assay_event_facts *f =
        assay_event_json_facts(j, find_event(t, "adl-core", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128"));
    assert_int_equal(f->sample_after, 1000003);
    assert_int_equal(f->pebs_counters, 0xfe);
    assert_int_equal(f->pdist_counters, 1);
    assert_true(f->taken_alone);
    assert_true(f->data_address);
    assert_int_equal(f->pebs, 1);
    f = assay_event_json_facts(j, find_event(t, "adl-core", "INST_RETIRED.ANY"));
    assert_int_equal(f->pdist_counters, FIXED(0));
    assert_int_equal(f->long_desc, 0);
    f = assay_event_json_facts(j, find_event(t, "hsw", "OFFCORE_REQUESTS_OUTSTANDING.DEMAND_RFO"));
    assert_string_equal(assay_event_str(t, f->errata), "HSD62, HSD61, HSM63");
    assert_int_equal(f->counters_ht_off, 0xff);
    f = assay_event_json_facts(j, find_event(t, "hsw", "OFFCORE_RESPONSE"));
    assert_int_equal(f->errata, 0);
    f = assay_event_json_facts(j, find_event(t, "skx", "ITLB_MISSES.WALK_ACTIVE"));
    assert_string_equal(assay_event_str(t, f->long_desc), "Cycles in which at least one page walk for code runs");
    f = assay_event_json_facts(j, find_event(t, "skx", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128"));
    assert_int_equal(f->pebs, 2);
    assert_null(assay_event_json_facts(j, t->event_count));
    assay_event_json_free(j);
}

static void linux_folders_are_read(void **state)
{
    (void)state;
    struct assay_event_json *j = load("events/linux");
    const struct assay_event_table *t = assay_event_json_table(j);
    static const struct vector of_linux[] = {
        {"mixedlake-core", "OCR.COREWB_M.L3_HIT", 0x12a, 0x1a6, 0x1a7, 0x7e001e00008, 0x12b, 0x3ff, ALL, 0},
        {"mixedlake-core", "FIXTURE.WIDE_UMASK", 0x2a00000010d4, 0, 0, 0, 0, 0x3ff, ALL, 0},
        {"mixedlake-core", "INST_RETIRED.ANY", 0xc0, 0, 0, 0, 0, FIXED(0), UK, ASSAY_EVENT_FIXED_ONLY},
        {"mixedlake-atom", "OCR.DEMAND_DATA_RD.L3_HIT", 0x1b7, 0x1a6, 0x1a7, 0x3f803c0001, 0x2b7, 0x3f, ALL, 0},
        {"mixedlake-atom", "TOPDOWN_BAD_SPECULATION.ALL", 0x500, 0, 0, 0, 0, FIXED(4), UK, ASSAY_EVENT_FIXED_ONLY},
        /* files that say nothing of counters */
        {"plainlake", "CPU_CLK_UNHALTED.THREAD", 0x3c, 0, 0, 0, 0, FIXED(1), UK, ASSAY_EVENT_FIXED_ONLY},
        {"plainlake", "INST_RETIRED.ANY", 0xc0, 0, 0, 0, 0, FIXED(0), UK, ASSAY_EVENT_FIXED_ONLY},
        {"plainlake", "UOPS_EXECUTED.CYCLES_GE_1", 0x10001b1, 0, 0, 0, 0, 15, NOCMASK, 0},
        {"plainlake", "BR_INST_RETIRED.ALL_BRANCHES", 0xc4, 0, 0, 0, 0, 15, ALL, ASSAY_EVENT_PEBS},
    };
    for (size_t i = 0; i < sizeof of_linux / sizeof *of_linux; i++)
        check_vector(t, &of_linux[i]);
    assert_int_equal(assay_event_find_model(t, 6, 0x9a, 3), find_pmu(t, "mixedlake-core"));
    assert_int_equal(assay_event_find_model(t, 6, 0x5f, 1), find_pmu(t, "plainlake"));
    assert_int_equal(assay_event_find_model(t, 6, 0x8e, 10), find_pmu(t, "plainlake"));
    assert_int_equal(assay_event_json_sums(j)->other, 3);
    assert_int_equal(assay_event_json_sums(j)->files_other, 1);
    assert_null(assay_event_json_warning(j, 0));
    assay_event_json_free(j);
    j = load("events/linux/plainlake");
    find_pmu(assay_event_json_table(j), "plainlake");
    assay_event_json_free(j);
}

static void single_files_and_folders_of_one_cpu(void **state)
{
    (void)state;
    static const struct {
        const char *path, *pmu;
    } of[] = {
        {"events/SKX/events/skylakex_core.json", "skx"},
        {"events/SKX", "skx"},
        {"events/SKX/events/", "skx"},
        {"events/ADL/events/alderlake_goldencove_core.json", "adl-goldencove"},
        {"events/ADL", "adl-gracemont"},
        {"events/linux/plainlake/pipeline.json", "pipeline"},
        {"events/mapfile.csv", "adl-atom"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct assay_event_json *j = load(of[i].path);
        find_pmu(assay_event_json_table(j), of[i].pmu);
        assay_event_json_free(j);
    }
}

static void rows_follow_those_of_the_base(void **state)
{
    (void)state;
    struct assay_event_table base;
    struct assay_event_json *j;
    assay_event_builtin(&base);
    assert_int_equal(assay_event_json_load(data_path("events/KNL"), &base, &j, NULL), ASSAY_OK);
    const struct assay_event_table *t = assay_event_json_table(j);
    assert_int_equal(assay_event_json_first_pmu(j), base.pmu_count);
    assert_int_equal(t->pmu_count, base.pmu_count + 1);
    /* "knl" is built in. */
    uint32_t builtin = find_pmu(t, "knl"), loaded = find_pmu(t, "knl-json");
    assert_true(builtin < base.pmu_count);
    assert_int_equal(loaded, base.pmu_count);
    assert_null(assay_event_json_facts(j, base.event_count - 1));
    assert_non_null(assay_event_json_facts(j, base.event_count));
    for (uint32_t p = 0; p < base.pmu_count; p++)
        for (uint32_t i = 0; i < base.pmus[p].events; i++) {
            uint32_t e = base.pmus[p].first_event + i;
            const char *name = assay_event_str(&base, base.events[e].name);
            assert_string_equal(assay_event_str(t, t->events[e].name), name);
            assert_int_equal(assay_event_find(t, p, name, strlen(name)), e);
        }
    assert_int_not_equal(find_event(t, "knl-json", "recycleq.ld_block_st_forward"), ASSAY_EVENT_NONE);
    assay_event_json_free(j);
}

/* ---- what is wrong ---- */

struct outcome {
    int rc;
    char text[512]; /* of the error, or of the first warning */
    struct assay_event_json_sums sums;
};

static struct outcome parse_n(const char *text, size_t n)
{
    struct assay_event_json *j;
    struct assay_error e = {0};
    struct outcome o = {.rc = assay_event_json_parse("x.json", text, n, NULL, &j, &e)};
    if (o.rc < 0) {
        assert_null(j);
        assert_int_equal(e.code, o.rc);
        snprintf(o.text, sizeof o.text, "%s", e.text);
        return o;
    }
    o.sums = *assay_event_json_sums(j);
    snprintf(o.text, sizeof o.text, "%s", assay_event_json_warning(j, 0) ? assay_event_json_warning(j, 0) : "");
    assay_event_json_free(j);
    return o;
}

#define GOOD "{\"EventName\":\"A.B\",\"EventCode\":\"0x10\",\"Counter\":\"0,1\"}"

static void damaged_files_are_errors_with_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n; /* 0: up to the NUL */
        int rc;
        const char *says;
    } cases[] = {
        {"", 0, ASSAY_E_NOT_RECOGNISED, "x.json:1:1: the file is empty"},
        {"EventName", 0, ASSAY_E_NOT_RECOGNISED, "x.json:1:1: no event file: expected '{' or '['"},
        {"\n  7", 0, ASSAY_E_NOT_RECOGNISED, "x.json:2:3: no event file"},
        {"\x1f\x8b\x08", 0, ASSAY_E_NOT_RECOGNISED,
         "x.json:1:1: no event file: expected '{' or '[', this is a gzip file"},
        {"{\"Header\":{}}", 0, ASSAY_E_NOT_RECOGNISED, "x.json:1:1: no event file: an object without \"Events\""},
        {"{\"Events\":7}", 0, ASSAY_E_BAD_FORMAT, "x.json:1:11: expected '['"},
        {"{\"Events\" []}", 0, ASSAY_E_BAD_FORMAT, "x.json:1:11: expected ':'"},
        {"{Events:[]}", 0, ASSAY_E_BAD_FORMAT, "x.json:1:2: expected a key in quotes"},
        {"[\n" GOOD "\n" GOOD "]", 0, ASSAY_E_BAD_FORMAT, "x.json:3:1: expected ',' or ']'"},
        {"[" GOOD ",]", 0, ASSAY_E_BAD_FORMAT, "unexpected token near ']'"},
        {"[\n" GOOD, 0, ASSAY_E_TRUNCATED, "x.json:2:55: expected ',' or ']', but the file ends here"},
        {"[" GOOD "] x", 0, ASSAY_E_BAD_FORMAT, "x.json:1:58: expected the end of the file"},
        {"{\"Events\":[" GOOD "],\"Events\":[]}", 0, ASSAY_E_BAD_FORMAT, "\"Events\" a second time"},
        {"[\n\n  {\"EventName\": tru}]", 0, ASSAY_E_BAD_FORMAT, "x.json:3:19: invalid token near 'tru'"},
        {"[{\"EventName\":\"\xff\"}]", 0, ASSAY_E_BAD_FORMAT, "x.json:1:16: unable to decode byte 0xff"},
        {"[{\"EventName\":\"A\\u0000\"}]", 0, ASSAY_E_BAD_FORMAT, "\\u0000 is not allowed"},
        {"[{\"EventName\":\"A\0B\"}]", 21, ASSAY_E_BAD_FORMAT, "x.json:1:16: control character 0x0"},
        {"[\0]", 3, ASSAY_E_BAD_FORMAT, "x.json:1:2: "},
        {"[{\"EventName\":\"A\",\"EventCode\":1e999}]", 0, ASSAY_E_BAD_FORMAT, "real number overflow"},
        {"[{\"EventName\":\"A\",\"EventCode\":99999999999999999999}]", 0, ASSAY_E_BAD_FORMAT, "too big integer"},
        {"[]", 0, ASSAY_E_NOT_RECOGNISED, "no events of a core in it"},
        {"[7]", 0, ASSAY_E_NOT_RECOGNISED, "x.json:1:2: an element that is no object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = parse_n(cases[i].text, cases[i].n ? cases[i].n : strlen(cases[i].text));
        if (o.rc != cases[i].rc || !strstr(o.text, cases[i].says))
            fail_msg("case %zu: %d '%s', expected %d '%s'", i, o.rc, o.text, cases[i].rc, cases[i].says);
    }
}

static void bad_fields_leave_an_event_out(void **state)
{
    (void)state;
    static const struct {
        const char *element, *says;
    } cases[] = {
        {"{\"EventName\":\"X\",\"EventCode\":\"0x1ff\"}",
         "2:30: X: EventCode is '0x1ff', expected one to four numbers up to 0xff"},
        {"{\"EventName\":\"X\",\"EventCode\":\"0x10\",\"UMask\":\"q\"}", "2:45: X: UMask is 'q'"},
        {"{\"EventName\":\"X\",\"EventCode\":\"0x1,0x2,0x3,0x4,0x5\"}", "X: EventCode is '0x1,0x2,0x3,0x4,0x5'"},
        {"{\"EventName\":\"X\",\"EventCode\":\"\"}", "X: EventCode is ''"},
        {"{\"EventName\":\"X\",\"EventCode\":\"1 2\"}", "X: EventCode is '1 2'"},
        {"{\"EventName\":\"X\",\"EventCode\":\"-1\"}", "X: EventCode is '-1'"},
        {"{\"EventName\":\"X\",\"EventCode\":-1}", "X: EventCode is ''"},
        {"{\"EventName\":\"X\",\"EventCode\":[]}", "X: EventCode is ''"},
        {"{\"EventName\":\"X\",\"Invert\":\"2\"}", "X: Invert is '2', expected a number up to 0x1"},
        {"{\"EventName\":\"X\",\"CounterMask\":\"256\"}", "X: CounterMask is '256'"},
        {"{\"EventName\":\"X\",\"MSRValue\":\"0x10000000000000000\"}", "X: MSRValue is '0x10000000000000000'"},
        {"{\"EventName\":\"X\",\"EventCode\":\"1\",\"MSRValue\":\"0x10\"}", "2:45: X: a value without a register"},
        {"{\"EventName\":\"X\",\"EventCode\":\"1\",\"MSRIndex\":\"0x3f6\",\"MSRValue\":\"0x10000\"}",
         "bits that the register does not have"},
        {"{\"EventName\":\"X\",\"EventCode\":\"1\",\"MSRIndex\":\"0x1a7,0x1a6\",\"MSRValue\":\"1\"}",
         "registers that do not go together"},
        {"{\"EventName\":\"X\",\"EventCode\":\"1\",\"UMask\":\"0x100\",\"UMaskExt\":\"1\"}",
         "more than 8 bits beside a UMaskExt"},
        {"{\"EventName\":\"X\",\"EventCode\":\"1\",\"Counter\":\"0,64\"}", "X: Counter is '0,64', expected counters"},
        {"{\"EventName\":\"X\",\"EventCode\":\"1\",\"Counter\":\"Fixed counter 32\"}", "X: Counter is"},
        {"{\"EventName\":\"X\",\"EventCode\":\"1\",\"Counter\":\"0;1\"}", "X: Counter is"},
        {"{\"EventName\":\"X\"}", "X: neither a code nor a counter"},
        {"{\"EventName\":\"X:Y\",\"EventCode\":\"1\"}", "2:14: a name that no event string could hold"},
        {"{\"EventName\":\"\",\"EventCode\":\"1\"}", "a name that no event string could hold"},
        {"{\"EventName\":\"X\\u0007\",\"EventCode\":\"1\"}", "a name that no event string could hold"},
        {"{\"EventName\":7,\"EventCode\":\"1\"}", "event without a name: EventName is '7', expected a string"},
        {"{\"EventCode\":\"1\"}", "2:1: an event without \"EventName\""},
        {"[]", "2:1: an element that is no object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, "[" GOOD ",\n%s]", cases[i].element);
        struct outcome o = parse_n(text, strlen(text));
        if (o.rc != ASSAY_OK || !strstr(o.text, cases[i].says) || o.sums.bad != 1 || o.sums.warnings != 1 ||
            o.sums.events != 1)
            fail_msg("case %zu: %d '%s', expected '%s'", i, o.rc, o.text, cases[i].says);
    }
}

static void oddities_are_told_of(void **state)
{
    (void)state;
    const char *again = "[" GOOD ",\n {\"EventName\":\"a.b\",\"EventCode\":\"1\"}]";
    struct outcome o = parse_n(again, strlen(again));
    assert_int_equal(o.sums.duplicates, 1);
    assert_string_equal(o.text, "x.json:2:2: a.b: a second event of this name: left out");
    const char *unknown = "[{\"EventName\":\"A\",\"EventCode\":\"1\",\n\"New\":\"2\",\"Newer\":{\"EventCode\":7}}]";
    o = parse_n(unknown, strlen(unknown));
    assert_int_equal(o.sums.unknown_keys, 2);
    assert_int_equal(o.sums.events, 1);
    assert_string_equal(o.text, "x.json:2:7: unknown key 'New' was passed over");
    const char *twice = "[{\"EventName\":\"A\",\"EventCode\":\"1\",\"EventCode\":\"2\"}]";
    o = parse_n(twice, strlen(twice));
    assert_int_equal(o.rc, ASSAY_OK);
    assert_non_null(strstr(o.text, "duplicate object key"));
    const char *msr = "[{\"EventName\":\"A\",\"EventCode\":\"1\",\"MSRIndex\":\"0x345\",\"MSRValue\":\"2\"}]";
    o = parse_n(msr, strlen(msr));
    assert_int_equal(o.sums.events, 1);
    assert_string_equal(o.text, "x.json:1:46: A: Linux programs no MSR 0x345");
    const char *numbers =
        "\xef\xbb\xbf[{\"EventName\":\"A\",\"EventCode\":16,\"Invert\":true,\"CounterMask\":1,\"UMask\":null}]";
    o = parse_n(numbers, strlen(numbers));
    assert_int_equal(o.sums.events, 1);
    assert_int_equal(o.sums.warnings, 0);
}

static void nesting_and_size_are_bounded(void **state)
{
    (void)state;
    enum { DEEP = 3 << 20 };
    char *text = malloc(DEEP);
    assert_non_null(text);
    memset(text, '[', DEEP);
    struct outcome o = parse_n(text, DEEP);
    assert_int_equal(o.rc, ASSAY_E_BAD_FORMAT);
    assert_non_null(strstr(o.text, "maximum parsing depth reached"));
    memset(text, 'x', DEEP);
    memcpy(text, "[{\"EventName\":\"", 15);
    o = parse_n(text, DEEP);
    assert_int_equal(o.rc, ASSAY_E_UNSUPPORTED);
    assert_string_equal(o.text, "x.json:1:2: an element of more than 1024 kB");
    /* More events than a PMU takes; the warnings of a file without a good one are counted and not kept. */
    size_t at = (size_t)sprintf(text, "[{\"EventName\":\"e\",\"EventCode\":\"1\"}");
    for (int i = 0; i < ASSAY_EVENT_JSON_MOST_EVENTS; i++)
        at += (size_t)sprintf(text + at, ",\n{\"EventName\":\"e%d\",\"EventCode\":\"1\"}", i);
    text[at++] = ']';
    o = parse_n(text, at);
    assert_int_equal(o.rc, ASSAY_E_UNSUPPORTED);
    assert_string_equal(o.text, "x.json:32769:1: more than 32768 events of one PMU");
    at = (size_t)sprintf(text, "[" GOOD);
    for (int i = 0; i < 1000; i++)
        at += (size_t)sprintf(text + at, ",\n{\"EventName\":\"e%d\",\"EventCode\":\"0x100\"}", i);
    text[at++] = ']';
    o = parse_n(text, at);
    assert_int_equal(o.rc, ASSAY_OK);
    assert_int_equal(o.sums.bad, 1000);
    assert_int_equal(o.sums.warnings, 1000);
    free(text);
}

/* Every prefix of a file is an error that tells of its end; flipped bits may be anything but a crash. */
static void cut_and_flipped(void **state)
{
    (void)state;
    static const char *const files[] = {"events/SKX/events/skylakex_core.json",
                                        "events/NHM-EP/events/NehalemEP_core.json",
                                        "events/LNL/events/lunarlake_lioncove_core.json"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char text[16384];
        FILE *file = fopen(data_path(files[f]), "rb");
        assert_non_null(file);
        size_t n = fread(text, 1, sizeof text, file);
        fclose(file);
        for (size_t i = 0; i < n - 1; i++) { /* the last byte is a newline */
            char *exact = malloc(i ? i : 1);
            assert_non_null(exact);
            memcpy(exact, text, i);
            struct outcome o = parse_n(exact, i);
            assert_int_equal(o.rc, i == 0 ? ASSAY_E_NOT_RECOGNISED : ASSAY_E_TRUNCATED);
            assert_int_equal(memcmp(o.text, "x.json:", 7), 0);
            free(exact);
        }
        for (size_t i = 0; i < n; i += 3) {
            char keep = text[i];
            text[i] = (char)(keep ^ 1 << i % 8);
            struct outcome o = parse_n(text, n);
            assert_true(o.rc == ASSAY_OK || o.text[0]);
            text[i] = keep;
        }
    }
}

/* ---- mapfile.csv ---- */

static void write_file(const char *folder, const char *name, const char *text, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
}

static struct outcome load_map(const char *folder, const char *text, size_t n)
{
    write_file(folder, "mapfile.csv", text, n);
    struct assay_event_json *j;
    struct assay_error e = {0};
    struct outcome o = {.rc = assay_event_json_load(folder, NULL, &j, &e)};
    snprintf(o.text, sizeof o.text, "%s", e.text);
    if (o.rc == ASSAY_OK) {
        o.sums = *assay_event_json_sums(j);
        snprintf(o.text, sizeof o.text, "%s", assay_event_json_warning(j, 0) ? assay_event_json_warning(j, 0) : "");
    }
    assay_event_json_free(j);
    return o;
}

#define HEAD "Family-model,Version,Filename,EventType\n"

static void mapfiles_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        const char *says;
    } cases[] = {
        {"", ASSAY_E_NOT_RECOGNISED, "mapfile.csv:1:1: the file is empty"},
        {"Family,Version\n", ASSAY_E_BAD_FORMAT, "mapfile.csv:1:1: the first line has no column \"Family-model\""},
        {HEAD, ASSAY_E_BAD_FORMAT, "mapfile.csv:2:1: no row of core events"},
        {HEAD "AuthenticAMD-25-1,v1,a.json,core\n", ASSAY_E_BAD_FORMAT, "mapfile.csv:3:1: no row of core events"},
        {HEAD "GenuineIntel-6-1,v1,b.json,core\n", ASSAY_E_NOT_FOUND,
         "mapfile.csv:2:21: none of the 1 files of core events is there"},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\r\n", ASSAY_OK, ""},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\nGenuineIntel-6-2,v1,b.json,core", ASSAY_OK,
         "mapfile.csv:3:21: 1 of the files"},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\nGenuineIntel-6-2,v1\n", ASSAY_OK,
         "mapfile.csv:3:20: 2 columns, expected 4: left out"},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\nGenuineIntel-6-,v1,a.json,core\n", ASSAY_OK,
         "mapfile.csv:3:1: 'GenuineIntel-6-' is no family"},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\nGenuineIntel-6-(2,v1,a.json,core\n", ASSAY_OK,
         "mapfile.csv:3:1: 'GenuineIntel-6-(2' is no"},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\nGenuineIntel-6-[2,v1,a.json,core\n", ASSAY_OK, ""},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\nGenuineIntel-999-1,v1,a.json,core\n", ASSAY_OK,
         "is no family and model"},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\nGenuineIntel-6-2,v1,../a.json,core\n", ASSAY_OK,
         "mapfile.csv:3:21: no name of a file"},
        {HEAD "GenuineIntel-6-1,v1,a.json,core\nGenuineIntel-6-[0-9A-F][0-9A-F],v1,a.json,core\n", ASSAY_OK,
         "3:1: more than 64 models"},
        {HEAD "GenuineIntel-6-1,v1,bad.json,core\n", ASSAY_E_BAD_FORMAT, "bad.json:2:3: "},
    };
    char folder[] = "/tmp/assay-map-XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_file(folder, "a.json", "[" GOOD "]", strlen(GOOD) + 2);
    write_file(folder, "bad.json", "[\n  x]", 6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = load_map(folder, cases[i].text, strlen(cases[i].text));
        if (o.rc != cases[i].rc || !strstr(o.text, cases[i].says) || (!*cases[i].says && *o.text))
            fail_msg("case %zu: %d '%s', expected %d '%s'", i, o.rc, o.text, cases[i].rc, cases[i].says);
    }
    const char *whole = cases[6].text;
    for (size_t n = 0; n <= strlen(whole); n++) {
        struct outcome o = load_map(folder, whole, n);
        assert_true(o.rc == ASSAY_OK || strstr(o.text, "mapfile.csv:"));
    }
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void folders_without_anything(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-map-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct assay_event_json *j;
    struct assay_error e = {0};
    assert_int_equal(assay_event_json_load(folder, NULL, &j, &e), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(e.text, "holds neither mapfile.csv nor event files"));
    assert_null(j);
    rmdir(folder);
    assert_int_equal(assay_event_json_load(folder, NULL, &j, &e), ASSAY_E_SYSTEM);
    assert_non_null(strstr(e.text, "cannot open"));
    assert_int_equal(assay_event_json_load("/dev/zero", NULL, &j, &e), ASSAY_E_UNSUPPORTED);
    assert_string_equal(e.text, "/dev/zero:1:1: larger than 64 MB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_becomes_registers),
        cmocka_unit_test(pmus_have_names_models_and_counters),
        cmocka_unit_test(facts_are_kept),
        cmocka_unit_test(linux_folders_are_read),
        cmocka_unit_test(single_files_and_folders_of_one_cpu),
        cmocka_unit_test(rows_follow_those_of_the_base),
        cmocka_unit_test(damaged_files_are_errors_with_a_place),
        cmocka_unit_test(bad_fields_leave_an_event_out),
        cmocka_unit_test(oddities_are_told_of),
        cmocka_unit_test(nesting_and_size_are_bounded),
        cmocka_unit_test(cut_and_flipped),
        cmocka_unit_test(mapfiles_that_are_wrong),
        cmocka_unit_test(folders_without_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
