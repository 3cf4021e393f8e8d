/* SPDX-License-Identifier: MIT */
/* The stream decoder: last IP, PEBS blocks, damage and resynchronisation, refills, the ledger. */
#include <assay/pt.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
/* A string literal's bytes without the NUL. */
#define BYTES(s) (s), sizeof(s) - 1

static void ledger_is(struct assay_pt_decoder *d, uint64_t decoded, uint64_t before_sync, uint64_t damaged,
                      uint64_t truncated)
{
    const struct assay_ledger *l = assay_pt_decoder_ledger(d);
    assert_true(assay_ledger_closes(l));
    assert_int_equal(l->decoded, decoded);
    assert_int_equal(l->skipped[ASSAY_SKIP_BEFORE_SYNC], before_sync);
    assert_int_equal(l->skipped[ASSAY_SKIP_DAMAGED], damaged);
    assert_int_equal(l->skipped[ASSAY_SKIP_TRUNCATED], truncated);
}

static void next_is(struct assay_pt_decoder *d, uint64_t offset, unsigned type, struct assay_pt_packet *p)
{
    assert_int_equal(assay_pt_decoder_next(d, p), 1);
    assert_int_equal(p->type, type);
    assert_int_equal(p->offset, offset);
}

static void gap_is(struct assay_pt_decoder *d, uint64_t offset, uint64_t bytes, int code)
{
    struct assay_pt_packet p;
    next_is(d, offset, ASSAY_PT_GAP, &p);
    assert_int_equal(p.gap.bytes, bytes);
    assert_int_equal(p.gap.code, code);
    assert_non_null(p.gap.what);
}

static void ip_is(struct assay_pt_decoder *d, unsigned type, bool known, uint64_t ip)
{
    struct assay_pt_packet p;
    assert_int_equal(assay_pt_decoder_next(d, &p), 1);
    assert_int_equal(p.type, type);
    assert_int_equal(p.ip.known, known);
    assert_true(p.ip.ip == (known ? ip : 0));
}

static void the_last_ip_completes_a_payload(void **state)
{
    (void)state;
    static const char data[] = PSB "\x71\x00\x10\x40\x00\xff\xff"         /* PGE, 48 bits, upper half */
                                   "\x2d\x34\x12"                         /* low 16 */
                                   "\x0d"                                 /* suppressed */
                                   "\x4d\x00\x00\x50\x00"                 /* low 32 */
                                   "\x9d\x00\x00\x60\x00\x34\x12"         /* low 48, upper 16 kept */
                                   "\xcd\x08\x07\x06\x05\x04\x03\x02\x01" /* all */
                                   "\x02\xf3"                             /* OVF */
                                   "\x41\x78\x56\x34\x12"                 /* low 32 of 0 */
        PSB "\x3d\xff\xff";                                               /* low 16 of 0 */
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    assay_pt_decoder_init(&d, BYTES(data), 0, true);
    next_is(&d, 0, ASSAY_PT_PSB, &p);
    ip_is(&d, ASSAY_PT_TIP_PGE, true, UINT64_C(0xffffffff00401000));
    ip_is(&d, ASSAY_PT_TIP, true, UINT64_C(0xffffffff00401234));
    ip_is(&d, ASSAY_PT_TIP, false, 0);
    ip_is(&d, ASSAY_PT_TIP, true, UINT64_C(0xffffffff00500000));
    ip_is(&d, ASSAY_PT_FUP, true, UINT64_C(0xffff123400600000));
    ip_is(&d, ASSAY_PT_TIP, true, UINT64_C(0x0102030405060708));
    assert_int_equal(assay_pt_decoder_next(&d, &p), 1);
    ip_is(&d, ASSAY_PT_TIP_PGD, true, 0x12345678);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 1);
    ip_is(&d, ASSAY_PT_FUP, true, 0xffff);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
    ledger_is(&d, sizeof data - 1, 0, 0, 0);
}

static void an_ip_without_a_last_ip_is_not_known(void **state)
{
    (void)state;
    static const char data[] = "\x2d\x34\x12\x8d\x00\x00\x40\x00\x00\x00\x6d\x00\x00\x40\x00\x00\x00\x2d\x34\x12";
    struct assay_pt_decoder d;
    assay_pt_decoder_init(&d, BYTES(data), 0, true); /* the caller says that it is synchronised, but no PSB is there */
    ip_is(&d, ASSAY_PT_TIP, false, 0);
    ip_is(&d, ASSAY_PT_TIP, false, 0);
    ip_is(&d, ASSAY_PT_TIP, true, 0x400000);
    ip_is(&d, ASSAY_PT_TIP, true, 0x401234);
}

