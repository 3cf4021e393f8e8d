/* SPDX-License-Identifier: MIT */
/* Where instructions, cycles and calls went: by function, by call path, by branch edge. */
#ifndef ASSAY_PROFILE_H
#define ASSAY_PROFILE_H

#include <assay/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

enum assay_profile_want {
    ASSAY_PROFILE_TREE = 1 << 0,  /* call paths */
    ASSAY_PROFILE_EDGES = 1 << 1, /* branch edges */
};

/* What was counted somewhere. Cycles are core cycles between exact places of the trace (CYC packets), shared among the
 * instructions that retired between them; `timed` are the instructions of such closed intervals, so that
 * IPC = timed / cycles compares like with like. Both are 0 in a trace without CYC packets. */
struct assay_profile_counts {
    uint64_t insns, timed;
    double cycles;
    uint64_t
        calls; /* entries at the first instruction: by a call, or by a jump from another function (tail calls, PLT) */
};

struct assay_profile_function {
    const char *name; /* owned by the image; NULL: no symbol covers it */
    uint32_t dso;     /* UINT32_MAX: none */
    uint64_t start, size;
    struct assay_profile_counts self;
};

struct assay_profile_node { /* of the call tree; node 0 is the root, which stands for no function */
    uint32_t parent, function, first_child,
        next_sibling; /* 0 where there is none; children in the order of first call */
    struct assay_profile_counts self;
    struct assay_profile_counts total; /* with all below; filled by assay_profile_finish() */
};

struct assay_profile_edge {
    uint64_t from, to; /* run-time addresses: the branch, where it went */
    uint32_t from_function, to_function;
    uint8_t kind; /* enum assay_insn_kind */
    bool taken;   /* false: the fall-through of a conditional branch */
    uint64_t count;
};

struct assay_profile_gap { /* gaps of one kind */
    const char *what;      /* constant text of the flow decoder */
    int code;              /* enum assay_status */
    uint64_t count, bytes;
    uint64_t offset, ip; /* of the first one; ip 0: none */
};
enum { ASSAY_PROFILE_GAPS = 16 }; /* more kinds than that are counted with the last */

/* Totals over all streams. */
struct assay_profile_totals {
    struct assay_profile_counts counts;
    double outside_cycles;                            /* while tracing was off: kernel, other programs */
    uint64_t gaps, overflows;                         /* losses inside the flow */
    struct assay_profile_gap gap[ASSAY_PROFILE_GAPS]; /* in the order of first sight; count 0 ends */
    uint64_t first_tsc, last_tsc;
    uint64_t folded; /* entries into call paths that were counted with the path they came from: the tree was full */
    uint64_t edges_left_out; /* branches along edges that were not kept: there were too many */
};

/* One profile; it holds a reference to the image only by the caller's promise to keep it. One thread, see below. */
struct assay_profile;
int assay_profile_new(struct assay_image *image, unsigned want, struct assay_profile **out);
void assay_profile_free(struct assay_profile *p);
/* At most so many call paths, edges, and runs that are counted before they are folded into functions; 0 = as it is. Without a call
 * half a million, half a million and a million, together at most some 300 MB. */
void assay_profile_limit(struct assay_profile *p, uint32_t nodes, uint32_t edges, uint32_t runs);
/* An assay_flow_batch_fn: ctx is the profile. One profile takes one stream at a time: call assay_profile_stream_end() between
 * two. Returns ASSAY_OK or ASSAY_E_MEMORY. */
int assay_profile_add(void *profile, struct assay_flow *flow, const struct assay_flow_batch *batch);
int assay_profile_stream_end(struct assay_profile *p);
/* Adds what `from` counted; both of the same image. Profiles made in several threads, merged in the order of the streams, give the
 * same result as one profile fed with all. */
int assay_profile_merge(struct assay_profile *to, const struct assay_profile *from);
/* Sums the tree, sorts nothing. */
int assay_profile_finish(struct assay_profile *p);

const struct assay_profile_totals *assay_profile_totals(const struct assay_profile *p);
size_t assay_profile_functions(const struct assay_profile *p);
const struct assay_profile_function *assay_profile_function(const struct assay_profile *p, size_t n);
size_t assay_profile_nodes(const struct assay_profile *p);
const struct assay_profile_node *assay_profile_node(const struct assay_profile *p, size_t n);
size_t assay_profile_edges(const struct assay_profile *p);
const struct assay_profile_edge *assay_profile_edge(const struct assay_profile *p, size_t n);

#ifdef __cplusplus
}
#endif
#endif
