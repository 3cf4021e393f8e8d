/* SPDX-License-Identifier: MIT */
/* Memory that runs out, at each allocation in turn, while event files are loaded: an error each time, no crash, no
 * leak. The allocations of jansson are not among them: it does not survive their failing itself. */
#include <assay/event_json.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The linker sends the library's allocations here. */
static long allowed = -1; /* so many succeed, then one fails; < 0: all */
static bool may_allocate(void) { return allowed < 0 || allowed-- != 0; }

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);
void *__wrap_malloc(size_t n) { return may_allocate() ? __real_malloc(n) : NULL; }
void *__wrap_calloc(size_t n, size_t size) { return may_allocate() ? __real_calloc(n, size) : NULL; }
void *__wrap_realloc(void *p, size_t n) { return may_allocate() ? __real_realloc(p, n) : NULL; }
char *__wrap_strdup(const char *s) { return may_allocate() ? __real_strdup(s) : NULL; }

/* The result with so many allocations, and whether one has failed. */
static int attempt(const char *path, const struct assay_event_table *base, long allocations, bool *failed)
{
    struct assay_event_json *j;
    struct assay_error e = {0};
    allowed = allocations;
    int rc = assay_event_json_load(path, base, &j, &e);
    *failed = allocations >= 0 && allowed == -1;
    allowed = -1;
    if (rc < 0) {
        assert_int_equal(e.code, rc);
        assert_true(e.text[0] != '\0');
        assert_null(j);
    }
    assay_event_json_free(j);
    return rc;
}

/* Every allocation up to the last in turn; how many of the failures were told of as such. */
static long each_fails(const char *name, const struct assay_event_table *base, long *allocations)
{
    char path[4096];
    const char *data = getenv("ASSAY_DATA");
    snprintf(path, sizeof path, "%s/%s", data ? data : "tests/data", name);
    bool failed;
    long told = 0;
    assert_int_equal(attempt(path, base, -1, &failed), ASSAY_OK);
    for (*allocations = 0;; ++*allocations) {
        told += attempt(path, base, *allocations, &failed) == ASSAY_E_MEMORY;
        assert_true(*allocations < 100000);
        if (!failed)
            return told;
    }
}

static const char *const inputs[] = {"events/SKX/events/skylakex_core.json", "events/linux", "events/odd"};

static void each_of_ours_is_told_of(void **state)
{
    (void)state;
    struct assay_event_table base;
    assay_event_builtin(&base);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        long n, told = each_fails(inputs[i], i ? NULL : &base, &n);
        assert_true(n > 10);
        assert_int_equal(told, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_of_ours_is_told_of)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
