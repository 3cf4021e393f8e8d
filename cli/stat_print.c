/* SPDX-License-Identifier: MIT */
/* Counts for people: a table, what was not counted with reason and remedy, and the times. */
#include "stat_print.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { CPU = 7, VALUE = 18, UNIT = 7, NAME_LEAST = 20, NAME_MOST = 60, NOTE = 22 };

/* ---- one row ---- */

static size_t name_width(const struct stat_row *row)
{
    return row->event.size + (row->event.modifiers_size ? 1 + row->event.modifiers_size : 0);
}

static size_t widest_name(const struct stat_result *r)
{
    size_t width = NAME_LEAST;
    for (size_t i = 0; i < r->rows; i++)
        if (name_width(&r->row[i]) > width)
            width = name_width(&r->row[i]);
    return width < NAME_MOST ? width : NAME_MOST;
}

static void put_number(struct cli *c, double v, unsigned decimals, bool grouping)
{
    char whole[40], grouped[60], *to = grouped;
    struct assay_out o;
    assay_out_init(&o, whole, sizeof whole - 1, NULL, NULL);
    assay_out_fixed(&o, v, decimals);
    whole[o.len] = '\0';
    size_t digits = strcspn(whole, ".");
    for (size_t i = 0; i < o.len; i++) {
        if (i && i < digits && (digits - i) % 3 == 0 && grouping)
            *to++ = ',';
        *to++ = whole[i];
    }
    *to = '\0';
    assay_out_right(&c->out, grouped, VALUE);
}

static void put_value(struct cli *c, const struct stat_job *job, const struct stat_result *r,
                      const struct stat_row *row)
{
    if (row->state == STAT_COUNTED) {
        unsigned decimals = row->scale != 1 ? 2 : r->runs > 1 && row->value < 100 ? 1 : 0;
        put_number(c, row->value * row->scale, decimals, job->big_num);
        return;
    }
    cli_sgr(c, "33");
    assay_out_right(&c->out, stat_state_name(row->state), VALUE);
    cli_sgr(c, "0");
}

static void put_percent(struct cli *c, const char *before, double v, const char *after)
{
    assay_out_str(&c->out, before);
    assay_out_fixed(&c->out, v, 2);
    assay_out_str(&c->out, after);
}

static void put_runs(struct cli *c, uint64_t runs)
{
    assay_out_str(&c->out, "  in ");
    assay_out_dec(&c->out, runs);
    assay_out_str(&c->out, " of the runs");
}

/* How far the value is to be trusted. */
static void put_trust(struct cli *c, const struct stat_result *r, const struct stat_row *row)
{
    if (row->spread >= 0)
        put_percent(c, "  +- ", row->spread, " %");
    if (r->runs > 1 && row->runs < r->runs && row->state == STAT_COUNTED)
        put_runs(c, row->runs);
    if (stat_partly(row))
        put_percent(c, "  extended, counted ", 100.0 * (double)row->running / (double)row->enabled, " % of the time");
}

static void put_cpu(struct cli *c, int cpu)
{
    char text[24];
    snprintf(text, sizeof text, "CPU%d", cpu);
    assay_out_left(&c->out, text, CPU);
}

static void put_row(struct cli *c, const struct stat_job *job, const struct stat_result *r, const struct stat_row *row,
                    size_t width)
{
    char note[80];
    size_t name = name_width(row), noted = strlen(stat_note(r, row, note, sizeof note));
    bool trust = row->spread >= 0 || stat_partly(row);
    if (row->cpu >= 0)
        put_cpu(c, row->cpu);
    put_value(c, job, r, row);
    assay_out_char(&c->out, ' ');
    assay_out_left(&c->out, row->state == STAT_COUNTED ? row->unit : "", UNIT);
    stat_put_name(&c->out, row);
    if (noted || trust)
        assay_out_fill(&c->out, ' ', 2 + (name < width ? width - name : 0));
    assay_out_str(&c->out, note);
    if (trust)
        assay_out_fill(&c->out, ' ', noted < NOTE ? NOTE - noted : 0);
    put_trust(c, r, row);
    assay_out_char(&c->out, '\n');
}

