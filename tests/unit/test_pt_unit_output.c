/* SPDX-License-Identifier: MIT */
/* The trace unit's output region and registers: overflow, regions that follow each other, what may be written when. */
#include "pt_rig.h"

/* A region of 256 bytes has room for groups that begin in its first 128. */
static void fill(struct rig *r)
{
    assay_pt_unit_output(&r->u, r->memory, 256);
    r->seen = 0;
    while (!r->u.overflow)
        assay_pt_unit_indirect(&r->u, 0x401000);
    assert_in_range(assay_pt_unit_written(&r->u), 128, 255);
}

static void drained(struct rig *r)
{
    assay_pt_unit_output(&r->u, r->memory, sizeof r->memory);
    r->seen = 0;
}

static void overflow_while_enabled(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, ASSAY_RTIT_CYCEN | ASSAY_RTIT_TSCEN, NULL);
    assay_pt_unit_call(&r->u, 0x401005);
    fill(r);
    uint64_t lost = r->u.lost;
    r->u.cycles = 100;
    assay_pt_unit_indirect(&r->u, 0x402000);
    assay_pt_unit_ptwrite(&r->u, 0x402000, 1, 8);
    conds_at(r, 101, "TT");
    assert_true(r->u.lost > lost);
    drained(r);
    conds_at(r, 200, "NNNT");
    expect(r, "CYC:200 OVF TSC:200 FUP/3:401000"); /* what was pending is lost, and the address is whole */
    assay_pt_unit_ret(&r->u, 0x401005);            /* the call is too old */
    expect(r, "TIP/1:401005");
}

static void overflow_until_disabled(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, 0, NULL);
    fill(r);
    assay_pt_unit_leave(&r->u);
    drained(r);
    assay_pt_unit_enter(&r->u, 0x401008);
    expect(r, "OVF PGE/3:401008");

    begin(r, 0, NULL); /* room in time for the leave */
    fill(r);
    drained(r);
    assay_pt_unit_leave(&r->u);
    expect(r, "OVF");
    assay_pt_unit_enter(&r->u, 0x401008);
    expect(r, "PGE/3:401008");
}

/* The mode changed while packets were lost; an FUP cannot tell, a PSB+ can. */
static void overflow_hides_a_mode(void **state)
{
    (void)state;
    struct rig *r = rig();
    begin(r, 0, NULL);
    fill(r);
    assay_pt_unit_mode(&r->u, 32);
    assay_pt_unit_indirect(&r->u, 0x401000);
    drained(r);
    assay_pt_unit_indirect(&r->u, 0x402000);
    expect(r, "OVF FUP/3:402000 PSB CBR:24 MODE:32 FUP/3:402000 PSBEND");
}

static bool next_region(struct assay_pt_unit *u, void *ctx)
{
    size_t *n = ctx;
    assay_pt_unit_output(u, u->out + 256, 256); /* the next 256 bytes of the rig's memory */
    ++*n;
    return true;
}

static void regions_follow_each_other(void **state)
{
    (void)state;
    struct rig *r = rig();
    size_t regions = 0;
    power_on(r, NULL);
    assay_pt_unit_output(&r->u, r->memory, 256);
    r->u.on_full = next_region;
    r->u.ctx = &regions;
    write_ctl(r, BRANCHES);
    assay_pt_unit_enter(&r->u, 0x401000);
    for (int i = 0; i < 1000; i++)
        assay_pt_unit_indirect(&r->u, 0x401000);
    /* 29 bytes of start, 1000 TIPs of 3, one PSB+ of 31 after 2048 */
    uint64_t bytes = r->u.bytes_before + assay_pt_unit_written(&r->u);
    assert_int_equal(bytes, 16 + 4 + 2 + 2 + 5 + 3000 + 16 + 4 + 2 + 7 + 2);
    assert_int_equal(regions, bytes / 128);
    assert_int_equal(r->u.lost, 0);
}

static void no_region_at_all(void **state)
{
    (void)state;
    struct assay_pt_unit u;
    uint8_t small[255];
    assay_pt_unit_init(&u, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(assay_pt_unit_wrmsr(&u, ASSAY_MSR_RTIT_CTL, BRANCHES), ASSAY_OK);
        assay_pt_unit_enter(&u, 0x401000);
        for (int j = 0; j < 20; j++) {
            assay_pt_unit_cond(&u, true, 0x401000);
            assay_pt_unit_async(&u, 0x401000, 0x402000);
        }
        assay_pt_unit_async_leave(&u, 0x402000);
        assert_int_equal(assay_pt_unit_wrmsr(&u, ASSAY_MSR_RTIT_CTL, 0), ASSAY_OK);
        assert_int_equal(assay_pt_unit_written(&u), 0);
        assay_pt_unit_output(&u, small, sizeof small);
    }
}

