/* SPDX-License-Identifier: MIT */
/* assay stat: counts events while a program runs. */
#include "events.h"
#include "stat_print.h"

#include <string.h>
#include <unistd.h>

enum { MOST = 1000000000 }; /* milliseconds, or runs */

static const char default_events[] =
    "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";

static const char modelled_events[] =
    "cycles,instructions,branches,branch-misses,L1-dcache-loads,L1-dcache-load-misses";

static int read_events(struct cli *c, struct stat_list *l)
{
    int status = CLI_OK;
    for (int i = 0; i < c->givens && status == CLI_OK; i++)
        if (c->given[i].option->id == STAT_EVENT)
            status = stat_list_add(c, l, c->given[i].value);
    if (status != CLI_OK || l->events > 0)
        return status;
    l->defaults = true;
    return stat_list_add(c, l, cli_flag(c, STAT_VIRTUAL) ? modelled_events : default_events);
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

static int read_numbers(struct cli *c, struct stat_job *job)
{
    const struct {
        int id;
        const char *name;
        uint64_t *v, least;
    } number[] = {{STAT_INTERVAL, "interval", &job->interval_ms, 1},
                  {STAT_DELAY, "delay", &job->delay_ms, 0},
                  {STAT_TIMEOUT, "timeout", &job->timeout_ms, 1},
                  {STAT_REPEAT, "repeat", &job->repeat, 1}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        int status = cli_number(c, number[i].id, false, number[i].v);
        if (status != CLI_OK)
            return status;
        if (cli_value(c, number[i].id) && (*number[i].v < number[i].least || *number[i].v > MOST))
            return cli_fail(c, CLI_USAGE, "--%s %s: not a number from %u to %u", number[i].name,
                            cli_value(c, number[i].id), (unsigned)number[i].least, MOST);
    }
    if (job->repeat > 1 && (!job->argv || job->interval_ms))
        return cli_fail(c, CLI_USAGE, "--repeat is for a program, and without intervals");
    return CLI_OK;
}

static int read_job(struct cli *c, struct stat_job *job)
{
    *job = (struct stat_job){.argv = c->operands ? c->operand : NULL, .repeat = 1};
    c->operand[c->operands] = NULL; /* the operands stand in argv, which has one place more */
    if (cli_value(c, EVENTS_FILE) && cli_flag(c, STAT_VIRTUAL))
        return cli_fail(c, CLI_USAGE, "--events %s: the model has the events of Knights Mill and none of files",
                        cli_value(c, EVENTS_FILE));
    if (cli_value(c, STAT_MACHINE) && !cli_flag(c, STAT_VIRTUAL))
        return cli_fail(c, CLI_USAGE, "--machine %s: counting is on this machine without --virtual",
                        cli_value(c, STAT_MACHINE));
    int status = read_numbers(c, job);
    return status == CLI_OK ? read_events(c, &job->list) : status;
}

/* Of what was asked for by name, and of anything at all. */
static int losses(const struct stat_job *job, const struct stat_result *r)
{
    size_t counted = 0;
    for (size_t i = 0; i < r->rows; i++)
        counted += r->row[i].state == STAT_COUNTED;
    if (counted == 0)
        return CLI_CANNOT;
    return r->lost || (counted < r->rows && !job->list.defaults) ? CLI_LOSSES : CLI_OK;
}

static int count_once(struct cli *c, const struct stat_job *job, struct stat_result *r)
{
    return cli_flag(c, STAT_VIRTUAL) ? stat_virtual(c, job, r) : stat_live(c, job, r);
}

static int count(struct cli *c, const struct stat_job *job)
{
    struct stat_result r = {0};
    if (cli_flag(c, CLI_OPT_CSV))
        stat_csv_heading(c);
    int status = count_once(c, job, &r);
    for (uint64_t i = 1; i < job->repeat && status == CLI_OK && !r.interrupted; i++) {
        struct stat_result one = {0};
        status = count_once(c, job, &one);
        if (status == CLI_OK)
            stat_result_add(&r, &one);
        stat_result_free(&one);
    }
    if (status == CLI_OK) {
        stat_result_finish(&r);
        stat_show(c, job, &r);
        status = losses(job, &r);
    }
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
    EVENTS_OPTION_FILE,
    {STAT_PIDS, 'p', "pid", "LIST", "processes that run already, with all their threads"},
    {STAT_TIDS, 't', "tid", "LIST", "threads that run already"},
    {STAT_ALL_CPUS, 'a', "all-cpus", NULL, "all processors, whatever runs there"},
    {STAT_CPUS, 'C', "cpu", "LIST", "processors, such as 0-3,8"},
    {STAT_PER_CPU, 'A', "per-cpu", NULL, "with -a or -C: a row for each processor"},
    {STAT_NO_INHERIT, 'i', "no-inherit", NULL, "without the threads and processes that are started from now on"},
    {STAT_REPEAT, 'r', "repeat", "N", "run the program N times: mean and spread"},
    {STAT_INTERVAL, 'I', "interval", "MS", "what was counted every MS milliseconds, too"},
    {STAT_DELAY, 'D', "delay", "MS", "begin counting MS milliseconds after the start"},
    {STAT_TIMEOUT, 0, "timeout", "MS", "end after counting for MS milliseconds"},
    {STAT_VIRTUAL, 0, "virtual", NULL, "count on a machine model: works anywhere, and is no measurement"},
    {STAT_MACHINE, 0, "machine", "MODEL",
     "with --virtual: cache (default), flat (an instruction a cycle, no caches; counts fastest), or a model's file"},
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
                 "two at the same time, in user mode", "assay stat -a -I 1000 -e context-switches --timeout 5000",
                 "the whole machine, every second"},
    .about =
        "Counts events while PROGRAM runs, with everything that it starts, or while processes (-p), threads (-t) or "
        "processors (-a, -C) do. What runs already is counted until it ends, ^C, --timeout, or until PROGRAM ends.\n\n"
        "Events: Linux's generic names (cycles, page-faults, L1-dcache-load-misses), names of this processor "
        "(see assay list), pmu::name, rHEX for a raw code, subsystem:tracepoint, and pmu/term=value,.../ with what "
        "/sys/bus/event_source/devices describes. Modifiers follow a colon, or the last slash: u k h count in user "
        "mode, the kernel, a hypervisor only; I not when idle; G H in guests, in the host; D pinned to the PMU; e "
        "alone "
        "on it; W lets a group fall apart that does not fit. {a,b} is a group: its events count at exactly the same "
        "time.\n\n"
        "Every value stands with the time in which it was counted. Where more events than counters share the PMU, the "
        "value is extended to the whole time and the row says which share of it was counted; an event that never had "
        "its turn is `not counted`, one that the machine does not take is `not supported`, with the reason and a "
        "remedy. Neither is ever 0. Where the kernel's own part is not permitted, user mode alone is counted, and the "
        "event is shown with :u.\n\n"
        "--virtual counts on a machine model instead, under QEMU's user mode: works on any machine that has qemu-user, "
        "and is modelled, never measured; everything shown says so. Instructions, branches, loads and stores are those "
        "that the program executed, cycles and misses the model's (--machine). The generic names and those of Knights "
        "Mill are known, in user mode alone; what is not modelled says why, and what is nearest. Two runs count the "
        "same.\n\n"
        "The table goes to standard error, since standard output is the program's; to standard output without a "
        "program; to FILE with -o. The spread of several runs is the standard error of the mean in percent of the "
        "mean: sqrt(s2 / n) with s2 the sum of squared deviations divided by n - 1.\n\n"
        "The exit status tells of the counting, not of the program, whose own is in the result: 0 all was counted, 3 "
        "something that -e names was not, 4 nothing was or the program cannot be run. Without -e, what this machine "
        "cannot count is said at the end and is no failure. ^C ends the program and shows what was counted up to "
        "there.",
    .options = options,
    .program = true,
    .run = run,
};
