/* SPDX-License-Identifier: MIT */
/* Registers by their fields, and the events that codes mean. */
#include "events_print.h"
#include "explain.h"
#include "table.h"

#include <string.h>

static void put(struct cli *c, const char *s) { assay_out_str(&c->out, s); }

static uint64_t field_mask(const struct assay_event_field *f)
{
    return (f->width >= 64 ? UINT64_MAX : (UINT64_C(1) << f->width) - 1) << f->lsb;
}

/* Bits of the value that no field has. */
static uint64_t other_bits(enum assay_event_register layout, uint64_t value)
{
    unsigned n;
    const struct assay_event_field *f = assay_event_fields(layout, &n);
    for (unsigned i = 0; i < n; i++)
        value &= ~field_mask(&f[i]);
    return value;
}

static void put_field(struct cli *c, const struct assay_event_field *f, uint64_t value, size_t width)
{
    char buf[32];
    struct assay_out o;
    uint64_t v = (value & field_mask(f)) >> f->lsb;
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    assay_out_dec(&o, (uint64_t)f->lsb + f->width - 1);
    if (f->width > 1) {
        assay_out_char(&o, ':');
        assay_out_dec(&o, f->lsb);
    }
    buf[o.len] = '\0';
    put(c, "  ");
    assay_out_left(&c->out, buf, 7);
    cli_sgr(c, v ? EVENTS_NAME : "");
    assay_out_left(&c->out, f->name, 20);
    cli_sgr(c, "0");
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    if (f->width > 1)
        events_put_hex(&o, v);
    else
        assay_out_dec(&o, v);
    buf[o.len] = '\0';
    cli_sgr(c, v ? EVENTS_VALUE : "");
    assay_out_left(&c->out, buf, width);
    cli_sgr(c, "0");
    table_wrapped(c, assay_event_field_desc(f), 29 + width);
    put(c, "\n");
}

/* Settings that look right and do something else. */
static const char *advice(const struct assay_event_msr *r, uint64_t value)
{
    if (r->layout == ASSAY_EVENT_REG_PEBS_ENABLE_P4 && value & 1u << 24 && !(value & 1u << 25))
        return "bit 24 tags micro-operations for counting; PEBS records need bit 25 too, whatever SDM 18.15.7 says";
    if (r->layout == ASSAY_EVENT_REG_PERFEVTSEL && value & 1u << 22 && !(value & 3u << 16))
        return "neither usr nor os: the counter counts nothing";
    if (r->layout == ASSAY_EVENT_REG_PERFEVTSEL && value & (1u << 18 | 1u << 23) && !(value >> 24 & 255))
        return "edge and inv do nothing without a cmask of 1 or more";
    return NULL;
}

static void text_register(struct cli *c, const struct assay_event_msr *r, uint64_t value)
{
    unsigned n;
    const struct assay_event_field *f = assay_event_fields((enum assay_event_register)r->layout, &n);
    uint64_t other = other_bits((enum assay_event_register)r->layout, value);
    size_t width = 0;
    for (unsigned i = 0; i < n; i++)
        width = f[i].width > width ? f[i].width : width;
    cli_sgr(c, "1");
    put(c, r->name);
    cli_sgr(c, "0");
    put(c, " (");
    events_put_hex(&c->out, r->number);
    put(c, ") = ");
    events_put_hex(&c->out, value);
    put(c, "\n");
    for (unsigned i = 0; i < n; i++)
        put_field(c, &f[i], value, width / 4 + 5);
    cli_sgr(c, EVENTS_WRONG);
    if (other) {
        put(c, "  reserved bits are set: ");
        events_put_hex(&c->out, other);
        put(c, "\n");
    }
    if (advice(r, value)) {
        put(c, "  ");
        put(c, advice(r, value));
        put(c, "\n");
    }
    cli_sgr(c, "0");
}

