/* SPDX-License-Identifier: MIT */
/* The trace unit driven by hand; what it writes compared with packets derived by hand from the SDM. */
#include "pt_rig.h"

static void starts(void **state)
{
    (void)state;
    struct rig *r = rig();
    power_on(r, NULL);
    assay_pt_unit_enter(&r->u, 0x401000);
    expect(r, ""); /* off */
    write_ctl(r, BRANCHES);
    expect(r, "");
    assay_pt_unit_enter(&r->u, 0x401000);
    expect(r, "PSB CBR:24 PSBEND MODE:64 PGE/2:401000");
    assay_pt_unit_enter(&r->u, 0x401000);
    expect(r, "");
}

/* TSC 1000050 is crystal tick 10000 (1000000) and 50; 10000 mod 2^16 the same. The PSB comes 50 cycles after TraceEn.
 */
static void starts_with_time(void **state)
{
    (void)state;
    struct rig *r = rig();
    power_on(r, &(struct assay_pt_unit_config){.mode = 32, .core_ratio = 24});
    r->u.tsc_base = 999000;
    r->u.cycles = 1000; /* the counter of CYC begins with TraceEn */
    write_ctl(r, BRANCHES | ASSAY_RTIT_TSCEN | ASSAY_RTIT_MTCEN | ASSAY_RTIT_CYCEN | FIELD(MTCFREQ, 3));
    r->u.cycles = 1050;
    assay_pt_unit_enter(&r->u, 0xffff0000);
    expect(r, "PSB CYC:50 TSC:1000050 TMA:10000,50 CBR:24 PSBEND MODE:32 PGE/2:ffff0000");
    r->u.cycles = 1060;
    assay_pt_unit_leave(&r->u);
    expect(r, "CYC:10 PGD");
    r->u.cycles = 1090;
    assay_pt_unit_enter(&r->u, 0xffff0010);
    expect(r, "CYC:30 PGE/1:ffff0010"); /* the mode is known */
    assert_int_equal(assay_pt_unit_tsc(&r->u), 1000090);
}

static void tnt_fills_to_six(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, 0, NULL);
    conds_at(r, 1, "TNTTN");
    expect(r, "");
    conds_at(r, 2, "T");
    expect(r, "TNT:TNTTNT");
    conds_at(r, 3, "NN");
    assay_pt_unit_indirect(&r->u, 0x402000);
    expect(r, "TNT:NN TIP/1:402000");
    conds_at(r, 4, "T");
    assay_pt_unit_flush(&r->u);
    assay_pt_unit_flush(&r->u);
    expect(r, "TNT:T");
}

static void ip_compression(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, 0, NULL);
    static const struct {
        uint64_t to;
        const char *word;
    } steps[] = {
        {0x41ffff, "TIP/2:41ffff"},         /* bits 31:16 differ */
        {0x41fffe, "TIP/1:41fffe"},         /* 15:0 */
        {0x1234567890, "TIP/3:1234567890"}, /* 47:32 */
        {0x1200000000, "TIP/2:1200000000"},
        {0x1200000000, "TIP/1:1200000000"},             /* the same: never suppressed */
        {0xffffffff81000000, "TIP/3:ffffffff81000000"}, /* bit 47 extends */
        {0xffff800000000000, "TIP/3:ffff800000000000"},
        {0xffff7fffffffffff,
         "TIP/4:ffff7fffffffffff"},                 /* not an extension of bit 47, but 63:48 are those of the last */
        {0x0000800000000000, "TIP/6:800000000000"}, /* neither */
        {0x0000800000001000, "TIP/1:800000001000"},
        {0x0000900000001000, "TIP/4:900000001000"},
        {0x00007fffffffffff, "TIP/3:7fffffffffff"},
        {0x12ff800000001000, "TIP/6:12ff800000001000"},
        {0, "TIP/3:0"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assay_pt_unit_indirect(&r->u, steps[i].to);
        expect(r, steps[i].word);
    }
}

static void suppressed_ip_keeps_last_ip(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, 0, NULL);
    assay_pt_unit_leave(&r->u);
    assay_pt_unit_enter(&r->u, 0x401234);
    expect(r, "PGD PGE/1:401234");
}

