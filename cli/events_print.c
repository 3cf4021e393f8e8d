/* SPDX-License-Identifier: MIT */
/* Parts of events as text and JSON, for every verb that shows them. */
#include "events_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIXED = 32 }; /* bit of fixed counter 0 in a mask of counters */

void events_put_hex(struct assay_out *o, uint64_t v)
{
    assay_out_str(o, "0x");
    assay_out_hex(o, v);
}

void events_put_hex0(struct assay_out *o, uint64_t v, unsigned digits)
{
    if (digits < 16 && v >> 4 * digits) {
        events_put_hex(o, v);
        return;
    }
    assay_out_str(o, "0x");
    assay_out_hex0(o, v, digits);
}

void events_put_counters(struct assay_out *o, uint64_t counters)
{
    const char *before = "";
    for (unsigned i = 0; i < 64; i++) {
        if (!(counters >> i & 1))
            continue;
        unsigned last = i, end = i < FIXED ? FIXED : 64;
        while (last + 1 < end && counters >> (last + 1) & 1)
            last++;
        assay_out_str(o, before);
        assay_out_str(o, i < FIXED ? "" : "f");
        assay_out_dec(o, i % FIXED);
        if (last > i) {
            assay_out_char(o, '-');
            assay_out_dec(o, last % FIXED);
        }
        before = " ";
        i = last;
    }
}

void events_put_modifiers(struct assay_out *o, uint32_t modifiers)
{
    const char *before = "";
    for (unsigned m = 0; m < ASSAY_EVENT_MODS; m++)
        if (modifiers >> m & 1) {
            assay_out_str(o, before);
            assay_out_str(o, assay_event_modifier_name((enum assay_event_modifier)m));
            before = " ";
        }
}

static uint64_t field_value(const struct assay_event_field *f, uint64_t v)
{
    return v >> f->lsb & (f->width >= 64 ? UINT64_MAX : (UINT64_C(1) << f->width) - 1);
}

void events_put_fields(struct assay_out *o, enum assay_event_register layout, uint64_t value)
{
    unsigned n;
    const struct assay_event_field *f = assay_event_fields(layout, &n);
    const char *before = "";
    for (unsigned i = 0; i < n; i++) {
        uint64_t v = field_value(&f[i], value);
        if (v == 0)
            continue;
        assay_out_str(o, before);
        assay_out_str(o, f[i].name);
        if (f[i].width > 1) {
            assay_out_char(o, ' ');
            events_put_hex(o, v);
        }
        before = ", ";
    }
}

const char *events_group_title(const struct assay_event_row *event, unsigned group)
{
    static const char *const offcore[] = {"request", "supplier and snoop", "average latency"};
    return event->flags & ASSAY_EVENT_OFFCORE && event->groups > 1 && group < 3 ? offcore[group] : NULL;
}

static void json_bits(struct assay_json *j, const char *key, uint32_t bits)
{
    assay_json_array(j, key);
    for (unsigned i = 0; i < 32; i++)
        if (bits >> i & 1)
            assay_json_u64(j, NULL, i);
    assay_json_array_end(j);
}

void events_json_counters(struct assay_json *j, uint64_t counters)
{
    json_bits(j, "counters", (uint32_t)counters);
    json_bits(j, "fixed_counters", (uint32_t)(counters >> FIXED));
}

void events_json_modifiers(struct assay_json *j, const char *key, uint32_t modifiers)
{
    assay_json_array(j, key);
    for (unsigned m = 0; m < ASSAY_EVENT_MODS; m++)
        if (modifiers >> m & 1)
            assay_json_str(j, NULL, assay_event_modifier_name((enum assay_event_modifier)m));
    assay_json_array_end(j);
}

void events_json_fields(struct assay_json *j, enum assay_event_register layout, uint64_t value)
{
    unsigned n;
    const struct assay_event_field *f = assay_event_fields(layout, &n);
    assay_json_open(j, "fields");
    for (unsigned i = 0; i < n; i++) {
        if (f[i].width > 32)
            assay_json_addr(j, f[i].name, field_value(&f[i], value));
        else
            assay_json_u64(j, f[i].name, field_value(&f[i], value));
    }
    assay_json_close(j);
}

void events_json_error(struct assay_json *j, const struct events *e, const char *text,
                       const struct assay_event_error *x)
{
    char line[512];
    struct assay_out o;
    assay_out_init(&o, line, sizeof line, NULL, NULL);
    assay_event_error_print(&e->table, text, x, &o);
    assay_json_open(j, "error");
    assay_json_str(j, "reason", assay_event_reason_name(x->reason));
    assay_json_strn(j, "message", line, o.len);
    assay_json_u64(j, "column", x->column);
    assay_json_u64(j, "size", x->size);
    assay_json_strn(j, "token", text + x->column, x->size);
    assay_json_str(j, "meant", assay_event_error_meant(&e->table, text, x));
    assay_json_close(j);
}

/* Columns on the terminal: bytes that continue a UTF-8 character take none. */
static size_t columns(const char *s, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        k += (s[i] & 0xc0) != 0x80;
    return k;
}

static int to_stderr(void *ctx, const char *data, size_t size)
{
    (void)ctx;
    return fwrite(data, 1, size, stderr) == size ? 0 : 1;
}

/* The string on a line of its own, and below it what is wrong; one that no terminal shows on a line is left out. */
static void put_caret(struct assay_out *o, const char *text, const struct assay_event_error *x)
{
    enum { LONGEST = 400 };
    if (strlen(text) > LONGEST)
        return;
    const char *no_color = getenv("NO_COLOR");
    bool color = isatty(STDERR_FILENO) && !(no_color && *no_color);
    size_t wide = columns(text + x->column, x->size);
    assay_out_str(o, "  ");
    assay_out_clean(o, text);
    assay_out_str(o, "\n  ");
    assay_out_fill(o, ' ', columns(text, x->column));
    assay_out_str(o, color ? "\033[" EVENTS_WRONG "m^" : "^");
    assay_out_fill(o, '~', wide > 1 ? wide - 1 : 0);
    assay_out_str(o, color ? "\033[0m\n" : "\n");
}

int events_fail(struct cli *c, const struct events *e, const char *text, const struct assay_event_error *x)
{
    char buf[1024];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf, to_stderr, NULL);
    assay_out_str(&o, "assay ");
    assay_out_str(&o, c->verb->name);
    assay_out_str(&o, ": ");
    assay_event_error_print(&e->table, text, x, &o);
    assay_out_char(&o, '\n');
    put_caret(&o, text, x);
    assay_out_flush(&o);
    return CLI_USAGE;
}
