/* SPDX-License-Identifier: MIT */
/* What the machine's core counts while it charges: by hand, from the model's geometry. */
#include <assay/image.h>
#include <assay/machine.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* L1I and L1D: two sets of two ways. L2: four of two. LLC: eight of four. Lines of 64. */
#define SMALL                                                                                                          \
    "l1d.bytes = 256\nl1d.ways = 2\nl2.bytes = 512\nl2.ways = 2\nl2.latency = 10\nllc.bytes = 2048\nllc.ways = 4\n"    \
    "llc.latency = 30\nmemory_latency = 100\nl1i.bytes = 256\nl1i.ways = 2\nl1i.latency = 2\n"

struct rig {
    struct assay_machine_core *core;
    uint64_t n[ASSAY_MACHINE_QUANTITIES];
};

static void start(struct rig *r, const char *text)
{
    struct assay_machine_model m;
    struct assay_error e = {0};
    if (assay_machine_parse(text, strlen(text), &m, &e) < 0)
        fail_msg("%s", e.text);
    memset(r, 0, sizeof *r);
    assert_int_equal(assay_machine_core_new(&m, &r->core), ASSAY_OK);
    assay_machine_core_tally(r->core, r->n);
}

static void three(const uint64_t *n, uint64_t l2, uint64_t llc, uint64_t memory)
{
    assert_int_equal(n[0], l2);
    assert_int_equal(n[1], llc);
    assert_int_equal(n[2], memory);
}

/* Lines a, b, c of one set of L1D (128 apart would do), of one set of L2 and of one of LLC, which has room for all three. */
static void loads_and_stores_by_where_they_were_found(void **state)
{
    (void)state;
    struct rig r;
    start(&r, SMALL);
    const uint64_t *load = &r.n[ASSAY_MACHINE_LOAD_L2], *store = &r.n[ASSAY_MACHINE_STORE_L2];
    uint64_t a = 0x10000, b = a + 512, c = a + 1024, near = a + 128; /* near: the same set of L1D, another of L2 */
    assay_machine_access(r.core, a, 8, false);
    assay_machine_access(r.core, b, 8, true);
    three(load, 0, 0, 1);
    three(store, 0, 0, 1);
    assay_machine_access(r.core, b + 8, 8, false); /* a hit */
    assay_machine_access(r.core, near, 8, false);  /* a goes out of L1D */
    assay_machine_access(r.core, a, 8, false);     /* and L2 has it; b goes */
    three(load, 1, 0, 2);
    assay_machine_access(r.core, c, 8, true); /* near goes; in L2 b, the oldest */
    assay_machine_access(r.core, b, 8, true); /* which only LLC has */
    three(load, 1, 0, 2);
    three(store, 0, 1, 2);
    assay_machine_core_free(r.core);
}

static void straddling_accesses_count_each_line(void **state)
{
    (void)state;
    struct rig r;
    start(&r, SMALL);
    assay_machine_access(r.core, 0x1003c, 8, false);
    three(&r.n[ASSAY_MACHINE_LOAD_L2], 0, 0, 2);
    assay_machine_access(r.core, 0x2003c, 8, true);
    three(&r.n[ASSAY_MACHINE_STORE_L2], 0, 0, 2);
    assay_machine_core_free(r.core);
}

/* Code of three lines, twice; the third round begins in the line that was fetched last. */
static void code_by_lines(void **state)
{
    (void)state;
    struct rig r;
    start(&r, SMALL);
    for (int i = 0; i < 2; i++)
        assay_machine_block(r.core, 0x1000, 10, 192); /* sets 0, 1, 0: all three stay */
    three(&r.n[ASSAY_MACHINE_CODE_L2], 0, 0, 3);
    assert_int_equal(r.n[ASSAY_MACHINE_L1I_HIT], 3);
    assay_machine_block(r.core, 0x1080, 1, 4);
    assert_int_equal(r.n[ASSAY_MACHINE_L1I_HIT], 3);
    assert_int_equal(r.n[ASSAY_MACHINE_FETCH_CYCLES], 3 * (2 + 10 + 30 + 100) + 3 * 2);
    assay_machine_access(r.core, 0x1000, 4, false); /* L2 holds it for code and data */
    three(&r.n[ASSAY_MACHINE_LOAD_L2], 1, 0, 0);
    assay_machine_core_free(r.core);
}

