/* SPDX-License-Identifier: MIT */
/* The part of libpfm 4's interface that fills what perf_event_open(2) takes: see pfmlib.h and docs/libpfm.md. */
#ifndef ASSAY_PERFMON_PFMLIB_PERF_EVENT_H
#define ASSAY_PERFMON_PFMLIB_PERF_EVENT_H

#include <linux/perf_event.h>

#include <perfmon/pfmlib.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* PFM_OS_PERF_EVENT and PFM_OS_PERF_EVENT_EXT. */
typedef struct {
    struct perf_event_attr
        *attr;   /* the caller's; only fields of the event are written, within attr->size (0: the first 64 bytes) */
    char **fstr; /* where to put the event's full name, allocated here for free(); may be NULL */
    size_t size;
    int idx;   /* out */
    int cpu;   /* out: of modifier cpu, -1 without */
    int flags; /* out: for perf_event_open */
    int pad0;
} pfm_perf_encode_arg_t;

#if __SIZEOF_POINTER__ == 8
#define PFM_PERF_ENCODE_ABI0 40
#else
#define PFM_PERF_ENCODE_ABI0 28
#endif

/* The older form of pfm_get_os_event_encoding(PFM_OS_PERF_EVENT). fstr and idx may be NULL. */
extern pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm, struct perf_event_attr *output, char **fstr,
                                             int *idx);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
