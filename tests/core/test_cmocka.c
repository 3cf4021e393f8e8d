/* SPDX-License-Identifier: MIT */
/* The stand-in for cmocka: every check fails when it must and leaves the test, and only then. */
#include <cmocka.h>

static int went_on;

/* Two tests of each check: one that must fail, one that must not. */
#define PAIR(name, wrong, right)                                                                                       \
    static void name##_fails(void **state)                                                                             \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        wrong;                                                                                                         \
        went_on++;                                                                                                     \
    }                                                                                                                  \
    static void name##_passes(void **state)                                                                            \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        right;                                                                                                         \
    }

static const int here = 1, zero = 0;
static const void *const nothing = NULL, *const something = &here;

PAIR(truth, assert_true(zero), assert_true(here))
PAIR(falsehood, assert_false(here), assert_false(zero))
PAIR(null, assert_null(something), assert_null(nothing))
PAIR(non_null, assert_non_null(nothing), assert_non_null(something))
PAIR(pointers, assert_ptr_equal(&here, &zero), assert_ptr_equal(&here, &here))
PAIR(integers, assert_int_equal(1, UINT64_C(0x100000001)), assert_int_equal(-1, INT64_C(-1)))
PAIR(different, assert_int_not_equal(here, 1), assert_int_not_equal(here, 2))
PAIR(below, assert_in_range(1, 2, 3), assert_in_range(2, 2, 3))
PAIR(above, assert_in_range(4, 2, 3), assert_in_range(3, 2, 3))
PAIR(strings, assert_string_equal("a", "ab"), assert_string_equal("ab", "ab"))
PAIR(bytes, assert_memory_equal("a\0b", "a\0c", 3), assert_memory_equal("a\0b", "a\0c", 2))
PAIR(message, fail_msg("%d", here), skip())

#define BOTH(name) cmocka_unit_test(name##_fails), cmocka_unit_test(name##_passes)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(truth),     BOTH(falsehood), BOTH(null),  BOTH(non_null), BOTH(pointers), BOTH(integers),
        BOTH(different), BOTH(below),     BOTH(above), BOTH(strings),  BOTH(bytes),    BOTH(message),
    };
    int failed = 0, wrong = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        int must_fail = i % 2 == 0, did = cmocka_run(&tests[i], 1, NULL, NULL);
        failed += did;
        wrong += did != must_fail;
    }
    return wrong != 0 || went_on != 0 || cmocka_run_group_tests(tests, NULL, NULL) != failed;
}
