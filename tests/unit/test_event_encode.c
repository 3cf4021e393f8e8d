/* SPDX-License-Identifier: MIT */
/* Event strings to register values and to perf. Values by hand from the layouts: IA32_PERFEVTSELx = select | umask << 8 |
 * u << 16 | k << 17 | e << 18 | INT << 20 | t << 21 | EN << 22 | i << 23 | c << 24; ESCR = select << 25 | mask << 9 |
 * tag << 5 | tag enable << 4 | privileges of two threads; CCCR = 1 << 12 | ESCR select << 13 | 3 << 16 | ... */
#include <assay/base.h>
#include <assay/event.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum {
    STRICT = ASSAY_EVENT_STRICT,
    COMPAT = ASSAY_EVENT_LIBPFM4,
    EXT = ASSAY_EVENT_PERF_EXT,
    BARE = ASSAY_EVENT_REGISTERS
};

static struct assay_event_table t;

static struct assay_event_code encode(const char *text, unsigned mode, unsigned plm)
{
    struct assay_event_code c;
    struct assay_event_error e;
    if (assay_event_encode(&t, text, strlen(text), mode, plm, ASSAY_EVENT_NONE, &c, &e) != ASSAY_OK) {
        char why[500];
        struct assay_out o;
        assay_out_init(&o, why, sizeof why - 1, NULL, NULL);
        assay_event_error_print(&t, text, &e, &o);
        fail_msg("%s: %.*s", text, (int)o.len, why);
    }
    return c;
}

static const char *text_of(void (*print)(const struct assay_event_table *, const struct assay_event_code *,
                                         struct assay_out *),
                           const struct assay_event_code *c)
{
    static char text[4096];
    struct assay_out o;
    assay_out_init(&o, text, sizeof text - 1, NULL, NULL);
    print(&t, c, &o);
    text[o.len] = '\0';
    return text;
}

