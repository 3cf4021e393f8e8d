/* SPDX-License-Identifier: MIT */
/* Register values to events, by hand from the tables of codes; and registers to fields. */
#include "event_words.h"

struct heard {
    char text[2000];
    unsigned calls, most;
};

static bool hear(void *ctx, const struct assay_event_code *c)
{
    struct heard *h = ctx;
    size_t n = strlen(h->text);
    if (n)
        h->text[n++] = ' ';
    spell(c, h->text + n, sizeof h->text - n);
    return ++h->calls < h->most;
}

struct vector {
    const char *pmu;
    uint64_t code[4];
    unsigned n;
    const char *answers; /* best first */
};

static const struct vector vectors[] = {
    /* the example of the command: event 0xb7 with umask 1, u, k, INT, EN; request bit 0, response DDR */
    {"knm", {0x5301b7, 0x181800001}, 2, "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR"},
    {"knm", {0x1b7, 0x181800001}, 2, "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR"},
    {"knl", {0x5202b7, 0x10022}, 2, "OFFCORE_RESPONSE_1:ANY_RFO:ANY_RESPONSE:k"},
    {"knm", {0x5301b7, 0x18000}, 2, "OFFCORE_RESPONSE_0:ANY_REQUEST:ANY_RESPONSE"},
    {"knm", {0x5301b7, 0x4000003081}, 2, "OFFCORE_RESPONSE_0:ANY_DATA_RD:OUTSTANDING"},
    /* DDR_NEAR with one bit of DDR_FAR is neither; the fewest names of several */
    {"knm", {0x5301b7, 0x80800001}, 2, "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR"},
    {"knm", {0x5301b7, 0x81800001}, 2, "OFFCORE_RESPONSE_0:0x81800001"},
    {"knm", {0x5301b7, 0x1b2e7}, 2, "OFFCORE_RESPONSE_0:0x1b2e7"},
    {"knm", {0x5301b7, 0x136e7}, 2, "OFFCORE_RESPONSE_0:BUS_LOCKS:ANY_READ:ANY_RESPONSE"},
    {"knm", {0x5301b7, 0x100001}, 2, "OFFCORE_RESPONSE_0:0x100001"},
    {"knm", {0x5301b7, 1}, 2, "OFFCORE_RESPONSE_0:0x1"}, /* the name alone would add ANY_RESPONSE */
    {"knm", {0x5301b7, 0x10062}, 2, "OFFCORE_RESPONSE_0:DMND_RFO:ANY_PF_L2:ANY_RESPONSE"}, /* of two */
    {"knm", {0x5301b7}, 1, "OFFCORE_RESPONSE_0"},
    {"knm", {0x53003c}, 1, "UNHALTED_CORE_CYCLES CPU_CLK_UNHALTED:THREAD_P"},
    {"knm", {0x73003c}, 1, "UNHALTED_CORE_CYCLES:t=1"},
    {"knm", {0x530300}, 1, "UNHALTED_REFERENCE_CYCLES"},
    {"knm", {0x5300c0}, 1, "INSTRUCTION_RETIRED INST_RETIRED:ANY_P INSTRUCTIONS_RETIRED"},
    {"knm", {0x51412e}, 1, "LLC_MISSES:u L2_REQUESTS:MISS:u LAST_LEVEL_CACHE_MISSES:u"},
    {"knm", {0x5300c4}, 1, "BR_INST_RETIRED:ANY BRANCH_INSTRUCTIONS_RETIRED"},
    {"knm", {0x537ec4}, 1, "BR_INST_RETIRED:JCC"},
    {"knm", {0x1570105}, 1, "PAGE_WALKS:D_SIDE_WALKS:e=1:c=1"},
    {"knm", {0x2570105}, 1, "PAGE_WALKS:D_SIDE_CYCLES:e=1:c=2"},
    {"knm", {0x530104}, 1, "MEM_UOPS_RETIRED:L1_MISS_LOADS"},
    {"knm", {0x530704}, 1, "MEM_UOPS_RETIRED:L1_MISS_LOADS:L2_HIT_LOADS:L2_MISS_LOADS"},
    {"knm", {0x28d310c2}, 1, "UOPS_RETIRED:ALL:i=1:c=40"},
    {"knm", {0x5000c3}, 1, "MACHINE_CLEARS:0x0"},
    {"knm", {0x5308c2}, 1, "UOPS_RETIRED:0x8"},
    {"knm", {0x530700}, 1, "UNHALTED_REFERENCE_CYCLES:0x4"},
    {"knm", {0x1005b10c2}, 1, "UOPS_RETIRED:ALL"}, /* PC and IN_TX are passed over */
    {"knm", {0x5300ff}, 1, ""},
    {"knm", {0x10005310c2}, 1, ""}, /* EQ is another event */
    {"knm", {0x5310c2, 1}, 2, ""},
    /* ESCR = select << 25 | mask << 9 | rings; CCCR = 3 << 16 | select << 13 | enable */
    {"netburst", {0x1200020f, 0x3b000}, 2, "replay_event:NBOGUS"},
    {"netburst", {0x1200020c, 0x403b000}, 2, "replay_event:NBOGUS"},
    {"netburst", {0x12000201, 0x3b000}, 2, "replay_event:NBOGUS:u"},
    {"netburst", {0x12000202, 0x3b000}, 2, "replay_event:NBOGUS:k"},
    {"netburst", {0x1200020f, 0x3b000, 0x1000001, 1}, 4, "replay_event:NBOGUS:L1_LD_MISS"},
    {"netburst", {0x1200020c, 0x3b000, 0x3000400, 2}, 4, "replay_event:NBOGUS:SP_ST_RET"},
    {"netburst", {0x1200020c, 0x3b000, 0x3000008, 2}, 4, "replay_event:NBOGUS"},
    {"netburst",
     {UINT64_C(0x4a00020000000000) | 0x3b000 | 1},
     1,
     "replay_event:NBOGUS:L1_LD_MISS"}, /* 37 << 57 | 1 << 41 */
    {"netburst", {UINT64_C(0x4a00020500000000) | 0x3b000 | 9}, 1, "replay_event:NBOGUS:SP_ST_RET:u"},
    {"netburst", {UINT64_C(0x4a00020000000000) | 0x3b000 | 10}, 1, ""},
    {"netburst", {0x200020f, 0x39000}, 2, "page_walk_type:DTMISS uops_retired:NBOGUS"},
    {"netburst", {0x200040a, 0x39000}, 2, "page_walk_type:ITMISS:k uops_retired:BOGUS:k"},
    {"netburst", {0x1100003f, 0x33000}, 2, "packed_SP_uop:ALL:TAG0"},
    {"netburst", {0x1100002f, 0x33000}, 2, ""}, /* a tag that is not enabled */
    {"netburst", {0x110000bf, 0x33000}, 2, "packed_SP_uop:ALL:TAG0:TAG2"},
    {"netburst", {0x2600020f, 0x3d000}, 2, "global_power_events:RUNNING"},
    {"netburst", {0x2600020f, 0x1f7d000}, 2, "global_power_events:RUNNING:e=1:thr=15"},
    {"netburst", {0x2600020f, 0xbd000 | 1 << 18}, 2, "global_power_events:RUNNING:cmpl=1"},
    {"netburst", {0x2600020f, 0x13d000}, 2, ""}, /* a threshold without comparison */
};

