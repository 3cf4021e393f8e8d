/* SPDX-License-Identifier: MIT */
/* What code costs on the modelled machine: instruction issue, caches, branch prediction. */
#include <assay/image.h>
#include <assay/machine.h>

#include <stdlib.h>

enum { RETURN_STACK = 64 };

/* Tags of a set stand in order of use, the latest first; tag 0 is an empty way. A level that is not there has one set
 * of one way, which nothing is ever put in. */
struct cache {
    uint64_t *tag;
    uint64_t set_mask;
    unsigned ways, line_shift, latency;
    bool there;
};

struct target {
    uint64_t ip, to;
};

struct assay_machine_core {
    bool flat;
    unsigned issue_width, slots; /* slots: issue slots used of the cycle that has begun */
    uint64_t issue_inverse;      /* just over 2^32 / issue_width */
    uint64_t fetched;            /* line number + 1 of the last instruction fetch */
    uint64_t nothing;            /* the set of the levels that are not there */
    struct cache l1i, level[ASSAY_MACHINE_LEVELS];
    unsigned memory_latency, penalty, syscall_cycles;
    uint8_t *counter; /* 2 bits each; NULL: every direction is predicted right */
    uint64_t counter_mask, history, history_mask;
    struct target *btb; /* NULL: every target is predicted right */
    uint64_t btb_mask;
    unsigned return_size, return_top, return_depth;
    uint64_t returns[RETURN_STACK];
    uint64_t *tally; /* own_tally, or what assay_machine_core_tally() gave */
    uint64_t own_tally[ASSAY_MACHINE_QUANTITIES];
};

static unsigned log2_of(uint32_t v)
{
    unsigned n = 0;
    while (v >>= 1)
        n++;
    return n;
}

static bool cache_new(struct cache *c, const struct assay_machine_cache *m)
{
    c->ways = m->ways;
    c->line_shift = log2_of(m->line);
    c->latency = m->latency;
    uint32_t sets = m->bytes / (m->ways * m->line);
    if (!sets)
        return true;
    c->there = true;
    c->set_mask = sets - 1;
    c->tag = calloc((size_t)sets * m->ways, sizeof *c->tag);
    return c->tag;
}

static void cache_free(struct cache *c)
{
    if (c->there)
        free(c->tag);
}

static bool predictor_new(struct assay_machine_core *c, const struct assay_machine_model *m)
{
    if (m->predictor_bits) {
        c->counter_mask = (UINT64_C(1) << m->predictor_bits) - 1;
        c->history_mask = (UINT64_C(1) << m->predictor_history) - 1;
        c->counter = calloc((size_t)c->counter_mask + 1, 1);
        if (!c->counter)
            return false;
    }
    if (m->btb_bits) {
        c->btb_mask = (UINT64_C(1) << m->btb_bits) - 1;
        c->btb = calloc((size_t)c->btb_mask + 1, sizeof *c->btb);
        if (!c->btb)
            return false;
    }
    c->return_size = m->return_stack < RETURN_STACK ? m->return_stack : RETURN_STACK;
    c->penalty = m->branch_penalty;
    return true;
}

int assay_machine_core_new(const struct assay_machine_model *m, struct assay_machine_core **out)
{
    struct assay_machine_core *c = calloc(1, sizeof *c);
    *out = c;
    if (!c)
        return ASSAY_E_MEMORY;
    c->tally = c->own_tally;
    c->flat = m->flat;
    c->issue_width = m->issue_width;
    c->issue_inverse = (UINT64_C(1) << 32) / m->issue_width + 1;
    c->memory_latency = m->memory_latency;
    c->syscall_cycles = m->syscall_cycles;
    c->l1i.tag = &c->nothing;
    for (int i = 0; i < ASSAY_MACHINE_LEVELS; i++)
        c->level[i].tag = &c->nothing;
    if (c->flat)
        return ASSAY_OK;
    bool ok = cache_new(&c->l1i, &m->l1i) && predictor_new(c, m);
    for (int i = 0; ok && i < ASSAY_MACHINE_LEVELS; i++)
        ok = cache_new(&c->level[i], &m->level[i]);
    if (ok)
        return ASSAY_OK;
    assay_machine_core_free(c);
    *out = NULL;
    return ASSAY_E_MEMORY;
}