static const struct {
    const char *text;
    uint64_t code[2]; /* the second 0: none */
    const char *name;
    unsigned mode;
} vectors[] = {
    {"knm::ICACHE", {0x530380}, "knm::ICACHE:ACCESSES", STRICT},
    {"knm::ICACHE:HIT:u", {0x510180}, "knm::ICACHE:HIT:u", STRICT},
    {"knm::ICACHE.MISSES.k", {0x520280}, "knm::ICACHE:MISSES:k", STRICT},
    {"KNM::icache.Hit:U", {0x510180}, "knm::ICACHE:HIT:u", STRICT},
    {"knl::ICACHE:HIT:u:k", {0x530180}, "knl::ICACHE:HIT", STRICT},
    {"knm::INST_RETIRED:ANY", {0x5300c0}, "knm::INST_RETIRED:ANY_P", STRICT},
    {"knm::UOPS_RETIRED:SCALAR_SIMD:c=2:i", {0x2d320c2}, "knm::UOPS_RETIRED:SCALAR_SIMD:i:c=2", STRICT},
    {"knm::UOPS_RETIRED:MS:e:c=1", {0x15701c2}, "knm::UOPS_RETIRED:MS:e:c=1", STRICT},
    {"knm::UOPS_RETIRED:c=0xff:k", {0xff5210c2}, "knm::UOPS_RETIRED:ALL:k:c=255", STRICT},
    {"knm::UOPS_RETIRED:c=010:e=0:i=n", {0x85310c2}, "knm::UOPS_RETIRED:ALL:c=8", STRICT},
    {"knm::MACHINE_CLEARS:FP_ASSIST:SMC", {0x5305c3}, "knm::MACHINE_CLEARS:SMC:FP_ASSIST", STRICT},
    {"knm::PAGE_WALKS:WALKS", {0x1570305}, "knm::PAGE_WALKS:WALKS", STRICT},
    {"knm::PAGE_WALKS:WALKS:e:c=1", {0x1570305}, "knm::PAGE_WALKS:WALKS", STRICT},
    {"knm::PAGE_WALKS:D_SIDE_CYCLES:e:c=1", {0x1570105}, "knm::PAGE_WALKS:D_SIDE_CYCLES:e:c=1", STRICT},
    {"knm::UNHALTED_CORE_CYCLES:t", {0x73003c}, "knm::UNHALTED_CORE_CYCLES:t", STRICT},
    {"knm::UNHALTED_REFERENCE_CYCLES", {0x530300}, "knm::UNHALTED_REFERENCE_CYCLES", STRICT},
    {"knm::INSTRUCTIONS_RETIRED:t=y:u", {0x7100c0}, "knm::INSTRUCTION_RETIRED:u:t", STRICT},
    {"knm::LAST_LEVEL_CACHE_MISSES", {0x53412e}, "knm::LLC_MISSES", STRICT},
    {"knm::BRANCH_INSTRUCTIONS_RETIRED", {0x5300c4}, "knm::BR_INST_RETIRED:ANY", STRICT},
    {"knm::MISPREDICTED_BRANCH_RETIRED:0x7e", {0x537ec5}, "knm::BR_MISP_RETIRED:0x7e", STRICT},
    {"knm::UNHALTED_CORE_CYCLES:0x1", {0x53013c}, "knm::UNHALTED_CORE_CYCLES:0x1", STRICT}, /* CPU_CLK_UNHALTED:REF */
    {"knm::NO_ALLOC_CYCLES:0X24", {0x5324ca}, "knm::NO_ALLOC_CYCLES:0x24", STRICT},
    {"knm::RECYCLEQ:LOCK:u=T:k=f", {0x511003}, "knm::RECYCLEQ:LOCK:u", STRICT},
    {"knm::LLC_MISSES:0x80", {0x53c12e}, "knm::LLC_MISSES:0x80", COMPAT},
    {"knm::ICACHE:c=+3", {0x3530380}, "knm::ICACHE:ACCESSES:c=3", STRICT},
    {"knm::ICACHE:c=-18446744073709551615", {0x1530380}, "knm::ICACHE:ACCESSES:c=1", COMPAT},
    /* Offcore: requests 15:0, responses above; what is not named is ANY_REQUEST 0x8000 and ANY_RESPONSE 0x10000. */
    {"knm::OFFCORE_RESPONSE_0", {0x5301b7, 0x18000}, "knm::OFFCORE_RESPONSE_0:ANY_REQUEST:ANY_RESPONSE", STRICT},
    {"knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u",
     {0x5101b7, 0x80800001},
     "knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u",
     STRICT},
    {"knm::OFFCORE_RESPONSE_1:PF_L2_RFO",
     {0x5302b7, 0x10020},
     "knm::OFFCORE_RESPONSE_1:PF_L2_RFO:ANY_RESPONSE",
     STRICT},
    {"knm::OFFCORE_RESPONSE_1:PARTIAL_WRITES:L2_HIT_NEAR_TILE_M",
     {0x5302b7, 0x1000080100},
     "knm::OFFCORE_RESPONSE_1:PARTIAL_WRITES:L2_HIT_NEAR_TILE_M",
     STRICT},
    {"knm::OFFCORE_RESPONSE_0:DDR:MCDRAM:DMND_RFO:DMND_DATA_RD",
     {0x5301b7, 0x181e00003},
     "knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:MCDRAM:DDR",
     STRICT},
    {"knm::OFFCORE_RESPONSE_0:ANY_READ:OUTSTANDING",
     {0x5301b7, 0x40000032e7},
     "knm::OFFCORE_RESPONSE_0:ANY_READ:OUTSTANDING",
     STRICT},
    {"knm::OFFCORE_RESPONSE_0:OUTSTANDING",
     {0x5301b7, 0x4000008000},
     "knm::OFFCORE_RESPONSE_0:ANY_REQUEST:OUTSTANDING",
     STRICT},
    {"knm::OFFCORE_RESPONSE_0:0x4000000001", {0x5301b7, 0x4000000001}, "knm::OFFCORE_RESPONSE_0:0x4000000001", STRICT},
    {"knm::OFFCORE_RESPONSE_0:0x10001:k", {0x5201b7, 0x10001}, "knm::OFFCORE_RESPONSE_0:0x10001:k", STRICT},
    {"knm::OFFCORE_RESPONSE_0:DEMAND_RFO:L2_HIT_THIS_TILE_M",
     {0x5301b7, 0x2000002},
     "knm::OFFCORE_RESPONSE_0:DMND_RFO:L2_HIT_THIS_TILE_M",
     STRICT},
    {"netburst::TC_deliver_mode:DD:u", {0x2000205, 0x33000}, "netburst::TC_deliver_mode:DD:u", STRICT},
    {"netburst::global_power_events:thr=3:e:cmpl",
     {0x2600020f, 0x13fd000},
     "netburst::global_power_events:RUNNING:e:cmpl:thr=3",
     STRICT},
    {"netburst::global_power_events:k:thr=15",
     {0x2600020a, 0xf7d000},
     "netburst::global_power_events:RUNNING:k:thr=15",
     STRICT},
    {"netburst::packed_SP_uop:TAG1:ALL", {0x1100005f, 0x33000}, "netburst::packed_SP_uop:ALL:TAG1", STRICT},
    {"netburst::packed_SP_uop:TAG1", {0x1100005f, 0x33000}, "netburst::packed_SP_uop:ALL:TAG1", STRICT},
    {"netburst::packed_SP_uop:TAG1", {0x1000005f, 0x33000}, "netburst::packed_SP_uop:TAG1", COMPAT},
    {"netburst::execution_event:NBOGUS1:NBOGUS0",
     {0x1800060f, 0x3b000},
     "netburst::execution_event:NBOGUS0:NBOGUS1",
     STRICT},
    {"netburst::replay_event:SP_ST_RET:BOGUS:u",
     {0x12000405, 0x3b000},
     "netburst::replay_event:BOGUS:SP_ST_RET:u",
     STRICT},
    {"netburst_p::instr_completed:NBOGUS", {0xe00020f, 0x39000}, "netburst_p::instr_completed:NBOGUS", STRICT},
    {"perf::cycles", {0}, "perf::PERF_COUNT_HW_CPU_CYCLES", STRICT},
    {"perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS", {0x10000}, "perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS", STRICT},
};

