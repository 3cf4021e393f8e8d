/* SPDX-License-Identifier: MIT */
/* From one decided branch to the next, an instruction at a time. Instructions count when the trace has proved them: by
 * deciding the branch after them, or by saying that control left there. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

static bool fetch(struct oracle *o, uint64_t ip, struct insn *in)
{
    uint8_t code[16];
    size_t size = o->memory.read(o->memory.ctx, ip, code, 15);
    if (size == 0)
        return oracle_lose(o, "no code is known here");
    if (!insn_decode(code, size, o->mode, ip, in))
        return oracle_lose(o, "no instruction stands here");
    return true;
}

static void push_return(struct oracle *o, uint64_t ip)
{
    o->stack[o->stack_top] = ip;
    o->stack_top = (o->stack_top + 1) % RETURN_STACK;
    if (o->stack_n < RETURN_STACK)
        o->stack_n++;
}

static uint64_t pop_return(struct oracle *o)
{
    o->stack_n--;
    o->stack_top = (o->stack_top + RETURN_STACK - 1) % RETURN_STACK;
    return o->stack[o->stack_top];
}

/* `in` is executed, then the instruction at `to`. Not proved yet. */
static void step(struct oracle *o, const struct insn *in, uint64_t to)
{
    if (o->way_n == o->way_cap) {
        o->way_cap = o->way_cap ? 2 * o->way_cap : 64;
        o->way = realloc(o->way, o->way_cap * sizeof *o->way);
        if (!o->way)
            abort();
    }
    o->way[o->way_n++] = *in;
    /* A call of the next instruction only asks for its own address; nobody returns from it. */
    if ((in->branch == CALL && in->target != in->next) || in->branch == CALL_IND)
        push_return(o, in->next);
    o->ip = to;
}

void oracle_prove(struct oracle *o)
{
    for (size_t i = 0; i < o->way_n; i++)
        if (o->find.insn)
            o->find.insn(o->find.ctx, &o->way[i]);
    o->way_n = 0;
}

/* The branch `in` was executed and went to `to`. */
static void decide(struct oracle *o, const struct insn *in, uint64_t to)
{
    step(o, in, to);
    oracle_prove(o);
}

static bool needs_trace(const struct insn *in)
{
    return in->branch == COND || in->branch == JMP_IND || in->branch == CALL_IND || in->branch == RET ||
           in->branch == FAR;
}

/* Where control goes without the trace's help. */
static uint64_t plain_next(const struct insn *in)
{
    return in->branch == JMP || in->branch == CALL ? in->target : in->next;
}

/* Walking without the trace's help is a function of the address alone: an address met again will be met for ever. One
 * earlier address is remembered, a later one at each power of two (Brent). */
struct loop_guard {
    uint64_t steps, seen_at_step, seen;
};

static bool loops(struct loop_guard *g, uint64_t ip)
{
    if (g->steps > 0 && ip == g->seen)
        return true;
    if (g->steps == 2 * g->seen_at_step || g->steps == 0) {
        g->seen = ip;
        g->seen_at_step = g->steps ? g->steps : 1;
    }
    g->steps++;
    return false;
}

/* Walks until wanted() says yes to the next instruction, which is then *in and not executed yet; NULL: to the address
 * arg, whatever stands there. Stops with false and an error at one that needs the trace, where there is no code, and
 * in an endless loop. */
static bool walk(struct oracle *o, bool (*wanted)(const struct insn *in, uint64_t arg), uint64_t arg,
                 const char *missed, struct insn *in)
{
    struct loop_guard guard = {0};
    for (;;) {
        if (!wanted && o->ip == arg)
            return true;
        if (loops(&guard, o->ip))
            return oracle_lose(o, "an endless loop that the trace does not leave here");
        if (!fetch(o, o->ip, in))
            return false;
        if (wanted && wanted(in, arg))
            return true;
        if (needs_trace(in))
            return oracle_lose(o, missed);
        step(o, in, plain_next(in));
    }
}

static bool is_decision(const struct insn *in, uint64_t unused)
{
    (void)unused;
    return needs_trace(in);
}

/* Far transfers and changes of CR3 do; near branches may leave an address filter, and not all hardware then tells
 * where to. */
static bool leaves_context(const struct insn *in, uint64_t unused)
{
    (void)unused;
    return in->mov_cr3 || needs_trace(in);
}

static bool leaves_to(const struct insn *in, uint64_t target)
{
    switch (in->branch) {
    case STRAIGHT: /* out of the filter without a branch */
        return in->next == target;
    case COND:
        return in->target == target || in->next == target;
    case JMP:
    case CALL:
        return in->target == target;
    default:
        return true;
    }
}

bool oracle_walk_to(struct oracle *o, uint64_t ip)
{
    struct insn in;
    return walk(o, NULL, ip, "a branch stands before the place that the trace tells", &in);
}

/* To where the context ended without an address to go to: executed. */
bool oracle_leave_context(struct oracle *o)
{
    struct insn in;
    if (!walk(o, leaves_context, 0, "", &in))
        return false;
    decide(o, &in, in.next);
    return true;
}

bool oracle_leave_by_branch_to(struct oracle *o, uint64_t target)
{
    struct insn in;
    if (!walk(o, leaves_to, target, "a conditional branch that does not leave to the address told", &in))
        return false;
    decide(o, &in, target);
    return true;
}

bool oracle_walk_over_ptwrite(struct oracle *o)
{
    struct insn in;
    if (!fetch(o, o->ip, &in))
        return false;
    if (in.ptwrite)
        step(o, &in, in.next);
    return true;
}

/* Uses up the TNT bits; at a branch that they do not decide the rest waits for the TIP. */
bool oracle_follow_bits(struct oracle *o)
{
    struct insn in;
    while (o->bits_n > 0) {
        if (!walk(o, is_decision, 0, "", &in))
            return false;
        if (in.branch != COND && in.branch != RET)
            return true;
        bool taken = o->bits >> --o->bits_n & 1;
        if (in.branch == COND)
            decide(o, &in, taken ? in.target : in.next);
        else if (taken && o->stack_n > 0)
            decide(o, &in, pop_return(o));
        else {
            step(o, &in, in.ip);
            return oracle_lose(o, taken ? "a compressed return without a call" : "not-taken for a return");
        }
        /* A CYC before the TNT is the time of its first branch. */
        oracle_cycle_point(o);
    }
    return true;
}

bool oracle_tip(struct oracle *o, uint64_t target)
{
    struct insn in;
    if (!walk(o, is_decision, 0, "", &in))
        return false;
    if (in.branch == COND)
        return oracle_lose(o, "TIP where a TNT is due");
    /* libipt leaves the stack as it is at a return that was not compressed, perf pops always: no sound trace tells the
     * two apart. */
    decide(o, &in, target);
    oracle_cycle_point(o);
    return true;
}
