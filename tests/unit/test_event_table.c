/* SPDX-License-Identifier: MIT */
/* The built-in event table: codes by hand from the SDM, Intel's event list and the kernel's header; names, hashes, models. */
#include <assay/event.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct assay_event_table t;

static uint32_t pmu(const char *name)
{
    uint32_t p = assay_event_find_pmu(&t, name, strlen(name));
    assert_int_not_equal(p, ASSAY_EVENT_NONE);
    return p;
}

static const struct assay_event_row *event(const char *of, const char *name)
{
    uint32_t e = assay_event_find(&t, pmu(of), name, strlen(name));
    assert_int_not_equal(e, ASSAY_EVENT_NONE);
    return &t.events[e];
}

static const struct assay_event_umask *umask(const char *of, const char *name, const char *unit)
{
    uint32_t u = assay_event_find_umask(&t, (uint32_t)(event(of, name) - t.events), unit, strlen(unit));
    assert_int_not_equal(u, ASSAY_EVENT_NONE);
    return &t.umasks[u];
}

enum { FIXED = 32 };
#define BIT(n) ((uint64_t)1 << (n))

static void codes_of_knights_mill(void **state)
{
    (void)state;
    static const struct {
        const char *event, *umask;
        uint64_t code;
    } want[] = {
        {"ICACHE", "MISSES", 0x0280},
        {"UOPS_RETIRED", "PACKED_SIMD", 0x40c2},
        {"BR_INST_RETIRED", "IND_CALL", 0xfbc4},
        {"BR_MISP_RETIRED", "TAKEN_JCC", 0xfec5},
        {"NO_ALLOC_CYCLES", "NOT_DELIVERED", 0x90ca},
        {"RS_FULL_STALL", "ALL", 0x1fcb},
        {"MS_DECODED", "MS_ENTRY", 0x01e7},
        {"MEM_UOPS_RETIRED", "HITM", 0x2004},
        {"CPU_CLK_UNHALTED", "BUS", 0x013c},
        {"CPU_CLK_UNHALTED", "REF", 0x013c},
        {"CPU_CLK_UNHALTED", "REF_P", 0x023c},
        {"L2_PREFETCHER", "ALLOC_XQ", 0x043e},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_int_equal(event("knm", want[i].event)->config | umask("knm", want[i].event, want[i].umask)->value << 8,
                         want[i].code);
    assert_int_equal(event("knm", "LLC_MISSES")->config, 0x412e);
    assert_int_equal(event("knm", "UNHALTED_REFERENCE_CYCLES")->config, 0x0300);
}

static void counters_of_knights_mill(void **state)
{
    (void)state;
    assert_true(event("knm", "INSTRUCTION_RETIRED")->counters == (3 | BIT(FIXED)));
    assert_true(event("knm", "INSTRUCTIONS_RETIRED")->counters == (3 | BIT(FIXED)));
    assert_true(event("knm", "UNHALTED_CORE_CYCLES")->counters == (3 | BIT(FIXED + 1)));
    assert_true(event("knm", "UNHALTED_REFERENCE_CYCLES")->counters == BIT(FIXED + 2));
    assert_true(event("knm", "OFFCORE_RESPONSE_1")->counters == 3);
    assert_int_equal(t.pmus[pmu("knm")].generic, 2);
    assert_int_equal(t.pmus[pmu("knm")].fixed, 3);
    assert_int_equal(t.pmus[pmu("knm")].precise, 1);
    assert_int_equal(t.pmus[pmu("netburst")].precise, 1 << 16 | 1 << 17);
    assert_true(strstr(assay_event_str(&t, t.pmus[pmu("knm")].counters_note), "libpfm_intel_knm(3)") != NULL);
}

/* Bits by hand from Intel's table of request and response types. */
static void offcore_values(void **state)
{
    (void)state;
    static const struct {
        const char *umask;
        uint64_t value;
    } want[] = {
        {"DMND_DATA_RD", BIT(0)},
        {"DEMAND_DATA_RD", BIT(0)},
        {"PF_L2_CODE_RD", BIT(6)},
        {"STREAMING_STORES", BIT(11) | BIT(14)},
        {"ANY_READ", BIT(0) | BIT(1) | BIT(2) | BIT(5) | BIT(6) | BIT(7) | BIT(9) | BIT(12) | BIT(13)},
        {"ANY_RESPONSE", BIT(16)},
        {"DDR_NEAR", BIT(23) | BIT(31)},
        {"DDR_FAR", BIT(24) | BIT(32)},
        {"DDR", BIT(23) | BIT(24) | BIT(31) | BIT(32)},
        {"MCDRAM_FAR", BIT(22) | BIT(32)},
        {"L2_HIT_THIS_TILE_M", BIT(25)},
        {"L2_HIT_THIS_TILE_F", BIT(28)},
        {"NON_DRAM", BIT(17) | BIT(37)},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_true(umask("knm", "OFFCORE_RESPONSE_0", want[i].umask)->value == want[i].value);
        assert_true(umask("knm", "OFFCORE_RESPONSE_1", want[i].umask)->value == want[i].value);
    }
    assert_true(umask("knm", "OFFCORE_RESPONSE_0", "OUTSTANDING")->value == BIT(38));
    assert_int_equal(
        assay_event_find_umask(&t, (uint32_t)(event("knm", "OFFCORE_RESPONSE_1") - t.events), "OUTSTANDING", 11),
        ASSAY_EVENT_NONE);
}

/* Each of the two knows the other as its alternative. */
static void offcore_registers(void **state)
{
    (void)state;
    const struct assay_event_row *e0 = event("knl", "OFFCORE_RESPONSE_0"), *e1 = event("knl", "OFFCORE_RESPONSE_1");
    assert_int_equal(e0->config, 0x01b7);
    assert_int_equal(e1->config, 0x02b7);
    assert_int_equal(e0->extra_msr, 0x1a6);
    assert_int_equal(e1->extra_msr, 0x1a7);
    assert_true(e0->extra_ok == 0x799ffbb6e7 && e1->extra_ok == 0x399ffbffe7);
    assert_true(e0->config_alt == 0x02b7 && e0->extra_msr_alt == 0x1a7 && e0->extra_alt_ok == e1->extra_ok);
    assert_true(e1->config_alt == 0x01b7 && e1->extra_msr_alt == 0x1a6 && e1->extra_alt_ok == e0->extra_ok);
    assert_int_equal(e0->raw_bits, 39);
    assert_int_equal(e1->raw_bits, 38);
    assert_int_equal(e0->groups, 3);
    assert_int_equal(e1->groups, 2);
}

static void flags_and_fixed_modifiers(void **state)
{
    (void)state;
    const struct assay_event_umask *walks = umask("knm", "PAGE_WALKS", "D_SIDE_WALKS"),
                                   *cycles = umask("knm", "PAGE_WALKS", "CYCLES");
    uint32_t e_and_c = 1 << ASSAY_EVENT_MOD_E | 1 << ASSAY_EVENT_MOD_C;
    assert_true(walks->fixed_modifiers == e_and_c && walks->fixed_edge == 1 && walks->fixed_cmask == 1);
    assert_true(cycles->fixed_modifiers == e_and_c && cycles->fixed_edge == 0 && cycles->fixed_cmask == 0);
    assert_int_equal(umask("knm", "PAGE_WALKS", "D_SIDE_CYCLES")->fixed_modifiers, 0);
    assert_true(umask("knm", "MEM_UOPS_RETIRED", "L2_MISS_LOADS")->flags & ASSAY_EVENT_PEBS);
    assert_false(umask("knm", "MEM_UOPS_RETIRED", "L1_MISS_LOADS")->flags & ASSAY_EVENT_PEBS);
    assert_true(umask("knm", "OFFCORE_RESPONSE_0", "ANY_RESPONSE")->flags & ASSAY_EVENT_OVERRIDES);
    assert_true(umask("knm", "OFFCORE_RESPONSE_0", "OUTSTANDING")->flags & ASSAY_EVENT_ALONE);
    assert_true(umask("knm", "OFFCORE_RESPONSE_0", "L2_MISS")->flags & ASSAY_EVENT_EXTRA);
    assert_true(event("knm", "UNHALTED_REFERENCE_CYCLES")->flags & ASSAY_EVENT_FIXED_ONLY);
    assert_true(event("knm", "L2_PREFETCHER")->flags & ASSAY_EVENT_EXTRA);
}

/* SDM Vol. 3B: replay_event is event 09H in CRU_ESCR2 or 3 (3CCH, 3CDH), CCCR select 05H, counters 12 13 16 and 14 15 17. */
static void netburst_routing(void **state)
{
    (void)state;
    const struct assay_event_row *e = event("netburst_p", "replay_event");
    const struct assay_event_netburst *n = &t.netburst[e->netburst];
    assert_int_equal(e->config, 0x12000000);
    assert_true(n->escr_msr[0] == 0x3cc && n->escr_msr[1] == 0x3cd);
    assert_true(n->counters[0] == (BIT(12) | BIT(13) | BIT(16)) && n->counters[1] == (BIT(14) | BIT(15) | BIT(17)));
    assert_true(e->counters == (n->counters[0] | n->counters[1]));
    assert_true(n->escr_select == 5 && n->event_select == 9 && n->perf_event == 37);
    assert_true(umask("netburst", "b2b_cycles", "BIT5")->value == 5 &&
                umask("netburst", "b2b_cycles", "BIT6")->value == 6);
    assert_true(umask("netburst", "b2b_cycles", "BIT6")->flags & ASSAY_EVENT_NO_KERNEL);
    assert_true(umask("netburst", "packed_SP_uop", "TAG2")->value == 4);
    assert_true(umask("netburst", "packed_SP_uop", "TAG2")->flags & ASSAY_EVENT_TAG);
    assert_int_equal(assay_event_find(&t, pmu("netburst"), "instr_completed", 15), ASSAY_EVENT_NONE);
    assert_int_equal(t.netburst[event("netburst", "BSQ_active_entries")->netburst].escr_msr[1], 0);
}

/* Table 19-33: second-level load misses are bits 24 and 1 of MSR_PEBS_ENABLE (with PEBS 25 too) and bit 0 of the matrix;
 * split stores are tagged in SAAT_ESCR0 (3AEH), mask bit 1. */
static void netburst_metrics(void **state)
{
    (void)state;
    for (int p = 0; p < 2; p++) {
        const struct assay_event_row *e = event(p ? "netburst_p" : "netburst", "replay_event");
        const struct assay_event_metric *m = &t.metrics[t.netburst[e->netburst].upstream];
        assert_true(m->event == (uint32_t)(e - t.events));
        assert_string_equal(assay_event_str(&t, m[1].name), "2ndL_cache_load_miss_retired");
        assert_true(m[1].pebs_enable == 0x1000002 && m[1].pebs_enable_pebs == 0x3000002 && m[1].matrix_vert == 1);
        assert_ptr_equal(&t.umasks[m[1].umask], umask("netburst", "replay_event", "L2_LD_MISS"));
        assert_string_equal(assay_event_str(&t, m[8].name), "split_store_retired");
        assert_true(m[8].upstream_escr == 0x3ae && m[8].upstream_mask == 2 && m[8].matrix_vert == 2);
        assert_ptr_equal(&t.events[m[8].upstream_event], event(p ? "netburst_p" : "netburst", "store_port_replay"));
    }
}

/* perf_event_open(2): type and config. */
static void events_of_linux(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint8_t type;
        uint64_t config;
    } want[] = {
        {"cycles", 0, 0},
        {"branch-misses", 0, 5},
        {"PERF_COUNT_SW_PAGE_FAULTS", 1, 2},
        {"task-clock", 1, 1},
        {"minor-faults", 1, 5},
        {"dummy", 1, 9},
        {"L1-dcache-load-misses", 3, 0x10000},
        {"LLC-stores", 3, 0x102},
        {"dTLB-loads", 3, 3},
        {"iTLB-load-misses", 3, 0x10004},
        {"node-prefetches", 3, 0x206},
        {"cs", 1, 3},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_int_equal(event("perf", want[i].name)->perf_type, want[i].type);
        assert_int_equal(event("perf", want[i].name)->config, want[i].config);
    }
    assert_string_equal(assay_event_str(&t, event("perf", "cycles")->equiv), "PERF_COUNT_HW_CPU_CYCLES");
}

