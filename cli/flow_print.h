/* SPDX-License-Identifier: MIT */
/* assay flow: what was decoded, as lines of text or JSON objects. */
#ifndef ASSAY_CLI_FLOW_PRINT_H
#define ASSAY_CLI_FLOW_PRINT_H

#include "trace.h"

struct flow_print {
    struct cli *cli;
    const struct assay_pt_recording *rec;
    struct assay_image *image;
    bool insns, blocks, calls, events; /* what is shown */
    size_t stream;
    struct trace_gaps gaps;
    /* the text of each run of this stream, made when it is first shown */
    struct flow_text *text;
    size_t texts_room;
    char *pool;
    size_t pool_n, pool_room;
    bool failed; /* out of memory */
    /* calls */
    struct flow_frame *frame;
    size_t frames, frames_room;
    uint64_t insns_n, cycles, tsc;
    bool entered, returned; /* the next block begins a function, follows a return */
};

void flow_print_stream(struct flow_print *p, size_t stream); /* a new stream begins */
void flow_print_end(struct flow_print *p);
/* An assay_flow_batch_fn; ctx is the flow_print. */
int flow_print_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b);
void flow_print_drop(struct flow_print *p);

/* flow_calls.c */
void flow_calls_run(struct flow_print *p, struct assay_flow *f, uint32_t id, uint32_t insns);
void flow_calls_event(struct flow_print *p, const struct assay_flow_event *e);
void flow_calls_end(struct flow_print *p);

/* The function at a place of a block: name and offset in it; NULL when none covers it. */
const char *flow_symbol(struct flow_print *p, const struct assay_flow_block *b, uint64_t ip, uint64_t *offset);
const char *flow_event_name(unsigned type);

#endif