void assay_machine_core_free(struct assay_machine_core *c)
{
    if (!c)
        return;
    cache_free(&c->l1i);
    for (int i = 0; i < ASSAY_MACHINE_LEVELS; i++)
        cache_free(&c->level[i]);
    free(c->counter);
    free(c->btb);
    free(c);
}

void assay_machine_core_tally(struct assay_machine_core *c, uint64_t *tally) { c->tally = tally; }

/* Looks a line up and makes it the latest of its set, in one pass that shifts the others back. */
static bool cache_reorder(uint64_t *set, unsigned ways, uint64_t tag)
{
    uint64_t carried = set[0];
    set[0] = tag;
    for (unsigned i = 1; i < ways; i++) {
        uint64_t here = set[i];
        set[i] = carried;
        if (here == tag)
            return true;
        carried = here;
    }
    return false;
}

static inline uint64_t *set_of(const struct cache *c, uint64_t line) { return c->tag + (line & c->set_mask) * c->ways; }

static inline bool cache_hit(struct cache *c, uint64_t addr)
{
    uint64_t line = addr >> c->line_shift, *set = set_of(c, line);
    return set[0] == line + 1 || cache_reorder(set, c->ways, line + 1);
}

/* Cycles to get addr from the levels behind L1. found: the tally's numbers of those levels. */
static uint64_t fetch_behind(struct assay_machine_core *c, uint64_t addr, uint64_t *found)
{
    uint64_t cycles = 0;
    for (unsigned i = 1; i < ASSAY_MACHINE_LEVELS; i++) {
        struct cache *level = &c->level[i];
        if (!level->there)
            continue;
        cycles += level->latency;
        if (cache_hit(level, addr)) {
            found[i - 1]++;
            return cycles;
        }
    }
    found[ASSAY_MACHINE_LEVELS - 1]++;
    return cycles + c->memory_latency;
}

static uint64_t fetch_code(struct assay_machine_core *c, uint64_t addr)
{
    uint64_t cycles = c->l1i.there ? c->l1i.latency : 0;
    if (c->l1i.there && cache_hit(&c->l1i, addr))
        c->tally[ASSAY_MACHINE_L1I_HIT]++;
    else
        cycles += fetch_behind(c, addr, &c->tally[ASSAY_MACHINE_CODE_L2]);
    c->tally[ASSAY_MACHINE_FETCH_CYCLES] += cycles;
    return cycles;
}

static uint64_t fetch_data(struct assay_machine_core *c, uint64_t addr, uint64_t *found)
{
    struct cache *l1d = &c->level[0];
    uint64_t cycles = l1d->there ? l1d->latency : 0;
    return l1d->there && cache_hit(l1d, addr) ? cycles : cycles + fetch_behind(c, addr, found);
}

/* Whole cycles of the slots that insns take after those used already. The division is a multiplication where exact. */
static uint64_t issue(struct assay_machine_core *c, uint32_t insns)
{
    uint32_t cycles = insns < 1u << 24 ? (uint32_t)(insns * c->issue_inverse >> 32) : insns / c->issue_width;
    c->slots += insns - cycles * c->issue_width;
    if (c->slots < c->issue_width)
        return cycles;
    c->slots -= c->issue_width;
    return cycles + UINT64_C(1);
}

uint64_t assay_machine_block(struct assay_machine_core *c, uint64_t ip, uint32_t insns, uint32_t bytes)
{
    if (c->flat)
        return insns;
    uint64_t cycles = issue(c, insns);
    uint64_t line = ip >> c->l1i.line_shift, last = (ip + bytes - (bytes > 0)) >> c->l1i.line_shift;
    for (;; line++) {
        if (line + 1 != c->fetched) {
            c->fetched = line + 1;
            cycles += fetch_code(c, line << c->l1i.line_shift);
        }
        if (line >= last)
            return cycles;
    }
}

