/* SPDX-License-Identifier: MIT */
/* The modifiers: names, kinds, what they do. */
#include "event/encode.h"

static const struct {
    char name[8];
    bool boolean;
    char desc[80];
} modifiers[ASSAY_EVENT_MODS] = {
    [ASSAY_EVENT_MOD_U] = {"u", true, "count in user mode (rings 1 to 3)"},
    [ASSAY_EVENT_MOD_K] = {"k", true, "count in the kernel (ring 0)"},
    [ASSAY_EVENT_MOD_E] = {"e", true, "edge: count how often the condition begins to hold; needs c"},
    [ASSAY_EVENT_MOD_I] = {"i", true, "invert: count cycles with fewer occurrences than c; needs c"},
    [ASSAY_EVENT_MOD_C] = {"c", false, "count cycles with at least this many occurrences, 0 to 255"},
    [ASSAY_EVENT_MOD_T] = {"t", true, "count for all hyper-threads of the core"},
    [ASSAY_EVENT_MOD_CMPL] = {"cmpl", true, "count cycles at or below the threshold instead of above it"},
    [ASSAY_EVENT_MOD_THR] = {"thr", false, "count cycles with more occurrences than this, 0 to 15"},
    [ASSAY_EVENT_MOD_H] = {"h", true, "count in the hypervisor"},
    [ASSAY_EVENT_MOD_PRECISE] = {"precise", false, "sample with PEBS, 1 to 3: how little the address may skid"},
    [ASSAY_EVENT_MOD_PERIOD] = {"period", false, "sample each time that many events have happened"},
    [ASSAY_EVENT_MOD_FREQ] = {"freq", false, "sample that often a second"},
    [ASSAY_EVENT_MOD_EXCL] = {"excl", true, "the group has the PMU for itself while it counts"},
    [ASSAY_EVENT_MOD_PINNED] = {"pinned", true, "never take turns with other events for a counter"},
    [ASSAY_EVENT_MOD_MG] = {"mg", true, "count in virtual machines"},
    [ASSAY_EVENT_MOD_MH] = {"mh", true, "count in the host"},
    [ASSAY_EVENT_MOD_CPU] = {"cpu", false, "count on this CPU"},
};

const char *assay_event_modifier_name(enum assay_event_modifier m)
{
    return (unsigned)m < ASSAY_EVENT_MODS ? modifiers[m].name : "";
}

bool assay_event_modifier_boolean(enum assay_event_modifier m)
{
    return (unsigned)m < ASSAY_EVENT_MODS && modifiers[m].boolean;
}

const char *assay_event_modifier_desc(enum assay_event_modifier m)
{
    return (unsigned)m < ASSAY_EVENT_MODS ? modifiers[m].desc : "";
}

static bool is_called(const char *s, const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (s[i] == '\0' || (unsigned char)s[i] != ((unsigned char)name[i] | 0x20))
            return false;
    return s[size] == '\0';
}

enum assay_event_modifier assay_event_modifier_find(const char *name, size_t size)
{
    for (unsigned m = 0; m < ASSAY_EVENT_MODS && size < sizeof modifiers[0].name; m++)
        if (is_called(modifiers[m].name, name, size))
            return (enum assay_event_modifier)m;
    return ASSAY_EVENT_MODS;
}

/* The reference's raw layer has no modifiers for the kernel's own events, and h nowhere. */
uint32_t assay_event_allowed(const struct event_request *r)
{
    uint32_t mask = r->event->modifiers;
    bool ext = r->mode & ASSAY_EVENT_PERF_EXT, perf = ext || (r->mode & ASSAY_EVENT_PERF);
    bool pebs = r->event->flags & ASSAY_EVENT_PEBS;
    if (event_is_libpfm4(r))
        mask &= r->pmu->scheme == ASSAY_EVENT_SOFTWARE && !perf ? 0 : ~EVENT_BIT(ASSAY_EVENT_MOD_H);
    if (perf)
        mask |= EVENT_GUESTS;
    if (ext)
        mask |= EVENT_KERNEL_ONLY;
    if (!pebs || (event_is_libpfm4(r) && r->pmu->scheme == ASSAY_EVENT_NETBURST))
        mask &= ~EVENT_BIT(ASSAY_EVENT_MOD_PRECISE);
    return mask;
}
