/* SPDX-License-Identifier: MIT */
/* Flow: small programs and traces written by hand, and the instructions that must have run. */
#include <assay/assay.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BASE = 0x401000 };

/* ---- a trace, packet by packet; addresses are offsets from BASE */

struct trace {
    uint8_t b[8192];
    size_t n;
    uint64_t last_ip;
};

static void put(struct trace *t, const struct assay_pt_packet *p)
{
    uint8_t buf[ASSAY_PT_MAX_PACKET];
    int n = assay_pt_encode(p, buf);
    assert_true(n > 0);
    memcpy(t->b + t->n, buf, (size_t)n);
    t->n += (size_t)n;
}

static void plain(struct trace *t, unsigned type)
{
    if (type == ASSAY_PT_PSB || type == ASSAY_PT_OVF)
        t->last_ip = 0;
    put(t, &(struct assay_pt_packet){.type = (uint8_t)type});
}

static void ip_packet(struct trace *t, unsigned type, uint64_t at)
{
    struct assay_pt_packet p = {.type = (uint8_t)type};
    assay_pt_compress_ip(&p, BASE + at, t->last_ip);
    t->last_ip = BASE + at;
    put(t, &p);
}

static void tip(struct trace *t, uint64_t at) { ip_packet(t, ASSAY_PT_TIP, at); }
static void pge(struct trace *t, uint64_t at) { ip_packet(t, ASSAY_PT_TIP_PGE, at); }
static void pgd(struct trace *t, uint64_t at) { ip_packet(t, ASSAY_PT_TIP_PGD, at); }
static void fup(struct trace *t, uint64_t at) { ip_packet(t, ASSAY_PT_FUP, at); }
static void pgd_none(struct trace *t)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_TIP_PGD, .ip = {.suppressed = true}});
}

/* Outcomes in order, T taken, N not. */
static void tnt(struct trace *t, const char *outcomes)
{
    size_t n = strlen(outcomes);
    struct assay_pt_packet p = {.type = n > 6 ? ASSAY_PT_TNT64 : ASSAY_PT_TNT, .tnt = {.count = (uint8_t)n}};
    for (size_t i = 0; i < n; i++)
        p.tnt.bits = p.tnt.bits << 1 | (outcomes[i] == 'T');
    put(t, &p);
}

static void cyc(struct trace *t, uint64_t n)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_CYC, .cyc = {.cycles = n}});
}
static void tsc(struct trace *t, uint64_t v)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_TSC, .tsc = {.tsc = v}});
}
static void tma(struct trace *t, uint16_t ctc, uint16_t fc)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_TMA, .tma = {.ctc = ctc, .fc = fc}});
}
static void mtc(struct trace *t, uint8_t ctc)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_MTC, .mtc = {.ctc = ctc}});
}
static void mode(struct trace *t, unsigned m)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_MODE_EXEC, .exec = {.cs_l = m == 64, .cs_d = m == 32}});
}
static void tsx(struct trace *t, bool in_tx, bool abort)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_MODE_TSX, .tsx = {.in_tx = in_tx, .abort = abort}});
}
static void ptw(struct trace *t, uint64_t v, bool with_fup)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_PTW, .ptw = {.payload = v, .bytes = 8, .ip = with_fup}});
}
static void cbr(struct trace *t, uint8_t ratio)
{
    put(t, &(struct assay_pt_packet){.type = ASSAY_PT_CBR, .cbr = {.ratio = ratio}});
}
static void raw(struct trace *t, const char *bytes, size_t n)
{
    memcpy(t->b + t->n, bytes, n);
    t->n += n;
}

/* PSB+ that says: tracing is on at this place, in 64-bit mode. */
static void psb_at(struct trace *t, uint64_t at)
{
    plain(t, ASSAY_PT_PSB);
    fup(t, at);
    mode(t, 64);
    plain(t, ASSAY_PT_PSBEND);
}

/* ---- what was decoded, as text: [0 2 4] a run's instructions, [0 2] cut by an asynchronous event, c5 cycles, events by word */

struct flow_text {
    char s[16384];
    struct assay_out o;
    struct assay_flow_digest digest;
    uint64_t times[32];
    unsigned times_n;
    struct assay_flow_event gap[8];
    unsigned gaps;
};

static void say_insns(struct flow_text *r, struct assay_flow *f, uint32_t id, uint32_t n, const char *close)
{
    const struct assay_flow_run *run = assay_flow_run_at(f, id);
    assay_out_char(&r->o, '[');
    for (uint32_t i = 0, k = 0; i < run->blocks; i++) {
        const struct assay_flow_block *b = assay_flow_block_at(f, run->first_block + i);
        uint64_t ip = b->ip;
        for (uint32_t j = 0; j < b->insns && k < n; j++, k++) {
            if (k)
                assay_out_char(&r->o, ' ');
            assay_out_hex(&r->o, ip - BASE);
            if (j + 1 == b->insns)
                assert_int_equal(ip, b->last_ip);
            ip += assay_flow_sizes(f, b)[j];
        }
    }
    assay_out_str(&r->o, close);
}

static const char *const words[ASSAY_FLOW_EVENTS] = {
    [ASSAY_FLOW_ENABLED] = "on",  [ASSAY_FLOW_DISABLED] = "off",    [ASSAY_FLOW_ASYNC] = "async",
    [ASSAY_FLOW_MODE] = "mode",   [ASSAY_FLOW_TSX] = "tsx",         [ASSAY_FLOW_PAGING] = "cr3",
    [ASSAY_FLOW_VMCS] = "vmcs",   [ASSAY_FLOW_FREQUENCY] = "freq",  [ASSAY_FLOW_PTWRITE] = "ptw",
    [ASSAY_FLOW_POWER] = "power", [ASSAY_FLOW_INTERRUPT] = "intr",  [ASSAY_FLOW_EVENT_DATA] = "evd",
    [ASSAY_FLOW_PEBS] = "pebs",   [ASSAY_FLOW_TRIGGER] = "trig",    [ASSAY_FLOW_MAINTENANCE] = "mnt",
    [ASSAY_FLOW_STOP] = "stop",   [ASSAY_FLOW_OVERFLOW] = "ovf",    [ASSAY_FLOW_GAP] = "gap",
    [ASSAY_FLOW_TASK] = "task",   [ASSAY_FLOW_RESTART] = "restart",
};

static void say_event(struct flow_text *r, struct assay_flow *f, const struct assay_flow_event *e)
{
    if (e->type == ASSAY_FLOW_TIME) {
        assert_true(r->times_n < 32);
        r->times[r->times_n++] = e->tsc;
        return;
    }
    if (e->type == ASSAY_FLOW_PARTIAL) {
        say_insns(r, f, e->run, e->insns, "]/ ");
        return;
    }
    if (e->type == ASSAY_FLOW_GAP && r->gaps < 8)
        r->gap[r->gaps++] = *e;
    assay_out_str(&r->o, words[e->type]);
    if (e->type == ASSAY_FLOW_GAP) {
        assay_out_sdec(&r->o, e->code);
    } else if (e->value) {
        assay_out_char(&r->o, '=');
        assay_out_hex(&r->o, e->value);
    }
    if (e->has_ip) {
        assay_out_char(&r->o, '@');
        assay_out_hex(&r->o, e->ip - BASE);
    }
    if (e->to) {
        assay_out_char(&r->o, '>');
        assay_out_hex(&r->o, e->to - BASE);
    }
    assay_out_char(&r->o, ' ');
}