static void codes_are_these_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const struct vector *v = &vectors[i];
        struct heard h = {.most = 100};
        int n = assay_event_explain(&table, pmu_called(v->pmu), v->code, v->n, hear, &h);
        if (strcmp(h.text, v->answers) != 0 || n != (int)h.calls)
            fail_msg("%s %#llx %#llx: \"%s\", not \"%s\"", v->pmu, (unsigned long long)v->code[0],
                     (unsigned long long)v->code[1], h.text, v->answers);
    }
}

static void the_caller_may_stop(void **state)
{
    (void)state;
    struct heard h = {.most = 1};
    uint64_t code = 0x5300c0;
    assert_int_equal(assay_event_explain(&table, pmu_called("knm"), &code, 1, hear, &h), 1);
    assert_string_equal(h.text, "INSTRUCTION_RETIRED");
    assert_int_equal(assay_event_explain(&table, pmu_called("knm"), &code, 0, hear, &h), 0);
}

static void software_codes_are_events(void **state)
{
    (void)state;
    struct heard miss = {.most = 9}, hit = {.most = 9};
    uint64_t code[2] = {0x10002, 3}; /* LL, read, miss; PERF_TYPE_HW_CACHE */
    assert_int_equal(assay_event_explain(&table, pmu_called("perf"), code, 2, hear, &miss), 2);
    assert_string_equal(miss.text, "LLC-load-misses PERF_COUNT_HW_CACHE_LL:READ:MISS");
    code[0] = 2;
    assert_int_equal(assay_event_explain(&table, pmu_called("perf"), code, 2, hear, &hit), 2);
    assert_string_equal(hit.text, "LLC-loads PERF_COUNT_HW_CACHE_LL:READ:ACCESS");
}

