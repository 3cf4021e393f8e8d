/* SPDX-License-Identifier: MIT */
/* assay record: runs a program on virtual Processor Trace. */
#include "cli.h"
#include "model.h"
#include "record_write.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { OPT_FORCE = 1, OPT_PT, OPT_TIMING, OPT_BUFFER, OPT_QUIET, OPT_TRUTH, OPT_TRUTH_BLOCKS };

static volatile sig_atomic_t child;

/* ^C goes to the program by itself, as to all of the terminal's foreground; what is sent to us alone is passed on. */
static void on_signal(int sig)
{
    int saved = errno;
    if (child > 0 && (sig == SIGTERM || sig == SIGHUP))
        kill((pid_t)child, sig);
    errno = saved;
}

static void catch_signals(void)
{
    static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(caught[i], &a, NULL);
}

static int read_options(struct cli *c, struct assay_record_options *o)
{
    struct assay_error e = {0};
    o->config = assay_record_pt_default();
    for (int i = 0; i < c->givens; i++)
        if (c->given[i].option->id == OPT_PT && assay_record_pt_parse(c->given[i].value, &o->config, &e) < 0)
            return cli_fail(c, CLI_USAGE, "--pt %s, column %" PRIu64 ": %s", c->given[i].value, e.offset + 1, e.text);
    int bad = cli_model(c, OPT_TIMING, &o->model);
    if (bad)
        return bad;
    o->truth = cli_value(c, OPT_TRUTH) != NULL;
    o->truth_blocks = o->truth && cli_flag(c, OPT_TRUTH_BLOCKS);
    return cli_number(c, OPT_BUFFER, true, &o->window);
}

/* The status that a shell would give. */
static int wait_for(struct cli *c, pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return cli_fail(c, CLI_BUG, "waitpid: %s", strerror(errno));
    child = 0;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    cli_note(c, "the program was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
}

static void tell_result(struct cli *c, const struct assay_record *r, const char *path)
{
    uint64_t bytes = 0, lost = 0;
    char doubts[160];
    size_t n = assay_record_streams(r);
    for (size_t i = 0; i < n; i++) {
        bytes += assay_record_stream(r, i)->size;
        lost += assay_record_stream(r, i)->lost;
    }
    for (size_t i = 0; i < assay_record_events(r); i++) {
        const struct assay_record_event *v = assay_record_event(r, i);
        if (v->kind == ASSAY_RECORD_EXEC)
            cli_note(c, "process %" PRIu32 " became %s, which ran on untraced", v->pid, v->exec);
    }
    if (assay_record_doubts(r, doubts, sizeof doubts))
        cli_note(c, "the trace may be inexact around signals (%s)", doubts);
    if (lost)
        cli_note(c, "%" PRIu64 " events were lost", lost);
    if (!cli_flag(c, OPT_QUIET))
        cli_note(c, "%.1f MB of virtual Processor Trace (timing is modelled: %s), %zu thread%s -> %s",
                 (double)bytes / 1e6, assay_record_model(r)->name, n, n == 1 ? "" : "s", path);
}

static int save(struct cli *c, struct assay_record *r, struct assay_perfwrite *w, const char *path)
{
    struct assay_error e = {0};
    const char *truth = cli_value(c, OPT_TRUTH);
    if (assay_record_collect(r, &e) < 0 || record_write_perf(r, c->operand, w, &e) < 0 ||
        assay_perfwrite_finish(w, &e) < 0 ||
        (truth && record_write_truth(r, truth, cli_flag(c, OPT_TRUTH_BLOCKS), &e) < 0))
        return cli_fail_error(c, &e);
    tell_result(c, r, path);
    return CLI_OK;
}

static int record(struct cli *c, const struct assay_record_options *o, struct assay_perfwrite *w, const char *path)
{
    struct assay_error e = {0};
    struct assay_record *r;
    catch_signals();
    if (assay_record_start(o, &r, &e) < 0)
        return cli_fail_error(c, &e);
    child = assay_record_pid(r);
    int status = wait_for(c, assay_record_pid(r));
    int bad = save(c, r, w, path);
    assay_record_free(r);
    return bad ? bad : status;
}

static int run(struct cli *c)
{
    struct assay_record_options o = {.argv = c->operand};
    struct assay_error e = {0};
    struct assay_perfwrite *w;
    const char *path = cli_value(c, CLI_OPT_OUTPUT);
    if (!path)
        path = "assay.data";
    if (c->operands == 0)
        return cli_fail(c, CLI_USAGE, "no program was given; example: assay record -- ls -l");
    c->operand[c->operands] = NULL; /* the operands stand in argv, which has one place more */
    int bad = read_options(c, &o);
    if (bad)
        return bad;
    if (assay_perfwrite_open(path, cli_flag(c, OPT_FORCE), &w, &e) < 0)
        return e.code == ASSAY_E_EXISTS ? cli_fail(c, CLI_CANNOT, "%s; -f replaces it, -o names another", e.text)
                                        : cli_fail_error(c, &e);
    int status = record(c, &o, w, path);
    assay_perfwrite_free(w);
    return status;
}

static const struct cli_option options[] = {
    {CLI_OPT_OUTPUT, 'o', "output", "FILE", "the recording, a perf.data (default: assay.data)"},
    {OPT_FORCE, 'f', "force", NULL, "replace FILE when it is there"},
    {OPT_PT, 0, "pt", "TERMS",
     "terms of Linux's intel_pt PMU: pt branch tsc mtc mtc_period=N cyc cyc_thresh=N psb_period=N noretcomp; term=0 "
     "turns one off (default: pt,branch,tsc,mtc,mtc_period=3,psb_period=3 as the kernel's, and cyc)"},
    {OPT_TIMING, 0, "timing", "MODEL",
     "what cycles code takes: cache (default), flat (one instruction a cycle; records fastest), or a model's file"},
    {OPT_BUFFER, 0, "buffer-size", "N", "bytes of the trace unit's output region (default: 4M)"},
    {OPT_QUIET, 'q', "quiet", NULL, "no summary at the end"},
    {OPT_TRUTH, 0, "truth", "FILE", "for tests: a digest of what was really executed, thread by thread"},
    {OPT_TRUTH_BLOCKS, 0, "truth-blocks", NULL, "for tests: with --truth, every block too"},
    CLI_OPT_END,
};

const struct cli_verb cmd_record = {
    .name = "record",
    .summary = "runs a program and records its control flow with cycles",
    .operands = "[OPTIONS] -- PROGRAM [ARGS]",
    .examples = {"assay record -- gzip -k big.tar", "records into assay.data; then: assay report assay.data",
                 "assay record -o t.data --timing flat --pt noretcomp -- python3 x.py",
                 "fastest timing, no compressed returns"},
    .about =
        "Runs PROGRAM on virtual Processor Trace: QEMU's user mode executes it, and a software model of Intel's trace "
        "unit "
        "writes the packets that hardware would write, for each of its threads and for the processes that it forks. "
        "Works on any Linux machine that has qemu-user; x86-64 and 32-bit x86 programs, and scripts.\n\n"
        "The control flow is what the program really did. Time is modelled, deterministic, and never a measurement; "
        "the file and every report say so. The same file is read by stock perf (perf script --itrace=b -i "
        "assay.data).\n\n"
        "The exit status is the program's own, 128 + N when signal N killed it; 2 and 4 are failures of assay, said on "
        "stderr. After execve a process runs on natively and untraced.",
    .options = options,
    .program = true,
    .run = run,
};