static void cyc_sizes(void **state)
{
    (void)state;
    static const struct {
        uint64_t cycles;
        unsigned size;
    } cases[] = {{1, 1},      {31, 1},     {32, 2},       {4095, 2},    {4096, 3},
                 {524287, 3}, {524288, 4}, {67108863, 4}, {67108864, 5}};
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN, &(struct assay_pt_unit_config){.cyc_counter_bits = 32});
    uint64_t cycle = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t before = assay_pt_unit_written(&r->u);
        jump_at(r, cycle += cases[i].cycles);
        char words[64];
        snprintf(words, sizeof words, "CYC:%llu TIP/1:401000", (unsigned long long)cases[i].cycles);
        assert_int_equal(assay_pt_unit_written(&r->u) - before - 3, cases[i].size);
        expect(r, words);
    }
}

static void one_cyc_a_cycle(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN, NULL);
    jump_at(r, 5);
    jump_at(r, 5);
    conds_at(r, 5, "T");
    jump_at(r, 6);
    expect(r, "CYC:5 TIP/1:401000 TIP/1:401000 TNT:T CYC:1 TIP/1:401000");
}

static void tnt_has_the_time_of_its_first_branch(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN, NULL);
    conds_at(r, 10, "T");
    conds_at(r, 17, "NNN");
    conds_at(r, 20, "TT"); /* full: written now */
    conds_at(r, 33, "N");
    jump_at(r, 40);
    expect(r, "CYC:10 TNT:TNNNTT CYC:23 TNT:N CYC:7 TIP/1:401000");
}

/* CycThresh 5: at least 2^4 = 16 cycles since the last CYC. */
static void cyc_threshold(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN | FIELD(CYCTHRESH, 5), NULL);
    jump_at(r, 15);
    jump_at(r, 16);
    jump_at(r, 31);
    expect(r, "TIP/1:401000 CYC:16 TIP/1:401000 TIP/1:401000");
    conds_at(r, 31, "T"); /* too early for a CYC: the later branches do not get one either */
    conds_at(r, 90, "T");
    jump_at(r, 91);
    expect(r, "TNT:TT CYC:75 TIP/1:401000");
}

/* A counter of 8 bits goes to 255. */
static void stand_alone_cyc(void **state)
{
    (void)state;
    struct assay_pt_unit_config config = {.cyc_counter_bits = 8};
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN, &config);
    jump_at(r, 254);
    jump_at(r, 254 + 255);
    jump_at(r, 254 + 255 + 700);
    expect(r, "CYC:254 TIP/1:401000 CYC:255 TIP/1:401000 CYC:255 CYC:255 CYC:190 TIP/1:401000");

    begin(r, ASSAY_RTIT_CYCEN, &config);
    conds_at(r, 10, "T");
    conds_at(r, 264, "N");
    expect(r, "");
    conds_at(r, 265, "N"); /* 255 after the CYC of the pending TNT: that one goes first, the branch comes later */
    jump_at(r, 266);
    expect(r, "CYC:10 TNT:TN CYC:255 TNT:N CYC:1 TIP/1:401000");

    /* a threshold of 64 cycles does not hold for the CYC after a stand-alone one */
    begin(r, ASSAY_RTIT_CYCEN | FIELD(CYCTHRESH, 7), &config);
    conds_at(r, 10, "T");
    jump_at(r, 260);
    jump_at(r, 262);
    expect(r, "TNT:T CYC:255 CYC:5 TIP/1:401000 TIP/1:401000");
}

/* N = 3: every 8 ticks of 100 cycles. Ticks stand before the branch that was seen after them. */
static void mtc_at_its_time(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN | ASSAY_RTIT_MTCEN | FIELD(MTCFREQ, 3), NULL);
    conds_at(r, 790, "T");
    conds_at(r, 799, "N");
    conds_at(r, 801, "N");
    jump_at(r, 1600);
    expect(r, "CYC:790 TNT:TN CYC:10 MTC:1 CYC:1 TNT:N CYC:799 MTC:2 TIP/1:401000");
    r->u.cycles = 1600;
    assay_pt_unit_leave(&r->u);
    r->u.cycles = 2500; /* outside the clocks go on */
    assay_pt_unit_tick(&r->u);
    assay_pt_unit_enter(&r->u, 0x401000);
    expect(r, "PGD CYC:800 MTC:3 CYC:100 PGE/1:401000");
}

/* MTCs over a span against the first cycle at which each crystal tick shows, found by trying every cycle. The TSC runs
 * at 20/30 of the core and at 5/2 of the crystal. */
