/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: the attributes of an event: its umasks, then the modifiers that a layer knows. */
#include "compat.h"

#include <string.h>

/* clang-format off */
#define PMU(id, code) {ASSAY_EVENT_MOD_##id, code, PFM_ATTR_CTRL_PMU}
#define PERF(id) {ASSAY_EVENT_MOD_##id, id, PFM_ATTR_CTRL_PERF_EVENT}
/* clang-format on */
static const struct compat_modifier core[] = {PMU(K, 0), PMU(U, 1), PMU(E, 2), PMU(I, 3), PMU(C, 4), PMU(T, 5)};
static const struct compat_modifier netburst[] = {PMU(U, 0), PMU(K, 1), PMU(CMPL, 2), PMU(E, 3), PMU(THR, 4)};
static const struct compat_modifier netburst_named[] = {PMU(K, 1), PMU(U, 0), PMU(E, 3), PMU(CMPL, 2), PMU(THR, 4)};
/* The kernel's interface takes privilege levels itself. A modifier's code is its place. */
enum { U, K, H, PERIOD, FREQ, PRECISE, EXCL, MG, MH, CPU, PINNED };
static const struct compat_modifier kernel[] = {PERF(U),    PERF(K),       PERF(H),     PERF(PERIOD),
                                                PERF(FREQ), PERF(PRECISE), PERF(EXCL),  PERF(MG),
                                                PERF(MH),   PERF(CPU),     PERF(PINNED)};
#undef PMU
#undef PERF

/* The kernel's modifiers that an event has: places in the list above. */
static uint32_t kernel_set(const struct assay_event_pmu *p, const struct assay_event_row *e, pfm_os_t os)
{
    bool software = p->scheme == ASSAY_EVENT_SOFTWARE;
    uint32_t set = 1 << U | 1 << K | 1 << MG | 1 << MH;
    if (os == PFM_OS_NONE)
        return 0;
    if (software)
        set |= 1 << H;
    if (os == PFM_OS_PERF_EVENT)
        return set;
    if (software || (p->scheme == ASSAY_EVENT_CORE && (e->flags & ASSAY_EVENT_PEBS)))
        set |= 1 << PRECISE;
    return set | 1 << PERIOD | 1 << FREQ | 1 << EXCL | 1 << CPU | 1 << PINNED;
}

static uint32_t places(const struct compat_modifier *list, size_t n, uint32_t modifiers)
{
    uint32_t set = 0;
    for (size_t i = 0; i < n; i++)
        set |= (modifiers >> list[i].id & 1) << i;
    return set;
}

#define PLACES(list, modifiers) places(list, sizeof(list) / sizeof(list)[0], modifiers)
void compat_walk(const struct assay_event_pmu *p, const struct assay_event_row *e, pfm_os_t os, enum compat_order order,
                 struct compat_walk *w)
{
    uint32_t privilege = 1u << ASSAY_EVENT_MOD_U | 1u << ASSAY_EVENT_MOD_K;
    uint32_t own = os == PFM_OS_NONE ? e->modifiers : e->modifiers & ~privilege;
    *w = (struct compat_walk){.list = core, .kernel = kernel_set(p, e, os)};
    if (p->scheme == ASSAY_EVENT_CORE) {
        w->own = PLACES(core, own);
    } else if (p->scheme == ASSAY_EVENT_NETBURST) {
        w->list = order == COMPAT_LISTED ? netburst : netburst_named;
        w->own = order == COMPAT_LISTED ? PLACES(netburst, own) : PLACES(netburst_named, own);
    }
}
#undef PLACES

const struct compat_modifier *compat_walk_next(struct compat_walk *w)
{
    uint32_t *set = w->own ? &w->own : &w->kernel;
    if (!*set)
        return NULL;
    const struct compat_modifier *m = (w->own ? w->list : kernel) + __builtin_ctz(*set);
    *set &= *set - 1;
    return m;
}

/* The modifier after n others, NULL when there are not as many. */
static const struct compat_modifier *walk_to(const struct compat_walk *w, int n)
{
    uint32_t own = w->own, set = w->kernel;
    for (; n > 0 && own; n--)
        own &= own - 1;
    if (own)
        return w->list + __builtin_ctz(own);
    for (; n > 0 && set; n--)
        set &= set - 1;
    return set ? kernel + __builtin_ctz(set) : NULL;
}

int compat_attributes(const struct assay_event_pmu *p, const struct assay_event_row *e, pfm_os_t os)
{
    struct compat_walk w;
    compat_walk(p, e, os, COMPAT_LISTED, &w);
    return e->listed + __builtin_popcount(w.own) + __builtin_popcount(w.kernel);
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
    pfm_event_attr_info_t info = {.size = sizeof info, .idx = aidx};
    if (aidx < e->listed) {
        fill_umask(&t, &t.umasks[e->first_umask + (unsigned)aidx], p->scheme == ASSAY_EVENT_CORE, &info);
    } else {
        struct compat_walk w;
        compat_walk(p, e, os, COMPAT_LISTED, &w);
        const struct compat_modifier *m = walk_to(&w, aidx - e->listed);
        if (!m)
            return PFM_ERR_INVAL;
        fill_modifier(m, &info);
    }
    memcpy(output, &info, size);
    return PFM_SUCCESS;
}
