/* SPDX-License-Identifier: MIT */
/* assay flow: what was executed. */
#include "flow_print.h"
#include "trace.h"

enum { OPT_INSN = 1, OPT_BLOCKS, OPT_CALLS, OPT_EVENTS, OPT_DIGEST };

/* ---- digest */

struct digest {
    struct assay_flow_digest sum;
    struct trace_gaps *gaps;
};

static int digest_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct digest *d = ctx;
    assay_flow_take_paths(f);
    assay_flow_digest_add(&d->sum, f, b);
    for (size_t i = 0; i < b->events_n; i++)
        trace_note_gap(d->gaps, &b->events[i]);
    return 0;
}

/* The digest of one sequence after another. */
static void join(struct assay_flow_digest *to, const struct assay_flow_digest *from)
{
    uint64_t power = 1, base = 31;
    for (uint64_t n = from->insns; n; n >>= 1, base *= base)
        if (n & 1)
            power *= base;
    to->chk = to->chk * power + from->chk;
    to->insns += from->insns;
}

static void put_id(struct assay_json *j, const char *key, uint32_t id)
{
    if (id != UINT32_MAX)
        assay_json_u64(j, key, id);
    else
        assay_json_null(j, key);
}

static void put_digest(struct cli *c, const struct assay_pt_stream *s, size_t stream, const struct assay_flow_digest *d)
{
    struct assay_json j;
    if (c->json) {
        assay_json_init(&j, &c->out);
        assay_json_open(&j, NULL);
        if (s)
            assay_json_u64(&j, "stream", stream);
        else
            assay_json_str(&j, "stream", "all");
        put_id(&j, "cpu", s ? s->cpu : UINT32_MAX);
        put_id(&j, "tid", s ? s->tid : UINT32_MAX);
        assay_json_u64(&j, "instructions", d->insns);
        assay_json_addr(&j, "chk", d->chk);
        assay_json_close(&j);
        return;
    }
    assay_out_left(&c->out, s ? "stream" : "all", 7);
    if (s)
        assay_out_dec_right(&c->out, stream, 4);
    else
        assay_out_fill(&c->out, ' ', 4);
    assay_out_str(&c->out, "  instructions ");
    assay_out_dec_right(&c->out, d->insns, 14);
    assay_out_str(&c->out, "  chk 0x");
    assay_out_hex0(&c->out, d->chk, 16);
    if (s && s->tid != UINT32_MAX && s->tid) {
        assay_out_str(&c->out, "  tid ");
        assay_out_dec(&c->out, s->tid);
    }
    if (s && s->cpu != UINT32_MAX) {
        assay_out_str(&c->out, "  cpu ");
        assay_out_dec(&c->out, s->cpu);
    }
    assay_out_char(&c->out, '\n');
}

static int run_digest(struct cli *c, const struct assay_pt_recording *rec, size_t first, size_t end)
{
    struct assay_ledger ledger = {0};
    struct assay_flow_digest all = {0};
    struct trace_gaps gaps = {0};
    int status = CLI_OK;
    for (size_t i = first; i < end && status == CLI_OK; i++) {
        struct digest d = {.gaps = &gaps};
        status = trace_flow(c, rec, i, digest_batch, &d, &ledger);
        put_digest(c, assay_pt_recording_stream(rec, i), i, &d.sum);
        join(&all, &d.sum);
    }
    put_digest(c, NULL, 0, &all);
    return status == CLI_OK ? trace_losses(c, rec, &ledger, &gaps) : status;
}

/* ---- listings */

static int run_print(struct cli *c, const struct assay_pt_recording *rec, size_t first, size_t end)
{
    struct assay_ledger ledger = {0};
    struct flow_print p = {.cli = c, .rec = rec, .image = assay_pt_recording_image(rec)};
    p.insns = cli_flag(c, OPT_INSN);
    p.blocks = cli_flag(c, OPT_BLOCKS);
    p.events = cli_flag(c, OPT_EVENTS);
    p.calls = cli_flag(c, OPT_CALLS) || (!p.insns && !p.blocks && !p.events);
    int status = CLI_OK;
    for (size_t i = first; i < end && status == CLI_OK; i++) {
        flow_print_stream(&p, i);
        status = trace_flow(c, rec, i, flow_print_batch, &p, &ledger);
        flow_print_end(&p);
    }
    flow_print_drop(&p);
    return status == CLI_OK ? trace_losses(c, rec, &ledger, &p.gaps) : status;
}

static int run(struct cli *c)
{
    struct assay_pt_recording *rec = NULL;
    size_t first, end;
    int status = trace_open(c, &rec);
    if (status != CLI_OK)
        return status;
    status = trace_streams(c, rec, &first, &end);
    if (status == CLI_OK)
        status = cli_flag(c, OPT_DIGEST) ? run_digest(c, rec, first, end) : run_print(c, rec, first, end);
    assay_pt_recording_close(rec);
    return status;
}

static const struct cli_option options[] = {
    {OPT_CALLS, 0, "calls", NULL, "functions as they are entered and left (the default)"},
    {OPT_INSN, 0, "insn", NULL, "every instruction: address, function and offset"},
    {OPT_BLOCKS, 0, "blocks", NULL, "blocks: addresses, instructions, the branch that ends it"},
    {OPT_EVENTS, 0, "events", NULL, "what is not code: enabling, interrupts, PTWRITE, power, time"},
    {OPT_DIGEST, 0, "digest", NULL, "number of instructions and a checksum of all their addresses in order"},
    TRACE_OPTIONS,
    CLI_OPTION_JSON,
    CLI_OPTION_COLOR,
    CLI_OPT_END,
};

const struct cli_verb cmd_flow = {
    .name = "flow",
    .summary = "what was executed: instructions, blocks, calls, events",
    .operands = "FILE",
    .examples = {"assay flow t.data | less", "calls and returns of a recording, indented",
                 "assay flow --insn --as pt raw.pt --image prog@0x400000", "instructions of a raw trace"},
    .about = "Reconstructs control flow from a Processor Trace and the code that ran, and prints it in order, stream "
             "after stream. The code comes from the files that the recording names, or from --image.\n\n"
             "--calls shows two columns before the function: instructions and cycles since it was entered, with all "
             "that it called; cycles are 0 in a trace without CYC packets. --digest prints for each stream and for all "
             "of them the number of instructions and chk, where chk = chk * 31 + address (mod 2^64) over every "
             "instruction in order: two decoders that agree on it agree on every instruction.\n\n"
             "Places where trace or code is missing are lines `gap`; they are also counted on standard error, and the "
             "exit status is then 3.",
    .options = options,
    .run = run,
};
