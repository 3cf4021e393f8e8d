/* SPDX-License-Identifier: MIT */
/* Events as JSON records, as CSV, and as bare names. */
#include "events_print.h"
#include "list.h"
#include "table.h"

#include <string.h>

static void json_text(struct assay_json *j, const char *key, const struct events *e, uint32_t offset)
{
    const char *s = assay_event_str(&e->table, offset);
    assay_json_str(j, key, offset && *s ? s : NULL);
}

/* Counters as people write them: "0-3 f0". */
static void json_set(struct assay_json *j, const char *key, uint64_t counters)
{
    char text[200];
    struct assay_out o;
    assay_out_init(&o, text, sizeof text, NULL, NULL);
    events_put_counters(&o, counters);
    if (counters)
        assay_json_strn(j, key, text, o.len);
    else
        assay_json_null(j, key);
}

static void json_models(struct assay_json *j, const struct events *e, const struct assay_event_pmu *p)
{
    assay_json_array(j, "processors");
    for (uint32_t i = 0; i < p->models; i++) {
        char buf[32];
        struct assay_out o;
        assay_out_init(&o, buf, sizeof buf, NULL, NULL);
        list_put_model(&o, e->table.models[p->first_model + i]);
        assay_json_strn(j, NULL, buf, o.len);
    }
    assay_json_array_end(j);
}

void list_json_pmus(struct cli *c, const struct events *e)
{
    static const char *const schemes[] = {"core", "netburst", "software"};
    uint32_t here = list_this_pmu(e);
    struct assay_json j;
    assay_json_init(&j, &c->out);
    for (uint32_t i = 0; i < e->table.pmu_count; i++) {
        const struct assay_event_pmu *p = &e->table.pmus[i];
        assay_json_open(&j, NULL);
        assay_json_str(&j, "record", "pmu");
        assay_json_str(&j, "pmu", events_pmu_name(e, i));
        json_text(&j, "description", e, p->desc);
        assay_json_str(&j, "scheme", schemes[p->scheme]);
        json_models(&j, e, p);
        assay_json_bool(&j, "this_machine", i == here);
        assay_json_u64(&j, "general_counters", p->generic);
        assay_json_u64(&j, "fixed_counters", p->fixed);
        assay_json_u64(&j, "events", p->events);
        if (p->id)
            assay_json_u64(&j, "libpfm4_id", p->id);
        else
            assay_json_null(&j, "libpfm4_id");
        json_text(&j, "note", e, p->counters_note);
        assay_json_close(&j);
    }
}

static void json_flags(struct assay_json *j, uint32_t flags)
{
    assay_json_array(j, "flags");
    for (; flags; flags &= flags - 1)
        assay_json_str(j, NULL, list_flag_name(flags));
    assay_json_array_end(j);
}

static void json_msr(struct assay_json *j, const char *key, uint32_t msr)
{
    if (msr)
        assay_json_addr(j, key, msr);
    else
        assay_json_null(j, key);
}

static void json_escrs(struct assay_json *j, const struct events *e, const struct assay_event_row *row)
{
    if (row->netburst == ASSAY_EVENT_NONE) {
        assay_json_null(j, "cccr_select");
        assay_json_null(j, "escrs");
        return;
    }
    const struct assay_event_netburst *n = &e->table.netburst[row->netburst];
    assay_json_u64(j, "cccr_select", n->escr_select);
    assay_json_array(j, "escrs");
    for (unsigned i = 0; i < 2 && n->escr_msr[i]; i++) {
        const struct assay_event_msr *r = assay_event_register_at(n->escr_msr[i], ASSAY_EVENT_NETBURST);
        assay_json_open(j, NULL);
        assay_json_str(j, "name", r ? r->name : NULL);
        assay_json_addr(j, "msr", n->escr_msr[i]);
        events_json_counters(j, n->counters[i]);
        assay_json_close(j);
    }
    assay_json_array_end(j);
}

