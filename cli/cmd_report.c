/* SPDX-License-Identifier: MIT */
/* assay report: where a recording's instructions and cycles went. */
#include "cli.h"
#include "report.h"
#include "trace.h"

#include <assay/recording.h>
#include <assay/workers.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { OPT_CALLS = 1, OPT_EDGES, OPT_TOP, OPT_MIN };

struct work;

/* One job is one stream: its own profile and ledger, merged in the order of the streams. */
struct job {
    struct work *work;
    struct assay_profile *profile;
    struct assay_ledger ledger;
    struct assay_error error;
    _Atomic uint64_t done; /* bytes */
};

struct work {
    const struct assay_pt_recording *rec;
    struct job *job;
    size_t first, jobs; /* streams first .. first + jobs - 1 */
    unsigned want;
    pthread_mutex_t progress_lock;
    struct cli_progress progress;
};

static uint64_t bytes_done(struct work *w)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < w->jobs; i++)
        sum += w->job[i].done;
    return sum;
}

/* Counts a batch; whichever thread finds the line free says how far all are. */
static int add_batch(void *ctx, struct assay_flow *flow, const struct assay_flow_batch *batch)
{
    struct job *j = ctx;
    struct work *w = j->work;
    j->done = assay_flow_ledger(flow)->in;
    if (w->progress.on && pthread_mutex_trylock(&w->progress_lock) == 0) {
        cli_progress_at(&w->progress, bytes_done(w));
        pthread_mutex_unlock(&w->progress_lock);
    }
    return assay_profile_add(j->profile, flow, batch);
}

static int profile_stream(void *ctx, size_t n)
{
    struct work *w = ctx;
    struct job *j = &w->job[n];
    int status = assay_profile_new(assay_pt_recording_image(w->rec), w->want, &j->profile);
    if (status == ASSAY_OK)
        status = assay_pt_recording_flow(w->rec, assay_pt_recording_stream(w->rec, w->first + n), add_batch, j,
                                         &j->ledger, &j->error);
    if (status == ASSAY_OK)
        status = assay_profile_stream_end(j->profile);
    return status;
}

/* Fails with the message of the first stream that failed. */
static int fail_job(const struct cli *c, const struct work *w, int status)
{
    for (size_t i = 0; i < w->jobs; i++)
        if (w->job[i].error.code)
            return cli_fail_error(c, &w->job[i].error);
    return cli_fail(c, CLI_CANNOT, "%s", assay_status_name(status));
}

static int merge(struct work *w, struct assay_profile *into, struct assay_ledger *ledger)
{
    for (size_t i = 0; i < w->jobs; i++) {
        int status = assay_profile_merge(into, w->job[i].profile);
        if (status != ASSAY_OK)
            return status;
        assay_ledger_add(ledger, &w->job[i].ledger);
        assay_profile_free(w->job[i].profile);
        w->job[i].profile = NULL;
    }
    return assay_profile_finish(into);
}

static void begin_progress(struct work *w)
{
    uint64_t total = 0;
    for (size_t i = 0; i < w->jobs; i++) {
        w->job[i].work = w;
        total += assay_pt_recording_stream(w->rec, w->first + i)->size;
    }
    cli_progress_begin(&w->progress, "report", total);
}

static int profile_all(struct cli *c, struct work *w, unsigned threads, struct assay_profile *into,
                       struct assay_ledger *ledger)
{
    w->job = calloc(w->jobs + 1, sizeof *w->job);
    if (!w->job)
        return cli_fail(c, CLI_CANNOT, "out of memory");
    begin_progress(w);
    int status = assay_workers_run(threads, w->jobs, profile_stream, w);
    cli_progress_end(&w->progress);
    if (status == ASSAY_OK)
        status = merge(w, into, ledger);
    int code = status == ASSAY_OK ? CLI_OK : fail_job(c, w, status);
    for (size_t i = 0; i < w->jobs; i++)
        assay_profile_free(w->job[i].profile);
    free(w->job);
    return code;
}

static void print_report(struct cli *c, const struct report *r)
{
    if (c->json) {
        report_json(c, r);
    } else if (cli_flag(c, CLI_OPT_CSV)) {
        report_csv(c, r);
    } else {
        report_header(c, r);
        if (cli_flag(c, OPT_CALLS))
            report_tree(c, r);
        else if (cli_flag(c, OPT_EDGES))
            report_edges(c, r);
        else
            report_functions(c, r);
        report_footer(c, r);
    }
}

