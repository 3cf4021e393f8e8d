/* SPDX-License-Identifier: MIT */
/* What the tests of libpfm.so.4 share: one string at one layer. */
#ifndef ASSAY_TESTS_COMPAT_RIG_H
#define ASSAY_TESTS_COMPAT_RIG_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

enum { BOTH = PFM_PLM0 | PFM_PLM3 };

/* What an encoding gave. name is the caller's to free. */
struct rig_raw {
    int result, count, idx;
    uint64_t code[2];
    char *name;
};

static inline struct rig_raw rig_raw(const char *text)
{
    struct rig_raw r = {0};
    pfm_pmu_encode_arg_t arg = {.codes = r.code, .fstr = &r.name, .size = sizeof arg, .count = 2};
    r.result = pfm_get_os_event_encoding(text, BOTH, PFM_OS_NONE, &arg);
    r.count = arg.count;
    r.idx = arg.idx;
    return r;
}

struct rig_perf {
    int result, idx, cpu;
    struct perf_event_attr attr;
    char *name;
};

static inline struct rig_perf rig_perf(const char *text, pfm_os_t os)
{
    struct rig_perf r = {.attr = {.size = sizeof r.attr}};
    pfm_perf_encode_arg_t arg = {.attr = &r.attr, .fstr = &r.name, .size = sizeof arg};
    r.result = pfm_get_os_event_encoding(text, BOTH, os, &arg);
    r.idx = arg.idx;
    r.cpu = arg.cpu;
    return r;
}

/* A string is refused at the layer of registers, or accepted with these values. */
static inline void assert_raw_refused(const char *text, int error)
{
    struct rig_raw r = rig_raw(text);
    if (r.result != error)
        print_error("%s: %d\n", text, r.result);
    assert_int_equal(r.result, error);
    assert_null(r.name);
}

static inline void assert_perf_refused(const char *text, pfm_os_t os, int error)
{
    struct rig_perf r = rig_perf(text, os);
    if (r.result != error)
        print_error("%s: %d\n", text, r.result);
    assert_int_equal(r.result, error);
    assert_null(r.name);
    assert_true(r.attr.type == 0 && r.attr.config == 0 && r.attr.config1 == 0);
}

/* At every layer. */
static inline void assert_refused(const char *text, int error)
{
    assert_raw_refused(text, error);
    assert_perf_refused(text, PFM_OS_PERF_EVENT, error);
    assert_perf_refused(text, PFM_OS_PERF_EVENT_EXT, error);
}

static inline void assert_codes(const char *text, uint64_t code0, uint64_t code1)
{
    struct rig_raw r = rig_raw(text);
    if (r.result != PFM_SUCCESS)
        print_error("%s: %d\n", text, r.result);
    assert_int_equal(r.result, PFM_SUCCESS);
    assert_int_equal(r.code[0], code0);
    assert_int_equal(r.code[1], code1);
    free(r.name);
}

#endif
