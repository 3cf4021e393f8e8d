/* SPDX-License-Identifier: MIT */
/* Random programs run on the trace unit under random settings. A walker that knows the program reads the packets back: every
 * branch must come out as it was, every time that a CYC, MTC, TSC or TMA tells must be exact. The times that are expected are
 * worked out here from the definitions of the clocks, not asked of the unit. */
#include <assay/pt_unit.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#ifdef ASSAY_HAVE_IPT
#include <intel-pt.h>
#endif

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
static void write_program(struct world *w)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        unsigned module = i / MODULE, left = (module + 1) * MODULE - i - 1;
        struct block *b = &w->block[i];
        b->ip = module_at[module] + i % MODULE * 5;
        b->kind = left ? random_kind(w) : K_IND;
        b->to = b->kind == K_COND ? random_below(w, BLOCKS) : left ? i + 1 + random_below(w, left) : 0;
    }
}

static const struct block *block_at(const struct world *w, uint64_t ip)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (w->block[i].ip == ip)
            return &w->block[i];
    fail_msg("no block at %llx", (unsigned long long)ip);
    return NULL;
}

/* ---- running it */

static void take_output(struct world *w)
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

static struct event *log_event(struct world *w, enum happening what, const struct block *at, uint64_t next)
{
    assert_true(w->events < EVENTS);
    struct event *e = &w->event[w->events++];
    *e = (struct event){what, at ? at->ip : 0, next, w->u.cycles, 0, w->u.mode};
    w->here = next;
    return e;
}

static void pass_time(struct world *w)
{
    unsigned n = random_below(w, 100);
    w->u.cycles += n < 60 ? random_below(w, 4) : n < 97 ? random_below(w, 60) : random_below(w, 9000);
}

/* Called after each call of the unit. An enter() that finds room again is itself not lost. */
static void note_overflow(struct world *w, bool before, bool entered)
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

static const struct block *anywhere(struct world *w) { return &w->block[random_below(w, BLOCKS)]; }

static const struct block *come_back(struct world *w, const struct block *to)
{
    pass_time(w);
    if (chance(w, 300))
        UNIT(w, false, assay_pt_unit_tick(&w->u));
    log_event(w, H_ENTER, NULL, to->ip);
    UNIT(w, true, assay_pt_unit_enter(&w->u, to->ip));
    return to;
}

/* What comes from outside the program, before a block. */
static const struct block *disturb(struct world *w, const struct block *b)
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

static const struct block *step(struct world *w, const struct block *b, uint64_t *calls, unsigned *depth)
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

static void run(struct world *w, bool losses)
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

/* ---- reading it back */

struct reader {
    const struct world *w;
    struct assay_pt_decoder d;
    struct assay_pt_packet p; /* a packet of the flow, not yet used */
    bool have, timed;         /* timed: a CYC stands directly before p */
    uint64_t cycle;           /* by the CYCs so far */
    uint64_t latest;          /* of the events so far */
    uint64_t thresh, wrap, n, mtc;
    bool cyc, exact; /* exact: no threshold, every eligible packet has the time of the last CYC */
    bool after_stand_alone, mtc_known;
    bool wild;           /* that CYC exceeds the counter: TSC after a jump of the clock, or OVF */
    unsigned bits, mode; /* TNT results left */
    uint64_t tnt;
    uint64_t stack[STEPS];
    unsigned top, depth, resumed;
    /* Decoders differ in how they keep their call stack. libipt: 64 entries, popped by compressed returns only, kept over PSB.
     * perf: any number of entries, popped by every return, emptied by PSB. */
    bool like_perf;
    unsigned stack_size;
};

static uint64_t tsc_at(const struct world *w, uint64_t cycle)
{
    uint64_t tsc = 1000000007, from = 0;
    unsigned core = w->u.config.core_ratio;
    for (size_t i = 0; i < w->ratios && w->ratio[i].from <= cycle; i++) {
        tsc += (w->ratio[i].from - from) * 24 / core;
        from = w->ratio[i].from;
        core = w->ratio[i].core;
    }
    return tsc + (cycle - from) * 24 / core;
}

static uint64_t ctc_at(const struct world *w, uint64_t tsc)
{
    return tsc * w->u.config.tsc_ctc_d / w->u.config.tsc_ctc_n;
}

static void read_cyc(struct reader *r, uint64_t cycles)
{
    assert_true(r->cyc && cycles > 0);
    assert_true(cycles >= r->thresh || cycles == r->wrap || r->after_stand_alone);
    r->wild = cycles > r->wrap;
    r->cycle += cycles;
    assert_true(r->cycle >= r->latest);
    r->timed = true;
    r->after_stand_alone = cycles == r->wrap;
}