static void items_are_read_inside_a_pebs_block_only(void **state)
{
    (void)state;
    static const char data[] = "\x0c"                     /* TNT */
                               "\x02\x63\x84"             /* BBP, items of 4 bytes */
                               "\x0c\x01\x00\x00\x00\x00" /* BIP, PAD: the block stays open */
                               "\x14\x02\x00\x00\x00"     /* BIP */
                               "\x02\xb3\x0c"             /* BEP, TNT */
                               "\x02\x63\x04"             /* BBP, items of 8 bytes */
                               "\x04\x01\x00\x00\x00\x00\x00\x00\x00"
                               "\x06\x04\x0c"; /* TNT ends the block, so the others are TNT too */
    static const uint8_t types[] = {ASSAY_PT_TNT, ASSAY_PT_BBP, ASSAY_PT_BIP, ASSAY_PT_PAD, ASSAY_PT_BIP, ASSAY_PT_BEP,
                                    ASSAY_PT_TNT, ASSAY_PT_BBP, ASSAY_PT_BIP, ASSAY_PT_TNT, ASSAY_PT_TNT, ASSAY_PT_TNT};
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    assay_pt_decoder_init(&d, BYTES(data), 0, true);
    for (size_t i = 0; i < sizeof types; i++) {
        assert_int_equal(assay_pt_decoder_next(&d, &p), 1);
        assert_int_equal(p.type, types[i]);
    }
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
}

static void damage_is_a_gap_up_to_the_next_psb(void **state)
{
    (void)state;
    static const char data[] = "\xff\x04" PSB "\x04\x05\x04\x04" PSB "\x04\x02\xff" PSB "\x59";
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    assay_pt_decoder_init(&d, BYTES(data), 1000, false);
    gap_is(&d, 1000, 2, ASSAY_E_NO_SYNC);
    ledger_is(&d, 0, 2, 0, 0);
    next_is(&d, 1002, ASSAY_PT_PSB, &p);
    next_is(&d, 1018, ASSAY_PT_TNT, &p);
    gap_is(&d, 1019, 3, ASSAY_E_BAD_PACKET);
    assert_int_equal(assay_pt_decoder_diag(&d)->offset, 1019);
    next_is(&d, 1022, ASSAY_PT_PSB, &p);
    next_is(&d, 1038, ASSAY_PT_TNT, &p);
    gap_is(&d, 1039, 2, ASSAY_E_BAD_PACKET);
    next_is(&d, 1041, ASSAY_PT_PSB, &p);
    gap_is(&d, 1057, 1, ASSAY_E_TRUNCATED);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
    assert_int_equal(assay_pt_decoder_pos(&d), 1058);
    ledger_is(&d, 50, 2, 5, 1);
}

static void damage_without_a_psb_behind_it_takes_the_rest(void **state)
{
    (void)state;
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    assay_pt_decoder_init(&d, BYTES("\x04\x05\x04\x04\x02\x82\x02\x82"), 0, true);
    next_is(&d, 0, ASSAY_PT_TNT, &p);
    gap_is(&d, 1, 7, ASSAY_E_BAD_PACKET);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
    ledger_is(&d, 1, 0, 7, 0);
    assay_pt_decoder_init(&d, BYTES("not a trace"), 0, false);
    gap_is(&d, 0, 11, ASSAY_E_NO_SYNC);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
    ledger_is(&d, 0, 11, 0, 0);
    assay_pt_decoder_init(&d, "", 0, 0, false);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
    ledger_is(&d, 0, 0, 0, 0);
}

