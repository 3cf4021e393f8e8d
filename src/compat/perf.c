/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: what perf_event_open(2) takes. Fields that the string says nothing of stay as the caller had them. */
#include "compat.h"

#include <string.h>

static bool names(const struct assay_event_code *c, enum assay_event_modifier m) { return c->named >> m & 1; }

/* A period beside the frequency that the caller has set, or the other way round. */
static bool contradicts(const struct assay_event_code *c, const struct perf_event_attr *attr)
{
    return (names(c, ASSAY_EVENT_MOD_PERIOD) && attr->freq) || (names(c, ASSAY_EVENT_MOD_FREQ) && attr->sample_period);
}

static void fill_sampling(const struct assay_event_code *c, const struct assay_event_perf *p,
                          struct perf_event_attr *attr)
{
    if (names(c, ASSAY_EVENT_MOD_PERIOD) || names(c, ASSAY_EVENT_MOD_FREQ)) {
        attr->sample_period = p->sample_period;
        attr->freq = names(c, ASSAY_EVENT_MOD_FREQ);
    }
    if (names(c, ASSAY_EVENT_MOD_PRECISE))
        attr->precise_ip = p->precise_ip & 3u;
    if (names(c, ASSAY_EVENT_MOD_EXCL))
        attr->exclusive = p->exclusive;
    attr->pinned = p->pinned;
}

/* NetBurst: privilege in perf's config is the kernel's to set; programs find dfl_plm there, as with the reference
 * library. */
static uint64_t config_of(const struct assay_event_table *t, const struct assay_event_code *c, uint64_t config, int plm)
{
    if (t->pmus[c->pmu].scheme != ASSAY_EVENT_NETBURST)
        return config;
    uint64_t threads = (plm & PFM_PLM3 ? 5u : 0u) | (plm & PFM_PLM0 ? 10u : 0u);
    return (config & ~((uint64_t)15 << 32)) | threads << 32;
}

static void fill(const struct assay_event_code *c, const struct assay_event_perf *p, struct perf_event_attr *attr)
{
    attr->type = p->type;
    if (c->codes > 1 && c->extra_msr)
        attr->config1 = p->config1;
    attr->exclude_user = p->exclude_user;
    attr->exclude_kernel = p->exclude_kernel;
    attr->exclude_hv = p->exclude_hv;
    attr->exclude_guest = p->exclude_guest;
    attr->exclude_host = p->exclude_host;
    fill_sampling(c, p, attr);
}

int compat_encode_perf(const struct assay_event_table *t, const struct assay_event_code *c, int plm, pfm_os_t os,
                       pfm_perf_encode_arg_t *arg)
{
    struct assay_event_perf p;
    assay_event_to_perf(t, c, &p);
    if (contradicts(c, arg->attr))
        return PFM_ERR_ATTR_VAL;
    /* Everything that is written is in the first version of the structure; the caller's may end there. */
    size_t size = arg->attr->size && arg->attr->size < PERF_ATTR_SIZE_VER0 ? arg->attr->size : PERF_ATTR_SIZE_VER0;
    struct perf_event_attr attr = {0};
    memcpy(&attr, arg->attr, size);
    fill(c, &p, &attr);
    attr.config = config_of(t, c, p.config, plm);
    if (arg->fstr) {
        char *name = compat_name(t, c, os, &attr);
        if (!name)
            return PFM_ERR_NOMEM;
        *arg->fstr = name;
    }
    memcpy(arg->attr, &attr, size);
    arg->idx = compat_idx(t, c->pmu, c->event);
    arg->cpu = c->named >> ASSAY_EVENT_MOD_CPU & 1 ? (int)c->modifier[ASSAY_EVENT_MOD_CPU] : -1;
    return PFM_SUCCESS;
}
