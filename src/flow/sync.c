/* SPDX-License-Identifier: MIT */
/* Finding and losing the place: PSB+, overflow, gaps, and which bytes count as what. */
#include "internal.h"

/* ---- the ledger */

void flow_count_until(struct assay_flow *f, uint64_t pos)
{
    if (pos <= f->counted)
        return;
    uint64_t n = pos - f->counted;
    if (f->counting)
        f->ledger.skipped[f->counting - 1] += n;
    else
        f->ledger.decoded += n;
    f->ledger.in += n;
    f->counted = pos;
}

/* Bytes from pos on count as something else: 0 decoded, else 1 + enum assay_skip. */
void flow_count_as(struct assay_flow *f, uint64_t pos, unsigned counting)
{
    flow_count_until(f, pos);
    f->counting = (uint8_t)counting;
}

/* ---- gaps */

void flow_drop_bindings(struct assay_flow *f)
{
    f->have_fup = f->bound_async = false;
    f->bounds = 0;
    f->tnt_n = 0;
    f->mode_next = 0;
    f->stack_depth = 0;
}

static void set_gap(struct assay_flow *f, int code, uint64_t ip, const char *what, const char *expected)
{
    f->gap = (struct assay_flow_event){.type = ASSAY_FLOW_GAP,
                                       .has_ip = ip != 0,
                                       .code = code,
                                       .offset = flow_pos(f),
                                       .ip = ip,
                                       .what = what,
                                       .expected = expected};
    f->have_gap = true;
    f->gap_from = flow_pos(f);
}

void flow_end_gap(struct assay_flow *f, uint64_t pos)
{
    if (!f->have_gap)
        return;
    f->have_gap = false;
    f->gap.value += pos > f->gap_from ? pos - f->gap_from : 0;
    flow_event(f, &f->gap);
    flow_put_cycles(f);
}

void flow_note_gap(struct assay_flow *f, int code, uint64_t ip, const char *what, const char *expected)
{
    set_gap(f, code, ip, what, expected);
    flow_end_gap(f, flow_pos(f));
}

void flow_fail(struct assay_flow *f, int code, uint64_t ip, const char *what, const char *expected)
{
    if (f->state == LOST || f->state == UNSYNCED)
        return;
    set_gap(f, code, ip, what, expected);
    flow_count_as(f, flow_pos(f), 1 + ASSAY_SKIP_DAMAGED);
    flow_drop_bindings(f);
    f->link = LINK_NONE;
    f->state = LOST;
}

void flow_begin_unsynced(struct assay_flow *f)
{
    set_gap(f, ASSAY_E_NO_SYNC, 0, "no PSB before here", NULL);
    flow_count_as(f, flow_pos(f), 1 + ASSAY_SKIP_BEFORE_SYNC);
}

int assay_flow_lost(struct assay_flow *f, uint64_t bytes, const char *what)
{
    flow_release_bound(f, false, 0);
    f->psb.open = false;
    f->block_item = 0;
    flow_fail(f, ASSAY_E_TRUNCATED, 0, what, NULL);
    if (!f->have_gap)
        set_gap(f, ASSAY_E_TRUNCATED, 0, what, NULL);
    flow_count_as(f, flow_pos(f), 1 + ASSAY_SKIP_DAMAGED);
    f->gap.value += bytes;
    f->state = UNSYNCED;
    return f->stop;
}

void flow_resume(struct assay_flow *f, uint64_t pos)
{
    flow_count_as(f, pos, 0);
    flow_end_gap(f, pos);
}

/* ---- tracing is on */

void flow_enable(struct assay_flow *f, uint64_t ip)
{
    f->state = ON;
    f->tnt_n = 0;
    flow_event_at(f, ASSAY_FLOW_ENABLED, true, ip, 0);
    f->link = flow_link_at(f, ip);
}

