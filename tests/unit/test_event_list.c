/* SPDX-License-Identifier: MIT */
/* Lists of events: what is split where, and where a mistake is said to be. */
#include <assay/event_list.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Each event as "text|group|first|modifiers", then a blank; or "!column". */
static const char *split(const char *list, uint32_t groups)
{
    static char all[512];
    struct assay_event_list l;
    struct assay_event_item i;
    struct assay_diag d;
    size_t n = 0;
    int got;
    all[0] = '\0';
    assay_event_list_init(&l, list, strlen(list), groups);
    while ((got = assay_event_list_next(&l, &i, &d)) > 0)
        n += (size_t)snprintf(all + n, sizeof all - n, "%.*s|%u|%d|%.*s ", (int)i.size, i.text, i.group, i.first,
                              (int)i.modifiers_size, i.modifiers);
    if (got == 0)
        return all;
    assert_int_equal(got, ASSAY_E_ARGUMENT);
    assert_non_null(d.what);
    assert_non_null(d.expected);
    snprintf(all, sizeof all, "!%d", (int)d.offset);
    return all;
}

static void lists(void **state)
{
    (void)state;
    assert_string_equal(split("a", 0), "a|0|1| ");
    assert_string_equal(split(" a , b:u ", 0), "a|0|1| b:u|0|1| ");
    assert_string_equal(split("{a,b}:u,c", 0), "a|1|1|u b|1|0|u c|0|1| ");
    assert_string_equal(split("c,{ a , b },{d}:kp", 0), "c|0|1| a|1|1| b|1|0| d|2|1|kp ");
    assert_string_equal(split("{a}", 3), "a|4|1| ");
    assert_string_equal(split("cpu/event=1,umask=2/u,sys:name", 0), "cpu/event=1,umask=2/u|0|1| sys:name|0|1| ");
    assert_string_equal(split("{p/a,b={},c/,p/d/}", 0), "p/a,b={},c/|1|1| p/d/|1|0| ");
    assert_string_equal(split("p/name='x,/y'/,z", 0), "p/name='x,/y'/|0|1| z|0|1| ");
}

static void mistakes(void **state)
{
    static const char *const wrong[][2] = {
        {"", "!0"},     {"  ", "!2"},   {"a,", "!2"},    {"a,,b", "!2"},  {",a", "!0"},        {"{}", "!1"},
        {"{a,}", "!3"}, {"a}", "!1"},   {"{a", "!0"},    {"{a{b}", "!2"}, {"{a}b", "!3"},      {"{a},", "!4"},
        {"{a}:", "!4"}, {"a{b}", "!1"}, {"p/x,y", "!1"}, {"a'b,c", "!1"}, {"{a}:u {b}", "!6"}, {"x,{a,p/y}", "!6"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_string_equal(split(wrong[i][0], 0), wrong[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