/* ---- what was not counted ---- */

static bool same_reason(const struct stat_row *a, const struct stat_row *b)
{
    return a->state == b->state && strcmp(a->reason, b->reason) == 0 && strcmp(a->remedy, b->remedy) == 0;
}

static bool said_before(const struct stat_result *r, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (r->row[i].state != STAT_COUNTED && same_reason(&r->row[i], &r->row[row]))
            return true;
    return false;
}

/* "not supported: cycles, instructions: reason", once for all of one reason. */
static void put_reason(struct cli *c, const struct stat_result *r, size_t first)
{
    const struct stat_row *row = &r->row[first];
    cli_sgr(c, "33");
    assay_out_str(&c->out, stat_state_name(row->state));
    cli_sgr(c, "0");
    for (size_t i = first; i < r->rows; i++) {
        bool repeated = i > first && r->row[i].cpu != row->cpu;
        if (repeated || !same_reason(&r->row[i], row))
            continue;
        assay_out_str(&c->out, i == first ? ": " : ", ");
        stat_put_name(&c->out, &r->row[i]);
    }
    if (*row->reason) {
        assay_out_str(&c->out, ": ");
        assay_out_clean(&c->out, row->reason);
    }
    assay_out_char(&c->out, '\n');
    if (*row->remedy) {
        assay_out_str(&c->out, "  remedy: ");
        assay_out_clean(&c->out, row->remedy);
        assay_out_char(&c->out, '\n');
    }
}

static void put_reasons(struct cli *c, const struct stat_result *r)
{
    bool any = false;
    for (size_t i = 0; i < r->rows; i++) {
        if (r->row[i].state == STAT_COUNTED || said_before(r, i))
            continue;
        if (!any)
            assay_out_char(&c->out, '\n');
        any = true;
        put_reason(c, r, i);
    }
}

/* ---- how the model counts ---- */

static bool same_about(const struct stat_row *a, const struct stat_row *b)
{
    return a->about && *a->about && b->about && strcmp(a->about, b->about) == 0;
}

static bool told_before(const struct stat_result *r, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (same_about(&r->row[i], &r->row[row]))
            return true;
    return false;
}

/* "cycles: cycles of the model", once for all that it is said of. */
static void put_abouts(struct cli *c, const struct stat_result *r)
{
    bool any = false;
    for (size_t first = 0; first < r->rows; first++) {
        if (!same_about(&r->row[first], &r->row[first]) || told_before(r, first))
            continue;
        assay_out_str(&c->out, any ? "" : "\nhow the model counts:\n");
        any = true;
        for (size_t i = first; i < r->rows; i++) {
            if (!same_about(&r->row[i], &r->row[first]))
                continue;
            assay_out_str(&c->out, i == first ? "  " : ", ");
            stat_put_name(&c->out, &r->row[i]);
        }
        assay_out_str(&c->out, ": ");
        assay_out_str(&c->out, r->row[first].about);
        assay_out_char(&c->out, '\n');
    }
}

/* ---- the whole ---- */

static void put_status(struct cli *c, const struct stat_result *r)
{
    if (r->ended && WIFEXITED(r->status)) {
        assay_out_str(&c->out, ": exit status ");
        assay_out_dec(&c->out, (uint64_t)WEXITSTATUS(r->status));
    } else if (r->ended && WIFSIGNALED(r->status)) {
        assay_out_str(&c->out, ": killed by signal ");
        assay_out_dec(&c->out, (uint64_t)WTERMSIG(r->status));
        assay_out_str(&c->out, " (");
        assay_out_str(&c->out, strsignal(WTERMSIG(r->status)));
        assay_out_char(&c->out, ')');
    }
    if (r->interrupted)
        assay_out_str(&c->out, ", interrupted");
    if (r->runs > 1) {
        assay_out_str(&c->out, ", mean of ");
        assay_out_dec(&c->out, r->runs);
        assay_out_str(&c->out, " runs");
    }
}