static void json_umask(struct assay_json *j, const struct events *e, const struct assay_event_row *row,
                       const struct assay_event_umask *u)
{
    assay_json_open(j, NULL);
    json_text(j, "umask", e, u->name);
    json_text(j, "description", e, u->desc);
    assay_json_addr(j, "value", u->value);
    if (row->netburst == ASSAY_EVENT_NONE && !(row->flags & ASSAY_EVENT_OFFCORE))
        assay_json_addr(j, "code", list_umask_code(row, u));
    else
        assay_json_null(j, "code");
    assay_json_u64(j, "group", u->group);
    assay_json_str(j, "group_name", events_group_title(row, u->group));
    assay_json_str(j, "alias_of", u->alias == ASSAY_EVENT_NONE ? NULL : events_umask_name(e, u->alias));
    json_text(j, "made_of", e, u->equiv);
    json_flags(j, u->flags);
    if (u->counters)
        events_json_counters(j, u->counters);
    else
        events_json_counters(j, row->counters);
    assay_json_close(j);
}

/* What a file says of its event beside the registers; null for events that are built in. */
static void json_published(struct assay_json *j, const struct events *e, uint32_t event)
{
    static const char *const pebs[] = {"no", "yes", "only"};
    const struct assay_event_facts *f = e->loaded ? assay_event_json_facts(e->loaded, event) : NULL;
    if (!f) {
        assay_json_null(j, "published");
        return;
    }
    assay_json_open(j, "published");
    json_text(j, "description", e, f->long_desc);
    json_text(j, "errata", e, f->errata);
    assay_json_u64(j, "sample_after", f->sample_after);
    assay_json_str(j, "pebs", pebs[f->pebs]);
    json_set(j, "pebs_counters", f->pebs_counters);
    json_set(j, "pdist_counters", f->pdist_counters);
    json_set(j, "counters_ht_off", f->counters_ht_off);
    assay_json_bool(j, "taken_alone", f->taken_alone);
    assay_json_bool(j, "data_address", f->data_address);
    assay_json_close(j);
}

static void json_event(struct assay_json *j, const struct events *e, uint32_t pmu, uint32_t event)
{
    const struct assay_event_row *row = &e->table.events[event];
    assay_json_open(j, NULL);
    assay_json_str(j, "record", "event");
    assay_json_str(j, "pmu", events_pmu_name(e, pmu));
    json_text(j, "event", e, row->name);
    json_text(j, "description", e, row->desc);
    assay_json_addr(j, "code", row->config);
    json_msr(j, "second_msr", row->extra_msr);
    assay_json_addr(j, "second_value", row->extra);
    assay_json_addr(j, "second_takes", row->extra_ok);
    json_msr(j, "other_msr", row->extra_msr_alt);
    events_json_counters(j, row->counters);
    json_escrs(j, e, row);
    events_json_modifiers(j, "modifiers", row->modifiers);
    json_flags(j, row->flags);
    json_text(j, "alias_of", e, row->equiv);
    assay_json_array(j, "umasks");
    for (uint32_t i = 0; i < row->umasks; i++)
        json_umask(j, e, row, &e->table.umasks[row->first_umask + i]);
    assay_json_array_end(j);
    json_published(j, e, event);
    assay_json_close(j);
}

void list_json_events(struct cli *c, const struct events *e, const struct list_rows *r)
{
    const struct assay_event_pmu *p = &e->table.pmus[r->pmu];
    struct assay_json j;
    assay_json_init(&j, &c->out);
    for (uint32_t i = 0; i < p->events; i++)
        if (!r->shown || r->shown[i])
            json_event(&j, e, r->pmu, p->first_event + i);
}

