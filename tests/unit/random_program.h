/* SPDX-License-Identifier: MIT */
/* Random x86 programs that are "executed" by a walk over their own description: the walk drives the virtual trace unit and
 * knows, without any decoder, which instructions ran. For tests and measurements of flow reconstruction. */
#ifndef ASSAY_TESTS_RANDOM_PROGRAM_H
#define ASSAY_TESTS_RANDOM_PROGRAM_H

#include <assay/assay.h>

#include <stdlib.h>
#include <string.h>

enum { RP_BASE = 0x400000, RP_DEPTH = 4096 };

struct rp_insn {
    uint32_t off;
    uint8_t size, kind; /* enum assay_insn_kind */
    uint8_t bias;       /* COND: taken this often, of 256 */
    uint8_t period;     /* COND: if not 0, the other way once in so many times: a loop's branch */
    uint32_t target;    /* instruction index */
};

struct rp_program {
    uint8_t *code;
    size_t size;
    struct rp_insn *insn;
    uint32_t insns;
    uint32_t *entry; /* first instruction of each function */
    uint32_t functions;
    uint64_t seed;
};

struct rp_options {
    uint32_t functions, blocks; /* blocks a function */
    bool async, ptwrite, syscalls, longjmp;
    bool steady; /* indirect branches have few targets, and branches a strong bias: more like real programs */
};

static inline uint32_t rp_random(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % below);
}

static inline uint32_t rp_add(struct rp_program *p, const char *bytes, unsigned size, unsigned kind)
{
    memcpy(p->code + p->size, bytes, size);
    p->insn[p->insns] = (struct rp_insn){.off = (uint32_t)p->size, .size = (uint8_t)size, .kind = (uint8_t)kind};
    p->size += size;
    return p->insns++;
}

static inline void rp_fill(struct rp_program *p)
{
    static const char *const filler[] = {"\x90", "\x31\xc0", "\x48\x89\xc8", "\x0f\x1f\x40\x00",
                                         "\x05\x01\x02\x03\x04"};
    for (uint32_t n = rp_random(&p->seed, 6); n > 0; n--) {
        uint32_t i = rp_random(&p->seed, 5);
        rp_add(p, filler[i], i + 1, ASSAY_INSN_OTHER);
    }
}

/* How a block ends. Jumps go forward and direct calls to later functions, so that no loop is without a conditional branch. */
static inline void rp_end_block(struct rp_program *p, const struct rp_options *o, uint32_t function, bool last_function)
{
    uint32_t r = rp_random(&p->seed, 100);
    (void)function;
    if (r < 65) {
        uint32_t i = rp_add(p, "\x0f\x85\0\0\0\0", 6, ASSAY_INSN_COND);
        uint32_t b = rp_random(&p->seed, 4);
        p->insn[i].bias = (uint8_t)(!o->steady || rp_random(&p->seed, 8) == 0 ? 128 : b < 2 ? 255 : 0);
        p->insn[i].period = (uint8_t)(o->steady ? 2 + rp_random(&p->seed, 30) : 0);
    } else if (r < 75) {
        rp_add(p, "\xe9\0\0\0\0", 5, ASSAY_INSN_JMP);
    } else if (r < 88 && !last_function) {
        rp_add(p, "\xe8\0\0\0\0", 5, ASSAY_INSN_CALL);
    } else if (r < 92) {
        rp_add(p, "\xff\xd0", 2, ASSAY_INSN_CALL_IND);
    } else if (r < 95) {
        rp_add(p, "\xff\xe0", 2, ASSAY_INSN_JMP_IND);
    } else if (r < 97 && o->syscalls) {
        rp_add(p, "\x0f\x05", 2, ASSAY_INSN_FAR);
    } else {
        rp_add(p, "\xc3", 1, ASSAY_INSN_RET);
    }
}