static void mtc_values_by_arithmetic(void **state)
{
    (void)state;
    struct rig *r = rig();
    struct assay_pt_unit_config config = {.tsc_ctc_n = 5, .tsc_ctc_d = 2, .max_ratio = 20, .core_ratio = 30};
    power_on(r, &config);
    r->u.tsc_base = 987654321;
    write_ctl(r, BRANCHES | ASSAY_RTIT_CYCEN | ASSAY_RTIT_MTCEN | FIELD(MTCFREQ, 2));
    assay_pt_unit_enter(&r->u, 0x401000);
    r->u.cycles = 100000;
    assay_pt_unit_tick(&r->u);
    assay_pt_decoder_refill(&r->d, r->memory, assay_pt_unit_written(&r->u));
    struct assay_pt_packet p;
    uint64_t cycle = 0, model = 0, count = 0;
    while (assay_pt_decoder_next(&r->d, &p) == 1) {
        if (p.type == ASSAY_PT_CYC)
            cycle += p.cyc.cycles;
        if (p.type != ASSAY_PT_MTC)
            continue;
        uint64_t before, now = (987654321 + model * 2 / 3) * 2 / 5;
        do {
            before = now;
            now = (987654321 + ++model * 2 / 3) * 2 / 5;
        } while (before / 4 == now / 4);
        assert_int_equal(cycle, model);
        assert_int_equal(p.mtc.ctc, now / 4 % 256);
        count++;
    }
    uint64_t first = UINT64_C(987654321) * 2 / 5 / 4, last = (UINT64_C(987654321) + 66666) * 2 / 5 / 4;
    assert_int_equal(count, last - first);
}

/* FC counts TSC ticks since the crystal's tick: 7777 is tick 77 and 77; with n/d = 5/2, TSC 1008 is in tick 403, which
 * begins at 1007.5, so at TSC 1008. */
static void tma_by_arithmetic(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_TSCEN | ASSAY_RTIT_MTCEN | FIELD(MTCFREQ, 15), NULL);
    r->u.cycles = 7777;
    assay_pt_unit_time(&r->u);
    expect(r, "TSC:7777 TMA:77,77");
    r->u.cycles = 6553700 + 1;
    assay_pt_unit_time(&r->u);
    expect(r, "TSC:6553701 TMA:1,1"); /* 65537 in 16 bits; the MTCs of the jump are passed over */
    begin(r, ASSAY_RTIT_TSCEN | ASSAY_RTIT_MTCEN, &(struct assay_pt_unit_config){.tsc_ctc_n = 5, .tsc_ctc_d = 2});
    r->u.cycles = 1008;
    assay_pt_unit_time(&r->u);
    expect(r, "TSC:1008 TMA:403,0");
    begin(r, ASSAY_RTIT_TSCEN, NULL);
    r->u.cycles = (UINT64_C(1) << 56) + 5;
    assay_pt_unit_time(&r->u);
    expect(r, "TSC:5");
}

static void time_is_in_order(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN | ASSAY_RTIT_TSCEN | ASSAY_RTIT_MTCEN, NULL);
    conds_at(r, 20, "T");
    r->u.cycles = 30;
    assay_pt_unit_time(&r->u);
    expect(r, "CYC:20 TNT:T CYC:10 TSC:30 TMA:0,30");
    conds_at(r, 40, "T");
    r->u.cycles = 50;
    assay_pt_unit_frequency(&r->u, 12, 0x401000);
    expect(r, "CYC:10 TNT:T CYC:10 TSC:50 TMA:0,50 CBR:12");
    jump_at(r, 74); /* half the ratio: a core cycle is two TSC ticks, and tick 100 is 25 cycles after 50 */
    jump_at(r, 75);
    expect(r, "CYC:24 TIP/1:401000 CYC:1 MTC:1 TIP/1:401000");
    assert_int_equal(assay_pt_unit_tsc(&r->u), 100);
}

static void returns_hit_and_miss(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, 0, NULL);
    assay_pt_unit_call(&r->u, 0x401005);
    assay_pt_unit_call(&r->u, 0x40100a);
    assay_pt_unit_ret(&r->u, 0x40100a);
    assay_pt_unit_ret(&r->u, 0x409999); /* misses: calls before it are forgotten */
    assay_pt_unit_ret(&r->u, 0x401005);
    assay_pt_unit_call(&r->u, 0x401005);
    assay_pt_unit_ret(&r->u, 0x401005);
    assay_pt_unit_ret(&r->u, 0x401005); /* empty */
    expect(r, "TNT:T TIP/1:409999 TIP/1:401005 TNT:T TIP/1:401005");
    begin(r, ASSAY_RTIT_DISRETC, NULL);
    assay_pt_unit_call(&r->u, 0x401005);
    assay_pt_unit_ret(&r->u, 0x401005);
    expect(r, "TIP/1:401005");
}

