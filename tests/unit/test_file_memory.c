/* SPDX-License-Identifier: MIT */
/* Memory that runs out, at each allocation in turn: files of the reader and recordings say so, and nothing crashes or leaks. */
#include <assay/recording.h>

#include "../perf_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* The linker sends the library's allocations here. */
static long allowed = -1; /* so many succeed, then one fails; < 0: all */
static bool may_allocate(void) { return allowed < 0 || allowed-- != 0; }

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n) { return may_allocate() ? __real_malloc(n) : NULL; }
void *__wrap_calloc(size_t n, size_t size) { return may_allocate() ? __real_calloc(n, size) : NULL; }
void *__wrap_realloc(void *p, size_t n) { return may_allocate() ? __real_realloc(p, n) : NULL; }

static int ignore(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    (void)ctx;
    (void)f;
    (void)b;
    return 0;
}

/* Opens and decodes with so many allocations; the first error, or 0. */
static int attempt(const char *path, long allocations)
{
    struct assay_pt_recording *rec;
    struct assay_ledger l;
    struct assay_error e = {0};
    allowed = allocations;
    int rc = assay_pt_recording_open(path, &rec, &e);
    if (rc < 0) {
        allowed = -1;
        assert_int_equal(e.code, rc);
        assert_true(e.text[0] != '\0');
        return rc;
    }
    for (size_t i = 0; i < assay_pt_recording_streams(rec) && rc == ASSAY_OK; i++)
        rc = assay_pt_recording_flow(rec, assay_pt_recording_stream(rec, i), ignore, NULL, &l, &e);
    bool spent = allowed == -1 && allocations >= 0;
    allowed = -1;
    assay_pt_recording_close(rec);
    return rc == ASSAY_OK && spent ? 1 : rc;
}

static struct pb recording(const char *code)
{
    struct pb data = {0}, t = {0};
    pb_bytes(&t, "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x19\x64\0\0\0\0\0\0\x02\x23", 26);
    pb_bytes(&t, "\xd1\0\0\x40\0\0\0\0\0\x06\x01\0\0\0", 14);
    pb_pt_info(&data);
    pb_mmap2(&data, (struct pb_who){1, 1, 0, 0}, 2, 0x400000, 4, 0, 5, code);
    pb_fork(&data, (struct pb_who){1, 1, 0, 20}, 2, 2, 0);
    pb_comm(&data, (struct pb_who){2, 2, 0, 30}, "new", true);
    pb_itrace_start(&data, (struct pb_who){1, 1, 0, 10});
    pb_switch_wide(&data, (struct pb_who){1, 1, 0, 90}, true, 2, 2);
    pb_auxtrace(&data, 0, 0, UINT32_MAX, 0, t.p, t.n);
    pb_aux(&data, (struct pb_who){1, 1, 0, 2000}, 0, t.n, 1);
    struct pb_file file = {false, &pb_pt_attr, 1, NULL, 0, &data};
    struct pb b = pb_make_pipe(&file);
    free(data.p);
    free(t.p);
    return b;
}

static void each_allocation_fails(void **state)
{
    (void)state;
    char code[32], path[32];
    int code_fd = pb_memory_file("\x74\x00\xff\xe0", 4, code);
    struct pb b = recording(code);
    int fd = pb_memory_file(b.p, b.n, path);
    assert_int_equal(attempt(path, -1), 0);
    long n = 0, refused = 0;
    for (int rc; (rc = attempt(path, n)) != 0; n++) {
        /* that of a file's code is "no code", and so no error; all others are */
        assert_true(rc == ASSAY_E_MEMORY || rc == 1);
        refused += rc == ASSAY_E_MEMORY;
        assert_true(n < 1000);
    }
    assert_true(refused > 20);
    assert_true(refused >= n - 20);
    free(b.p);
    close(fd);
    close(code_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
