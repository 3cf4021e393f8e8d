/* SPDX-License-Identifier: MIT */
/* What the files of the profile share. */
#ifndef ASSAY_PROFILE_INTERNAL_H
#define ASSAY_PROFILE_INTERNAL_H

#include <assay/profile.h>

#include "base/table.h"
#include "profile/window.h"

struct part { /* a block of a run, seen as a part of a function */
    uint64_t ip, last_ip, end;
    uint32_t function;
    uint32_t insns;
    uint8_t kind;  /* enum assay_insn_kind of its end */
    bool at_start; /* begins at the function's first instruction */
};

struct known_run { /* a run of the present stream, or the executed beginning of one */
    uint32_t first_part, parts;
    uint32_t insns;
    uint8_t kind; /* of its end; OTHER for a cut one */
    bool at_start;
    uint64_t entries; /* times it was entered at the function's first instruction from another run */
};

struct frame {
    uint32_t node;
    uint64_t return_ip; /* 0: entered without a call */
};

struct tree { /* call paths: window bins run parallel to nodes */
    struct assay_profile_node *node;
    size_t nodes, room;
    uint32_t *last_child;   /* by node; 0: none */
    size_t last_room;
    size_t limit;           /* of nodes */
    uint64_t folded;        /* see assay_profile_totals */
    struct table_map child; /* parent << 32 | function -> node */
    struct window window;
    struct frame stack[4096];
    size_t depth;       /* frames on the stack; the top is stack[depth - 1] */
    size_t over;        /* calls beyond the stack's depth */
    uint8_t arrived_by; /* enum assay_insn_kind of the branch before */
    uint64_t return_ip; /* the address after it */
};

struct edges {
    struct assay_profile_edge *edge;
    size_t edges, room, limit;
    uint64_t left_out;     /* see assay_profile_totals */
    struct table_map at;   /* hash of an edge -> index */
    struct table_map step; /* run << 32 | run -> index into count, of the present stream */
    uint64_t *count;
    uint64_t *step_key;
    size_t steps, count_room, key_room;
};

struct assay_profile {
    struct assay_image *image;
    unsigned want;
    struct assay_profile_function *function;
    size_t functions, function_room;
    struct table_map function_at; /* dso << 32 | symbol id -> index */
    struct assay_profile_totals totals;
    size_t run_limit;
    /* the present stream */
    uint32_t generation; /* of the flow, whose ids index[] and cut_at hold */
    uint32_t *index; /* flow run id -> run + 1 */
    size_t index_room;
    struct table_map cut_at; /* flow run id << 32 | instructions -> run */
    struct known_run *run;
    size_t runs, run_room;
    struct part *part;
    size_t parts, part_room;
    struct window window; /* bins run parallel to runs */
    uint32_t before;      /* the run before, UINT32_MAX: tracing just began */
    struct tree tree;
    struct edges edges;
};

/* functions.c */
uint32_t profile_function_of(struct assay_profile *p, const struct assay_flow_block *b, bool *at_start);
/* runs.c: the run's number here; UINT32_MAX when memory is out. */
uint32_t profile_learn_run(struct assay_profile *p, const struct assay_flow *f, uint32_t id);
uint32_t profile_learn_cut(struct assay_profile *p, const struct assay_flow *f, uint32_t id, uint32_t insns);
/* tree.c */
int tree_run(struct assay_profile *p, const struct known_run *r);
void tree_enter(struct tree *t); /* tracing begins anew: the next block may be anywhere */
void tree_begin(struct tree *t); /* another stream: an empty stack */
int tree_merge(struct assay_profile *to, const struct assay_profile *from, const uint32_t *function);
void tree_free(struct tree *t);
int tree_finish(struct tree *t);
/* edges.c */
int edges_step(struct assay_profile *p, uint32_t from, uint32_t to);
/* Steps so far become edges. */
int edges_settle(struct assay_profile *p);
int edges_merge(struct assay_profile *to, const struct assay_profile *from, const uint32_t *function);
void edges_free(struct edges *e);

#endif
