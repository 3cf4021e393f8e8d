/* SPDX-License-Identifier: MIT */
/* The machine model: costs by hand arithmetic, and its text form with every error. */
#include <assay/image.h>
#include <assay/machine.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct assay_machine_model model_of(const char *text)
{
    struct assay_machine_model m;
    struct assay_error e = {0};
    int err = assay_machine_parse(text, strlen(text), &m, &e);
    if (err)
        fail_msg("%s", e.text);
    return m;
}

static struct assay_machine_core *core_of(const char *text)
{
    struct assay_machine_model m = model_of(text);
    struct assay_machine_core *c;
    assert_int_equal(assay_machine_core_new(&m, &c), ASSAY_OK);
    return c;
}

/* Two ways of two sets of 64-byte lines in L1D, so addresses 128 apart share a set; L2 has 4 sets of 2, LLC none.
 * Costs: L1D hit 1, L2 hit 1 + 10, memory 1 + 10 + 100. */
#define SMALL                                                                                                          \
    "l1d.bytes = 256\nl1d.ways = 2\nl1d.latency = 1\nl2.bytes = 512\nl2.ways = 2\nl2.latency = 10\n"                   \
    "llc.bytes = 0\nmemory_latency = 100\nl1i.bytes = 256\nl1i.ways = 2\nl1i.latency = 2\n"

static uint64_t load(struct assay_machine_core *c, uint64_t addr) { return assay_machine_access(c, addr, 8, false); }

static void flat_counts_instructions(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of("base = flat");
    assert_int_equal(assay_machine_block(c, 0x1000, 17, 60), 17);
    assert_int_equal(assay_machine_block(c, 0x9000, 0, 0), 0);
    assert_int_equal(load(c, 0x123456), 0);
    assert_int_equal(assay_machine_branch(c, ASSAY_INSN_COND, 0x1000, true, 0x2000, 0), 0);
    assert_int_equal(assay_machine_branch(c, ASSAY_INSN_RET, 0x1000, true, 0x2000, 0), 0);
    assert_int_equal(assay_machine_branch(c, ASSAY_INSN_FAR, 0x1000, true, 0x2000, 0), 0);
    assay_machine_core_free(c);
    c = core_of("base = flat\nsyscall_cycles = 77");
    assert_int_equal(assay_machine_branch(c, ASSAY_INSN_FAR, 0x1000, true, 0x2000, 0), 77);
    assay_machine_core_free(c);
}

static void levels_add_up(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of(SMALL);
    assert_int_equal(load(c, 0x10000), 111);                             /* cold */
    assert_int_equal(load(c, 0x10038), 1);                               /* same line, its last 8 bytes */
    assert_int_equal(load(c, 0x10039), 1 + 111);                         /* one byte in the next line */
    assert_int_equal(load(c, 0x10040), 1);                               /* which came with it */
    assert_int_equal(assay_machine_access(c, 0x20000, 0, false), 111);   /* no bytes: still one line */
    assert_int_equal(assay_machine_access(c, 0x30000, 256, false), 444); /* four lines */
    assay_machine_core_free(c);
}

static void least_recently_used_goes(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of(SMALL);
    uint64_t a = 0x10000, b = a + 128, d = a + 384, other = a + 64; /* a, b and d in set 0, other in set 1 */
    assert_int_equal(load(c, a), 111);
    assert_int_equal(load(c, b), 111);
    assert_int_equal(load(c, other), 111);
    assert_int_equal(load(c, a), 1); /* b is now the oldest of set 0 */
    assert_int_equal(load(c, d), 111);
    assert_int_equal(load(c, a), 1);
    assert_int_equal(load(c, b), 11); /* pushed out of L1D; L2 has it, in its set 2, with d */
    assert_int_equal(load(c, a), 1);  /* b took the place of d, */
    assert_int_equal(load(c, d), 11); /* not that of a */
    assert_int_equal(load(c, other), 1);
    assay_machine_core_free(c);
}

/* L2: lines 256 apart share a set of 2 ways. Three of them in turn never hit there. */
static void conflicts_reach_memory(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of(SMALL);
    for (int round = 0; round < 3; round++)
        for (uint64_t i = 0; i < 3; i++)
            assert_int_equal(load(c, 0x40000 + 256 * i), 111);
    assay_machine_core_free(c);
}

static void stores_bring_lines_for_nothing(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of(SMALL);
    assert_int_equal(assay_machine_access(c, 0x10000, 8, true), 0);
    assert_int_equal(load(c, 0x10000), 1);
    assay_machine_core_free(c);
}