static int ctl(struct rig *r, uint64_t value) { return assay_pt_unit_wrmsr(&r->u, ASSAY_MSR_RTIT_CTL, value); }

static void ctl_legality(void **state)
{
    (void)state;
    struct rig *r = rig();
    power_on(r, NULL);
    /* TraceEn, CYCEn, OS, User, FUPonPTW, CR3Filter, MTCEn, TSCEn, DisRETC, PTWEn, BranchEn and three fields; not
     * PwrEvtEn, FabricEn, ToPA, address ranges, event trace, TNT disable */
    static const uint64_t known = 0x0f7bfeaf;
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t v = UINT64_C(1) << bit;
        assert_int_equal(ctl(r, v), v & known ? ASSAY_OK : ASSAY_E_ARGUMENT);
        assert_int_equal(ctl(r, 0), ASSAY_OK);
    }
    for (unsigned n = 0; n < 16; n++) { /* 2^12 cycles are more than the counter of 12 bits holds */
        assert_int_equal(ctl(r, FIELD(CYCTHRESH, n)), n <= 12 ? ASSAY_OK : ASSAY_E_ARGUMENT);
        assert_int_equal(ctl(r, FIELD(MTCFREQ, n)), ASSAY_OK);
        assert_int_equal(ctl(r, FIELD(PSBFREQ, n)), ASSAY_OK);
    }
    power_on(r, &(struct assay_pt_unit_config){.cyc_counter_bits = 20});
    assert_int_equal(ctl(r, FIELD(CYCTHRESH, 13)), ASSAY_OK);
    assert_int_equal(ctl(r, FIELD(CYCTHRESH, 14)), ASSAY_E_ARGUMENT);
    assert_int_equal(ctl(r, BRANCHES), ASSAY_OK);
    assert_int_equal(ctl(r, BRANCHES), ASSAY_OK); /* the same value again */
    for (unsigned bit = 1; bit < 64; bit++)
        assert_int_equal(ctl(r, BRANCHES ^ UINT64_C(1) << bit), ASSAY_E_ARGUMENT);
    uint64_t v;
    assert_int_equal(assay_pt_unit_rdmsr(&r->u, ASSAY_MSR_RTIT_CTL, &v), ASSAY_OK);
    assert_int_equal(v, BRANCHES);
    assert_int_equal(ctl(r, ASSAY_RTIT_CYCEN), ASSAY_OK); /* TraceEn goes away together with other changes */
}

static void other_registers(void **state)
{
    (void)state;
    struct rig *r = rig();
    power_on(r, NULL);
    struct assay_pt_unit *u = &r->u;
    uint64_t v;
    assert_int_equal(assay_pt_unit_wrmsr(u, 0x10, 0), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay_pt_unit_rdmsr(u, 0x572 + 1, &v), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_CR3_MATCH, 0x1010), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_CR3_MATCH, 0x1020), ASSAY_OK);
    assert_int_equal(assay_pt_unit_rdmsr(u, ASSAY_MSR_RTIT_CR3_MATCH, &v), ASSAY_OK);
    assert_int_equal(v, 0x1020);
    assert_int_equal(assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_OUTPUT_BASE, 0x40), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_OUTPUT_BASE, UINT64_C(1) << 52), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_OUTPUT_BASE, 0x300000), ASSAY_OK);
    assert_int_equal(assay_pt_unit_rdmsr(u, ASSAY_MSR_RTIT_OUTPUT_BASE, &v), ASSAY_OK);
    assert_int_equal(v, 0x300000);
    assert_int_equal(assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_STATUS, 8), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_STATUS, UINT64_C(1) << 49), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_pt_unit_rdmsr(u, ASSAY_MSR_RTIT_OUTPUT_MASK_PTRS, &v), ASSAY_OK);
    assert_int_equal(v, 0xfffff);
    static const uint32_t other[] = {ASSAY_MSR_RTIT_CR3_MATCH, ASSAY_MSR_RTIT_OUTPUT_BASE,
                                     ASSAY_MSR_RTIT_OUTPUT_MASK_PTRS, ASSAY_MSR_RTIT_STATUS};
    write_ctl(r, BRANCHES);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        assert_int_equal(assay_pt_unit_rdmsr(u, other[i], &v), ASSAY_OK);
        assert_int_equal(assay_pt_unit_wrmsr(u, other[i], v), ASSAY_E_ARGUMENT);
    }
}

static uint64_t status_of(struct rig *r)
{
    uint64_t v = 0;
    assert_int_equal(assay_pt_unit_rdmsr(&r->u, ASSAY_MSR_RTIT_STATUS, &v), ASSAY_OK);
    return v;
}