static int on_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct flow_text *r = ctx;
    for (size_t i = 0; i < b->items_n; i++) {
        uint32_t item = b->items[i];
        if (ASSAY_FLOW_IS_RUN(item)) {
            say_insns(r, f, item, UINT32_MAX, "] ");
        } else if (ASSAY_FLOW_IS_CYCLES(item)) {
            assay_out_char(&r->o, 'c');
            assay_out_dec(&r->o, ASSAY_FLOW_INDEX(item));
            assay_out_char(&r->o, ' ');
        } else {
            say_event(r, f, &b->events[ASSAY_FLOW_INDEX(item)]);
        }
    }
    assay_flow_digest_add(&r->digest, f, b);
    return 0;
}

/* ---- running it */

struct world {
    struct assay_image *image;
    struct assay_view *view;
    struct assay_flow_config config;
};

static void world_make(struct world *w, const char *code, size_t size)
{
    *w = (struct world){.config = {.mtc_freq = 3, .tsc_ctc_n = 100, .tsc_ctc_d = 2, .max_ratio = 24}};
    assert_int_equal(assay_image_new(&w->image, NULL), 0);
    if (size)
        assert_int_equal(assay_image_code(w->image, 0, 0, BASE, (const uint8_t *)code, size, NULL), 0);
    assert_int_equal(assay_image_seal(w->image), 0);
    assert_int_equal(assay_view_new(w->image, 0, &w->view), 0);
}

static void world_drop(struct world *w)
{
    assay_view_free(w->view);
    assay_image_free(w->image);
}

/* Feeds the trace in pieces: the first of `first` bytes, then `step` more each time. */
static struct assay_ledger decode(struct world *w, const struct trace *t, size_t first, size_t step,
                                  struct flow_text *r)
{
    struct assay_flow *f;
    memset(r, 0, sizeof *r);
    assay_out_init(&r->o, r->s, sizeof r->s - 1, NULL, NULL);
    assert_int_equal(assay_flow_new(&w->config, w->view, on_batch, r, &f), 0);
    size_t at = 0, end = first;
    for (bool last = false; !last;) {
        size_t used;
        last = end >= t->n;
        if (last)
            end = t->n;
        /* Exactly as large as it is, so that a sanitizer sees every read past it. */
        uint8_t *piece = malloc(end - at ? end - at : 1);
        memcpy(piece, t->b + at, end - at);
        assert_int_equal(assay_flow_feed(f, piece, end - at, last, &used), 0);
        free(piece);
        assert_true(used <= end - at);
        at += used;
        end += step;
    }
    assert_int_equal(at, t->n);
    struct assay_ledger ledger = *assay_flow_ledger(f);
    assert_true(assay_ledger_closes(&ledger));
    assert_int_equal(ledger.in, t->n);
    assay_flow_free(f);
    r->s[r->o.len] = 0;
    return ledger;
}

/* The trace gives the expected text, however it is cut. */
static struct assay_ledger expect(struct world *w, const struct trace *t, struct flow_text *r, const char *expected)
{
    struct assay_ledger ledger = decode(w, t, t->n, 1, r);
    assert_string_equal(r->s, expected);
    struct flow_text *other = malloc(sizeof *other);
    for (size_t cut = 0; cut < t->n; cut++) {
        decode(w, t, cut, t->n, other);
        assert_string_equal(other->s, expected);
    }
    for (size_t step = 1; step < 20; step += 6) {
        decode(w, t, step, step, other);
        assert_string_equal(other->s, expected);
        assert_int_equal(other->digest.chk, r->digest.chk);
    }
    free(other);
    return ledger;
}

static void check(const char *code, size_t size, const struct trace *t, const char *expected)
{
    struct world w;
    struct flow_text r;
    world_make(&w, code, size);
    struct assay_ledger ledger = expect(&w, t, &r, expected);
    assert_int_equal(assay_ledger_skipped(&ledger), 0);
    world_drop(&w);
}

static void check_damaged(const char *code, size_t size, const struct trace *t, const char *expected, uint64_t skipped)
{
    struct world w;
    struct flow_text r;
    world_make(&w, code, size);
    struct assay_ledger ledger = expect(&w, t, &r, expected);
    assert_int_equal(assay_ledger_skipped(&ledger), skipped);
    world_drop(&w);
}

/* ---- programs */

/* 0 nop; 1 dec ecx; 3 jnz 0; 5 syscall; 7 nop; 8 syscall */
#define LOOP "\x90\xff\xc9\x75\xfb\x0f\x05\x90\x0f\x05"
/* 0 call b; 5 nop; 6 jmp 0; b xor eax,eax; d ret; e nop; f syscall */
#define CALLS "\xe8\x06\x00\x00\x00\x90\xeb\xf8\xcc\xcc\xcc\x31\xc0\xc3\x90\x0f\x05"
/* 0 je 4; 2 jmp rax; 4 je 0; 6 syscall */
#define DEFER "\x74\x02\xff\xe0\x74\xfa\x0f\x05"

static void loop_and_syscall(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "TTN");
    pgd_none(&t);
    pge(&t, 7);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] [0 1 3] [0 1 3] [5] off@5 on@7 [7 8] off@8 ");
}

static void digest_is_by_instruction(void **state)
{
    (void)state;
    struct trace t = {0};
    struct world w;
    struct flow_text r;
    psb_at(&t, 0);
    tnt(&t, "T");
    fup(&t, 3);
    tip(&t, 5);
    pgd_none(&t);
    world_make(&w, LOOP, 10);
    decode(&w, &t, t.n, 1, &r);
    const uint64_t ips[] = {BASE, BASE + 1, BASE + 3, BASE, BASE + 1, BASE + 5};
    uint64_t chk = 0;
    for (size_t i = 0; i < 6; i++)
        chk = chk * 31 + ips[i];
    assert_int_equal(r.digest.insns, 6);
    assert_int_equal(r.digest.chk, chk);
    world_drop(&w);
}

static void compressed_return(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "TT");
    fup(&t, 6);
    pgd_none(&t);
    check(CALLS, 17, &t, "on@0 [0 b d] [5 6 0 b d] [5]/ off=1@6 ");
}

static void uncompressed_return(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tip(&t, 5);
    tip(&t, 0xe);
    pgd_none(&t);
    check(CALLS, 17, &t, "on@0 [0 b d] [5 6 0 b d] [e f] off@f ");
}

