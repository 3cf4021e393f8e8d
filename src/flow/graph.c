/* SPDX-License-Identifier: MIT */
/* The run graph: found runs, their edges, and the tables from addresses to runs, one for each address space. */
#include "internal.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

enum { SPACE_BITS = 10, SPACES_MAX = UINT16_MAX };

static const uint64_t hash_factor = UINT64_C(0x9e3779b97f4a7c15);

bool flow_reserve(struct assay_flow *f, void *array, uint32_t *cap, size_t size, uint64_t need)
{
    if (need <= *cap)
        return true;
    void **table = array;
    uint64_t n = *cap + *cap / 2 < 64 ? 64 : *cap + (uint64_t)*cap / 2;
    if (n < need)
        n = need;
    void *grown = n <= UINT32_MAX ? realloc(*table, (size_t)n * size) : NULL;
    if (!grown) {
        f->stop = ASSAY_E_MEMORY;
        return false;
    }
    *table = grown;
    *cap = (uint32_t)n;
    return true;
}

/* ---- the table of a space */

static struct slot *find_slot(const struct assay_flow *f, uint64_t ip, unsigned mode)
{
    uint32_t mask = UINT32_MAX >> (f->slot_shift - 32);
    uint32_t i = (uint32_t)(ip * hash_factor >> f->slot_shift);
    while (f->slots[i].link && (f->slots[i].ip != ip || f->slots[i].mode != mode))
        i = (i + 1) & mask;
    return &f->slots[i];
}

static void enter_space(struct assay_flow *f, uint32_t n)
{
    f->space = n;
    f->slots = f->spaces[n].slots;
    f->slot_shift = (uint8_t)(64 - f->spaces[n].bits);
}

/* A table of 1 << bits slots in place of the present one, with the entries whose runs are alive. */
static bool rebuild_table(struct assay_flow *f, uint8_t bits)
{
    struct space *s = &f->spaces[f->space];
    struct slot *old = s->slots, *slots = calloc((size_t)1 << bits, sizeof *slots);
    if (!slots) {
        f->stop = ASSAY_E_MEMORY;
        return false;
    }
    size_t old_n = old ? (size_t)1 << s->bits : 0;
    *s = (struct space){.view = s->view, .slots = slots, .bits = bits};
    enter_space(f, f->space);
    for (size_t i = 0; i < old_n; i++) {
        if (!old[i].link || f->nodes[LINK_ID(old[i].link)].flags & NODE_DEAD)
            continue;
        *find_slot(f, old[i].ip, old[i].mode) = old[i];
        s->used++;
    }
    free(old);
    return true;
}

static void remember(struct assay_flow *f, uint64_t ip, uint32_t link)
{
    struct space *s = &f->spaces[f->space];
    if (s->used * UINT64_C(2) >= UINT64_C(1) << s->bits && (s->bits >= 30 || !rebuild_table(f, (uint8_t)(s->bits + 1))))
        return;
    *find_slot(f, ip, f->mode) = (struct slot){.ip = ip, .link = link, .mode = f->mode};
    s->used++;
}

uint32_t flow_link_at(struct assay_flow *f, uint64_t ip)
{
    uint32_t link = find_slot(f, ip, f->mode)->link;
    if (link)
        return link;
    link = flow_make_run(f, ip);
    if (link != LINK_NONE)
        remember(f, ip, link);
    return link;
}

/* ---- edges */

uint32_t flow_edge(struct assay_flow *f, uint32_t link, unsigned taken)
{
    uint32_t id = LINK_ID(link);
    if (f->nodes[id].next[taken])
        return f->nodes[id].next[taken];
    const struct assay_flow_run *run = &f->runs[id];
    const struct assay_flow_block *last = &f->blocks[run->first_block + run->blocks - 1];
    bool jumps = taken || last->kind == ASSAY_INSN_JMP || last->kind == ASSAY_INSN_CALL;
    uint32_t next = flow_link_at(f, jumps ? last->target : last->end);
    if (next != LINK_NONE) /* code may yet come to where there is none */
        f->nodes[id].next[taken] = next;
    return next;
}

