/* SPDX-License-Identifier: MIT */
/* Groups on counters: cases worked out by hand, and a search over all assignments as the judge of random groups. */
#include "event_words.h"

enum { MOST = 20 };

struct group {
    struct assay_event_code code[MOST];
    struct assay_event_slot slot[MOST];
    struct assay_event_group_error error;
    unsigned n;
};

/* Events separated by blanks. */
static int assign(struct group *g, const char *pmu, const char *events, unsigned mode)
{
    char text[200];
    const char *at = events;
    for (g->n = 0; *at; g->n++) {
        size_t n = strcspn(at, " ");
        snprintf(text, sizeof text, "%s::%.*s", pmu, (int)n, at);
        encode_to(text, &g->code[g->n]);
        at += n + strspn(at + n, " ");
    }
    return assay_event_assign(&table, g->code, g->n, mode, g->slot, &g->error);
}

/* Counters in the order of the events; f is fixed, ' marks the other code. */
static void fits(const char *pmu, const char *events, const char *want)
{
    struct group g;
    char got[200] = "";
    size_t at = 0;
    int status = assign(&g, pmu, events, 0);
    for (unsigned i = 0; i < g.n && status == ASSAY_OK; i++)
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%s%u%s", i ? " " : "", g.slot[i].counter < 32 ? "" : "f",
                               g.slot[i].counter % 32, g.slot[i].alt ? "'" : "");
    if (status != ASSAY_OK || strcmp(got, want) != 0)
        fail_msg("%s %s: conflict %u, \"%s\", not \"%s\"", pmu, events, g.error.conflict, got, want);
}

static void fails(const char *pmu, const char *events, enum assay_event_conflict conflict, uint64_t set,
                  uint64_t counters, uint32_t msr0, uint32_t msr1)
{
    struct group g;
    assert_int_equal(assign(&g, pmu, events, 0), ASSAY_E_ARGUMENT);
    if (g.error.conflict != conflict || g.error.events != set)
        fail_msg("%s: conflict %u of events %#llx", events, g.error.conflict, (unsigned long long)g.error.events);
    assert_true(g.error.counters == counters);
    assert_int_equal(g.error.msr[0], msr0);
    assert_int_equal(g.error.msr[1], msr1);
    assert_int_equal(g.error.first, __builtin_ctzll(set));
    assert_int_equal(g.error.second, 63 - __builtin_clzll(set));
}

static void fixed_counters_come_first(void **state)
{
    (void)state;
    fits("knm", "INSTRUCTION_RETIRED", "f0");
    fits("knm", "UNHALTED_REFERENCE_CYCLES INSTRUCTION_RETIRED UNHALTED_CORE_CYCLES LLC_MISSES LLC_REFERENCES",
         "f2 f0 f1 0 1");
    fits("knm", "INSTRUCTION_RETIRED INSTRUCTION_RETIRED INSTRUCTION_RETIRED", "f0 0 1");
    fits("knm", "INSTRUCTION_RETIRED:c=1 INST_RETIRED", "0 1"); /* a fixed counter has no threshold */
    fits("ix86arch", "INSTRUCTION_RETIRED LLC_MISSES UNHALTED_CORE_CYCLES", "f0 0 f1");
}

static void no_counter_names_those_that_contend(void **state)
{
    (void)state;
    const uint64_t f0 = UINT64_C(1) << 32, f2 = UINT64_C(4) << 32;
    fails("knm", "LLC_MISSES LLC_MISSES LLC_MISSES", ASSAY_EVENT_NO_COUNTER, 7, 3, 0, 0);
    fails("knm", "INSTRUCTION_RETIRED LLC_MISSES LLC_REFERENCES UOPS_RETIRED ICACHE", ASSAY_EVENT_NO_COUNTER, 14, 3, 0,
          0);
    fails("knm", "INSTRUCTION_RETIRED INSTRUCTION_RETIRED INSTRUCTION_RETIRED INSTRUCTION_RETIRED",
          ASSAY_EVENT_NO_COUNTER, 15, 3 | f0, 0, 0);
    fails("knm", "LLC_MISSES UNHALTED_REFERENCE_CYCLES ICACHE UNHALTED_REFERENCE_CYCLES", ASSAY_EVENT_NO_COUNTER, 10,
          f2, 0, 0);
}

