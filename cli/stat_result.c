/* SPDX-License-Identifier: MIT */
/* Results: a row for each counter, and what every form of showing them asks. */
#include "stat_print.h"

#include <stdlib.h>

bool stat_result_alloc(struct stat_result *r, size_t rows)
{
    *r = (struct stat_result){.row = calloc(rows, sizeof *r->row), .rows = rows, .wall_spread = -1, .runs = 1};
    for (size_t i = 0; r->row && i < rows; i++)
        r->row[i] = (struct stat_row){.cpu = -1, .unit = "", .scale = 1, .state = STAT_NOT_COUNTED, .spread = -1};
    return r->row != NULL;
}

bool stat_result_init(struct stat_result *r, const struct stat_list *l)
{
    if (!stat_result_alloc(r, l->events))
        return false;
    for (size_t i = 0; i < l->events; i++)
        r->row[i].event = l->event[i];
    return true;
}

void stat_result_free(struct stat_result *r)
{
    free(r->row);
    free(r->keep);
    *r = (struct stat_result){0};
}

bool stat_partly(const struct stat_row *row) { return row->state == STAT_COUNTED && row->running < row->enabled; }

bool stat_was_opened(const struct stat_row *row)
{
    return row->state == STAT_COUNTED || row->state == STAT_NOT_COUNTED;
}

void stat_put_name(struct assay_out *o, const struct stat_row *row)
{
    assay_out_bytes(o, row->event.text, row->event.size);
    if (!row->event.modifiers_size)
        return;
    assay_out_char(o, ':');
    assay_out_bytes(o, row->event.modifiers, row->event.modifiers_size);
}

const char *stat_state_name(enum stat_state state)
{
    static const char *const name[] = {"counted", "not counted", "not supported", "not modelled"};
    return name[state];
}

bool stat_is_exact(const struct stat_result *r, const struct stat_row *row)
{
    return row->state == STAT_COUNTED && r->runs == 1 && row->scale == 1 && !stat_partly(row);
}

unsigned stat_decimals(const struct stat_result *r, const struct stat_row *row)
{
    if (row->scale != 1)
        return 9;
    return r->runs == 1 ? 0 : 3;
}