static void read_mtc(struct reader *r, uint8_t ctc)
{
    assert_false(r->wild);
    if (r->mtc_known)
        assert_int_equal(ctc, (r->mtc + 1) % 256);
    r->mtc = ctc;
    r->mtc_known = r->w->ctl & ASSAY_RTIT_TSCEN; /* without, a jump of the clock shows in nothing else */
    if (!r->exact || !r->cycle)
        return;
    uint64_t now = ctc_at(r->w, tsc_at(r->w, r->cycle)) >> r->n,
             before = ctc_at(r->w, tsc_at(r->w, r->cycle - 1)) >> r->n;
    assert_int_equal(now % 256, ctc);
    assert_true(now > before); /* the first cycle of the tick */
}

static void read_time(struct reader *r)
{
    const struct assay_pt_packet *p = &r->p;
    uint64_t tsc = tsc_at(r->w, r->cycle), ctc = ctc_at(r->w, tsc);
    r->mtc_known = r->wild = false;
    if (!r->exact)
        return;
    if (p->type == ASSAY_PT_TSC) {
        assert_int_equal(p->tsc.tsc, tsc);
    } else {
        uint64_t n = r->w->u.config.tsc_ctc_n, d = r->w->u.config.tsc_ctc_d, tick = tsc;
        while (ctc_at(r->w, tick - 1) == ctc)
            tick--;
        assert_int_equal(p->tma.ctc, ctc & 0xffff);
        assert_int_equal(p->tma.fc, tsc - tick);
        assert_true(tsc - tick <= n / d);
    }
}

static void read_psb(struct reader *r)
{
    bool have_time = false;
    if (r->like_perf)
        r->depth = 0;
    while (assay_pt_decoder_next(&r->d, &r->p) == 1 && r->p.type != ASSAY_PT_PSBEND) {
        switch (r->p.type) {
        case ASSAY_PT_CYC:
            read_cyc(r, r->p.cyc.cycles);
            break;
        case ASSAY_PT_TSC:
        case ASSAY_PT_TMA:
            have_time = true;
            read_time(r);
            break;
        case ASSAY_PT_MODE_EXEC:
            r->mode = r->p.exec.cs_l ? 64 : 32;
            break;
        default:
            assert_true(r->p.type == ASSAY_PT_CBR || r->p.type == ASSAY_PT_PIP || r->p.type == ASSAY_PT_FUP);
        }
    }
    assert_int_equal(have_time, (r->w->ctl & ASSAY_RTIT_TSCEN) != 0);
    r->timed = false;
}

/* The next packet of the flow in r->p; what tells time or state on the way is checked and used. false at the end. */
static bool peek(struct reader *r)
{
    while (!r->have && assay_pt_decoder_next(&r->d, &r->p) == 1) {
        switch (r->p.type) {
        case ASSAY_PT_CYC:
            read_cyc(r, r->p.cyc.cycles);
            continue;
        case ASSAY_PT_PSB:
            read_psb(r);
            break;
        case ASSAY_PT_MTC:
            read_mtc(r, r->p.mtc.ctc);
            break;
        case ASSAY_PT_TSC:
        case ASSAY_PT_TMA:
            read_time(r);
            break;
        case ASSAY_PT_MODE_EXEC:
            r->mode = r->p.exec.cs_l ? 64 : 32;
            continue; /* the CYC before it counts for the TIP after it */
        case ASSAY_PT_CBR:
        case ASSAY_PT_PIP:
            break;
        case ASSAY_PT_GAP:
            fail_msg("gap at %llu: %s", (unsigned long long)r->p.offset, r->p.gap.what);
            break;
        default:
            r->have = true;
            continue;
        }
        r->timed = false;
    }
    return r->have;
}

static void use(struct reader *r, unsigned type)
{
    assert_true(peek(r));
    assert_false(r->wild);
    assert_string_equal(assay_pt_name(r->p.type), assay_pt_name(type));
    r->have = false;
}

/* The event that the packet in r->p (or the next TNT bit) tells of; `bound`: it is the one that a CYC gives the time of. */
static void check_event(struct reader *r, const struct event *e, enum happening what, const struct block *at,
                        bool bound)
{
    assert_int_equal(e->what, what);
    if (at)
        assert_int_equal(e->at, at->ip);
    if (!r->cyc)
        return;
    assert_true(e->cycle >= r->cycle);
    if (bound && (r->timed || r->exact))
        assert_int_equal(e->cycle, r->cycle);
    if (bound)
        r->timed = false;
    r->latest = e->cycle;
}

