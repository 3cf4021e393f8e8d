/* SPDX-License-Identifier: MIT */
/* What this machine can observe: each facility there or not, why not, what to do, and what works without it. */
#ifndef ASSAY_PROBE_H
#define ASSAY_PROBE_H

#include <assay/sys.h>

#ifdef __cplusplus
extern "C" {
#endif

enum assay_probe_status { ASSAY_PROBE_NO, ASSAY_PROBE_LIMITED, ASSAY_PROBE_YES };

enum assay_probe_id {
    ASSAY_PROBE_PT,       /* Intel Processor Trace */
    ASSAY_PROBE_COUNTERS, /* hardware event counters of the core */
    ASSAY_PROBE_PARANOID, /* who may use perf_event_open */
    ASSAY_PROBE_KPTR,     /* who sees kernel addresses */
    ASSAY_PROBE_I915,     /* Intel GPU observability */
    ASSAY_PROBE_CPUM_CF,  /* IBM Z counter facility */
    ASSAY_PROBE_QEMU,     /* the emulator that virtual hardware runs under */
    ASSAY_PROBE_PERF,     /* the perf command */
    ASSAY_PROBES
};

/* One line each, no newline; "" when there is nothing to say. */
struct assay_probe_result {
    enum assay_probe_status status;
    char found[200];   /* what was seen, also of a part that is there */
    char cause[200];   /* why it is not, or not wholly, there */
    char remedy[200];  /* a command, or what else to do */
    char without[200]; /* what works all the same */
};

/* Constant words: "pt", "Processor Trace"; "no", "limited", "yes". */
const char *assay_probe_id_name(enum assay_probe_id id);
const char *assay_probe_title(enum assay_probe_id id);
const char *assay_probe_status_name(enum assay_probe_status status);

/* Asks for one thing. s may be NULL. Opens and closes perf events, runs `qemu-x86_64 --version` and the like; changes nothing. */
void assay_probe(const struct assay_sys *s, enum assay_probe_id id, struct assay_probe_result *out);

#ifdef __cplusplus
}
#endif
#endif