static void architectural_events(void **state)
{
    (void)state;
    assert_int_equal(event("ix86arch", "UNHALTED_REFERENCE_CYCLES")->config, 0x013c);
    assert_int_equal(event("ix86arch", "MISPREDICTED_BRANCH_RETIRED")->config, 0x00c5);
    assert_int_equal(event("ix86arch", "TOPDOWN_SLOTS")->config, 0x01a4);
    assert_int_equal(event("ix86arch", "LBR_INSERTS")->config, 0x01e4);
}

/* Rows, their offsets and the slots of both hashes: all inside the table, all names found, and each at its first slot. */
static void check_name(const struct assay_event_table *of, uint32_t seed, uint32_t slot, uint32_t row, const char *name)
{
    char other[64];
    size_t n = strlen(name);
    assert_int_equal(of->slots[slot], row + 1);
    assert_true(n > 0 && n < sizeof other);
    for (size_t i = 0; i <= n; i++)
        other[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32 : name[i]);
    assert_int_equal(assay_event_hash(seed, other, n), assay_event_hash(seed, name, n));
}

static void check_umasks(uint32_t row)
{
    const struct assay_event_row *e = &t.events[row];
    for (uint32_t i = 0; i < e->umasks; i++) {
        assert_true(e->first_umask + i < t.umask_count);
        const struct assay_event_umask *u = &t.umasks[e->first_umask + i];
        const char *name = assay_event_str(&t, u->name);
        uint32_t slot = e->first_slot + (assay_event_hash(e->seed, name, strlen(name)) & e->slot_mask);
        assert_true(slot < t.slot_count && u->name < t.pool_size && u->desc < t.pool_size && u->equiv < t.pool_size);
        check_name(&t, e->seed, slot, i, name);
        assert_int_equal(assay_event_find_umask(&t, row, name, strlen(name)), e->first_umask + i);
        assert_int_equal((u->flags & ASSAY_EVENT_EXTRA) != 0, i >= e->listed);
        assert_true(u->group < e->groups);
    }
}

