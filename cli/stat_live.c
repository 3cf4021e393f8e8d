/* SPDX-License-Identifier: MIT */
/* Counting on this machine: from the list to the rows of the result. */
#include "events.h"
#include "stat_live.h"

#include <stdlib.h>
#include <string.h>

/* What a row of the result is of. */
struct place {
    size_t event;
    int target; /* or ASSAY_COUNT_ALL */
};

struct live {
    struct cli *c;
    const struct stat_job *job;
    struct stat_result *r;
    struct events events;
    struct assay_count_event *event; /* of the list, in its order; r keeps it */
    struct stat_target target;
    struct assay_count_program program; /* pid 0: none */
    struct assay_count *count;
    struct place *place;              /* of each row */
    struct stat_result tick;          /* of an interval */
    struct assay_count_value *before; /* of each row, at the end of the interval before */
    uint64_t start_ns;
};

/* ---- what is to be counted ---- */

static int resolve(struct live *l)
{
    const struct stat_list *list = &l->job->list;
    struct assay_error e = {0};
    int status = events_open(l->c, &l->events);
    if (status != CLI_OK)
        return status;
    l->event = calloc(list->events, sizeof *l->event);
    if (!l->event)
        return cli_fail(l->c, CLI_CANNOT, "out of memory");
    for (size_t i = 0; i < list->events; i++) {
        const struct assay_event_item *item = &list->event[i];
        if (assay_count_resolve(NULL, &l->events.table, item, &l->event[i], &e) < 0)
            return stat_list_fail(l->c, item, e.offset, e.code == ASSAY_E_UNSUPPORTED ? CLI_CANNOT : CLI_USAGE, e.text);
    }
    return CLI_OK;
}

static int prepare(struct live *l)
{
    struct assay_error e = {0};
    if (l->job->argv && assay_count_prepare(l->job->argv, &l->program, &e) < 0)
        return cli_fail_error(l->c, &e);
    return CLI_OK;
}

/* The program is counted unless it only says how long others are. */
static bool counts_program(const struct live *l) { return l->program.pid > 0 && !l->target.cpus && !l->target.tasks; }

static int open_counters(struct live *l)
{
    struct assay_error e = {0};
    struct assay_count_target t = {.task = l->target.task,
                                   .tasks = l->target.tasks,
                                   .cpu = l->target.cpu,
                                   .cpus = l->target.cpus,
                                   .inherit = !cli_flag(l->c, STAT_NO_INHERIT)};
    if (counts_program(l)) {
        t.task = &l->program.pid;
        t.tasks = 1;
        t.on_exec = !l->job->delay_ms;
    }
    return assay_count_open(NULL, l->event, l->job->list.events, &t, &l->count, &e) < 0 ? cli_fail_error(l->c, &e)
                                                                                        : CLI_OK;
}

/* ---- rows ---- */

static bool is_refused(const struct live *l, size_t event)
{
    struct assay_count_value none = {0};
    struct assay_count_why why;
    return assay_count_state(l->count, event, &none, &why) == ASSAY_COUNT_NOT_SUPPORTED;
}

static void describe(const struct live *l, size_t event, int target, struct stat_row *row)
{
    const struct assay_count_event *v = &l->event[event];
    row->event = l->job->list.event[event];
    row->cpu = target >= 0 ? l->target.cpu[target] : -1;
    row->unit = v->unit;
    row->scale = v->scale;
    if (*v->name) {
        row->event.text = v->name;
        row->event.size = strlen(v->name);
    }
    if (assay_count_user_only(l->count, event)) {
        row->event.modifiers = "u";
        row->event.modifiers_size = 1;
    }
    if (!assay_count_in_group(l->count, event))
        row->event.group = 0;
}

/* One row an event, or one for each processor that counts it. */
static size_t place_rows(struct live *l)
{
    size_t rows = 0, each = cli_flag(l->c, STAT_PER_CPU) ? l->target.cpus : 0;
    for (size_t i = 0; i < l->job->list.events; i++) {
        if (!each || is_refused(l, i))
            l->place[rows++] = (struct place){i, ASSAY_COUNT_ALL};
        for (size_t t = 0; t < each; t++)
            if (assay_count_has(l->count, i, t))
                l->place[rows++] = (struct place){i, (int)t};
    }
    return rows;
}

static int make_rows(struct live *l)
{
    size_t most = l->job->list.events * (l->target.cpus ? l->target.cpus : 1);
    l->place = calloc(most, sizeof *l->place);
    l->before = calloc(most, sizeof *l->before);
    size_t rows = l->place ? place_rows(l) : 0;
    if (!l->place || !l->before || !stat_result_alloc(l->r, rows) || !stat_result_alloc(&l->tick, rows))
        return cli_fail(l->c, CLI_CANNOT, "out of memory");
    l->r->keep = l->event;
    for (size_t i = 0; i < rows; i++) {
        describe(l, l->place[i].event, l->place[i].target, &l->r->row[i]);
        l->tick.row[i] = l->r->row[i];
    }
    return CLI_OK;
}

static void fill_row(const struct live *l, size_t event, const struct assay_count_value *v, struct stat_row *row)
{
    static const enum stat_state state[] = {STAT_COUNTED, STAT_NOT_COUNTED, STAT_NOT_SUPPORTED};
    struct assay_count_why why;
    row->state = state[assay_count_state(l->count, event, v, &why)];
    row->raw = v->value;
    row->enabled = v->enabled;
    row->running = v->running;
    row->value = assay_count_extended(v);
    memcpy(row->reason, why.reason, sizeof row->reason);
    memcpy(row->remedy, why.remedy, sizeof row->remedy);
}

