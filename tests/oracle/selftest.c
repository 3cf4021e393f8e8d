/* SPDX-License-Identifier: MIT */
/* The second decoder on code and packets made by hand; what must come out was worked out on paper. */
#include "oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PSB_    "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define PSBEND_ "\x02\x23"
#define OVF_    "\x02\xf3"
#define MODE64  "\x99\x01"
#define TIP16   "\x2d" /* + 2 bytes */
#define PGE16   "\x31"
#define PGE48   "\x71" /* + 6 bytes */
#define PGD0    "\x01"
#define PGD16   "\x21"
#define FUP16   "\x3d"
#define FUP48   "\x7d"
#define AT_1000 "\x00\x10\x00\x00\x00\x00"
/* Decoding begins at 0x1000 in 64-bit mode. */
#define START PSB_ MODE64 FUP48 AT_1000 PSBEND_

/* Code at 0x1000, and what was found. */
struct run {
    const char *code;
    size_t code_size;
    uint64_t ip[256], cycles_at[16], cycles[16];
    size_t n, points, losses;
    const char *why;
};

static size_t read_code(void *ctx, uint64_t ip, uint8_t *buf, size_t size)
{
    const struct run *r = ctx;
    if (ip < 0x1000 || ip - 0x1000 >= r->code_size)
        return 0;
    size_t left = r->code_size - (ip - 0x1000);
    memcpy(buf, r->code + (ip - 0x1000), left < size ? left : size);
    return left < size ? left : size;
}

static void found_insn(void *ctx, const struct insn *in)
{
    struct run *r = ctx;
    if (r->n < 256)
        r->ip[r->n] = in->ip;
    r->n++;
}

static void found_cycles(void *ctx, uint64_t cycles)
{
    struct run *r = ctx;
    if (r->points < 16) {
        r->cycles_at[r->points] = r->n;
        r->cycles[r->points] = cycles;
    }
    r->points++;
}

static void found_loss(void *ctx, uint64_t offset, uint64_t ip, const char *why)
{
    struct run *r = ctx;
    (void)offset;
    (void)ip;
    r->losses++;
    r->why = why;
}

static void decode(struct run *r, const char *code, size_t code_size, const char *trace, size_t size)
{
    memset(r, 0, sizeof *r);
    r->code = code;
    r->code_size = code_size;
    struct memory memory = {r, read_code, NULL};
    struct findings find = {.ctx = r, .insn = found_insn, .cycles = found_cycles, .loss = found_loss};
    struct oracle_config config = {.mode = 64};
    struct oracle o;
    oracle_init(&o, &config, &memory, &find);
    oracle_run(&o, (const uint8_t *)trace, size, 0);
    oracle_free(&o);
}

