/* SPDX-License-Identifier: MIT */
/* Counts for programs: JSON, one object a counter, and one for the whole. */
#include "stat_print.h"

#include <sys/wait.h>

static size_t name_of(const struct stat_row *row, char *buf, size_t size)
{
    struct assay_out o;
    assay_out_init(&o, buf, size, NULL, NULL);
    stat_put_name(&o, row);
    return o.len;
}

static void str_or_null(struct assay_json *j, const char *key, const char *v)
{
    assay_json_str(j, key, v && *v ? v : NULL);
}

static void u64_or_null(struct assay_json *j, const char *key, bool there, uint64_t v)
{
    if (there)
        assay_json_u64(j, key, v);
    else
        assay_json_null(j, key);
}

static void fixed_or_null(struct assay_json *j, const char *key, bool there, double v, unsigned decimals)
{
    if (there)
        assay_json_fixed(j, key, v, decimals);
    else
        assay_json_null(j, key);
}

static void seconds_or_null(struct assay_json *j, const char *key, bool there, uint64_t ns)
{
    fixed_or_null(j, key, there, (double)ns / 1e9, 9);
}

static void put_value(struct assay_json *j, const struct stat_result *r, const struct stat_row *row)
{
    if (stat_is_exact(r, row))
        assay_json_u64(j, "value", row->raw);
    else
        fixed_or_null(j, "value", row->state == STAT_COUNTED, row->value * row->scale, stat_decimals(r, row));
}

static void put_row(struct assay_json *j, const struct stat_result *r, const struct stat_row *row)
{
    char name[1024], note[80];
    assay_json_open(j, NULL);
    assay_json_str(j, "record", "counter");
    seconds_or_null(j, "at", r->at_ns > 0, r->at_ns);
    assay_json_strn(j, "event", name, name_of(row, name, sizeof name));
    u64_or_null(j, "group", row->event.group > 0, row->event.group);
    u64_or_null(j, "cpu", row->cpu >= 0, (uint64_t)row->cpu);
    assay_json_str(j, "state", stat_state_name(row->state));
    put_value(j, r, row);
    str_or_null(j, "unit", row->unit);
    u64_or_null(j, "raw", row->state == STAT_COUNTED, row->raw);
    u64_or_null(j, "enabled", stat_was_opened(row), row->enabled);
    u64_or_null(j, "running", stat_was_opened(row), row->running);
    fixed_or_null(j, "spread", row->spread >= 0, row->spread, 3);
    str_or_null(j, "note", stat_note(r, row, note, sizeof note));
    str_or_null(j, "reason", row->reason);
    str_or_null(j, "remedy", row->remedy);
    str_or_null(j, "model", r->model);
    str_or_null(j, "about", row->about);
    assay_json_close(j);
}

static void put_summary(struct assay_json *j, const struct stat_job *job, const struct stat_result *r)
{
    assay_json_open(j, NULL);
    assay_json_str(j, "record", "summary");
    if (job->argv) {
        assay_json_array(j, "program");
        for (char *const *a = job->argv; *a; a++)
            assay_json_str(j, NULL, *a);
        assay_json_array_end(j);
    } else {
        assay_json_null(j, "program");
    }
    u64_or_null(j, "exit", r->ended && WIFEXITED(r->status), (uint64_t)WEXITSTATUS(r->status));
    u64_or_null(j, "signal", r->ended && WIFSIGNALED(r->status), (uint64_t)WTERMSIG(r->status));
    assay_json_bool(j, "interrupted", r->interrupted);
    assay_json_u64(j, "runs", r->runs);
    seconds_or_null(j, "elapsed", r->wall_ns > 0, r->wall_ns);
    fixed_or_null(j, "spread", r->wall_spread >= 0, r->wall_spread, 3);
    seconds_or_null(j, "user", r->ended, r->user_ns);
    seconds_or_null(j, "system", r->ended, r->system_ns);
    str_or_null(j, "model", r->model);
    assay_json_close(j);
}

void stat_json(struct cli *c, const struct stat_job *job, const struct stat_result *r, bool whole)
{
    struct assay_json j;
    assay_json_init(&j, &c->out);
    for (size_t i = 0; i < r->rows; i++)
        put_row(&j, r, &r->row[i]);
    if (whole)
        put_summary(&j, job, r);
}
