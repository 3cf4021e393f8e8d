/* SPDX-License-Identifier: MIT */
/* Flow of random programs: what the walk of the program itself says was executed must be decoded, instruction by instruction. */
#include "random_program.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { OUTPUT = 4 << 20 };

struct seen {
    bool paths;
    struct assay_flow_digest digest;
    uint64_t cycles, gaps, overflows, ptwrites;
    uint64_t paths_n;
    uint32_t generation;
    uint64_t order; /* checksum over runs, cycles and events in their order */
};

static void note(struct seen *s, uint64_t v)
{
    s->order = (s->order ^ v) * UINT64_C(0x9e3779b97f4a7c15) + (s->order >> 40);
}

static int on_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct seen *s = ctx;
    assay_flow_digest_add(&s->digest, f, b);
    for (size_t i = 0; i < b->items_n; i++) {
        uint32_t item = b->items[i];
        if (ASSAY_FLOW_IS_CYCLES(item))
            s->cycles += ASSAY_FLOW_INDEX(item);
        if (!ASSAY_FLOW_IS_PATH(item)) {
            note(s, ASSAY_FLOW_IS_EVENT(item) ? b->events[ASSAY_FLOW_INDEX(item)].type : item);
            continue;
        }
        const struct assay_flow_path *path = assay_flow_path_at(f, ASSAY_FLOW_INDEX(item));
        for (uint32_t k = 0; k < path->runs; k++)
            note(s, assay_flow_path_runs(f, path)[k]);
        s->paths_n++;
    }
    if (s->paths)
        assay_flow_take_paths(f);
    for (size_t i = 0; i < b->events_n; i++) {
        s->gaps += b->events[i].type == ASSAY_FLOW_GAP;
        s->overflows += b->events[i].type == ASSAY_FLOW_OVERFLOW;
        s->ptwrites += b->events[i].type == ASSAY_FLOW_PTWRITE;
    }
    return 0;
}

static struct assay_view *view_of(const struct rp_program *p, struct assay_image **image)
{
    struct assay_view *view;
    assert_int_equal(assay_image_new(image, NULL), 0);
    assert_int_equal(assay_image_code(*image, 0, 0, RP_BASE, p->code, p->size, NULL), 0);
    assert_int_equal(assay_image_seal(*image), 0);
    assert_int_equal(assay_view_new(*image, 0, &view), 0);
    return view;
}

/* Decodes in windows of `window` bytes that the flow may leave a rest of. */
static struct seen decode_with(struct assay_view *view, const uint8_t *trace, size_t size, size_t window, bool paths,
                               uint64_t table_limit)
{
    const struct assay_flow_config config = {
        .mtc_freq = 3, .tsc_ctc_n = 100, .tsc_ctc_d = 2, .max_ratio = 24, .table_limit = table_limit};
    struct seen s = {.paths = paths};
    struct assay_flow *f;
    size_t at = 0, used;
    assert_int_equal(assay_flow_new(&config, view, on_batch, &s, &f), 0);
    do {
        size_t n = size - at < window ? size - at : window;
        assert_int_equal(assay_flow_feed(f, trace + at, n, at + n == size, &used), 0);
        at += used;
    } while (at < size);
    assert_true(assay_ledger_closes(assay_flow_ledger(f)));
    assert_int_equal(assay_flow_ledger(f)->in, size);
    s.generation = assay_flow_generation(f);
    assay_flow_free(f);
    return s;
}

static struct seen decode(struct assay_view *view, const uint8_t *trace, size_t size, size_t window, bool paths)
{
    struct seen s = decode_with(view, trace, size, window, paths, 0);
    assert_int_equal(s.generation, 0);
    return s;
}

