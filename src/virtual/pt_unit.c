/* SPDX-License-Identifier: MIT */
/* The trace unit: what retires to packets. */
#include "pt_unit_inside.h"
#include "pt_unit_put.h"

bool assay_pt_unit_room(struct assay_pt_unit *u)
{
    if (u->overflow)
        return false;
    if (u->out_at < u->out_end || (u->on_full && u->on_full(u, u->ctx) && u->out_at < u->out_end))
        return true;
    u->overflow = true;
    return false;
}

/* A last IP that no address is compressed against: where decoders disagree on it, the address is written whole. */
static const uint64_t far_away = UINT64_C(0x5555555555555555);

static void forget_calls(struct assay_pt_unit *u) { u->stack_depth = u->stack_kept = 0; }

/* Back from an overflow when there is room again: the OVF, and where tracing goes on. What was pending is lost.
 * next == NULL: the address is not known. While enabled the OVF then has to wait for an event that knows it. */
static bool resolve(struct assay_pt_unit *u, const uint64_t *next)
{
    u->tnt = 1;
    if (u->enabled && !next)
        return false;
    u->overflow = false;
    if (!assay_pt_unit_room(u))
        return false;
    forget_calls(u);
    put_cyc(u, u->cycles);
    put_ext(u, EXT_OVF, 0, 0);
    assay_pt_unit_put_time(u);
    assay_pt_unit_clock_restart(u);
    u->last_ip = far_away; /* decoders disagree on last IP after OVF */
    if (u->enabled) {
        put_ip(u, OP_FUP, *next);
        if (u->mode_told != u->mode) /* a PSB+ tells what FUP cannot */
            assay_pt_unit_psb(u, *next);
    }
    return true;
}

static inline void run_clock(struct assay_pt_unit *u)
{
    if (u->cycles >= u->next_tick)
        assay_pt_unit_tick(u);
}

/* For events that are written while enabled only; the clock runs all the same. */
static inline bool is_off(struct assay_pt_unit *u)
{
    if (!u->enabled)
        run_clock(u);
    return !u->enabled;
}

/* Runs the clock and sees to room for the event's packets. false: the event is lost. */
static bool begin(struct assay_pt_unit *u, const uint64_t *next)
{
    run_clock(u);
    if (!u->overflow && u->out_at < u->out_end)
        return true;
    if (assay_pt_unit_room(u))
        return true;
    u->lost++;
    resolve(u, next);
    return false;
}

static inline void end(struct assay_pt_unit *u, uint64_t next)
{
    if (u->out_at >= u->psb_at)
        assay_pt_unit_psb(u, next);
}

/* In the order of the SDM's list (36.3.7). The CYC of the TSC comes after the PSB, as in traces of real processors. */
void assay_pt_unit_psb(struct assay_pt_unit *u, uint64_t next)
{
    put_tnt(u);
    u->psb_last = pt_unit_position(u);
    assay_pt_unit_psb_arm(u);
    for (unsigned i = 0; i < 8; i++)
        put_ext(u, EXT_PSB, 0, 0);
    u->last_ip = 0;
    u->mode_told = 0;
    forget_calls(u);
    assay_pt_unit_put_time(u);
    if (u->ctl & ASSAY_RTIT_OS && in_context(u))
        put_pip(u);
    put_cbr(u);
    if (u->enabled) {
        put_mode(u);
        u->last_ip = far_away; /* 0 says the manual, but perf expands this one from the last IP before the PSB */
        put_ip(u, OP_FUP, next);
    }
    put_ext(u, EXT_PSBEND, 0, 0);
}

/* CYC, then MODE.Exec when it changed: both stand directly before the TIP or TIP.PGE that they belong to. */
static void put_target(struct assay_pt_unit *u, unsigned op, uint64_t next)
{
    put_cyc(u, u->cycles);
    if (u->mode_told != u->mode)
        put_mode(u);
    put_ip(u, op, next);
}

static void enable(struct assay_pt_unit *u)
{
    u->enabled = true;
    u->tnt = 1;
    u->stack_size = u->ctl & ASSAY_RTIT_DISRETC ? 0 : ASSAY_PT_UNIT_STACK;
    u->stack_depth = u->stack_kept;
}

void assay_pt_unit_disable(struct assay_pt_unit *u)
{
    u->enabled = false;
    u->tnt = 1;
    u->stack_size = 0;
    u->stack_kept = u->stack_depth;
    u->stack_depth = 0;
}

void assay_pt_unit_enter(struct assay_pt_unit *u, uint64_t next)
{
    run_clock(u);
    u->inside = true;
    if (u->enabled || !in_context(u))
        return;
    bool room = begin(u, &next);
    if (!u->overflow && !room) /* the OVF came while still disabled: this event is not lost */
        room = true;
    bool branches = u->ctl & ASSAY_RTIT_BRANCHEN;
    if (branches)
        enable(u);
    if (room && branches)
        put_target(u, OP_PGE, next);
    if (room)
        end(u, next);
}

