/* SPDX-License-Identifier: MIT */
/* The list of things that can be asked for. */
#include "probe_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *id, *title;
    probe_fn *probe;
} probes[ASSAY_PROBES] = {
    [ASSAY_PROBE_PT] = {"pt", "Processor Trace", probe_pt},
    [ASSAY_PROBE_COUNTERS] = {"counters", "hardware counters", probe_counters},
    [ASSAY_PROBE_PARANOID] = {"perf_event_paranoid", "perf_event_paranoid", probe_paranoid},
    [ASSAY_PROBE_KPTR] = {"kptr_restrict", "kptr_restrict", probe_kptr},
    [ASSAY_PROBE_I915] = {"i915", "i915 perf", probe_i915},
    [ASSAY_PROBE_CPUM_CF] = {"cpum_cf", "cpum_cf", probe_cpum_cf},
    [ASSAY_PROBE_QEMU] = {"qemu", "qemu-user", probe_qemu},
    [ASSAY_PROBE_PERF] = {"perf", "perf command", probe_perf},
};

const char *assay_probe_id_name(enum assay_probe_id id) { return id < ASSAY_PROBES ? probes[id].id : "unknown"; }
const char *assay_probe_title(enum assay_probe_id id) { return id < ASSAY_PROBES ? probes[id].title : "unknown"; }

const char *assay_probe_status_name(enum assay_probe_status status)
{
    static const char *const name[] = {"no", "limited", "yes"};
    return (unsigned)status < sizeof name / sizeof *name ? name[status] : "unknown";
}

void probe_say(char *to, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (vsnprintf(to, size, fmt, ap) < 0)
        *to = '\0';
    va_end(ap);
}

void assay_probe(const struct assay_sys *s, enum assay_probe_id id, struct assay_probe_result *out)
{
    static const struct assay_sys real = {0};
    memset(out, 0, sizeof *out);
    if (id < ASSAY_PROBES)
        probes[id].probe(s ? s : &real, out);
}
