/* SPDX-License-Identifier: MIT */
/* The counters of a core: registers by the rules of the SDM (Vol. 3B, 18.2), and the tallies of the machine under them. */
#include <assay/core_unit.h>
#include <assay/image.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { INSTRUCTIONS = 0xc0, CYCLES = 0x3c, JCC = 0x7ec4, OFFCORE_0 = 0x1b7, OFFCORE_1 = 0x2b7 };
#define USER (ASSAY_PERFEVTSEL_USR | ASSAY_PERFEVTSEL_EN)
#define ANY  (USER | ASSAY_PERFEVTSEL_OS)

struct rig {
    struct assay_core_unit u;
    uint64_t tally[ASSAY_MACHINE_QUANTITIES];
};

static struct rig *rig_of(unsigned general, unsigned width)
{
    static struct rig r;
    memset(&r, 0, sizeof r);
    assay_core_unit_init(&r.u, &(struct assay_core_unit_config){.general = general, .width = width}, r.tally);
    return &r;
}

static void wr(struct rig *r, uint32_t msr, uint64_t v)
{
    assert_int_equal(assay_core_unit_wrmsr(&r->u, msr, v), ASSAY_OK);
}

static uint64_t rd(struct rig *r, uint32_t msr)
{
    uint64_t v = 0;
    assert_int_equal(assay_core_unit_rdmsr(&r->u, msr, &v), ASSAY_OK);
    return v;
}

static void refused(struct rig *r, uint32_t msr, uint64_t v)
{
    uint64_t before = rd(r, msr);
    assert_int_equal(assay_core_unit_wrmsr(&r->u, msr, v), ASSAY_E_ARGUMENT);
    assert_int_equal(rd(r, msr), before);
}

static void retire(struct rig *r, uint64_t n) { r->tally[ASSAY_MACHINE_INSTRUCTIONS] += n; }

/* 18.2.2: a PERFEVTSEL has no bit above 31; FIXED_CTR_CTRL has four a counter; the global registers have those of the counters. */
static void reserved_bits_fault(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    refused(r, ASSAY_MSR_PERFEVTSEL0, UINT64_C(1) << 32);
    wr(r, ASSAY_MSR_PERFEVTSEL0 + 1, 0xffffffff);
    assert_int_equal(rd(r, ASSAY_MSR_PERFEVTSEL0 + 1), 0xffffffff);
    refused(r, ASSAY_MSR_FIXED_CTR_CTRL, 0x1000);
    wr(r, ASSAY_MSR_FIXED_CTR_CTRL, 0xfff);
    refused(r, ASSAY_MSR_PERF_GLOBAL_CTRL, 4);
    refused(r, ASSAY_MSR_PERF_GLOBAL_CTRL, UINT64_C(8) << 32);
    wr(r, ASSAY_MSR_PERF_GLOBAL_CTRL, UINT64_C(0x700000003));
    refused(r, ASSAY_MSR_PERF_GLOBAL_OVF_CTRL, 4);
    wr(r, ASSAY_MSR_PERF_GLOBAL_OVF_CTRL, UINT64_C(0xc000000700000003));
    refused(r, ASSAY_MSR_PERF_GLOBAL_STATUS, 0);
    refused(r, ASSAY_MSR_PERF_CAPABILITIES, ASSAY_PERF_FW_WRITE);
    refused(r, ASSAY_MSR_OFFCORE_RSP_1, UINT64_C(1) << 38); /* outstanding requests are the first register's alone */
    wr(r, ASSAY_MSR_OFFCORE_RSP_0, UINT64_C(1) << 38);
}

static void registers_that_are_not_there(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    static const uint32_t none[] = {0xc3, 0x188, 0x30c, 0x4c3, 0x391, 0x10, 0};
    uint64_t v;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_int_equal(assay_core_unit_wrmsr(&r->u, none[i], 0), ASSAY_E_NOT_FOUND);
        assert_int_equal(assay_core_unit_rdmsr(&r->u, none[i], &v), ASSAY_E_NOT_FOUND);
    }
    assert_int_equal(assay_core_unit_rdpmc(&r->u, 2, &v), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_core_unit_rdpmc(&r->u, 0x40000003, &v), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_core_unit_rdpmc(&r->u, 0x80000000, &v), ASSAY_E_ARGUMENT);
    assay_core_unit_init(&r->u, &(struct assay_core_unit_config){.no_full_width = true}, r->tally);
    assert_int_equal(rd(r, ASSAY_MSR_PERF_CAPABILITIES), 0);
    assert_int_equal(assay_core_unit_wrmsr(&r->u, ASSAY_MSR_A_PMC0, 0), ASSAY_E_NOT_FOUND);
}

