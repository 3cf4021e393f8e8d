/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: initialisation. Which PMUs there are is computed by whoever asks first and stored in one word; threads
 * that do it at once store the same. */
#include "compat.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static _Atomic uint32_t state;

uint32_t compat_word(void) { return atomic_load_explicit(&state, memory_order_acquire); }

#if defined(__x86_64__) || defined(__i386__)
/* The PMUs of an Intel processor. CPUID traps in a virtual machine, so no leaf is read twice. */
static uint32_t look_at_processor(const struct assay_event_table *t)
{
    unsigned leaves, a, b, c, d;
    __cpuid(0, leaves, b, c, d);
    if (b != signature_INTEL_ebx || leaves < 1)
        return 0;
    __cpuid(1, a, b, c, d);
    unsigned family = a >> 8 & 15, model = (a >> 4 & 15) | (a >> 12 & 0xf0);
    uint32_t found = 0,
             pmu = assay_event_find_model(t, family == 15 ? family + (a >> 20 & 255) : family, model, a & 15);
    if (pmu != ASSAY_EVENT_NONE)
        found |= 1u << pmu;
    a = 0;
    if (leaves >= 10)
        __cpuid(10, a, b, c, d);
    pmu = compat_pmu(t, PFM_PMU_INTEL_X86_ARCH);
    if ((a & 255) > 0 && pmu != ASSAY_EVENT_NONE)
        found |= 1u << pmu;
    return found;
}
#else
static uint32_t look_at_processor(const struct assay_event_table *t)
{
    (void)t;
    return 0;
}
#endif

/* The PMU of LIBPFM_FORCE_PMU, none other: the first whose name begins with what stands there. */
static uint32_t forced(const struct assay_event_table *t, const char *name)
{
    size_t n = strcspn(name, ",");
    for (uint32_t i = 0; i < t->pmu_count; i++)
        if (strncasecmp(name, assay_event_str(t, t->pmus[i].name), n) == 0)
            return 1u << i;
    return 0;
}

static uint32_t present(const struct assay_event_table *t)
{
    const char *name = getenv("LIBPFM_FORCE_PMU");
    if (name)
        return forced(t, name);
    uint32_t generic = compat_pmu(t, PFM_PMU_PERF_EVENT);
    return look_at_processor(t) | (generic != ASSAY_EVENT_NONE ? 1u << generic : 0);
}

/* Those that occur in LIBPFM_DISABLED_PMUS. */
static uint32_t disabled(const struct assay_event_table *t)
{
    const char *list = getenv("LIBPFM_DISABLED_PMUS");
    uint32_t set = 0;
    if (list)
        for (uint32_t i = 0; i < t->pmu_count; i++)
            if (strstr(list, assay_event_str(t, t->pmus[i].name)))
                set |= 1u << i;
    return set;
}

static bool is_on(const char *variable)
{
    const char *v = getenv(variable);
    return v && *v >= '1' && *v <= '9';
}

PFM_API pfm_err_t pfm_initialize(void)
{
    if (compat_word() & COMPAT_READY)
        return PFM_SUCCESS;
    struct assay_event_table t;
    assay_event_builtin(&t);
    uint32_t word = COMPAT_READY, off = disabled(&t);
    word |= (present(&t) & ~off) << COMPAT_PRESENT_SHIFT | off << COMPAT_DISABLED_SHIFT;
    word |= is_on("LIBPFM_ENCODE_INACTIVE") ? COMPAT_INACTIVE : 0;
    word |= is_on("LIBPFM_VERBOSE") ? COMPAT_VERBOSE : 0;
    word |= is_on("LIBPFM_DEBUG") ? COMPAT_DEBUG : 0;
    word |= getenv("LIBPFM_DEBUG_STDOUT") ? COMPAT_STDOUT : 0;
    atomic_store_explicit(&state, word, memory_order_release);
    return PFM_SUCCESS;
}

PFM_API void pfm_terminate(void) { atomic_store_explicit(&state, 0, memory_order_release); }

PFM_API int pfm_get_version(void) { return LIBPFM_VERSION; }