static void sixty_four_calls_are_kept(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, 0, NULL);
    for (uint64_t i = 0; i < 66; i++)
        assay_pt_unit_call(&r->u, 0x401000 + i);
    for (uint64_t i = 66; i-- > 0;)
        assay_pt_unit_ret(&r->u, 0x401000 + i);
    /* 64 = 10 x 6 + 4 compressed, the two oldest not */
    expect(r, "TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT "
              "TNT:TTTTTT TNT:TTTT TIP/1:401001 TIP/1:401000");
    for (int i = 0; i < 66; i++) /* recursion: what fell off looked the same */
        assay_pt_unit_call(&r->u, 0x401008);
    for (int i = 0; i < 65; i++)
        assay_pt_unit_ret(&r->u, 0x401008);
    expect(r, "TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT TNT:TTTTTT "
              "TNT:TTTTTT TNT:TTTT TIP/1:401008");
}

static void calls_outside_are_not_kept(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, 0, NULL);
    assay_pt_unit_call(&r->u, 0x401005);
    assay_pt_unit_leave(&r->u);
    assay_pt_unit_call(&r->u, 0x999);
    assay_pt_unit_ret(&r->u, 0x401005);
    conds_at(r, 1, "TNTNTNTN");
    assay_pt_unit_indirect(&r->u, 0x999);
    assay_pt_unit_async(&r->u, 0x999, 0x888);
    assay_pt_unit_async_leave(&r->u, 0x888);
    expect(r, "PGD");
    assay_pt_unit_enter(&r->u, 0x401010);
    assay_pt_unit_ret(&r->u, 0x401005); /* the call before is known to every decoder */
    assay_pt_unit_indirect(&r->u, 0x401000);
    expect(r, "PGE/1:401010 TNT:T TIP/1:401000");
}

/* PSB+ every 2^(n+11) bytes: at the first packet group that reaches it, so late by less than one group. */
static void psb_spacing(void **state)
{
    (void)state;
    for (unsigned freq = 0; freq < 4; freq++) {
        struct rig *r = rig();
        begin(r, ASSAY_RTIT_CYCEN | ASSAY_RTIT_TSCEN | FIELD(PSBFREQ, freq), NULL);
        while (assay_pt_unit_written(&r->u) < 100000)
            jump_at(r, r->u.cycles + 3);
        size_t size = assay_pt_unit_written(&r->u), at = 0, period = (size_t)2048 << freq;
        assert_int_equal(assay_pt_find_psb(r->memory, size), 0);
        for (size_t n = 0;; n++) {
            size_t gap = 16 + assay_pt_find_psb(r->memory + at + 16, size - at - 16);
            if (at + gap == size) {
                assert_int_equal(n, size / (period + 4));
                break;
            }
            assert_in_range(gap, period, period + 4); /* CYC and TIP are 4 bytes */
            at += gap;
        }
    }
}

static void psb_starts_afresh(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_OS, NULL);
    assay_pt_unit_cr3(&r->u, 0x12345060, 0x401000);
    expect(r, "PIP:12345060");
    assay_pt_unit_call(&r->u, 0x401005);
    while (assay_pt_unit_written(&r->u) < 2046)
        assay_pt_unit_indirect(&r->u, 0x401000);
    r->seen = assay_pt_unit_written(&r->u);
    conds_at(r, 0, "TN");
    assay_pt_unit_indirect(&r->u, 0x401008);
    expect(r, "TNT:TN TIP/1:401008 PSB PIP:12345060 CBR:24 MODE:64 FUP/3:401008 PSBEND");
    assay_pt_unit_ret(&r->u, 0x401005); /* its call stands before the PSB */
    expect(r, "TIP/1:401005");
}

static void asynchronous(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN, NULL);
    conds_at(r, 3, "N");
    r->u.cycles = 9;
    assay_pt_unit_async(&r->u, 0x401007, 0x405000);
    expect(r, "CYC:3 TNT:N FUP/1:401007 CYC:6 TIP/1:405000"); /* FUP is no CYC-eligible packet */
    r->u.cycles = 11;
    assay_pt_unit_async_leave(&r->u, 0x405003);
    expect(r, "FUP/1:405003 CYC:2 PGD");
}