/* 18.2.1: a write to PMCx takes bits 31:0 and extends the sign to the counter's width; 18.2.6: A_PMCx takes all of the width. */
static void writes_of_counters(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    wr(r, ASSAY_MSR_PMC0, 0x7fffffff);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 0x7fffffff);
    wr(r, ASSAY_MSR_PMC0, UINT64_C(0x1280000000));
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), UINT64_C(0xff80000000));
    assert_int_equal(rd(r, ASSAY_MSR_PERF_CAPABILITIES), ASSAY_PERF_FW_WRITE);
    wr(r, ASSAY_MSR_A_PMC0, UINT64_C(0x1280000000));
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), UINT64_C(0x1280000000));
    assert_int_equal(rd(r, ASSAY_MSR_A_PMC0), UINT64_C(0x1280000000));
    refused(r, ASSAY_MSR_A_PMC0, UINT64_C(1) << 40);
    wr(r, ASSAY_MSR_FIXED_CTR0 + 2, UINT64_C(0xffffffffff));
    refused(r, ASSAY_MSR_FIXED_CTR0 + 2, UINT64_C(1) << 40);
    r = rig_of(2, 48);
    wr(r, ASSAY_MSR_PMC0, 0x80000000);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), UINT64_C(0xffff80000000));
}

/* What has to be set before a general counter counts: EN, USR, its bit of GLOBAL_CTRL (which power-on leaves set). */
static void enables(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    assert_int_equal(rd(r, ASSAY_MSR_PERF_GLOBAL_CTRL), 3);
    retire(r, 1000); /* before */
    wr(r, ASSAY_MSR_PERFEVTSEL0, INSTRUCTIONS | USER);
    wr(r, ASSAY_MSR_PERFEVTSEL0 + 1, INSTRUCTIONS | ASSAY_PERFEVTSEL_USR);
    retire(r, 7);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 7);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0 + 1), 0);
    wr(r, ASSAY_MSR_PERF_GLOBAL_CTRL, 2);
    retire(r, 5);
    wr(r, ASSAY_MSR_PERFEVTSEL0 + 1, INSTRUCTIONS | USER);
    retire(r, 3);
    wr(r, ASSAY_MSR_PERF_GLOBAL_CTRL, 1);
    retire(r, 2);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 9);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0 + 1), 3);
    uint64_t v;
    assert_int_equal(assay_core_unit_rdpmc(&r->u, 1, &v), ASSAY_OK);
    assert_int_equal(v, 3);
}

static void rings(void **state)
{
    (void)state;
    struct rig *r = rig_of(3, 40);
    wr(r, ASSAY_MSR_PERFEVTSEL0, INSTRUCTIONS | USER);
    wr(r, ASSAY_MSR_PERFEVTSEL0 + 1, INSTRUCTIONS | ASSAY_PERFEVTSEL_OS | ASSAY_PERFEVTSEL_EN);
    wr(r, ASSAY_MSR_PERFEVTSEL0 + 2, INSTRUCTIONS | ANY);
    wr(r, ASSAY_MSR_FIXED_CTR_CTRL, 1); /* OS */
    wr(r, ASSAY_MSR_PERF_GLOBAL_CTRL, UINT64_C(0x700000007));
    retire(r, 10);
    assay_core_unit_ring(&r->u, true);
    retire(r, 100);
    assay_core_unit_ring(&r->u, false);
    retire(r, 1000);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 1010);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0 + 1), 100);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0 + 2), 1110);
    assert_int_equal(rd(r, ASSAY_MSR_FIXED_CTR0), 100);
}

