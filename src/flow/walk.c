/* SPDX-License-Identifier: MIT */
/* The walk through the run graph: what branch outcomes, targets and asynchronous events do to it. */
#include "walk.h"

/* Executes the whole run in hand. */
static void execute(struct assay_flow *f)
{
    uint32_t id = LINK_ID(f->link);
    flow_item(f, id);
    walk_push(f, id);
}

bool flow_no_code(struct assay_flow *f)
{
    const char *what =
        f->none_code == ASSAY_E_BAD_FORMAT ? "no instruction at this address" : "no code at this address";
    flow_fail(f, f->none_code, f->none_ip, what, NULL);
    return false;
}

/* Goes on past runs that end without consuming trace. False when it cannot: a gap has begun. */
static bool pass_slow(struct assay_flow *f)
{
    uint64_t limit = f->config.loop_limit / RUN_BLOCKS + 1;
    for (uint64_t n = 0; LINK_KIND(f->link) == LINK_SLOW; n++) {
        uint32_t id = LINK_ID(f->link);
        if (f->link == LINK_NONE)
            f->link = flow_link_at(f, f->none_ip); /* there may be code by now */
        if (f->link == LINK_NONE)
            return flow_no_code(f);
        if (f->nodes[id].flags & NODE_LOOP || n == limit) {
            flow_fail(f, ASSAY_E_LOOP, f->runs[id].ip, "the trace goes on, the code loops here without a way out",
                      NULL);
            return false;
        }
        if (LINK_KIND(f->link) != LINK_SLOW || LINK_ID(f->link) != id)
            continue;
        execute(f);
        f->link = flow_edge(f, f->link, 0);
    }
    return true;
}

static bool take_return(struct assay_flow *f)
{
    uint64_t ip = flow_last_ip(f, LINK_ID(f->link));
    execute(f);
    if (!f->stack_depth) {
        flow_fail(f, ASSAY_E_MISMATCH, ip, "compressed return without a call", "a call since the last PSB");
        return false;
    }
    f->stack_depth--;
    f->link = flow_return_link(f, &f->sites[f->stack[--f->stack_top % STACK]]);
    return true;
}

/* One branch outcome, whatever the run ends with. False: it was not taken (a TIP must come first, or a gap began). */
static bool follow_bit(struct assay_flow *f, unsigned bit)
{
    if (!pass_slow(f))
        return false;
    unsigned kind = LINK_KIND(f->link);
    if (kind >= LINK_TIP)
        return false;
    if (kind < LINK_RET) {
        uint32_t link = f->link;
        execute(f);
        f->link = flow_edge(f, link, bit);
        return true;
    }
    if (bit)
        return take_return(f);
    flow_fail(f, ASSAY_E_MISMATCH, flow_last_ip(f, LINK_ID(f->link)), "a branch outcome of 0 at a return", NULL);
    return false;
}

void flow_follow(struct assay_flow *f, uint64_t bits, unsigned n)
{
    while (n && !f->stop) {
        if (!follow_bit(f, bits >> (n - 1) & 1))
            break;
        n--;
        if (f->cyc != f->cyc_told)
            flow_put_cycles(f);
    }
    f->tnt_n = f->state == ON ? (uint8_t)n : 0;
    f->tnt = bits;
}

void flow_take_tip(struct assay_flow *f, uint64_t ip)
{
    if (!pass_slow(f))
        return;
    if (LINK_KIND(f->link) < LINK_RET) {
        flow_fail(f, ASSAY_E_MISMATCH, flow_last_ip(f, LINK_ID(f->link)), "TIP at a conditional branch", "TNT");
        return;
    }
    execute(f); /* a return that was not compressed leaves the return stack as it is */
    flow_put_cycles(f);
    if (f->mode_next)
        flow_set_mode(f, f->mode_next);
    f->link = flow_link_at(f, ip);
    if (f->tnt_n)
        flow_follow(f, f->tnt, f->tnt_n);
}

/* ---- events in the midst of a run */

/* How many runs must be passed, without consuming trace, to the one that holds ip, and which of its instructions that is. */
struct ahead {
    uint64_t runs;
    int64_t insns; /* -1: not ahead */
};

static struct ahead look_ahead(struct assay_flow *f, uint64_t ip)
{
    struct ahead a = {0, -1};
    uint64_t limit = f->config.loop_limit / RUN_BLOCKS + 1;
    for (uint32_t link = f->link; a.runs <= limit; a.runs++) {
        if (link == LINK_NONE) {
            a.insns = f->none_ip == ip ? 0 : -1;
            return a;
        }
        a.insns = flow_locate(f, LINK_ID(link), ip);
        if (a.insns >= 0 || LINK_KIND(link) != LINK_SLOW || f->nodes[LINK_ID(link)].flags & NODE_LOOP)
            return a;
        link = flow_edge(f, link, 0);
    }
    return a;
}

static void pass_runs(struct assay_flow *f, uint64_t n)
{
    while (n-- > 0) {
        execute(f);
        f->link = flow_edge(f, f->link, 0);
    }
}

