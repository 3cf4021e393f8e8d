/* SPDX-License-Identifier: MIT */
/* Events of loaded files through encoding, explaining and groups: perf's own strings for them, what strict mode refuses,
 * and both codes of offcore responses. */
#include <assay/event.h>
#include <assay/event_json.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct assay_event_json *json;
static const struct assay_event_table *t;

static int load(const char *name)
{
    char path[4096];
    const char *data = getenv("ASSAY_DATA");
    struct assay_event_table builtin;
    assay_event_json_free(json);
    assay_event_builtin(&builtin);
    snprintf(path, sizeof path, "%s/%s", data ? data : "tests/data", name);
    int rc = assay_event_json_load(path, &builtin, &json, NULL);
    t = rc == ASSAY_OK ? assay_event_json_table(json) : NULL;
    return rc;
}

static int load_all(void **state)
{
    (void)state;
    return load("events");
}

static int unload(void **state)
{
    (void)state;
    assay_event_json_free(json);
    json = NULL;
    return 0;
}

static struct assay_event_code encode(const char *text)
{
    struct assay_event_code c;
    struct assay_event_error e = {0};
    if (assay_event_encode(t, text, strlen(text), ASSAY_EVENT_STRICT, 3, ASSAY_EVENT_NONE, &c, &e) != ASSAY_OK)
        fail_msg("%s: %s at %u", text, assay_event_reason_name(e.reason), e.column);
    return c;
}

