/* SPDX-License-Identifier: MIT */
/* The hot path: what retires, block by block, told to the trace unit or counted. */
#include "plugin.h"

#include <assay/image.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Which variant of the path runs is fixed at start: constants that the compiler folds. */
struct variant {
    bool truth, model, log;
    bool count, predict; /* no trace; the predictor is asked though nothing else of the core is */
};

ALWAYS_INLINE void count_block(struct thread *t, const struct block *p, uint64_t next, struct variant v)
{
    if (v.count) {
        t->s.insns += p->insns;
        t->s.tally[p->quantity + ((p->kind == BLOCK_COND) & (next == p->target))]++;
    }
    if (!v.truth)
        return;
    t->s.insns += p->insns;
    t->s.chk = t->s.chk * p->factor + p->chain;
    if (v.log)
        thread_log(t, p->start, p->insns);
}

ALWAYS_INLINE void charge_block(struct thread *t, const struct block *p, struct variant v)
{
    if (v.model)
        t->s.unit.cycles += assay_machine_block(t->core, p->start, p->insns, p->bytes);
    else if (!v.count) /* counted instructions say it */
        t->s.unit.cycles += p->insns;
}

ALWAYS_INLINE void charge_branch(struct thread *t, const struct block *p, uint64_t next, struct variant v)
{
    if ((v.model || v.predict) && p->insn_kind != ASSAY_INSN_OTHER)
        t->s.unit.cycles += assay_machine_branch(t->core, p->insn_kind, p->next - p->last_size,
                                                 p->insn_kind != ASSAY_INSN_COND || next == p->target, next, p->next);
}

/* A block that may end in a conditional branch, but in nothing else that is traced. Most blocks are of this kind, and to ask of
 * which would cost a branch that processors predict badly. True: assay_pt_unit_cond_slow() is due. */
ALWAYS_INLINE bool retire_plain(struct thread *t, const struct block *p, uint64_t next, struct variant v)
{
    charge_block(t, p, v);
    count_block(t, p, next, v);
    bool due = !v.count && assay_pt_unit_add(&t->s.unit, p->kind == BLOCK_COND, next == p->target);
    charge_branch(t, p, next, v);
    return due;
}

ALWAYS_INLINE bool is_plain(const struct block *p) { return p->kind <= BLOCK_NEXT; }

/* Which of the two it is is not to be asked in a jump. */
ALWAYS_INLINE bool can_go_to(const struct block *p, uint64_t next)
{
    bool taken = next == p->target, other = next == p->other;
    __asm__("" : "+r"(taken), "+r"(other));
    return taken | other;
}

/* A block whose last instruction left for `next`. False, and nothing done, when it cannot have gone there. */
ALWAYS_INLINE bool retire_whole(struct thread *t, const struct block *p, uint64_t next, struct variant v)
{
    struct assay_pt_unit *u = &t->s.unit;
    switch (p->kind) {
    case BLOCK_COND:
    case BLOCK_NEXT:
        if (!can_go_to(p, next))
            return false;
        if (retire_plain(t, p, next, v))
            assay_pt_unit_cond_slow(u, next);
        return true;
    case BLOCK_CALL:
        if (next != p->target)
            return false;
        charge_block(t, p, v);
        if (!v.count)
            assay_pt_unit_call(u, p->next);
        break;
    case BLOCK_RET:
        charge_block(t, p, v);
        if (!v.count)
            assay_pt_unit_ret(u, next);
        break;
    case BLOCK_CALL_IND:
        charge_block(t, p, v);
        if (!v.count) {
            assay_pt_unit_call(u, p->next);
            assay_pt_unit_indirect(u, next);
        }
        break;
    case BLOCK_JMP_IND:
        charge_block(t, p, v);
        if (!v.count)
            assay_pt_unit_indirect(u, next);
        break;
    case BLOCK_REP: /* one more round of the same instruction: nothing retires */
        return p->insns == 1 && next == p->start;
    default:
        return false;
    }
    count_block(t, p, next, v);
    charge_branch(t, p, next, v);
    return true;
}

