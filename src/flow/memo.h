/* SPDX-License-Identifier: MIT */
/* Ways taken before: the same run and the same TNT bytes lead to the same place, without looking at single branches. */
#ifndef ASSAY_SRC_FLOW_MEMO_H
#define ASSAY_SRC_FLOW_MEMO_H

#include "internal.h"

#include <string.h>

/* The bytes' part of a slot's number does not wait for the walk; the link's part, which does, is an addition. */
static inline uint32_t memo_mix(uint32_t word) { return word * UINT32_C(0x9e3779b1) >> (32 - MEMO_BITS); }
static inline struct memo *memo_slot(const struct assay_flow *f, uint32_t link, uint32_t mix)
{
    return &f->memos[(link + mix) & ((1u << MEMO_BITS) - 1)];
}
static inline uint64_t memo_key(uint32_t link, uint32_t word) { return (uint64_t)link << 32 | word; }

/* A way that pops the return stack stands where the site on top says as well: it differs with the caller. */
static inline uint32_t memo_mix_on(uint32_t word, uint32_t site) { return memo_mix(word ^ (site + 1) << 8); }

static inline bool way_fits(const struct assay_flow *f, const struct way *w)
{
    if (f->stack_depth < w->pops)
        return false;
    for (unsigned i = 0; i < w->pops; i++)
        if (f->stack[(f->stack_top - 1 - i) % STACK] != w->pop[i])
            return false;
    return true;
}

static inline void way_go(struct assay_flow *f, const struct way *w)
{
    uint32_t depth = f->stack_depth;
    if (depth + w->peak > STACK)
        depth = STACK - w->peak;
    f->stack_top -= w->pops;
    for (unsigned i = 0; i < w->pushes; i++)
        f->stack[f->stack_top++ % STACK] = w->push[i];
    f->stack_depth = depth - w->pops + w->pushes;
}

/* The way that leads on from link, with the return stack brought up to it; NULL when none is known. */
static inline const struct memo *memo_find(struct assay_flow *f, uint32_t link, uint32_t word)
{
    uint64_t key = memo_key(link, word);
    const struct memo *m = memo_slot(f, link, memo_mix(word));
    if (m->key == key && !(m->path & MEMO_STACK))
        return m;
    if (m->key != key || !way_fits(f, &f->ways[m->path & ~MEMO_STACK])) {
        m = memo_slot(f, link, memo_mix_on(word, f->stack[(f->stack_top - 1) % STACK]));
        if (m->key != key || (m->path & MEMO_STACK && !way_fits(f, &f->ways[m->path & ~MEMO_STACK])))
            return NULL;
    }
    if (m->path & MEMO_STACK)
        way_go(f, &f->ways[m->path & ~MEMO_STACK]);
    return m;
}

/* memo.c: the items of a path; pending cycles stand behind its first run. */
void flow_memo_put(struct assay_flow *f, uint32_t path);
/* memo.c: takes the n TNT packets of `word`, the oldest in its lowest byte; while cycles are pending n is 1. How many were taken:
 * fewer when the walk must go on in the general way. flow.at stands at the first of them. */
unsigned flow_memo_tnt(struct assay_flow *f, uint32_t word, unsigned n);

#endif