static void json_register(struct cli *c, const struct assay_event_msr *r, uint64_t value)
{
    struct assay_json j;
    enum assay_event_register layout = (enum assay_event_register)r->layout;
    assay_json_init(&j, &c->out);
    assay_json_open(&j, NULL);
    assay_json_str(&j, "record", "register");
    assay_json_str(&j, "name", r->name);
    assay_json_addr(&j, "msr", r->number);
    assay_json_addr(&j, "value", value);
    events_json_fields(&j, layout, value);
    assay_json_addr(&j, "reserved", other_bits(layout, value));
    assay_json_str(&j, "advice", advice(r, value));
    assay_json_close(&j);
}

void explain_register(struct cli *c, const struct assay_event_msr *r, uint64_t value)
{
    if (c->json)
        json_register(c, r, value);
    else
        text_register(c, r, value);
}

/* Why an answer stands where it stands. */
static const char *why(const struct events *e, const struct assay_event_code *code)
{
    const struct assay_event_row *row = &e->table.events[code->event];
    if (code->raw)
        return "no umask has these bits";
    if (row->alias != ASSAY_EVENT_NONE)
        return "another name";
    if (row->flags & ASSAY_EVENT_DEPRECATED)
        return "a deprecated name";
    if (row->flags & ASSAY_EVENT_OFFCORE && code->codes < 2)
        return "its umasks are in the second register, whose value is not given";
    if (row->flags & ASSAY_EVENT_FIXED_ONLY)
        return "a fixed counter alone counts it";
    if (code->umasks > 1)
        return "the bits are these umasks together";
    return "exactly this code";
}

/* "another name of X", "why: what it counts". */
static void put_reason(struct assay_out *o, const struct events *e, const struct assay_event_code *code)
{
    const struct assay_event_row *row = &e->table.events[code->event];
    bool alias = row->alias != ASSAY_EVENT_NONE && !code->raw;
    assay_out_str(o, why(e, code));
    assay_out_str(o, alias ? " of " : ": ");
    if (alias)
        assay_out_str(o, assay_event_str(&e->table, row->equiv));
    else
        events_put_what(o, e, code);
}

/* " (also knl)": PMUs with the rows of this one. */
static void put_also(struct cli *c, const struct events *e, uint32_t pmu)
{
    const struct assay_event_pmu *p = e->table.pmus;
    for (uint32_t i = 0; i < e->table.pmu_count; i++)
        if (i != pmu && p[i].first_event == p[pmu].first_event && p[i].events == p[pmu].events) {
            put(c, "  (also ");
            put(c, events_pmu_name(e, i));
            put(c, ")");
        }
}

static void text_answer(struct cli *c, const struct events *e, const struct assay_event_code *code, unsigned number,
                        bool also)
{
    char buf[2304];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    put_reason(&o, e, code);
    buf[o.len] = '\0';
    cli_sgr(c, number == 1 ? "1;" EVENTS_NAME : EVENTS_NAME);
    assay_event_name(&e->table, code, &c->out);
    cli_sgr(c, "0");
    if (also)
        put_also(c, e, code->pmu);
    put(c, "\n  ");
    table_wrapped(c, buf, 2);
    put(c, "\n");
}

void explain_answer(struct cli *c, const struct events *e, const struct assay_event_code *code, unsigned number,
                    bool also)
{
    char what[2048];
    struct assay_out o;
    struct assay_json j;
    if (!c->json) {
        text_answer(c, e, code, number, also);
        return;
    }
    assay_json_init(&j, &c->out);
    assay_json_open(&j, NULL);
    assay_json_str(&j, "record", "answer");
    assay_json_u64(&j, "rank", number);
    assay_json_str(&j, "why", why(e, code));
    assay_out_init(&o, what, sizeof what, NULL, NULL);
    events_put_what(&o, e, code);
    assay_json_strn(&j, "description", what, o.len);
    events_json_code(&j, e, code);
    assay_json_close(&j);
}
