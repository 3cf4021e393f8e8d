/* SPDX-License-Identifier: MIT */
/* assay encode: names of events to register values, perf attributes and strings for perf. */
#include "cli.h"
#include "encode.h"
#include "events_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_COMPAT = 1, OPT_REGISTERS, OPT_LATENCY, OPT_WRITES, OPT_PEBS, OPT_PMI, OPT_PLM, OPT_PRINT, OPT_STDIN };

static int read_plm(struct cli *c, unsigned *plm)
{
    const char *given = cli_value(c, OPT_PLM);
    *plm = given ? 0 : ASSAY_EVENT_USER | ASSAY_EVENT_KERNEL;
    for (const char *p = given; p && *p; p++) {
        if (*p != 'u' && *p != 'k')
            return cli_fail(c, CLI_USAGE, "--plm %s: not u, k or uk", given);
        *plm |= *p == 'u' ? ASSAY_EVENT_USER : ASSAY_EVENT_KERNEL;
    }
    return *plm ? CLI_OK : cli_fail(c, CLI_USAGE, "--plm: not u, k or uk");
}

static int read_print(struct cli *c, enum encode_print *print)
{
    static const char *const name[] = {"all", "codes", "config", "perf", "name"};
    const char *given = cli_value(c, OPT_PRINT);
    *print = ENCODE_ALL;
    for (unsigned i = 0; given && i < sizeof name / sizeof *name; i++)
        if (strcmp(given, name[i]) == 0) {
            *print = (enum encode_print)i;
            return CLI_OK;
        }
    return given ? cli_fail(c, CLI_USAGE, "--print %s: not one of all, codes, config, perf, name", given) : CLI_OK;
}

static int read_options(struct cli *c, struct encode *x)
{
    const char *compat = cli_value(c, OPT_COMPAT);
    int status = read_plm(c, &x->plm);
    if (status == CLI_OK)
        status = read_print(c, &x->print);
    if (status == CLI_OK && compat && strcmp(compat, "libpfm4") != 0)
        status = cli_fail(c, CLI_USAGE, "--compat %s: only libpfm4 is known", compat);
    if (status != CLI_OK)
        return status;
    x->compat = compat != NULL;
    x->write_flags =
        (cli_flag(c, OPT_PEBS) ? ASSAY_EVENT_WRITE_PEBS : 0u) | (cli_flag(c, OPT_PMI) ? ASSAY_EVENT_WRITE_PMI : 0u);
    x->writes = cli_flag(c, OPT_WRITES) || x->write_flags;
    x->mode = compat ? ASSAY_EVENT_LIBPFM4 : ASSAY_EVENT_PERF | ASSAY_EVENT_PERF_EXT;
    if (cli_flag(c, OPT_REGISTERS))
        x->mode = (x->mode & ASSAY_EVENT_LIBPFM4) | ASSAY_EVENT_REGISTERS;
    return CLI_OK;
}

static int fail_event(struct cli *c, const struct encode *x, const char *text, const struct assay_event_error *e)
{
    if (!c->json)
        return events_fail(c, &x->events, text, e);
    encode_json_event(c, x, text, NULL, e);
    return CLI_USAGE;
}

static int fail_group(struct cli *c, const struct encode *x, const struct encode_group *g)
{
    char line[512];
    struct assay_out o;
    assay_out_init(&o, line, sizeof line - 1, NULL, NULL);
    assay_event_group_error_print(&x->events.table, g->code, &g->error, &o);
    line[o.len] = '\0';
    assay_out_flush(&c->out);
    return c->json ? CLI_USAGE : cli_fail(c, CLI_USAGE, "not all at once: %s", line);
}

static void print_lines(struct cli *c, const struct encode *x, const struct encode_group *g)
{
    bool braces = x->print == ENCODE_PERF && g->n > 1;
    assay_out_str(&c->out, braces ? "{" : "");
    for (unsigned i = 0; i < g->n; i++) {
        encode_line(&c->out, x, &g->code[i]);
        assay_out_str(&c->out, !braces ? "\n" : i + 1 < g->n ? "," : "}\n");
    }
}

/* Records that were asked for can be impossible. */
static int check_records(struct cli *c, const struct encode *x, const struct encode_group *g)
{
    enum { PEBS_ENABLE = 0x3f1 };
    struct assay_event_write w[ENCODE_WRITES];
    if (!(x->write_flags & ASSAY_EVENT_WRITE_PEBS))
        return CLI_OK;
    int n = assay_event_writes(&x->events.table, g->code, g->slot, g->n, x->write_flags, w, ENCODE_WRITES);
    if (n < 0)
        return cli_fail(c, CLI_USAGE,
                        "--pebs: none on the counters that these get; name the event that samples: precise=1");
    for (int i = 0; i < n; i++)
        if (w[i].msr == PEBS_ENABLE)
            return CLI_OK;
    return cli_fail(c, CLI_USAGE, "--pebs: PEBS cannot sample any of these; `assay list PMU` shows what it can");
}

static int show(struct cli *c, const struct encode *x, struct encode_group *g)
{
    unsigned mode = x->mode & ASSAY_EVENT_LIBPFM4;
    int bad = assay_event_assign(&x->events.table, g->code, g->n, mode, g->slot, &g->error);
    if (c->json) {
        encode_json(c, x, g);
    } else if (cli_flag(c, CLI_OPT_CSV)) {
        encode_csv_head(c);
        for (unsigned i = 0; i < g->n; i++)
            encode_csv_event(c, x, g->text[i], &g->code[i], NULL);
    } else if (x->print != ENCODE_ALL) {
        print_lines(c, x, g);
    } else if (x->compat) {
        for (unsigned i = 0; i < g->n; i++)
            encode_compat(c, x, g->text[i], &g->code[i]);
        return CLI_OK;
    } else {
        encode_text(c, x, g);
    }
    return bad ? fail_group(c, x, g) : check_records(c, x, g);
}

