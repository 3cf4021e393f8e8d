/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: PMUs and events. */
#include "compat.h"

#include <string.h>

uint32_t compat_pmu(const struct assay_event_table *t, unsigned id)
{
    for (uint32_t i = 0; i < t->pmu_count; i++)
        if (t->pmus[i].id == id && id != PFM_PMU_NONE)
            return i;
    return ASSAY_EVENT_NONE;
}

int compat_idx(const struct assay_event_table *t, uint32_t pmu, uint32_t event)
{
    return (int)((uint32_t)t->pmus[pmu].id << COMPAT_IDX_SHIFT | (event - t->pmus[pmu].first_event));
}

bool compat_event(const struct assay_event_table *t, int idx, uint32_t *pmu, uint32_t *event)
{
    if (idx < 0)
        return false;
    *pmu = compat_pmu(t, (unsigned)idx >> COMPAT_IDX_SHIFT);
    if (*pmu == ASSAY_EVENT_NONE)
        return false;
    uint32_t n = (unsigned)idx & ((1u << COMPAT_IDX_SHIFT) - 1);
    *event = t->pmus[*pmu].first_event + n;
    return n < t->pmus[*pmu].listed;
}

static void fill_pmu(const struct assay_event_table *t, uint32_t pmu, pfm_pmu_info_t *info)
{
    const struct assay_event_pmu *p = &t->pmus[pmu];
    *info = (pfm_pmu_info_t){
        .name = assay_event_str(t, p->name),
        .desc = assay_event_str(t, p->desc),
        .size = sizeof *info,
        .pmu = (pfm_pmu_t)p->id,
        .type = p->scheme == ASSAY_EVENT_SOFTWARE ? PFM_PMU_TYPE_OS_GENERIC : PFM_PMU_TYPE_CORE,
        .nevents = (int)p->listed,
        .first_event = p->listed ? compat_idx(t, pmu, p->first_event) : -1,
        .max_encoding = p->scheme == ASSAY_EVENT_NETBURST ? COMPAT_NETBURST_CODES : p->registers,
        .num_cntrs = p->generic,
        .num_fixed_cntrs = p->fixed,
        .is_present = compat_present(compat_word(), pmu),
        .is_dfl = p->id == PFM_PMU_INTEL_X86_ARCH,
    };
}

PFM_API pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output)
{
    if (!(compat_word() & COMPAT_READY))
        return PFM_ERR_NOINIT;
    if ((unsigned)pmu >= PFM_PMU_MAX || !output)
        return PFM_ERR_INVAL;
    size_t size = compat_struct(output, output->size, PFM_PMU_INFO_ABI0, sizeof *output);
    if (size == 0)
        return PFM_ERR_INVAL;
    struct assay_event_table t;
    assay_event_builtin(&t);
    uint32_t row = compat_pmu(&t, pmu);
    if (row == ASSAY_EVENT_NONE)
        return PFM_ERR_NOTSUPP;
    pfm_pmu_info_t info;
    fill_pmu(&t, row, &info);
    memcpy(output, &info, size);
    return PFM_SUCCESS;
}

PFM_API int pfm_get_event_next(int idx)
{
    struct assay_event_table t;
    assay_event_builtin(&t);
    uint32_t pmu, event, word = compat_word();
    if (!(word & COMPAT_READY) || !compat_event(&t, idx, &pmu, &event) || compat_disabled(word, pmu))
        return -1;
    return event + 1 - t.pmus[pmu].first_event < t.pmus[pmu].listed ? idx + 1 : -1;
}

/* Event select and what is built into it, in the form that each kind of PMU has. */
static uint64_t event_code(const struct assay_event_table *t, const struct assay_event_pmu *p,
                           const struct assay_event_row *e)
{
    if (p->scheme != ASSAY_EVENT_NETBURST)
        return e->config;
    const struct assay_event_netburst *n = &t->netburst[e->netburst];
    return (uint64_t)n->escr_select << 8 | n->event_select;
}

static void fill_event(const struct assay_event_table *t, uint32_t pmu, uint32_t event, pfm_os_t os,
                       pfm_event_info_t *info)
{
    const struct assay_event_pmu *p = &t->pmus[pmu];
    const struct assay_event_row *e = &t->events[event];
    bool pebs = p->scheme != ASSAY_EVENT_NETBURST && (e->flags & ASSAY_EVENT_PEBS);
    *info = (pfm_event_info_t){
        .name = assay_event_str(t, e->name),
        .desc = assay_event_str(t, e->desc),
        .equiv = e->equiv ? assay_event_str(t, e->equiv) : NULL,
        .size = sizeof *info,
        .code = event_code(t, p, e),
        .pmu = (pfm_pmu_t)p->id,
        .dtype = PFM_DTYPE_UINT64,
        .idx = compat_idx(t, pmu, event),
        .nattrs = compat_attributes(p, e, os),
        .is_precise = pebs,
        .is_speculative = PFM_EVENT_INFO_SPEC_NA,
        .support_hw_smpl = pebs,
    };
}

PFM_API pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output)
{
    if (!(compat_word() & COMPAT_READY))
        return PFM_ERR_NOINIT;
    if ((unsigned)os >= PFM_OS_MAX || !output)
        return PFM_ERR_INVAL;
    struct assay_event_table t;
    assay_event_builtin(&t);
    uint32_t pmu, event;
    size_t size = compat_struct(output, output->size, PFM_EVENT_INFO_ABI0, sizeof *output);
    if (size == 0 || !compat_event(&t, idx, &pmu, &event))
        return PFM_ERR_INVAL;
    pfm_event_info_t info;
    fill_event(&t, pmu, event, os, &info);
    memcpy(output, &info, size);
    return PFM_SUCCESS;
}
