/* SPDX-License-Identifier: MIT */
/* An encoded event in one line. */
#include "encode.h"
#include "events_print.h"

static void put_codes(struct assay_out *o, const struct assay_event_code *code)
{
    events_put_hex(o, code->code[0]);
    if (code->codes > 1) {
        assay_out_char(o, ' ');
        events_put_hex(o, code->code[1]);
    }
}

/* config, then config1 and config2 up to the last that is not 0. */
static void put_config(struct assay_out *o, const struct assay_event_table *t, const struct assay_event_code *code)
{
    struct assay_event_perf p;
    assay_event_to_perf(t, code, &p);
    events_put_hex(o, p.config);
    if (p.config1 || p.config2) {
        assay_out_char(o, ' ');
        events_put_hex(o, p.config1);
    }
    if (p.config2) {
        assay_out_char(o, ' ');
        events_put_hex(o, p.config2);
    }
}

static void put_name(struct assay_out *o, const struct encode *x, const struct assay_event_code *code)
{
    if (x->compat)
        encode_compat_name(o, x, code);
    else
        assay_event_name(&x->events.table, code, o);
}

void encode_line(struct assay_out *o, const struct encode *x, const struct assay_event_code *code)
{
    const struct assay_event_table *t = &x->events.table;
    switch (x->print) {
    case ENCODE_CODES:
        put_codes(o, code);
        break;
    case ENCODE_CONFIG:
        put_config(o, t, code);
        break;
    case ENCODE_PERF:
        assay_event_perf_string(t, code, o);
        break;
    case ENCODE_NAME:
        put_name(o, x, code);
        break;
    case ENCODE_ALL:
        put_codes(o, code);
        assay_out_char(o, '\t');
        put_name(o, x, code);
        break;
    }
}
