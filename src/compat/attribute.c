/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: the attributes of an event: its umasks, then the modifiers that a layer knows. */
#include "compat.h"

#include <string.h>

#define M(id, code, ctrl)                                                                                              \
    {                                                                                                                  \
        ASSAY_EVENT_MOD_##id, code, PFM_ATTR_CTRL_##ctrl                                                               \
    }
static const struct compat_modifier core[] = {M(K, 0, PMU), M(U, 1, PMU), M(E, 2, PMU),
                                              M(I, 3, PMU), M(C, 4, PMU), M(T, 5, PMU)};
static const struct compat_modifier netburst[] = {M(U, 0, PMU), M(K, 1, PMU), M(CMPL, 2, PMU), M(E, 3, PMU),
                                                  M(THR, 4, PMU)};
static const struct compat_modifier netburst_named[] = {M(K, 1, PMU), M(U, 0, PMU), M(E, 3, PMU), M(CMPL, 2, PMU),
                                                        M(THR, 4, PMU)};
/* The kernel's interface takes privilege levels itself. */
static const struct compat_modifier kernel[] = {
    M(U, 0, PERF_EVENT),    M(K, 1, PERF_EVENT),       M(H, 2, PERF_EVENT),      M(PERIOD, 3, PERF_EVENT),
    M(FREQ, 4, PERF_EVENT), M(PRECISE, 5, PERF_EVENT), M(EXCL, 6, PERF_EVENT),   M(MG, 7, PERF_EVENT),
    M(MH, 8, PERF_EVENT),   M(CPU, 9, PERF_EVENT),     M(PINNED, 10, PERF_EVENT)};
#undef M

enum {
    PRIVILEGE = 1 << ASSAY_EVENT_MOD_U | 1 << ASSAY_EVENT_MOD_K,
    KERNEL = PRIVILEGE | 1 << ASSAY_EVENT_MOD_MG | 1 << ASSAY_EVENT_MOD_MH,
    SAMPLING = 1 << ASSAY_EVENT_MOD_PERIOD | 1 << ASSAY_EVENT_MOD_FREQ | 1 << ASSAY_EVENT_MOD_EXCL |
               1 << ASSAY_EVENT_MOD_CPU | 1 << ASSAY_EVENT_MOD_PINNED,
};

/* The kernel's modifiers that an event has. */
static uint32_t kernel_set(const struct assay_event_pmu *p, const struct assay_event_row *e, pfm_os_t os)
{
    uint32_t set = KERNEL;
    bool software = p->scheme == ASSAY_EVENT_SOFTWARE;
    if (software)
        set |= 1u << ASSAY_EVENT_MOD_H;
    if (os == PFM_OS_PERF_EVENT_EXT)
        set |= SAMPLING;
    if (os == PFM_OS_PERF_EVENT_EXT && (software || (p->scheme == ASSAY_EVENT_CORE && (e->flags & ASSAY_EVENT_PEBS))))
        set |= 1u << ASSAY_EVENT_MOD_PRECISE;
    return set;
}

static unsigned append(struct compat_modifier *m, unsigned n, const struct compat_modifier *from, size_t count,
                       uint32_t set)
{
    for (size_t i = 0; i < count; i++)
        if (set >> from[i].id & 1)
            m[n++] = from[i];
    return n;
}

#define APPEND(m, n, from, set) append(m, n, from, sizeof(from) / sizeof(from)[0], set)
unsigned compat_modifiers(const struct assay_event_pmu *p, const struct assay_event_row *e, pfm_os_t os,
                          enum compat_order order, struct compat_modifier m[COMPAT_MODIFIERS])
{
    uint32_t set = os == PFM_OS_NONE ? e->modifiers : e->modifiers & ~(uint32_t)PRIVILEGE;
    unsigned n = 0;
    if (p->scheme == ASSAY_EVENT_CORE)
        n = APPEND(m, n, core, set);
    else if (p->scheme == ASSAY_EVENT_NETBURST && order == COMPAT_LISTED)
        n = APPEND(m, n, netburst, set);
    else if (p->scheme == ASSAY_EVENT_NETBURST)
        n = APPEND(m, n, netburst_named, set);
    return os == PFM_OS_NONE ? n : APPEND(m, n, kernel, kernel_set(p, e, os));
}
#undef APPEND

