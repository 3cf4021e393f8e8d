/* SPDX-License-Identifier: MIT */
/* The register writes of events and groups, with values worked out by hand (SDM Vol. 3B 18.2, 18.15.6, 18.15.7). */
#include "event_words.h"

enum { MOST = 4 };

/* "NAME=value" of all writes for events separated by blanks, on the counters that the assignment chose. */
static void writes(const char *pmu, const char *events, unsigned flags, const char *want)
{
    struct assay_event_code code[MOST];
    struct assay_event_slot slot[MOST];
    struct assay_event_write w[5 * MOST + 4];
    char text[600] = "";
    unsigned n = 0;
    for (const char *at = events; *at; n++) {
        size_t size = strcspn(at, " ");
        snprintf(text, sizeof text, "%s::%.*s", pmu, (int)size, at);
        encode_to(text, &code[n]);
        at += size + strspn(at + size, " ");
    }
    assert_int_equal(assay_event_assign(&table, code, n, 0, slot, NULL), ASSAY_OK);
    int count = assay_event_writes(&table, code, slot, n, flags, w, 5 * n + 4);
    assert_in_range(count, 1, 5 * n + 4);
    text[0] = '\0';
    for (int i = 0, at = 0; i < count; i++) {
        const struct assay_event_msr *r = assay_event_register_at(w[i].msr, table.pmus[code[0].pmu].scheme);
        assert_string_equal(r->name, w[i].name);
        assert_true(w[i].why[0]);
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s=%llx", i ? " " : "", w[i].name,
                       (unsigned long long)w[i].value);
    }
    assert_string_equal(text, want);
    assert_int_equal(assay_event_writes(&table, code, slot, n, flags, w, (unsigned)count - 1), ASSAY_E_ARGUMENT);
}

static void core_events_begin_and_end_with_global_control(void **state)
{
    (void)state;
    writes("knm", "LLC_MISSES:u", 0, "IA32_PERF_GLOBAL_CTRL=0 IA32_PERFEVTSEL0=51412e IA32_PERF_GLOBAL_CTRL=1");
    writes("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR", 0,
           "IA32_PERF_GLOBAL_CTRL=0 MSR_OFFCORE_RSP_0=181800001 IA32_PERFEVTSEL0=5301b7 IA32_PERF_GLOBAL_CTRL=1");
    writes("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR OFFCORE_RESPONSE_0:DMND_RFO:DDR", 0,
           "IA32_PERF_GLOBAL_CTRL=0 MSR_OFFCORE_RSP_0=181800001 MSR_OFFCORE_RSP_1=181800002 IA32_PERFEVTSEL0=5301b7 "
           "IA32_PERFEVTSEL1=5302b7 IA32_PERF_GLOBAL_CTRL=3");
    writes("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR:u OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR:k", 0,
           "IA32_PERF_GLOBAL_CTRL=0 MSR_OFFCORE_RSP_0=181800001 IA32_PERFEVTSEL0=5101b7 IA32_PERFEVTSEL1=5201b7 "
           "IA32_PERF_GLOBAL_CTRL=3");
}

/* Four bits a fixed counter: ring 0, rings 1 to 3, any thread, interrupt. */
static void fixed_counters_share_one_register(void **state)
{
    (void)state;
    writes("knm", "INSTRUCTION_RETIRED", 0,
           "IA32_PERF_GLOBAL_CTRL=0 IA32_FIXED_CTR_CTRL=b IA32_PERF_GLOBAL_CTRL=100000000");
    writes("knm", "INSTRUCTION_RETIRED:u UNHALTED_CORE_CYCLES:k:t LLC_MISSES UNHALTED_REFERENCE_CYCLES", 0,
           "IA32_PERF_GLOBAL_CTRL=0 IA32_PERFEVTSEL0=53412e IA32_FIXED_CTR_CTRL=bda IA32_PERF_GLOBAL_CTRL=700000001");
}