static void missing_levels_cost_nothing(void **state)
{
    (void)state;
    struct assay_machine_core *c =
        core_of("l1i.bytes = 0\nl1d.bytes = 0\nl2.bytes = 0\nllc.bytes = 0\nmemory_latency = 5\nissue_width = 1");
    assert_int_equal(load(c, 0x1000), 5);
    assert_int_equal(load(c, 0x1000), 5);
    assert_int_equal(assay_machine_block(c, 0x1000, 3, 12), 3 + 5);
    assay_machine_core_free(c);
}

static void issue_carries_over(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of(SMALL "issue_width = 4");
    assert_int_equal(assay_machine_block(c, 0x1000, 3, 10), 0 + 2 + 10 + 100); /* 3 of 4 slots; a cold line */
    assert_int_equal(assay_machine_block(c, 0x100a, 3, 10), 1);                /* 6 slots: 1 cycle, 2 left */
    assert_int_equal(assay_machine_block(c, 0x1014, 1, 2), 0);                 /* 3 */
    assert_int_equal(assay_machine_block(c, 0x1016, 9, 20), 3);                /* 12: 3 cycles, none left */
    assert_int_equal(assay_machine_block(c, 0x1000, UINT32_MAX, 4), UINT32_MAX / 4);
    assay_machine_core_free(c);
}

static void fetch_crosses_lines(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of(SMALL "issue_width = 1");
    assert_int_equal(assay_machine_block(c, 0x1030, 1, 16), 1 + 112); /* ends with the line */
    assert_int_equal(assay_machine_block(c, 0x1030, 1, 17), 1 + 112); /* one byte of the next: that one is cold */
    assert_int_equal(assay_machine_block(c, 0x1040, 1, 4), 1);        /* still in the fetched line */
    assert_int_equal(assay_machine_block(c, 0x1000, 1, 4), 1 + 2);    /* back: an L1I hit */
    assert_int_equal(load(c, 0x1000), 1 + 10);                        /* L2 is shared by code and data */
    assay_machine_core_free(c);
}

static uint64_t jump(struct assay_machine_core *c, uint64_t ip, bool taken)
{
    return assay_machine_branch(c, ASSAY_INSN_COND, ip, taken, ip + 0x40, 0);
}