uint32_t flow_return_link(struct assay_flow *f, struct site *s)
{
    if (flow_site_knows(f, s))
        return s->link;
    ptrdiff_t index = s - f->sites; /* the table may move */
    uint32_t link = flow_link_at(f, s->ip);
    if (link != LINK_NONE && f->sites[index].mode == f->mode)
        f->sites[index] =
            (struct site){.ip = f->sites[index].ip, .link = link, .space = (uint16_t)f->space, .mode = f->mode};
    return link;
}

/* ---- places in runs */

int64_t flow_locate(const struct assay_flow *f, uint32_t id, uint64_t ip)
{
    const struct assay_flow_run *run = &f->runs[id];
    const struct assay_flow_block *b = &f->blocks[run->first_block], *end = b + run->blocks;
    int64_t before = 0;
    for (; b < end; before += b++->insns) {
        if (ip < b->ip || ip > b->last_ip)
            continue;
        uint64_t at = b->ip;
        for (uint32_t i = 0; i < b->insns && at <= ip; i++) {
            if (at == ip)
                return before + i;
            at += f->sizes[b->sizes + i];
        }
    }
    return -1;
}

uint64_t flow_last_ip(const struct assay_flow *f, uint32_t id)
{
    const struct assay_flow_run *run = &f->runs[id];
    return run->blocks ? f->blocks[run->first_block + run->blocks - 1].last_ip : 0;
}

int64_t flow_find_flag(struct assay_flow *f, uint32_t id, unsigned flag, uint64_t *ip)
{
    const struct assay_flow_run *run = &f->runs[id];
    int64_t n = 0;
    for (uint32_t i = 0; i < run->blocks; i++) {
        const struct assay_flow_block *b = &f->blocks[run->first_block + i];
        uint64_t at = b->ip;
        for (uint32_t k = 0; k < b->insns; k++, n++) {
            uint8_t code[16];
            struct assay_insn insn;
            size_t size = assay_view_read(f->spaces[f->space].view, at, code, sizeof code);
            if (assay_x86_classify(code, size, run->mode, at, &insn) > 0 && insn.flags & flag) {
                *ip = at;
                return n;
            }
            at += f->sizes[b->sizes + k];
        }
    }
    return -1;
}

/* ---- spaces and forgetting */

/* Too many address spaces: all begin anew. Ids already given out keep their meaning. */
static void drop_spaces(struct assay_flow *f)
{
    for (uint32_t i = 0; i < f->spaces_n; i++)
        free(f->spaces[i].slots);
    f->spaces_n = 0;
    for (uint32_t i = 1; i < f->runs_n; i++) {
        f->nodes[i].next[0] = f->nodes[i].next[1] = 0;
        f->nodes[i].flags |= NODE_DEAD;
    }
    for (uint32_t i = 0; i < f->sites_n; i++)
        f->sites[i].link = 0;
    flow_deliver(f);
    flow_memo_clear(f);
}

bool flow_use_view(struct assay_flow *f, struct assay_view *view)
{
    for (uint32_t i = 0; i < f->spaces_n; i++)
        if (f->spaces[i].view == view) {
            enter_space(f, i);
            return true;
        }
    if (f->spaces_n == SPACES_MAX)
        drop_spaces(f);
    if (!flow_reserve(f, &f->spaces, &f->spaces_cap, sizeof *f->spaces, f->spaces_n + UINT64_C(1)))
        return false;
    f->space = f->spaces_n;
    f->spaces[f->space] = (struct space){.view = view};
    if (!rebuild_table(f, SPACE_BITS))
        return false;
    f->spaces_n++;
    return true;
}

static bool run_touches(const struct assay_flow *f, uint32_t id, uint64_t low, uint64_t high)
{
    const struct assay_flow_run *run = &f->runs[id];
    for (uint32_t i = 0; i < run->blocks; i++) {
        const struct assay_flow_block *b = &f->blocks[run->first_block + i];
        if (b->ip < high && b->end > low)
            return true;
    }
    return false;
}

/* The walk goes on from the same address in code that may have changed or in another address space. */
static void renew_place(struct assay_flow *f)
{
    if (f->state == ON)
        f->link = flow_link_at(f, f->link == LINK_NONE ? f->none_ip : f->runs[LINK_ID(f->link)].ip);
}

