/* SPDX-License-Identifier: MIT */
/* The call tree: a shadow stack that calls push and that returns pop by their address; it finds its way after a longjmp, a signal or a
 * lost piece by the function it arrives in. */
#include "profile/internal.h"

#include <stdlib.h>

void tree_free(struct tree *t)
{
    free(t->node);
    free(t->last_child);
    table_map_free(&t->child);
    window_free(&t->window);
}

static uint32_t new_node(struct tree *t, uint32_t parent, uint32_t function)
{
    if (!table_grow(&t->node, &t->room, t->nodes + 1, sizeof *t->node) ||
        !table_grow(&t->last_child, &t->last_room, t->nodes + 1, sizeof *t->last_child) ||
        window_new_bin(&t->window) == UINT32_MAX)
        return UINT32_MAX;
    uint32_t n = (uint32_t)t->nodes++;
    t->node[n] = (struct assay_profile_node){.parent = parent, .function = function};
    return n;
}

static void append_child(struct tree *t, uint32_t parent, uint32_t n)
{
    uint32_t last = t->last_child[parent];
    *(last ? &t->node[last].next_sibling : &t->node[parent].first_child) = n;
    t->last_child[parent] = n;
}

/* The child of `parent` for a function, made when there is none; `parent` itself when there are too many nodes. */
static uint32_t child_of(struct tree *t, uint32_t parent, uint32_t function)
{
    if (t->nodes == 0 && new_node(t, 0, UINT32_MAX) == UINT32_MAX)
        return UINT32_MAX;
    uint64_t key = (uint64_t)parent << 32 | function;
    if (t->nodes >= t->limit && !table_map_find(&t->child, key)) {
        t->folded++;
        return parent;
    }
    uint32_t *at = table_map_at(&t->child, key);
    if (!at)
        return UINT32_MAX;
    if (*at)
        return *at - 1;
    uint32_t n = new_node(t, parent, function);
    if (n == UINT32_MAX)
        return n;
    *at = n + 1;
    append_child(t, parent, n);
    return n;
}

static uint32_t top(const struct tree *t) { return t->depth ? t->stack[t->depth - 1].node : 0; }

static bool top_is(const struct tree *t, uint32_t function) { return t->depth && t->node[top(t)].function == function; }

/* A frame for the function on top; `return_ip` is where its return will lead. */
static bool push(struct tree *t, uint32_t function, uint64_t return_ip)
{
    if (t->depth == sizeof t->stack / sizeof *t->stack) {
        t->over++; /* deeper calls are counted with the frame they came from */
        return true;
    }
    uint32_t n = child_of(t, top(t), function);
    if (n == UINT32_MAX)
        return false;
    t->stack[t->depth++] = (struct frame){n, return_ip};
    return true;
}

static bool call(struct tree *t, uint32_t function, uint64_t return_ip)
{
    if (!push(t, function, return_ip))
        return false;
    if (!t->over && top_is(t, function))
        t->window.bin[top(t)].counts.calls++;
    return true;
}

/* The function takes the place of the one on top: the other half of a split function, or a tail call. */
static bool replace(struct tree *t, uint32_t function)
{
    if (t->over || top_is(t, function))
        return true;
    uint64_t return_ip = 0;
    if (t->depth)
        return_ip = t->stack[--t->depth].return_ip;
    return push(t, function, return_ip);
}

/* Unwinds to the nearest frame of the function; false when there is none. */
static bool unwind_to(struct tree *t, uint32_t function)
{
    for (size_t d = t->depth; d-- > 0;)
        if (t->node[t->stack[d].node].function == function) {
            t->depth = d + 1;
            t->over = 0;
            return true;
        }
    return false;
}

/* The frame that returns to ip, and all above it, are left. */
static bool return_to(struct tree *t, const struct part *part)
{
    if (t->over) {
        t->over--;
        return true;
    }
    for (size_t d = t->depth; d-- > 0;)
        if (t->stack[d].return_ip == part->ip) {
            t->depth = d;
            return replace(t, part->function);
        }
    return unwind_to(t, part->function) || replace(t, part->function);
}

static bool arrive(struct tree *t, const struct part *part)
{
    switch (t->arrived_by) {
    case ASSAY_INSN_CALL:
    case ASSAY_INSN_CALL_IND:
        return part->ip == t->return_ip ||
               call(t, part->function, t->return_ip); /* the PIC idiom calls the next instruction */
    case ASSAY_INSN_RET:
        return return_to(t, part);
    case ASSAY_INSN_JMP_IND: /* a jump into the midst of a caller is a longjmp or an unwinder */
        if (!part->at_start && !top_is(t, part->function) && unwind_to(t, part->function))
            return true;
        /* fallthrough */
    case ASSAY_INSN_JMP:
    case ASSAY_INSN_COND:
        if (part->at_start && !top_is(t, part->function)) {
            if (!replace(t, part->function))
                return false;
            t->window.bin[top(t)].counts.calls += top_is(t, part->function);
            return true;
        }
        return replace(t, part->function);
    case ASSAY_INSN_FAR: /* tracing began anew: a signal handler, the way back from one, a new thread */
        if (top_is(t, part->function) || (!part->at_start && unwind_to(t, part->function)))
            return true;
        return call(t, part->function, 0);
    default:
        return replace(t, part->function);
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
        t->return_ip = part->end;
    }
    if (r->parts)
        t->arrived_by = r->kind;
    return ASSAY_OK;
}

void tree_enter(struct tree *t) { t->arrived_by = ASSAY_INSN_FAR; }

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