static struct variant variant_of_process(void)
{
    const struct assay_spool_setup *s = process.setup;
    return (struct variant){.truth = s->truth,
                            .log = s->truth_blocks,
                            .model = !s->model.flat && (!s->count || s->count == ASSAY_SPOOL_COUNT_CYCLES),
                            .count = s->count,
                            .predict = !s->model.flat && s->count == ASSAY_SPOOL_COUNT_PREDICTOR};
}

bool exec_retire_part(struct thread *t, uint64_t ip)
{
    const struct block *p = t->prev;
    struct variant v = variant_of_process();
    uint32_t n = 0;
    uint64_t at = p->start, chk = t->s.chk;
    for (; n < p->insns && at != ip; at += p->size[n++])
        chk = chk * 31 + at;
    if (at != ip || n == p->insns)
        return false;
    t->s.unit.cycles += v.model ? assay_machine_block(t->core, p->start, n, (uint32_t)(ip - p->start)) : n;
    if (v.truth || v.count) {
        t->s.insns += n;
        t->s.chk = chk;
        if (v.log)
            thread_log(t, p->start, n);
    }
    t->prev = &outside;
    return true;
}

/* It never ends in a branch: the string instruction retires when it does not come back to itself. */
static void retire_string(struct thread *t, const struct block *p, uint64_t next, struct variant v)
{
    if (next == p->next - p->last_size) {
        exec_retire_part(t, next);
    } else {
        charge_block(t, p, v);
        count_block(t, p, next, v);
    }
}

static void retire_far(struct thread *t, const struct block *p, struct variant v)
{
    charge_block(t, p, v);
    count_block(t, p, p->next, v);
    assay_pt_unit_leave(&t->s.unit);
    t->s.unit.cycles += process.setup->model.syscall_cycles;
}

/* No successor of the block starts here. Either QEMU broke it off at this very instruction and goes on there, or something
 * that is not understood came between: then the trace shows an interrupt after the block. */
static void retire_odd(struct thread *t, const struct block *p, uint64_t next, struct variant v)
{
    if (exec_retire_part(t, next))
        return;
    __atomic_fetch_add(&process.setup->unexplained, 1, __ATOMIC_RELAXED);
    uint64_t expected = p->kind == BLOCK_COND ? p->next : p->target;
    retire_whole(t, p, expected, v);
    assay_pt_unit_async_leave(&t->s.unit, expected);
}

void exec_retire(struct thread *t, uint64_t next)
{
    const struct block *p = t->prev;
    struct variant v = variant_of_process();
    if (p->kind == BLOCK_REP)
        retire_string(t, p, next, v);
    else if (p->kind == BLOCK_FAR)
        retire_far(t, p, v);
    else if (p->kind < BLOCK_REP && !retire_whole(t, p, next, v))
        retire_odd(t, p, next, v);
    t->prev = &outside;
}

/* Brings the clock to the age of the code. Where the code replaced other code an interrupt is shown (the machine had to stop
 * for it), so that a reader never walks on from the old into the new. */
static void meet_code(struct thread *t, const struct block *b)
{
    struct assay_pt_unit *u = &t->s.unit;
    if (b->since <= u->cycles)
        return;
    if (u->enabled && b->flags & BLOCK_REPLACED)
        assay_pt_unit_async_leave(u, b->start);
    u->cycles = b->since;
    t->jumped = true;
    clock_publish(t);
}

static void go_on(struct thread *t, const struct block *b)
{
    struct assay_pt_unit *u = &t->s.unit;
    meet_code(t, b);
    if (t->jumped)
        assay_pt_unit_time(u);
    t->jumped = false;
    if (!u->enabled)
        assay_pt_unit_enter(u, b->start);
    t->prev = b;
    t->s.at = b->start;
    t->access = NULL;
}