static int report_recording(struct cli *c, struct report *r, unsigned threads)
{
    struct work w = {.rec = r->rec, .progress_lock = PTHREAD_MUTEX_INITIALIZER};
    size_t end;
    int status = trace_streams(c, r->rec, &w.first, &end);
    if (status != CLI_OK)
        return status;
    w.jobs = end - w.first;
    w.want = (cli_flag(c, OPT_CALLS) ? ASSAY_PROFILE_TREE : 0u) | (cli_flag(c, OPT_EDGES) ? ASSAY_PROFILE_EDGES : 0u);
    struct assay_profile *profile;
    if (assay_profile_new(assay_pt_recording_image(r->rec), w.want, &profile) != ASSAY_OK)
        return cli_fail(c, CLI_CANNOT, "out of memory");
    status = profile_all(c, &w, threads, profile, &r->ledger);
    if (status == CLI_OK) {
        r->profile = profile;
        print_report(c, r);
        const struct assay_profile_totals *t = assay_profile_totals(profile);
        struct trace_gaps gaps = {.gaps = t->gaps, .overflows = t->overflows};
        gaps.first = (struct assay_flow_event){.code = t->gap[0].code,
                                               .offset = t->gap[0].offset,
                                               .ip = t->gap[0].ip,
                                               .has_ip = t->gap[0].ip != 0,
                                               .what = t->gap[0].what};
        status = trace_losses(c, r->rec, &r->ledger, &gaps);
    }
    assay_profile_free(profile);
    return status;
}

static int run(struct cli *c)
{
    uint64_t jobs = 0, top = 30, min = 5;
    if (cli_number(c, CLI_OPT_JOBS, false, &jobs) || cli_number(c, OPT_TOP, false, &top) ||
        cli_number(c, OPT_MIN, false, &min))
        return CLI_USAGE;
    struct assay_pt_recording *rec;
    int status = trace_open(c, &rec);
    if (status != CLI_OK)
        return status;
    struct report r = {.rec = rec, .top = top ? (size_t)top : SIZE_MAX, .min_permille = (unsigned)min};
    status = report_recording(c, &r, (unsigned)jobs);
    assay_pt_recording_close(rec);
    return status;
}

static const struct cli_option options[] = {
    {OPT_CALLS, 0, "calls", NULL, "the call tree: what each call path took, itself and with all it called"},
    {OPT_EDGES, 0, "edges", NULL, "branch edges: from where to where, how often"},
    {OPT_TOP, 'n', "top", "N", "at most N lines (30); 0 = all"},
    {OPT_MIN, 0, "min", "N", "leave out call paths below N thousandths of the whole (5)"},
    TRACE_OPTIONS,
    CLI_OPTION_JSON,
    {CLI_OPT_CSV, 0, "csv", NULL, "functions as comma-separated values"},
    CLI_OPTION_JOBS,
    CLI_OPTION_COLOR,
    CLI_OPT_END,
};

const struct cli_verb cmd_report = {
    .name = "report",
    .summary = "the answer: functions by cycles and instructions, IPC, calls",
    .operands = "FILE",
    .examples = {"assay report t.data", "functions by self cycles, with IPC", "assay report --calls t.data",
                 "the call tree"},
    .about =
        "Decodes every stream of a Processor Trace recording, and shows by function how many instructions retired "
        "there, "
        "how many core cycles they took, instructions per cycle, and how often the function was entered.\n\n"
        "Cycles come from CYC packets: those between two exact places of the trace are shared among the instructions "
        "that "
        "retired between them. Instructions outside such a pair count in the instructions column but not in IPC. A "
        "trace "
        "without CYC packets has instruction counts only, and cycles are n/a. Cycles that passed while tracing was off "
        "(kernel, other programs) are told apart and belong to no function.\n\n"
        "A recording of virtual hardware says so in the first line: its times are those of a model.\n\n"
        "A call is an entry at a function's first instruction by a call, or by a jump from another function. A "
        "function "
        "that no symbol names is shown by its range from .eh_frame, as [file+0xoffset].",
    .options = options,
    .run = run,
};
