/* SPDX-License-Identifier: MIT */
/* assay list: PMUs, their events, umasks and codes, of any machine on any machine. */
#include "cli.h"
#include "events_print.h"
#include "list.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_SEARCH = 1, OPT_TOP, OPT_NAMES };
enum { MOST_HITS = 10000 };

static bool is_pattern(const char *s) { return s[strcspn(s, "*?[")] != '\0'; }

/* An operand that names no event: said as encode would say it. */
static int fail_event(struct cli *c, const struct events *e, uint32_t pmu, const char *name)
{
    struct assay_event_code code;
    struct assay_event_error x;
    if (assay_event_encode(&e->table, name, strlen(name), 0, ASSAY_EVENT_USER, pmu, &code, &x) == ASSAY_OK)
        return cli_fail(c, CLI_USAGE, "%s is not an event of %s", name, events_pmu_name(e, pmu));
    return events_fail(c, e, name, &x);
}

/* Marks the events of an operand, which is a name (umasks and modifiers behind it are passed over) or a pattern. */
static int mark(struct cli *c, const struct events *e, uint32_t pmu, const char *operand, bool *shown)
{
    const struct assay_event_pmu *p = &e->table.pmus[pmu];
    bool any = false;
    uint32_t event = assay_event_find(&e->table, pmu, operand, strcspn(operand, ":"));
    if (event != ASSAY_EVENT_NONE) {
        shown[event - p->first_event] = true;
        return CLI_OK;
    }
    if (!is_pattern(operand))
        return fail_event(c, e, pmu, operand);
    for (uint32_t i = 0; i < p->events; i++)
        if (fnmatch(operand, events_event_name(e, p->first_event + i), FNM_CASEFOLD) == 0)
            any = shown[i] = true;
    return any ? CLI_OK : cli_fail(c, CLI_USAGE, "no event of %s is like %s", events_pmu_name(e, pmu), operand);
}

static void show(struct cli *c, const struct events *e, const struct list_rows *r, bool whole)
{
    if (cli_flag(c, OPT_NAMES)) {
        list_names(c, e, r);
    } else if (c->json) {
        list_json_events(c, e, r);
    } else if (cli_flag(c, CLI_OPT_CSV)) {
        list_csv_events(c, e, r);
    } else if (!whole) {
        list_events(c, e, r);
    } else {
        for (uint32_t i = 0; i < e->table.pmus[r->pmu].events; i++)
            if (r->shown[i])
                list_whole(c, e, r->pmu, e->table.pmus[r->pmu].first_event + i);
    }
}

/* Operands from `first` on are events of the PMU; none: all. */
static int list_some(struct cli *c, const struct events *e, uint32_t pmu, char **operand, int n)
{
    bool *shown = calloc(e->table.pmus[pmu].events + 1u, sizeof *shown), whole = n > 0;
    int status = shown ? CLI_OK : cli_fail(c, CLI_CANNOT, "out of memory");
    for (int i = 0; i < n && status == CLI_OK; i++) {
        status = mark(c, e, pmu, operand[i], shown);
        whole = whole && !is_pattern(operand[i]);
    }
    if (status == CLI_OK)
        show(c, e, &(struct list_rows){pmu, n > 0 ? shown : NULL}, whole);
    free(shown);
    return status;
}

static int search(struct cli *c, const struct events *e, uint32_t pmu)
{
    uint64_t top = 20;
    const char *query = cli_value(c, OPT_SEARCH);
    if (cli_number(c, OPT_TOP, false, &top))
        return CLI_USAGE;
    size_t room = top && top < MOST_HITS ? (size_t)top : MOST_HITS;
    struct list_hit *hit = calloc(room, sizeof *hit);
    if (!hit)
        return cli_fail(c, CLI_CANNOT, "out of memory");
    size_t n = list_search(e, pmu, query, hit, room);
    if (c->json)
        list_json_hits(c, e, hit, n);
    else
        list_hits(c, e, hit, n);
    free(hit);
    return n ? CLI_OK : cli_fail(c, CLI_CANNOT, "nothing is like \"%s\"; try fewer words, or `assay list PMU`", query);
}