/* Fixed counters: instructions, core cycles, reference cycles. */
static void fixed_counters(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    wr(r, ASSAY_MSR_FIXED_CTR_CTRL, 0x222);
    retire(r, 4);
    assert_int_equal(rd(r, ASSAY_MSR_FIXED_CTR0), 0); /* power-on leaves their bits of GLOBAL_CTRL clear */
    wr(r, ASSAY_MSR_PERF_GLOBAL_CTRL, UINT64_C(0x700000000));
    retire(r, 11);
    r->tally[ASSAY_MACHINE_CYCLES] += 22;
    r->tally[ASSAY_MACHINE_REF_CYCLES] += 33;
    uint64_t v;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(rd(r, ASSAY_MSR_FIXED_CTR0 + i), 11 * (i + 1));
        assert_int_equal(assay_core_unit_rdpmc(&r->u, 0x40000000 + i, &v), ASSAY_OK);
        assert_int_equal(v, 11 * (i + 1));
    }
}

/* A counter at -n wraps with the n-th event: its status bit is set, and with INT (PMI) it asks for an interrupt, once. */
static void overflow(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    wr(r, ASSAY_MSR_PERFEVTSEL0, INSTRUCTIONS | USER | ASSAY_PERFEVTSEL_INT);
    wr(r, ASSAY_MSR_PERFEVTSEL0 + 1, INSTRUCTIONS | USER);
    wr(r, ASSAY_MSR_FIXED_CTR_CTRL, 0xa); /* USR, PMI */
    wr(r, ASSAY_MSR_PERF_GLOBAL_CTRL, UINT64_C(0x100000003));
    wr(r, ASSAY_MSR_PMC0, (uint32_t)-100);
    wr(r, ASSAY_MSR_PMC0 + 1, (uint32_t)-50);
    wr(r, ASSAY_MSR_FIXED_CTR0, UINT64_C(0xffffffffff) - 149); /* -150 */
    retire(r, 99);
    assert_int_equal(assay_core_unit_run(&r->u), 0); /* the second wrapped, but does not ask */
    assert_int_equal(rd(r, ASSAY_MSR_PERF_GLOBAL_STATUS), 2);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), UINT64_C(0xffffffffff));
    retire(r, 1);
    assert_int_equal(assay_core_unit_run(&r->u), 1);
    assert_int_equal(assay_core_unit_run(&r->u), 0);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 0);
    assert_int_equal(rd(r, ASSAY_MSR_PERF_GLOBAL_STATUS), 3);
    retire(r, 60);
    assert_int_equal(assay_core_unit_run(&r->u), UINT64_C(1) << 32);
    wr(r, ASSAY_MSR_PERF_GLOBAL_OVF_CTRL, 2);
    assert_int_equal(rd(r, ASSAY_MSR_PERF_GLOBAL_STATUS), UINT64_C(0x100000001));
    assert_int_equal(rd(r, ASSAY_MSR_FIXED_CTR0), 10);
}

/* A changed event counts from the change on; the value stays. */
static void events_change(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    r->tally[ASSAY_MACHINE_COND_TAKEN] = 500;
    wr(r, ASSAY_MSR_PERFEVTSEL0, INSTRUCTIONS | USER);
    retire(r, 10);
    wr(r, ASSAY_MSR_PERFEVTSEL0, JCC | USER);
    r->tally[ASSAY_MACHINE_COND_TAKEN] += 3;
    r->tally[ASSAY_MACHINE_COND_NOT_TAKEN] += 4;
    retire(r, 1000);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 17);
}

/* What is not modelled does not count, and says so; the write itself is no fault, as on hardware. */
static void not_modelled(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    static const uint64_t none[] = {0x10c2, 0xff77, INSTRUCTIONS | 1 << 24, CYCLES | 1 << 23, CYCLES | 1 << 18};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        wr(r, ASSAY_MSR_PERFEVTSEL0, none[i] | USER);
        for (unsigned q = 0; q < ASSAY_MACHINE_QUANTITIES; q++)
            r->tally[q] += 9;
        assert_int_equal(rd(r, ASSAY_MSR_PMC0), 0);
        assert_int_equal(assay_core_unit_event(&r->u, 0)->quantities, 0);
        assert_true(*assay_core_unit_event(&r->u, 0)->note);
    }
    assert_string_equal(assay_core_unit_event(&r->u, 0)->nearest, "UNHALTED_CORE_CYCLES");
    wr(r, ASSAY_MSR_PERFEVTSEL0, CYCLES | USER | 1 << 21); /* any thread: a core has but one */
    r->tally[ASSAY_MACHINE_CYCLES] += 4;
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 4);
}

