/* SPDX-License-Identifier: MIT */
/* Memory that runs out, at each allocation in turn: counting says so, and no descriptor is left open. */
#include <assay/count.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fake_perf.h"
#include "folder.h"

/* The linker sends the library's allocations here. */
static long allowed = -1; /* so many succeed, the rest fail; < 0: all succeed */
static bool may_allocate(void) { return allowed < 0 || (allowed > 0 && allowed-- > 0); }

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n) { return may_allocate() ? __real_malloc(n) : NULL; }
void *__wrap_calloc(size_t n, size_t size) { return may_allocate() ? __real_calloc(n, size) : NULL; }

static const struct assay_sys machine = {
    .root = root, .perf_event_open = fake_open, .read = fake_read, .ioctl = fake_ioctl, .close = fake_close};

static int count_group(const struct assay_count_target *t, struct assay_error *e)
{
    static const struct assay_count_event event[] = {
        {.config = 1, .group = 1}, {.config = 2, .group = 1}, {.config = 3}};
    struct assay_count *c;
    struct assay_count_value v;
    int r = assay_count_open(&machine, event, 3, t, &c, e);
    if (r < 0)
        return r;
    fake_count(2, 5, 9, 9);
    r = assay_count_read(c, e);
    assay_count_get(c, 1, ASSAY_COUNT_ALL, &v);
    assert_true(r < 0 || v.value == 10);
    assay_count_close(c);
    return r;
}

/* The first error with so many allocations, or ASSAY_OK. */
static int attempt(long allocations)
{
    struct assay_error e = {0};
    struct assay_count_target t = {0};
    int *cpu = NULL;
    pid_t *task = NULL;
    size_t cpus;
    allowed = allocations;
    int r = assay_count_online(&machine, &cpu, &cpus, &e);
    if (r == ASSAY_OK)
        r = assay_count_threads(&machine, 7, &task, &t.tasks, &e);
    t.task = task;
    if (r == ASSAY_OK)
        r = count_group(&t, &e);
    allowed = -1;
    assert_true(r == ASSAY_OK || (e.code == r && *e.text));
    free(cpu);
    free(task);
    return r;
}

static void each_allocation(void **state)
{
    long n = 0;
    (void)state;
    assert_int_equal(make_root(), 0);
    make_file("/sys/devices/system/cpu/online", "0-1\n", 0600);
    make_file("/proc/7/task/7/stat", "", 0600);
    make_file("/proc/7/task/8/stat", "", 0600);
    for (; attempt(n) != ASSAY_OK; n++) {
        assert_true(n < 50);
        assert_int_equal(fake.opened, fake.closed);
        fake.events = 0;
    }
    assert_true(n >= 6);
    assert_int_equal(fake.opened, fake.closed);
    assert_int_equal(drop_root(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