static void strings_to_registers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        struct assay_event_code c = encode(vectors[i].text, vectors[i].mode, 3);
        if (c.code[0] != vectors[i].code[0] || c.codes != (vectors[i].code[1] ? 2u : 1u) ||
            (c.codes == 2 && c.code[1] != vectors[i].code[1]))
            fail_msg("%s: %#llx %#llx", vectors[i].text, (unsigned long long)c.code[0], (unsigned long long)c.code[1]);
        assert_string_equal(text_of(assay_event_name, &c), vectors[i].name);
    }
}

/* The values of docs: an L1 miss as it retires, tagged for thread 0, with an interrupt on overflow. */
static void worked_example_of_netburst(void **state)
{
    (void)state;
    struct assay_event_code c = encode("netburst::replay_event:L1_LD_MISS", STRICT, 3);
    assert_int_equal(c.code[0] & ~(uint64_t)3, 0x1200020c);
    assert_int_equal(c.code[1] | 1 << 26, 0x403b000);
    assert_string_equal(text_of(assay_event_name, &c), "netburst::replay_event:NBOGUS:L1_LD_MISS");
}

static void privilege_comes_from_the_string_or_the_caller(void **state)
{
    (void)state;
    assert_int_equal(encode("knm::ICACHE:HIT", STRICT, ASSAY_EVENT_USER).code[0], 0x510180);
    assert_int_equal(encode("knm::ICACHE:HIT", STRICT, ASSAY_EVENT_KERNEL).code[0], 0x520180);
    assert_int_equal(encode("knm::ICACHE:HIT:k", STRICT, ASSAY_EVENT_USER).code[0], 0x520180);
    assert_int_equal(encode("knm::ICACHE:HIT", COMPAT, 0).code[0], 0x500180); /* the reference's */
}