static const struct {
    const char *text, *name;
    uint32_t number;
    unsigned schemes;
    enum assay_event_register layout;
} named[] = {
    {"0x186", "IA32_PERFEVTSEL0", 0x186, 0, ASSAY_EVENT_REG_PERFEVTSEL},
    {"390", "IA32_PERFEVTSEL0", 0x186, 0, ASSAY_EVENT_REG_PERFEVTSEL},
    {"perfevtsel3", "IA32_PERFEVTSEL3", 0x189, 0, ASSAY_EVENT_REG_PERFEVTSEL},
    {"MSR_OFFCORE_RSP_0", "MSR_OFFCORE_RSP_0", 0x1a6, 0, ASSAY_EVENT_REG_OFFCORE_RSP},
    {"offcore_rsp_1", "MSR_OFFCORE_RSP_1", 0x1a7, 0, ASSAY_EVENT_REG_OFFCORE_RSP},
    {"0x3f1", "IA32_PEBS_ENABLE", 0x3f1, 0, ASSAY_EVENT_REG_PEBS_ENABLE},
    {"0x3F1", "MSR_PEBS_ENABLE", 0x3f1, 1 << ASSAY_EVENT_NETBURST, ASSAY_EVENT_REG_PEBS_ENABLE_P4},
    {"MSR_CRU_ESCR2", "MSR_CRU_ESCR2", 0x3cc, 0, ASSAY_EVENT_REG_ESCR},
    {"iq_cccr4", "MSR_IQ_CCCR4", 0x370, 0, ASSAY_EVENT_REG_CCCR},
    {"0x309", "IA32_FIXED_CTR0", 0x309, 0, ASSAY_EVENT_REG_COUNTER},
    {"0x309", "MSR_FLAME_COUNTER1", 0x309, 1 << ASSAY_EVENT_NETBURST, ASSAY_EVENT_REG_COUNTER},
    {"0x38d", "IA32_FIXED_CTR_CTRL", 0x38d, 0, ASSAY_EVENT_REG_FIXED_CTR_CTRL},
    {"0x190d", "IA32_PMC_GP3_CFG_A", 0x190d, 0, ASSAY_EVENT_REG_PERFEVTSEL},
};

static void registers_have_names_and_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        const struct assay_event_msr *r =
            assay_event_find_register(named[i].text, strlen(named[i].text), named[i].schemes);
        assert_non_null(r);
        assert_string_equal(r->name, named[i].name);
        assert_int_equal(r->number, named[i].number);
        assert_int_equal(r->layout, named[i].layout);
    }
    static const char *const none[] = {"",   "0x", "0x18g", "IA32_", "PERFEVTSEL", "IA32_PERFEVTSEL00", "0x100000186",
                                       "-1", "1a6"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_null(assay_event_find_register(none[i], strlen(none[i]), 0));
    assert_null(assay_event_find_register("0x186", 5, 1 << ASSAY_EVENT_NETBURST));
    assert_string_equal(assay_event_register_at(0x1a0, ASSAY_EVENT_NETBURST)->name, "IA32_MISC_ENABLE");
    assert_null(assay_event_register_at(0x3cc, ASSAY_EVENT_CORE));
}

