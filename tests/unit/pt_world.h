/* SPDX-License-Identifier: MIT */
/* For tests: random programs run on the trace unit under random settings, with a log of what happened. */
#ifndef ASSAY_TESTS_PT_WORLD_H
#define ASSAY_TESTS_PT_WORLD_H

#include <assay/pt_unit.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- the program: blocks of one instruction of 5 bytes, in modules that are far apart */

enum kind { K_PLAIN, K_COND, K_JMP, K_CALL, K_IND, K_CALL_IND, K_RET, K_FAR, K_PTW };
enum { MODULES = 5, MODULE = 60, BLOCKS = MODULES * MODULE, STEPS = 6000, EVENTS = 2 * STEPS, OUTPUT = 1 << 22 };

static const uint64_t module_at[MODULES] = {0x400000, 0x41fff0, 0x7f0012345000, 0xffffffff81000000, 0x00ff900000000000};

struct block {
    uint64_t ip;
    enum kind kind;
    unsigned to; /* of COND, JMP, CALL */
};

enum happening { H_COND, H_TIP, H_RET, H_LEAVE, H_ENTER, H_ASYNC, H_ASYNC_LEAVE, H_PTW };

struct event {
    enum happening what;
    uint64_t at, next, cycle, value; /* value: taken, or what PTWRITE wrote */
    unsigned mode;
};

struct ratio {
    uint64_t from;
    unsigned core;
};

struct world {
    uint64_t random;
    struct block block[BLOCKS];
    struct assay_pt_unit u;
    uint64_t ctl;
    /* what happened */
    struct event event[EVENTS];
    size_t events;
    struct ratio ratio[STEPS];
    size_t ratios;
    size_t resume[STEPS]; /* the event that comes next after each OVF */
    uint64_t resume_at[STEPS];
    size_t resumes;
    uint64_t here; /* where the program is */
    /* what was written */
    uint8_t region[1024], out[OUTPUT];
    size_t out_size;
    bool dry; /* nobody takes full regions away */
};

static unsigned random_below(struct world *w, unsigned n)
{
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(w->random >> 33) % n;
}

static bool chance(struct world *w, unsigned per_mille) { return random_below(w, 1000) < per_mille; }

static enum kind random_kind(struct world *w)
{
    static const struct {
        enum kind kind;
        unsigned weight;
    } kinds[] = {{K_COND, 45},    {K_JMP, 8},  {K_CALL, 15}, {K_IND, 6},
                 {K_CALL_IND, 4}, {K_RET, 14}, {K_FAR, 2},   {K_PTW, 2}};
    unsigned n = random_below(w, 100);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (n < kinds[i].weight)
            return kinds[i].kind;
        n -= kinds[i].weight;
    }
    return K_PLAIN;
}

/* Direct jumps and calls go forward, so that no way goes round without a packet. */
static inline void write_program(struct world *w)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        unsigned module = i / MODULE, left = (module + 1) * MODULE - i - 1;
        struct block *b = &w->block[i];
        b->ip = module_at[module] + i % MODULE * 5;
        b->kind = left ? random_kind(w) : K_IND;
        b->to = b->kind == K_COND ? random_below(w, BLOCKS) : left ? i + 1 + random_below(w, left) : 0;
    }
}

static inline const struct block *block_at(const struct world *w, uint64_t ip)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (w->block[i].ip == ip)
            return &w->block[i];
    fail_msg("no block at %llx", (unsigned long long)ip);
    return NULL;
}

/* ---- running it */

static inline void take_output(struct world *w)
{
    size_t n = assay_pt_unit_written(&w->u);
    assert_true(w->out_size + n <= sizeof w->out);
    memcpy(w->out + w->out_size, w->region, n);
    w->out_size += n;
    assay_pt_unit_output(&w->u, w->region, sizeof w->region);
}

static bool on_full(struct assay_pt_unit *u, void *ctx)
{
    struct world *w = ctx;
    (void)u;
    if (w->dry)
        return false;
    take_output(w);
    return true;
}

