/* SPDX-License-Identifier: MIT */
/* The batch of items and events that is being filled, and its delivery. */
#include "internal.h"

void flow_deliver(struct assay_flow *f)
{
    struct assay_flow_batch batch = {f->items, (size_t)(f->out - f->items), f->events, f->events_n};
    if (batch.items_n && !f->stop)
        f->stop = f->on_batch(f->ctx, f, &batch);
    f->out = f->items;
    f->events_n = 0;
    flow_memo_adapt(f);
}

void flow_item(struct assay_flow *f, uint32_t item)
{
    if (f->out >= f->out_limit)
        flow_deliver(f);
    *f->out++ = item;
}

void flow_event(struct assay_flow *f, struct assay_flow_event *e)
{
    if (f->events_n == EVENTS_MAX || f->out >= f->out_limit)
        flow_deliver(f);
    e->tsc = flow_clock_now(f);
    *f->out++ = 0xc0000000u | f->events_n;
    f->events[f->events_n++] = *e;
}

void flow_event_at(struct assay_flow *f, unsigned type, bool has_ip, uint64_t ip, uint64_t value)
{
    struct assay_flow_event e = {
        .type = (uint8_t)type, .has_ip = has_ip, .offset = flow_pos(f), .ip = has_ip ? ip : 0, .value = value};
    flow_event(f, &e);
}

void flow_put_cycles(struct assay_flow *f)
{
    const uint64_t most = 0x3fffffff;
    if (f->cyc == f->cyc_told)
        return;
    uint64_t n = f->cyc - f->cyc_told + f->cyc_held;
    f->cyc_told = f->cyc;
    f->cyc_held = 0;
    /* A forged count of 2^63 must not become 2^33 items: past 2^40 it is told as 2^40. */
    if (n >> 40)
        n = UINT64_C(1) << 40;
    for (; n > most; n -= most)
        flow_item(f, 0x80000000u | (uint32_t)most);
    if (n)
        flow_item(f, 0x80000000u | (uint32_t)n);
}

void flow_hold_cycles(struct assay_flow *f)
{
    f->cyc_held += f->cyc - f->cyc_told;
    f->cyc_told = f->cyc;
}

void flow_put_last_cycles(struct assay_flow *f)
{
    f->cyc_told -= f->cyc_held;
    f->cyc_held = 0;
    flow_put_cycles(f);
}

void assay_flow_task(struct assay_flow *f, uint32_t pid, uint32_t tid)
{
    flow_event_at(f, ASSAY_FLOW_TASK, false, 0, (uint64_t)pid << 32 | tid);
}
