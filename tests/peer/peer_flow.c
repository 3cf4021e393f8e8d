/* SPDX-License-Identifier: MIT */
/* Our flow against libipt's block decoder: the same instructions in the same order, on random programs. */
#include "libipt_flow.h"

#include "../unit/random_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

enum { OUTPUT = 1 << 20 };

static int on_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    assay_flow_digest_add(ctx, f, b);
    return 0;
}

static void code_to_file(const struct rp_program *p, char *path)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, p->code, p->size), p->size);
    close(fd);
}

static void compare(const struct rp_program *p, const uint8_t *trace, size_t size)
{
    char path[] = "/tmp/assay-peer-XXXXXX";
    struct assay_image *image;
    struct assay_view *view;
    struct assay_flow_digest ours = {0};
    struct ipt_flow theirs = {0};
    struct assay_flow *f;
    size_t used;
    code_to_file(p, path);
    const struct ipt_piece piece = {path, 0, p->size, RP_BASE};
    const struct assay_flow_config config = {0};
    assert_int_equal(assay_image_new(&image, NULL), 0);
    assert_int_equal(assay_image_map(image, 0, 0, RP_BASE, p->size, 0, path, NULL, 0), 0);
    assert_int_equal(assay_image_seal(image), 0);
    assert_int_equal(assay_view_new(image, 0, &view), 0);
    assert_int_equal(assay_flow_new(&config, view, on_batch, &ours, &f), 0);
    assert_int_equal(assay_flow_feed(f, trace, size, true, &used), 0);
    assert_int_equal(ipt_decode(trace, size, &piece, 1, view, &theirs), 0);
    assert_int_equal(theirs.errors, 0);
    assert_true(ours.insns > 50000);
    assert_int_equal(ours.insns, theirs.digest.insns);
    assert_int_equal(ours.chk, theirs.digest.chk);
    assay_flow_free(f);
    assay_view_free(view);
    assay_image_free(image);
    unlink(path);
}

static void same_instructions(void **state)
{
    (void)state;
    static const struct rp_options shapes[] = {
        {.functions = 20, .blocks = 8, .syscalls = true},
        {.functions = 20, .blocks = 8, .async = true, .longjmp = true, .syscalls = true},
        {.functions = 300, .blocks = 12, .async = true, .steady = true},
    };
    static const uint64_t controls[] = {0, ASSAY_RTIT_DISRETC, ASSAY_RTIT_CYCEN,
                                        ASSAY_RTIT_CYCEN | ASSAY_RTIT_MTCEN | ASSAY_RTIT_TSCEN};
    uint8_t *trace = malloc(OUTPUT);
    for (uint64_t n = 0; n < 36; n++) {
        struct rp_program p;
        struct assay_pt_unit u;
        rp_make(&p, &shapes[n % 3], n + 100);
        rp_unit(&u, controls[n % 4], trace, OUTPUT);
        struct rp_run r = {.p = &p, .o = &shapes[n % 3], .u = &u, .seed = n};
        rp_execute(&r, 100000);
        compare(&p, trace, assay_pt_unit_written(&u));
        rp_drop(&p);
    }
    free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_instructions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