/* r->ip must be 0x1000 + each of these offsets, in order. */
static void executed(const struct run *r, size_t n, const unsigned *offset)
{
    assert_int_equal(r->n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(r->ip[i], 0x1000 + offset[i]);
}

#define DECODE(r, code, trace) decode(r, code, sizeof(code) - 1, trace, sizeof(trace) - 1)
#define OFFSETS(...)           ((unsigned[]){__VA_ARGS__})
#define EXECUTED(r, ...)       executed(r, sizeof OFFSETS(__VA_ARGS__) / sizeof(unsigned), OFFSETS(__VA_ARGS__))

/* 00 nop; 01 je 04; 03 nop; 04 jmp 00 */
static const char loop_code[] = "\x90\x74\x01\x90\xeb\xfa";

static void bits_decide_branches_oldest_first(void **state)
{
    struct run r;
    (void)state;
    /* not taken, taken; 0x0a = stop, 0, 1 */
    DECODE(&r, loop_code, START "\x0a");
    EXECUTED(&r, 0, 1, 3, 4, 0, 1);
    assert_int_equal(r.losses, 0);
    /* the same in a TNT-64: 47 bits would fit; 101 = stop, 0, 1 */
    DECODE(&r, loop_code, START "\x02\xa3\x05\x00\x00\x00\x00\x00");
    EXECUTED(&r, 0, 1, 3, 4, 0, 1);
}

static void what_no_branch_proves_is_not_counted(void **state)
{
    struct run r;
    (void)state;
    DECODE(&r, "\x90\x90\x90", START);
    assert_int_equal(r.n, 0);
    assert_int_equal(r.losses, 0);
}

/* 00 call 06; 05 nop; 06 je 08; 08 ret */
static const char return_code[] = "\xe8\x01\x00\x00\x00\x90\x74\x00\xc3";

static void returns_are_bits_or_tips(void **state)
{
    struct run r;
    (void)state;
    /* call, je taken, ret compressed to 05, nop, je not taken, then ret by TIP to 08, ret by TIP to 05 */
    DECODE(&r, return_code, START "\x1c" TIP16 "\x08\x10" TIP16 "\x05\x10");
    EXECUTED(&r, 0, 6, 8, 5, 6, 8, 8);
    assert_int_equal(r.losses, 0);
    /* a zero bit cannot be a return */
    DECODE(&r, return_code, START "\x0c");
    EXECUTED(&r, 0, 6);
    assert_string_equal(r.why, "not-taken for a return");
    /* nobody called: the second return has no address to go to */
    DECODE(&r, return_code, START "\x3e");
    EXECUTED(&r, 0, 6, 8, 5, 6);
    assert_string_equal(r.why, "a compressed return without a call");
}

static void a_return_by_tip_elsewhere_leaves_the_stack(void **state)
{
    struct run r;
    (void)state;
    /* 00 call 06; 05 ret; 06 call 0c; 0b ret; 0c ret: by TIP to 05, by a bit to 0b, by a bit to 05, and nobody called
     * that */
    DECODE(&r, "\xe8\x01\x00\x00\x00\xc3\xe8\x01\x00\x00\x00\xc3\xc3", START TIP16 "\x05\x10\x1e");
    EXECUTED(&r, 0, 6, 0xc, 5, 0xb);
    assert_string_equal(r.why, "a compressed return without a call");
}

static void a_call_of_the_next_instruction_is_not_returned_to(void **state)
{
    struct run r;
    (void)state;
    /* 00 call 06; 05 nop; 06 call 0b; 0b pop rax; 0c ret: to 05, not to 0b; 05 nop; 06 call; 0b; 0c ret by TIP */
    DECODE(&r, "\xe8\x01\x00\x00\x00\x90\xe8\x00\x00\x00\x00\x58\xc3", START "\x06" TIP16 "\x00\x10");
    EXECUTED(&r, 0, 6, 0xb, 0xc, 5, 6, 0xb, 0xc);
    assert_int_equal(r.losses, 0);
}

static void the_return_stack_holds_64(void **state)
{
    /* 00 call 00 over and over cannot be left without the trace: je 07; call 00; 07 ret */
    static const char code[] = "\x74\x05\xe8\xf9\xff\xff\xff\xc3";
    char trace[sizeof START - 1 + 65 + 1 + 66], *t = trace;
    struct run r;
    (void)state;
    memcpy(t, START, sizeof START - 1);
    t += sizeof START - 1;
    memset(t, 0x04, 65); /* 65 calls: je not taken */
    t += 65;
    *t++ = 0x06;         /* je taken: to ret */
    memset(t, 0x06, 65); /* 64 returns to 07, one too many */
    t += 65;
    decode(&r, code, sizeof code - 1, trace, (size_t)(t - trace));
    assert_int_equal(r.n, 65 * 2 + 1 + 64);
    assert_int_equal(r.ip[65 * 2 + 64], 0x1007);
    assert_int_equal(r.losses, 1);
}

static void a_deferred_tip_keeps_the_bits(void **state)
{
    struct run r;
    (void)state;
    /* 00 je 02; 02 jmp rax; 04 je 06; 06 jmp rax. Bits taken, not taken, taken; TIPs 04, 00 */
    DECODE(&r, "\x74\x00\xff\xe0\x74\x00\xff\xe0", START "\x1a" TIP16 "\x04\x10" TIP16 "\x00\x10");
    EXECUTED(&r, 0, 2, 4, 6, 0);
    assert_int_equal(r.losses, 0);
    /* then something that is no TIP */
    DECODE(&r, "\x74\x00\xff\xe0", START "\x0e" PGD0);
    EXECUTED(&r, 0);
    assert_int_equal(r.losses, 1);
}

static void an_interrupt_cuts_a_run(void **state)
{
    struct run r;
    (void)state;
    /* 00 nop; 01 nop; 02 nop; 03 jmp rax. Control leaves before 02 and goes to 03 */
    DECODE(&r, "\x90\x90\x90\xff\xe0", START FUP16 "\x02\x10" TIP16 "\x03\x10" TIP16 "\x00\x10");
    EXECUTED(&r, 0, 1, 3);
    assert_int_equal(r.losses, 0);
    /* tracing goes off before 01, on again at 00 */
    DECODE(&r, "\x90\x90\x90\xff\xe0", START FUP16 "\x01\x10" PGD0 PGE16 "\x00\x10" TIP16 "\x00\x10");
    EXECUTED(&r, 0, 0, 1, 2, 3);
    /* a fault at what is no instruction */
    DECODE(&r, "\x90\x90\x06\xff\xe0", START FUP16 "\x02\x10" TIP16 "\x03\x10" TIP16 "\x00\x10");
    EXECUTED(&r, 0, 1, 3);
    assert_int_equal(r.losses, 0);
    /* an address that the run does not come by */
    DECODE(&r, "\x90\x90\x90\xff\xe0", START FUP16 "\x05\x10" TIP16 "\x00\x10");
    assert_int_equal(r.n, 0);
    assert_int_equal(r.losses, 1);
}

static void a_far_transfer_ends_the_context(void **state)
{
    struct run r;
    (void)state;
    /* 00 nop; 01 syscall; 03 nop; 04 syscall */
    DECODE(&r, "\x90\x0f\x05\x90\x0f\x05", START PGD0 PGE16 "\x03\x10" PGD0);
    EXECUTED(&r, 0, 1, 3, 4);
    assert_int_equal(r.losses, 0);
}

static void a_direct_branch_leaves_the_filter(void **state)
{
    struct run r;
    (void)state;
    /* 00 jmp 03; 03 je 0x10: taken, out of the filter: no bit */
    DECODE(&r, "\xeb\x01\x90\x74\x0b", START PGD16 "\x10\x10");
    EXECUTED(&r, 0, 3);
    assert_int_equal(r.losses, 0);
}

static void psb_status_is_no_event(void **state)
{
    struct run r;
    (void)state;
    /* in the middle of a run: the same program goes on; last IP is 0 again */
    DECODE(&r, loop_code, START "\x04" PSB_ FUP48 "\x04\x10\x00\x00\x00\x00" PSBEND_ "\x06");
    EXECUTED(&r, 0, 1, 3, 4, 0, 1);
    assert_int_equal(r.losses, 0);
    /* after a direct jump */
    DECODE(&r, loop_code, START "\x04" PSB_ FUP48 AT_1000 PSBEND_ "\x06");
    EXECUTED(&r, 0, 1, 3, 4, 0, 1);
    assert_int_equal(r.losses, 0);
    /* where the walk does not come by: damage; decoding goes on there */
    DECODE(&r, loop_code, START "\x06" PSB_ FUP48 "\x03\x10\x00\x00\x00\x00" PSBEND_ "\x06");
    EXECUTED(&r, 0, 1, 3, 4, 0, 1);
    assert_int_equal(r.losses, 1);
    /* the same in the block before a TIP.PGE: tracing is off */
    DECODE(&r, loop_code,
           PSB_ FUP48 AT_1000 PSBEND_ MODE64 PGE48 "\x03\x10\x00\x00\x00\x00"
                                                   "\x06");
    EXECUTED(&r, 3, 4, 0, 1);
    assert_int_equal(r.losses, 0);
}

static void overflow_resumes_at_its_fup_or_pge(void **state)
{
    struct run r;
    (void)state;
    DECODE(&r, loop_code, START "\x04" OVF_ FUP48 AT_1000 "\x06");
    EXECUTED(&r, 0, 1, 0, 1);
    assert_int_equal(r.losses, 1);
    assert_string_equal(r.why, "overflow");
    DECODE(&r, loop_code,
           START "\x04" OVF_ PGE48 "\x03\x10\x00\x00\x00\x00"
                 "\x06");
    EXECUTED(&r, 0, 1, 3, 4, 0, 1);
}

static void damage_ends_at_the_next_psb(void **state)
{
    struct run r;
    (void)state;
    DECODE(&r, loop_code, START "\x04\x02\xff\x06\x06" START "\x06");
    EXECUTED(&r, 0, 1, 0, 1);
    assert_int_equal(r.losses, 1);
}

static void code_that_is_missing_is_a_loss(void **state)
{
    struct run r;
    (void)state;
    DECODE(&r, "\xff\xe0", START TIP16 "\x00\x20\x06" PGE16 "\x00\x10" TIP16 "\x00\x10");
    EXECUTED(&r, 0, 0);
    assert_string_equal(r.why, "no code is known here");
}

static void an_endless_loop_is_left_by_an_interrupt_only(void **state)
{
    struct run r;
    (void)state;
    /* 00 nop; 01 nop; 02 jmp 00 */
    DECODE(&r, "\x90\x90\xeb\xfc", START FUP16 "\x01\x10" PGD0);
    EXECUTED(&r, 0);
    assert_int_equal(r.losses, 0);
    DECODE(&r, "\x90\x90\xeb\xfc", START "\x06");
    assert_int_equal(r.n, 0);
    assert_int_equal(r.losses, 1);
}

static void a_fup_after_ptwrite_cuts_nothing(void **state)
{
    struct run r;
    (void)state;
    /* 00 nop; 01 ptwrite eax; 05 je 07. Then the same PTWRITE once more without a branch between: not possible */
    static const char code[] = "\x90\xf3\x0f\xae\xe0\x74\x00";
    DECODE(&r, code,
           START "\x02\x92\x01\x02\x03\x04" FUP16 "\x01\x10"
                 "\x06");
    EXECUTED(&r, 0, 1, 5);
    assert_int_equal(r.losses, 0);
    DECODE(&r, code,
           START "\x02\x92\x01\x02\x03\x04" FUP16 "\x01\x10"
                 "\x02\x92\x01\x02\x03\x04" FUP16 "\x01\x10");
    assert_int_equal(r.losses, 1);
}

static void transactions_begin_and_abort(void **state)
{
    struct run r;
    (void)state;
    /* 00 xbegin 08; 06 je 08; 08 je 0a. Begin at 00, a branch inside not taken, abort before 08: to 08 */
    DECODE(&r, "\xc7\xf8\x02\x00\x00\x00\x74\x00\x74\x00",
           START "\x99\x21" FUP16 "\x00\x10"
                 "\x04"
                 "\x99\x22" FUP16 "\x08\x10" TIP16 "\x08\x10"
                 "\x06");
    EXECUTED(&r, 0, 6, 8);
    assert_int_equal(r.losses, 0);
}

static void cycles_belong_to_the_first_branch(void **state)
{
    struct run r;
    (void)state;
    /* CYC 5, TNT of two branches; CYC 1 and 31 add up, TIP-less; CYC 4095 of two bytes before the last TNT */
    DECODE(&r, loop_code,
           START "\x2b\x0a"
                 "\x0b\xfb\x06"
                 "\xff\xfe\x04");
    EXECUTED(&r, 0, 1, 3, 4, 0, 1, 4, 0, 1, 4, 0, 1);
    assert_int_equal(r.points, 3);
    assert_int_equal(r.cycles_at[0], 2);
    assert_int_equal(r.cycles[0], 5);
    assert_int_equal(r.cycles_at[1], 9);
    assert_int_equal(r.cycles[1], 32);
    assert_int_equal(r.cycles_at[2], 12);
    assert_int_equal(r.cycles[2], 4095);
}

static void cycles_of_an_mtc_are_not_those_of_a_branch(void **state)
{
    struct run r;
    (void)state;
    /* CYC 5, MTC, taken; CYC 3, taken: only the second branch has a CYC of its own */
    DECODE(&r, loop_code, START "\x2b\x59\x01\x06\x1b\x06");
    assert_int_equal(r.points, 1);
    assert_int_equal(r.cycles[0], 8);
    assert_int_equal(r.cycles_at[0], 5);
}

static void a_cyc_holds_64_bits(void **state)
{
    (void)state;
    static const uint8_t most[] = {PSB_ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x0e"};
    static const uint8_t more[] = {PSB_ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x10"};
    struct packets p = packets_of(most, sizeof most - 1, 0);
    assert_int_equal(p.n, 2);
    assert_true(p.at[1].kind == CYC && p.at[1].value == UINT64_MAX);
    free(p.at);
    p = packets_of(more, sizeof more - 1, 0);
    assert_int_equal(p.n, 2);
    assert_int_equal(p.at[1].kind, BAD);
    free(p.at);
}

static void a_64_bit_time_comes_from_the_crystal(void **state)
{
    struct clock c;
    bool told;
    (void)state;
    /* TSC = 4 crystal ticks; MTC every 8. TSC 1000 with FC 3, CTC 0x0815 = 5 ticks into period 0x02 (of 8 bits):
     * the period began at 1000 - 3 - 5 * 4 = 977; MTC 0x04 is 16 ticks on: 977 + 64 = 1041 */
    struct clock_config config = {.mtc_freq = 3, .ctc_n = 4, .ctc_d = 1, .max_ratio = 40};
    clock_init(&c, &config);
    assert_true(clock_packet(&c, &(struct packet){.kind = TSC, .value = 1000}, &told) && told);
    clock_packet(&c, &(struct packet){.kind = TMA, .value = 0x0815, .count = 3}, &told);
    assert_int_equal(c.tsc, 1000);
    clock_packet(&c, &(struct packet){.kind = MTC, .value = 0x04}, &told);
    assert_true(told);
    assert_int_equal(c.tsc, 1041);
    /* the core at 20 : 40, so a cycle is two TSC ticks */
    clock_packet(&c, &(struct packet){.kind = CBR, .value = 20}, &told);
    clock_packet(&c, &(struct packet){.kind = CYC, .value = 10}, &told);
    assert_int_equal(c.tsc, 1061);
    /* an MTC that says less does not turn time back */
    clock_packet(&c, &(struct packet){.kind = MTC, .value = 0x04 + 0}, &told);
    assert_true(c.tsc >= 1061);
    /* 56 bits near a reference of 64 */
    config.tsc_reference = UINT64_C(0x0200000000000010);
    clock_init(&c, &config);
    clock_packet(&c, &(struct packet){.kind = TSC, .value = UINT64_C(0xfffffffffffff0)}, &told);
    assert_true(c.tsc == UINT64_C(0x01fffffffffffff0));
}

/* Kinds of instructions that are easily taken for another. */
static void instructions_that_look_like_branches(void **state)
{
    static const struct {
        uint8_t code[15];
        unsigned mode;
        enum branch branch;
    } known[] = {
        {{0xc7, 0xf8}, 64, STRAIGHT},       /* xbegin */
        {{0xc6, 0xf8, 0x01}, 64, STRAIGHT}, /* xabort */
        {{0x0f, 0x01, 0xd5}, 64, STRAIGHT}, /* xend */
        {{0x62, 0x00}, 32, STRAIGHT},       /* bound */
        {{0x0f, 0x0b}, 64, STRAIGHT},       /* ud2 */
        {{0xf3, 0xa4}, 64, STRAIGHT},       /* rep movsb */
        {{0xe2, 0x00}, 64, COND},           /* loop */
        {{0xe3, 0x00}, 64, COND},           /* jrcxz */
        {{0xff, 0x28}, 64, FAR},            /* jmp far [rax] */
        {{0xff, 0x18}, 64, FAR},            /* call far [rax] */
        {{0xcb}, 64, FAR},                  /* retf */
        {{0x48, 0xcf}, 64, FAR},            /* iretq */
        {{0xcc}, 64, FAR},                  /* int3 */
        {{0xf2, 0xc3}, 64, RET},            /* bnd ret */
        {{0xd5, 0x00, 0xa1}, 64, JMP_IND},  /* jmpabs */
    };
    struct insn in;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(insn_decode(known[i].code, 15, known[i].mode, 0x1000, &in));
        assert_int_equal(in.branch, known[i].branch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_decide_branches_oldest_first),
        cmocka_unit_test(what_no_branch_proves_is_not_counted),
        cmocka_unit_test(returns_are_bits_or_tips),
        cmocka_unit_test(a_return_by_tip_elsewhere_leaves_the_stack),
        cmocka_unit_test(a_call_of_the_next_instruction_is_not_returned_to),
        cmocka_unit_test(the_return_stack_holds_64),
        cmocka_unit_test(a_deferred_tip_keeps_the_bits),
        cmocka_unit_test(an_interrupt_cuts_a_run),
        cmocka_unit_test(a_far_transfer_ends_the_context),
        cmocka_unit_test(a_direct_branch_leaves_the_filter),
        cmocka_unit_test(psb_status_is_no_event),
        cmocka_unit_test(overflow_resumes_at_its_fup_or_pge),
        cmocka_unit_test(damage_ends_at_the_next_psb),
        cmocka_unit_test(code_that_is_missing_is_a_loss),
        cmocka_unit_test(an_endless_loop_is_left_by_an_interrupt_only),
        cmocka_unit_test(a_fup_after_ptwrite_cuts_nothing),
        cmocka_unit_test(transactions_begin_and_abort),
        cmocka_unit_test(cycles_belong_to_the_first_branch),
        cmocka_unit_test(cycles_of_an_mtc_are_not_those_of_a_branch),
        cmocka_unit_test(a_cyc_holds_64_bits),
        cmocka_unit_test(a_64_bit_time_comes_from_the_crystal),
        cmocka_unit_test(instructions_that_look_like_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
