/* SPDX-License-Identifier: MIT */
/* What the registers, or Linux, would refuse, and what they would take and count nothing with. */
#include <assay/base.h>

#include "event/encode.h"

enum { NO_PERF_EVENT = 0xff };

/* The bits of the umasks of some groups. */
static uint64_t known_bits(const struct event_request *r, uint32_t groups)
{
    const struct assay_event_umask *u = event_umasks(r);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < r->event->umasks; i++)
        if (groups & EVENT_BIT(u[i].group))
            bits |= u[i].value;
    return bits;
}

static uint64_t latency_bit(const struct event_request *r)
{
    const struct assay_event_umask *u = event_umasks(r);
    for (uint32_t i = 0; i < r->event->umasks; i++)
        if (u[i].flags & ASSAY_EVENT_ALONE)
            return u[i].value;
    return 0;
}

static int fail_raw(struct event_request *r, enum assay_event_reason reason, uint64_t bits)
{
    int status = assay_event_fail(r, reason, r->raw_at);
    r->e->value = bits;
    return status;
}

/* A raw offcore value needs a request and a response, or it counts nothing. */
static int judge_raw_offcore(struct event_request *r)
{
    uint64_t raw = r->c->raw_umask, refused = raw & ~r->event->extra_ok;
    uint64_t request = known_bits(r, 1), response = known_bits(r, ~1u), latency = latency_bit(r);
    if (refused)
        return fail_raw(r, ASSAY_EVENT_MSR_REFUSES, refused);
    if (raw & latency && raw & response & ~latency)
        return fail_raw(r, ASSAY_EVENT_LATENCY, raw & response & ~latency);
    if (!(raw & request) || !(raw & response))
        return fail_raw(r, ASSAY_EVENT_RAW_ILLEGAL, 0);
    return ASSAY_OK;
}

/* A raw umask is for what no table names, so it may have any bit of the field; but the pseudo code of a fixed counter is no event
 * with another umask. */
static int judge_raw(struct event_request *r)
{
    if (r->event->flags & ASSAY_EVENT_OFFCORE)
        return judge_raw_offcore(r);
    if (event_is_libpfm4(r) || !(r->event->flags & ASSAY_EVENT_FIXED_ONLY))
        return ASSAY_OK;
    uint64_t other = r->c->raw_umask & ~(r->event->config >> 8);
    return other ? fail_raw(r, ASSAY_EVENT_RAW_ILLEGAL, other) : ASSAY_OK;
}

/* The umask with a bit that the offcore MSR does not take. */
static int judge_msr(struct event_request *r)
{
    const struct assay_event_umask *u = event_umasks(r);
    for (uint64_t i = r->umasks; i; i &= i - 1) {
        unsigned n = (unsigned)__builtin_ctzll(i);
        if (!(u[n].value & ~r->event->extra_ok))
            continue;
        int status = assay_event_fail_umask(r, ASSAY_EVENT_MSR_REFUSES, n, n);
        r->e->value = u[n].value & ~r->event->extra_ok;
        return status;
    }
    return ASSAY_OK;
}

/* A fixed counter has neither edge, inversion nor threshold. */
static int judge_fixed(struct event_request *r)
{
    static const uint8_t modifiers[] = {ASSAY_EVENT_MOD_E, ASSAY_EVENT_MOD_I, ASSAY_EVENT_MOD_C};
    for (unsigned i = 0; i < sizeof modifiers; i++)
        if (r->c->modifier[modifiers[i]] && !(r->fixed & EVENT_BIT(modifiers[i])))
            return assay_event_fail_modifier(r, ASSAY_EVENT_NO_MODIFIER, (enum assay_event_modifier)modifiers[i]);
    return ASSAY_OK;
}

static int judge_core(struct event_request *r)
{
    if (r->event->flags & ASSAY_EVENT_NO_KERNEL && event_is_linux(r))
        return assay_event_fail(r, ASSAY_EVENT_KERNEL_REFUSES, r->event_at);
    int status = r->c->raw ? judge_raw(r) : ASSAY_OK;
    if (status == ASSAY_OK && r->event->flags & ASSAY_EVENT_FIXED_ONLY)
        status = judge_fixed(r);
    if (status == ASSAY_OK && r->event->flags & ASSAY_EVENT_OFFCORE)
        status = judge_msr(r);
    return status;
}

/* What the hardware has and Linux's table of NetBurst events does not. */
static int judge_netburst(struct event_request *r)
{
    const struct assay_event_umask *u = event_umasks(r);
    if (!event_is_linux(r))
        return ASSAY_OK;
    if (r->event->flags & ASSAY_EVENT_NO_KERNEL || r->t->netburst[r->event->netburst].perf_event == NO_PERF_EVENT)
        return assay_event_fail(r, ASSAY_EVENT_KERNEL_REFUSES, r->event_at);
    for (uint64_t i = r->umasks; i; i &= i - 1) {
        unsigned n = (unsigned)__builtin_ctzll(i);
        if (u[n].flags & ASSAY_EVENT_NO_KERNEL)
            return assay_event_fail_umask(r, ASSAY_EVENT_KERNEL_REFUSES, n, n);
    }
    return ASSAY_OK;
}

int assay_event_judge_registers(struct event_request *r)
{
    if (r->pmu->scheme == ASSAY_EVENT_CORE)
        return judge_core(r);
    return r->pmu->scheme == ASSAY_EVENT_NETBURST ? judge_netburst(r) : ASSAY_OK;
}
