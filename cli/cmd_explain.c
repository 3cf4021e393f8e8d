/* SPDX-License-Identifier: MIT */
/* assay explain: codes, registers and perf's numbers back to names. */
#include "cli.h"
#include "events_print.h"
#include "explain.h"

#include <string.h>

enum { OPT_PERF = 1 };

struct answers {
    struct cli *c;
    const struct events *e;
    unsigned n;
    bool apart; /* from what was shown before */
    bool all;   /* no PMU was named */
};

static bool take_answer(void *ctx, const struct assay_event_code *code)
{
    struct answers *a = ctx;
    if (a->apart && a->n == 0)
        assay_out_char(&a->c->out, '\n');
    explain_answer(a->c, a->e, code, ++a->n, a->all);
    return true;
}

static unsigned scheme_mask(const struct events *e, uint32_t pmu) { return 1u << e->table.pmus[pmu].scheme; }

/* The PMU that is meant, or every one that can have it. PMUs of the same rows (Knights Mill, Landing) are one answer for
 * people. */
static bool is_asked(const struct cli *c, const struct events *e, uint32_t meant, unsigned schemes, uint32_t pmu)
{
    const struct assay_event_pmu *p = e->table.pmus;
    if (meant != ASSAY_EVENT_NONE)
        return meant == pmu;
    for (uint32_t i = 0; i < pmu && !c->json; i++)
        if (p[i].first_event == p[pmu].first_event && p[i].events == p[pmu].events)
            return false;
    return scheme_mask(e, pmu) & schemes;
}

static bool is_offcore(uint64_t code) { return (code & 0xff) == 0xb7 || (code & 0xff) == 0xbb; }

/* Fields of codes where no register is named; false: nothing is shown. */
static bool show_codes(struct cli *c, const struct events *e, uint32_t pmu, const struct explain_codes *x)
{
    bool netburst = pmu != ASSAY_EVENT_NONE && e->table.pmus[pmu].scheme == ASSAY_EVENT_NETBURST;
    bool core =
        pmu == ASSAY_EVENT_NONE ? x->schemes & 1u << ASSAY_EVENT_CORE : scheme_mask(e, pmu) == 1u << ASSAY_EVENT_CORE;
    if (c->json || (!core && !netburst))
        return false;
    if (core) {
        events_put_value(c, "IA32_PERFEVTSELx", ASSAY_EVENT_REG_PERFEVTSEL, x->code[0]);
        if (x->n > 1)
            events_put_value(c, "second register",
                             is_offcore(x->code[0]) ? ASSAY_EVENT_REG_OFFCORE_RSP : ASSAY_EVENT_REG_WHOLE, x->code[1]);
    } else if (x->n == 1) {
        events_put_value(c, "perf's config", ASSAY_EVENT_REG_PERF_CONFIG_P4, x->code[0]);
    } else {
        events_put_value(c, "ESCR", ASSAY_EVENT_REG_ESCR, x->code[0]);
        events_put_value(c, "CCCR", ASSAY_EVENT_REG_CCCR, x->code[1]);
    }
    return true;
}

static int explain_codes(struct cli *c, const struct events *e, uint32_t pmu, const struct explain_codes *x)
{
    struct answers a = {c, e, 0, show_codes(c, e, pmu, x), pmu == ASSAY_EVENT_NONE};
    for (uint32_t i = 0; i < e->table.pmu_count; i++)
        if (is_asked(c, e, pmu, x->schemes, i))
            assay_event_explain(&e->table, i, x->code, x->n, take_answer, &a);
    if (a.n)
        return CLI_OK;
    if (pmu == ASSAY_EVENT_NONE)
        return cli_fail(c, CLI_CANNOT, "no event of any PMU has this code");
    return cli_fail(c, CLI_CANNOT, "no event of %s has this code; without the PMU all tables are asked",
                    events_pmu_name(e, pmu));
}

static int explain_msr(struct cli *c, const struct events *e, uint32_t pmu, const struct assay_event_msr *r,
                       uint64_t value)
{
    struct answers a = {c, e, 0, !c->json, pmu == ASSAY_EVENT_NONE};
    explain_register(c, r, value);
    for (uint32_t i = 0; i < e->table.pmu_count; i++)
        if (is_asked(c, e, pmu, r->schemes, i))
            assay_event_explain_register(&e->table, i, r, value, take_answer, &a);
    return CLI_OK;
}

/* The name next to a misspelt register's, or NULL. */
static const char *nearest_register(const char *name)
{
    enum { LAST = 0x2000 };
    const char *best = NULL;
    unsigned least = 4;
    for (uint32_t msr = 0; msr < LAST; msr++)
        for (int scheme = ASSAY_EVENT_CORE; scheme <= ASSAY_EVENT_NETBURST; scheme++) {
            const struct assay_event_msr *r = assay_event_register_at(msr, (enum assay_event_scheme)scheme);
            unsigned d = r ? assay_edit_distance(name, r->name) : least;
            best = d < least ? r->name : best;
            least = d < least ? d : least;
        }
    return best;
}

