/* SPDX-License-Identifier: MIT */
/* The PMUs as a table, and one event with all there is to say of it. */
#include "events_print.h"
#include "list.h"
#include "table.h"

#include <string.h>

enum { LABEL = 14 };

static void put(struct cli *c, const char *s) { assay_out_str(&c->out, s); }

/* "  label         ", after which the cursor stands in the column of the values. */
static void put_label(struct cli *c, const char *label)
{
    put(c, "  ");
    assay_out_left(&c->out, label, LABEL);
}

static void put_line(struct cli *c, const char *label, const char *text)
{
    put_label(c, label);
    table_wrapped(c, text, LABEL + 2);
    put(c, "\n");
}

static void put_models(struct cli *c, const struct events *e, const struct assay_event_pmu *p)
{
    for (uint32_t i = 0; i < p->models; i++) {
        assay_out_char(&c->out, ' ');
        list_put_model(&c->out, e->table.models[p->first_model + i]);
    }
}

static void put_pmu(struct cli *c, const struct events *e, uint32_t pmu, bool here)
{
    const struct assay_event_pmu *p = &e->table.pmus[pmu];
    cli_sgr(c, EVENTS_NAME);
    assay_out_left(&c->out, events_pmu_name(e, pmu), 12);
    cli_sgr(c, "0");
    assay_out_dec_right(&c->out, p->events, 6);
    if (p->scheme == ASSAY_EVENT_SOFTWARE) {
        assay_out_right(&c->out, "-      -", 15);
    } else {
        assay_out_dec_right(&c->out, p->generic, 8);
        assay_out_dec_right(&c->out, p->fixed, 7);
    }
    put(c, "  ");
    put(c, assay_event_str(&e->table, p->desc));
    if (p->models) {
        put(c, ":");
        put_models(c, e, p);
    }
    cli_sgr(c, "1");
    put(c, here ? "  <- this machine" : "");
    cli_sgr(c, "0");
    put(c, "\n");
}

static void put_this_machine(struct cli *c)
{
    struct events_cpu cpu;
    char buf[96];
    struct assay_out o;
    if (!events_this_cpu(&cpu)) {
        put(c, "\nThis machine has no Intel processor; the tables work on any.\n");
        return;
    }
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    assay_out_str(&o, "\nThis machine (");
    assay_out_dec(&o, cpu.family);
    assay_out_char(&o, '/');
    assay_out_dec(&o, cpu.model);
    assay_out_char(&o, '/');
    assay_out_dec(&o, cpu.stepping);
    assay_out_str(&o, ") has no table of its own; every Intel core has ix86arch.\n");
    assay_out_bytes(&c->out, buf, o.len);
}

void list_pmus(struct cli *c, const struct events *e)
{
    uint32_t here = list_this_pmu(e);
    cli_sgr(c, "1");
    put(c, "PMU         events general  fixed  what it is: processors as family/model\n");
    cli_sgr(c, "0");
    for (uint32_t i = 0; i < e->table.pmu_count; i++)
        put_pmu(c, e, i, i == here);
    if (here == ASSAY_EVENT_NONE)
        put_this_machine(c);
}

static void put_code(struct cli *c, const struct assay_event_row *event)
{
    bool netburst = event->netburst != ASSAY_EVENT_NONE;
    put_label(c, "code");
    cli_sgr(c, EVENTS_VALUE);
    events_put_hex0(&c->out, event->config, 4);
    cli_sgr(c, "0");
    put(c, event->perf_type == 4 ? "  " : "");
    if (event->perf_type == 4)
        events_put_fields(&c->out, netburst ? ASSAY_EVENT_REG_ESCR : ASSAY_EVENT_REG_PERFEVTSEL, event->config);
    put(c, "\n");
}

/* "and  MSR_OFFCORE_RSP_0 (0x1a6), which takes ..."; of the event's other code "or  0x02b7 with MSR_OFFCORE_RSP_1 ...".
 * Without umasks the value is the event's own. */
static void put_second(struct cli *c, const struct assay_event_row *event, uint32_t msr, uint64_t takes, uint32_t code)
{
    const struct assay_event_msr *r = assay_event_register_at(msr, ASSAY_EVENT_CORE);
    if (!msr)
        return;
    put_label(c, code ? "or" : "and");
    if (code) {
        events_put_hex0(&c->out, code, 4);
        put(c, "  with ");
    }
    put(c, r ? r->name : "MSR");
    put(c, " (");
    events_put_hex(&c->out, msr);
    bool whole = !(event->flags & ASSAY_EVENT_OFFCORE);
    put(c, whole ? "), " : "), which takes the bits ");
    events_put_hex(&c->out, whole ? event->extra : takes);
    put(c, "\n");
}