/* The stack is 64 deep and circular: of 70 nested calls the last 64 return compressed. */
static void deep_returns(void **state)
{
    (void)state;
    struct trace t = {0};
    /* 0 test eax,eax; 2 je 9; 4 call 0; 9 ret; a syscall */
    static const char code[] = "\x85\xc0\x74\x05\xe8\xf7\xff\xff\xff\xc3\x0f\x05";
    char expected[8192] = "on@0 [0 2] ";
    psb_at(&t, 0);
    for (int i = 0; i < 70; i++) {
        tnt(&t, "N");
        strcat(expected, "[4 0 2] ");
    }
    tnt(&t, "T");
    for (int i = 0; i < 64; i++) {
        tnt(&t, "T");
        strcat(expected, "[9] ");
    }
    tip(&t, 0xa);
    pgd_none(&t);
    strcat(expected, "[9] [a] off@a ");
    check(code, 12, &t, expected);
}

/* A call and return below a full stack costs the oldest entry, also when the way is known as a whole: after 64 nested calls and
 * a leaf 63 returns are compressed; one more would be wrong. */
static void full_stack_loses_the_oldest(void **state)
{
    (void)state;
    /* 0 test; 2 je c; 4 call 0; 9 ret; c call 16; 11 jne c; 13 ret; 16 ret */
    static const char code[] = "\x85\xc0\x74\x08\xe8\xf7\xff\xff\xff\xc3\x90\x90\xe8\x05\0\0\0\x75\xf9\xc3\x90\x90\xc3";
    struct trace t = {0};
    struct world w;
    struct flow_text *r = malloc(sizeof *r);
    psb_at(&t, 0);
    for (int i = 0; i < 64; i++)
        tnt(&t, "N");
    tnt(&t, "T");
    for (int i = 0; i < 40; i++)
        tnt(&t, "TT"); /* the leaf returns, jne taken */
    tnt(&t, "TN");
    for (int i = 0; i < 63; i++)
        tnt(&t, "T");
    size_t sound = t.n;
    tnt(&t, "T");
    psb_at(&t, 0x16);
    plain(&t, ASSAY_PT_PSB); /* enough bytes behind, so that all before is decoded the fast way */
    plain(&t, ASSAY_PT_PSBEND);
    world_make(&w, code, 23);
    decode(&w, &t, t.n, 1, r);
    assert_int_equal(r->gap[0].code, ASSAY_E_MISMATCH);
    assert_int_equal(r->gap[0].offset, sound);
    world_drop(&w);
    free(r);
}

/* What the stack held before an overflow or a PSB is not there after it, also for ways that were taken before. */
static void emptied_stack(void **state)
{
    (void)state;
    static const char code[] = "\xff\xd0\xeb\xfc\xc3"; /* 0 call rax; 2 jmp 0; 4 ret */
    for (int with_psb = 0; with_psb < 2; with_psb++) {
        struct trace t = {0};
        struct world w;
        struct flow_text r;
        psb_at(&t, 0);
        for (int i = 0; i < 6; i++) {
            tip(&t, 4);
            tnt(&t, "T");
        }
        tip(&t, 4);
        if (with_psb) {
            psb_at(&t, 4);
        } else {
            plain(&t, ASSAY_PT_OVF);
            fup(&t, 4);
        }
        size_t wrong = t.n;
        for (int i = 0; i < 20; i++)
            tnt(&t, "T");
        world_make(&w, code, 5);
        decode(&w, &t, t.n, 1, &r);
        assert_int_equal(r.gaps, 1);
        assert_int_equal(r.gap[0].offset, wrong);
        assert_string_equal(r.gap[0].what, "compressed return without a call");
        world_drop(&w);
    }
}

/* Addresses are compressed against the one before, in the hot loop too. */
static void compressed_addresses(void **state)
{
    (void)state;
    static char code[0x20012];
    struct trace t = {0};
    char expected[2048] = "on@0 ";
    memcpy(code, "\xff\xe0", 2);
    memcpy(code + 0x20000, "\xff\xe0", 2);
    memcpy(code + 0x20010, "\xff\xe0", 2);
    psb_at(&t, 0);
    for (int i = 0; i < 20; i++) {
        tip(&t, 0x20000);
        tip(&t, 0x20010);
        tip(&t, 0);
        strcat(expected, "[0] [20000] [20010] ");
    }
    check(code, sizeof code, &t, expected);
}

/* CALL to the next instruction is not pushed: the return below goes to the outer call's return address. */
static void call_next_is_not_pushed(void **state)
{
    (void)state;
    struct trace t = {0};
    /* 0 call 6; 5 nop..; 6 call b; b pop rax; c ret */
    static const char code[] = "\xe8\x01\x00\x00\x00\xf4\xe8\x00\x00\x00\x00\x58\xc3";
    psb_at(&t, 0);
    tnt(&t, "T");
    fup(&t, 5);
    pgd_none(&t);
    check(code, 13, &t, "on@0 [0 6 b c] off=1@5 ");
}

static void indirect_call_is_pushed(void **state)
{
    (void)state;
    struct trace t = {0};
    /* 0 call rax; 2 syscall; 4 ret */
    psb_at(&t, 0);
    tip(&t, 4);
    tnt(&t, "T");
    pgd_none(&t);
    check("\xff\xd0\x0f\x05\xc3", 5, &t, "on@0 [0] [4] [2] off@2 ");
}

static void deferred_tips(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "NTTN");
    tip(&t, 4);
    pgd_none(&t);
    check(DEFER, 8, &t, "on@0 [0] [2] [4] [0] [4] [6] off@6 ");

    t = (struct trace){0};
    psb_at(&t, 0);
    tnt(&t, "NTN");
    tip(&t, 4);
    tip(&t, 6);
    pgd_none(&t);
    check(DEFER, 8, &t, "on@0 [0] [2] [4] [0] [2] [6] off@6 ");

    t = (struct trace){0}; /* the first branch after the TIP */
    psb_at(&t, 2);
    tnt(&t, "N");
    tip(&t, 4);
    pgd_none(&t);
    check(DEFER, 8, &t, "on@2 [2] [4] [6] off@6 ");
}

static void long_tnt(void **state)
{
    (void)state;
    struct trace t = {0};
    char outcomes[48] = {0}, expected[1024] = "on@0 ";
    psb_at(&t, 0);
    memset(outcomes, 'T', 46);
    outcomes[46] = 'N';
    tnt(&t, outcomes);
    pgd_none(&t);
    for (int i = 0; i < 47; i++)
        strcat(expected, "[0 1 3] ");
    strcat(expected, "[5] off@5 ");
    check(LOOP, 10, &t, expected);

    t = (struct trace){0}; /* kept over a TIP */
    psb_at(&t, 0);
    tnt(&t, "NTTTTTTTTN");
    tip(&t, 4);
    pgd_none(&t);
    check(DEFER, 8, &t, "on@0 [0] [2] [4] [0] [4] [0] [4] [0] [4] [0] [4] [6] off@6 ");
}

static void asynchronous_branch(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "T");
    fup(&t, 3);
    tip(&t, 5);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] [0 1]/ async@3>5 [5] off@5 ");

    t = (struct trace){0}; /* before anything of the run was executed */
    psb_at(&t, 0);
    tnt(&t, "T");
    fup(&t, 0);
    tip(&t, 5);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] async@0>5 [5] off@5 ");
}