/* Requests and responses together: demand reads that memory answered are loads' lines from memory. */
static void offcore_responses(void **state)
{
    (void)state;
    struct rig *r = rig_of(2, 40);
    for (unsigned q = 0; q < ASSAY_MACHINE_QUANTITIES; q++)
        r->tally[q] = 1000 + q;
    wr(r, ASSAY_MSR_PERFEVTSEL0, OFFCORE_0 | USER);
    wr(r, ASSAY_MSR_PERFEVTSEL0 + 1, OFFCORE_1 | USER);
    wr(r, ASSAY_MSR_OFFCORE_RSP_0, 0x10001);               /* DMND_DATA_RD, any response */
    wr(r, ASSAY_MSR_OFFCORE_RSP_1, UINT64_C(0x181808000)); /* ANY_REQUEST, DDR */
    r->tally[ASSAY_MACHINE_LOAD_L2] += 1;
    r->tally[ASSAY_MACHINE_LOAD_LLC] += 20;
    r->tally[ASSAY_MACHINE_LOAD_MEMORY] += 300;
    r->tally[ASSAY_MACHINE_STORE_LLC] += 4000;
    r->tally[ASSAY_MACHINE_CODE_MEMORY] += 50000;
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 320);
    assert_int_equal(rd(r, ASSAY_MSR_PMC0 + 1), 50300);
    wr(r, ASSAY_MSR_OFFCORE_RSP_0, 0x10007); /* loads, stores and code */
    r->tally[ASSAY_MACHINE_STORE_LLC] += 5;
    r->tally[ASSAY_MACHINE_CODE_L2] += 7;
    assert_int_equal(rd(r, ASSAY_MSR_PMC0), 325);
    static const uint64_t none[] = {0x10021, 0x1, 0x10000, UINT64_C(0x800080001), UINT64_C(0x4000000001)};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        wr(r, ASSAY_MSR_OFFCORE_RSP_0, none[i]);
        assert_int_equal(assay_core_unit_event(&r->u, 0)->quantities, 0);
    }
}

static void parts_that_a_model_lacks(void **state)
{
    (void)state;
    struct assay_machine_model flat, cache, knights;
    struct assay_machine_event v;
    struct assay_error e;
    static const char text[] = "llc.bytes = 0";
    assert_int_equal(assay_machine_builtin("flat", &flat), ASSAY_OK);
    assert_int_equal(assay_machine_builtin("cache", &cache), ASSAY_OK);
    assert_int_equal(assay_machine_parse(text, sizeof text - 1, &knights, &e), ASSAY_OK);
    assert_int_equal(assay_machine_event_perf(3, 0x10002, &v), ASSAY_OK); /* LLC-load-misses */
    assert_string_equal(assay_machine_event_lacks(&v, &flat), "llc");
    assert_string_equal(assay_machine_event_lacks(&v, &knights), "llc");
    assert_null(assay_machine_event_lacks(&v, &cache));
    assert_int_equal(assay_machine_event_core(0x412e, 0, &v), ASSAY_OK); /* the last level of Knights Mill: L2 */
    assert_null(assay_machine_event_lacks(&v, &knights));
    assert_int_equal(assay_machine_event_core(INSTRUCTIONS, 0, &v), ASSAY_OK);
    assert_null(assay_machine_event_lacks(&v, &flat));
    assert_int_equal(assay_machine_event_perf(4, INSTRUCTIONS, &v), ASSAY_OK);
    assert_string_equal(v.name, "INSTRUCTION_RETIRED");
    assert_int_equal(assay_machine_event_perf(1, 2, &v), ASSAY_E_UNSUPPORTED); /* page faults */
    assert_int_equal(assay_machine_event_fixed(3, &v), ASSAY_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserved_bits_fault),
        cmocka_unit_test(registers_that_are_not_there),
        cmocka_unit_test(writes_of_counters),
        cmocka_unit_test(enables),
        cmocka_unit_test(rings),
        cmocka_unit_test(fixed_counters),
        cmocka_unit_test(overflow),
        cmocka_unit_test(events_change),
        cmocka_unit_test(not_modelled),
        cmocka_unit_test(offcore_responses),
        cmocka_unit_test(parts_that_a_model_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