static void offcore_registers_are_shared_or_changed(void **state)
{
    (void)state;
    struct group g;
    fits("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR", "0 1");
    fits("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR OFFCORE_RESPONSE_1:DMND_DATA_RD:DDR", "0 1");
    fits("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR OFFCORE_RESPONSE_0:DMND_RFO:DDR", "0 1'");
    fits("knm", "OFFCORE_RESPONSE_1:DMND_DATA_RD:DDR OFFCORE_RESPONSE_1:PARTIAL_WRITES:DDR", "0' 1");
    assert_int_equal(assign(&g, "knm", "OFFCORE_RESPONSE_1:DMND_DATA_RD:DDR OFFCORE_RESPONSE_1:PARTIAL_WRITES:DDR", 0),
                     ASSAY_OK);
    assert_true(g.slot[0].code0 == 0x5301b7 && g.slot[0].extra_msr == 0x1a6);
    assert_true(g.slot[1].code0 == 0x5302b7 && g.slot[1].extra_msr == 0x1a7);
    /* these requests are for MSR 0x1a7 only */
    fails("knm", "OFFCORE_RESPONSE_1:PARTIAL_WRITES:DDR OFFCORE_RESPONSE_1:STREAMING_STORES:DDR", ASSAY_EVENT_ONE_MSR,
          3, 0, 0x1a7, 0x1a6);
    fails("knm", "UNHALTED_CORE_CYCLES OFFCORE_RESPONSE_1:PARTIAL_WRITES:DDR OFFCORE_RESPONSE_1:STREAMING_STORES:DDR",
          ASSAY_EVENT_ONE_MSR, 6, 0, 0x1a7, 0x1a6);
    /* OUTSTANDING is for 0x1a6 only */
    fails("knm", "OFFCORE_RESPONSE_0:DMND_RFO:OUTSTANDING OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING",
          ASSAY_EVENT_ONE_MSR, 3, 0, 0x1a6, 0x1a7);
}

static void a_latency_needs_both_halves(void **state)
{
    (void)state;
    struct group g;
    const char *alone = "OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING UNHALTED_CORE_CYCLES";
    fits("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING", "0");
    fits("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE", "0 1");
    fits("knm", "OFFCORE_RESPONSE_0:ANY_READ:ANY_RESPONSE OFFCORE_RESPONSE_0:ANY_READ:OUTSTANDING", "0' 1");
    fails("knm", alone, ASSAY_EVENT_LATENCY_PAIR, 1, 0, 0, 0);
    fails("knm", "OFFCORE_RESPONSE_1:DMND_RFO:ANY_RESPONSE OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING",
          ASSAY_EVENT_LATENCY_PAIR, 2, 0, 0, 0);
    fails("knm", "OFFCORE_RESPONSE_1:DMND_DATA_RD:DDR OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING",
          ASSAY_EVENT_LATENCY_PAIR, 2, 0, 0, 0);
    fails("knm", "OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE:u OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING",
          ASSAY_EVENT_LATENCY_PAIR, 2, 0, 0, 0);
    assert_int_equal(assign(&g, "knm", alone, ASSAY_EVENT_LIBPFM4), ASSAY_OK);
}