static void counters_that_can_count(void **state)
{
    (void)state;
    assert_int_equal(encode("knm::UNHALTED_CORE_CYCLES", STRICT, 3).counters, 0x200000003);
    assert_int_equal(encode("knm::UNHALTED_CORE_CYCLES:c=1", STRICT, 3).counters, 0x3);
    assert_int_equal(encode("knm::UNHALTED_REFERENCE_CYCLES", STRICT, 3).counters, 0x400000000);
    assert_int_equal(encode("netburst::IOQ_active_entries:MEM_WB", STRICT, 3).counters, 0xc);
    assert_int_equal(encode("knm::OFFCORE_RESPONSE_0", STRICT, 3).extra_msr, 0x1a6);
    assert_int_equal(encode("knm::OFFCORE_RESPONSE_1", STRICT, 3).extra_msr, 0x1a7);
}

static void without_a_pmu_the_first_that_makes_sense(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"ICACHE", "knm::ICACHE:ACCESSES"},
        {"UOPS_RETIRED:MS", "knm::UOPS_RETIRED:MS"},
        {"UOPS_RETIRED:NBOGUS", "netburst::uops_retired:NBOGUS"},
        {"LLC_REFERENCES", "knm::LLC_REFERENCES"},
        {"instr_completed:NBOGUS", "netburst_p::instr_completed:NBOGUS"},
        {"cycles:u", "perf::PERF_COUNT_HW_CPU_CYCLES:u"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay_event_code c = encode(rows[i].text, STRICT, 3);
        assert_string_equal(text_of(assay_event_name, &c), rows[i].name);
    }
    struct assay_event_code c;
    uint32_t knl = assay_event_find_pmu(&t, "knl", 3);
    assert_int_equal(assay_event_encode(&t, "ICACHE", 6, STRICT, 3, knl, &c, NULL), ASSAY_OK);
    assert_int_equal(c.pmu, knl);
}

static void one_umask_said_often_is_one(void **state)
{
    (void)state;
    assert_int_equal(encode("knm::ICACHE:HIT:HIT:HIT", COMPAT, 3).code[0], 0x530180);
    assert_int_equal(encode("knm::BACLEARS:ANY:ALL", COMPAT, 3).code[0], 0x5301e6);
    struct assay_event_code c = encode("knm::OFFCORE_RESPONSE_0:ANY_READ:ANY_READ:ANY_READ:ANY_READ:ANY_READ:ANY_READ:"
                                       "ANY_READ:ANY_READ",
                                       COMPAT, 3);
    assert_int_equal(c.umasks, 2);
    assert_int_equal(c.code[1], 0x132e7);
}

/* Values that the reference has wrong and that are the hardware's here, also in its mode. */
static void values_that_the_reference_has_wrong(void **state)
{
    (void)state;
    assert_int_equal(encode("knm::OFFCORE_RESPONSE_0:ANY_REQUEST:DDR_FAR", COMPAT, 3).code[1], 0x101008000);
    assert_int_equal(encode("knm::CPU_CLK_UNHALTED:BUS", COMPAT, 3).code[0], 0x53013c);
    assert_int_equal(encode("netburst::b2b_cycles:BIT5", COMPAT, 3).code[0], 0x2c00400f);
    assert_int_equal(encode("netburst::b2b_cycles:BIT6", COMPAT, 3).code[0], 0x2c00800f);
    assert_int_equal(encode("netburst::replay_event:L1_LD_MISS", COMPAT, 3).code[0], 0x1200020f);
    assert_int_equal(encode("knm::OFFCORE_RESPONSE_0:0x4000000001", COMPAT, 3).code[1], 0x4000000001);
    /* Its name of a raw value is cut to 32 bits, and to 255 characters. */
    struct assay_event_code c = encode("knm::OFFCORE_RESPONSE_0:0x1000080001", COMPAT, 3);
    assert_string_equal(text_of(assay_event_name, &c), "knm::OFFCORE_RESPONSE_0:0x1000080001");
    c = encode("knm::OFFCORE_RESPONSE_1:DMND_DATA_RD:DMND_RFO:DMND_CODE_RD:PF_L2_RFO:PF_L2_CODE_RD:PARTIAL_READS:"
               "PARTIAL_WRITES:UC_CODE_READS:BUS_LOCKS:FULL_STREAMING_STORES:PF_SOFTWARE:PF_L1_DATA_RD:"
               "PARTIAL_STREAMING_STORES:STREAMING_STORES:DDR_NEAR:DDR_FAR:MCDRAM_NEAR:MCDRAM_FAR:L2_HIT_NEAR_TILE_E_F:"
               "L2_HIT_NEAR_TILE_M:L2_HIT_FAR_TILE_E_F:L2_HIT_FAR_TILE_M:NON_DRAM:MCDRAM:DDR",
               COMPAT, 3);
    assert_int_equal(c.umasks, 25);
    assert_int_equal(encode(text_of(assay_event_name, &c), COMPAT, 3).code[1], c.code[1]);
}

