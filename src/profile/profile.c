/* SPDX-License-Identifier: MIT */
/* Counts a flow by run while it streams, and folds the counts into functions when a stream ends. */
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 1 << 19, EDGES = 1 << 19, RUNS = 1 << 20 };

int assay_profile_new(struct assay_image *image, unsigned want, struct assay_profile **out)
{
    struct assay_profile *p = calloc(1, sizeof *p);
    if (!p)
        return ASSAY_E_MEMORY;
    p->image = image;
    p->want = want;
    p->before = UINT32_MAX;
    p->window.last = p->tree.window.last = UINT32_MAX;
    p->tree.limit = NODES;
    p->edges.limit = EDGES;
    p->run_limit = RUNS;
    *out = p;
    return ASSAY_OK;
}

void assay_profile_limit(struct assay_profile *p, uint32_t nodes, uint32_t edges, uint32_t runs)
{
    p->tree.limit = nodes ? nodes : p->tree.limit;
    p->edges.limit = edges ? edges : p->edges.limit;
    p->run_limit = runs ? runs : p->run_limit;
}

/* Forgets the runs. */
static void clear_runs(struct assay_profile *p)
{
    free(p->index);
    free(p->run);
    free(p->part);
    p->index = NULL;
    p->run = NULL;
    p->part = NULL;
    p->index_room = p->runs = p->run_room = p->parts = p->part_room = 0;
    table_map_free(&p->cut_at);
    window_free(&p->window);
    p->before = UINT32_MAX;
}

void assay_profile_free(struct assay_profile *p)
{
    if (!p)
        return;
    clear_runs(p);
    tree_free(&p->tree);
    edges_free(&p->edges);
    free(p->function);
    table_map_free(&p->function_at);
    free(p);
}

static void add_counts(struct assay_profile_counts *to, const struct assay_profile_counts *from)
{
    to->insns += from->insns;
    to->timed += from->timed;
    to->cycles += from->cycles;
    to->calls += from->calls;
}

/* A run's counts go to the functions of its parts, by their share of its instructions. */
static void fold_run(struct assay_profile *p, const struct known_run *r, const struct assay_profile_counts *c)
{
    uint64_t times = c->insns / r->insns, timed = c->timed / r->insns;
    for (uint32_t i = 0; i < r->parts; i++) {
        const struct part *part = &p->part[r->first_part + i];
        struct assay_profile_counts *self = &p->function[part->function].self;
        self->insns += times * part->insns;
        self->timed += timed * part->insns;
        self->cycles += c->cycles * part->insns / r->insns;
        if (i == 0)
            self->calls += r->entries;
        else if (part->at_start && (part[-1].kind == ASSAY_INSN_CALL ||
                                    (part[-1].kind == ASSAY_INSN_JMP && part[-1].function != part->function)))
            self->calls += times;
    }
    add_counts(&p->totals.counts, c);
}

/* Folds what was counted by run into functions and edges, and forgets the runs. */
static int fold_runs(struct assay_profile *p)
{
    for (size_t n = 0; n < p->runs; n++)
        if (p->run[n].insns)
            fold_run(p, &p->run[n], &p->window.bin[n].counts);
    int status = p->want & ASSAY_PROFILE_EDGES ? edges_settle(p) : ASSAY_OK;
    clear_runs(p);
    return status;
}

/* Does a branch of `kind` out of `from` enter the function of `to`, which begins there? */
static bool enters(const struct assay_profile *p, const struct known_run *from, const struct known_run *to)
{
    if (from->kind == ASSAY_INSN_CALL_IND)
        return true;
    bool jumps = from->kind == ASSAY_INSN_JMP_IND || from->kind == ASSAY_INSN_COND;
    return jumps && p->part[from->first_part + from->parts - 1].function != p->part[to->first_part].function;
}