/* PEBS: no interrupt of the counter itself. */
static void core_records_have_an_enable_bit(void **state)
{
    (void)state;
    writes("knm", "LLC_MISSES BR_INST_RETIRED:ANY:precise=1", ASSAY_EVENT_WRITE_PEBS,
           "IA32_PERF_GLOBAL_CTRL=0 IA32_PERFEVTSEL1=53412e IA32_PERFEVTSEL0=4300c4 IA32_PEBS_ENABLE=1 "
           "IA32_PERF_GLOBAL_CTRL=3");
    writes("knm", "BR_INST_RETIRED:ANY LLC_MISSES", ASSAY_EVENT_WRITE_PEBS,
           "IA32_PERF_GLOBAL_CTRL=0 IA32_PERFEVTSEL0=4300c4 IA32_PERFEVTSEL1=53412e IA32_PEBS_ENABLE=1 "
           "IA32_PERF_GLOBAL_CTRL=3");
    writes("knm", "LLC_MISSES BR_INST_RETIRED:ANY", 0,
           "IA32_PERF_GLOBAL_CTRL=0 IA32_PERFEVTSEL0=53412e IA32_PERFEVTSEL1=5300c4 IA32_PERF_GLOBAL_CTRL=3");
}

/* select << 25 | mask << 9 | T0 rings; 3 << 16 | ESCR select << 13 | enable. */
static void netburst_events_are_escr_then_cccr(void **state)
{
    (void)state;
    writes("netburst", "global_power_events", 0, "MSR_FSB_ESCR0=2600020c MSR_BPU_CCCR0=3d000");
    writes("netburst", "global_power_events:u:e:thr=1", ASSAY_EVENT_WRITE_PMI,
           "MSR_FSB_ESCR0=26000204 MSR_BPU_CCCR0=517d000");
    writes("netburst", "global_power_events:k", 0, "MSR_FSB_ESCR0=26000208 MSR_BPU_CCCR0=3d000");
    writes("netburst", "IOQ_allocation:ALL_READ IOQ_active_entries:ALL_READ", 0,
           "MSR_FSB_ESCR0=600400c MSR_FSB_ESCR1=3400400c MSR_BPU_CCCR0=3d000 MSR_BPU_CCCR2=3d000");
    writes("netburst", "global_power_events global_power_events:thr=1", 0,
           "MSR_FSB_ESCR0=2600020c MSR_BPU_CCCR0=3d000 MSR_BPU_CCCR1=17d000");
}

/* First-level misses of loads that retired: bit 24 of MSR_PEBS_ENABLE tags, bit 25 makes records. */
static void replay_metrics_come_with_their_registers(void **state)
{
    (void)state;
    const char *l1 = "replay_event:NBOGUS:L1_LD_MISS";
    writes("netburst", l1, 0,
           "MSR_CRU_ESCR2=1200020c MSR_PEBS_ENABLE=1000001 MSR_PEBS_MATRIX_VERT=1 MSR_IQ_CCCR4=3b000");
    writes("netburst", l1, ASSAY_EVENT_WRITE_PMI,
           "MSR_CRU_ESCR2=1200020c MSR_PEBS_ENABLE=1000001 MSR_PEBS_MATRIX_VERT=1 MSR_IQ_CCCR4=403b000");
    writes("netburst", l1, ASSAY_EVENT_WRITE_PEBS,
           "MSR_CRU_ESCR2=1200020c MSR_PEBS_ENABLE=3000001 MSR_PEBS_MATRIX_VERT=1 MSR_IQ_CCCR4=403b000");
    writes("netburst", "replay_event:NBOGUS:BR_MSP", 0,
           "MSR_CRU_ESCR2=1200020c MSR_PEBS_ENABLE=1018000 MSR_PEBS_MATRIX_VERT=10 MSR_IQ_CCCR4=3b000");
    writes("netburst", "replay_event:NBOGUS:DTLB_ALL_MISS:u", 0,
           "MSR_CRU_ESCR2=12000204 MSR_PEBS_ENABLE=1000004 MSR_PEBS_MATRIX_VERT=3 MSR_IQ_CCCR4=3b000");
}

