/* SPDX-License-Identifier: MIT */
/* The inner steps of the walk, inline for the packet loop. */
#ifndef ASSAY_SRC_FLOW_WALK_H
#define ASSAY_SRC_FLOW_WALK_H

#include "internal.h"

/* The calls of a run go to the return stack. */
static inline void walk_push(struct assay_flow *f, uint32_t id)
{
    const struct node *n = &f->nodes[id];
    for (uint32_t i = 0; i < n->pushes; i++)
        f->stack[f->stack_top++ % STACK] = n->first_push + i;
    f->stack_depth += n->pushes;
    if (f->stack_depth > STACK)
        f->stack_depth = STACK;
}

/* The run after a branch outcome at the end of `link`, with the return stack brought up to it. 0: the general walk must look. */
static inline uint32_t walk_next(struct assay_flow *f, uint32_t link, unsigned bit)
{
    const struct node *n = &f->nodes[LINK_ID(link)];
    if (LINK_KIND(link) == LINK_COND)
        return n->next[bit];
    if (LINK_KIND(link) == LINK_COND_PUSH) {
        if (n->next[bit])
            walk_push(f, LINK_ID(link));
        return n->next[bit];
    }
    if (LINK_KIND(link) > LINK_RET_PUSH || !bit)
        return 0;
    if (LINK_KIND(link) == LINK_RET) {
        const struct site *s = &f->sites[f->stack[(f->stack_top - 1) % STACK]];
        if (!f->stack_depth || !flow_site_knows(f, s))
            return 0;
        f->stack_top--;
        f->stack_depth--;
        return s->link;
    }
    const struct site *s = &f->sites[n->first_push + n->pushes - 1u];
    if (!flow_site_knows(f, s))
        return 0;
    walk_push(f, LINK_ID(link));
    f->stack_top--;
    f->stack_depth--;
    return s->link;
}

/* The run at ip, found without leaving the loop when it is where the hash points. */
static inline uint32_t walk_link_at(struct assay_flow *f, uint64_t ip)
{
    const struct slot *s = &f->slots[ip * UINT64_C(0x9e3779b97f4a7c15) >> f->slot_shift];
    return s->link && s->ip == ip && s->mode == f->mode ? s->link : flow_link_at(f, ip);
}

#endif
