/* SPDX-License-Identifier: MIT */
/* Ways taken before: the same run and the same TNT bytes lead to the same place, without looking at single branches. */
#ifndef ASSAY_SRC_FLOW_MEMO_H
#define ASSAY_SRC_FLOW_MEMO_H

#include "internal.h"

#include <string.h>

static inline uint32_t memo_hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MEMO_BITS));
}

/* A way that pops the return stack stands where the site on top says as well: it differs with the caller. */
static inline uint64_t memo_key_on(uint64_t key, uint32_t site) { return key ^ ((uint64_t)site + 1) << 20; }

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

/* The way that leads on from here, with the return stack brought up to it; NULL when none is known. */
static inline const struct memo *memo_find(struct assay_flow *f, uint64_t key)
{
    const struct memo *m = &f->memos[memo_hash(key)];
    if (m->key == key && !(m->path & MEMO_STACK))
        return m;
    if (m->key != key || !way_fits(f, &f->ways[m->path & ~MEMO_STACK])) {
        m = &f->memos[memo_hash(memo_key_on(key, f->stack[(f->stack_top - 1) % STACK]))];
        if (m->key != key || (m->path & MEMO_STACK && !way_fits(f, &f->ways[m->path & ~MEMO_STACK])))
            return NULL;
    }
    if (m->path & MEMO_STACK)
        way_go(f, &f->ways[m->path & ~MEMO_STACK]);
    return m;
}

/* memo.c: the items of a path that cycles, runs or a missing rest make less simple. */
void flow_memo_put(struct assay_flow *f, uint32_t path);
/* memo.c: the same as memo_tnt() for a way that is not known as a whole. */
unsigned flow_memo_learn(struct assay_flow *f, uint32_t word, unsigned n);

/* Takes the n TNT bytes of `word`, the oldest in its lowest byte; while cycles are pending n is 1. How many were taken: fewer
 * when the walk must go on in the general way. flow.at stands at the first of them. */
static inline unsigned memo_tnt(struct assay_flow *f, uint32_t word, unsigned n)
{
    const struct memo *m = memo_find(f, (uint64_t)f->link << 32 | word);
    if (!m)
        return flow_memo_learn(f, word, n);
    f->link = m->next;
    if (f->take_paths && f->cyc == f->cyc_told)
        *f->out++ = 0x40000000u | (m->path & ~MEMO_STACK);
    else
        flow_memo_put(f, m->path & ~MEMO_STACK);
    return n;
}

#endif
