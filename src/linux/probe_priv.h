/* SPDX-License-Identifier: MIT */
/* The insides of the probe: one function for each thing that is asked for. */
#ifndef ASSAY_LINUX_PROBE_PRIV_H
#define ASSAY_LINUX_PROBE_PRIV_H

#include <assay/probe.h>

#include "sys.h"

/* Opens and closes an event of this process: 0 or -errno. */
int probe_event(const struct assay_sys *s, uint32_t type, uint64_t config, bool kernel);

/* ---- results ---- */
void probe_say(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#define PROBE_SAY(field, ...) probe_say(field, sizeof field, __VA_ARGS__)

/* ---- what is asked for ---- */
typedef void probe_fn(const struct assay_sys *s, struct assay_probe_result *out);
probe_fn probe_pt, probe_counters, probe_paranoid, probe_kptr, probe_i915, probe_cpum_cf, probe_qemu, probe_perf;

#endif
