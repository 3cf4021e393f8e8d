/* SPDX-License-Identifier: MIT */
/* Memory that runs out, at each allocation in turn: the flow stops with the status that says so, and nothing crashes or leaks. */
#include "random_program.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { OUTPUT = 1 << 20 };

/* The linker sends the library's allocations here. */
static long allowed = -1; /* so many succeed, the rest fail; < 0: all succeed */
static bool may_allocate(void) { return allowed < 0 || (allowed > 0 && allowed-- > 0); }

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n) { return may_allocate() ? __real_malloc(n) : NULL; }
void *__wrap_calloc(size_t n, size_t size) { return may_allocate() ? __real_calloc(n, size) : NULL; }
void *__wrap_realloc(void *p, size_t n) { return may_allocate() ? __real_realloc(p, n) : NULL; }

struct world {
    struct assay_image *image;
    struct assay_view *view[2];
    uint8_t *trace;
    size_t size;
};

static int on_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    assay_flow_take_paths(f);
    assay_flow_digest_add(ctx, f, b);
    return 0;
}

/* The first error with so many allocations, or 0. */
static int attempt(const struct world *w, long allocations, struct assay_flow_digest *d)
{
    const struct assay_flow_config config = {0};
    struct assay_flow *f;
    size_t used;
    *d = (struct assay_flow_digest){0};
    allowed = allocations;
    int status = assay_flow_new(&config, w->view[0], on_batch, d, &f);
    if (status == ASSAY_OK) {
        status = assay_flow_feed(f, w->trace, w->size / 2, false, &used);
        if (status == ASSAY_OK)
            status = assay_flow_set_view(f, w->view[1]);
        if (status == ASSAY_OK)
            status = assay_flow_feed(f, w->trace + used, w->size - used, true, &used);
        assay_flow_free(f);
    }
    allowed = -1;
    return status;
}

static void at_each_allocation(void **state)
{
    (void)state;
    static const struct rp_options o = {.functions = 60, .blocks = 10, .async = true, .steady = true};
    struct world w = {.trace = malloc(OUTPUT)};
    struct rp_program p;
    struct assay_pt_unit u;
    struct assay_flow_digest d;
    rp_make(&p, &o, 7);
    rp_unit(&u, ASSAY_RTIT_CYCEN, w.trace, OUTPUT);
    struct rp_run r = {.p = &p, .o = &o, .u = &u, .seed = 1};
    rp_execute(&r, 20000);
    w.size = assay_pt_unit_written(&u);
    assert_int_equal(assay_image_new(&w.image, NULL), 0);
    assert_int_equal(assay_image_code(w.image, 0, 0, RP_BASE, p.code, p.size, NULL), 0);
    assert_int_equal(assay_image_seal(w.image), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(assay_view_new(w.image, 0, &w.view[i]), 0);
    long n = 0;
    while (attempt(&w, n, &d) != ASSAY_OK) {
        assert_int_equal(attempt(&w, n, &d), ASSAY_E_MEMORY);
        n++;
    }
    assert_true(n > 20);
    assert_int_equal(d.insns, r.truth.insns);
    assert_int_equal(d.chk, r.truth.chk);
    for (unsigned i = 0; i < 2; i++)
        assay_view_free(w.view[i]);
    assay_image_free(w.image);
    rp_drop(&p);
    free(w.trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