/* "pmu::EVENT" as the first operand is PMU and event. */
static int split_first(struct cli *c, const struct events *e, uint32_t *pmu, char ***operand, int *n)
{
    char *colons = strstr(c->operand[0], "::");
    *operand = c->operand;
    *n = c->operands;
    if (colons)
        *colons = '\0';
    int status = events_find_pmu(c, e, c->operand[0], pmu);
    if (colons)
        c->operand[0] = colons + 2;
    *operand += colons ? 0 : 1;
    *n -= colons ? 0 : 1;
    return status;
}

/* The PMUs, or the names of all. */
static int list_all(struct cli *c, const struct events *e)
{
    if (cli_flag(c, OPT_NAMES))
        for (uint32_t i = 0; i < e->table.pmu_count; i++)
            list_names(c, e, &(struct list_rows){i, NULL});
    else if (c->json)
        list_json_pmus(c, e);
    else
        list_pmus(c, e);
    return CLI_OK;
}

static int list(struct cli *c, const struct events *e)
{
    int status = CLI_OK, n = c->operands;
    uint32_t pmu = e->pmu;
    char **operand = c->operand;
    if (pmu == ASSAY_EVENT_NONE && n > 0)
        status = split_first(c, e, &pmu, &operand, &n);
    if (status != CLI_OK)
        return status;
    if (cli_flag(c, OPT_SEARCH) && n > 0)
        return cli_fail(c, CLI_USAGE, "--search looks through all events; %s is too much", operand[0]);
    if (cli_flag(c, CLI_OPT_CSV) && !c->json && (cli_flag(c, OPT_SEARCH) || pmu == ASSAY_EVENT_NONE))
        return cli_fail(c, CLI_USAGE, "--csv is for the events of a PMU, as in `assay list knm --csv`; take --json");
    if (cli_flag(c, OPT_SEARCH))
        return search(c, e, pmu);
    if (pmu != ASSAY_EVENT_NONE)
        return list_some(c, e, pmu, operand, n);
    return list_all(c, e);
}

static int run(struct cli *c)
{
    struct events e;
    int status = events_open(c, &e);
    if (status == CLI_OK)
        status = list(c, &e);
    events_close(&e);
    return status;
}

static const struct cli_option options[] = {
    {OPT_SEARCH, 's', "search", "WORDS", "what is like these words, by name and description, best first"},
    {OPT_TOP, 'n', "top", "N", "at most N hits of a search (20); 0 = all"},
    {OPT_NAMES, 0, "names", NULL, "names only, one a line: PMU::EVENT and PMU::EVENT:UMASK"},
    EVENTS_OPTIONS,
    CLI_OPTION_JSON,
    {CLI_OPT_CSV, 0, "csv", NULL, "events and umasks as comma-separated values"},
    CLI_OPTION_COLOR,
    CLI_OPT_END,
};

const struct cli_verb cmd_list = {
    .name = "list",
    .summary = "PMUs, their events, umasks and codes, of any machine; search",
    .operands = "[PMU [EVENT | PATTERN]...]",
    .examples = {"assay list knm", "events and umasks of Knights Mill with codes and counters",
                 "assay list --search 'offcore near'", "what is like these words, best first",
                 "assay list knm OFFCORE_RESPONSE_0", "all that is to be said of one event"},
    .about =
        "Without operands: the PMUs for which there are tables, and which is this machine's. With a PMU: its events "
        "and "
        "their umasks. With names of events: each with its registers, modifiers and umasks; patterns (* and ?) choose "
        "lines of the table.\n\n"
        "Codes are perf's config: event select and umask where IA32_PERFEVTSELx has them, without privilege. Umasks of "
        "offcore events are bits of a second register and shown as its value. On NetBurst an event has a select, and "
        "its "
        "umasks are bits of the ESCR's event mask. Counters are numbered, f0 is fixed counter 0.\n\n"
        "Of a umask, \"default\" says that it is taken when none is named, \"single\" that no other of its group "
        "stands "
        "beside it, PEBS that it can be sampled precisely.",
    .options = options,
    .events = true,
    .run = run,
};