static const struct {
    const char *text;
    struct assay_event_perf perf;
    const char *string;
    unsigned mode;
} perf_vectors[] = {
    {"knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u",
     {.type = 4, .config = 0x1b7, .config1 = 0x80800001, .exclude_kernel = true, .exclude_guest = true},
     "cpu/event=0xb7,umask=0x1,offcore_rsp=0x80800001/u",
     EXT},
    {"knm::UOPS_RETIRED:MS:e:i:c=2:k",
     {.type = 4, .config = 0x28401c2, .exclude_user = true, .exclude_guest = true},
     "cpu/event=0xc2,umask=0x1,cmask=0x2,inv,edge/k",
     EXT},
    {"knm::UNHALTED_CORE_CYCLES:t", {.type = 4, .config = 0x20003c, .exclude_guest = true}, "cpu/event=0x3c,any/", EXT},
    {"knm::INST_RETIRED:precise=2:period=1000:pinned",
     {.type = 4, .config = 0xc0, .exclude_guest = true, .precise_ip = 2, .sample_period = 1000, .pinned = true},
     "cpu/event=0xc0,period=1000/ppD",
     EXT},
    {"knm::ICACHE:freq=99:excl:mg:mh",
     {.type = 4, .config = 0x380, .sample_period = 99, .freq = true, .exclusive = true},
     "cpu/event=0x80,umask=0x3,freq=99/GHe",
     EXT},
    /* event number 37, metric 1 */
    {"netburst::replay_event:L1_LD_MISS:u",
     {.type = 4, .config = 0x4a00020f0003b001, .exclude_kernel = true, .exclude_guest = true},
     "cpu/config=0x4a00020f0003b001/u",
     EXT},
    {"netburst::TC_deliver_mode:DD",
     {.type = 4, .config = 0x20f00033000, .exclude_guest = true},
     "cpu/config=0x20f00033000/",
     EXT},
    {"perf::cpu-cycles:k", {.type = 0, .config = 0, .exclude_user = true, .exclude_guest = true}, "cycles:k", EXT},
    {"perf::PERF_COUNT_HW_CACHE_DTLB:WRITE:MISS",
     {.type = 3, .config = 0x10103, .exclude_guest = true},
     "dTLB-store-misses",
     EXT},
    {"perf::task-clock", {.type = 1, .config = 1, .exclude_guest = true}, "task-clock", EXT},
    /* Host and guests: who is not named is the other one's opposite. */
    {"knm::ICACHE:mg",
     {.type = 4, .config = 0x380, .exclude_host = true},
     "cpu/event=0x80,umask=0x3/G",
     ASSAY_EVENT_PERF},
    {"knm::ICACHE:mg=0",
     {.type = 4, .config = 0x380, .exclude_guest = true},
     "cpu/event=0x80,umask=0x3/",
     COMPAT | ASSAY_EVENT_PERF},
    {"knm::ICACHE:mh", {.type = 4, .config = 0x380, .exclude_guest = true}, "cpu/event=0x80,umask=0x3/", COMPAT | EXT},
    {"knm::ICACHE:mh=0", {.type = 4, .config = 0x380, .exclude_host = true}, "cpu/event=0x80,umask=0x3/G", EXT},
};