/* Since the start, or with `before` since then. */
static void fill_rows(const struct live *l, struct stat_result *r, struct assay_count_value *before)
{
    for (size_t i = 0; i < r->rows; i++) {
        struct assay_count_value now, v;
        assay_count_get(l->count, l->place[i].event, l->place[i].target, &now);
        v = now;
        if (before) {
            v.value -= before[i].value;
            v.enabled -= before[i].enabled;
            v.running -= before[i].running;
            before[i] = now;
        }
        fill_row(l, l->place[i].event, &v, &r->row[i]);
    }
}

/* ---- the run ---- */

static int enable(void *ctx)
{
    struct live *l = ctx;
    struct assay_error e = {0};
    l->start_ns = stat_now();
    return assay_count_enable(l->count, &e) < 0 ? cli_fail_error(l->c, &e) : CLI_OK;
}

static int show_interval(struct live *l, uint64_t now)
{
    struct assay_error e = {0};
    if (assay_count_read(l->count, &e) < 0)
        return cli_fail_error(l->c, &e);
    l->tick.wall_ns = now - l->start_ns - l->tick.at_ns;
    l->tick.at_ns = now - l->start_ns;
    fill_rows(l, &l->tick, l->before);
    stat_show_interval(l->c, l->job, &l->tick);
    return CLI_OK;
}

static int interval(void *ctx) { return show_interval(ctx, stat_now()); }

/* Counting begins, or the program does and its counters with it. */
static int start(struct live *l)
{
    struct assay_error e = {0};
    int status = CLI_OK;
    if (!l->job->delay_ms && !counts_program(l))
        status = enable(l);
    l->start_ns = stat_now();
    if (status == CLI_OK && l->program.pid > 0 && assay_count_start(&l->program, l->job->argv, &e) < 0)
        status = cli_fail_error(l->c, &e);
    return status;
}

static int finish(struct live *l, const struct stat_wait *w)
{
    struct assay_error e = {0};
    if (assay_count_disable(l->count, &e) < 0 || assay_count_read(l->count, &e) < 0)
        return cli_fail_error(l->c, &e);
    fill_rows(l, l->r, NULL);
    l->r->wall_ns = w->end_ns - l->start_ns;
    l->r->ended = w->ended;
    l->r->status = w->status;
    l->r->interrupted = w->interrupted;
    l->r->user_ns = w->user_ns;
    l->r->system_ns = w->system_ns;
    if (w->left)
        cli_note(l->c, "%s would not end, and goes on (process %ld)", l->job->argv[0], (long)l->program.pid);
    return l->job->interval_ms ? show_interval(l, w->end_ns) : CLI_OK;
}

static int run(struct live *l)
{
    sigset_t before;
    struct stat_wait w = {.task = l->target.task,
                          .tasks = l->target.tasks,
                          .interval_ms = l->job->interval_ms,
                          .delay_ms = l->job->delay_ms,
                          .timeout_ms = l->job->timeout_ms,
                          .enable = enable,
                          .interval = interval,
                          .ctx = l};
    stat_wait_begin(&before);
    int status = start(l);
    w.program = l->program.pid;
    w.start_ns = l->start_ns;
    if (status == CLI_OK)
        status = stat_wait(&w);
    if (status == CLI_OK)
        status = finish(l, &w);
    stat_wait_end(&before, &w);
    return status;
}

static struct assay_count_why reason_of(const struct live *l, size_t event)
{
    struct assay_count_value none = {0};
    struct assay_count_why why;
    assay_count_state(l->count, event, &none, &why);
    return why;
}

/* "a, b: not supported: reason; remedy", for all events from `first` on that have one reason. */
static void say_refused(const struct live *l, size_t first)
{
    char names[400];
    struct assay_out o;
    struct assay_count_why why = reason_of(l, first);
    assay_out_init(&o, names, sizeof names - 1, NULL, NULL);
    for (size_t i = 0; i < l->job->list.events; i++) {
        struct assay_count_why other = reason_of(l, i);
        if (strcmp(why.reason, other.reason) != 0)
            continue;
        if (i < first)
            return;
        assay_out_str(&o, i == first ? "" : ", ");
        assay_out_bytes(&o, l->job->list.event[i].text, l->job->list.event[i].size);
    }
    names[o.len] = '\0';
    cli_note(l->c, "%s: not supported: %s%s%s", names, why.reason, *why.remedy ? "; remedy: " : "", why.remedy);
}

/* What is wrong before anything ran: all that was asked for is refused. */
static int need_one(const struct live *l)
{
    for (size_t i = 0; i < l->job->list.events; i++)
        if (!is_refused(l, i))
            return CLI_OK;
    for (size_t i = 0; i < l->job->list.events; i++)
        say_refused(l, i);
    return cli_fail(l->c, CLI_CANNOT, "nothing can be counted%s", l->job->argv ? ", so the program was not run" : "");
}

static void drop(struct live *l)
{
    assay_count_close(l->count);
    events_close(&l->events);
    stat_target_free(&l->target);
    stat_result_free(&l->tick);
    free(l->place);
    free(l->before);
    if (!l->r->keep)
        free(l->event);
}

int stat_live(struct cli *c, const struct stat_job *job, struct stat_result *r)
{
    struct live l = {.c = c, .job = job, .r = r};
    int status = resolve(&l);
    if (status == CLI_OK)
        status = stat_target_read(c, job, &l.target);
    if (status == CLI_OK)
        status = prepare(&l);
    if (status == CLI_OK && (status = open_counters(&l)) == CLI_OK && (status = need_one(&l)) == CLI_OK &&
        (status = make_rows(&l)) == CLI_OK)
        status = run(&l);
    else
        assay_count_drop(&l.program);
    drop(&l);
    return status;
}
