/* SPDX-License-Identifier: MIT */
/* The call tree: a shadow stack that calls push and returns pop, and that finds its way after a longjmp or a lost piece. */
#include "profile/internal.h"

#include <stdlib.h>

void tree_free(struct tree *t)
{
    free(t->node);
    table_map_free(&t->child);
    window_free(&t->window);
}

static uint32_t new_node(struct tree *t, uint32_t parent, uint32_t function)
{
    if (!table_grow(&t->node, &t->room, t->nodes + 1, sizeof *t->node) || window_new_bin(&t->window) == UINT32_MAX)
        return UINT32_MAX;
    uint32_t n = (uint32_t)t->nodes++;
    t->node[n] = (struct assay_profile_node){.parent = parent, .function = function};
    return n;
}

/* The child of `parent` for a function, made when there is none. */
static uint32_t child_of(struct tree *t, uint32_t parent, uint32_t function)
{
    if (t->nodes == 0 && new_node(t, 0, UINT32_MAX) == UINT32_MAX)
        return UINT32_MAX;
    uint32_t *at = table_map_at(&t->child, (uint64_t)parent << 32 | function);
    if (!at)
        return UINT32_MAX;
    if (*at)
        return *at - 1;
    uint32_t n = new_node(t, parent, function);
    if (n == UINT32_MAX)
        return n;
    *at = n + 1;
    uint32_t *link = &t->node[parent].first_child;
    while (*link)
        link = &t->node[*link].next_sibling;
    *link = n;
    return n;
}

static uint32_t top(const struct tree *t) { return t->depth ? t->stack[t->depth - 1] : 0; }

static bool push(struct tree *t, uint32_t function)
{
    if (t->depth == sizeof t->stack / sizeof *t->stack) {
        t->over++; /* deeper calls are counted with the frame they came from */
        return true;
    }
    uint32_t n = child_of(t, top(t), function);
    if (n == UINT32_MAX)
        return false;
    t->stack[t->depth++] = n;
    t->window.bin[n].counts.calls++;
    return true;
}

/* Unwinds to the nearest frame of the function; false when there is none. */
static bool unwind_to(struct tree *t, uint32_t function)
{
    for (size_t d = t->depth; d-- > 0;)
        if (t->node[t->stack[d]].function == function) {
            t->depth = d + 1;
            t->over = 0;
            return true;
        }
    return false;
}

/* Control is now in `function`, without a call: the frame it belongs to, or a new one in place of the top. */
static bool settle(struct tree *t, uint32_t function)
{
    if (t->depth && t->node[top(t)].function == function)
        return true;
    if (unwind_to(t, function))
        return true;
    if (t->depth)
        t->depth--;
    return push(t, function);
}

static bool arrive(struct tree *t, const struct part *part)
{
    switch (t->arrived_by) {
    case ASSAY_INSN_CALL:
    case ASSAY_INSN_CALL_IND:
        return part->at_start || !t->depth || t->node[top(t)].function != part->function ? push(t, part->function)
                                                                                         : true;
    case ASSAY_INSN_RET:
        if (t->over)
            t->over--;
        else if (t->depth > 1)
            t->depth--;
        return settle(t, part->function);
    case ASSAY_INSN_JMP:
    case ASSAY_INSN_JMP_IND:
    case ASSAY_INSN_COND:
        if (part->at_start && t->depth && t->node[top(t)].function != part->function) {
            if (!t->over)
                t->depth--; /* a tail call takes the place of its caller */
            return push(t, part->function);
        }
        return settle(t, part->function);
    default:
        return settle(t, part->function);
    }
}

int tree_run(struct assay_profile *p, const struct known_run *r)
{
    struct tree *t = &p->tree;
    for (uint32_t i = 0; i < r->parts; i++) {
        const struct part *part = &p->part[r->first_part + i];
        if (!arrive(t, part))
            return ASSAY_E_MEMORY;
        window_add(&t->window, top(t), part->insns);
        t->arrived_by = part->kind;
    }
    if (r->parts)
        t->arrived_by = r->kind;
    return ASSAY_OK;
}

void tree_enter(struct tree *t) { t->arrived_by = ASSAY_INSN_OTHER; }

void tree_begin(struct tree *t)
{
    tree_enter(t);
    t->depth = t->over = 0;
}

int tree_merge(struct assay_profile *to, const struct assay_profile *from, const uint32_t *function)
{
    const struct tree *f = &from->tree;
    uint32_t *map = calloc(f->nodes + 1, sizeof *map);
    if (!map)
        return ASSAY_E_MEMORY;
    for (size_t i = 1; i < f->nodes; i++) { /* parents come before children */
        uint32_t n = child_of(&to->tree, map[f->node[i].parent], function[f->node[i].function]);
        if (n == UINT32_MAX) {
            free(map);
            return ASSAY_E_MEMORY;
        }
        map[i] = n;
        struct assay_profile_counts *c = &to->tree.window.bin[n].counts;
        const struct assay_profile_counts *add = &f->window.bin[i].counts;
        c->insns += add->insns;
        c->timed += add->timed;
        c->cycles += add->cycles;
        c->calls += add->calls;
    }
    free(map);
    return ASSAY_OK;
}

int tree_finish(struct tree *t)
{
    for (size_t i = 0; i < t->nodes; i++)
        t->node[i].self = t->node[i].total = t->window.bin[i].counts;
    for (size_t i = t->nodes; i-- > 1;) { /* children come after parents */
        struct assay_profile_counts *up = &t->node[t->node[i].parent].total;
        const struct assay_profile_counts *c = &t->node[i].total;
        up->insns += c->insns;
        up->timed += c->timed;
        up->cycles += c->cycles;
    }
    return ASSAY_OK;
}