static void a_group_is_of_one_pmu(void **state)
{
    (void)state;
    struct group g;
    encode_to("knm::LLC_MISSES", &g.code[0]);
    encode_to("perf::page-faults", &g.code[1]);
    encode_to("netburst::tc_ms_xfer", &g.code[2]);
    assert_int_equal(assay_event_assign(&table, g.code, 2, 0, g.slot, NULL), ASSAY_OK);
    assert_int_equal(g.slot[1].counter, ASSAY_EVENT_NO_COUNTER_BIT);
    assert_int_equal(assay_event_assign(&table, g.code, 3, 0, g.slot, &g.error), ASSAY_E_ARGUMENT);
    assert_int_equal(g.error.conflict, ASSAY_EVENT_MANY_PMUS);
    assert_int_equal(g.error.events, 5);
    assert_int_equal(assay_event_assign(&table, g.code, 0, 0, g.slot, &g.error), ASSAY_OK);
    assert_int_equal(assay_event_assign(&table, g.code, 65, 0, g.slot, &g.error), ASSAY_E_ARGUMENT);
}

static void netburst_events_find_escr_and_counter(void **state)
{
    (void)state;
    struct group g;
    fits("netburst", "global_power_events", "0");
    fits("netburst", "global_power_events IOQ_allocation:ALL_READ", "0 2");
    fits("netburst", "IOQ_allocation:ALL_READ IOQ_active_entries:ALL_READ", "0 2");
    fits("netburst", "BSQ_cache_reference:RD_2ndL_HITS BSQ_allocation:REQ_TYPE0", "2 0"); /* the other has ESCR0 only */
    fits("netburst", "tc_ms_xfer TC_misc uop_queue_writes:FROM_ROM", "4 5 6");
    /* equal values share an ESCR, whatever the CCCRs are */
    fits("netburst", "global_power_events global_power_events:e:thr=1 IOQ_active_entries:ALL_READ", "0 1 2");
    fits("netburst", "replay_event:NBOGUS instr_retired:NBOGUSNTAG", "16 12");
    fits("netburst", "instr_retired:NBOGUSNTAG replay_event:NBOGUS:precise=1 branch_retired:MMNP", "12 16 14");
    assert_int_equal(assign(&g, "netburst", "IOQ_allocation:ALL_READ IOQ_active_entries:ALL_READ", 0), ASSAY_OK);
    assert_int_equal(g.slot[0].escr, 0x3a2);
    assert_int_equal(g.slot[1].escr, 0x3a3);
}

static void netburst_conflicts_are_told_apart(void **state)
{
    (void)state;
    fails("netburst", "global_power_events IOQ_allocation:ALL_READ FSB_data_activity:DRDY_DRV", ASSAY_EVENT_ONE_ESCR, 7,
          0, 0x3a2, 0x3a3);
    fails("netburst", "tc_ms_xfer IOQ_active_entries:ALL_READ IOQ_active_entries:ALL_WRITE", ASSAY_EVENT_ONE_ESCR, 6, 0,
          0x3a3, 0);
    fails("netburst",
          "BPU_fetch_request ITLB_reference:HIT page_walk_type:DTMISS BSQ_cache_reference:RD_2ndL_HITS "
          "global_power_events",
          ASSAY_EVENT_NO_COUNTER, 31, 15, 0, 0);
    fails("netburst", "replay_event:NBOGUS:L1_LD_MISS replay_event:NBOGUS:L2_LD_MISS", ASSAY_EVENT_ONE_MATRIX, 3, 0, 0,
          0);
    fails("netburst", "replay_event:NBOGUS:DTLB_LD_MISS tc_ms_xfer replay_event:NBOGUS:DTLB_ST_MISS",
          ASSAY_EVENT_ONE_MATRIX, 5, 0, 0, 0);
    fails("netburst", "replay_event:NBOGUS:precise=1 front_end_event:NBOGUS", ASSAY_EVENT_ONE_MECHANISM, 3, 0, 0, 0);
    fails("netburst", "execution_event:NBOGUS0:precise=1 execution_event:NBOGUS1:precise=1", ASSAY_EVENT_NO_COUNTER, 3,
          0x10000, 0, 0);
    fits("netburst", "replay_event:NBOGUS front_end_event:NBOGUS", "16 14"); /* counting may mix them */
}