static void every_row_is_found(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < t.pmu_count; i++)
        for (uint32_t j = 0; j < t.pmus[i].events; j++) {
            const struct assay_event_pmu *p = &t.pmus[i];
            uint32_t row = p->first_event + j;
            const char *name = assay_event_str(&t, t.events[row].name);
            assert_true(row < t.event_count);
            check_name(&t, p->seed, p->first_slot + (assay_event_hash(p->seed, name, strlen(name)) & p->slot_mask), j,
                       name);
            assert_int_equal(assay_event_find(&t, i, name, strlen(name)), row);
            assert_int_equal((t.events[row].flags & ASSAY_EVENT_EXTRA) != 0, j >= p->listed);
            check_umasks(row);
        }
}

static void names_that_are_not_there(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "", "I", "ICACHES", "ICACH", "ICACHE\0X", "icache ", "OFFCORE_RESPONSE_2", "\xff\xff\xff"};
    static const size_t length[] = {0, 1, 7, 5, 8, 7, 18, 3};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(assay_event_find(&t, pmu("knm"), wrong[i], length[i]), ASSAY_EVENT_NONE);
        assert_int_equal(assay_event_find_pmu(&t, wrong[i], length[i]), ASSAY_EVENT_NONE);
        assert_int_equal(assay_event_find_umask(&t, (uint32_t)(event("knm", "ICACHE") - t.events), wrong[i], length[i]),
                         ASSAY_EVENT_NONE);
    }
    assert_int_equal(assay_event_find_umask(&t, (uint32_t)(event("knm", "LLC_MISSES") - t.events), "HIT", 3),
                     ASSAY_EVENT_NONE);
    assert_int_not_equal(assay_event_find(&t, pmu("knm"), "iCaChE and more", 6), ASSAY_EVENT_NONE);
}