static inline void rp_link(struct rp_program *p, uint32_t function, const uint32_t *block, uint32_t blocks, uint32_t b,
                           uint32_t i)
{
    struct rp_insn *n = &p->insn[i];
    if (n->kind == ASSAY_INSN_COND)
        n->target = block[rp_random(&p->seed, blocks)];
    else if (n->kind == ASSAY_INSN_JMP)
        n->target = block[b + 1 + rp_random(&p->seed, blocks - b - 1)];
    else if (n->kind == ASSAY_INSN_CALL)
        n->target = function + 1 + rp_random(&p->seed, p->functions - function - 1); /* of a function for now */
}

static inline void rp_make_function(struct rp_program *p, const struct rp_options *o, uint32_t function)
{
    uint32_t first[256], last[256];
    p->entry[function] = p->insns;
    for (uint32_t b = 0; b < o->blocks; b++) {
        first[b] = p->insns;
        rp_fill(p);
        if (b + 1 < o->blocks)
            rp_end_block(p, o, function, function + 1 == p->functions);
        else
            rp_add(p, "\xc3", 1, ASSAY_INSN_RET);
        last[b] = p->insns - 1;
    }
    for (uint32_t b = 0; b < o->blocks; b++)
        rp_link(p, function, first, o->blocks, b, last[b]);
}

static inline void rp_relocate(struct rp_program *p)
{
    for (uint32_t i = 0; i < p->insns; i++) {
        struct rp_insn *n = &p->insn[i];
        if (n->kind == ASSAY_INSN_CALL)
            n->target = p->entry[n->target];
        if (n->kind != ASSAY_INSN_COND && n->kind != ASSAY_INSN_JMP && n->kind != ASSAY_INSN_CALL)
            continue;
        uint32_t rel = p->insn[n->target].off - (n->off + n->size);
        for (unsigned k = 0; k < 4; k++)
            p->code[n->off + n->size - 4 + k] = (uint8_t)(rel >> 8 * k);
    }
}

static inline void rp_make(struct rp_program *p, const struct rp_options *o, uint64_t seed)
{
    size_t most = (size_t)o->functions * o->blocks * 7;
    *p = (struct rp_program){.seed = seed, .functions = o->functions};
    p->code = calloc(most, 6);
    p->insn = calloc(most, sizeof *p->insn);
    p->entry = calloc(o->functions, sizeof *p->entry);
    for (uint32_t f = 0; f < o->functions; f++)
        rp_make_function(p, o, f);
    rp_relocate(p);
}

static inline void rp_drop(struct rp_program *p)
{
    free(p->code);
    free(p->insn);
    free(p->entry);
}

/* ---- execution */

struct rp_run {
    const struct rp_program *p;
    const struct rp_options *o;
    struct assay_pt_unit *u;
    struct assay_flow_digest truth;
    uint32_t stack[RP_DEPTH], depth;
    uint32_t *count; /* of executions, for branches with a period */
    uint64_t seed;
};

static inline uint64_t rp_ip(const struct rp_program *p, uint32_t i) { return RP_BASE + p->insn[i].off; }

static inline uint32_t rp_indirect_target(struct rp_run *r, uint32_t i)
{
    uint32_t n = r->p->functions;
    uint32_t pick = r->o->steady ? (i * 7 + (rp_random(&r->seed, 10) == 0)) % n : rp_random(&r->seed, n);
    return r->p->entry[pick];
}

static inline void rp_call(struct rp_run *r, uint32_t i)
{
    assay_pt_unit_call(r->u, rp_ip(r->p, i + 1));
    if (r->depth < RP_DEPTH)
        r->stack[r->depth++] = i + 1;
}

static inline uint32_t rp_return(struct rp_run *r, uint32_t i)
{
    uint32_t next = r->depth ? r->stack[--r->depth] : rp_indirect_target(r, i);
    if (r->o->longjmp && rp_random(&r->seed, 50) == 0)
        next = rp_indirect_target(r, i);
    assay_pt_unit_ret(r->u, rp_ip(r->p, next));
    return next;
}