static int count_run(struct assay_profile *p, uint32_t n)
{
    struct known_run *r = &p->run[n];
    if (r->insns == 0)
        return ASSAY_OK;
    window_add(&p->window, n, r->insns);
    if (r->at_start && (p->before == UINT32_MAX || enters(p, &p->run[p->before], r)))
        r->entries++;
    if (p->want & ASSAY_PROFILE_EDGES && p->before != UINT32_MAX && edges_step(p, p->before, n) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    p->before = n;
    return p->want & ASSAY_PROFILE_TREE ? tree_run(p, r) : ASSAY_OK;
}

static void count_cycles(struct assay_profile *p, uint32_t cycles)
{
    p->totals.outside_cycles += window_close(&p->window, cycles);
    if (p->want & ASSAY_PROFILE_TREE)
        window_close(&p->tree.window, cycles);
}

static void begin_anew(struct assay_profile *p)
{
    p->before = UINT32_MAX;
    window_restart(&p->window);
    if (p->want & ASSAY_PROFILE_TREE) {
        window_restart(&p->tree.window);
        tree_enter(&p->tree);
    }
}

/* Texts of one kind are one constant, or equal. */
static void count_gap(struct assay_profile_totals *t, const struct assay_profile_gap *add)
{
    struct assay_profile_gap *g = t->gap;
    while (g < t->gap + ASSAY_PROFILE_GAPS - 1 && g->count && strcmp(g->what, add->what) != 0)
        g++;
    if (!g->count)
        *g = (struct assay_profile_gap){.what = add->what, .code = add->code, .offset = add->offset, .ip = add->ip};
    g->count += add->count;
    g->bytes += add->bytes;
    t->gaps += add->count;
}

static int count_event(struct assay_profile *p, const struct assay_flow *f, const struct assay_flow_event *e)
{
    struct assay_profile_totals *t = &p->totals;
    if (e->tsc) {
        if (!t->first_tsc || e->tsc < t->first_tsc)
            t->first_tsc = e->tsc;
        if (e->tsc > t->last_tsc)
            t->last_tsc = e->tsc;
    }
    switch (e->type) {
    case ASSAY_FLOW_PARTIAL: {
        uint32_t n = profile_learn_cut(p, f, e->run, e->insns);
        return n == UINT32_MAX ? ASSAY_E_MEMORY : count_run(p, n);
    }
    case ASSAY_FLOW_ENABLED:
        begin_anew(p);
        break;
    case ASSAY_FLOW_DISABLED:
    case ASSAY_FLOW_ASYNC:
        p->before = UINT32_MAX;
        break;
    case ASSAY_FLOW_OVERFLOW:
        t->overflows++;
        begin_anew(p);
        break;
    case ASSAY_FLOW_GAP:
        count_gap(t, &(struct assay_profile_gap){.what = e->what ? e->what : "data missing",
                                                 .code = e->code,
                                                 .count = 1,
                                                 .bytes = e->value,
                                                 .offset = e->offset,
                                                 .ip = e->ip});
        begin_anew(p);
        break;
    default:
        break;
    }
    return ASSAY_OK;
}

/* Runs that the flow has forgotten, or that are too many, make room. The interval of cycles in which that happens is shared among what
 * comes after it. */
static int make_room(struct assay_profile *p, const struct assay_flow *flow)
{
    bool renewed = p->generation != assay_flow_generation(flow);
    bool many = p->runs + p->parts + p->edges.steps >= p->run_limit;
    if (!renewed && !many)
        return ASSAY_OK;
    p->generation = assay_flow_generation(flow);
    return fold_runs(p);
}

int assay_profile_add(void *profile, struct assay_flow *flow, const struct assay_flow_batch *batch)
{
    struct assay_profile *p = profile;
    if (make_room(p, flow) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < batch->items_n; i++) {
        uint32_t item = batch->items[i];
        int status = ASSAY_OK;
        if (ASSAY_FLOW_IS_RUN(item)) {
            uint32_t n = item < p->index_room && p->index[item] ? p->index[item] - 1 : profile_learn_run(p, flow, item);
            status = n == UINT32_MAX ? ASSAY_E_MEMORY : count_run(p, n);
        } else if (ASSAY_FLOW_IS_CYCLES(item)) {
            count_cycles(p, ASSAY_FLOW_INDEX(item));
        } else {
            status = count_event(p, flow, &batch->events[ASSAY_FLOW_INDEX(item)]);
        }
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

static void tell_limits(struct assay_profile *p)
{
    p->totals.folded += p->tree.folded;
    p->totals.edges_left_out += p->edges.left_out;
    p->tree.folded = p->edges.left_out = 0;
}

int assay_profile_stream_end(struct assay_profile *p)
{
    int status = fold_runs(p);
    if (p->want & ASSAY_PROFILE_TREE) {
        window_restart(&p->tree.window);
        tree_begin(&p->tree);
    }
    p->generation = 0;
    tell_limits(p);
    return status;
}

/* The index here of each of from's functions; NULL: out of memory. */
static uint32_t *map_functions(struct assay_profile *to, const struct assay_profile *from)
{
    uint32_t *map = calloc(from->functions + 1, sizeof *map);
    for (size_t i = 0; map && i < from->functions; i++) {
        const struct assay_profile_function *f = &from->function[i];
        struct assay_flow_block b = {.dso = f->dso, .dso_addr = f->start};
        bool at_start;
        if (!f->name) /* an address that no symbol covers is found by the same key */
            b.dso_addr = UINT64_MAX;
        map[i] = profile_function_of(to, &b, &at_start);
        if (map[i] == UINT32_MAX) {
            free(map);
            return NULL;
        }
        add_counts(&to->function[map[i]].self, &f->self);
    }
    return map;
}

int assay_profile_merge(struct assay_profile *to, const struct assay_profile *from)
{
    uint32_t *map = map_functions(to, from);
    if (!map)
        return ASSAY_E_MEMORY;
    struct assay_profile_totals *t = &to->totals;
    const struct assay_profile_totals *add = &from->totals;
    add_counts(&t->counts, &add->counts);
    t->outside_cycles += add->outside_cycles;
    t->overflows += add->overflows;
    t->folded += add->folded;
    t->edges_left_out += add->edges_left_out;
    for (size_t i = 0; i < ASSAY_PROFILE_GAPS && add->gap[i].count; i++)
        count_gap(t, &add->gap[i]);
    if (add->first_tsc && (!t->first_tsc || add->first_tsc < t->first_tsc))
        t->first_tsc = add->first_tsc;
    if (add->last_tsc > t->last_tsc)
        t->last_tsc = add->last_tsc;
    int status = tree_merge(to, from, map);
    if (status == ASSAY_OK)
        status = edges_merge(to, from, map);
    tell_limits(to);
    free(map);
    return status;
}

int assay_profile_finish(struct assay_profile *p) { return tree_finish(&p->tree); }
const struct assay_profile_totals *assay_profile_totals(const struct assay_profile *p) { return &p->totals; }
size_t assay_profile_functions(const struct assay_profile *p) { return p->functions; }
size_t assay_profile_nodes(const struct assay_profile *p) { return p->tree.nodes; }
size_t assay_profile_edges(const struct assay_profile *p) { return p->edges.edges; }

const struct assay_profile_function *assay_profile_function(const struct assay_profile *p, size_t n)
{
    return n < p->functions ? &p->function[n] : NULL;
}

const struct assay_profile_node *assay_profile_node(const struct assay_profile *p, size_t n)
{
    return n < p->tree.nodes ? &p->tree.node[n] : NULL;
}

const struct assay_profile_edge *assay_profile_edge(const struct assay_profile *p, size_t n)
{
    return n < p->edges.edges ? &p->edges.edge[n] : NULL;
}