static void check_target(struct reader *r, const struct event *e)
{
    assert_int_equal(r->p.ip.ip, e->next);
    assert_int_equal(r->mode, e->mode);
}

static bool next_bit(struct reader *r, const struct event *e, enum happening what, const struct block *at)
{
    bool first = !r->bits;
    if (first) {
        use(r, ASSAY_PT_TNT);
        r->bits = r->p.tnt.count;
        r->tnt = r->p.tnt.bits;
    }
    check_event(r, e, what, at, first);
    return r->tnt >> --r->bits & 1;
}

static const struct block *read_ret(struct reader *r, const struct block *b, const struct event *e)
{
    if (r->bits || (peek(r) && r->p.type == ASSAY_PT_TNT)) {
        assert_true(next_bit(r, e, H_RET, b));
        assert_true(r->depth > 0);
        r->depth--;
        assert_int_equal(r->stack[--r->top % r->stack_size], e->next);
    } else {
        use(r, ASSAY_PT_TIP);
        check_event(r, e, H_RET, b, true);
        check_target(r, e);
        unsigned pop = r->like_perf && r->depth;
        r->depth -= pop;
        r->top -= pop;
    }
    return block_at(r->w, e->next);
}

static void push(struct reader *r, uint64_t ip)
{
    r->stack[r->top++ % r->stack_size] = ip;
    r->depth += r->depth < r->stack_size;
}

/* FUP and what it belongs to: an event before block b. NULL: it left. */
static const struct block *read_async(struct reader *r, const struct block *b, const struct event *e)
{
    r->have = false;
    assert_true(peek(r));
    bool away = r->p.type == ASSAY_PT_TIP_PGD;
    use(r, away ? ASSAY_PT_TIP_PGD : ASSAY_PT_TIP);
    check_event(r, e, away ? H_ASYNC_LEAVE : H_ASYNC, b, true);
    if (away)
        return NULL;
    check_target(r, e);
    return block_at(r->w, e->next);
}

/* After OVF: the flow goes on at a later event, at a FUP's address or outside. */
static const struct block *read_ovf(struct reader *r, size_t *next)
{
    const struct world *w = r->w;
    r->have = r->timed = r->wild = false;
    assert_true(r->resumed < w->resumes);
    assert_true(w->resume[r->resumed] >= *next);
    *next = w->resume[r->resumed++];
    r->depth = r->bits = 0;
    r->mtc_known = false;
    if (!peek(r) || r->p.type != ASSAY_PT_FUP)
        return NULL;
    r->have = false;
    assert_int_equal(r->p.ip.ip, w->resume_at[r->resumed - 1]);
    return block_at(w, r->p.ip.ip);
}

static const struct block *read_block(struct reader *r, const struct block *b, size_t *next)
{
    const struct event *e = &r->w->event[*next];
    switch (b->kind) {
    case K_COND: {
        bool taken = next_bit(r, e, H_COND, b);
        ++*next;
        assert_int_equal(taken, e->value);
        return taken ? &r->w->block[b->to] : b + 1;
    }
    case K_CALL:
        push(r, b[1].ip);
        return &r->w->block[b->to];
    case K_CALL_IND:
        push(r, b[1].ip);
        /* fall through */
    case K_IND:
        use(r, ASSAY_PT_TIP);
        ++*next;
        check_event(r, e, H_TIP, b, true);
        check_target(r, e);
        return block_at(r->w, e->next);
    case K_RET:
        ++*next;
        return read_ret(r, b, e);
    case K_FAR:
        use(r, ASSAY_PT_TIP_PGD);
        ++*next;
        assert_true(r->p.ip.suppressed);
        check_event(r, e, H_LEAVE, b, true);
        return NULL;
    case K_PTW:
        if (!(r->w->ctl & ASSAY_RTIT_PTWEN))
            return b + 1;
        use(r, ASSAY_PT_PTW);
        ++*next;
        check_event(r, e, H_PTW, b, true);
        assert_int_equal(r->p.ptw.payload, e->value);
        if (r->p.ptw.ip) {
            use(r, ASSAY_PT_FUP);
            assert_int_equal(r->p.ip.ip, b->ip);
        }
        return b + 1;
    case K_JMP:
        return &r->w->block[b->to];
    default:
        return b + 1;
    }
}