static inline struct event *log_event(struct world *w, enum happening what, const struct block *at, uint64_t next)
{
    assert_true(w->events < EVENTS);
    struct event *e = &w->event[w->events++];
    *e = (struct event){what, at ? at->ip : 0, next, w->u.cycles, 0, w->u.mode};
    w->here = next;
    return e;
}

static inline void pass_time(struct world *w)
{
    unsigned n = random_below(w, 100);
    w->u.cycles += n < 60 ? random_below(w, 4) : n < 97 ? random_below(w, 60) : random_below(w, 9000);
}

/* Called after each call of the unit. An enter() that finds room again is itself not lost. */
static inline void note_overflow(struct world *w, bool before, bool entered)
{
    if (!before || w->u.overflow)
        return;
    w->resume_at[w->resumes] = w->here;
    w->resume[w->resumes++] = w->events - entered;
}

#define UNIT(w, entered, call)                                                                                         \
    do {                                                                                                               \
        bool over = (w)->u.overflow;                                                                                   \
        call;                                                                                                          \
        note_overflow(w, over, entered);                                                                               \
    } while (0)

static inline const struct block *anywhere(struct world *w) { return &w->block[random_below(w, BLOCKS)]; }

static inline const struct block *come_back(struct world *w, const struct block *to)
{
    pass_time(w);
    if (chance(w, 300))
        UNIT(w, false, assay_pt_unit_tick(&w->u));
    log_event(w, H_ENTER, NULL, to->ip);
    UNIT(w, true, assay_pt_unit_enter(&w->u, to->ip));
    return to;
}

/* What comes from outside the program, before a block. */
static inline const struct block *disturb(struct world *w, const struct block *b)
{
    struct assay_pt_unit *u = &w->u;
    if (chance(w, 10)) {
        const struct block *to = anywhere(w);
        log_event(w, H_ASYNC, b, to->ip);
        UNIT(w, false, assay_pt_unit_async(u, b->ip, to->ip));
        return to;
    }
    if (chance(w, 5)) {
        log_event(w, H_ASYNC_LEAVE, b, 0);
        UNIT(w, false, assay_pt_unit_async_leave(u, b->ip));
        return come_back(w, anywhere(w));
    }
    w->here = b->ip;
    if (chance(w, 3)) {
        struct ratio *r = &w->ratio[w->ratios++];
        *r = (struct ratio){u->cycles, 8 + random_below(w, 30)};
        UNIT(w, false, assay_pt_unit_frequency(u, r->core, b->ip));
    }
    if (chance(w, 3)) {
        u->cycles += random_below(w, 50000);
        UNIT(w, false, assay_pt_unit_time(u));
    }
    if (chance(w, 5))
        UNIT(w, false, assay_pt_unit_flush(u));
    if (chance(w, 5))
        UNIT(w, false, assay_pt_unit_cr3(u, (uint64_t)random_below(w, 1000) << 12, b->ip));
    return b;
}

static uint64_t real_return(struct world *w, uint64_t *calls, unsigned *depth)
{
    if (*depth && chance(w, 950))
        return calls[--*depth];
    if (*depth > 3 && chance(w, 500))
        return calls[*depth -= 3]; /* longjmp */
    return anywhere(w)->ip;
}