/* Bit 5 is the case of letters and of nothing else; a name ends where the string ends, whatever stands behind it. */
static void only_letters_have_a_case(void **state)
{
    (void)state;
    static const char pool[] = "\0AZaz@[`{\0behind\0A_\xe9z\0AZaz@[`{MmAZ\0";
    static const struct assay_event_pmu pmus[] = {{.name = 1}, {.name = 17}, {.name = 22}};
    struct assay_event_table made = {.pool = pool, .pmus = pmus, .pmu_count = 3, .pool_size = sizeof pool};
    static const struct {
        const char *name;
        size_t size;
        uint32_t pmu;
    } want[] = {
        {"AZaz@[`{", 8, 0},
        {"azAZ@[`{", 8, 0},
        {"AZaz`[`{", 8, ASSAY_EVENT_NONE},
        {"AZaz@{`{", 8, ASSAY_EVENT_NONE},
        {"AZaz@[@{", 8, ASSAY_EVENT_NONE},
        {"AZaz@[`[", 8, ASSAY_EVENT_NONE},
        {"BZaz@[`{", 8, ASSAY_EVENT_NONE},
        {"\xc1Zaz@[`{", 8, ASSAY_EVENT_NONE},
        {"AZaz@[`{\0behind", 15, ASSAY_EVENT_NONE},
        {"AZaz@[`{\0b", 10, ASSAY_EVENT_NONE},
        {"a_\xe9Z", 4, 1},
        {"A_\xc9z", 4, ASSAY_EVENT_NONE},
        {"A\x7f\xe9"
         "z",
         4, ASSAY_EVENT_NONE},
        {"azAZ@[`{mMaz", 12, 2},
        {"azAZ@[`{mMa\x5a", 12, 2},
        {"azAZ@[`{mMa!", 12, ASSAY_EVENT_NONE},
        {"azAZ@![{mMaz", 12, ASSAY_EVENT_NONE},
        {"AZaz@[`{MmAZ\0", 13, ASSAY_EVENT_NONE}, /* longer than the pool goes on */
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_int_equal(assay_event_find_pmu(&made, want[i].name, want[i].size), want[i].pmu);
}

/* The hash as the compiler of the tables and any loader must have it: (seed ^ 3) of "a_Z" mixed by hand. */
static void hash_is_as_written_down(void **state)
{
    (void)state;
    uint64_t golden = 0x9e3779b97f4a7c15u, h = ((7 ^ 3) ^ (0x7a7f61 | 0x2020202020202020u)) * golden;
    h ^= h >> 32;
    assert_int_equal(assay_event_hash(7, "a_Z", 3), (uint32_t)(h * golden >> 32));
    assert_int_equal(assay_event_hash(7, "A_z", 3), assay_event_hash(7, "a_Z", 3));
}

static void models(void **state)
{
    (void)state;
    assert_int_equal(assay_event_find_model(&t, 6, 133, 0), pmu("knm"));
    assert_int_equal(assay_event_find_model(&t, 6, 87, 15), pmu("knl"));
    assert_int_equal(assay_event_find_model(&t, 15, 2, 9), pmu("netburst"));
    assert_int_equal(assay_event_find_model(&t, 15, 4, 1), pmu("netburst_p"));
    assert_int_equal(assay_event_find_model(&t, 15, 5, 0), ASSAY_EVENT_NONE);
    assert_int_equal(assay_event_find_model(&t, 6, 85, 4), ASSAY_EVENT_NONE);
}

/* One model, two PMUs by stepping, as Intel's map of its event files has them. */
static void steppings(void **state)
{
    (void)state;
    static const uint32_t list[] = {6 << 16 | 85 << 4, 6 << 16 | 85 << 4 | 5};
    struct assay_event_pmu two[2] = {{.first_model = 0, .models = 1}, {.first_model = 1, .models = 1}};
    struct assay_event_table made = {.pool = "", .pmus = two, .models = list, .pmu_count = 2, .model_count = 2};
    assert_int_equal(assay_event_find_model(&made, 6, 85, 4), 0);
    assert_int_equal(assay_event_find_model(&made, 6, 85, 5), 1);
    assert_int_equal(assay_event_find_model(&made, 6, 85, 11), 1);
}

int main(void)
{
    assay_event_builtin(&t);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_of_knights_mill),
        cmocka_unit_test(counters_of_knights_mill),
        cmocka_unit_test(offcore_values),
        cmocka_unit_test(offcore_registers),
        cmocka_unit_test(flags_and_fixed_modifiers),
        cmocka_unit_test(netburst_routing),
        cmocka_unit_test(netburst_metrics),
        cmocka_unit_test(events_of_linux),
        cmocka_unit_test(architectural_events),
        cmocka_unit_test(every_row_is_found),
        cmocka_unit_test(names_that_are_not_there),
        cmocka_unit_test(only_letters_have_a_case),
        cmocka_unit_test(hash_is_as_written_down),
        cmocka_unit_test(models),
        cmocka_unit_test(steppings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