static void upstream_events_take_escr_and_counter(void **state)
{
    (void)state;
    struct group g;
    assert_int_equal(assign(&g, "netburst", "replay_event:NBOGUS:SP_LD_RET memory_complete:LSC", 0), ASSAY_OK);
    assert_int_equal(g.slot[0].counter, 16);
    assert_int_equal(g.slot[0].upstream_escr, 0x3af); /* SAAT_ESCR1 */
    assert_int_equal(g.slot[0].upstream_value, 4u << 25 | 1u << 10 | 15);
    assert_int_equal(g.slot[0].upstream_counter, 10);
    assert_int_equal(g.slot[1].escr, 0x3ae);
    /* listed in the group, the upstream event does both */
    assert_int_equal(assign(&g, "netburst", "replay_event:NBOGUS:SP_LD_RET load_port_replay:SPLIT_LD", 0), ASSAY_OK);
    assert_int_equal(g.slot[1].escr, 0x3af);
    assert_int_equal(g.slot[0].upstream_counter, ASSAY_EVENT_NO_COUNTER_BIT);
    fails("netburst", "replay_event:NBOGUS:SP_LD_RET memory_complete:LSC memory_complete:SSC", ASSAY_EVENT_ONE_ESCR, 7,
          0, 0x3cc, 0x3cd);
    /* four counters in that unit, one of them for the tagging */
    fails("netburst",
          "replay_event:NBOGUS:SP_LD_RET memory_complete:LSC packed_SP_uop:ALL packed_DP_uop:ALL "
          "memory_cancel:ST_RB_FULL",
          ASSAY_EVENT_NO_COUNTER, 31, 0x3ff00, 0, 0);
}

/* The judge: every choice of register and counter in turn, nothing clever. */
struct judge {
    const struct group *g;
    uint64_t busy;
    struct {
        uint32_t msr;
        uint64_t value;
    } held[3 * MOST];
    unsigned n;
};

static bool put(struct judge *j, uint32_t msr, uint64_t value)
{
    for (unsigned i = 0; i < j->n; i++)
        if (j->held[i].msr == msr && j->held[i].value != value)
            return false;
    j->held[j->n].msr = msr;
    j->held[j->n++].value = value;
    return true;
}

static bool judge_from(struct judge *j, unsigned i);

static bool judge_counters(struct judge *j, unsigned i, uint64_t counters)
{
    for (unsigned b = 0; b < 64; b++) {
        if (!(counters & ~j->busy) || !(counters >> b & 1) || j->busy >> b & 1)
            continue;
        j->busy |= UINT64_C(1) << b;
        if (judge_from(j, i + 1))
            return true;
        j->busy &= ~(UINT64_C(1) << b);
    }
    return false;
}

static bool judge_from(struct judge *j, unsigned i)
{
    if (i == j->g->n)
        return true;
    const struct assay_event_code *c = &j->g->code[i];
    const struct assay_event_row *e = &table.events[c->event];
    unsigned before = j->n;
    bool netburst = table.pmus[c->pmu].scheme == ASSAY_EVENT_NETBURST;
    for (unsigned choice = 0; choice < 2; choice++) {
        uint32_t msr = netburst ? table.netburst[e->netburst].escr_msr[choice]
                       : choice ? e->extra_msr_alt
                                : e->extra_msr;
        uint64_t counters = netburst ? table.netburst[e->netburst].counters[choice] : c->counters;
        uint64_t value = netburst ? c->code[0] : c->code[1];
        bool legal = netburst ? msr != 0 : !choice || (msr && !(value & ~e->extra_alt_ok));
        if (legal && (!msr || put(j, msr, value)) && judge_counters(j, i, counters))
            return true;
        j->n = before;
    }
    return false;
}

static uint64_t seed = 7;

static unsigned below(unsigned n)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (unsigned)((seed * UINT64_C(2685821657736338717) >> 33) % n);
}

