/* SPDX-License-Identifier: MIT */
/* Counts as CSV (RFC 4180): a heading, then a line a counter. */
#include "stat_print.h"
#include "table.h"

/* The fields behind the first: a comma, and what there is. */
static void put_text(struct cli *c, const char *s)
{
    assay_out_char(&c->out, ',');
    table_csv(c, s);
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

static void put_row(struct cli *c, const struct stat_result *r, const struct stat_row *row)
{
    char name[1024];
    struct assay_out n, *o = &c->out;
    assay_out_init(&n, name, sizeof name - 1, NULL, NULL);
    stat_put_name(&n, row);
    name[n.len] = '\0';
    table_csv(c, name);
    put_text(c, stat_state_name(row->state));
    if (stat_is_exact(r, row))
        put_count(o, true, row->raw);
    else
        put_fixed(o, row->state == STAT_COUNTED, row->value * row->scale, stat_decimals(r, row));
    put_text(c, row->unit);
    put_count(o, row->event.group > 0, row->event.group);
    put_count(o, row->cpu >= 0, (uint64_t)row->cpu);
    put_fixed(o, r->at_ns > 0, (double)r->at_ns / 1e9, 9);
    put_count(o, row->state == STAT_COUNTED, row->raw);
    put_count(o, stat_was_opened(row), row->enabled);
    put_count(o, stat_was_opened(row), row->running);
    put_fixed(o, row->spread >= 0, row->spread, 3);
    put_text(c, r->model);
    put_text(c, row->reason);
    put_text(c, row->remedy);
    put_text(c, row->about);
    assay_out_char(o, '\n');
}

void stat_csv_heading(struct cli *c)
{
    assay_out_str(&c->out,
                  "event,state,value,unit,group,cpu,at,raw,enabled,running,spread,model,reason,remedy,about\n");
}

void stat_csv(struct cli *c, const struct stat_result *r)
{
    for (size_t i = 0; i < r->rows; i++)
        put_row(c, r, &r->row[i]);
}