void assay_flow_forget(struct assay_flow *f, uint64_t low, uint64_t high)
{
    uint64_t dead = 0;
    for (uint32_t i = 1; i < f->runs_n; i++)
        if (f->nodes[i].space == f->space && !(f->nodes[i].flags & NODE_DEAD) && run_touches(f, i, low, high)) {
            f->nodes[i].flags |= NODE_DEAD;
            dead++;
        }
    if (!dead)
        return;
    for (uint32_t i = 1; i < f->runs_n; i++)
        for (unsigned k = 0; k < 2; k++)
            if (f->nodes[LINK_ID(f->nodes[i].next[k])].flags & NODE_DEAD)
                f->nodes[i].next[k] = 0;
    for (uint32_t i = 0; i < f->sites_n; i++)
        if (f->nodes[LINK_ID(f->sites[i].link)].flags & NODE_DEAD)
            f->sites[i].link = 0;
    flow_deliver(f);
    flow_memo_clear(f);
    if (rebuild_table(f, f->spaces[f->space].bits))
        renew_place(f);
}

/* Calls that wait for their return are kept: they are all that later packets refer to. */
static bool keep_stack(struct assay_flow *f)
{
    struct site kept[STACK];
    if (!flow_reserve(f, &f->sites, &f->sites_cap, sizeof *f->sites, STACK + 1)) /* one may stand there many times */
        return false;
    for (uint32_t i = 0; i < f->stack_depth; i++)
        kept[i] = f->sites[f->stack[(f->stack_top - 1 - i) % STACK]];
    f->sites_n = 1;
    for (uint32_t i = 0; i < f->stack_depth; i++) {
        kept[i].link = 0;
        f->stack[(f->stack_top - 1 - i) % STACK] = f->sites_n;
        f->sites[f->sites_n++] = kept[i];
    }
    return true;
}

void flow_begin_anew(struct assay_flow *f)
{
    uint64_t ip = f->link == LINK_NONE ? f->none_ip : f->runs[LINK_ID(f->link)].ip;
    struct assay_view *view = f->spaces[f->space].view;
    flow_deliver(f);
    flow_memo_clear(f);
    if (!keep_stack(f))
        return;
    for (uint32_t i = 0; i < f->spaces_n; i++)
        free(f->spaces[i].slots);
    f->spaces_n = 0;
    f->runs_n = 1;
    f->blocks_n = f->sizes_n = 0;
    f->generation++;
    f->crowded = false;
    if (!flow_use_view(f, view))
        return;
    f->link = f->state == ON ? flow_link_at(f, ip) : LINK_NONE;
}

uint32_t assay_flow_generation(const struct assay_flow *f) { return f->generation; }

int assay_flow_set_view(struct assay_flow *f, struct assay_view *view)
{
    if (f->spaces[f->space].view == view)
        return ASSAY_OK;
    if (!flow_use_view(f, view))
        return ASSAY_E_MEMORY;
    renew_place(f);
    return f->stop == ASSAY_E_MEMORY ? ASSAY_E_MEMORY : ASSAY_OK;
}

void flow_graph_free(struct assay_flow *f)
{
    for (uint32_t i = 0; i < f->spaces_n; i++)
        free(f->spaces[i].slots);
    free(f->spaces);
    free(f->nodes);
    free(f->runs);
    free(f->sites);
    free(f->blocks);
    free(f->sizes);
}

/* ---- what callers see of it */

const struct assay_flow_run *assay_flow_run_at(const struct assay_flow *f, uint32_t id)
{
    return id < f->runs_n ? &f->runs[id] : NULL;
}

const struct assay_flow_block *assay_flow_block_at(const struct assay_flow *f, uint32_t index)
{
    return index < f->blocks_n ? &f->blocks[index] : NULL;
}

uint32_t assay_flow_runs(const struct assay_flow *f) { return f->runs_n; }

const uint8_t *assay_flow_sizes(const struct assay_flow *f, const struct assay_flow_block *block)
{
    return f->sizes + block->sizes;
}