/* The terms are those that perf 6.1 has compiled in for the same events, but for the sampling period. */
static void perf_has_the_same_terms(void **state)
{
    (void)state;
    static const struct {
        const char *text, *perf;
    } cases[] = {
        {"skx::INST_RETIRED.ANY", "cpu/event=0xc0/"},
        {"skx::INST_RETIRED.ANY_P", "cpu/event=0xc0/"},
        {"skx::INST_RETIRED.PREC_DIST", "cpu/event=0xc0,umask=0x1/"},
        {"icx::INST_RETIRED.PREC_DIST", "cpu/event=0x0,umask=0x1/"},
        {"skx::CPU_CLK_UNHALTED.REF_TSC", "cpu/event=0x0,umask=0x3/"},
        {"skx::CPU_CLK_UNHALTED.THREAD_ANY", "cpu/event=0x3c,any/"},
        {"nhm-ep::CPU_CLK_UNHALTED.REF", "cpu/event=0x0,umask=0x3/"},
        {"bnl::CPU_CLK_UNHALTED.CORE", "cpu/event=0x3c/"},
        {"icx::TOPDOWN.SLOTS", "cpu/event=0x0,umask=0x4/"},
        {"skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128", "cpu/event=0xcd,umask=0x1,ldlat=0x80/"},
        {"nhm-ep::MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_0", "cpu/event=0xb,umask=0x10,ldlat=0x0/"},
        {"adl-atom::MEM_UOPS_RETIRED.LOAD_LATENCY_GT_16", "cpu_atom/event=0xd0,umask=0x5,ldlat=0x10/"},
        {"skx::FRONTEND_RETIRED.LATENCY_GE_2_BUBBLES_GE_2", "cpu/event=0xc6,umask=0x1,frontend=0x200206/"},
        {"adl-core::FRONTEND_RETIRED.MS_FLOWS", "cpu_core/event=0xc6,umask=0x1,frontend=0x8/"},
        {"adl-core::INT_MISC.UNKNOWN_BRANCH_CYCLES", "cpu_core/event=0xad,umask=0x40,frontend=0x7/"},
        {"adl-core::OCR.DEMAND_DATA_RD.L3_HIT.SNOOP_HITM", "cpu_core/event=0x2a,umask=0x1,offcore_rsp=0x10003c0001/"},
        {"skx::OFFCORE_RESPONSE.PF_L2_RFO.L3_MISS.REMOTE_HITM", "cpu/event=0xb7,umask=0x1,offcore_rsp=0x103fc00020/"},
        {"knl-json::OFFCORE_RESPONSE.ANY_REQUEST.DDR_NEAR", "cpu/event=0xb7,umask=0x1,offcore_rsp=0x80808000/"},
        {"knl-json::OFFCORE_RESPONSE.ANY_REQUEST.OUTSTANDING", "cpu/event=0xb7,umask=0x1,offcore_rsp=0x4000008000/"},
        /* perf 6.1 leaves out that this is for the second register alone: it has umask 1. */
        {"knl-json::OFFCORE_RESPONSE.STREAMING_STORES.ANY_RESPONSE", "cpu/event=0xb7,umask=0x2,offcore_rsp=0x14800/"},
        {"knl-json::PAGE_WALKS.D_SIDE_WALKS", "cpu/event=0x5,umask=0x1,edge/"},
        {"nhm-ep::ARITH.DIV", "cpu/event=0x14,umask=0x1,cmask=0x1,inv,edge/"},
        {"hsw::IDQ_UOPS_NOT_DELIVERED.CYCLES_FE_WAS_OK", "cpu/event=0x9c,umask=0x1,cmask=0x1,inv/"},
        {"skx::SQ_MISC.SPLIT_LOCK", "cpu/event=0xf4,umask=0x10/"},
        {"skx::sq_misc:split_lock:c=3:i:u", "cpu/event=0xf4,umask=0x10,cmask=0x3,inv/u"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char perf[200];
        struct assay_out o;
        struct assay_event_code c = encode(cases[i].text);
        assay_out_init(&o, perf, sizeof perf - 1, NULL, NULL);
        assay_event_perf_string(t, &c, &o);
        perf[o.len] = '\0';
        assert_string_equal(perf, cases[i].perf);
    }
}

static void strict_mode_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum assay_event_reason reason;
        unsigned column;
    } cases[] = {
        {"skx::SQ_MISC.NO_LOCK", ASSAY_EVENT_NO_EVENT, 5},
        {"skx::SQ_MISC.SPLIT_LOCK:e", ASSAY_EVENT_EDGE_CMASK, 24},
        {"skx::SQ_MISC.SPLIT_LOCK:i", ASSAY_EVENT_INVERT_CMASK, 24},
        {"skx::SQ_MISC.SPLIT_LOCK:c=256", ASSAY_EVENT_VALUE_RANGE, 24},
        {"skx::SQ_MISC.SPLIT_LOCK:0x10", ASSAY_EVENT_NO_ATTRIBUTE, 24},
        {"skx::SQ_MISC.SPLIT_LOCK:u=0:k=0", ASSAY_EVENT_NO_PRIVILEGE, 24},
        {"skx::ITLB_MISSES.WALK_ACTIVE:c=2", ASSAY_EVENT_NO_MODIFIER, 29}, /* the event sets it */
        {"skx::INST_RETIRED.ANY:c=1", ASSAY_EVENT_NO_MODIFIER, 22},        /* a fixed counter has none */
        {"icx::ICACHE_16B.IFDATA_STALL:t", ASSAY_EVENT_NO_MODIFIER, 29},   /* nor has this core */
        {"skx::SQ_MISC.SPLIT_LOCK:precise=1", ASSAY_EVENT_NO_PEBS, 24},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct assay_event_code c;
        struct assay_event_error e = {0};
        int rc = assay_event_encode(t, cases[i].text, strlen(cases[i].text), ASSAY_EVENT_PERF_EXT, 3, ASSAY_EVENT_NONE,
                                    &c, &e);
        if (rc == ASSAY_OK || e.reason != cases[i].reason || e.column != cases[i].column)
            fail_msg("%s: %d, reason %u at %u", cases[i].text, rc, e.reason, e.column);
    }
    /* What the event has by itself is no want of the user's, and goes with what the user adds. */
    assert_true(encode("skx::ITLB_MISSES.WALK_ACTIVE:e").code[0] == 0x1571085);
    assert_true(encode("knl-json::PAGE_WALKS.D_SIDE_WALKS:u").code[0] == 0x550105);
}

