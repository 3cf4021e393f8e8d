/* SPDX-License-Identifier: MIT */
/* Runs of the flow as parts of functions, learnt once each. */
#include "profile/internal.h"

#include <string.h>

uint32_t profile_function_of(struct assay_profile *p, const struct assay_flow_block *b, bool *at_start)
{
    struct assay_symbol s = {.id = UINT32_MAX};
    if (b->dso == UINT32_MAX || assay_image_symbol(p->image, b->dso, b->dso_addr, &s) != ASSAY_OK)
        s = (struct assay_symbol){.id = UINT32_MAX, .start = b->dso_addr + 1};
    *at_start = b->dso_addr == s.start;
    uint32_t *at = table_map_at(&p->function_at, (uint64_t)b->dso << 32 | s.id);
    if (!at)
        return UINT32_MAX;
    if (*at)
        return *at - 1;
    if (!table_grow(&p->function, &p->function_room, p->functions + 1, sizeof *p->function))
        return UINT32_MAX;
    struct assay_profile_function *f = &p->function[p->functions];
    *f = (struct assay_profile_function){.name = s.name, .dso = b->dso};
    if (s.name) {
        f->start = s.start;
        f->size = s.size;
    }
    *at = (uint32_t)++p->functions;
    return *at - 1;
}

/* The first `insns` instructions of the flow's run as a run of ours. */
static uint32_t learn(struct assay_profile *p, const struct assay_flow *f, uint32_t id, uint32_t insns)
{
    const struct assay_flow_run *fr = assay_flow_run_at(f, id);
    if (!table_grow(&p->run, &p->run_room, p->runs + 1, sizeof *p->run) ||
        !table_grow(&p->part, &p->part_room, p->parts + fr->blocks, sizeof *p->part))
        return UINT32_MAX;
    struct known_run r = {.first_part = (uint32_t)p->parts, .insns = insns, .kind = ASSAY_INSN_OTHER};
    if (insns == fr->insns)
        r.kind = fr->kind;
    for (uint32_t i = 0; i < fr->blocks && insns > 0; i++) {
        const struct assay_flow_block *b = assay_flow_block_at(f, fr->first_block + i);
        struct part *part = &p->part[p->parts++];
        *part = (struct part){.ip = b->ip, .last_ip = b->last_ip, .end = b->end, .kind = b->kind, .insns = b->insns};
        part->function = profile_function_of(p, b, &part->at_start);
        if (part->function == UINT32_MAX)
            return UINT32_MAX;
        if (part->insns > insns) {
            part->insns = insns;
            part->kind = ASSAY_INSN_OTHER;
        }
        insns -= part->insns;
        r.parts++;
    }
    r.at_start = r.parts > 0 && p->part[r.first_part].at_start;
    p->run[p->runs] = r;
    uint32_t bin = window_new_bin(&p->window);
    if (bin == UINT32_MAX)
        return UINT32_MAX;
    p->runs++;
    return bin;
}

uint32_t profile_learn_run(struct assay_profile *p, const struct assay_flow *f, uint32_t id)
{
    if (!table_grow(&p->index, &p->index_room, (size_t)id + 1, sizeof *p->index))
        return UINT32_MAX;
    uint32_t run = learn(p, f, id, assay_flow_run_at(f, id)->insns);
    if (run != UINT32_MAX)
        p->index[id] = run + 1;
    return run;
}

uint32_t profile_learn_cut(struct assay_profile *p, const struct assay_flow *f, uint32_t id, uint32_t insns)
{
    uint32_t *at = table_map_at(&p->cut_at, (uint64_t)id << 32 | insns);
    if (!at)
        return UINT32_MAX;
    if (*at)
        return *at - 1;
    uint32_t run = learn(p, f, id, insns);
    if (run != UINT32_MAX)
        *at = run + 1;
    return run;
}