static inline const struct block *step(struct world *w, const struct block *b, uint64_t *calls, unsigned *depth)
{
    struct assay_pt_unit *u = &w->u;
    uint64_t next = b[1].ip;
    switch (b->kind) {
    case K_COND: {
        bool taken = chance(w, 600);
        next = taken ? w->block[b->to].ip : next;
        log_event(w, H_COND, b, next)->value = taken;
        UNIT(w, false, assay_pt_unit_cond(u, taken, next));
        break;
    }
    case K_CALL:
    case K_CALL_IND:
        calls[(*depth)++] = next;
        assay_pt_unit_call(u, next);
        if (b->kind == K_CALL)
            return &w->block[b->to];
        /* fall through */
    case K_IND:
        if (chance(w, 50))
            assay_pt_unit_mode(u, chance(w, 500) ? 64 : 32);
        next = anywhere(w)->ip;
        log_event(w, H_TIP, b, next);
        UNIT(w, false, assay_pt_unit_indirect(u, next));
        break;
    case K_RET:
        next = real_return(w, calls, depth);
        log_event(w, H_RET, b, next);
        UNIT(w, false, assay_pt_unit_ret(u, next));
        break;
    case K_FAR:
        log_event(w, H_LEAVE, b, 0);
        UNIT(w, false, assay_pt_unit_leave(u));
        return come_back(w, chance(w, 800) ? b + 1 : anywhere(w));
    case K_PTW:
        if (w->ctl & ASSAY_RTIT_PTWEN) {
            struct event *e = log_event(w, H_PTW, b, next);
            e->value = random_below(w, 1 << 30);
            UNIT(w, false, assay_pt_unit_ptwrite(u, b->ip, e->value, chance(w, 500) ? 8 : 4));
        }
        return b + 1;
    case K_JMP:
        return &w->block[b->to];
    default:
        return b + 1;
    }
    return block_at(w, next);
}

static inline void run(struct world *w, bool losses)
{
    static uint64_t calls[STEPS];
    unsigned depth = 0;
    const struct block *b = come_back(w, anywhere(w));
    for (unsigned i = 0; i < STEPS && w->events + 4 < EVENTS; i++) {
        pass_time(w);
        if (losses && chance(w, 5))
            w->dry = !w->dry;
        if (!w->dry && w->u.overflow && chance(w, 100))
            take_output(w);
        b = disturb(w, b);
        b = step(w, b, calls, &depth);
    }
    UNIT(w, false, assay_pt_unit_flush(&w->u));
    take_output(w);
}

static inline void set_up(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->random = seed * 2 + 1;
    for (int i = 0; i < 20; i++)
        random_below(w, 2);
    write_program(w);
    static const uint32_t n_d[][2] = {{100, 1}, {100, 2}, {5, 2}, {216, 2}, {84, 1}};
    unsigned clock = random_below(w, 5), bits = 8 + random_below(w, 9);
    struct assay_pt_unit_config config = {.tsc_ctc_n = n_d[clock][0],
                                          .tsc_ctc_d = n_d[clock][1],
                                          .max_ratio = 24,
                                          .core_ratio = 8 + random_below(w, 30),
                                          .cyc_counter_bits = bits};
    assay_pt_unit_init(&w->u, &config);
    w->u.tsc_base = 1000000007;
    w->u.on_full = on_full;
    w->u.ctx = w;
    assay_pt_unit_output(&w->u, w->region, sizeof w->region);
    uint64_t optional = ASSAY_RTIT_CYCEN | ASSAY_RTIT_OS | ASSAY_RTIT_FUPONPTW | ASSAY_RTIT_MTCEN | ASSAY_RTIT_TSCEN |
                        ASSAY_RTIT_DISRETC | ASSAY_RTIT_PTWEN;
    uint64_t some = 0;
    for (unsigned bit = 0; bit < 16; bit++)
        some |= (uint64_t)chance(w, bit == 11 ? 300 : 600) << bit; /* DisRETC less often */
    w->ctl = ASSAY_RTIT_TRACEEN | ASSAY_RTIT_USER | ASSAY_RTIT_BRANCHEN | (optional & some) |
             (uint64_t)(random_below(w, 9) + (clock == 2 ? 5 : 0)) << ASSAY_RTIT_MTCFREQ_SHIFT |
             (uint64_t)random_below(w, 2) << ASSAY_RTIT_PSBFREQ_SHIFT;
    if (chance(w, 400))
        w->ctl |= (uint64_t)random_below(w, bits < 13 ? bits + 1 : 14) << ASSAY_RTIT_CYCTHRESH_SHIFT;
    assert_int_equal(assay_pt_unit_wrmsr(&w->u, ASSAY_MSR_RTIT_CTL, w->ctl), ASSAY_OK);
}

static inline struct world *world(void)
{
    static struct world w;
    return &w;
}

#endif
