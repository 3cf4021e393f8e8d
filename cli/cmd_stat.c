/* SPDX-License-Identifier: MIT */
/* assay stat: counts events while a program runs. */
#include "stat_print.h"

#include <string.h>
#include <unistd.h>

static const char default_events[] =
    "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";

static int read_events(struct cli *c, struct stat_list *l)
{
    int status = CLI_OK;
    for (int i = 0; i < c->givens && status == CLI_OK; i++)
        if (c->given[i].option->id == STAT_EVENT)
            status = stat_list_add(c, l, c->given[i].value);
    if (status != CLI_OK || l->events > 0)
        return status;
    l->defaults = true;
    return stat_list_add(c, l, default_events);
}

/* Thousands are grouped for eyes only: a script that reads the table gets plain digits. */
static int read_big_num(struct cli *c, struct stat_job *job, int fd)
{
    const char *when = cli_value(c, STAT_BIG_NUM);
    if (when && strcmp(when, "auto") != 0 && strcmp(when, "always") != 0 && strcmp(when, "never") != 0)
        return cli_fail(c, CLI_USAGE, "--big-num %s: not one of auto, always, never", when);
    job->big_num = !when || strcmp(when, "auto") == 0 ? isatty(fd) : strcmp(when, "always") == 0;
    return CLI_OK;
}

static int read_job(struct cli *c, struct stat_job *job)
{
    *job = (struct stat_job){.argv = c->operands ? c->operand : NULL, .repeat = 1};
    c->operand[c->operands] = NULL; /* the operands stand in argv, which has one place more */
    return read_events(c, &job->list);
}

static int count(struct cli *c, const struct stat_job *job)
{
    struct stat_result r = {0};
    if (cli_flag(c, CLI_OPT_CSV))
        stat_csv_heading(c);
    int status = cli_flag(c, STAT_VIRTUAL) ? stat_virtual(c, job, &r) : stat_live(c, job, &r);
    if (status == CLI_OK)
        stat_show(c, job, &r);
    stat_result_free(&r);
    return status;
}

static int run(struct cli *c)
{
    struct stat_output o;
    struct stat_job job;
    int status = read_job(c, &job);
    if (status == CLI_OK && (status = stat_output_open(c, &o, job.argv != NULL)) == CLI_OK) {
        if ((status = read_big_num(c, &job, o.fd)) == CLI_OK)
            status = count(c, &job);
        int bad = stat_output_close(c, &o);
        status = bad ? bad : status;
    }
    stat_list_free(&job.list);
    return status;
}

static const struct cli_option options[] = {
    {STAT_EVENT, 'e', "event", "LIST", "events with commas; braces make a group that counts at the same time: {a,b}:u"},
    {STAT_VIRTUAL, 0, "virtual", NULL, "count on a machine model: works anywhere, and is no measurement"},
    {CLI_OPT_OUTPUT, 'o', "output", "FILE",
     "the result; - is standard output (default: standard error when a program runs)"},
    {STAT_BIG_NUM, 0, "big-num", "WHEN", "commas between thousands: auto (default: on a terminal), always or never"},
    CLI_OPTION_JSON,
    {CLI_OPT_CSV, 0, "csv", NULL, "comma separated values, with a heading"},
    CLI_OPTION_COLOR,
    CLI_OPT_END,
};

const struct cli_verb cmd_stat = {
    .name = "stat",
    .summary = "counts events while a program runs",
    .operands = "[-- PROGRAM [ARGS]]",
    .examples = {"assay stat -- ls -l", "the usual counters", "assay stat -e '{cycles,instructions}:u' -- ls -l",
                 "two at the same time, in user mode"},
    .about = "Counts events while PROGRAM runs.",
    .options = options,
    .program = true,
    .run = run,
};
