/* SPDX-License-Identifier: MIT */
/* assay doctor: what this machine can observe, why not, and what to do. */
#include "cli.h"
#include "table.h"

#include <assay/probe.h>

enum { TITLE = 21, STATUS = 9 };

static const char *color_of(enum assay_probe_status status)
{
    return status == ASSAY_PROBE_YES ? "32" : status == ASSAY_PROBE_LIMITED ? "33" : "31";
}

/* "   remedy: text" below the line of the thing itself. */
static void put_more(struct cli *c, const char *label, const char *text)
{
    if (!*text)
        return;
    assay_out_fill(&c->out, ' ', TITLE);
    cli_sgr(c, "2");
    assay_out_left(&c->out, label, STATUS);
    cli_sgr(c, "0");
    table_wrapped(c, text, TITLE + STATUS);
    assay_out_char(&c->out, '\n');
}

static void put_text(struct cli *c, enum assay_probe_id id, const struct assay_probe_result *r)
{
    assay_out_left(&c->out, assay_probe_title(id), TITLE);
    cli_sgr(c, color_of(r->status));
    assay_out_left(&c->out, assay_probe_status_name(r->status), STATUS);
    cli_sgr(c, "0");
    table_wrapped(c, *r->found ? r->found : r->cause, TITLE + STATUS);
    assay_out_char(&c->out, '\n');
    if (*r->found)
        put_more(c, "but", r->cause);
    put_more(c, "remedy", r->remedy);
    put_more(c, "without", r->without);
}

static void put_json(struct assay_json *j, enum assay_probe_id id, const struct assay_probe_result *r)
{
    const struct {
        const char *key, *text;
    } line[] = {{"found", r->found}, {"cause", r->cause}, {"remedy", r->remedy}, {"without", r->without}};
    assay_json_open(j, NULL);
    assay_json_str(j, "id", assay_probe_id_name(id));
    assay_json_str(j, "title", assay_probe_title(id));
    assay_json_str(j, "status", assay_probe_status_name(r->status));
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        if (*line[i].text)
            assay_json_str(j, line[i].key, line[i].text);
        else
            assay_json_null(j, line[i].key);
    }
    assay_json_close(j);
}

static int run_doctor(struct cli *c)
{
    struct assay_json j;
    int bad = cli_need_operands(c, 0);
    if (bad)
        return bad;
    assay_json_init(&j, &c->out);
    for (int id = 0; id < ASSAY_PROBES; id++) {
        struct assay_probe_result r;
        assay_probe(NULL, (enum assay_probe_id)id, &r);
        if (c->json)
            put_json(&j, (enum assay_probe_id)id, &r);
        else
            put_text(c, (enum assay_probe_id)id, &r);
    }
    return CLI_OK;
}

static const struct cli_option options[] = {CLI_OPTION_JSON, CLI_OPTION_COLOR, CLI_OPT_END};

const struct cli_verb cmd_doctor = {
    .name = "doctor",
    .summary = "what this machine can observe, why not, and what to do",
    .operands = "",
    .examples = {"assay doctor", "each facility: there or not, the cause, the remedy",
                 "assay doctor --json | grep '\"no\"'", "what is missing, for a script"},
    .about =
        "For each thing that Assay can use: yes, limited or no; what was found; the cause in one line, the remedy in "
        "one line, and what works without it.\n\nNothing is changed. perf events are opened and closed at once, and "
        "qemu and perf are asked for their version.",
    .options = options,
    .run = run_doctor,
};
