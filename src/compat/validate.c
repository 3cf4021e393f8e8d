/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: whether the tables of a PMU hold together. */
#include "compat.h"

static int say(FILE *fp, const struct assay_event_table *t, uint32_t event, const char *what)
{
    fprintf(fp, "event %s: %s\n", assay_event_str(t, t->events[event].name), what);
    return PFM_ERR_INVAL;
}

static bool finds_itself(const struct assay_event_table *t, uint32_t pmu, uint32_t event)
{
    const char *name = assay_event_str(t, t->events[event].name);
    size_t n = 0;
    while (name[n])
        n++;
    return n > 0 && assay_event_find(t, pmu, name, n) == event;
}

static int check_umasks(FILE *fp, const struct assay_event_table *t, uint32_t event)
{
    const struct assay_event_row *e = &t->events[event];
    if (e->listed > e->umasks || e->umasks > t->umask_count || e->first_umask > t->umask_count - e->umasks)
        return say(fp, t, event, "umasks beyond the table");
    for (uint32_t u = e->first_umask; u < e->first_umask + e->umasks; u++)
        if (t->umasks[u].alias != ASSAY_EVENT_NONE && t->umasks[t->umasks[u].alias].alias != ASSAY_EVENT_NONE)
            return say(fp, t, event, "a umask is another name of another name");
    return PFM_SUCCESS;
}

static int check_event(FILE *fp, const struct assay_event_table *t, uint32_t pmu, uint32_t event)
{
    const struct assay_event_row *e = &t->events[event];
    if (!finds_itself(t, pmu, event))
        return say(fp, t, event, "is not found by its name");
    if (e->alias != ASSAY_EVENT_NONE && t->events[e->alias].alias != ASSAY_EVENT_NONE)
        return say(fp, t, event, "is another name of another name");
    return check_umasks(fp, t, event);
}

PFM_API pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu_id, FILE *fp)
{
    if (!(compat_word() & COMPAT_READY))
        return PFM_ERR_NOINIT;
    if (!fp)
        return PFM_ERR_INVAL;
    struct assay_event_table t;
    assay_event_builtin(&t);
    uint32_t pmu = compat_pmu(&t, pmu_id);
    if (pmu == ASSAY_EVENT_NONE)
        return PFM_ERR_INVAL;
    const struct assay_event_pmu *p = &t.pmus[pmu];
    for (uint32_t i = 0; i < p->events; i++) {
        int r = check_event(fp, &t, pmu, p->first_event + i);
        if (r != PFM_SUCCESS)
            return r;
    }
    return PFM_SUCCESS;
}
