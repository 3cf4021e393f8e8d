/* SPDX-License-Identifier: MIT */
/* Counts as CSV (RFC 4180): a heading, then a line a counter. */
#include "stat_print.h"

#include <string.h>

static void put_field(struct assay_out *o, const char *s, size_t n)
{
    bool quote = false;
    for (size_t i = 0; i < n; i++)
        quote = quote || strchr(",\"\r\n", s[i]);
    if (quote)
        assay_out_char(o, '"');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"')
            assay_out_char(o, '"');
        assay_out_char(o, s[i]);
    }
    if (quote)
        assay_out_char(o, '"');
}

/* The fields behind the first: a comma, and what there is. */
static void put_text(struct assay_out *o, const char *s)
{
    assay_out_char(o, ',');
    put_field(o, s, strlen(s));
}

static void put_count(struct assay_out *o, bool there, uint64_t v)
{
    assay_out_char(o, ',');
    if (there)
        assay_out_dec(o, v);
}

static void put_fixed(struct assay_out *o, bool there, double v, unsigned decimals)
{
    assay_out_char(o, ',');
    if (there)
        assay_out_fixed(o, v, decimals);
}

static void put_name(struct assay_out *o, const struct stat_row *row)
{
    char name[1024];
    struct assay_out n;
    assay_out_init(&n, name, sizeof name, NULL, NULL);
    stat_put_name(&n, row);
    put_field(o, name, n.len);
}

static void put_row(struct assay_out *o, const struct stat_result *r, const struct stat_row *row)
{
    put_name(o, row);
    put_text(o, stat_state_name(row->state));
    put_fixed(o, row->state == STAT_COUNTED, row->value * row->scale, stat_decimals(r, row));
    put_text(o, row->unit);
    put_count(o, row->event.group > 0, row->event.group);
    put_count(o, row->cpu >= 0, (uint64_t)row->cpu);
    put_fixed(o, r->at_ns > 0, (double)r->at_ns / 1e9, 9);
    put_count(o, true, row->raw);
    put_count(o, true, row->enabled);
    put_count(o, true, row->running);
    put_fixed(o, row->spread >= 0, row->spread, 3);
    put_text(o, r->model ? r->model : "");
    put_text(o, row->reason);
    put_text(o, row->remedy);
    assay_out_char(o, '\n');
}

void stat_csv_heading(struct cli *c)
{
    assay_out_str(&c->out, "event,state,value,unit,group,cpu,at,raw,enabled,running,spread,model,reason,remedy\n");
}

void stat_csv(struct cli *c, const struct stat_result *r)
{
    for (size_t i = 0; i < r->rows; i++)
        put_row(&c->out, r, &r->row[i]);
}
