/* SPDX-License-Identifier: MIT */
/* Prints the built-in event table, a row a line: words "name=value", so that a script can compare it with other tables. */
#include <assay/event.h>

#include <inttypes.h>
#include <stdio.h>

static struct assay_event_table t;

static const char *str(uint32_t offset) { return assay_event_str(&t, offset); }

static void print_umask(const char *pmu, const struct assay_event_row *e, uint32_t i)
{
    const struct assay_event_umask *u = &t.umasks[e->first_umask + i];
    printf("umask pmu=%s event=%s index=%" PRIu32 " name=%s alias=%s value=%#" PRIx64 " group=%d flags=%#" PRIx32
           " fixed=%#" PRIx32 " edge=%d invert=%d cmask=%d equiv=%s\n",
           pmu, str(e->name), i, str(u->name), u->alias == ASSAY_EVENT_NONE ? "" : str(t.umasks[u->alias].name),
           u->value, u->group, u->flags, u->fixed_modifiers, u->fixed_edge, u->fixed_invert, u->fixed_cmask,
           str(u->equiv));
}

static void print_netburst(const struct assay_event_netburst *n)
{
    printf(" escr0=%#x escr1=%#x counters0=%#" PRIx32 " counters1=%#" PRIx32
           " cccr=%d select=%d linux=%d number0=%d number1=%d",
           n->escr_msr[0], n->escr_msr[1], n->counters[0], n->counters[1], n->escr_select, n->event_select,
           n->perf_event, n->escr_number[0], n->escr_number[1]);
}

static void print_event(const char *pmu, const struct assay_event_row *e, uint32_t i)
{
    printf("event pmu=%s index=%" PRIu32 " name=%s alias=%s config=%#" PRIx64 " counters=%#" PRIx64
           " modifiers=%#" PRIx32 " flags=%#" PRIx32 " umasks=%" PRIu32 " listed=%d groups=%d raw_bits=%d msr=%#" PRIx32
           " ok=%#" PRIx64 " msr_alt=%#" PRIx32 " ok_alt=%#" PRIx64 " config_alt=%#x",
           pmu, i, str(e->name), str(e->equiv), e->config, e->counters, e->modifiers, e->flags, e->umasks, e->listed,
           e->groups, e->raw_bits, e->extra_msr, e->extra_ok, e->extra_msr_alt, e->extra_alt_ok, e->config_alt);
    if (e->netburst != ASSAY_EVENT_NONE)
        print_netburst(&t.netburst[e->netburst]);
    printf("\n");
    for (uint32_t j = 0; j < e->umasks; j++)
        print_umask(pmu, e, j);
}

static void print_metric(const struct assay_event_metric *m)
{
    printf("metric name=%s event=%s row=%" PRIu32 " umask=%s upstream=%s mask=%#" PRIx32 " enable=%#" PRIx32
           " pebs=%#" PRIx32 " matrix=%#" PRIx32 " escr=%#x tag=%d mechanism=%d\n",
           str(m->name), str(t.events[m->event].name), m->event,
           m->umask == ASSAY_EVENT_NONE ? "" : str(t.umasks[m->umask].name),
           m->upstream_event == ASSAY_EVENT_NONE ? "" : str(t.events[m->upstream_event].name), m->upstream_mask,
           m->pebs_enable, m->pebs_enable_pebs, m->matrix_vert, m->upstream_escr, m->upstream_tag, m->mechanism);
}

int main(void)
{
    assay_event_builtin(&t);
    for (uint32_t i = 0; i < t.pmu_count; i++) {
        const struct assay_event_pmu *p = &t.pmus[i];
        printf("pmu name=%s id=%d events=%" PRIu32 " listed=%" PRIu32 " generic=%d fixed=%d registers=%d\n",
               str(p->name), p->id, p->events, p->listed, p->generic, p->fixed, p->registers);
        for (uint32_t j = 0; j < p->events; j++)
            print_event(str(p->name), &t.events[p->first_event + j], j);
    }
    for (uint32_t i = 0; i < t.metric_count; i++)
        print_metric(&t.metrics[i]);
    return 0;
}
