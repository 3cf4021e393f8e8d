/* SPDX-License-Identifier: MIT */
/* What the tests use of cmocka, for builds where there is none: `-Dcore=true`, that is machines reached through a cross
 * compiler. A test is one source file, so the state is static. tests/core/test_cmocka.c shows that it can fail. */
#ifndef ASSAY_TESTS_CMOCKA_H
#define ASSAY_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(f)                                                                                            \
    {                                                                                                                  \
#f, f                                                                                                          \
    }
#define cmocka_run_group_tests(tests, set_up, tear_down)                                                               \
    cmocka_run(tests, sizeof(tests) / sizeof *(tests), set_up, tear_down)

enum { CMOCKA_FAILED = 1, CMOCKA_SKIPPED };
static jmp_buf cmocka_back;

#define fail_msg(...)      cmocka_fail(__FILE__, __LINE__, __VA_ARGS__)
#define skip()             longjmp(cmocka_back, CMOCKA_SKIPPED)
#define print_message(...) printf(__VA_ARGS__)
#define print_error(...)   fprintf(stderr, __VA_ARGS__)

#define assert_true(c)             ((c) ? (void)0 : fail_msg("%s is false", #c))
#define assert_false(c)            ((c) ? fail_msg("%s is true", #c) : (void)0)
#define assert_null(p)             ((p) ? fail_msg("%s is not NULL", #p) : (void)0)
#define assert_non_null(p)         ((p) ? (void)0 : fail_msg("%s is NULL", #p))
#define assert_ptr_equal(a, b)     ((const void *)(a) == (const void *)(b) ? (void)0 : fail_msg("%s != %s", #a, #b))
#define assert_int_equal(a, b)     cmocka_integers(__FILE__, __LINE__, (uintmax_t)(a), (uintmax_t)(b), 1)
#define assert_int_not_equal(a, b) cmocka_integers(__FILE__, __LINE__, (uintmax_t)(a), (uintmax_t)(b), 0)
#define assert_in_range(v, low, high)                                                                                  \
    cmocka_range(__FILE__, __LINE__, (uintmax_t)(v), (uintmax_t)(low), (uintmax_t)(high))
#define assert_string_equal(a, b)    cmocka_strings(__FILE__, __LINE__, a, b)
#define assert_memory_equal(a, b, n) cmocka_bytes(__FILE__, __LINE__, a, b, n)

__attribute__((noreturn, format(printf, 3, 4))) static inline void cmocka_fail(const char *file, int line,
                                                                               const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    longjmp(cmocka_back, CMOCKA_FAILED);
}

static inline void cmocka_integers(const char *file, int line, uintmax_t a, uintmax_t b, int equal)
{
    if ((a == b) != equal)
        cmocka_fail(file, line, "%#jx %s %#jx", a, equal ? "!=" : "==", b);
}

static inline void cmocka_range(const char *file, int line, uintmax_t v, uintmax_t low, uintmax_t high)
{
    if (v < low || v > high)
        cmocka_fail(file, line, "%ju is not in %ju..%ju", v, low, high);
}

static inline void cmocka_strings(const char *file, int line, const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        cmocka_fail(file, line, "\"%s\" != \"%s\"", a, b);
}

static inline void cmocka_bytes(const char *file, int line, const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;
    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i])
            cmocka_fail(file, line, "byte %zu: %#x != %#x", i, p[i], q[i]);
}

static inline int cmocka_one(const struct CMUnitTest *test)
{
    void *state = NULL;
    int how = setjmp(cmocka_back);
    if (how == 0)
        test->run(&state);
    if (how)
        printf("%s %s\n", how == CMOCKA_FAILED ? "failed" : "skipped", test->name);
    return how == CMOCKA_FAILED;
}

/* The number of failed tests. */
static inline int cmocka_run(const struct CMUnitTest *tests, size_t n, int (*set_up)(void **state),
                             int (*tear_down)(void **state))
{
    void *state = NULL;
    int failed = 0;
    if (set_up && set_up(&state) != 0)
        return 1;
    for (size_t i = 0; i < n; i++)
        failed += cmocka_one(&tests[i]);
    if (tear_down && tear_down(&state) != 0)
        failed++;
    printf("%zu tests, %d failed\n", n, failed);
    return failed;
}

#endif
