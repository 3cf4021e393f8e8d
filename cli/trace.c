/* SPDX-License-Identifier: MIT */
/* Opening a Processor Trace recording from the command line. */
#include "trace.h"

#include "base/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct images {
    struct assay_raw_image *image;
    size_t n, room;
    char **text; /* owned copies behind image[].path */
    size_t texts_room;
};

static void drop_images(struct images *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->text[i]);
    free(m->text);
    free(m->image);
}

static bool take_number(char **at, char end, uint64_t *v)
{
    char *stop;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *v = strtoull(*at, &stop, 0);
    if (errno || (*stop != end && *stop))
        return false;
    *at = *stop ? stop + 1 : stop;
    return true;
}

/* "FILE@ADDR[:OFF:LEN]" into *i, whose path is the front of text. */
static bool parse_image(char *text, struct assay_raw_image *i)
{
    char *at = strrchr(text, '@');
    if (!at || at == text)
        return false;
    *at++ = 0;
    *i = (struct assay_raw_image){.path = text};
    bool more = strchr(at, ':') != NULL;
    if (!take_number(&at, ':', &i->addr))
        return false;
    return !more || (take_number(&at, ':', &i->offset) && (!*at || (take_number(&at, 0, &i->size) && !*at)));
}

static int add_image(struct cli *c, struct images *m, const char *given, const char *where)
{
    char *text = strdup(given);
    if (!text || !table_grow(&m->image, &m->room, m->n + 1, sizeof *m->image) ||
        !table_grow(&m->text, &m->texts_room, m->n + 1, sizeof *m->text)) {
        free(text);
        return cli_fail(c, CLI_CANNOT, "out of memory");
    }
    m->text[m->n] = text;
    if (parse_image(text, &m->image[m->n++]))
        return CLI_OK;
    return cli_fail(c, CLI_USAGE, "%s %s: not FILE@ADDRESS or FILE@ADDRESS:OFFSET:LENGTH", where, given);
}

