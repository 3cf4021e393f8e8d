/* SPDX-License-Identifier: MIT */
/* Cursors, text, JSON, ledger, nearest word. */
#include <assay/base.h>
#include <assay/cursor.h>
#include <assay/text.h>

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void cursor_reads_both_orders_and_stays_over(void **state)
{
    (void)state;
    static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct assay_rd r = assay_rd_of(data, sizeof data);
    assert_int_equal(assay_rd_le16(&r), 0x0201);
    assert_int_equal(assay_rd_be32(&r), 0x03040506);
    assert_int_equal(assay_rd_left(&r), 4);
    assert_true(assay_rd_le64(&r) == 0 && r.over);
    assert_int_equal(assay_rd_u8(&r), 0); /* the flag stays, though a byte would be there */
    assert_null(assay_rd_bytes(&r, 0));
}

static void cursor_takes_huge_counts(void **state)
{
    (void)state;
    uint8_t one = 7;
    struct assay_rd r = assay_rd_of(&one, 1);
    assert_null(assay_rd_bytes(&r, SIZE_MAX));
    assert_true(r.over);
}

struct collected {
    char text[512];
    size_t len;
    int calls, fail_at;
};

static int collect(void *ctx, const char *data, size_t size)
{
    struct collected *c = ctx;
    if (++c->calls == c->fail_at)
        return ENOSPC;
    memcpy(c->text + c->len, data, size);
    c->len += size;
    c->text[c->len] = '\0';
    return 0;
}

static void text_is_the_same_through_any_buffer(void **state)
{
    (void)state;
    for (size_t cap = 1; cap < 40; cap++) {
        char buf[40];
        struct collected got = {.len = 0};
        struct assay_out o;
        assay_out_init(&o, buf, cap, collect, &got);
        assay_out_dec(&o, UINT64_MAX);
        assay_out_char(&o, ' ');
        assay_out_sdec(&o, INT64_MIN);
        assay_out_str(&o, " ");
        assay_out_hex(&o, 0xdeadbeef);
        assay_out_char(&o, ' ');
        assay_out_hex0(&o, 0x1f, 4);
        assay_out_right(&o, "\xc3\xa9", 3);
        assay_out_left(&o, "ab", 3);
        assay_out_dec_right(&o, 42, 4);
        assert_int_equal(assay_out_flush(&o), 0);
        assert_string_equal(got.text, "18446744073709551615 -9223372036854775808 deadbeef 001f  \xc3\xa9"
                                      "ab   42");
    }
}

static void text_keeps_the_first_failure(void **state)
{
    (void)state;
    char buf[4];
    struct collected got = {.fail_at = 2};
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf, collect, &got);
    assay_out_str(&o, "abcdefghijklmnop");
    assert_int_equal(assay_out_flush(&o), ENOSPC);
    assert_string_equal(got.text, "abcd"); /* nothing after the hole */
}

static void text_without_a_function_is_cut(void **state)
{
    (void)state;
    char buf[4];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf, NULL, NULL);
    assay_out_str(&o, "abcdef");
    assay_out_char(&o, 'g');
    assert_true(o.cut && o.len == 4);
    assert_memory_equal(buf, "abcd", 4);
}

static void text_of_files_cannot_drive_the_terminal(void **state)
{
    (void)state;
    char buf[32];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf, NULL, NULL);
    assay_out_clean(&o, "a\033[2Jb\n\x7f\xc3\xa9");
    assert_int_equal(o.len, 10);
    assert_memory_equal(buf, "a?[2Jb??\xc3\xa9", 10);
}

static const char *fixed(double v, unsigned decimals)
{
    static char buf[64];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    assay_out_fixed(&o, v, decimals);
    buf[o.len] = '\0';
    return buf;
}