/* "name=value" of the fields that are not 0. */
static void fields_of(const char *name, uint64_t v, const char *want)
{
    char text[400] = "";
    unsigned n;
    const struct assay_event_msr *r = assay_event_find_register(name, strlen(name), 0);
    assert_non_null(r);
    const struct assay_event_field *f = assay_event_fields(r->layout, &n);
    for (size_t at = 0; n-- > 0; f++) {
        uint64_t own = v >> f->lsb & (~UINT64_C(0) >> (64 - f->width));
        assert_non_null(assay_event_field_desc(f));
        if (own)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%llx", at ? " " : "", f->name,
                                   (unsigned long long)own);
    }
    assert_string_equal(text, want);
}

static void values_are_fields(void **state)
{
    (void)state;
    fields_of("0x186", 0x5301b7, "event_select=b7 umask=1 usr=1 os=1 int=1 en=1");
    fields_of("0x186", UINT64_C(0x41011a701b7),
              "event_select=b7 umask=1 usr=1 os=1 edge=1 any=1 inv=1 cmask=11 eq=1 umask2=4");
    fields_of("MSR_CRU_ESCR2", 0x1200020c, "t0_usr=1 t0_os=1 event_mask=1 event_select=9");
    fields_of("MSR_IQ_CCCR4", 0x403b000, "enable=1 escr_select=5 active_thread=3 ovf_pmi_t0=1");
    fields_of("0x38d", 0xb0b2, "usr0=1 os1=1 usr1=1 pmi1=1 os3=1 usr3=1 pmi3=1");
    fields_of("MSR_PEBS_ENABLE", 0x3018000, "branch_metric=3 uop_tag=1 pebs_my_thr=1");
    fields_of("0x1a6", UINT64_C(0x4181810001), "request=1 any_response=1 response=c0c0 outstanding=1");
    fields_of("IA32_PERF_GLOBAL_CTRL", UINT64_C(0x70000000f), "pmc=f fixed=7");
    fields_of("IA32_DS_AREA", UINT64_C(0xffffffff81000000), "value=ffffffff81000000");
}

static void register_is(const char *pmu, const char *name, uint64_t v, const char *want)
{
    struct heard h = {.most = 100};
    uint32_t p = pmu_called(pmu);
    const struct assay_event_msr *r = assay_event_find_register(name, strlen(name), 1u << table.pmus[p].scheme);
    assert_non_null(r);
    int n = assay_event_explain_register(&table, p, r, v, hear, &h);
    assert_string_equal(h.text, want);
    assert_int_equal(n, h.calls);
}

static void a_register_alone_tells_its_events(void **state)
{
    (void)state;
    register_is("knm", "0x187", 0x5310c2, "UOPS_RETIRED:ALL");
    register_is("knm", "MSR_OFFCORE_RSP_0", 0x181800001, "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR");
    register_is("knm", "MSR_OFFCORE_RSP_1", 0x10100, "OFFCORE_RESPONSE_1:PARTIAL_WRITES:ANY_RESPONSE");
    register_is("knm", "IA32_FIXED_CTR_CTRL", 0x1e2,
                "INSTRUCTION_RETIRED:u INSTRUCTIONS_RETIRED:u UNHALTED_CORE_CYCLES:u:t=1 UNHALTED_REFERENCE_CYCLES:k");
    register_is("netburst", "MSR_PMH_ESCR0", 0x200020f, "page_walk_type:DTMISS");
    register_is("netburst", "MSR_CRU_ESCR0", 0x200020f, "uops_retired:NBOGUS");
    register_is("netburst", "MSR_CRU_ESCR1", 0x2000200, "uops_retired:NBOGUS");
    register_is("knm", "IA32_PERF_GLOBAL_CTRL", 1, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_these_events),    cmocka_unit_test(the_caller_may_stop),
        cmocka_unit_test(software_codes_are_events), cmocka_unit_test(registers_have_names_and_numbers),
        cmocka_unit_test(values_are_fields),         cmocka_unit_test(a_register_alone_tells_its_events),
    };
    assay_event_builtin(&table);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