/* The calls before the interrupted instruction are on the return stack. */
static void calls_in_a_cut_run(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    fup(&t, 0xd);
    tip(&t, 0xd);
    tnt(&t, "T");
    fup(&t, 5);
    pgd_none(&t);
    check(CALLS, 17, &t, "on@0 [0 b]/ async@d>d [d] off=1@5 ");
}

static void asynchronous_disable(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    fup(&t, 1);
    pgd_none(&t);
    pge(&t, 1);
    tnt(&t, "N");
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0]/ off=1@1 on@1 [1 3] [5] off@5 ");
}

/* A filter ends at direct branches: there is no TNT bit for them. */
static void filter_left_by_direct_branches(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    pgd(&t, 0xb); /* the call at 0 left */
    pge(&t, 5);
    pgd(&t, 0); /* the jump at 6 left */
    check(CALLS, 17, &t, "on@0 [0]/ off@0>b on@5 [5 6]/ off@6>0 ");

    t = (struct trace){0};
    psb_at(&t, 0);
    tnt(&t, "T");
    pgd(&t, 5); /* the loop's branch, not taken */
    check(LOOP, 10, &t, "on@0 [0 1 3] [0 1 3] off@3>5 ");

    t = (struct trace){0};
    psb_at(&t, 0);
    pgd(&t, 0x100); /* code beyond the filter is not known: jmp 0x100 at 0 */
    check("\xe9\xfb\x00\x00\x00", 5, &t, "on@0 [0] off@0>100 ");

    t = (struct trace){0};
    psb_at(&t, 0);
    pgd(&t, 7); /* leads there in no way */
    check_damaged(LOOP, 10, &t, "on@0 gap-6@3 off>7 ", 0);
}

static void enabled_and_disabled_by_psb(void **state)
{
    (void)state;
    struct trace t = {0};
    plain(&t, ASSAY_PT_PSB); /* off */
    plain(&t, ASSAY_PT_PSBEND);
    pge(&t, 0);
    tnt(&t, "N");
    pgd_none(&t);
    plain(&t, ASSAY_PT_PSB);
    plain(&t, ASSAY_PT_PSBEND);
    pge(&t, 7);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] [5] off@5 restart on@7 [7 8] off@8 ");
}

/* PSB+ in the midst of a run: the run stays whole. */
static void psb_inside_a_run(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "T");
    psb_at(&t, 3);
    tnt(&t, "TN");
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] restart@3 [0 1 3] [0 1 3] [5] off@5 ");
}

static void psb_that_contradicts(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "T");
    psb_at(&t, 5);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] gap-6@5 on@5 [5] off@5 ");

    t = (struct trace){0}; /* off, says PSB+ */
    psb_at(&t, 0);
    tnt(&t, "T");
    plain(&t, ASSAY_PT_PSB);
    plain(&t, ASSAY_PT_PSBEND);
    pge(&t, 5);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] gap-6 on@5 [5] off@5 ");

    t = (struct trace){0}; /* on, says PSB+, and code runs */
    psb_at(&t, 5);
    pgd_none(&t);
    psb_at(&t, 0);
    tnt(&t, "N");
    check(LOOP, 10, &t, "on@5 [5] off@5 gap-6@0 on@0 [0 1 3] ");
}

/* BDM70: FUP in PSB+ although tracing is off, as the TIP.PGE shows. */
static void psb_fup_before_pge(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    cbr(&t, 12);
    pge(&t, 0);
    tnt(&t, "N");
    pgd_none(&t);
    psb_at(&t, 7);
    pge(&t, 7);
    pgd_none(&t);
    check(LOOP, 10, &t, "freq=c on@0 [0 1 3] [5] off@5 on@7 [7 8] off@8 ");
}

static void overflow(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "T");
    plain(&t, ASSAY_PT_OVF);
    fup(&t, 5); /* resolved while on */
    pgd_none(&t);
    plain(&t, ASSAY_PT_OVF);
    cbr(&t, 20);
    pge(&t, 7); /* resolved while off */
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] ovf on@5 [5] off@5 ovf freq=14 on@7 [7 8] off@8 ");

    t = (struct trace){0}; /* APL12: FUP although off; APL11: TIP.PGD */
    psb_at(&t, 0);
    tnt(&t, "T");
    plain(&t, ASSAY_PT_OVF);
    fup(&t, 5);
    pge(&t, 7);
    pgd_none(&t);
    plain(&t, ASSAY_PT_OVF);
    pgd_none(&t);
    pge(&t, 7);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] ovf on@7 [7 8] off@8 ovf off on@7 [7 8] off@8 ");
}

/* SKD010: the FUP after OVF is missing, but a TIP tells the place. */
static void overflow_then_tip(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "T");
    plain(&t, ASSAY_PT_OVF);
    tip(&t, 7);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] ovf on@7 [7 8] off@8 ");
}

/* The first overflow of a stream may cut a PSB+; a lost FUP cannot be made up for before the next sound place. */
static void overflow_without_a_place(void **state)
{
    (void)state;
    struct trace t = {0};
    plain(&t, ASSAY_PT_PSB);
    plain(&t, ASSAY_PT_OVF);
    tnt(&t, "TT"); /* 1 byte lost */
    pge(&t, 7);
    pgd_none(&t);
    check_damaged(LOOP, 10, &t, "ovf gap-6 on@7 [7 8] off@8 ", 1);
}

static void overflow_empties_the_return_stack(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    fup(&t, 0xd);
    tip(&t, 0xd);
    plain(&t, ASSAY_PT_OVF);
    fup(&t, 0xd);
    tnt(&t, "T");
    psb_at(&t, 5);
    fup(&t, 6);
    pgd_none(&t);
    check_damaged(CALLS, 17, &t, "on@0 [0 b]/ async@d>d ovf on@d [d] gap-6@d on@5 [5]/ off=1@6 ", 1);
}

static void mode_change(void **state)
{
    (void)state;
    struct trace t = {0};
    /* 0 syscall; 2: 64-bit rex jnz 2 | 32-bit inc eax; jnz 2 */
    static const char code[] = "\x0f\x05\x40\x75\xfd";
    psb_at(&t, 0);
    mode(&t, 32);
    tip(&t, 2);
    tnt(&t, "T");
    fup(&t, 3);
    mode(&t, 64);
    tip(&t, 2);
    tnt(&t, "T"); /* rex jnz: to 5 + -3 = 2 */
    fup(&t, 2);
    pgd_none(&t);
    check(code, 5, &t, "on@0 [0] mode=20 [2 3] [2]/ async@3>2 mode=40 [2] off=1@2 ");
}

static void ptwrite(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "T");
    ptw(&t, 0x1234, true);
    fup(&t, 1);
    ptw(&t, 0x99, false);
    tnt(&t, "N");
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] ptw=1234@1 ptw=99 [0 1 3] [5] off@5 ");

    t = (struct trace){0};
    psb_at(&t, 0);
    ptw(&t, 0x1234, true);
    fup(&t, 5);
    psb_at(&t, 5);
    pgd_none(&t);
    check_damaged(LOOP, 10, &t, "on@0 gap-6@5 on@5 [5] off@5 ", 3);
}