static void put_escr(struct cli *c, const struct assay_event_netburst *n, unsigned i)
{
    const struct assay_event_msr *r = assay_event_register_at(n->escr_msr[i], ASSAY_EVENT_NETBURST);
    if (!n->escr_msr[i])
        return;
    put_label(c, i == 0 ? "ESCR" : "or ESCR");
    put(c, r ? r->name : "");
    put(c, " (");
    events_put_hex(&c->out, n->escr_msr[i]);
    put(c, "), CCCR select ");
    assay_out_dec(&c->out, n->escr_select);
    put(c, ", counters ");
    events_put_counters(&c->out, n->counters[i]);
    put(c, "\n");
}

static void put_modifiers(struct cli *c, uint32_t modifiers)
{
    const char *label = "modifiers";
    for (unsigned m = 0; m < ASSAY_EVENT_MODS; m++) {
        if (!(modifiers >> m & 1))
            continue;
        put_label(c, label);
        cli_sgr(c, EVENTS_NAME);
        assay_out_left(&c->out, assay_event_modifier_name((enum assay_event_modifier)m), 6);
        cli_sgr(c, "0");
        table_wrapped(c, assay_event_modifier_desc((enum assay_event_modifier)m), LABEL + 8);
        put(c, "\n");
        label = "";
    }
}

static void put_facts(struct cli *c, const struct events *e, const struct assay_event_row *event)
{
    char buf[160];
    struct assay_out o;
    if (event->netburst != ASSAY_EVENT_NONE) {
        put_escr(c, &e->table.netburst[event->netburst], 0);
        put_escr(c, &e->table.netburst[event->netburst], 1);
    } else if (event->counters) {
        put_label(c, "counters");
        events_put_counters(&c->out, event->counters);
        put(c, event->counters >> 32 ? " (f: fixed)\n" : "\n");
    }
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    list_put_flags(&o, event->flags, ", ");
    buf[o.len] = '\0';
    if (o.len)
        put_line(c, "it is", buf);
    put_modifiers(c, event->modifiers);
}

static void put_counters(struct cli *c, const char *label, uint64_t counters)
{
    if (!counters)
        return;
    put_label(c, label);
    events_put_counters(&c->out, counters);
    put(c, "\n");
}

/* What the file says besides. */
static void put_published(struct cli *c, const struct events *e, const struct assay_event_facts *f)
{
    if (!f)
        return;
    if (f->long_desc)
        put_line(c, "in full", assay_event_str(&e->table, f->long_desc));
    put_counters(c, "PEBS on", f->pebs ? f->pebs_counters : 0);
    if (f->pebs == 2)
        put_line(c, "PEBS", "makes sense when sampled precisely only");
    if (f->taken_alone)
        put_line(c, "alone", "no second event of its kind at the same time");
    if (f->sample_after) {
        put_label(c, "sample every");
        assay_out_dec(&c->out, f->sample_after);
        put(c, "\n");
    }
    if (f->errata)
        put_line(c, "errata", assay_event_str(&e->table, f->errata));
}

void list_whole(struct cli *c, const struct events *e, uint32_t pmu, uint32_t event)
{
    const struct assay_event_row *row = &e->table.events[event];
    cli_sgr(c, "1");
    put(c, events_pmu_name(e, pmu));
    put(c, "::");
    put(c, events_event_name(e, event));
    cli_sgr(c, "0");
    put(c, "\n");
    if (row->alias != ASSAY_EVENT_NONE)
        put_line(c, "is", assay_event_str(&e->table, row->equiv));
    put_line(c, "counts", assay_event_str(&e->table, row->desc));
    put_code(c, row);
    put_second(c, row, row->extra_msr, row->extra_ok, 0);
    put_second(c, row, row->extra_msr_alt, row->extra_alt_ok, row->config_alt);
    put_facts(c, e, row);
    if (e->loaded)
        put_published(c, e, assay_event_json_facts(e->loaded, event));
    if (row->umasks) {
        put(c, "\n");
        list_umasks(c, e, row);
    }
}