static void with_more_to_come_the_end_is_left(void **state)
{
    (void)state;
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    assay_pt_decoder_init(&d, BYTES("\x04\x59"), 0, true);
    d.more = true;
    next_is(&d, 0, ASSAY_PT_TNT, &p);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
    assert_int_equal(assay_pt_decoder_pos(&d), 1);
    assert_int_equal(assay_pt_decoder_ledger(&d)->unread, 1);
    d.more = false;
    assay_pt_decoder_refill(&d, BYTES("\x59\x07\x04"));
    next_is(&d, 1, ASSAY_PT_MTC, &p);
    assert_int_equal(p.mtc.ctc, 7);
    next_is(&d, 3, ASSAY_PT_TNT, &p);
    ledger_is(&d, 4, 0, 0, 0);
    assert_int_equal(assay_pt_decoder_ledger(&d)->in, 4);
}

static void resync_moves_to_a_psb(void **state)
{
    (void)state;
    static const char data[] = "\x04\x04\x04" PSB "\x04\x04";
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    assay_pt_decoder_init(&d, BYTES(data), 0, true);
    next_is(&d, 0, ASSAY_PT_TNT, &p);
    assert_int_equal(assay_pt_decoder_resync(&d), 0);
    assert_int_equal(assay_pt_decoder_pos(&d), 3);
    assert_int_equal(assay_pt_decoder_resync(&d), 0); /* stands there already */
    next_is(&d, 3, ASSAY_PT_PSB, &p);
    assert_int_equal(assay_pt_decoder_resync(&d), ASSAY_E_NO_SYNC);
    assert_int_equal(assay_pt_decoder_next(&d, &p), 0);
    ledger_is(&d, 17, 0, 4, 0);
}

static void a_psb_is_found_at_every_alignment(void **state)
{
    (void)state;
    uint8_t data[96];
    for (size_t start = 0; start < 8; start++)
        for (size_t at = start; at + 16 <= sizeof data; at++) {
            memset(data, 0x04, sizeof data);
            memcpy(data + at, PSB, 16);
            assert_int_equal(assay_pt_find_psb(data + start, sizeof data - start), at - start);
            assert_int_equal(assay_pt_find_psb(data + start, at - start + 16), at - start);
            assert_int_equal(assay_pt_find_psb(data + start, at - start + 15), at - start + 15);
            data[at + 9] ^= 1;
            assert_int_equal(assay_pt_find_psb(data + start, sizeof data - start), sizeof data - start);
        }
}

static void a_broken_psb_before_a_psb_does_not_hide_it(void **state)
{
    (void)state;
    uint8_t data[64];
    memset(data, 0, sizeof data);
    memcpy(data + 3, PSB, 15);
    memcpy(data + 18, PSB, 16);
    assert_int_equal(assay_pt_find_psb(data, sizeof data), 18);
}

static uint8_t *load_shared(const char *name, size_t *size)
{
    char path[4096];
    const char *dir = getenv("ASSAY_SHARED");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    uint8_t *data = malloc(1 << 20);
    *size = data ? fread(data, 1, 1 << 20, f) : 0;
    fclose(f);
    return data;
}

/* The counts are those of libipt's ptdump on the same file. */
static void a_real_trace_decodes_whole(void **state)
{
    (void)state;
    size_t size, count[ASSAY_PT_TYPES + 1] = {0};
    uint8_t *data = load_shared("data/pt/dynamorio-cyc/pt.bin", &size);
    if (!data) {
        print_message("the sample data is not there (ASSAY_SHARED)\n");
        skip();
    }
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    assay_pt_decoder_init(&d, data, size, 0, false);
    while (assay_pt_decoder_next(&d, &p))
        count[p.type]++;
    assert_int_equal(count[ASSAY_PT_CYC], 545);
    assert_int_equal(count[ASSAY_PT_MTC], 538);
    assert_int_equal(count[ASSAY_PT_GAP], 0);
    ledger_is(&d, size, 0, 0, 0);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_ip_completes_a_payload),
        cmocka_unit_test(an_ip_without_a_last_ip_is_not_known),
        cmocka_unit_test(items_are_read_inside_a_pebs_block_only),
        cmocka_unit_test(damage_is_a_gap_up_to_the_next_psb),
        cmocka_unit_test(damage_without_a_psb_behind_it_takes_the_rest),
        cmocka_unit_test(with_more_to_come_the_end_is_left),
        cmocka_unit_test(resync_moves_to_a_psb),
        cmocka_unit_test(a_psb_is_found_at_every_alignment),
        cmocka_unit_test(a_broken_psb_before_a_psb_does_not_hide_it),
        cmocka_unit_test(a_real_trace_decodes_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