static void transactions(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tsx(&t, true, false);
    fup(&t, 1);
    tnt(&t, "T");
    tsx(&t, false, true);
    fup(&t, 3);
    tip(&t, 5);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 tsx=1@1 [0 1 3] tsx=2@3 [0 1]/ async@3>5 [5] off@5 ");
}

static void trace_stop(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "N");
    pgd_none(&t);
    plain(&t, ASSAY_PT_TRACESTOP);
    pge(&t, 7);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@0 [0 1 3] [5] off@5 stop on@7 [7 8] off@8 ");
}

static void endless_loop(void **state)
{
    (void)state;
    struct trace t = {0};
    /* 0 jmp 0; 2 syscall */
    psb_at(&t, 0);
    fup(&t, 0);
    tip(&t, 2);
    pgd_none(&t);
    check("\xeb\xfe\x0f\x05", 4, &t, "on@0 async@0>2 [2] off@2 ");

    t = (struct trace){0};
    psb_at(&t, 0);
    tnt(&t, "T");
    pge(&t, 2);
    pgd_none(&t);
    check_damaged("\xeb\xfe\x0f\x05", 4, &t, "on@0 gap-7@0 on@2 [2] off@2 ", 1);

    t = (struct trace){0};
    psb_at(&t, 0);
    pgd(&t, 0); /* out of the filter by the jump itself */
    check("\xeb\xfe\x0f\x05", 4, &t, "on@0 [0] off@0>0 ");
}

/* A chain of more jumps than a run may hold: 100 jumps to the next, then a loop over all of them. */
static void long_chain(void **state)
{
    (void)state;
    char code[204];
    struct world w;
    struct flow_text *r = malloc(sizeof *r);
    struct trace t = {0};
    for (int i = 0; i < 100; i++)
        memcpy(code + 2 * i, "\xeb\x00", 2);
    memcpy(code + 200, "\x0f\x05", 2);
    psb_at(&t, 0);
    pgd_none(&t);
    world_make(&w, code, 202);
    decode(&w, &t, t.n, 1, r);
    assert_int_equal(r->digest.insns, 101);
    world_drop(&w);

    t = (struct trace){0}; /* FUP in the third run of the chain */
    psb_at(&t, 0);
    fup(&t, 150);
    pgd_none(&t);
    world_make(&w, code, 202);
    decode(&w, &t, t.n, 1, r);
    assert_int_equal(r->digest.insns, 75);
    world_drop(&w);

    memcpy(code + 200, "\xe9\x33\xff\xff\xff", 4); /* jmp 0 (205 - 205) would need 5 bytes: e9 rel32 */
    char loop[205];
    memcpy(loop, code, 200);
    memcpy(loop + 200, "\xe9\x33\xff\xff\xff", 5);
    t = (struct trace){0};
    psb_at(&t, 0);
    tnt(&t, "T");
    world_make(&w, loop, 205);
    decode(&w, &t, t.n, 1, r);
    assert_int_equal(r->gaps, 1);
    assert_int_equal(r->gap[0].code, ASSAY_E_LOOP);
    world_drop(&w);
    free(r);
}

static void no_code(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tnt(&t, "N"); /* goes on to 5: syscall, and from there to nowhere */
    tip(&t, 0x500);
    tnt(&t, "TT"); /* 1 byte */
    tip(&t, 7);    /* 3 bytes, cannot be placed */
    pge(&t, 7);
    pgd_none(&t);
    check_damaged(LOOP, 10, &t, "on@0 [0 1 3] [5] gap-5@500 on@7 [7 8] off@8 ", 4);

    t = (struct trace){0}; /* the code ends in the run */
    psb_at(&t, 0);
    tnt(&t, "T");
    pgd_none(&t);
    check_damaged("\x90\x90", 2, &t, "on@0 [0 1] gap-5@2 off ", 1);

    t = (struct trace){0}; /* an address without code is no loss while nothing is asked of it */
    psb_at(&t, 0x500);
    fup(&t, 0x500);
    tip(&t, 7);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@500 async@500>7 [7 8] off@8 ");

    t = (struct trace){0}; /* no instruction: 0f ff ff.. is UD0, 06 is none in 64-bit mode */
    psb_at(&t, 0);
    tnt(&t, "T");
    pgd_none(&t);
    check_damaged("\x90\x06", 2, &t, "on@0 [0] gap-3@1 off ", 1);
}

static void mismatches(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tip(&t, 5); /* 3 bytes, where a TNT is due */
    pge(&t, 7);
    pgd_none(&t);
    check_damaged(LOOP, 10, &t, "on@0 gap-6@3 on@7 [7 8] off@8 ", 3);

    t = (struct trace){0};
    psb_at(&t, 5);
    tnt(&t, "T"); /* kept, as if a TIP had been put off */
    tnt(&t, "T"); /* but then no further TNT may come: 1 byte */
    pge(&t, 7);
    pgd_none(&t);
    check_damaged(LOOP, 10, &t, "on@5 gap-6@5 on@7 [7 8] off@8 ", 1);

    t = (struct trace){0};
    psb_at(&t, 0);
    tnt(&t, "N");
    pgd_none(&t);
    tnt(&t, "TTT"); /* off: 1 byte */
    tip(&t, 7);     /* 3 bytes */
    pge(&t, 7);
    pgd_none(&t);
    check_damaged(LOOP, 10, &t, "on@0 [0 1 3] [5] off@5 gap-6 on@7 [7 8] off@8 ", 4);

    t = (struct trace){0};
    psb_at(&t, 0);
    fup(&t, 5); /* not passed */
    tip(&t, 7); /* 3 bytes, where it shows */
    psb_at(&t, 7);
    pgd_none(&t);
    check_damaged(LOOP, 10, &t, "on@0 gap-6@5 on@7 [7 8] off@8 ", 3);

    t = (struct trace){0};
    psb_at(&t, 0xd);
    tnt(&t, "N"); /* a return is never "not taken" */
    psb_at(&t, 5);
    fup(&t, 6);
    pgd_none(&t);
    check_damaged(CALLS, 17, &t, "on@d gap-6@d on@5 [5]/ off=1@6 ", 1);

    t = (struct trace){0};
    psb_at(&t, 0);
    tnt(&t, "T");
    pge(&t, 7); /* on while on: nothing passed over */
    pgd_none(&t);
    check_damaged(LOOP, 10, &t, "on@0 [0 1 3] gap-6@7 on@7 [7 8] off@8 ", 0);
}

