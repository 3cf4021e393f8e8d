/* SPDX-License-Identifier: MIT */
/* The order-sensitive digest of executed instructions. */
#include <assay/flow.h>

/* The first n instructions of a run, one by one. */
static void add_part(struct assay_flow_digest *d, const struct assay_flow *f, uint32_t id, uint32_t n)
{
    const struct assay_flow_run *run = assay_flow_run_at(f, id);
    d->insns += n;
    for (uint32_t i = 0; i < run->blocks && n; i++) {
        const struct assay_flow_block *b = assay_flow_block_at(f, run->first_block + i);
        const uint8_t *size = assay_flow_sizes(f, b);
        uint64_t ip = b->ip;
        for (uint32_t k = 0; k < b->insns && n; k++, n--) {
            d->chk = d->chk * 31 + ip;
            ip += size[k];
        }
    }
}

void assay_flow_digest_add(struct assay_flow_digest *d, const struct assay_flow *f, const struct assay_flow_batch *b)
{
    const struct assay_flow_run *runs = assay_flow_run_at(f, 0);
    const struct assay_flow_path *paths = assay_flow_path_at(f, 0);
    for (size_t i = 0; i < b->items_n; i++) {
        uint32_t item = b->items[i];
        if (ASSAY_FLOW_IS_RUN(item)) {
            d->insns += runs[item].insns;
            d->chk = d->chk * runs[item].mul + runs[item].add;
        } else if (ASSAY_FLOW_IS_PATH(item)) {
            const struct assay_flow_path *p = paths + ASSAY_FLOW_INDEX(item);
            d->insns += p->insns;
            d->chk = d->chk * p->mul + p->add;
        } else if (ASSAY_FLOW_IS_EVENT(item)) {
            const struct assay_flow_event *e = &b->events[ASSAY_FLOW_INDEX(item)];
            if (e->type == ASSAY_FLOW_PARTIAL)
                add_part(d, f, e->run, e->insns);
        }
    }
}