/* An assignment that was given keeps every rule. */
static void check_slots(const struct group *g)
{
    struct judge j = {.g = g};
    for (unsigned i = 0; i < g->n; i++) {
        const struct assay_event_slot *s = &g->slot[i];
        const struct assay_event_row *e = &table.events[g->code[i].event];
        assert_true(s->counter < 64 && g->code[i].counters >> s->counter & 1 && !(j.busy >> s->counter & 1));
        j.busy |= UINT64_C(1) << s->counter;
        if (s->escr) {
            const struct assay_event_netburst *w = &table.netburst[e->netburst];
            unsigned side = s->escr == w->escr_msr[1];
            assert_true(s->escr == w->escr_msr[side] && w->counters[side] >> s->counter & 1 &&
                        put(&j, s->escr, s->code0));
        } else if (s->extra_msr) {
            assert_true(put(&j, s->extra_msr, g->code[i].code[1]));
            assert_int_equal(s->extra_msr, s->alt ? e->extra_msr_alt : e->extra_msr);
            assert_int_equal(s->code0 & 0xffff, s->alt ? e->config_alt : e->config & 0xffff);
        }
    }
}

static void duel(const char *pmu, const char *const *events, unsigned choices, unsigned most, unsigned rounds)
{
    unsigned good = 0;
    for (unsigned round = 0; round < rounds; round++) {
        struct group g = {.n = 1 + below(most)};
        for (unsigned i = 0; i < g.n; i++) {
            char text[100];
            snprintf(text, sizeof text, "%s::%s", pmu, events[below(choices)]);
            encode_to(text, &g.code[i]);
        }
        bool ok = assay_event_assign(&table, g.code, g.n, ASSAY_EVENT_LIBPFM4, g.slot, &g.error) == ASSAY_OK;
        assert_true(ok == judge_from(&(struct judge){.g = &g}, 0));
        good += ok;
        if (ok) {
            check_slots(&g);
            continue;
        }
        /* The set it blames cannot be together, and each set with one event less can. */
        struct group blamed = {.n = 0};
        for (uint64_t left = g.error.events; left; left &= left - 1)
            blamed.code[blamed.n++] = g.code[__builtin_ctzll(left)];
        assert_false(judge_from(&(struct judge){.g = &blamed}, 0));
        for (unsigned out = 0; out < blamed.n; out++) {
            struct group less = {.n = 0};
            for (unsigned i = 0; i < blamed.n; i++)
                if (i != out)
                    less.code[less.n++] = blamed.code[i];
            assert_true(judge_from(&(struct judge){.g = &less}, 0));
        }
    }
    assert_in_range(good, rounds / 10, rounds - rounds / 10); /* the groups are neither all easy nor all hopeless */
}

static void random_groups_fit_when_the_judge_finds_a_way(void **state)
{
    (void)state;
    static const char *const knm[] = {"UNHALTED_CORE_CYCLES",
                                      "INSTRUCTION_RETIRED",
                                      "UNHALTED_REFERENCE_CYCLES",
                                      "INSTRUCTION_RETIRED:c=1",
                                      "LLC_MISSES",
                                      "OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR",
                                      "OFFCORE_RESPONSE_0:DMND_RFO:DDR",
                                      "OFFCORE_RESPONSE_1:DMND_RFO:DDR",
                                      "OFFCORE_RESPONSE_1:PARTIAL_WRITES:DDR",
                                      "OFFCORE_RESPONSE_0:DMND_RFO:OUTSTANDING",
                                      "OFFCORE_RESPONSE_1:STREAMING_STORES:MCDRAM"};
    static const char *const netburst[] = {"global_power_events",
                                           "global_power_events:thr=2",
                                           "IOQ_allocation:ALL_READ",
                                           "IOQ_active_entries:ALL_READ",
                                           "IOQ_active_entries:ALL_WRITE",
                                           "BSQ_allocation:REQ_TYPE0",
                                           "BSQ_active_entries:REQ_TYPE0",
                                           "BSQ_cache_reference:RD_2ndL_HITS",
                                           "ITLB_reference:HIT",
                                           "ITLB_reference:MISS",
                                           "memory_cancel:ST_RB_FULL",
                                           "memory_complete:LSC",
                                           "memory_complete:SSC",
                                           "packed_SP_uop:ALL",
                                           "packed_SP_uop:ALL:TAG0",
                                           "tc_ms_xfer",
                                           "TC_misc",
                                           "uop_queue_writes:FROM_ROM",
                                           "retired_branch_type:CALL",
                                           "instr_retired:NBOGUSNTAG",
                                           "uops_retired:NBOGUS",
                                           "branch_retired:MMNP",
                                           "machine_clear:CLEAR",
                                           "x87_assist:FPSU",
                                           "resource_stall"};
    duel("knm", knm, sizeof knm / sizeof knm[0], 5, 3000);
    duel("netburst", netburst, sizeof netburst / sizeof netburst[0], 12, 3000);
}