static int add_image_map(struct cli *c, struct images *m, const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return cli_fail(c, CLI_CANNOT, "%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    int status = CLI_OK;
    for (unsigned n = 1; status == CLI_OK && getline(&line, &room, f) >= 0; n++) {
        char where[64];
        line[strcspn(line, "\r\n")] = 0;
        snprintf(where, sizeof where, "line %u:", n);
        if (*line && *line != '#')
            status = add_image(c, m, line, where);
    }
    free(line);
    fclose(f);
    return status;
}

static int read_images(struct cli *c, struct images *m)
{
    int status = CLI_OK;
    for (int i = 0; i < c->givens && status == CLI_OK; i++) {
        if (c->given[i].option->id == TRACE_IMAGE)
            status = add_image(c, m, c->given[i].value, "--image");
        else if (c->given[i].option->id == TRACE_IMAGE_MAP)
            status = add_image_map(c, m, c->given[i].value);
    }
    return status;
}

/* Numbers separated by slashes. */
static int read_slashed(struct cli *c, int id, const char *shape, uint64_t *v, unsigned n)
{
    const char *given = cli_value(c, id);
    char text[64], *at = text;
    if (!given)
        return CLI_OK;
    snprintf(text, sizeof text, "%s", given);
    for (unsigned i = 0; i < n; i++)
        if (!take_number(&at, '/', &v[i]) || v[i] > UINT32_MAX || (i + 1 < n) != (*at != 0))
            return cli_fail(c, CLI_USAGE, "%s: not %s", given, shape);
    return CLI_OK;
}

static int read_raw_options(struct cli *c, struct assay_raw_options *o)
{
    uint64_t cpu[3] = {0}, ctc[2] = {0}, mode = 64, mtc = 0, ratio = 0;
    int status = read_slashed(c, TRACE_CPU, "FAMILY/MODEL/STEPPING", cpu, 3);
    if (status == CLI_OK)
        status = read_slashed(c, TRACE_TSC_CTC, "N/D", ctc, 2);
    if (status == CLI_OK && (status = cli_number(c, TRACE_MODE, false, &mode)) == CLI_OK &&
        (status = cli_number(c, TRACE_MTC_FREQ, false, &mtc)) == CLI_OK)
        status = cli_number(c, TRACE_RATIO, false, &ratio);
    if (status != CLI_OK)
        return status;
    if ((mode != 64 && mode != 32 && mode != 16) || mtc > 15 || ratio > 255)
        return cli_fail(c, CLI_USAGE, "--mode is 64, 32 or 16; --mtc-freq 0 to 15; --max-ratio 0 to 255");
    o->family = (unsigned)cpu[0];
    o->model = (unsigned)cpu[1];
    o->stepping = (unsigned)cpu[2];
    o->tsc_ctc_n = (uint32_t)ctc[0];
    o->tsc_ctc_d = (uint32_t)ctc[1];
    o->mode = (unsigned)mode;
    o->mtc_freq = (unsigned)mtc;
    o->max_ratio = (unsigned)ratio;
    return CLI_OK;
}

static int open_raw(struct cli *c, struct assay_pt_recording **rec)
{
    struct assay_raw_options o = {0};
    struct images m = {0};
    struct assay_error e = {0};
    int status = read_raw_options(c, &o);
    if (status == CLI_OK)
        status = read_images(c, &m);
    o.image = m.image;
    o.images = m.n;
    if (status == CLI_OK && assay_pt_recording_open_raw(c->operand[0], &o, rec, &e) < 0)
        status = cli_fail_error(c, &e);
    drop_images(&m);
    return status;
}

int trace_open_perf(const struct cli *c, const char *path, struct assay_pt_recording **rec)
{
    struct assay_error e = {0};
    if (assay_pt_recording_open(path, rec, &e) < 0)
        return cli_fail_error(c, &e);
    if (assay_pt_recording_info(*rec)->present || assay_pt_recording_streams(*rec))
        return CLI_OK;
    trace_faults(c, *rec);
    assay_pt_recording_close(*rec);
    return cli_fail(c, CLI_CANNOT, "%s: no Processor Trace in it; `perf report -i %s` shows its events", path, path);
}

int trace_open(struct cli *c, struct assay_pt_recording **rec)
{
    const char *as = cli_value(c, TRACE_AS);
    int status = cli_need_operands(c, 1);
    if (status != CLI_OK)
        return status;
    if (as && strcmp(as, "pt") != 0 && strcmp(as, "perf") != 0)
        return cli_fail(c, CLI_USAGE, "--as %s: not one of pt, perf", as);
    if (as && strcmp(as, "pt") == 0)
        return open_raw(c, rec);
    return trace_open_perf(c, c->operand[0], rec);
}

int trace_streams(struct cli *c, const struct assay_pt_recording *rec, size_t *first, size_t *end)
{
    uint64_t n = UINT64_MAX;
    *first = 0;
    *end = assay_pt_recording_streams(rec);
    int status = cli_number(c, TRACE_STREAM, false, &n);
    if (status != CLI_OK || n == UINT64_MAX)
        return status;
    if (n >= *end)
        return cli_fail(c, CLI_USAGE, "--stream %" PRIu64 ": there are %zu, from 0 on", n, *end);
    *first = (size_t)n;
    *end = (size_t)n + 1;
    return CLI_OK;
}

int trace_flow(struct cli *c, const struct assay_pt_recording *rec, size_t stream, assay_flow_batch_fn *on_batch,
               void *ctx, struct assay_ledger *ledger)
{
    struct assay_error e = {0};
    struct assay_ledger own = {0};
    int code = assay_pt_recording_flow(rec, assay_pt_recording_stream(rec, stream), on_batch, ctx, &own, &e);
    assay_ledger_add(ledger, &own);
    return code < 0 ? cli_fail_error(c, &e) : CLI_OK;
}

bool trace_faults(const struct cli *c, const struct assay_pt_recording *rec)
{
    const struct assay_diag *d;
    size_t n = 0;
    for (; (d = assay_pt_recording_fault(rec, n)); n++)
        cli_note(c, "damage in the file at offset 0x%" PRIx64 ": %s", d->offset, d->what);
    if (assay_pt_recording_faults(rec) > n)
        cli_note(c, "damage at %" PRIu64 " more places", assay_pt_recording_faults(rec) - n);
    uint64_t dropped = assay_pt_recording_dropped(rec);
    if (dropped)
        cli_note(c, "the kernel dropped %" PRIu64 " record%s while recording", dropped, dropped == 1 ? "" : "s");
    return n > 0 || dropped > 0;
}

const char *trace_branch_name(unsigned kind)
{
    static const char *const name[] = {"", "cond", "jump", "call", "jump-indirect", "call-indirect", "return", "far"};
    return kind < sizeof name / sizeof *name ? name[kind] : "";
}

void trace_note_gap(struct trace_gaps *g, const struct assay_flow_event *e)
{
    g->overflows += e->type == ASSAY_FLOW_OVERFLOW;
    if (e->type == ASSAY_FLOW_GAP && g->gaps++ == 0)
        g->first = *e;
}

static void tell_gaps(struct cli *c, const struct trace_gaps *g)
{
    const struct assay_flow_event *e = &g->first;
    if (g->overflows)
        cli_note(c, "%" PRIu64 " overflow%s: the processor lost packets", g->overflows, g->overflows == 1 ? "" : "s");
    if (!g->gaps)
        return;
    char where[32] = "";
    if (e->has_ip)
        snprintf(where, sizeof where, " (0x%" PRIx64 ")", e->ip);
    cli_note(c, "%" PRIu64 " gap%s in the flow, the first at offset 0x%" PRIx64 ": %s%s%s", g->gaps,
             g->gaps == 1 ? "" : "s", e->offset, e->what, where,
             e->code == ASSAY_E_NO_CODE ? "; the file that ran there is missing, or name it with --image" : "");
}

int trace_losses(struct cli *c, const struct assay_pt_recording *rec, const struct assay_ledger *ledger,
                 const struct trace_gaps *g)
{
    assay_out_flush(&c->out);
    bool faults = trace_faults(c, rec);
    const char *problem;
    for (size_t i = 0; (problem = assay_image_problem(assay_pt_recording_image(rec), i)); i++)
        cli_note(c, "%s", problem);
    tell_gaps(c, g);
    int status = cli_report_ledger(c, ledger);
    return status == CLI_OK && (g->gaps || g->overflows || faults) ? CLI_LOSSES : status;
}