void flow_confirm(struct assay_flow *f)
{
    if (f->resume_doubtful)
        flow_note_gap(f, ASSAY_E_MISMATCH, f->resume_ip, "PSB+ with FUP while tracing was off", "TIP.PGE before it");
    flow_enable(f, f->resume_ip);
}

/* ---- PSB+ */

void flow_psb(struct assay_flow *f)
{
    flow_release_bound(f, false, 0);
    if (f->have_fup)
        flow_fail(f, ASSAY_E_MISMATCH, f->fup_ip, "PSB after FUP", "TIP or TIP.PGD after FUP");
    if (f->tnt_n)
        flow_fail(f, ASSAY_E_MISMATCH, flow_last_ip(f, LINK_ID(f->link)), "PSB while a branch target is due", "TIP");
    f->psb = (struct psb){.open = true, .begins = f->state == LOST || f->state == UNSYNCED, .mode = f->mode};
    f->stack_depth = 0;
    f->last_ip = 0;
    if (f->psb.begins) {
        flow_resume(f, flow_pos(f));
        f->state = OFF;
    }
}

static void hold(struct assay_flow *f, bool doubtful)
{
    f->state = PROVISIONAL;
    f->resume_ip = f->psb.ip;
    f->resume_doubtful = doubtful;
}

/* The walk was under way: what PSB+ says must be where it is. */
static void check_walk(struct assay_flow *f)
{
    if (!f->psb.has_ip) {
        flow_note_gap(f, ASSAY_E_MISMATCH, 0, "PSB+ says that tracing is off", "TIP.PGD before it");
        f->state = OFF;
        f->link = LINK_NONE;
        return;
    }
    if (f->psb.mode == f->mode && flow_reaches(f, f->psb.ip)) {
        flow_event_at(f, ASSAY_FLOW_RESTART, true, f->psb.ip, 0);
        return;
    }
    if (f->link == LINK_NONE)
        flow_note_gap(f, f->none_code, f->none_ip, "no code at this address", NULL);
    else
        flow_note_gap(f, ASSAY_E_MISMATCH, f->psb.ip, "PSB+ at an address that the walk does not pass", NULL);
    f->link = LINK_NONE;
    hold(f, false);
}

static void psb_end(struct assay_flow *f)
{
    f->psb.open = false;
    bool off = f->state == OFF;
    if (f->state == ON)
        check_walk(f);
    else if (f->psb.has_ip)
        hold(f, off && !f->psb.begins);
    else
        f->state = OFF;
    if (off && !f->psb.begins && !f->psb.has_ip)
        flow_event_at(f, ASSAY_FLOW_RESTART, false, 0, 0);
    if (f->psb.has_ip)
        flow_set_mode(f, f->psb.mode);
}

void flow_psb_packet(struct assay_flow *f, const struct assay_pt_packet *p)
{
    switch (p->type) {
    case ASSAY_PT_PSBEND:
        psb_end(f);
        break;
    case ASSAY_PT_FUP:
        f->psb.has_ip = !p->ip.suppressed;
        f->psb.ip = p->ip.ip;
        break;
    case ASSAY_PT_MODE_EXEC:
        f->psb.mode = (uint8_t)flow_exec_mode(p);
        break;
    case ASSAY_PT_MODE_TSX: /* status */
        break;
    case ASSAY_PT_PIP:
    case ASSAY_PT_VMCS:
    case ASSAY_PT_MNT:
        flow_event_packet(f, p);
        break;
    default: /* PSBEND was lost */
        f->psb.open = false;
        flow_fail(f, ASSAY_E_MISMATCH, 0, "packet inside PSB+", "PSBEND");
        break;
    }
}

/* ---- overflow */

void flow_overflow(struct assay_flow *f)
{
    flow_release_bound(f, false, 0);
    f->psb.open = false;
    flow_drop_bindings(f);
    flow_resume(f, flow_pos(f));
    flow_put_cycles(f);
    flow_event_at(f, ASSAY_FLOW_OVERFLOW, false, 0, 0);
    f->link = LINK_NONE;
    f->state = OVERFLOWED;
}