static void offcore_values_of_wider_machines(void **state)
{
    (void)state;
    /* eight counters, so that registers are what is scarce */
    struct group g = {.n = 0};
    static const char *const events[] = {"OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR", "OFFCORE_RESPONSE_1:DMND_RFO:DDR",
                                         "OFFCORE_RESPONSE_0:DMND_RFO:DDR", "OFFCORE_RESPONSE_1:PARTIAL_WRITES:DDR",
                                         "OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING"};
    for (unsigned round = 0; round < 2000; round++) {
        g.n = 1 + below(6);
        for (unsigned i = 0; i < g.n; i++) {
            char text[100];
            snprintf(text, sizeof text, "knm::%s", events[below(5)]);
            encode_to(text, &g.code[i]);
            g.code[i].counters = 255;
        }
        bool ok = assay_event_assign(&table, g.code, g.n, ASSAY_EVENT_LIBPFM4, g.slot, &g.error) == ASSAY_OK;
        assert_true(ok == judge_from(&(struct judge){.g = &g}, 0));
        if (ok)
            check_slots(&g);
        else
            assert_int_equal(g.error.conflict, ASSAY_EVENT_ONE_MSR);
    }
}

static void says(const char *pmu, const char *events, const char *want)
{
    struct group g;
    char text[600];
    struct assay_out o;
    assert_int_equal(assign(&g, pmu, events, 0), ASSAY_E_ARGUMENT);
    assay_out_init(&o, text, sizeof text - 1, NULL, NULL);
    assay_event_group_error_print(&table, g.code, &g.error, &o);
    text[o.len] = '\0';
    assert_string_equal(text, want);
}

static void errors_are_sentences(void **state)
{
    (void)state;
    says("knm", "LLC_MISSES LLC_MISSES ICACHE",
         "knm::LLC_MISSES, knm::LLC_MISSES and knm::ICACHE:ACCESSES contend for general counter 0 and general counter "
         "1");
    says("knm", "UNHALTED_REFERENCE_CYCLES UNHALTED_REFERENCE_CYCLES:u",
         "knm::UNHALTED_REFERENCE_CYCLES and knm::UNHALTED_REFERENCE_CYCLES:u contend for fixed counter 2");
    says("knm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING LLC_MISSES",
         "knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING is half of an average latency; the group needs "
         "knm::OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE beside it");
    says("netburst", "IOQ_active_entries:ALL_READ IOQ_active_entries:ALL_WRITE",
         "netburst::IOQ_active_entries:ALL_READ and netburst::IOQ_active_entries:ALL_WRITE need different values in "
         "MSR_FSB_ESCR1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_counters_come_first),
        cmocka_unit_test(no_counter_names_those_that_contend),
        cmocka_unit_test(offcore_registers_are_shared_or_changed),
        cmocka_unit_test(a_latency_needs_both_halves),
        cmocka_unit_test(a_group_is_of_one_pmu),
        cmocka_unit_test(netburst_events_find_escr_and_counter),
        cmocka_unit_test(netburst_conflicts_are_told_apart),
        cmocka_unit_test(upstream_events_take_escr_and_counter),
        cmocka_unit_test(random_groups_fit_when_the_judge_finds_a_way),
        cmocka_unit_test(offcore_values_of_wider_machines),
        cmocka_unit_test(errors_are_sentences),
    };
    assay_event_builtin(&table);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