static int fail_operand(struct cli *c, const struct events *e, const char *operand)
{
    struct assay_event_code code;
    if (assay_event_encode(&e->table, operand, strlen(operand), 0, ASSAY_EVENT_USER, e->pmu, &code, NULL) == ASSAY_OK)
        return cli_fail(c, CLI_USAGE, "%s is a name; `assay encode %s` says its codes", operand, operand);
    const char *meant = nearest_register(operand);
    return cli_fail(c, CLI_USAGE, "%s: neither a number nor a register nor an event of perf%s%s%s", operand,
                    meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
}

static int read_codes(struct cli *c, const struct events *e, char **operand, int n, struct explain_codes *x)
{
    if (n > 4)
        return cli_fail(c, CLI_USAGE, "one code too many: %s", operand[4]);
    for (int i = 0; i < n; i++)
        if (!explain_number(operand[i], strlen(operand[i]), &x->code[i]))
            return fail_operand(c, e, operand[i]);
    x->n = (unsigned)n;
    x->schemes = 1u << ASSAY_EVENT_CORE | 1u << ASSAY_EVENT_NETBURST;
    return CLI_OK;
}

/* What is left when the PMU is known: codes, a register and its value, or an event as perf writes it. */
static int explain_operands(struct cli *c, const struct events *e, uint32_t pmu, bool named, char **operand, int n)
{
    struct explain_codes x = {0};
    int status;
    uint64_t value;
    if (n == 1 && explain_perf_string(c, operand[0], &x, &status))
        return status == CLI_OK ? explain_codes(c, e, pmu, &x) : status;
    const struct assay_event_msr *r = NULL;
    if (n == 2 && !named)
        r = assay_event_find_register(operand[0], strlen(operand[0]),
                                      pmu == ASSAY_EVENT_NONE ? 0 : scheme_mask(e, pmu));
    if (r && explain_number(operand[1], strlen(operand[1]), &value))
        return explain_msr(c, e, pmu, r, value);
    status = read_codes(c, e, operand, n, &x);
    return status == CLI_OK ? explain_codes(c, e, pmu, &x) : status;
}

static int explain(struct cli *c, const struct events *e)
{
    struct explain_codes x;
    int n = c->operands;
    uint32_t pmu = e->pmu;
    uint64_t number;
    char **operand = c->operand;
    bool named = n > 0 && pmu == ASSAY_EVENT_NONE && !explain_number(operand[0], strlen(operand[0]), &number) &&
                 (pmu = assay_event_find_pmu(&e->table, operand[0], strlen(operand[0]))) != ASSAY_EVENT_NONE;
    operand += named;
    n -= named;
    if (cli_flag(c, OPT_PERF) && n > 0)
        return cli_fail(c, CLI_USAGE, "--perf says it all; %s is too much", operand[0]);
    if (cli_flag(c, OPT_PERF)) {
        const char *text = cli_value(c, OPT_PERF);
        int status;
        if (!explain_perf_string(c, text, &x, &status))
            status = explain_perf_attr(c, text, &x);
        return status == CLI_OK ? explain_codes(c, e, pmu, &x) : status;
    }
    return n == 0 ? cli_need_operands(c, c->operands + 1) : explain_operands(c, e, pmu, named, operand, n);
}

static int run(struct cli *c)
{
    struct events e;
    int status = events_open(c, &e);
    if (status == CLI_OK)
        status = explain(c, &e);
    events_close(&e);
    return status;
}

static const struct cli_option options[] = {
    {OPT_PERF, 0, "perf", "EVENT", "an event of perf, or perf_event_attr: type=4,config=0x1b7,config1=0x1"},
    EVENTS_OPTIONS,
    CLI_OPTION_JSON,
    CLI_OPTION_COLOR,
    CLI_OPT_END,
};

const struct cli_verb cmd_explain = {
    .name = "explain",
    .summary = "codes, registers and perf's numbers back to names and fields",
    .operands = "[PMU] CODE... | REGISTER VALUE | PERF-EVENT",
    .examples = {"assay explain knm 0x5301b7 0x181800001", "the event that these codes mean",
                 "assay explain IA32_PERFEVTSEL0 0x5301b7", "a register's fields, and the events",
                 "assay explain 'cpu/event=0xb7,umask=0x1/'", "an event of perf"},
    .about =
        "Codes are values of registers as encode prints them: IA32_PERFEVTSELx and the second register, on NetBurst "
        "ESCR "
        "and CCCR (and MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT, which tell replay metrics apart), or perf's config "
        "and "
        "config1. All events that have the code are answers, the best first, each with the reason; without a PMU all "
        "tables are asked.\n\n"
        "A register is named (IA32_PERFEVTSEL0, MSR_PEBS_ENABLE) or numbered (0x186); --pmu tells processors apart "
        "whose "
        "registers have the same number. Two numbers of which the first is a register's are that register and its "
        "value; "
        "with a PMU before them they are codes.\n\n"
        "Numbers are decimal or hex with 0x, which may be left out where a letter shows it.",
    .options = options,
    .run = run,
};
