/* SPDX-License-Identifier: MIT */
/* Encoded events as JSON records and as CSV. */
#include "encode.h"
#include "events_print.h"
#include "table.h"

void encode_json_event(struct cli *c, const struct encode *x, const char *text, const struct assay_event_code *code,
                       const struct assay_event_error *error)
{
    struct assay_json j;
    assay_json_init(&j, &c->out);
    assay_json_open(&j, NULL);
    assay_json_str(&j, "record", "encoding");
    assay_json_str(&j, "input", text);
    events_json_code(&j, &x->events, error ? NULL : code);
    if (error)
        events_json_error(&j, &x->events, text, error);
    else
        assay_json_null(&j, "error");
    assay_json_close(&j);
}

static void json_slots(struct assay_json *j, const struct encode_group *g)
{
    assay_json_array(j, "slots");
    for (unsigned i = 0; i < g->n; i++) {
        const struct assay_event_slot *s = &g->slot[i];
        assay_json_open(j, NULL);
        assay_json_u64(j, "event", i);
        if (s->counter == ASSAY_EVENT_NO_COUNTER_BIT)
            assay_json_null(j, "counter");
        else
            assay_json_u64(j, "counter", s->counter % 32);
        assay_json_bool(j, "fixed", s->counter != ASSAY_EVENT_NO_COUNTER_BIT && s->counter >= 32);
        assay_json_addr(j, "code", s->code0);
        assay_json_addr(j, "second_msr", s->extra_msr);
        assay_json_addr(j, "escr", s->escr);
        assay_json_close(j);
    }
    assay_json_array_end(j);
}

static void json_writes(struct assay_json *j, const struct encode *x, const struct encode_group *g)
{
    struct assay_event_write w[ENCODE_WRITES];
    int n = assay_event_writes(&x->events.table, g->code, g->slot, g->n, x->write_flags, w, ENCODE_WRITES);
    assay_json_array(j, "writes");
    for (int i = 0; i < n; i++) {
        assay_json_open(j, NULL);
        assay_json_str(j, "name", w[i].name);
        assay_json_addr(j, "msr", w[i].msr);
        assay_json_addr(j, "value", w[i].value);
        assay_json_str(j, "why", w[i].why);
        assay_json_close(j);
    }
    assay_json_array_end(j);
}

static void json_conflict(struct assay_json *j, const struct encode *x, const struct encode_group *g)
{
    char line[512];
    struct assay_out o;
    assay_out_init(&o, line, sizeof line, NULL, NULL);
    assay_event_group_error_print(&x->events.table, g->code, &g->error, &o);
    assay_json_open(j, "error");
    assay_json_strn(j, "message", line, o.len);
    assay_json_array(j, "events");
    for (unsigned i = 0; i < g->n; i++)
        if (g->error.events >> i & 1)
            assay_json_u64(j, NULL, i);
    assay_json_array_end(j);
    assay_json_close(j);
}

static void json_group(struct cli *c, const struct encode *x, const struct encode_group *g)
{
    bool fits = g->error.conflict == ASSAY_EVENT_FITS;
    struct assay_json j;
    assay_json_init(&j, &c->out);
    assay_json_open(&j, NULL);
    assay_json_str(&j, "record", "group");
    assay_json_u64(&j, "events", g->n);
    assay_json_bool(&j, "fits", fits);
    assay_json_bool(&j, "latency", g->latency);
    if (fits) {
        json_slots(&j, g);
        json_writes(&j, x, g);
        assay_json_null(&j, "error");
    } else {
        assay_json_null(&j, "slots");
        assay_json_null(&j, "writes");
        json_conflict(&j, x, g);
    }
    assay_json_close(&j);
}

void encode_json(struct cli *c, const struct encode *x, const struct encode_group *g)
{
    for (unsigned i = 0; i < g->n; i++)
        encode_json_event(c, x, g->text[i], &g->code[i], NULL);
    json_group(c, x, g);
}

void encode_csv_head(struct cli *c)
{
    assay_out_str(&c->out, "input,name,code,second_msr,second_code,counters,perf_type,config,config1,config2,error\n");
}

static void csv_hex(struct cli *c, uint64_t v, bool shown)
{
    if (shown)
        events_put_hex(&c->out, v);
    assay_out_char(&c->out, ',');
}

static void csv_code(struct cli *c, const struct encode *x, const struct assay_event_code *code)
{
    struct assay_event_perf p;
    assay_event_to_perf(&x->events.table, code, &p);
    assay_event_name(&x->events.table, code, &c->out);
    assay_out_char(&c->out, ',');
    csv_hex(c, code->code[0], true);
    csv_hex(c, code->extra_msr, code->extra_msr != 0);
    csv_hex(c, code->code[1], code->codes > 1);
    events_put_counters(&c->out, code->counters);
    assay_out_char(&c->out, ',');
    assay_out_dec(&c->out, p.type);
    assay_out_char(&c->out, ',');
    csv_hex(c, p.config, true);
    csv_hex(c, p.config1, true);
    csv_hex(c, p.config2, true);
    assay_out_char(&c->out, '\n');
}

void encode_csv_event(struct cli *c, const struct encode *x, const char *text, const struct assay_event_code *code,
                      const struct assay_event_error *error)
{
    table_csv(c, text);
    assay_out_char(&c->out, ',');
    if (!error) {
        csv_code(c, x, code);
        return;
    }
    char line[512];
    struct assay_out o;
    assay_out_init(&o, line, sizeof line - 1, NULL, NULL);
    assay_event_error_print(&x->events.table, text, error, &o);
    line[o.len] = '\0';
    assay_out_str(&c->out, ",,,,,,,,,");
    table_csv(c, line);
    assay_out_char(&c->out, '\n');
}