static const struct rp_options shapes[] = {
    {.functions = 1, .blocks = 3},
    {.functions = 20, .blocks = 8, .syscalls = true},
    {.functions = 20, .blocks = 8, .async = true, .ptwrite = true, .longjmp = true, .syscalls = true},
    {.functions = 300, .blocks = 12, .async = true, .steady = true},
};
static const uint64_t controls[] = {
    0,
    ASSAY_RTIT_DISRETC,
    ASSAY_RTIT_CYCEN | ASSAY_RTIT_PTWEN | ASSAY_RTIT_FUPONPTW,
    ASSAY_RTIT_CYCEN | ASSAY_RTIT_MTCEN | ASSAY_RTIT_TSCEN | UINT64_C(3) << ASSAY_RTIT_MTCFREQ_SHIFT,
    ASSAY_RTIT_TSCEN | ASSAY_RTIT_MTCEN | UINT64_C(5) << ASSAY_RTIT_PSBFREQ_SHIFT,
};

static void decoded_is_executed(void **state)
{
    (void)state;
    uint8_t *trace = malloc(OUTPUT);
    for (uint64_t n = 0; n < 60; n++) {
        struct rp_program p;
        struct assay_image *image;
        struct assay_pt_unit u;
        const struct rp_options *o = &shapes[n % 4];
        rp_make(&p, o, n + 1);
        rp_unit(&u, controls[n % 5], trace, OUTPUT);
        struct rp_run r = {.p = &p, .o = o, .u = &u, .seed = n};
        rp_execute(&r, 300000);
        struct assay_view *view = view_of(&p, &image);
        const size_t size = assay_pt_unit_written(&u), windows[] = {size, 4096, 777};
        uint64_t order = 0;
        for (unsigned w = 0; w < 6; w++) {
            struct seen s = decode(view, trace, size, windows[w % 3], w >= 3);
            assert_int_equal(s.gaps, 0);
            assert_true(r.truth.insns > 50000 && size > 500);
            assert_int_equal(s.digest.insns, r.truth.insns);
            assert_int_equal(s.digest.chk, r.truth.chk);
            if (controls[n % 5] & ASSAY_RTIT_CYCEN)
                assert_true(s.cycles > r.truth.insns / 2 && s.cycles <= u.cycles);
            assert_true(w == 0 || s.order == order); /* also told as paths */
            order = s.order;
            assert_true(w < 3 || s.paths_n > 0 ||
                        n % 4 == 0); /* the smallest programs may have no conditional branch */
        }
        struct seen small = decode_with(view, trace, size, size, n % 2, 4000); /* tables that begin anew all the time */
        assert_true(small.generation > 100 || n % 4 == 0);
        assert_int_equal(small.gaps, 0);
        assert_int_equal(small.digest.insns, r.truth.insns);
        assert_int_equal(small.digest.chk, r.truth.chk);
        assay_view_free(view);
        assay_image_free(image);
        rp_drop(&p);
    }
    free(trace);
}

/* Bytes changed at random places: decoding goes on, and finds back into the flow. */
static void damaged_is_survived(void **state)
{
    (void)state;
    uint8_t *trace = malloc(OUTPUT), *copy = malloc(OUTPUT);
    for (uint64_t n = 0; n < 30; n++) {
        struct rp_program p;
        struct assay_image *image;
        struct assay_pt_unit u;
        const struct rp_options *o = &shapes[n % 4];
        rp_make(&p, o, n + 1);
        rp_unit(&u, controls[n % 5], trace, OUTPUT);
        struct rp_run r = {.p = &p, .o = o, .u = &u, .seed = n};
        rp_execute(&r, 100000);
        struct assay_view *view = view_of(&p, &image);
        size_t size = assay_pt_unit_written(&u);
        for (unsigned k = 0; k < 10; k++) {
            memcpy(copy, trace, size);
            for (unsigned i = 0; i < 1 + k; i++)
                copy[rp_random(&r.seed, (uint32_t)size)] ^= (uint8_t)(1u << rp_random(&r.seed, 8));
            struct seen s = decode(view, copy, size, 1000 + k, k & 1);
            assert_true(s.digest.insns < 2 * r.truth.insns + 70000);
        }
        assay_view_free(view);
        assay_image_free(image);
        rp_drop(&p);
    }
    free(trace);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoded_is_executed),
        cmocka_unit_test(damaged_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
