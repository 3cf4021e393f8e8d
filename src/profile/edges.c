/* SPDX-License-Identifier: MIT */
/* Branch edges: counted as steps from run to run, named by address when the stream ends. */
#include "profile/internal.h"

#include <stdlib.h>

void edges_free(struct edges *e)
{
    free(e->edge);
    free(e->count);
    free(e->step_key);
    table_map_free(&e->at);
    table_map_free(&e->step);
}

int edges_step(struct assay_profile *p, uint32_t from, uint32_t to)
{
    struct edges *e = &p->edges;
    uint64_t key = (uint64_t)from << 32 | to;
    uint32_t *at = table_map_at(&e->step, key);
    if (!at)
        return ASSAY_E_MEMORY;
    if (!*at) {
        if (!table_grow(&e->count, &e->count_room, e->steps + 1, sizeof *e->count) ||
            !table_grow(&e->step_key, &e->key_room, e->steps + 1, sizeof *e->step_key))
            return ASSAY_E_MEMORY;
        e->count[e->steps] = 0;
        e->step_key[e->steps] = key;
        *at = (uint32_t)++e->steps;
    }
    e->count[*at - 1]++;
    return ASSAY_OK;
}

static bool same_edge(const struct assay_profile_edge *a, const struct assay_profile_edge *b)
{
    return a->from == b->from && a->to == b->to && a->from_function == b->from_function &&
           a->to_function == b->to_function;
}

static int add_edge(struct edges *e, const struct assay_profile_edge *add)
{
    uint64_t functions = (uint64_t)add->from_function << 32 | add->to_function;
    uint64_t key = add->from * UINT64_C(0x9e3779b97f4a7c15) + add->to + functions * UINT64_C(0xff51afd7ed558ccd);
    for (;; key++) { /* other edges may hash alike */
        uint32_t known = table_map_find(&e->at, key);
        if (known && same_edge(&e->edge[known - 1], add)) {
            e->edge[known - 1].count += add->count;
            return ASSAY_OK;
        }
        if (known)
            continue;
        if (e->edges >= e->limit) {
            e->left_out += add->count;
            return ASSAY_OK;
        }
        uint32_t *at = table_map_at(&e->at, key);
        if (!at)
            return ASSAY_E_MEMORY;
        if (!table_grow(&e->edge, &e->room, e->edges + 1, sizeof *e->edge))
            return ASSAY_E_MEMORY;
        e->edge[e->edges] = *add;
        *at = (uint32_t)++e->edges;
        return ASSAY_OK;
    }
}

static int add_parts(struct edges *e, const struct part *from, const struct part *to, uint64_t count)
{
    if (count == 0 || from->kind == ASSAY_INSN_OTHER)
        return ASSAY_OK;
    struct assay_profile_edge edge = {.from = from->last_ip,
                                      .to = to->ip,
                                      .from_function = from->function,
                                      .to_function = to->function,
                                      .kind = from->kind,
                                      .taken = from->kind != ASSAY_INSN_COND || to->ip != from->end,
                                      .count = count};
    return add_edge(e, &edge);
}

int edges_settle(struct assay_profile *p)
{
    struct edges *e = &p->edges;
    int status = ASSAY_OK;
    for (size_t i = 0; i < e->steps && status == ASSAY_OK; i++) {
        const struct known_run *from = &p->run[e->step_key[i] >> 32], *to = &p->run[(uint32_t)e->step_key[i]];
        status = add_parts(e, &p->part[from->first_part + from->parts - 1], &p->part[to->first_part], e->count[i]);
    }
    for (size_t n = 0; n < p->runs && status == ASSAY_OK; n++) {
        const struct known_run *r = &p->run[n];
        const struct part *part = &p->part[r->first_part];
        uint64_t times = r->insns ? p->window.bin[n].counts.insns / r->insns : 0;
        for (uint32_t i = 1; i < r->parts && status == ASSAY_OK; i++)
            status = add_parts(e, &part[i - 1], &part[i], times);
    }
    table_map_free(&e->step);
    e->steps = 0;
    return status;
}

int edges_merge(struct assay_profile *to, const struct assay_profile *from, const uint32_t *function)
{
    for (size_t i = 0; i < from->edges.edges; i++) {
        struct assay_profile_edge edge = from->edges.edge[i];
        edge.from_function = function[edge.from_function];
        edge.to_function = function[edge.to_function];
        int status = add_edge(&to->edges, &edge);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}
