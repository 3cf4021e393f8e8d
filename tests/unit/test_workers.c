/* SPDX-License-Identifier: MIT */
/* The worker pool: every job once, the first failure by order, no job after it that had not begun. */
#include <assay/workers.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { JOBS = 1000 };

struct tally {
    atomic_int done[JOBS];
    size_t fail_from;
};

static int count_job(void *ctx, size_t job)
{
    struct tally *t = ctx;
    atomic_fetch_add(&t->done[job], 1);
    return job >= t->fail_from ? (int)job : 0;
}

static void every_job_once_for_any_number_of_threads(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 3, 7, 1000, 0};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        static struct tally t;
        for (size_t j = 0; j < JOBS; j++)
            atomic_store(&t.done[j], 0);
        t.fail_from = SIZE_MAX;
        assert_int_equal(assay_workers_run(threads[i], JOBS, count_job, &t), 0);
        for (size_t j = 0; j < JOBS; j++)
            assert_int_equal(atomic_load(&t.done[j]), 1);
    }
}

static void the_first_failure_in_order_is_returned(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads < 8; threads++) {
        static struct tally t;
        t.fail_from = 17;
        assert_int_equal(assay_workers_run(threads, JOBS, count_job, &t), 17);
    }
}

static void no_jobs_is_done(void **state)
{
    (void)state;
    assert_int_equal(assay_workers_run(4, 0, count_job, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_once_for_any_number_of_threads),
        cmocka_unit_test(the_first_failure_in_order_is_returned),
        cmocka_unit_test(no_jobs_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
