/* SPDX-License-Identifier: MIT */
/* Encoded events for people: registers with their fields, counters, perf's numbers. */
#include "encode.h"
#include "events_print.h"
#include "table.h"

#include <string.h>

static void put(struct cli *c, const char *s) { assay_out_str(&c->out, s); }

static void put_number(struct cli *c, const char *name, uint64_t v, bool shown)
{
    if (!shown)
        return;
    put(c, name);
    events_put_hex(&c->out, v);
}

static void put_perf(struct cli *c, const struct encode *x, const struct assay_event_code *code)
{
    struct assay_event_perf p;
    assay_event_to_perf(&x->events.table, code, &p);
    events_put_label(c, "perf_event_attr");
    put(c, "type ");
    assay_out_dec(&c->out, p.type);
    put_number(c, ", config ", p.config, true);
    put_number(c, ", config1 ", p.config1, p.config1 || p.config2);
    put_number(c, ", config2 ", p.config2, p.config2 != 0);
    put(c, p.exclude_user ? ", exclude_user" : "");
    put(c, p.exclude_kernel ? ", exclude_kernel" : "");
    put(c, p.exclude_hv ? ", exclude_hv" : "");
    if (p.precise_ip) {
        put(c, ", precise_ip ");
        assay_out_dec(&c->out, p.precise_ip);
    }
    if (p.sample_period) {
        put(c, p.freq ? ", freq " : ", sample_period ");
        assay_out_dec(&c->out, p.sample_period);
    }
    put(c, "\n");
    events_put_label(c, "perf stat -e");
    cli_sgr(c, EVENTS_NAME);
    assay_event_perf_string(&x->events.table, code, &c->out);
    cli_sgr(c, "0");
    put(c, "\n");
}

static void put_event(struct cli *c, const struct encode *x, const struct encode_group *g, unsigned i)
{
    char what[2048];
    struct assay_out o;
    assay_out_init(&o, what, sizeof what - 1, NULL, NULL);
    events_put_what(&o, &x->events, &g->code[i]);
    what[o.len] = '\0';
    const struct assay_event_code *code = &g->code[i];
    cli_sgr(c, "1");
    assay_event_name(&x->events.table, code, &c->out);
    cli_sgr(c, "0");
    put(c, "\n  ");
    table_wrapped(c, what, 2);
    put(c, "\n");
    events_put_code(c, &x->events, code, g->error.conflict == ASSAY_EVENT_FITS ? &g->slot[i] : NULL);
    if (code->counters) {
        events_put_label(c, "counters");
        events_put_counters(&c->out, code->counters);
        put(c, code->counters >> 32 ? " (f: fixed)\n" : "\n");
    }
    put_perf(c, x, code);
}

static void put_writes(struct cli *c, const struct encode *x, const struct encode_group *g)
{
    struct assay_event_write w[ENCODE_WRITES];
    int n = assay_event_writes(&x->events.table, g->code, g->slot, g->n, x->write_flags, w, ENCODE_WRITES);
    if (n <= 0)
        return;
    bool netburst = x->events.table.pmus[g->code[0].pmu].scheme == ASSAY_EVENT_NETBURST;
    put(c, netburst ? "\nwrites, in order, on logical processor 0\n" : "\nwrites, in order\n");
    for (int i = 0; i < n; i++) {
        events_put_register(c, w[i].name, w[i].msr, w[i].value);
        table_wrapped(c, w[i].why, EVENTS_MEANING);
        put(c, "\n");
    }
}

static void put_slot(struct cli *c, const struct encode *x, const struct encode_group *g, unsigned i)
{
    const struct assay_event_slot *s = &g->slot[i];
    char label[24];
    struct assay_out o;
    assay_out_init(&o, label, sizeof label - 1, NULL, NULL);
    assay_out_str(&o, s->counter == ASSAY_EVENT_NO_COUNTER_BIT ? "no counter"
                      : s->counter < 32                        ? "counter "
                                                               : "fixed counter ");
    if (s->counter != ASSAY_EVENT_NO_COUNTER_BIT)
        assay_out_dec(&o, s->counter % 32);
    label[o.len] = '\0';
    events_put_label(c, label);
    assay_event_name(&x->events.table, &g->code[i], &c->out);
    if (s->alt) {
        put(c, "  as ");
        events_put_hex(&c->out, s->code0);
    }
    put(c, "\n");
}

static void put_group(struct cli *c, const struct encode *x, const struct encode_group *g)
{
    put(c, "\nall at once\n");
    for (unsigned i = 0; i < g->n; i++)
        put_slot(c, x, g, i);
    events_put_label(c, "perf stat -e");
    cli_sgr(c, EVENTS_NAME);
    for (unsigned i = 0; i < g->n; i++) {
        put(c, i ? "," : "'{");
        assay_event_perf_string(&x->events.table, &g->code[i], &c->out);
    }
    put(c, "}'");
    cli_sgr(c, "0");
    put(c, "\n");
    if (g->latency)
        put(c, "\naverage latency in core cycles = count of the first / count of the second\n");
}

void encode_text(struct cli *c, const struct encode *x, const struct encode_group *g)
{
    for (unsigned i = 0; i < g->n; i++) {
        put(c, i ? "\n" : "");
        put_event(c, x, g, i);
    }
    if (g->error.conflict != ASSAY_EVENT_FITS)
        return;
    if (g->n > 1)
        put_group(c, x, g);
    if (x->writes || x->events.table.pmus[g->code[0].pmu].scheme == ASSAY_EVENT_NETBURST)
        put_writes(c, x, g);
}