static void mode_before_its_target(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN, NULL);
    assay_pt_unit_mode(&r->u, 32);
    jump_at(r, 4);
    jump_at(r, 5);
    assay_pt_unit_mode(&r->u, 16);
    r->u.cycles = 6;
    assay_pt_unit_async(&r->u, 0x401001, 0x401002);
    expect(r, "CYC:4 MODE:32 TIP/1:401000 CYC:1 TIP/1:401000 FUP/1:401001 CYC:1 MODE:16 TIP/1:401002");
    assay_pt_unit_leave(&r->u);
    assay_pt_unit_mode(&r->u, 64);
    assay_pt_unit_enter(&r->u, 0x401000);
    expect(r, "PGD MODE:64 PGE/1:401000");
}

static void ptwrite(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_PTWEN | ASSAY_RTIT_CYCEN, NULL);
    conds_at(r, 1, "T");
    r->u.cycles = 3;
    assay_pt_unit_ptwrite(&r->u, 0x401004, UINT64_C(0x123456789abcdef0), 8);
    assay_pt_unit_ptwrite(&r->u, 0x401004, 0x12345678, 4);
    expect(r, "CYC:1 TNT:T CYC:2 PTW8:123456789abcdef0 PTW4:12345678");
    begin(r, ASSAY_RTIT_PTWEN | ASSAY_RTIT_FUPONPTW, NULL);
    assay_pt_unit_ptwrite(&r->u, 0x401004, 7, 8);
    expect(r, "PTW8+:7 FUP/1:401004");
    begin(r, 0, NULL);
    assay_pt_unit_ptwrite(&r->u, 0x401004, 7, 8);
    expect(r, "");
    power_on(r, NULL); /* without BranchEn: PTW alone, though FUPonPTW is set */
    write_ctl(r, ASSAY_RTIT_TRACEEN | ASSAY_RTIT_USER | ASSAY_RTIT_PTWEN | ASSAY_RTIT_FUPONPTW);
    assay_pt_unit_enter(&r->u, 0x401000);
    conds_at(r, 1, "TNTNTNTN");
    assay_pt_unit_indirect(&r->u, 0x402000);
    assay_pt_unit_ptwrite(&r->u, 0x401004, 7, 4);
    expect(r, "PSB CBR:24 PSBEND PTW4:7");
}

static void cr3_filter(void **state)
{
    (void)state;
    struct rig *r = rig();
    power_on(r, NULL);
    assert_int_equal(assay_pt_unit_wrmsr(&r->u, ASSAY_MSR_RTIT_CR3_MATCH, 0x5000), ASSAY_OK);
    write_ctl(r, BRANCHES | ASSAY_RTIT_CR3FILTER | ASSAY_RTIT_OS);
    assay_pt_unit_enter(&r->u, 0x401000);
    expect(r, "PSB CBR:24 PSBEND");
    assay_pt_unit_cr3(&r->u, 0x5000, 0x401003);
    expect(r, "PIP:5000 MODE:64 PGE/2:401003");
    assay_pt_unit_cr3(&r->u, 0x6000, 0x401006);
    assay_pt_unit_indirect(&r->u, 0x402000);
    expect(r, "PGD");
    assay_pt_unit_cr3(&r->u, 0x5000, 0x401009);
    expect(r, "PIP:5000 PGE/1:401009");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts),
        cmocka_unit_test(starts_with_time),
        cmocka_unit_test(tnt_fills_to_six),
        cmocka_unit_test(ip_compression),
        cmocka_unit_test(suppressed_ip_keeps_last_ip),
        cmocka_unit_test(cyc_sizes),
        cmocka_unit_test(one_cyc_a_cycle),
        cmocka_unit_test(tnt_has_the_time_of_its_first_branch),
        cmocka_unit_test(cyc_threshold),
        cmocka_unit_test(stand_alone_cyc),
        cmocka_unit_test(mtc_at_its_time),
        cmocka_unit_test(mtc_values_by_arithmetic),
        cmocka_unit_test(tma_by_arithmetic),
        cmocka_unit_test(time_is_in_order),
        cmocka_unit_test(returns_hit_and_miss),
        cmocka_unit_test(sixty_four_calls_are_kept),
        cmocka_unit_test(calls_outside_are_not_kept),
        cmocka_unit_test(psb_spacing),
        cmocka_unit_test(psb_starts_afresh),
        cmocka_unit_test(asynchronous),
        cmocka_unit_test(mode_before_its_target),
        cmocka_unit_test(ptwrite),
        cmocka_unit_test(cr3_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
