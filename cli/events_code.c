/* SPDX-License-Identifier: MIT */
/* An event's registers as lines of a table: name, value, what the value says. */
#include "events_print.h"
#include "table.h"

#include <string.h>

enum { INDENT = 2, LABEL = 34, VALUE = EVENTS_MEANING - INDENT - LABEL };

static void put(struct cli *c, const char *s) { assay_out_str(&c->out, s); }

void events_put_label(struct cli *c, const char *label)
{
    assay_out_fill(&c->out, ' ', INDENT);
    assay_out_left(&c->out, label, LABEL);
    if (strlen(label) >= LABEL)
        put(c, " ");
}

void events_put_register(struct cli *c, const char *name, uint32_t msr, uint64_t value)
{
    char buf[80];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    assay_out_str(&o, name);
    if (msr) {
        assay_out_str(&o, " (");
        events_put_hex(&o, msr);
        assay_out_char(&o, ')');
    }
    buf[o.len] = '\0';
    events_put_label(c, buf);
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    events_put_hex(&o, value);
    buf[o.len] = '\0';
    cli_sgr(c, EVENTS_VALUE);
    assay_out_left(&c->out, buf, VALUE);
    cli_sgr(c, "0");
    if (o.len >= VALUE)
        put(c, " ");
}

static void put_fields(struct cli *c, enum assay_event_register layout, uint64_t value)
{
    char buf[400];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    events_put_fields(&o, layout, value);
    buf[o.len] = '\0';
    table_wrapped(c, buf, EVENTS_MEANING);
    put(c, "\n");
}

void events_put_value(struct cli *c, const char *name, enum assay_event_register layout, uint64_t value)
{
    events_put_register(c, name, 0, value);
    put_fields(c, layout, value);
}

static const char *register_name(uint32_t msr, enum assay_event_scheme scheme)
{
    const struct assay_event_msr *r = assay_event_register_at(msr, scheme);
    return r ? r->name : "MSR";
}

/* The umasks of an offcore event, which are the second register's bits. */
static void put_umasks(struct cli *c, const struct events *e, const struct assay_event_code *code)
{
    char buf[2048];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    for (uint32_t i = 0; i < code->umasks; i++) {
        assay_out_str(&o, i ? ", " : "");
        assay_out_str(&o, events_umask_name(e, code->umask[i]));
    }
    assay_out_str(&o, code->raw ? "as given" : "");
    buf[o.len] = '\0';
    table_wrapped(c, buf, EVENTS_MEANING);
    put(c, "\n");
}

static void put_core(struct cli *c, const struct events *e, const struct assay_event_code *code)
{
    const struct assay_event_row *row = &e->table.events[code->event];
    bool fixed = row->flags & ASSAY_EVENT_FIXED_ONLY;
    events_put_register(c, fixed ? "pseudo code" : "IA32_PERFEVTSELx", 0, code->code[0]);
    put_fields(c, ASSAY_EVENT_REG_PERFEVTSEL, code->code[0]);
    if (code->codes < 2)
        return;
    const struct assay_event_msr *r = assay_event_register_at(code->extra_msr, ASSAY_EVENT_CORE);
    events_put_register(c, r ? r->name : "MSR", code->extra_msr, code->code[1]);
    if (row->flags & ASSAY_EVENT_OFFCORE)
        put_umasks(c, e, code);
    else
        put_fields(c, r ? (enum assay_event_register)r->layout : ASSAY_EVENT_REG_WHOLE, code->code[1]);
}

static void put_netburst(struct cli *c, const struct assay_event_code *code, const struct assay_event_slot *slot)
{
    uint32_t escr = slot ? slot->escr : 0, cccr = slot ? 0x360u + slot->counter : 0;
    events_put_register(c, escr ? register_name(escr, ASSAY_EVENT_NETBURST) : "ESCR", escr, code->code[0]);
    put_fields(c, ASSAY_EVENT_REG_ESCR, code->code[0]);
    events_put_register(c, cccr ? register_name(cccr, ASSAY_EVENT_NETBURST) : "CCCR", cccr, code->code[1]);
    put_fields(c, ASSAY_EVENT_REG_CCCR, code->code[1]);
}

void events_put_code(struct cli *c, const struct events *e, const struct assay_event_code *code,
                     const struct assay_event_slot *slot)
{
    switch (e->table.pmus[code->pmu].scheme) {
    case ASSAY_EVENT_CORE:
        put_core(c, e, code);
        break;
    case ASSAY_EVENT_NETBURST:
        put_netburst(c, code, slot);
        break;
    default: /* the kernel's own events have no register */
        break;
    }
}

void events_put_what(struct assay_out *o, const struct events *e, const struct assay_event_code *code)
{
    enum { FEW = 3 };
    const struct assay_event_table *t = &e->table;
    bool told = code->umasks > 0 && code->umasks <= FEW;
    for (uint32_t i = 0; told && i < code->umasks; i++) {
        assay_out_str(o, i ? "; " : "");
        assay_out_str(o, assay_event_str(t, t->umasks[code->umask[i]].desc));
    }
    if (!told)
        assay_out_str(o, assay_event_str(t, t->events[code->event].desc));
}