static void registers_that_linux_does_not_program(void **state)
{
    (void)state;
    const char *text = "odd::OTHER.REGISTER";
    struct assay_event_code c;
    struct assay_event_error e = {0};
    assert_int_equal(load("events/odd"), ASSAY_OK);
    assert_int_equal(assay_event_encode(t, text, strlen(text), ASSAY_EVENT_STRICT, 3, ASSAY_EVENT_NONE, &c, &e),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(e.reason, ASSAY_EVENT_KERNEL_REFUSES);
    assert_int_equal(assay_event_encode(t, text, strlen(text), ASSAY_EVENT_REGISTERS, 3, ASSAY_EVENT_NONE, &c, &e),
                     ASSAY_OK);
    assert_int_equal(c.extra_msr, 0x345);
    assert_int_equal(c.code[1], 7);
    assert_int_equal(load("events"), ASSAY_OK);
}

struct answers {
    char text[1000];
};

static bool take_answer(void *ctx, const struct assay_event_code *c)
{
    struct answers *a = ctx;
    struct assay_out o;
    size_t n = strlen(a->text);
    assay_out_init(&o, a->text + n, sizeof a->text - n - 2, NULL, NULL);
    assay_event_name(t, c, &o);
    snprintf(a->text + n + o.len, 2, " ");
    return true;
}

static void explains(const char *pmu, uint64_t code0, uint64_t code1, const char *want)
{
    struct answers a = {""};
    const uint64_t codes[] = {code0, code1};
    uint32_t row = assay_event_find_pmu(t, pmu, strlen(pmu));
    assay_event_explain(t, row, codes, code1 ? 2 : 1, take_answer, &a);
    assert_string_equal(a.text, want);
}

static void codes_have_names(void **state)
{
    (void)state;
    explains("skx", 0x5310f4, 0, "skx::SQ_MISC.SPLIT_LOCK ");
    explains("skx", 0x4d110f4, 0, "skx::SQ_MISC.SPLIT_LOCK:u:i:c=4 ");
    explains("skx", 0x1cd, 0x80, "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128 ");
    explains("skx", 0x1c6, 0x200206, "skx::FRONTEND_RETIRED.LATENCY_GE_2_BUBBLES_GE_2 ");
    /* that of the fixed counter first; of the two names, the one that is out of use last */
    explains("skx", 0x5300c0, 0, "skx::INST_RETIRED.ANY skx::INST_RETIRED.ANY_P ");
    const char *both = "skx::OFFCORE_RESPONSE.PF_L2_RFO.L3_MISS.REMOTE_HITM skx::OCR.PF_L2_RFO.L3_MISS.REMOTE_HITM ";
    explains("skx", 0x5301b7, 0x103fc00020, both);
    explains("skx", 0x5301bb, 0x103fc00020, both); /* as the second register's event */
    explains("skx", 0x5301b7, 0x103fc00021, "");
    explains("knl-json", 0x5302b7, 0x14800, "knl-json::OFFCORE_RESPONSE.STREAMING_STORES.ANY_RESPONSE ");
    explains("knl-json", 0x5301b7, 0x14800, "");
    explains("lnl-core", 0x2a00005310d4, 0, "lnl-core::FIXTURE.SECOND_UMASK ");
    explains("lnl-core", 0x5310d4, 0, "");
    explains("lnl-core", 0x100253030d, 0, "lnl-core::FIXTURE.EQUAL ");
}

static void offcore_events_share_two_registers(void **state)
{
    (void)state;
    struct assay_event_code c[3] = {encode("snb::OFFCORE_RESPONSE.ALL_DATA_RD.LLC_HIT.ANY_RESPONSE"),
                                    encode("snb::OFFCORE_RESPONSE.ALL_DATA_RD.LLC_HIT.ANY_RESPONSE")};
    struct assay_event_slot s[3];
    struct assay_event_group_error e;
    c[1].code[1] ^= 0x10; /* another value */
    assert_int_equal(assay_event_assign(t, c, 2, 0, s, &e), ASSAY_OK);
    assert_int_equal(s[0].extra_msr, 0x1a6);
    assert_int_equal(s[1].extra_msr, 0x1a7);
    assert_true(s[1].alt);
    assert_int_equal(s[1].code0 & 0xffff, 0x1bb);
    c[2] = c[0];
    c[2].code[1] ^= 0x20;
    assert_int_equal(assay_event_assign(t, c, 3, 0, s, &e), ASSAY_E_ARGUMENT);
    assert_int_equal(e.conflict, ASSAY_EVENT_ONE_MSR);
    struct assay_event_code three[] = {encode("skx::INST_RETIRED.ANY"), encode("skx::CPU_CLK_UNHALTED.REF_TSC"),
                                       encode("skx::INST_RETIRED.PREC_DIST")};
    assert_int_equal(assay_event_assign(t, three, 3, 0, s, &e), ASSAY_OK);
    assert_int_equal(s[0].counter, 32);
    assert_int_equal(s[1].counter, 34);
    assert_int_equal(s[2].counter, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perf_has_the_same_terms),
        cmocka_unit_test(strict_mode_refuses),
        cmocka_unit_test(registers_that_linux_does_not_program),
        cmocka_unit_test(codes_have_names),
        cmocka_unit_test(offcore_events_share_two_registers),
    };
    return cmocka_run_group_tests(tests, load_all, unload);
}
