/* SPDX-License-Identifier: MIT */
/* Counting on the machine model. */
#include "model.h"
#include "stat_live.h"
#include "stat_model.h"

#include <assay/tally.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct modelled {
    struct cli *c;
    const struct stat_job *job;
    struct stat_result *r;
    struct assay_machine_model model;
    struct model_event *event; /* of the list, in its order */
    struct assay_tally *tally;
};

/* Options that only mean something where other things run too. */
static int check_options(struct cli *c, const struct stat_job *job)
{
    static const struct {
        int id;
        const char *name;
    } live[] = {{STAT_ALL_CPUS, "all-cpus"},
                {STAT_CPUS, "cpu"},
                {STAT_PIDS, "pid"},
                {STAT_TIDS, "tid"},
                {STAT_PER_CPU, "per-cpu"},
                {STAT_INTERVAL, "interval"},
                {STAT_NO_INHERIT, "no-inherit"},
                {STAT_DELAY, "delay"}};
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        if (cli_value(c, live[i].id))
            return cli_fail(c, CLI_USAGE, "--%s is not for --virtual, which counts one program as a whole",
                            live[i].name);
    if (!job->argv)
        return cli_fail(c, CLI_USAGE, "--virtual runs a program; example: assay stat --virtual -- ls -l");
    return CLI_OK;
}

static int read_events(struct modelled *v)
{
    const struct stat_list *list = &v->job->list;
    v->event = calloc(list->events, sizeof *v->event);
    if (!v->event || !stat_result_init(v->r, list))
        return cli_fail(v->c, CLI_CANNOT, "out of memory");
    int status = CLI_OK;
    for (size_t i = 0; i < list->events && status == CLI_OK; i++)
        status = model_event_read(v->c, &list->event[i], &v->model, &v->event[i]);
    return status;
}

static void describe_rows(struct modelled *v)
{
    for (size_t i = 0; i < v->r->rows; i++) {
        struct stat_row *row = &v->r->row[i];
        const struct model_event *e = &v->event[i];
        row->state = STAT_NOT_MODELLED;
        row->about = *e->reason ? "" : e->event.note;
        memcpy(row->reason, e->reason, sizeof row->reason);
        memcpy(row->remedy, e->remedy, sizeof row->remedy);
        if (e->user_only && !row->event.modifiers_size && !*e->reason) {
            row->event.modifiers = "u";
            row->event.modifiers_size = 1;
        }
    }
}

/* What all events need; 0: nothing is modelled. */
static uint64_t quantities(const struct modelled *v)
{
    uint64_t all = 0;
    for (size_t i = 0; i < v->r->rows; i++)
        all |= *v->event[i].reason ? 0 : v->event[i].event.quantities;
    return all;
}

static int need_one(const struct modelled *v)
{
    if (quantities(v))
        return CLI_OK;
    for (size_t i = 0; i < v->r->rows; i++) {
        const struct stat_row *row = &v->r->row[i];
        cli_note(v->c, "%.*s: not modelled: %s%s%s", (int)row->event.size, row->event.text, row->reason,
                 *row->remedy ? "; remedy: " : "", row->remedy);
    }
    return cli_fail(v->c, CLI_CANNOT, "nothing of this is modelled, so the program was not run");
}

/* Of a process that has ended, also of one that nobody waited for, there is no such link. */
static bool is_running(uint32_t pid)
{
    char link[32], path[2];
    snprintf(link, sizeof link, "/proc/%" PRIu32 "/exe", pid);
    return readlink(link, path, sizeof path) > 0;
}

/* What the program left behind in the background is counted up to here. */
static void tell_running(const struct modelled *v)
{
    uint32_t last = 0;
    for (size_t i = 0; i < assay_tally_threads(v->tally); i++) {
        const struct assay_tally_thread *t = assay_tally_thread(v->tally, i);
        if (!t->killed || t->pid == last || !is_running(t->pid))
            continue;
        last = t->pid;
        cli_note(v->c, "process %" PRIu32 " runs on, and is counted up to the end of %s", t->pid, v->job->argv[0]);
        v->r->lost = true;
    }
}

static void tell_losses(const struct modelled *v)
{
    char doubts[160];
    const char *path;
    uint32_t pid;
    for (size_t i = 0; (path = assay_tally_exec(v->tally, i, &pid)); i++) {
        cli_note(v->c, "process %" PRIu32 " became %s, which ran on uncounted", pid, path);
        v->r->lost = true;
    }
    tell_running(v);
    if (assay_tally_doubts(v->tally, doubts, sizeof doubts))
        cli_note(v->c, "counts may be inexact around signals (%s)", doubts);
}

static void fill_rows(struct modelled *v)
{
    for (size_t i = 0; i < v->r->rows; i++) {
        struct stat_row *row = &v->r->row[i];
        if (*row->reason)
            continue;
        row->state = STAT_COUNTED;
        row->raw = model_event_count(&v->event[i], assay_tally_total(v->tally));
        row->value = (double)row->raw;
        row->enabled = row->running = v->r->wall_ns;
    }
}

static int finish(struct modelled *v, const struct stat_wait *w)
{
    struct assay_error e = {0};
    if (assay_tally_collect(v->tally, &e) < 0)
        return cli_fail_error(v->c, &e);
    v->r->wall_ns = w->end_ns - w->start_ns;
    v->r->ended = w->ended;
    v->r->status = w->status;
    v->r->interrupted = w->interrupted;
    v->r->user_ns = w->user_ns;
    v->r->system_ns = w->system_ns;
    fill_rows(v);
    tell_losses(v);
    return CLI_OK;
}

/* There is no delay and no interval. */
static int never(void *ctx)
{
    (void)ctx;
    return CLI_OK;
}

static int run(struct modelled *v)
{
    sigset_t before;
    struct assay_error e = {0};
    struct assay_tally_options o = {
        .argv = v->job->argv, .model = v->model, .quantities = quantities(v), .mask = &before};
    struct stat_wait w = {.timeout_ms = v->job->timeout_ms, .enable = never, .interval = never};
    stat_wait_begin(&before);
    w.start_ns = stat_now();
    int status = assay_tally_start(&o, &v->tally, &e) < 0 ? cli_fail_error(v->c, &e) : CLI_OK;
    if (status == CLI_OK) {
        w.program = assay_tally_pid(v->tally);
        status = stat_wait(&w);
    }
    if (status == CLI_OK)
        status = finish(v, &w);
    stat_wait_end(&before, &w);
    return status;
}

int stat_virtual(struct cli *c, const struct stat_job *job, struct stat_result *r)
{
    struct modelled v = {.c = c, .job = job, .r = r};
    int status = check_options(c, job);
    if (status == CLI_OK)
        status = cli_model(c, STAT_MACHINE, &v.model);
    if (status == CLI_OK)
        status = read_events(&v);
    if (status == CLI_OK) {
        describe_rows(&v);
        status = need_one(&v);
    }
    if (status == CLI_OK) {
        r->model = r->keep = strdup(v.model.name);
        status = r->model ? run(&v) : cli_fail(c, CLI_CANNOT, "out of memory");
    }
    assay_tally_free(v.tally);
    free(v.event);
    return status;
}