static void events_for_perf(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof perf_vectors / sizeof perf_vectors[0]; i++) {
        struct assay_event_code c = encode(perf_vectors[i].text, perf_vectors[i].mode, 3);
        const struct assay_event_perf *want = &perf_vectors[i].perf;
        struct assay_event_perf p;
        assay_event_to_perf(&t, &c, &p);
        if (p.type != want->type || p.config != want->config || p.config1 != want->config1 ||
            p.config2 != want->config2)
            fail_msg("%s: %u %#llx %#llx", perf_vectors[i].text, p.type, (unsigned long long)p.config,
                     (unsigned long long)p.config1);
        if (p.exclude_user != want->exclude_user || p.exclude_kernel != want->exclude_kernel || p.exclude_hv ||
            p.exclude_host != want->exclude_host || p.exclude_guest != want->exclude_guest)
            fail_msg("%s: where it counts", perf_vectors[i].text);
        if (p.sample_period != want->sample_period || p.freq != want->freq || p.pinned != want->pinned ||
            p.exclusive != want->exclusive || p.precise_ip != want->precise_ip)
            fail_msg("%s: how it counts", perf_vectors[i].text);
        assert_string_equal(text_of(assay_event_perf_string, &c), perf_vectors[i].string);
    }
}

static void latency_is_a_pair(void **state)
{
    (void)state;
    struct assay_event_code pair[2];
    struct assay_event_error e;
    const char *text = "DMND_DATA_RD:PF_L2_RFO:u";
    assert_int_equal(assay_event_latency(&t, text, strlen(text), STRICT, 3, ASSAY_EVENT_NONE, pair, &e), ASSAY_OK);
    assert_int_equal(pair[0].code[0], 0x5101b7);
    assert_int_equal(pair[0].code[1], 0x4000000021);
    assert_int_equal(pair[1].code[0], 0x5102b7);
    assert_int_equal(pair[1].code[1], 0x10021);
    assert_int_equal(assay_event_latency(&t, "", 0, STRICT, 3, ASSAY_EVENT_NONE, pair, &e), ASSAY_OK);
    assert_int_equal(pair[0].code[1], 0x4000008000);
    assert_int_equal(pair[1].code[1], 0x18000);
    static const struct {
        const char *text;
        unsigned reason, column;
    } wrong[] = {
        {"DMND_RFO:DDR", ASSAY_EVENT_LATENCY, 9},          {"ANY_RESPONSE", ASSAY_EVENT_LATENCY, 0},
        {"PARTIAL_WRITES", ASSAY_EVENT_MSR_REFUSES, 0},    {"0x1", ASSAY_EVENT_RAW_MIXED, 0},
        {"DMND_RFO:BOGUS:u", ASSAY_EVENT_NO_ATTRIBUTE, 9}, {"DMND_RFO:", ASSAY_EVENT_EMPTY, 9},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        size_t n = strlen(wrong[i].text);
        assert_int_not_equal(assay_event_latency(&t, wrong[i].text, n, STRICT, 3, ASSAY_EVENT_NONE, pair, &e),
                             ASSAY_OK);
        assert_int_equal(e.reason, wrong[i].reason);
        assert_int_equal(e.column, wrong[i].column);
    }
    uint32_t netburst = assay_event_find_pmu(&t, "netburst", 8);
    assert_int_equal(assay_event_latency(&t, "", 0, STRICT, 3, netburst, pair, &e), ASSAY_E_NOT_FOUND);
}

int main(void)
{
    assay_event_builtin(&t);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_to_registers),
        cmocka_unit_test(worked_example_of_netburst),
        cmocka_unit_test(privilege_comes_from_the_string_or_the_caller),
        cmocka_unit_test(counters_that_can_count),
        cmocka_unit_test(without_a_pmu_the_first_that_makes_sense),
        cmocka_unit_test(one_umask_said_often_is_one),
        cmocka_unit_test(values_that_the_reference_has_wrong),
        cmocka_unit_test(events_for_perf),
        cmocka_unit_test(latency_is_a_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