int compat_attributes(const struct assay_event_pmu *p, const struct assay_event_row *e, pfm_os_t os)
{
    uint32_t own = p->scheme == ASSAY_EVENT_SOFTWARE ? 0 : e->modifiers;
    if (os != PFM_OS_NONE)
        own &= ~(uint32_t)PRIVILEGE;
    int n = __builtin_popcount(own & ((1u << ASSAY_EVENT_MOD_H) - 1));
    return (int)e->listed + n + (os == PFM_OS_NONE ? 0 : __builtin_popcount(kernel_set(p, e, os)));
}

/* A umask's bits where the reference library has them: bit 8 of the register is bit 0, built-in modifiers above; of
 * NetBurst the number of the bit, of its tags from 16. */
static uint64_t umask_code(const struct assay_event_umask *u)
{
    if (u->flags & ASSAY_EVENT_TAG)
        return 16u + (unsigned)__builtin_ctzll(u->value);
    return u->value | (uint64_t)u->fixed_edge << 10 | (uint64_t)u->fixed_invert << 15 | (uint64_t)u->fixed_cmask << 16;
}

static void fill_umask(const struct assay_event_table *t, const struct assay_event_umask *u, bool core_pmu,
                       pfm_event_attr_info_t *info)
{
    bool pebs = core_pmu && (u->flags & ASSAY_EVENT_PEBS);
    info->name = assay_event_str(t, u->name);
    info->desc = assay_event_str(t, u->desc);
    if (u->equiv || u->alias != ASSAY_EVENT_NONE)
        info->equiv = assay_event_str(t, u->equiv ? u->equiv : t->umasks[u->alias].name);
    info->code = umask_code(u);
    info->type = PFM_ATTR_UMASK;
    info->ctrl = PFM_ATTR_CTRL_PMU;
    info->is_dfl = (u->flags & ASSAY_EVENT_DEFAULT) != 0;
    info->is_precise = pebs;
    info->support_hw_smpl = pebs;
}

static void fill_modifier(const struct compat_modifier *m, pfm_event_attr_info_t *info)
{
    info->name = assay_event_modifier_name(m->id);
    info->desc = assay_event_modifier_desc(m->id);
    info->code = m->code;
    info->type = assay_event_modifier_boolean(m->id) ? PFM_ATTR_MOD_BOOL : PFM_ATTR_MOD_INTEGER;
    info->ctrl = (pfm_attr_ctrl_t)m->ctrl;
}

PFM_API pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *output)
{
    if (!(compat_word() & COMPAT_READY))
        return PFM_ERR_NOINIT;
    if ((unsigned)os >= PFM_OS_MAX || !output || aidx < 0)
        return PFM_ERR_INVAL;
    struct assay_event_table t;
    assay_event_builtin(&t);
    uint32_t pmu, event;
    size_t size = compat_struct(output, output->size, PFM_ATTR_INFO_ABI0, sizeof *output);
    if (size == 0 || !compat_event(&t, eidx, &pmu, &event))
        return PFM_ERR_INVAL;
    const struct assay_event_pmu *p = &t.pmus[pmu];
    const struct assay_event_row *e = &t.events[event];
    if (aidx >= compat_attributes(p, e, os))
        return PFM_ERR_INVAL;
    pfm_event_attr_info_t info = {.size = sizeof info, .idx = aidx};
    struct compat_modifier m[COMPAT_MODIFIERS];
    if (aidx < e->listed) {
        fill_umask(&t, &t.umasks[e->first_umask + (unsigned)aidx], p->scheme == ASSAY_EVENT_CORE, &info);
    } else {
        compat_modifiers(p, e, os, COMPAT_LISTED, m);
        fill_modifier(&m[aidx - e->listed], &info);
    }
    memcpy(output, &info, size);
    return PFM_SUCCESS;
}