static void damage(void **state)
{
    (void)state;
    struct trace t = {0};
    struct world w;
    struct flow_text r;
    raw(&t, "\x04\x04\x04", 3); /* before the first PSB */
    psb_at(&t, 0);
    tnt(&t, "T");
    size_t bad = t.n;
    raw(&t, "\x02\xff\x04\x04\x04", 5); /* no packet */
    psb_at(&t, 5);
    pgd_none(&t);
    raw(&t, "\x19\x01\x02", 3); /* a TSC that is cut off */
    world_make(&w, LOOP, 10);
    struct assay_ledger l = expect(&w, &t, &r, "gap-4 on@0 [0 1 3] gap-2 on@5 [5] off@5 gap-1 ");
    assert_int_equal(l.skipped[ASSAY_SKIP_BEFORE_SYNC], 3);
    assert_int_equal(l.skipped[ASSAY_SKIP_DAMAGED], 5);
    assert_int_equal(l.skipped[ASSAY_SKIP_TRUNCATED], 3);
    assert_int_equal(r.gap[1].offset, bad);
    assert_int_equal(r.gap[1].value, 5);
    assert_int_equal(r.gap[2].offset, t.n - 3);
    assert_int_equal(r.gap[2].value, 3);
    world_drop(&w);

    t = (struct trace){0}; /* padding is no loss; nothing but noise is */
    raw(&t, "\0\0\0\0\0", 5);
    psb_at(&t, 5);
    pgd_none(&t);
    check(LOOP, 10, &t, "on@5 [5] off@5 ");
    t = (struct trace){0};
    raw(&t, "\x04\x06\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04", 19);
    check_damaged(LOOP, 10, &t, "gap-4 ", 19);
}

/* SKD007: an OVF after the first byte of a CYC. SKZ84: a TMA with reserved bits set has a byte too many. */
static void errata(void **state)
{
    (void)state;
    struct trace t = {0};
    struct world w;
    struct flow_text r;
    psb_at(&t, 0);
    tnt(&t, "T");
    raw(&t, "\x0f\x02\xf3", 3);
    t.last_ip = 0;
    fup(&t, 5);
    pgd_none(&t);
    world_make(&w, LOOP, 10);
    expect(&w, &t, &r, "on@0 [0 1 3] gap-6@5 c63 off "); /* two CYC: 33 and 30 cycles */
    w.config.family = 6;
    w.config.model = 0x5e;
    expect(&w, &t, &r, "on@0 [0 1 3] ovf on@5 [5] off@5 ");
    t = (struct trace){0};
    psb_at(&t, 0);
    raw(&t, "\x02\x73\x01\x02\xff\x03\x00\x99", 8);
    tnt(&t, "N");
    pgd_none(&t);
    w.config.model = 0x55;
    expect(&w, &t, &r, "on@0 [0 1 3] [5] off@5 ");
    world_drop(&w);
}

/* Any byte of a trace changed, and any prefix of it: ledgers close, nothing is read past the end. */
static void any_damage(void **state)
{
    (void)state;
    struct trace t = {0};
    struct world w;
    struct flow_text *r = malloc(sizeof *r);
    psb_at(&t, 0);
    tsc(&t, 1000);
    tma(&t, 16, 0);
    cyc(&t, 3000);
    tnt(&t, "TTN");
    mtc(&t, 5);
    tip(&t, 0);
    ptw(&t, 5, true);
    fup(&t, 1);
    tnt(&t, "N");
    pgd_none(&t);
    psb_at(&t, 7);
    pge(&t, 7);
    pgd_none(&t);
    world_make(&w, LOOP, 10);
    for (size_t i = 0; i < t.n; i++) {
        for (unsigned change = 1; change < 256; change += change < 8 ? 1 : 31) {
            struct trace u = t;
            u.b[i] = (uint8_t)(u.b[i] ^ change);
            decode(&w, &u, u.n, 1, r);
        }
        struct trace u = t;
        u.n = i;
        decode(&w, &u, u.n, 1, r);
    }
    world_drop(&w);
    free(r);
}

/* 0 call a; 5: 64-bit inc rax | 32-bit dec eax; inc eax; 8 jmp rax; a jmp rax; c ret. The call and the return in either mode. */
static void return_in_another_mode(void **state)
{
    static const char code[] = "\xe8\x05\x00\x00\x00\x48\xff\xc0\xff\xe0\xff\xe0\xc3";
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    tip(&t, 0xc);
    tnt(&t, "T");
    tip(&t, 0);
    mode(&t, 32);
    tip(&t, 0xc);
    tnt(&t, "T");
    tip(&t, 0);
    check(code, 13, &t, "on@0 [0 a] [c] [5 8] [0 a] mode=20 [c] [5 6 8] ");
}

/* ---- cycles and time */

static void cycles_stand_after_the_run_they_end(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    cyc(&t, 7); /* the first of the three branches */
    tnt(&t, "TTT");
    cyc(&t, 30);
    cyc(&t, 40); /* stand-alone ones accumulate */
    tnt(&t, "N");
    cyc(&t, 100);
    tip(&t, 0);
    cyc(&t, 5);
    mtc(&t, 9); /* an MTC takes no cycles out of the order */
    cyc(&t, 6);
    fup(&t, 3);
    tip(&t, 5);
    cyc(&t, 8);
    pgd_none(&t);
    cyc(&t, 4096); /* while off */
    pge(&t, 7);
    cyc(&t, 2);
    pgd_none(&t);
    cyc(&t, 1);
    check(LOOP, 10, &t,
          "on@0 [0 1 3] c7 [0 1 3] [0 1 3] [0 1 3] c70 [5] c100 [0 1]/ c11 async@3>5 [5] c8 off@5 "
          "on@7 c4096 [7 8] c2 off@8 c1 ");
}

/* With a CYC threshold a branch after an MTC's CYC may be of any later cycle: only the next CYC tells. */
static void cycles_of_an_mtc_wait_for_the_next(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    cyc(&t, 5);
    mtc(&t, 9);
    tnt(&t, "TN");
    cyc(&t, 6);
    tip(&t, 0);
    cyc(&t, 7);
    tsc(&t, 1000);
    tnt(&t, "T");
    cyc(&t, 8);
    cyc(&t, 9);
    ptw(&t, 1, false);
    tnt(&t, "T");
    check(LOOP, 10, &t, "on@0 [0 1 3] [0 1 3] [5] c11 [0 1 3] ptw=1 [0 1 3] c24 ");
}

/* A TIP.PGE in the cycle of an MTC has no CYC of its own. What passed while tracing was off is not of the code after it. */
static void cycles_of_an_mtc_while_off(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    cyc(&t, 2);
    tnt(&t, "T");
    cyc(&t, 3);
    pgd_none(&t);
    cyc(&t, 5000);
    mtc(&t, 9);
    cyc(&t, 600);
    mtc(&t, 10);
    pge(&t, 0);
    tnt(&t, "T");
    cyc(&t, 4);
    tnt(&t, "T");
    check(LOOP, 10, &t, "on@0 [0 1 3] c2 [0 1 3] c3 off@3 on@0 c5600 [0 1 3] [0 1 3] c4 ");
}

static void cycles_and_a_deferred_tip(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 2);
    cyc(&t, 9);
    tnt(&t, "T");
    tip(&t, 4);
    tnt(&t, "T");
    check(DEFER, 8, &t, "on@2 [2] c9 [4] [0] ");
}

static void large_cycle_counts(void **state)
{
    (void)state;
    struct trace t = {0};
    psb_at(&t, 0);
    cyc(&t, UINT64_C(0x3fffffff) + 5);
    tnt(&t, "T");
    check(LOOP, 10, &t, "on@0 [0 1 3] c1073741823 c5 ");
}