/* Counters begin at 0, predict taken from 2 on, and stop at 3. Without history the place is ip alone. */
static void direction_counters_saturate(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of("predictor_bits = 4\npredictor_history = 0\nbranch_penalty = 16");
    static const struct {
        bool taken;
        unsigned cost;
    } steps[] = {{false, 0},  {true, 16},  {true, 16}, {true, 0}, {true, 0},
                 {false, 16}, {false, 16}, {false, 0}, {true, 16}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_int_equal(jump(c, 0x1003, steps[i].taken), steps[i].cost);
    /* 0x1013 shares the counter (16 of them), which stands at 1; 0x1004 has its own, at 0 */
    assert_int_equal(jump(c, 0x1013, true), 16); /* 2 */
    assert_int_equal(jump(c, 0x1003, true), 0);
    assert_int_equal(jump(c, 0x1004, true), 16);
    assay_machine_core_free(c);
}

/* A branch that alternates: with one bit of history each direction has its own counter; two trainings of one. */
static void history_learns_alternation(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of("predictor_bits = 4\npredictor_history = 1\nbranch_penalty = 16");
    uint64_t cost = 0;
    for (int i = 0; i < 100; i++)
        cost += jump(c, 0x1000, i % 2 == 0);
    assert_int_equal(cost, 2 * 16);
    assay_machine_core_free(c);
}

static void targets_are_remembered(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of("btb_bits = 4\nbranch_penalty = 9");
    unsigned kind = ASSAY_INSN_JMP_IND;
    assert_int_equal(assay_machine_branch(c, kind, 0x1000, true, 0x2000, 0), 9);
    assert_int_equal(assay_machine_branch(c, kind, 0x1000, true, 0x2000, 0), 0);
    assert_int_equal(assay_machine_branch(c, kind, 0x1000, true, 0x3000, 0), 9);
    assert_int_equal(assay_machine_branch(c, kind, 0x1010, true, 0x3000, 0), 9); /* same place, other branch */
    assert_int_equal(assay_machine_branch(c, kind, 0x1000, true, 0x3000, 0), 9);
    assert_int_equal(assay_machine_branch(c, ASSAY_INSN_JMP, 0x1000, true, 0x7000, 0), 0);
    assay_machine_core_free(c);
    c = core_of("btb_bits = 0\nbranch_penalty = 9");
    assert_int_equal(assay_machine_branch(c, kind, 0x1000, true, 0x2000, 0), 0);
    assay_machine_core_free(c);
}

static uint64_t call(struct assay_machine_core *c, uint64_t return_ip)
{
    return assay_machine_branch(c, ASSAY_INSN_CALL, 0x1000, true, 0x2000, return_ip);
}

static uint64_t ret(struct assay_machine_core *c, uint64_t to)
{
    return assay_machine_branch(c, ASSAY_INSN_RET, 0x2000, true, to, 0);
}

static void returns_are_predicted(void **state)
{
    (void)state;
    struct assay_machine_core *c = core_of("return_stack = 2\nbranch_penalty = 9");
    assert_int_equal(ret(c, 0x100), 9); /* empty */
    assert_int_equal(call(c, 0x100) + call(c, 0x200) + call(c, 0x300), 0);
    assert_int_equal(ret(c, 0x300), 0);
    assert_int_equal(ret(c, 0x200), 0);
    assert_int_equal(ret(c, 0x100), 9); /* fell off the stack of two */
    assert_int_equal(call(c, 0x100) + call(c, 0x200), 0);
    assert_int_equal(ret(c, 0x999), 9); /* a return elsewhere pops too */
    assert_int_equal(ret(c, 0x100), 0);
    assay_machine_core_free(c);
    c = core_of("return_stack = 0\nbranch_penalty = 9");
    assert_int_equal(ret(c, 0x100), 0);
    assay_machine_core_free(c);
}

static void same_run_same_cycles(void **state)
{
    (void)state;
    uint64_t sum[2] = {0, 0};
    for (int run = 0; run < 2; run++) {
        struct assay_machine_core *c = core_of("");
        uint64_t x = 1;
        for (int i = 0; i < 50000; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            sum[run] =
                sum[run] * 31 + assay_machine_block(c, x >> 44, 5, 20) + load(c, x >> 40) + jump(c, x >> 52, x >> 63);
        }
        assay_machine_core_free(c);
    }
    assert_int_equal(sum[0], sum[1]);
}

static void builtins(void **state)
{
    (void)state;
    struct assay_machine_model m;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(assay_machine_builtin(i ? "flat" : "cache", &m), ASSAY_OK);
        assert_string_equal(m.name, i ? "flat" : "cache");
        assert_int_equal(m.flat, i);
        assert_int_equal(m.crystal_hz, 24000000);
        assert_int_equal(m.tsc_ctc_n, 100);
        assert_int_equal(m.tsc_ctc_d, 1);
        assert_int_equal(m.max_ratio, 24);
        assert_int_equal(m.core_ratio, 24);
        assert_int_equal(m.family << 16 | m.cpu_model << 8 | m.stepping, 6 << 16 | 158 << 8 | 10);
    }
    assert_int_equal(assay_machine_builtin("fast", &m), ASSAY_E_NOT_FOUND);
}

static size_t print(const struct assay_machine_model *m, char *buf, size_t size)
{
    struct assay_out o;
    assay_out_init(&o, buf, size, NULL, NULL);
    assay_machine_print(m, &o);
    assert_false(o.cut);
    return o.len;
}

/* Every key gets a value of its own, then text and model go round. */
static void print_parses_back(void **state)
{
    (void)state;
    struct assay_machine_model m = model_of(
        "base = flat\nname = my-core.2\nissue_width = 2\nl1i.bytes = 16K\nl1i.ways = 4\nl1i.line = 32\nl1i.latency = "
        "3\n"
        "l1d.bytes = 8K\nl1d.ways = 2\nl1d.line = 128\nl1d.latency = 5\nl2.bytes = 96K\nl2.ways = 3\nl2.line = 256\n"
        "l2.latency = 11\nllc.bytes = 1M\nllc.ways = 8\nllc.line = 512\nllc.latency = 22\nmemory_latency = 333\n"
        "predictor_bits = 7\npredictor_history = 6\nbranch_penalty = 13\nbtb_bits = 5\nreturn_stack = 9\n"
        "syscall_cycles = 400\ntsc_ctc_n = 216\ntsc_ctc_d = 2\ncrystal_hz = 19200000\nmax_ratio = 20\ncore_ratio = 30\n"
        "cyc_counter_bits = 16\nfamily = 7\ncpu_model = 85\nstepping = 3");
    assert_int_equal(m.level[1].bytes, 98304);
    assert_int_equal(m.level[2].bytes, 1048576);
    assert_int_equal(m.l1i.line, 32);
    assert_int_equal(m.cyc_counter_bits, 16);
    char text[2][4096];
    size_t n = print(&m, text[0], sizeof text[0]);
    struct assay_machine_model back;
    assert_int_equal(assay_machine_parse(text[0], n, &back, NULL), ASSAY_OK);
    assert_int_equal(print(&back, text[1], sizeof text[1]), n);
    assert_memory_equal(text[0], text[1], n);
    assert_memory_equal(&m.name, &back.name, sizeof m.name);
    assert_int_equal(back.flat, true);
    assert_memory_equal(&m.issue_width, &back.issue_width,
                        sizeof m - offsetof(struct assay_machine_model, issue_width));
}