/* Split loads are tagged by SAAT_ESCR1 (event 4, mask bit 1), whose unit sleeps unless one of its counters runs. */
static void upstream_registers_are_written_first(void **state)
{
    (void)state;
    writes("netburst", "replay_event:NBOGUS:SP_LD_RET", 0,
           "MSR_SAAT_ESCR1=800040c MSR_CRU_ESCR2=1200020c MSR_PEBS_ENABLE=1000400 MSR_PEBS_MATRIX_VERT=1 "
           "MSR_FLAME_CCCR2=35000 "
           "MSR_IQ_CCCR4=3b000");
    writes("netburst", "replay_event:NBOGUS:SP_ST_RET", 0,
           "MSR_SAAT_ESCR0=a00040c MSR_CRU_ESCR2=1200020c MSR_PEBS_ENABLE=1000400 MSR_PEBS_MATRIX_VERT=2 "
           "MSR_FLAME_CCCR0=35000 "
           "MSR_IQ_CCCR4=3b000");
    writes("netburst", "replay_event:NBOGUS:MOB_LD_REPLAY", 0,
           "MSR_MOB_ESCR0=600600c MSR_CRU_ESCR2=1200020c MSR_PEBS_ENABLE=1000200 MSR_PEBS_MATRIX_VERT=1 "
           "MSR_BPU_CCCR0=35000 "
           "MSR_IQ_CCCR4=3b000");
    writes("netburst", "replay_event:NBOGUS:SP_LD_RET load_port_replay:SPLIT_LD", 0,
           "MSR_SAAT_ESCR1=800040c MSR_CRU_ESCR2=1200020c MSR_PEBS_ENABLE=1000400 MSR_PEBS_MATRIX_VERT=1 "
           "MSR_FLAME_CCCR2=35000 MSR_IQ_CCCR4=3b000");
}

/* Front-end and execution tags are set by an event of the group. */
static void tags_of_the_group_are_its_own_events(void **state)
{
    (void)state;
    writes(
        "netburst", "front_end_event:NBOGUS uops_type:TAGLOADS", ASSAY_EVENT_WRITE_PEBS,
        "MSR_RAT_ESCR0=400040c MSR_CRU_ESCR2=1000020c MSR_PEBS_ENABLE=2000000 MSR_IQ_CCCR0=35000 MSR_IQ_CCCR4=403b000");
    writes("netburst", "execution_event:NBOGUS0 packed_SP_uop:ALL:TAG0", 0,
           "MSR_FIRM_ESCR0=1100003c MSR_CRU_ESCR2=1800020c MSR_FLAME_CCCR0=33000 MSR_IQ_CCCR4=3b000");
}

static void records_need_their_counter(void **state)
{
    (void)state;
    struct assay_event_code code;
    struct assay_event_slot slot;
    struct assay_event_write w[9];
    encode_to("netburst::replay_event:NBOGUS:L1_LD_MISS", &code);
    assert_int_equal(assay_event_assign(&table, &code, 1, 0, &slot, NULL), ASSAY_OK);
    slot.counter = 12;
    assert_int_equal(assay_event_writes(&table, &code, &slot, 1, ASSAY_EVENT_WRITE_PEBS, w, 9), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_event_writes(&table, &code, &slot, 1, 0, w, 9), 4);
    assert_int_equal(w[3].msr, 0x36c);
    encode_to("knm::BR_INST_RETIRED:ANY", &code); /* counter 0 alone makes records there */
    assert_int_equal(assay_event_assign(&table, &code, 1, 0, &slot, NULL), ASSAY_OK);
    assert_int_equal(assay_event_writes(&table, &code, &slot, 1, ASSAY_EVENT_WRITE_PEBS, w, 9), 4);
    slot.counter = 1;
    assert_int_equal(assay_event_writes(&table, &code, &slot, 1, ASSAY_EVENT_WRITE_PEBS, w, 9), ASSAY_E_ARGUMENT);
}

static void software_events_have_no_registers(void **state)
{
    (void)state;
    struct assay_event_code code;
    struct assay_event_slot slot;
    struct assay_event_write w[9];
    encode_to("perf::page-faults", &code);
    assert_int_equal(assay_event_assign(&table, &code, 1, 0, &slot, NULL), ASSAY_OK);
    assert_int_equal(assay_event_writes(&table, &code, &slot, 1, 0, w, 9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_events_begin_and_end_with_global_control),
        cmocka_unit_test(fixed_counters_share_one_register),
        cmocka_unit_test(core_records_have_an_enable_bit),
        cmocka_unit_test(netburst_events_are_escr_then_cccr),
        cmocka_unit_test(replay_metrics_come_with_their_registers),
        cmocka_unit_test(upstream_registers_are_written_first),
        cmocka_unit_test(tags_of_the_group_are_its_own_events),
        cmocka_unit_test(records_need_their_counter),
        cmocka_unit_test(software_events_have_no_registers),
    };
    assay_event_builtin(&table);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
