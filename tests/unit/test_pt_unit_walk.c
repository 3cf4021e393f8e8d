/* SPDX-License-Identifier: MIT */
/* Random programs run on the trace unit under random settings. A walker that knows the program reads the packets back:
 * every branch must come out as it was, every time that a CYC, MTC, TSC or TMA tells must be exact. The times that are
 * expected are worked out here from the definitions of the clocks, not asked of the unit. */
#include "pt_world.h"

#ifdef ASSAY_HAVE_IPT
#include <intel-pt.h>
#endif

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
    /* Decoders differ in how they keep their call stack. libipt: 64 entries, popped by compressed returns only, kept
     * over PSB. perf: any number of entries, popped by every return, emptied by PSB. */
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

/* The event that the packet in r->p (or the next TNT bit) tells of; `bound`: it is the one that a CYC gives the time
 * of. */
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