static void errors_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
        uint64_t offset;
    } cases[] = {
        {"issue_width = 4\n  l2.byte = 3", "line 2, column 3: unknown key 'l2.byte'; did you mean 'l2.bytes'?", 18},
        {"qqqqqqqqqqqq = 1", "line 1, column 1: unknown key 'qqqqqqqqqqqq'", 0},
        {"issue_width 4", "line 1, column 14: expected '=' and a value", 13},
        {"= 4", "line 1, column 1: expected a key before '='", 0},
        {"\n\nissue_width = # four", "line 3, column 14: expected a value", 15},
        {"issue_width = four",
         "line 1, column 15: 'four' is not a number (digits, then K or M for 1024 or 1024 x 1024)", 14},
        {"issue_width = 17", "line 1, column 15: issue_width is 1 to 16, not 17", 14},
        {"issue_width = -1", "line 1, column 15: '-1' is not a number (digits, then K or M for 1024 or 1024 x 1024)",
         14},
        {"l2.bytes = 99999999999999999999",
         "line 1, column 12: '99999999999999999999' is not a number (digits, then K or M for 1024 or 1024 x 1024)", 11},
        {"issue_width = 4\nissue_width = 4", "line 2, column 1: 'issue_width' is set in line 1 already", 16},
        {"flat = true", "line 1, column 8: this is 'yes' or 'no'", 7},
        {"name = a b", "line 1, column 9: a name is letters, digits, '-', '_' and '.'", 8},
        {"name = abcdefghijklmnopqrstuvwxyz012345", "line 1, column 8: a name has at most 31 characters", 7},
        {"flat = no\nbase = flat", "line 2, column 1: 'base' has to be the first key", 10},
        {"base = fast", "line 1, column 8: there is no built-in model 'fast'; there are 'flat' and 'cache'", 7},
        {"l2.ways = 4\nl2.line = 65", "line 2, column 11: l2: the line is not a power of two", 22},
        {"l1d.bytes = 96K", "line 1, column 13: l1d: bytes / (ways x line) is not a power of two", 12},
        {"llc.bytes = 1000", "line 1, column 13: llc: bytes / (ways x line) is not a power of two", 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct assay_machine_model m;
        struct assay_error e = {0};
        assert_int_equal(assay_machine_parse(cases[i].text, strlen(cases[i].text), &m, &e), ASSAY_E_BAD_FORMAT);
        assert_string_equal(e.text, cases[i].error);
        assert_int_equal(e.offset, cases[i].offset);
    }
}

/* Damage: every prefix of a model, and every byte of it replaced, parses or says why. */
static void any_bytes(void **state)
{
    (void)state;
    struct assay_machine_model m;
    assert_int_equal(assay_machine_builtin("cache", &m), ASSAY_OK);
    char text[4096];
    size_t n = print(&m, text, sizeof text);
    for (size_t i = 0; i < n; i++) {
        char *copy = malloc(i ? i : 1);
        memcpy(copy, text, i);
        struct assay_error e = {0};
        assert_true(!assay_machine_parse(copy, i, &m, &e) || !strncmp(e.text, "line ", 5));
        free(copy);
        char kept = text[i];
        text[i] = (char)(i % 2 ? 0 : 0xff);
        e = (struct assay_error){0};
        assert_true(!assay_machine_parse(text, n, &m, &e) || !strncmp(e.text, "line ", 5));
        text[i] = kept;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_counts_instructions),
        cmocka_unit_test(levels_add_up),
        cmocka_unit_test(least_recently_used_goes),
        cmocka_unit_test(conflicts_reach_memory),
        cmocka_unit_test(stores_bring_lines_for_nothing),
        cmocka_unit_test(missing_levels_cost_nothing),
        cmocka_unit_test(issue_carries_over),
        cmocka_unit_test(fetch_crosses_lines),
        cmocka_unit_test(direction_counters_saturate),
        cmocka_unit_test(history_learns_alternation),
        cmocka_unit_test(targets_are_remembered),
        cmocka_unit_test(returns_are_predicted),
        cmocka_unit_test(same_run_same_cycles),
        cmocka_unit_test(builtins),
        cmocka_unit_test(print_parses_back),
        cmocka_unit_test(errors_say_where),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