static void fixed_point_rounds(void **state)
{
    (void)state;
    assert_string_equal(fixed(0.0, 2), "0.00");
    assert_string_equal(fixed(1.005, 1), "1.0");
    assert_string_equal(fixed(0.996, 2), "1.00");
    assert_string_equal(fixed(-2.5, 1), "-2.5");
    assert_string_equal(fixed(3.0625, 4), "3.0625");
    assert_string_equal(fixed(12345678901.0, 2), "12345678901");
    assert_string_equal(fixed(0.0 / 0.0 * 1.0, 2), "nan");
    assert_string_equal(fixed(1e300, 0), "inf");
}

static void json_escapes_nests_and_quotes_what_doubles_lose(void **state)
{
    (void)state;
    char buf[512];
    struct assay_out o;
    struct assay_json j;
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    assay_json_init(&j, &o);
    assay_json_open(&j, NULL);
    assay_json_str(&j, "s", "a\"\\\n\x01\xff\xc3\xa9\xed\xa0\x80");
    assay_json_u64(&j, "small", UINT64_C(1) << 53);
    assay_json_u64(&j, "large", (UINT64_C(1) << 53) + 1);
    assay_json_s64(&j, "neg", -5);
    assay_json_addr(&j, "ip", 0xffffffff81000000);
    assay_json_array(&j, "list");
    assay_json_bool(&j, NULL, true);
    assay_json_null(&j, NULL);
    assay_json_open(&j, NULL);
    assay_json_close(&j);
    assay_json_array_end(&j);
    assay_json_fixed(&j, "x", 0.5, 2);
    assay_json_str(&j, "none", NULL);
    assay_json_close(&j);
    buf[o.len] = '\0';
    assert_string_equal(buf, "{\"s\":\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\","
                             "\"small\":9007199254740992,\"large\":\"9007199254740993\",\"neg\":-5,"
                             "\"ip\":\"0xffffffff81000000\",\"list\":[true,null,{}],\"x\":0.50,\"none\":null}\n");
}

static void ledger_sums(void **state)
{
    (void)state;
    struct assay_ledger a = {.in = 100, .decoded = 60, .unread = 5}, b = a;
    assert_false(assay_ledger_closes(&a));
    a.skipped[ASSAY_SKIP_DAMAGED] = 30;
    a.skipped[ASSAY_SKIP_TRUNCATED] = 5;
    assert_true(assay_ledger_closes(&a));
    assay_ledger_add(&a, &b);
    assert_int_equal(a.in, 200);
    assert_int_equal(assay_ledger_skipped(&a), 35);
}

static void distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(assay_edit_distance("", "abc"), 3);
    assert_int_equal(assay_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(assay_edit_distance("flow", "flow"), 0);
    char longer[65];
    memset(longer, 'x', 64);
    longer[64] = '\0';
    assert_true(assay_edit_distance(longer, "x") == UINT_MAX);
}

static void errors_carry_code_and_text(void **state)
{
    (void)state;
    struct assay_error e;
    assert_int_equal(assay_error_set(&e, ASSAY_E_TRUNCATED, 12, "x: %d bytes", 3), ASSAY_E_TRUNCATED);
    assert_string_equal(e.text, "x: 3 bytes");
    assert_int_equal(assay_error_sys(&e, ENOENT, "%s", "f"), ASSAY_E_SYSTEM);
    assert_string_equal(e.text, "f: No such file or directory");
    assert_int_equal(assay_error_set(NULL, ASSAY_E_MEMORY, 0, "x"), ASSAY_E_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursor_reads_both_orders_and_stays_over),
        cmocka_unit_test(cursor_takes_huge_counts),
        cmocka_unit_test(text_is_the_same_through_any_buffer),
        cmocka_unit_test(text_keeps_the_first_failure),
        cmocka_unit_test(text_without_a_function_is_cut),
        cmocka_unit_test(text_of_files_cannot_drive_the_terminal),
        cmocka_unit_test(fixed_point_rounds),
        cmocka_unit_test(json_escapes_nests_and_quotes_what_doubles_lose),
        cmocka_unit_test(ledger_sums),
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(errors_carry_code_and_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