/* One block, or one event at its beginning. b NULL: outside. */
static const struct block *read_on(struct reader *r, const struct block *b, size_t *next)
{
    const struct event *e = &r->w->event[*next];
    if (!r->bits && peek(r) && r->p.type == ASSAY_PT_OVF)
        return read_ovf(r, next);
    if (!b) {
        use(r, ASSAY_PT_TIP_PGE);
        ++*next;
        check_event(r, e, H_ENTER, NULL, true);
        check_target(r, e);
        return block_at(r->w, e->next);
    }
    if (!r->bits && r->p.type == ASSAY_PT_FUP && r->p.ip.ip == b->ip) {
        ++*next;
        return read_async(r, b, e);
    }
    return read_block(r, b, next);
}

static void read_back(const struct world *w, bool like_perf)
{
    struct reader r = {.w = w, .like_perf = like_perf, .stack_size = like_perf ? STEPS : 64};
    unsigned field = (unsigned)(w->ctl >> ASSAY_RTIT_CYCTHRESH_SHIFT) & 15;
    r.n = w->ctl >> ASSAY_RTIT_MTCFREQ_SHIFT & 15;
    r.cyc = w->ctl & ASSAY_RTIT_CYCEN;
    r.thresh = field ? UINT64_C(1) << (field - 1) : 1;
    r.exact = r.cyc && !field;
    r.wrap = (UINT64_C(1) << w->u.config.cyc_counter_bits) - 1;
    assay_pt_decoder_init(&r.d, w->out, w->out_size, 0, true);
    const struct block *b = NULL;
    size_t next = 0;
    while (next < w->events && (r.bits || peek(&r)))
        b = read_on(&r, b, &next);
    assert_false(peek(&r));
    if (!w->u.overflow) {
        assert_int_equal(next, w->events);
        assert_int_equal(r.resumed, w->resumes);
    }
    assert_int_equal(assay_pt_decoder_pos(&r.d), w->out_size);
}

#ifdef ASSAY_HAVE_IPT
static void ask_libipt(const struct world *w)
{
    struct pt_config config;
    pt_config_init(&config);
    static uint8_t copy[OUTPUT];
    memcpy(copy, w->out, w->out_size);
    config.begin = copy;
    config.end = copy + w->out_size;
    struct pt_packet_decoder *d = pt_pkt_alloc_decoder(&config);
    assert_non_null(d);
    assert_int_equal(pt_pkt_sync_forward(d), 0);
    struct pt_packet p;
    int status;
    while ((status = pt_pkt_next(d, &p, sizeof p)) > 0)
        ;
    uint64_t offset = 0;
    pt_pkt_get_offset(d, &offset);
    pt_pkt_free_decoder(d);
    assert_int_equal(status, -pte_eos);
    assert_int_equal(offset, w->out_size);
}
#endif

static void set_up(struct world *w, uint64_t seed)
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

static struct world *world(void)
{
    static struct world w;
    return &w;
}

static void random_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        set_up(world(), seed);
        run(world(), false);
        assert_int_equal(world()->u.lost, 0);
        read_back(world(), false);
        read_back(world(), true);
    }
}

static void random_losses(void **state)
{
    (void)state;
    uint64_t lost = 0;
    for (uint64_t seed = 1000; seed < 1200; seed++) {
        set_up(world(), seed);
        run(world(), true);
        lost += world()->u.lost;
        read_back(world(), false);
        read_back(world(), true);
    }
    assert_true(lost > 10000);
}

static void same_events_same_bytes(void **state)
{
    (void)state;
    static uint8_t first[OUTPUT];
    for (uint64_t seed = 0; seed < 20; seed++) {
        set_up(world(), seed);
        run(world(), seed % 2);
        size_t size = world()->out_size;
        memcpy(first, world()->out, size);
        set_up(world(), seed);
        run(world(), seed % 2);
        assert_int_equal(world()->out_size, size);
        assert_memory_equal(world()->out, first, size);
    }
}

static void libipt_reads_every_packet(void **state)
{
    (void)state;
#ifdef ASSAY_HAVE_IPT
    for (uint64_t seed = 2000; seed < 2100; seed++) {
        set_up(world(), seed);
        run(world(), seed % 2);
        ask_libipt(world());
    }
#else
    print_message("libipt is not installed\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
        cmocka_unit_test(random_losses),
        cmocka_unit_test(same_events_same_bytes),
        cmocka_unit_test(libipt_reads_every_packet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