static int run_latency(struct cli *c, const struct encode *x, struct encode_group *g)
{
    const char *requests = cli_value(c, OPT_LATENCY);
    struct assay_event_error e;
    if (c->operands)
        return cli_fail(c, CLI_USAGE, "--latency names the requests itself; %s is too much", c->operand[0]);
    if (assay_event_latency(&x->events.table, requests, strlen(requests), x->mode, x->plm, x->events.pmu, g->code,
                            &e) != ASSAY_OK)
        return fail_event(c, x, requests, &e);
    g->n = 2;
    g->latency = true;
    return show(c, x, g);
}

static int run_operands(struct cli *c, const struct encode *x, struct encode_group *g)
{
    struct assay_event_error e;
    if (c->operands == 0)
        return cli_need_operands(c, 1);
    if (c->operands > ASSAY_EVENT_MAX_COUNTERS)
        return cli_fail(c, CLI_USAGE, "%d events; a group holds %d, --stdin takes any number, each by itself",
                        c->operands, ASSAY_EVENT_MAX_COUNTERS);
    for (g->n = 0; g->n < (unsigned)c->operands; g->n++) {
        const char *text = c->operand[g->n];
        if (assay_event_encode(&x->events.table, text, strlen(text), x->mode, x->plm, x->events.pmu, &g->code[g->n],
                               &e) != ASSAY_OK)
            return fail_event(c, x, text, &e);
    }
    return show(c, x, g);
}

static int encode(struct cli *c, const struct encode *x)
{
    int status;
    const char *none[2] = {NULL, NULL};
    struct encode_group g = {
        .text = c->operands ? (const char *const *)c->operand : none,
        .code = calloc(ASSAY_EVENT_MAX_COUNTERS, sizeof *g.code),
        .slot = calloc(ASSAY_EVENT_MAX_COUNTERS, sizeof *g.slot),
    };
    if (!g.code || !g.slot)
        status = cli_fail(c, CLI_CANNOT, "out of memory");
    else
        status = cli_flag(c, OPT_LATENCY) ? run_latency(c, x, &g) : run_operands(c, x, &g);
    free(g.code);
    free(g.slot);
    return status;
}

static int run(struct cli *c)
{
    struct encode x = {0};
    int status = events_open(c, &x.events);
    if (status == CLI_OK)
        status = read_options(c, &x);
    if (status == CLI_OK && (cli_flag(c, OPT_STDIN) || (c->operands == 1 && strcmp(c->operand[0], "-") == 0)))
        status = encode_stream(c, &x);
    else if (status == CLI_OK)
        status = encode(c, &x);
    events_close(&x.events);
    return status;
}

static const struct cli_option options[] = {
    {OPT_PRINT, 0, "print", "WHAT", "one line: codes, config, perf (for perf -e) or name; all (default) is a table"},
    {OPT_WRITES, 0, "writes", NULL, "the register writes, in order, that make it count"},
    {OPT_PEBS, 0, "pebs", NULL, "the writes that make PEBS records besides"},
    {OPT_PMI, 0, "pmi", NULL, "the writes with an interrupt on overflow (core: always)"},
    {OPT_LATENCY, 0, "latency", "REQUESTS", "the pair of offcore events whose quotient is the average latency"},
    {OPT_PLM, 0, "plm", "uk", "privilege of names that say none: u, k or uk (default)"},
    {OPT_REGISTERS, 0, "registers", NULL, "for code that writes registers itself: what only Linux refuses is accepted"},
    {OPT_COMPAT, 0, "compat", "libpfm4", "names, defaults and output of the reference library"},
    {OPT_STDIN, 0, "stdin", NULL, "a string a line from standard input, an answer a line; `-` is the same"},
    EVENTS_OPTIONS,
    CLI_OPTION_JSON,
    {CLI_OPT_CSV, 0, "csv", NULL, "comma-separated values"},
    CLI_OPTION_COLOR,
    CLI_OPT_END,
};

const struct cli_verb cmd_encode = {
    .name = "encode",
    .summary = "names of events to register values, perf attributes, perf -e strings",
    .operands = "EVENT... | -",
    .examples = {"assay encode knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u", "registers, counters, perf's numbers",
                 "perf stat -e $(assay encode --print perf knm::LLC_MISSES) true", "a name for a perf that lacks it"},
    .about =
        "EVENT is [PMU::]NAME[:UMASK]...[:MODIFIER[=VALUE]]...; a dot serves as well as a colon, and letters may be of "
        "either case. A umask in hex (:0x4f) is raw. Modifiers: u (user) k (kernel) e (edges) i (invert) c=N (counter "
        "mask) t (any thread); on NetBurst u k e cmpl thr=N; for Linux also precise=N, period=N, freq=N, excl, pinned, "
        "mg, "
        "mh.\n\n"
        "What the hardware or Linux would refuse, or what would count nothing, is an error that shows the place in the "
        "string and names the nearest correct name. --registers leaves out the rules that only Linux has; --compat "
        "libpfm4 has those of the reference library.\n\n"
        "Several events are a group: each gets a counter, so that all count at once, or it is said which of them "
        "cannot "
        "be together and why. NetBurst events come with everything that has to be written besides, in order.\n\n"
        "With --stdin every line is an event by itself and gives one line: the codes, a tab, the canonical name (or "
        "what "
        "--print, --csv or --json say); a wrong one gives `error`, a tab, and what is wrong, and the exit status is 2 "
        "in the "
        "end.",
    .options = options,
    .events = true,
    .run = run,
};