/* TSC at 100000 ticks; its crystal tick began 10 before; 3 of 8 crystal ticks of the MTC period had passed. 50 TSC a tick. */
static void time_from_mtc(void **state)
{
    (void)state;
    struct trace t = {0};
    struct world w;
    struct flow_text r;
    plain(&t, ASSAY_PT_PSB);
    tsc(&t, 100000);
    tma(&t, 0x1234 * 8 + 3, 10);
    fup(&t, 0);
    mode(&t, 64);
    plain(&t, ASSAY_PT_PSBEND);
    mtc(&t, 0x35); /* the period ends: 5 crystal ticks after the TMA's */
    mtc(&t, 0x36);
    mtc(&t, 0x39); /* two are lost */
    mtc(&t, 0x39); /* 256 periods */
    tsc(&t, 300000);
    world_make(&w, LOOP, 10);
    decode(&w, &t, t.n, 1, &r);
    assert_int_equal(r.times_n, 6);
    assert_int_equal(r.times[0], 100000);
    assert_int_equal(r.times[1], 99990 + 5 * 50);
    assert_int_equal(r.times[2], 99990 + 13 * 50);
    assert_int_equal(r.times[3], 99990 + 37 * 50);
    assert_int_equal(r.times[4], 99990 + (37 + 2048) * 50);
    assert_int_equal(r.times[5], 300000);
    world_drop(&w);
}

struct seen {
    uint64_t tsc[64];
    bool exact[64];
    uint8_t type[64];
    unsigned n;
};

static int see_events(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct seen *s = ctx;
    (void)f;
    for (size_t i = 0; i < b->events_n && s->n < 64; i++, s->n++) {
        s->tsc[s->n] = b->events[i].tsc;
        s->exact[s->n] = b->events[i].exact;
        s->type[s->n] = b->events[i].type;
    }
    return 0;
}

static void see(struct world *w, const struct trace *t, struct seen *s)
{
    struct assay_flow *f;
    size_t used;
    *s = (struct seen){0};
    assert_int_equal(assay_flow_new(&w->config, w->view, see_events, s, &f), 0);
    assert_int_equal(assay_flow_feed(f, t->b, t->n, true, &used), 0);
    assay_flow_free(f);
}

/* By the bus ratio the core runs at half the TSC's speed: 100 cycles are 200 ticks. Between two MTCs 400 ticks and 100 cycles
 * say four ticks a cycle. Time never goes back. */
static void time_from_cycles(void **state)
{
    (void)state;
    struct trace t = {0};
    struct world w;
    struct seen s;
    plain(&t, ASSAY_PT_PSB);
    tsc(&t, 100000);
    tma(&t, 0, 0);
    cbr(&t, 12);
    fup(&t, 0);
    mode(&t, 64);
    plain(&t, ASSAY_PT_PSBEND);
    cyc(&t, 100);
    ptw(&t, 1, false); /* 100200; only now is it certain that tracing is on */
    mtc(&t, 1);        /* 100000 + 8 * 50 = 100400 */
    cyc(&t, 100);
    mtc(&t, 2); /* 100800 */
    cyc(&t, 10);
    ptw(&t, 2, false); /* 100840 */
    cyc(&t, 1000);
    ptw(&t, 3, false); /* 104840 */
    mtc(&t, 3);        /* says 101200, but it was 104840 */
    world_make(&w, LOOP, 10);
    see(&w, &t, &s);
    const uint64_t expected[] = {100000, 100000, 100200, 100200, 100400, 100800, 100840, 104840, 104840};
    assert_int_equal(s.n, 9);
    for (unsigned i = 0; i < s.n; i++)
        assert_int_equal(s.tsc[i], expected[i]);
    assert_true(s.exact[4] && !s.exact[3]);
    world_drop(&w);
}

static void tsc_is_extended(void **state)
{
    (void)state;
    struct trace t = {0};
    struct world w;
    struct seen s;
    psb_at(&t, 0);
    tsc(&t, UINT64_C(0xfffffffffffff0)); /* just before the 56 bits wrap */
    tsc(&t, 0x10);                       /* and just after */
    world_make(&w, LOOP, 10);
    w.config.tsc_reference = UINT64_C(0x0500000000000000);
    see(&w, &t, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.tsc[0], UINT64_C(0x04fffffffffffff0));
    assert_int_equal(s.tsc[1], UINT64_C(0x0500000000000010));
    world_drop(&w);
}

/* ---- views */

struct switching {
    struct flow_text text;
    struct assay_view *other;
};

static void switch_view(void *ctx, struct assay_flow *f, uint64_t now)
{
    struct switching *s = ctx;
    assert_int_equal(now, 5000);
    assert_int_equal(assay_flow_set_view(f, s->other), 0);
    assay_flow_task(f, 1, 2);
}

static int on_switch_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct switching *s = ctx;
    return on_batch(&s->text, f, b);
}

static void another_address_space(void **state)
{
    (void)state;
    struct world a, b;
    struct trace t = {0};
    struct switching *s = calloc(1, sizeof *s);
    struct assay_flow *f;
    size_t used;
    psb_at(&t, 0);
    tnt(&t, "T");
    fup(&t, 0);
    pgd_none(&t);
    tsc(&t, 5000);
    pge(&t, 0);
    tnt(&t, "T");
    fup(&t, 0);
    pgd_none(&t);
    world_make(&a, LOOP, 10);
    world_make(&b, "\x66\x90\x75\xfc", 4); /* xchg ax,ax; jnz 0 */
    s->other = b.view;
    assay_out_init(&s->text.o, s->text.s, sizeof s->text.s - 1, NULL, NULL);
    assert_int_equal(assay_flow_new(&a.config, a.view, on_switch_batch, s, &f), 0);
    assay_flow_on_time(f, switch_view, s);
    assert_int_equal(assay_flow_feed(f, t.b, t.n, true, &used), 0);
    assert_string_equal(s->text.s, "on@0 [0 1 3] off=1@0 task=100000002 on@0 [0 2] off=1@0 ");
    assay_flow_free(f);
    world_drop(&a);
    world_drop(&b);
    free(s);
}

static void advance(void *ctx, struct assay_flow *f, uint64_t now)
{
    struct world *w = ctx;
    uint64_t low, high;
    if (assay_view_advance(w->view, now, &low, &high))
        assay_flow_forget(f, low, high);
}

