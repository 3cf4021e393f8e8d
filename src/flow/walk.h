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

/* The run at ip, found without leaving the loop when it is where the hash points. */
static inline uint32_t walk_link_at(struct assay_flow *f, uint64_t ip)
{
    const struct slot *s = &f->slots[ip * UINT64_C(0x9e3779b97f4a7c15) >> f->slot_shift];
    return s->link && s->ip == ip && s->mode == f->mode ? s->link : flow_link_at(f, ip);
}

#endif
