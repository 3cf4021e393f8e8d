/* SPDX-License-Identifier: MIT */
/* A Processor Trace recording named on the command line: perf.data, or a raw trace with images given by hand. */
#ifndef ASSAY_CLI_TRACE_H
#define ASSAY_CLI_TRACE_H

#include "cli.h"

#include <assay/recording.h>

enum {
    TRACE_AS = 900,
    TRACE_IMAGE,
    TRACE_IMAGE_MAP,
    TRACE_CPU,
    TRACE_MODE,
    TRACE_MTC_FREQ,
    TRACE_TSC_CTC,
    TRACE_RATIO,
    TRACE_STREAM
};

/* Rows for a verb's option table. */
#define TRACE_OPTIONS                                                                                                  \
    {TRACE_STREAM, 0, "stream", "N", "this stream only (as numbered by --digest)"},                                    \
        {TRACE_AS, 0, "as", "FORMAT", "pt: a raw trace, code given by --image; perf: perf.data; else recognised"},     \
        {TRACE_IMAGE, 0, "image", "FILE@ADDR[:OFF:LEN]",                                                               \
         "code of a raw trace: LEN bytes from OFF of FILE stand at ADDR"},                                             \
        {TRACE_IMAGE_MAP, 0, "image-map", "FILE", "the same, one a line; empty lines and # comments are passed over"}, \
        {TRACE_CPU, 0, "cpu", "F/M/S", "processor of a raw trace, for errata: family/model/stepping, 6/158/10"},       \
        {TRACE_MODE, 0, "mode", "BITS", "execution mode at the start of a raw trace: 64 (default), 32, 16"},           \
        {TRACE_MTC_FREQ, 0, "mtc-freq", "N", "of a raw trace: an MTC every 2^N crystal ticks"},                        \
        {TRACE_TSC_CTC, 0, "tsc-ctc", "N/D", "of a raw trace: TSC ticks per crystal tick"},                            \
    {                                                                                                                  \
        TRACE_RATIO, 0, "max-ratio", "N", "of a raw trace: the TSC runs at N bus clocks"                               \
    }

/* Opens a perf.data that must have Processor Trace. CLI_OK, or an exit status after a message. */
int trace_open_perf(const struct cli *c, const char *path, struct assay_pt_recording **rec);
/* Opens the verb's only operand. CLI_OK, or an exit status after a message. */
int trace_open(struct cli *c, struct assay_pt_recording **rec);
/* The streams that --stream selects: [*first, *end). */
int trace_streams(struct cli *c, const struct assay_pt_recording *rec, size_t *first, size_t *end);
/* Decodes one stream; adds to *ledger. A failure is told. */
int trace_flow(struct cli *c, const struct assay_pt_recording *rec, size_t stream, assay_flow_batch_fn *on_batch,
               void *ctx, struct assay_ledger *ledger);
/* "cond", "jump-indirect" ... for an enum assay_insn_kind; "" where no branch is. */
const char *trace_branch_name(unsigned kind);
struct trace_gaps { /* of a flow */
    uint64_t gaps, overflows;
    struct assay_flow_event first; /* gap */
};
void trace_note_gap(struct trace_gaps *g, const struct assay_flow_event *e);
/* Says where the file itself is cut or damaged; whether it is. */
bool trace_faults(const struct cli *c, const struct assay_pt_recording *rec);
/* What was lost on the way and what code was missing, on stderr: CLI_OK or CLI_LOSSES. */
int trace_losses(struct cli *c, const struct assay_pt_recording *rec, const struct assay_ledger *ledger,
                 const struct trace_gaps *g);

#endif