/* Out of the context: after a far transfer, or in the middle of a block (ip). */
static void go_outside(struct assay_pt_unit *u, const uint64_t *ip)
{
    bool off = is_off(u);
    u->inside = false;
    if (off)
        return;
    if (begin(u, NULL)) {
        put_tnt(u);
        if (ip)
            put_ip(u, OP_FUP, *ip);
        put_cyc(u, u->cycles);
        put_pgd(u);
        assay_pt_unit_disable(u);
        end(u, 0);
    } else {
        assay_pt_unit_disable(u);
        resolve(u, NULL);
    }
}

void assay_pt_unit_leave(struct assay_pt_unit *u) { go_outside(u, NULL); }

void assay_pt_unit_async_leave(struct assay_pt_unit *u, uint64_t ip) { go_outside(u, &ip); }

void assay_pt_unit_async(struct assay_pt_unit *u, uint64_t ip, uint64_t next)
{
    if (is_off(u) || !begin(u, &next))
        return;
    put_tnt(u);
    put_ip(u, OP_FUP, ip);
    put_target(u, OP_TIP, next);
    end(u, next);
}

void assay_pt_unit_cond_slow(struct assay_pt_unit *u, uint64_t next)
{
    if (is_off(u)) {
        u->tnt = 1;
        return;
    }
    if (u->cycles >= u->next_tick) { /* the newest branch comes after the tick */
        uint64_t bit = u->tnt & 1;
        u->tnt >>= 1;
        assay_pt_unit_tick(u);
        u->tnt_cycle = u->tnt == 1 ? u->cycles : u->tnt_cycle;
        u->tnt = u->tnt << 1 | bit;
    }
    if (u->overflow) {
        u->lost++;
        resolve(u, &next);
    } else if (u->tnt >= 1u << 6 && begin(u, &next)) {
        put_tnt(u);
        end(u, next);
    }
}

void assay_pt_unit_indirect(struct assay_pt_unit *u, uint64_t next)
{
    if (is_off(u) || !begin(u, &next))
        return;
    put_tnt(u);
    put_target(u, OP_TIP, next);
    end(u, next);
}

void assay_pt_unit_ptwrite(struct assay_pt_unit *u, uint64_t ip, uint64_t value, unsigned bytes)
{
    run_clock(u);
    if (!(u->ctl & ASSAY_RTIT_PTWEN) || !in_context(u) || !begin(u, NULL))
        return;
    bool with_ip = u->ctl & ASSAY_RTIT_FUPONPTW && u->ctl & ASSAY_RTIT_BRANCHEN;
    put_tnt(u);
    put_cyc(u, u->cycles);
    put_ext(u, EXT_PTW | (bytes == 8 ? 0x20u : 0) | (with_ip ? 0x80u : 0), value, bytes == 8 ? 8 : 4);
    if (with_ip)
        put_ip(u, OP_FUP, ip);
}

void assay_pt_unit_mode(struct assay_pt_unit *u, unsigned mode) { u->mode = (uint8_t)mode; }

/* MOV CR3: PIP where CR3 may be told (OS), and with CR3Filter the way into or out of the context. */
void assay_pt_unit_cr3(struct assay_pt_unit *u, uint64_t cr3, uint64_t next)
{
    run_clock(u);
    bool was = in_context(u);
    u->cr3 = cr3;
    bool is = in_context(u);
    if (!was && !is)
        return;
    if (is && begin(u, &next)) {
        put_tnt(u);
        if (u->ctl & ASSAY_RTIT_OS) {
            put_cyc(u, u->cycles);
            put_pip(u);
        }
        if (was)
            end(u, next);
    }
    if (is && !was) {
        assay_pt_unit_enter(u, next);
    } else if (!is) {
        go_outside(u, NULL);
        u->inside = true;
    }
}

void assay_pt_unit_frequency(struct assay_pt_unit *u, unsigned core_ratio, uint64_t next)
{
    if (!triggered(u) || !begin(u, &next)) {
        assay_pt_unit_clock_ratio(u, core_ratio);
        return;
    }
    put_tnt(u);
    assay_pt_unit_clock_ratio(u, core_ratio);
    assay_pt_unit_put_time(u);
    put_cbr(u);
    end(u, next);
}

void assay_pt_unit_time(struct assay_pt_unit *u)
{
    if (!triggered(u))
        return;
    if (!u->started) {
        assay_pt_unit_tick(u);
        return;
    }
    assay_pt_unit_clock_restart(u);
    u->next_tick = UINT64_MAX; /* the ticks of the gap are passed over */
    if (begin(u, NULL)) {
        put_tnt(u);
        assay_pt_unit_put_time(u);
    }
    u->next_tick = assay_pt_unit_next_due(u);
}

void assay_pt_unit_flush(struct assay_pt_unit *u)
{
    if (u->enabled && u->tnt != 1 && begin(u, NULL))
        put_tnt(u);
}