__attribute__((used)) static void step_with_env(unsigned vcpu, const struct block *b, const void *env)
{
    struct thread *t = thread_of[vcpu % THREADS];
    if (t == &unborn)
        t = thread_of[vcpu % THREADS] = thread_start(env, b->start);
    if (b->flags & BLOCK_HANDLER)
        signal_arrive(t, b);
    if (!(b->flags & BLOCK_SHORT && exec_retire_part(t, b->start)))
        exec_retire(t, b->start);
    go_on(t, b);
}

/* Generated code on x86-64 keeps the pointer to QEMU's registers in RBP; elsewhere it is not known. A function that jumps here as the
 * last thing it does has given RBP back by then, and thread_start() looks whether what it finds are registers. */
#ifdef __x86_64__
__attribute__((naked, noinline)) static void step_slowly(__attribute__((unused)) unsigned vcpu,
                                                         __attribute__((unused)) const struct block *b)
{
    __asm__("mov %rbp, %rdx\n\tjmp step_with_env");
}
#else
static void step_slowly(unsigned vcpu, const struct block *b) { step_with_env(vcpu, b, NULL); }
#endif

ALWAYS_INLINE void stay(struct thread *t, const struct block *b, struct variant v)
{
    t->prev = b;
    if (v.count)
        t->access = NULL;
    else
        t->s.at = b->start;
}

__attribute__((noinline)) static void write_branches(struct thread *t, const struct block *b)
{
    assay_pt_unit_cond_slow(&t->s.unit, b->start);
    stay(t, b, (struct variant){0});
}

ALWAYS_INLINE void step_branch(unsigned vcpu, const struct block *b, struct variant v)
{
    struct thread *t = thread_of[vcpu % THREADS];
    if (__builtin_expect(retire_whole(t, t->prev, b->start, v), 1))
        stay(t, b, v);
    else
        step_slowly(vcpu, b);
}

/* Calls only at its ends, so that the fast way through saves no registers. */
ALWAYS_INLINE void step(unsigned vcpu, const struct block *b, struct variant v,
                        void (*branch)(unsigned vcpu, const struct block *b))
{
    struct thread *t = thread_of[vcpu % THREADS];
    const struct block *p = t->prev;
    if (__builtin_expect(b->born > t->s.unit.cycles, 0))
        step_slowly(vcpu, b);
    else if (!is_plain(p))
        branch(vcpu, b);
    else if (__builtin_expect(!can_go_to(p, b->start), 0))
        step_slowly(vcpu, b);
    else if (retire_plain(t, p, b->start, v))
        write_branches(t, b);
    else
        stay(t, b, v);
}

#define VARIANT(name, ...)                                                                                             \
    __attribute__((noinline)) static void name##_branch(unsigned vcpu, const struct block *b)                          \
    {                                                                                                                  \
        step_branch(vcpu, b, (struct variant){__VA_ARGS__});                                                           \
    }                                                                                                                  \
    static void name(unsigned vcpu, void *block) { step(vcpu, block, (struct variant){__VA_ARGS__}, name##_branch); }

VARIANT(step_flat, .truth = false)
VARIANT(step_flat_truth, .truth = true)
VARIANT(step_model, .model = true)
VARIANT(step_model_truth, .model = true, .truth = true)
VARIANT(step_flat_log, .truth = true, .log = true)
VARIANT(step_model_log, .model = true, .truth = true, .log = true)
VARIANT(step_count, .count = true)
VARIANT(step_count_predict, .count = true, .predict = true)
VARIANT(step_count_model, .count = true, .model = true)

exec_fn *exec_callback(void)
{
    static exec_fn *const by[2][3] = {{step_flat, step_flat_truth, step_flat_log},
                                      {step_model, step_model_truth, step_model_log}};
    struct variant v = variant_of_process();
    if (v.count)
        return v.model ? step_count_model : v.predict ? step_count_predict : step_count;
    return by[v.model][v.log ? 2 : v.truth];
}