/* Code that is replaced while the trace runs is not taken for what it was. */
static void code_is_replaced(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-flow-XXXXXX";
    struct world w = {.config = {0}};
    struct trace t = {0};
    struct flow_text r = {0};
    struct assay_flow *f;
    size_t used;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, LOOP "\x66\x90\x75\xfc", 14), 14); /* the second: 0 xchg ax,ax; 2 jnz 0 */
    close(fd);
    assert_int_equal(assay_image_new(&w.image, NULL), 0);
    assert_int_equal(assay_image_map(w.image, 0, 0, BASE, 10, 0, path, NULL, 0), 0);
    assert_int_equal(assay_image_map(w.image, 0, 200, BASE, 4, 10, path, NULL, 0), 0);
    assert_int_equal(assay_image_seal(w.image), 0);
    assert_int_equal(assay_view_new(w.image, 0, &w.view), 0);
    psb_at(&t, 0);
    for (uint64_t time = 50; time <= 350; time += 100) {
        tsc(&t, time);
        tnt(&t, "T");
        pgd_none(&t);
        pge(&t, 0);
    }
    assay_out_init(&r.o, r.s, sizeof r.s - 1, NULL, NULL);
    assert_int_equal(assay_flow_new(&w.config, w.view, on_batch, &r, &f), 0);
    assay_flow_on_time(f, advance, &w);
    assert_int_equal(assay_flow_feed(f, t.b, t.n, true, &used), 0);
    assert_string_equal(
        r.s,
        "on@0 [0 1 3] [0 1 3] off@3 on@0 [0 1 3] [0 1 3] off@3 on@0 [0 2] [0 2] off@2 on@0 [0 2] [0 2] off@2 on@0 ");
    assay_flow_free(f);
    world_drop(&w);
    unlink(path);
}

/* Forgotten code is read anew, under new ids. */
static void forgetting(void **state)
{
    (void)state;
    struct world w;
    struct trace t = {0};
    struct flow_text r = {0};
    struct assay_flow *f;
    size_t used;
    world_make(&w, LOOP, 10);
    assay_out_init(&r.o, r.s, sizeof r.s - 1, NULL, NULL);
    psb_at(&t, 0);
    tnt(&t, "TT");
    assert_int_equal(assay_flow_new(&w.config, w.view, on_batch, &r, &f), 0);
    assert_int_equal(assay_flow_feed(f, t.b, t.n, false, &used), 0);
    uint32_t runs = assay_flow_runs(f);
    assay_flow_forget(f, BASE + 20, BASE + 30);
    assay_flow_forget(f, BASE + 3, BASE + 4);
    t.n = 0;
    tnt(&t, "TT");
    pgd_none(&t);
    raw(&t, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    assert_int_equal(assay_flow_feed(f, t.b, t.n, true, &used), 0);
    assert_true(assay_flow_runs(f) > runs);
    assert_string_equal(r.s, "on@0 [0 1 3] [0 1 3] [0 1 3] [0 1 3] [0 1 3] off@3 ");
    assay_flow_free(f);
    world_drop(&w);
}

static void data_lost_between(void **state)
{
    (void)state;
    struct world w;
    struct trace t = {0};
    struct flow_text r = {0};
    struct assay_flow *f;
    size_t used;
    world_make(&w, LOOP, 10);
    assay_out_init(&r.o, r.s, sizeof r.s - 1, NULL, NULL);
    psb_at(&t, 0);
    tnt(&t, "T");
    assert_int_equal(assay_flow_new(&w.config, w.view, on_batch, &r, &f), 0);
    assert_int_equal(assay_flow_feed(f, t.b, t.n, true, &used), 0);
    assert_int_equal(assay_flow_lost(f, 1000, "hole"), 0);
    t.n = 0;
    raw(&t, "\x04\x04", 2);
    psb_at(&t, 5);
    pgd_none(&t);
    assert_int_equal(assay_flow_feed(f, t.b, t.n, true, &used), 0);
    assert_string_equal(r.s, "on@0 [0 1 3] gap-1 on@5 [5] off@5 ");
    assert_int_equal(r.gap[0].value, 1002);
    assert_string_equal(r.gap[0].what, "hole");
    assert_true(assay_ledger_closes(assay_flow_ledger(f)));
    assert_int_equal(assay_flow_ledger(f)->skipped[ASSAY_SKIP_DAMAGED], 2);
    assay_flow_free(f);
    world_drop(&w);
}

static int stop_at_once(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    (void)ctx, (void)f, (void)b;
    return 42;
}

static void caller_stops(void **state)
{
    (void)state;
    struct world w;
    struct trace t = {0};
    struct assay_flow *f;
    size_t used;
    world_make(&w, LOOP, 10);
    psb_at(&t, 0);
    assert_int_equal(assay_flow_new(&w.config, w.view, stop_at_once, NULL, &f), 0);
    assert_int_equal(assay_flow_feed(f, t.b, t.n, true, &used), 42);
    assert_int_equal(assay_flow_feed(f, t.b, t.n, true, &used), 42);
    assay_flow_free(f);
    w.config.mode = 48;
    assert_int_equal(assay_flow_new(&w.config, w.view, stop_at_once, NULL, &f), ASSAY_E_ARGUMENT);
    world_drop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loop_and_syscall),
        cmocka_unit_test(digest_is_by_instruction),
        cmocka_unit_test(compressed_return),
        cmocka_unit_test(uncompressed_return),
        cmocka_unit_test(deep_returns),
        cmocka_unit_test(full_stack_loses_the_oldest),
        cmocka_unit_test(emptied_stack),
        cmocka_unit_test(compressed_addresses),
        cmocka_unit_test(call_next_is_not_pushed),
        cmocka_unit_test(indirect_call_is_pushed),
        cmocka_unit_test(deferred_tips),
        cmocka_unit_test(long_tnt),
        cmocka_unit_test(asynchronous_branch),
        cmocka_unit_test(calls_in_a_cut_run),
        cmocka_unit_test(asynchronous_disable),
        cmocka_unit_test(filter_left_by_direct_branches),
        cmocka_unit_test(enabled_and_disabled_by_psb),
        cmocka_unit_test(psb_inside_a_run),
        cmocka_unit_test(psb_that_contradicts),
        cmocka_unit_test(psb_fup_before_pge),
        cmocka_unit_test(overflow),
        cmocka_unit_test(overflow_then_tip),
        cmocka_unit_test(overflow_without_a_place),
        cmocka_unit_test(overflow_empties_the_return_stack),
        cmocka_unit_test(mode_change),
        cmocka_unit_test(ptwrite),
        cmocka_unit_test(transactions),
        cmocka_unit_test(trace_stop),
        cmocka_unit_test(endless_loop),
        cmocka_unit_test(long_chain),
        cmocka_unit_test(no_code),
        cmocka_unit_test(mismatches),
        cmocka_unit_test(damage),
        cmocka_unit_test(errata),
        cmocka_unit_test(any_damage),
        cmocka_unit_test(return_in_another_mode),
        cmocka_unit_test(cycles_stand_after_the_run_they_end),
        cmocka_unit_test(cycles_of_an_mtc_wait_for_the_next),
        cmocka_unit_test(cycles_of_an_mtc_while_off),
        cmocka_unit_test(cycles_and_a_deferred_tip),
        cmocka_unit_test(large_cycle_counts),
        cmocka_unit_test(time_from_mtc),
        cmocka_unit_test(time_from_cycles),
        cmocka_unit_test(tsc_is_extended),
        cmocka_unit_test(another_address_space),
        cmocka_unit_test(code_is_replaced),
        cmocka_unit_test(forgetting),
        cmocka_unit_test(data_lost_between),
        cmocka_unit_test(caller_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