/* What was counted on, where it was not just the program. */
static void put_target(struct cli *c, const struct stat_job *job)
{
    static const struct {
        int id;
        const char *name;
    } target[] = {{STAT_CPUS, "processors "}, {STAT_PIDS, "processes "}, {STAT_TIDS, "threads "}};
    const char *between = job->argv ? ", on " : "";
    if (cli_flag(c, STAT_ALL_CPUS) && !cli_value(c, STAT_CPUS)) {
        assay_out_str(&c->out, between);
        assay_out_str(&c->out, "all processors");
    }
    for (size_t i = 0; i < sizeof target / sizeof *target; i++)
        if (cli_value(c, target[i].id)) {
            assay_out_str(&c->out, between);
            assay_out_str(&c->out, target[i].name);
            assay_out_clean(&c->out, cli_value(c, target[i].id));
        }
}

static void put_heading(struct cli *c, const struct stat_job *job, const struct stat_result *r)
{
    cli_sgr(c, "1");
    for (char *const *a = job->argv; a && *a; a++) {
        if (a != job->argv)
            assay_out_char(&c->out, ' ');
        assay_out_clean(&c->out, *a);
    }
    put_target(c, job);
    cli_sgr(c, "0");
    put_status(c, r);
    assay_out_char(&c->out, '\n');
    if (r->model) {
        cli_sgr(c, "33");
        assay_out_str(&c->out, "modelled, not measured: counters of the machine model ");
        assay_out_str(&c->out, r->model);
        assay_out_str(&c->out, ", user mode alone");
        cli_sgr(c, "0");
        assay_out_char(&c->out, '\n');
    }
    assay_out_char(&c->out, '\n');
}

static void put_seconds(struct cli *c, uint64_t ns, const char *what)
{
    assay_out_str(&c->out, "  ");
    assay_out_fixed(&c->out, (double)ns / 1e9, 6);
    assay_out_str(&c->out, " s ");
    assay_out_str(&c->out, what);
}

static void put_times(struct cli *c, const struct stat_result *r)
{
    assay_out_str(&c->out, "\n        ");
    put_seconds(c, r->wall_ns, "elapsed");
    if (r->wall_spread >= 0)
        put_percent(c, " +- ", r->wall_spread, " %");
    if (r->ended) {
        put_seconds(c, r->user_ns, "user");
        put_seconds(c, r->system_ns, "system");
    }
    assay_out_str(&c->out, r->model ? ", of the emulator\n" : "\n");
}

static void put_rows(struct cli *c, const struct stat_job *job, const struct stat_result *r)
{
    size_t width = widest_name(r);
    for (size_t i = 0; i < r->rows; i++)
        if (!job->list.defaults || r->row[i].state == STAT_COUNTED)
            put_row(c, job, r, &r->row[i], width);
}

static void put_interval(struct cli *c, const struct stat_job *job, const struct stat_result *r)
{
    assay_out_str(&c->out, "at ");
    assay_out_fixed(&c->out, (double)r->at_ns / 1e9, 6);
    assay_out_str(&c->out, " s\n");
    put_rows(c, job, r);
}

void stat_text(struct cli *c, const struct stat_job *job, const struct stat_result *r, bool whole)
{
    if (!whole) {
        put_interval(c, job, r);
        return;
    }
    put_heading(c, job, r);
    put_rows(c, job, r);
    put_times(c, r);
    put_reasons(c, r);
    put_abouts(c, r);
}

void stat_show_interval(struct cli *c, const struct stat_job *job, const struct stat_result *r)
{
    if (c->json)
        stat_json(c, job, r, false);
    else if (cli_flag(c, CLI_OPT_CSV))
        stat_csv(c, r);
    else
        stat_text(c, job, r, false);
    assay_out_flush(&c->out);
}

void stat_show(struct cli *c, const struct stat_job *job, const struct stat_result *r)
{
    if (c->json)
        stat_json(c, job, r, true);
    else if (cli_flag(c, CLI_OPT_CSV))
        stat_csv(c, r);
    else
        stat_text(c, job, r, true);
}