static inline uint32_t rp_syscall(struct rp_run *r, uint32_t i)
{
    assay_pt_unit_leave(r->u);
    r->u->cycles += 300;
    assay_pt_unit_enter(r->u, rp_ip(r->p, i + 1));
    return i + 1;
}

/* Executes instruction i; the next one. */
static inline uint32_t rp_step(struct rp_run *r, uint32_t i)
{
    const struct rp_insn *n = &r->p->insn[i];
    uint32_t next = i + 1;
    r->truth.insns++;
    r->truth.chk = r->truth.chk * 31 + rp_ip(r->p, i);
    r->u->cycles++;
    switch (n->kind) {
    case ASSAY_INSN_COND: {
        bool taken = n->bias == 128 || !n->period ? rp_random(&r->seed, 256) < n->bias
                                                  : (++r->count[i] % n->period == 0) != (n->bias == 255);
        next = taken ? n->target : i + 1;
        assay_pt_unit_cond(r->u, taken, rp_ip(r->p, next));
        return next;
    }
    case ASSAY_INSN_JMP:
        return n->target;
    case ASSAY_INSN_CALL:
        rp_call(r, i);
        return n->target;
    case ASSAY_INSN_CALL_IND:
        rp_call(r, i);
        next = rp_indirect_target(r, i);
        assay_pt_unit_indirect(r->u, rp_ip(r->p, next));
        return next;
    case ASSAY_INSN_JMP_IND:
        next = rp_indirect_target(r, i);
        assay_pt_unit_indirect(r->u, rp_ip(r->p, next));
        return next;
    case ASSAY_INSN_RET:
        return rp_return(r, i);
    case ASSAY_INSN_FAR:
        return rp_syscall(r, i);
    default:
        return next;
    }
}

static inline uint32_t rp_disturb(struct rp_run *r, uint32_t i)
{
    uint32_t what = rp_random(&r->seed, 3000);
    uint64_t ip = rp_ip(r->p, i);
    if (what == 0 && r->o->async) {
        uint32_t to = r->p->entry[rp_random(&r->seed, r->p->functions)];
        assay_pt_unit_async(r->u, ip, rp_ip(r->p, to));
        return to;
    }
    if (what == 1 && r->o->async) {
        assay_pt_unit_async_leave(r->u, ip);
        r->u->cycles += 1000;
        assay_pt_unit_enter(r->u, ip);
    }
    if (what == 2 && r->o->ptwrite)
        assay_pt_unit_ptwrite(r->u, ip, i, 8);
    return i;
}

/* Runs until `steps` instructions were executed or the output is nearly full; tracing ends with the last instruction. */
static inline void rp_execute(struct rp_run *r, uint64_t steps)
{
    r->count = calloc(r->p->insns, sizeof *r->count);
    bool quiet = !r->o->async && !r->o->ptwrite;
    uint32_t i = r->p->entry[0];
    assay_pt_unit_enter(r->u, rp_ip(r->p, i));
    for (; steps > 0 && r->u->out_at + 4096 < r->u->out_end; steps--)
        i = rp_step(r, quiet ? i : rp_disturb(r, i));
    assay_pt_unit_async_leave(r->u, rp_ip(r->p, i));
    free(r->count);
}

/* The unit, on, with `ctl` bits besides TraceEn, BranchEn and User, writing to out[0..size). */
static inline void rp_unit(struct assay_pt_unit *u, uint64_t ctl, uint8_t *out, size_t size)
{
    const struct assay_pt_unit_config config = {
        .tsc_ctc_n = 100, .tsc_ctc_d = 2, .max_ratio = 24, .core_ratio = 12, .mode = 64};
    assay_pt_unit_init(u, &config);
    assay_pt_unit_output(u, out, size);
    assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_CTL, ctl | ASSAY_RTIT_TRACEEN | ASSAY_RTIT_BRANCHEN | ASSAY_RTIT_USER);
}

#endif
