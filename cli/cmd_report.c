/* SPDX-License-Identifier: MIT */
/* assay report: where a recording's instructions and cycles went. */
#include "cli.h"
#include "report.h"
#include "trace.h"

#include <assay/recording.h>

enum { OPT_CALLS = 1, OPT_EDGES, OPT_TOP, OPT_MIN };

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
    struct report_part part = {.rec = r->rec};
    int status = trace_streams(c, r->rec, &part.first, &part.end);
    if (status != CLI_OK)
        return status;
    part.want =
        (cli_flag(c, OPT_CALLS) ? ASSAY_PROFILE_TREE : 0u) | (cli_flag(c, OPT_EDGES) ? ASSAY_PROFILE_EDGES : 0u);
    struct assay_profile *profile;
    if (assay_profile_new(assay_pt_recording_image(r->rec), part.want, &profile) != ASSAY_OK)
        return cli_fail(c, CLI_CANNOT, "out of memory");
    status = report_profile(c, &part, threads, profile, &r->ledger);
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