/* The first n instructions of the run in hand: an event, and the calls among them. */
static void execute_part(struct assay_flow *f, uint32_t n)
{
    if (!n)
        return;
    uint32_t id = LINK_ID(f->link);
    struct assay_flow_event e = {.type = ASSAY_FLOW_PARTIAL, .offset = flow_pos(f), .run = id, .insns = n};
    flow_event(f, &e);
    const struct assay_flow_run *run = &f->runs[id];
    uint32_t site = f->nodes[id].first_push;
    for (uint32_t i = 0; i < run->blocks && n >= f->blocks[run->first_block + i].insns; i++) {
        const struct assay_flow_block *b = &f->blocks[run->first_block + i];
        n -= b->insns;
        if ((b->kind != ASSAY_INSN_CALL && b->kind != ASSAY_INSN_CALL_IND) || b->flags & ASSAY_INSN_CALL_NEXT)
            continue;
        f->stack[f->stack_top++ % STACK] = site++;
        f->stack_depth += f->stack_depth < STACK;
    }
}

bool flow_reaches(struct assay_flow *f, uint64_t ip) { return look_ahead(f, ip).insns >= 0; }

/* Where a FUP may carry the address after an indirect branch. */
static bool after_branch(struct assay_flow *f, uint64_t ip)
{
    if (!(f->errata & ERRATUM_NEXT_IP) || LINK_KIND(f->link) < LINK_RET || LINK_KIND(f->link) == LINK_SLOW)
        return false;
    const struct assay_flow_run *run = &f->runs[LINK_ID(f->link)];
    return f->blocks[run->first_block + run->blocks - 1].end == ip;
}

bool flow_leave_at(struct assay_flow *f, uint64_t ip)
{
    struct ahead a = look_ahead(f, ip);
    if (a.insns < 0 && after_branch(f, ip)) {
        execute(f);
        return true;
    }
    if (a.insns < 0)
        return false;
    pass_runs(f, a.runs);
    execute_part(f, (uint32_t)a.insns);
    return true;
}

/* ---- TIP.PGD without FUP */

static bool leads_to(const struct assay_flow *f, uint32_t id, uint64_t ip)
{
    const struct assay_flow_run *run = &f->runs[id];
    const struct assay_flow_block *b = &f->blocks[run->first_block + run->blocks - 1];
    return b->kind != ASSAY_INSN_COND || b->target == ip || b->end == ip;
}

static uint64_t insn_ip(const struct assay_flow *f, uint32_t id, uint32_t n)
{
    const struct assay_flow_run *run = &f->runs[id];
    const struct assay_flow_block *b = &f->blocks[run->first_block];
    for (; n >= b->insns; b++)
        n -= b->insns;
    uint64_t ip = b->ip;
    for (uint32_t i = 0; i < n; i++)
        ip += f->sizes[b->sizes + i];
    return ip;
}

static bool loops_to(const struct assay_flow *f, uint64_t ip)
{
    uint32_t id = LINK_ID(f->link);
    const struct assay_flow_run *run = &f->runs[id];
    return f->link != LINK_NONE && f->nodes[id].flags & NODE_LOOP &&
           f->blocks[run->first_block + run->blocks - 1].target == ip;
}

/* A direct branch left the filter: the first on the way whose target is ip. It may be the end of the code that is known. */
static bool leave_by_direct(struct assay_flow *f, uint64_t ip, uint64_t *last)
{
    struct ahead a = look_ahead(f, ip);
    if (a.insns < 0 || (a.runs + (uint64_t)a.insns == 0 && !loops_to(f, ip)))
        return false;
    if (a.insns == 0) {
        pass_runs(f, a.runs ? a.runs - 1 : 0);
        *last = flow_last_ip(f, LINK_ID(f->link));
        execute(f);
    } else {
        pass_runs(f, a.runs);
        *last = insn_ip(f, LINK_ID(f->link), (uint32_t)a.insns - 1);
        execute_part(f, (uint32_t)a.insns);
    }
    return true;
}

bool flow_leave_sync(struct assay_flow *f, bool has_ip, uint64_t ip, uint64_t *last)
{
    int64_t n;
    if (has_ip && leave_by_direct(f, ip, last))
        return true;
    if (!has_ip && f->link != LINK_NONE && f->nodes[LINK_ID(f->link)].flags & NODE_PAGING &&
        (n = flow_find_flag(f, LINK_ID(f->link), ASSAY_INSN_MOV_CR3, last)) >= 0) {
        execute_part(f, (uint32_t)n + 1);
        return true;
    }
    if (!pass_slow(f))
        return false;
    *last = flow_last_ip(f, LINK_ID(f->link));
    if (has_ip && !leads_to(f, LINK_ID(f->link), ip)) {
        flow_fail(f, ASSAY_E_MISMATCH, *last, "TIP.PGD to an address that this branch does not lead to", NULL);
        return false;
    }
    execute(f);
    return true;
}