/* Twice the size of L1D, by lines, again and again: with the least recently used line going, every access misses. */
static void a_walk_over_twice_the_cache(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "");
    enum { LINES = 2 * 32768 / 64, ROUNDS = 5 };
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t i = 0; i < LINES; i++)
            assay_machine_access(r.core, 0x700000 + 64 * i, 8, false);
    three(&r.n[ASSAY_MACHINE_LOAD_L2], (ROUNDS - 1) * LINES, 0, LINES);
    assay_machine_core_free(r.core);
}

static void levels_that_are_not_there(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "l1d.bytes = 0\nl2.bytes = 0\nllc.bytes = 0\nl1i.bytes = 0");
    assay_machine_access(r.core, 0x1000, 8, false);
    assay_machine_access(r.core, 0x1000, 8, false);
    assay_machine_block(r.core, 0x1000, 1, 4);
    three(&r.n[ASSAY_MACHINE_LOAD_L2], 0, 0, 2);
    three(&r.n[ASSAY_MACHINE_CODE_L2], 0, 0, 1);
    assert_int_equal(r.n[ASSAY_MACHINE_L1I_HIT], 0);
    assay_machine_core_free(r.core);
}

static void mispredictions_by_kind(void **state)
{
    (void)state;
    struct rig r;
    start(&r, "predictor_bits = 4\npredictor_history = 0");
    assay_machine_branch(r.core, ASSAY_INSN_COND, 0x1000, false, 0x2000, 0); /* counters begin at "not taken" */
    for (int i = 0; i < 4; i++)
        assay_machine_branch(r.core, ASSAY_INSN_COND, 0x1000, true, 0x2000, 0); /* wrong, wrong, right, right */
    assay_machine_branch(r.core, ASSAY_INSN_COND, 0x1000, false, 0x2000, 0);
    assay_machine_branch(r.core, ASSAY_INSN_JMP_IND, 0x1004, true, 0x2000, 0);
    assay_machine_branch(r.core, ASSAY_INSN_CALL_IND, 0x1008, true, 0x2000, 0x100a);
    assay_machine_branch(r.core, ASSAY_INSN_CALL_IND, 0x1008, true, 0x2000, 0x100a);
    assay_machine_branch(r.core, ASSAY_INSN_CALL, 0x100c, true, 0x2000, 0x1011);
    assay_machine_branch(r.core, ASSAY_INSN_RET, 0x2000, true, 0x1011, 0);
    assay_machine_branch(r.core, ASSAY_INSN_RET, 0x2000, true, 0x1011, 0);
    assay_machine_branch(r.core, ASSAY_INSN_FAR, 0x1020, true, 0, 0);
    assert_int_equal(r.n[ASSAY_MACHINE_MISS_TAKEN], 2);
    assert_int_equal(r.n[ASSAY_MACHINE_MISS_NOT_TAKEN], 1);
    assert_int_equal(r.n[ASSAY_MACHINE_MISS_JMP_IND], 1);
    assert_int_equal(r.n[ASSAY_MACHINE_MISS_CALL_IND], 1);
    assert_int_equal(r.n[ASSAY_MACHINE_MISS_RET], 1);
    assay_machine_core_free(r.core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_by_where_they_were_found),
        cmocka_unit_test(straddling_accesses_count_each_line),
        cmocka_unit_test(code_by_lines),
        cmocka_unit_test(a_walk_over_twice_the_cache),
        cmocka_unit_test(levels_that_are_not_there),
        cmocka_unit_test(mispredictions_by_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