/* Apart from what most accesses are, which then needs no registers saved. */
__attribute__((noinline)) static uint64_t access_lines(struct assay_machine_core *c, uint64_t line, uint64_t last,
                                                       bool store)
{
    uint64_t cycles = 0, *found = &c->tally[store ? ASSAY_MACHINE_STORE_L2 : ASSAY_MACHINE_LOAD_L2];
    if (c->flat)
        return 0;
    do
        cycles += fetch_data(c, line << c->level[0].line_shift, found);
    while (line++ < last);
    return store ? 0 : cycles;
}

uint64_t assay_machine_access(struct assay_machine_core *c, uint64_t addr, uint32_t bytes, bool store)
{
    const struct cache *l1d = &c->level[0];
    uint64_t line = addr >> l1d->line_shift, last = (addr + bytes - (bytes > 0)) >> l1d->line_shift;
    bool latest = line == last && *set_of(l1d, line) == line + 1; /* most are: nothing to reorder */
    if (!latest)
        return access_lines(c, line, last, store);
    return store ? 0 : l1d->latency;
}

static const uint8_t counter_after[2][4] = {{0, 0, 1, 2}, {1, 2, 3, 3}};

static bool direction_right(struct assay_machine_core *c, uint64_t ip, bool taken)
{
    if (!c->counter)
        return true;
    uint8_t *n = &c->counter[(ip ^ c->history) & c->counter_mask];
    bool right = (*n >= 2) == taken;
    *n = counter_after[taken][*n];
    c->history = (c->history << 1 | taken) & c->history_mask;
    return right;
}

static bool target_right(struct assay_machine_core *c, uint64_t ip, uint64_t target)
{
    if (!c->btb)
        return true;
    struct target *t = &c->btb[ip & c->btb_mask];
    bool right = t->ip == ip && t->to == target;
    *t = (struct target){ip, target};
    return right;
}

static void push_return(struct assay_machine_core *c, uint64_t return_ip)
{
    if (!c->return_size)
        return;
    c->return_top = c->return_top + 1 == c->return_size ? 0 : c->return_top + 1;
    c->returns[c->return_top] = return_ip;
    if (c->return_depth < c->return_size)
        c->return_depth++;
}

/* Unlike the trace unit's, this stack is popped by every return. */
static bool return_right(struct assay_machine_core *c, uint64_t target)
{
    if (!c->return_size)
        return true;
    if (!c->return_depth)
        return false;
    c->return_depth--;
    bool right = c->returns[c->return_top] == target;
    c->return_top = (c->return_top ? c->return_top : c->return_size) - 1;
    return right;
}

static uint64_t mispredict(struct assay_machine_core *c, enum assay_machine_quantity q)
{
    c->tally[q]++;
    return c->penalty;
}

uint64_t assay_machine_branch(struct assay_machine_core *c, unsigned kind, uint64_t ip, bool taken, uint64_t target,
                              uint64_t return_ip)
{
    if (kind == ASSAY_INSN_COND) /* never with the counters that a flat model does not have */
        return direction_right(c, ip, taken)
                   ? 0
                   : mispredict(c, taken ? ASSAY_MACHINE_MISS_TAKEN : ASSAY_MACHINE_MISS_NOT_TAKEN);
    if (kind == ASSAY_INSN_FAR)
        return c->syscall_cycles;
    if (c->flat)
        return 0;
    if (kind == ASSAY_INSN_CALL || kind == ASSAY_INSN_CALL_IND)
        push_return(c, return_ip);
    switch (kind) {
    case ASSAY_INSN_JMP_IND:
        return target_right(c, ip, target) ? 0 : mispredict(c, ASSAY_MACHINE_MISS_JMP_IND);
    case ASSAY_INSN_CALL_IND:
        return target_right(c, ip, target) ? 0 : mispredict(c, ASSAY_MACHINE_MISS_CALL_IND);
    case ASSAY_INSN_RET:
        return return_right(c, target) ? 0 : mispredict(c, ASSAY_MACHINE_MISS_RET);
    default:
        return 0;
    }
}