static void status_and_position(void **state)
{
    (void)state;
    struct rig *r = rig();
    power_on(r, NULL);
    assert_int_equal(status_of(r), 0);
    write_ctl(r, BRANCHES);
    assert_int_equal(status_of(r), ASSAY_RTIT_STATUS_FILTEREN | ASSAY_RTIT_STATUS_TRIGGEREN);
    assay_pt_unit_enter(&r->u, 0x401000);
    uint64_t bytes = 16 + 4 + 2 + 2 + 5;
    assert_int_equal(status_of(r), bytes << 32 | ASSAY_RTIT_STATUS_FILTEREN | ASSAY_RTIT_STATUS_TRIGGEREN |
                                       ASSAY_RTIT_STATUS_CONTEXTEN);
    conds_at(r, 0, "T");
    write_ctl(r, 0);
    bytes += 2;
    assert_int_equal(status_of(r), bytes << 32);
    uint64_t v;
    assert_int_equal(assay_pt_unit_rdmsr(&r->u, ASSAY_MSR_RTIT_OUTPUT_MASK_PTRS, &v), ASSAY_OK);
    assert_int_equal(v, bytes << 32 | 0xfffff);
    expect(r, "PSB CBR:24 PSBEND MODE:64 PGE/2:401000 TNT:T PGD");
    /* on again without a PSB, whose byte count goes on */
    write_ctl(r, BRANCHES | ASSAY_RTIT_TSCEN);
    assay_pt_unit_enter(&r->u, 0x401000);
    expect(r, "TSC:0 CBR:24 PGE/1:401000");
    write_ctl(r, 0);
    assert_int_equal(assay_pt_unit_wrmsr(&r->u, ASSAY_MSR_RTIT_STATUS, UINT64_C(2040) << 32), ASSAY_OK);
    write_ctl(r, BRANCHES);
    assay_pt_unit_enter(&r->u, 0x401000); /* CBR and TIP.PGE: 2047 */
    assay_pt_unit_indirect(&r->u, 0x401000);
    expect(r, "PGD CBR:24 PGE/1:401000 TIP/1:401000 PSB CBR:24 MODE:64 FUP/3:401000 PSBEND");
    write_ctl(r, 0);
    assert_int_equal(assay_pt_unit_wrmsr(&r->u, ASSAY_MSR_RTIT_STATUS, 0), ASSAY_OK);
    write_ctl(r, BRANCHES);
    assay_pt_unit_enter(&r->u, 0x401000);
    expect(r, "PGD PSB CBR:24 PSBEND MODE:64 PGE/2:401000");
}

static void stopped_by_status(void **state)
{
    (void)state;
    struct rig *r = rig();
    for (int i = 0; i < 3; i++) {
        power_on(r, NULL);
        if (i == 0)
            assay_pt_unit_wrmsr(&r->u, ASSAY_MSR_RTIT_STATUS, ASSAY_RTIT_STATUS_STOPPED);
        else if (i == 1)
            assay_pt_unit_wrmsr(&r->u, ASSAY_MSR_RTIT_STATUS, ASSAY_RTIT_STATUS_ERROR);
        else /* 1 MiB at 512 KiB: an operational error */
            assay_pt_unit_wrmsr(&r->u, ASSAY_MSR_RTIT_OUTPUT_BASE, 0x80000);
        write_ctl(r, BRANCHES | ASSAY_RTIT_MTCEN);
        assay_pt_unit_enter(&r->u, 0x401000);
        jump_at(r, 100000);
        expect(r, "");
        assert_int_equal(status_of(r), i ? ASSAY_RTIT_STATUS_ERROR : ASSAY_RTIT_STATUS_STOPPED);
    }
}

static void neither_os_nor_user(void **state)
{
    (void)state;
    struct rig *r = rig();
    power_on(r, NULL);
    write_ctl(r, ASSAY_RTIT_TRACEEN | ASSAY_RTIT_BRANCHEN | ASSAY_RTIT_MTCEN);
    assay_pt_unit_enter(&r->u, 0x401000);
    jump_at(r, 150);
    assay_pt_unit_tick(&r->u);
    expect(r, "PSB CBR:24 PSBEND MTC:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overflow_while_enabled), cmocka_unit_test(overflow_until_disabled),
        cmocka_unit_test(overflow_hides_a_mode),  cmocka_unit_test(regions_follow_each_other),
        cmocka_unit_test(no_region_at_all),       cmocka_unit_test(ctl_legality),
        cmocka_unit_test(other_registers),        cmocka_unit_test(status_and_position),
        cmocka_unit_test(stopped_by_status),      cmocka_unit_test(neither_os_nor_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