static void json_hit(struct assay_json *j, const struct events *e, const struct list_hit *h)
{
    const struct assay_event_row *row = &e->table.events[h->event];
    const struct assay_event_umask *u = h->umask == ASSAY_EVENT_NONE ? NULL : &e->table.umasks[h->umask];
    uint64_t code[2];
    unsigned codes = list_codes(e, h, code);
    assay_json_open(j, NULL);
    assay_json_str(j, "record", "match");
    assay_json_array(j, "pmus");
    for (uint32_t p = 0; p < e->table.pmu_count && p < 64; p++)
        if (h->pmus >> p & 1)
            assay_json_str(j, NULL, events_pmu_name(e, p));
    assay_json_array_end(j);
    json_text(j, "event", e, row->name);
    assay_json_str(j, "umask", u ? assay_event_str(&e->table, u->name) : NULL);
    assay_json_array(j, "codes");
    for (unsigned k = 0; k < codes; k++)
        assay_json_addr(j, NULL, code[k]);
    assay_json_array_end(j);
    json_text(j, "description", e, u ? u->desc : row->desc);
    assay_json_u64(j, "score", h->score);
    assay_json_close(j);
}

void list_json_hits(struct cli *c, const struct events *e, const struct list_hit *hit, size_t n)
{
    struct assay_json j;
    assay_json_init(&j, &c->out);
    for (size_t i = 0; i < n; i++)
        json_hit(&j, e, &hit[i]);
}

void list_names(struct cli *c, const struct events *e, const struct list_rows *r)
{
    const struct assay_event_pmu *p = &e->table.pmus[r->pmu];
    for (uint32_t i = 0; i < p->events; i++) {
        const struct assay_event_row *row = &e->table.events[p->first_event + i];
        for (uint32_t k = 0; k <= row->umasks && (!r->shown || r->shown[i]); k++) {
            const char *umask = k ? events_umask_name(e, row->first_umask + k - 1) : "";
            const char *const part[] = {
                events_pmu_name(e, r->pmu), "::", events_event_name(e, p->first_event + i), k ? ":" : "", umask, "\n"};
            for (size_t n = 0; n < sizeof part / sizeof *part; n++)
                assay_out_str(&c->out, part[n]);
        }
    }
}

/* Text that a function of list.h or events_print.h wrote, as a field. */
static void csv_cell(struct cli *c, char *text, const struct assay_out *o)
{
    text[o->len] = '\0';
    table_csv(c, text);
    assay_out_char(&c->out, ',');
}

static void csv_line(struct cli *c, const struct events *e, uint32_t pmu, const struct assay_event_row *row,
                     const struct assay_event_umask *u)
{
    char text[200];
    struct assay_out o;
    const char *const name[] = {events_pmu_name(e, pmu), assay_event_str(&e->table, row->name),
                                u ? assay_event_str(&e->table, u->name) : ""};
    for (unsigned i = 0; i < 3; i++) {
        table_csv(c, name[i]);
        assay_out_char(&c->out, ',');
    }
    events_put_hex(&c->out, u ? list_umask_code(row, u) : row->config);
    assay_out_char(&c->out, ',');
    if (u || row->extra)
        events_put_hex(&c->out, u ? u->value : row->extra);
    assay_out_char(&c->out, ',');
    assay_out_init(&o, text, sizeof text - 1, NULL, NULL);
    events_put_counters(&o, u && u->counters ? u->counters : row->counters);
    csv_cell(c, text, &o);
    assay_out_init(&o, text, sizeof text - 1, NULL, NULL);
    events_put_modifiers(&o, row->modifiers);
    csv_cell(c, text, &o);
    assay_out_init(&o, text, sizeof text - 1, NULL, NULL);
    list_put_flags(&o, u ? u->flags : row->flags, " ");
    csv_cell(c, text, &o);
    table_csv(c, assay_event_str(&e->table, u ? u->desc : row->desc));
    assay_out_char(&c->out, '\n');
}

void list_csv_events(struct cli *c, const struct events *e, const struct list_rows *r)
{
    const struct assay_event_pmu *p = &e->table.pmus[r->pmu];
    assay_out_str(&c->out, "pmu,event,umask,code,umask_value,counters,modifiers,flags,description\n");
    for (uint32_t i = 0; i < p->events; i++) {
        const struct assay_event_row *row = &e->table.events[p->first_event + i];
        if (r->shown && !r->shown[i])
            continue;
        csv_line(c, e, r->pmu, row, NULL);
        for (uint32_t k = 0; k < row->umasks; k++)
            csv_line(c, e, r->pmu, row, &e->table.umasks[row->first_umask + k]);
    }
}
