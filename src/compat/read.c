/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: event strings. Which PMUs are looked in is decided here, the rest is assay_event_encode's. */
#include "compat.h"

#include <string.h>

enum { PLM_ALL = PFM_PLM0 | PFM_PLM1 | PFM_PLM2 | PFM_PLM3 | PFM_PLMH };

static unsigned mode_of(pfm_os_t os)
{
    switch (os) {
    case PFM_OS_PERF_EVENT:
        return ASSAY_EVENT_LIBPFM4 | ASSAY_EVENT_PERF;
    case PFM_OS_PERF_EVENT_EXT:
        return ASSAY_EVENT_LIBPFM4 | ASSAY_EVENT_PERF | ASSAY_EVENT_PERF_EXT;
    default:
        return ASSAY_EVENT_LIBPFM4 | ASSAY_EVENT_REGISTERS;
    }
}

static unsigned privilege(int plm)
{
    return (plm & PFM_PLM3 ? ASSAY_EVENT_USER : 0u) | (plm & PFM_PLM0 ? ASSAY_EVENT_KERNEL : 0u);
}

/* A string that names no PMU: the PMUs of this machine in turn. */
static int read_anywhere(const struct assay_event_table *t, const char *text, size_t n, unsigned mode, unsigned plm,
                         struct assay_event_code *c, struct assay_event_error *e)
{
    uint32_t word = compat_word();
    *e = (struct assay_event_error){.code = ASSAY_E_NOT_FOUND,
                                    .reason = ASSAY_EVENT_NO_EVENT,
                                    .size = (uint16_t)n,
                                    .pmu = ASSAY_EVENT_NONE,
                                    .event = ASSAY_EVENT_NONE};
    for (uint32_t i = 0; i < t->pmu_count; i++) {
        if (!compat_present(word, i))
            continue;
        int r = assay_event_encode(t, text, n, mode, plm, i, c, e);
        if (r == ASSAY_OK || e->reason != ASSAY_EVENT_NO_EVENT)
            return r;
    }
    return e->code;
}

/* "PMU::" with a PMU that may not be asked for is as unknown as one that is not there. */
static int read_in(const struct assay_event_table *t, const char *text, size_t n, size_t name, unsigned mode,
                   unsigned plm, struct assay_event_code *c, struct assay_event_error *e)
{
    uint32_t pmu = assay_event_find_pmu(t, text, name), word = compat_word();
    if (pmu == ASSAY_EVENT_NONE || !(compat_present(word, pmu) || word & COMPAT_INACTIVE)) {
        bool clean = text[strcspn(text, ", \t\n")] == '\0';
        *e = (struct assay_event_error){.code = ASSAY_E_NOT_FOUND,
                                        .size = (uint16_t)name,
                                        .event = ASSAY_EVENT_NONE,
                                        .reason = clean ? ASSAY_EVENT_NO_PMU : ASSAY_EVENT_BAD_CHARACTER,
                                        .pmu = pmu};
        return e->code;
    }
    return assay_event_encode(t, text, n, mode, plm, pmu, c, e);
}

static int read_text(const struct assay_event_table *t, const char *text, int plm, pfm_os_t os,
                     struct assay_event_code *c, struct assay_event_error *e)
{
    size_t n = strlen(text);
    const char *colon = memchr(text, ':', n);
    int r = colon && colon[1] == ':' ? read_in(t, text, n, (size_t)(colon - text), mode_of(os), privilege(plm), c, e)
                                     : read_anywhere(t, text, n, mode_of(os), privilege(plm), c, e);
    if (r != ASSAY_OK)
        compat_say_error(t, text, e);
    return r;
}

int compat_read(const struct assay_event_table *t, const char *text, int plm, pfm_os_t os, struct assay_event_code *c)
{
    struct assay_event_error e;
    if (!text || (plm & ~PLM_ALL))
        return PFM_ERR_INVAL;
    return read_text(t, text, plm, os, c, &e) == ASSAY_OK ? PFM_SUCCESS : compat_error(&e);
}

/* Errors of a string that can be read, of an event that is known. */
static bool is_about_encoding(const struct assay_event_error *e)
{
    return e->event != ASSAY_EVENT_NONE &&
           (e->reason >= ASSAY_EVENT_RAW_WIDTH || e->reason == ASSAY_EVENT_VALUE_RANGE) &&
           e->reason != ASSAY_EVENT_NO_MODIFIER && e->reason != ASSAY_EVENT_NO_PEBS;
}

PFM_API int pfm_find_event(const char *str)
{
    if (!(compat_word() & COMPAT_READY))
        return PFM_ERR_NOINIT;
    if (!str)
        return PFM_ERR_INVAL;
    struct assay_event_table t;
    assay_event_builtin(&t);
    struct assay_event_code c;
    struct assay_event_error e;
    if (read_text(&t, str, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &c, &e) == ASSAY_OK)
        return compat_idx(&t, c.pmu, c.event);
    return is_about_encoding(&e) ? compat_idx(&t, e.pmu, e.event) : compat_error(&e);
}
