/* SPDX-License-Identifier: MIT */
/* Packets that move the walk: TNT, TIP, TIP.PGE, TIP.PGD, FUP, MODE.Exec. */
#include "internal.h"

void flow_set_mode(struct assay_flow *f, unsigned mode)
{
    f->mode_next = 0;
    if (f->mode == mode)
        return;
    f->mode = (uint8_t)mode;
    flow_event_at(f, ASSAY_FLOW_MODE, false, 0, mode);
}

unsigned flow_exec_mode(const struct assay_pt_packet *p) { return p->exec.cs_l ? 64 : p->exec.cs_d ? 32 : 16; }

/* The walk must be under way for this packet. */
static bool need_on(struct assay_flow *f, const char *what)
{
    if (f->state == PROVISIONAL)
        flow_confirm(f);
    if (f->state == ON)
        return true;
    if (f->state == OFF || f->state == OVERFLOWED)
        flow_fail(f, ASSAY_E_MISMATCH, 0, what, f->state == OFF ? "TIP.PGE" : "FUP or TIP.PGE after OVF");
    return false;
}

/* No branch outcome may be left when this packet comes: it would have been told before. */
static bool need_no_tnt(struct assay_flow *f, const char *what)
{
    if (!f->tnt_n)
        return true;
    flow_fail(f, ASSAY_E_MISMATCH, flow_last_ip(f, LINK_ID(f->link)), what, "TIP");
    return false;
}

static bool need_no_fup(struct assay_flow *f, const char *what)
{
    if (!f->have_fup)
        return true;
    flow_fail(f, ASSAY_E_MISMATCH, f->fup_ip, what, "TIP or TIP.PGD after FUP");
    return false;
}

static void on_tnt(struct assay_flow *f, const struct assay_pt_packet *p)
{
    flow_release_bound(f, false, 0);
    if (need_on(f, "TNT while tracing is off") && need_no_fup(f, "TNT after FUP") &&
        need_no_tnt(f, "TNT while a branch target is due"))
        flow_follow(f, p->tnt.bits, p->tnt.count);
}

/* FUP and TIP: control left the instruction at the FUP's address. */
static bool leave_async(struct assay_flow *f)
{
    uint64_t ip = f->fup_ip;
    f->have_fup = false;
    if (flow_leave_at(f, ip))
        return true;
    if (f->link == LINK_NONE)
        return flow_no_code(f);
    /* BDM64: the branch before an abort may have been reported with a wrong target. */
    if (f->bound_async && f->errata & ERRATUM_BDM64)
        return true;
    flow_fail(f, ASSAY_E_MISMATCH, ip, "FUP at an address that the walk does not pass", NULL);
    return false;
}

static void on_async_tip(struct assay_flow *f, uint64_t to)
{
    uint64_t from = f->fup_ip;
    if (!leave_async(f))
        return;
    f->bound_async = false;
    flow_put_cycles(f);
    struct assay_flow_event e = {.type = ASSAY_FLOW_ASYNC, .has_ip = true, .offset = flow_pos(f), .ip = from, .to = to};
    flow_event(f, &e);
    if (f->mode_next)
        flow_set_mode(f, f->mode_next);
    f->link = flow_link_at(f, to);
}

static void on_tip(struct assay_flow *f, const struct assay_pt_packet *p)
{
    flow_release_bound(f, false, 0);
    if (f->state == OVERFLOWED && !p->ip.suppressed) { /* SKD010: the FUP is missing; this tells the place as well */
        if (f->mode_next)
            flow_set_mode(f, f->mode_next);
        flow_enable(f, p->ip.ip);
        return;
    }
    if (!need_on(f, "TIP while tracing is off"))
        return;
    if (p->ip.suppressed) {
        flow_fail(f, ASSAY_E_MISMATCH, 0, "TIP without an address", NULL);
        return;
    }
    if (!f->have_fup)
        flow_take_tip(f, p->ip.ip);
    else if (need_no_tnt(f, "FUP while a branch target is due"))
        on_async_tip(f, p->ip.ip);
}

static void on_pge(struct assay_flow *f, const struct assay_pt_packet *p)
{
    flow_release_bound(f, false, 0);
    if (f->state == ON)
        flow_fail(f, ASSAY_E_MISMATCH, p->ip.ip, "TIP.PGE while tracing is on", "TIP.PGD before it");
    if (p->ip.suppressed) {
        flow_fail(f, ASSAY_E_MISMATCH, 0, "TIP.PGE without an address", NULL);
        return;
    }
    flow_resume(f, flow_pos(f));
    if (f->mode_next)
        flow_set_mode(f, f->mode_next);
    flow_enable(f, p->ip.ip);
    if (f->cyc_outside)
        flow_put_last_cycles(f);
    else
        flow_put_cycles(f);
    f->cyc_outside = false;
}

static void turn_off(struct assay_flow *f, const struct assay_pt_packet *p, uint64_t last, bool async)
{
    flow_put_cycles(f);
    struct assay_flow_event e = {.type = ASSAY_FLOW_DISABLED,
                                 .has_ip = last != 0,
                                 .offset = flow_pos(f),
                                 .ip = last,
                                 .to = p->ip.suppressed ? 0 : p->ip.ip,
                                 .value = async};
    flow_event(f, &e);
    f->state = OFF;
    f->link = LINK_NONE;
}

/* SKD022: a FUP may wrongly come before the TIP.PGD of a VM entry that turns tracing off. */
static bool fup_is_vm_entry(struct assay_flow *f)
{
    if (!(f->errata & ERRATUM_SKD022) || f->link == LINK_NONE)
        return false;
    const struct assay_flow_run *run = &f->runs[LINK_ID(f->link)];
    const struct assay_flow_block *b = &f->blocks[run->first_block + run->blocks - 1];
    return b->far == ASSAY_FAR_VMENTRY && b->last_ip == f->fup_ip;
}

/* The walk to where tracing ended. False: it is lost. */
static bool walk_off(struct assay_flow *f, const struct assay_pt_packet *p, uint64_t *last, bool *async)
{
    if (!need_on(f, "TIP.PGD while tracing is off") || !need_no_tnt(f, "TIP.PGD while a branch target is due"))
        return false;
    *async = f->have_fup && !fup_is_vm_entry(f);
    *last = f->fup_ip;
    f->have_fup = false;
    return *async ? leave_async(f) : flow_leave_sync(f, !p->ip.suppressed, p->ip.ip, last);
}

static void on_pgd(struct assay_flow *f, const struct assay_pt_packet *p)
{
    uint64_t last = 0;
    bool async = false;
    flow_release_bound(f, false, 0);
    /* APL11: it may follow OVF. In a gap it tells at least that tracing is off. */
    if (f->state != OVERFLOWED && f->state != LOST && !walk_off(f, p, &last, &async)) {
        last = 0;
        async = false;
    }
    if (f->state == LOST)
        flow_resume(f, flow_pos(f));
    f->bound_async = false;
    turn_off(f, p, last, async);
}

/* A FUP that belongs to an event: the walk must pass its address, where the event is of an instruction. */
static void on_bound_fup(struct assay_flow *f, uint64_t ip)
{
    bool strict = false, async = false;
    for (unsigned i = 0; i < f->bounds; i++) {
        strict |=
            f->bound[i].type == ASSAY_FLOW_PTWRITE || (f->bound[i].type == ASSAY_FLOW_TSX && f->bound[i].value != 2);
        async |= f->bound[i].type == ASSAY_FLOW_TSX && f->bound[i].value == 2;
    }
    async |= f->bound_async;
    if (f->state == PROVISIONAL)
        flow_confirm(f);
    if (f->state == ON && strict && !flow_reaches(f, ip)) {
        f->bounds = 0;
        flow_fail(f, ASSAY_E_MISMATCH, ip, "FUP at an address that the walk does not pass", NULL);
        return;
    }
    flow_release_bound(f, true, ip);
    f->bound_async = async;
    if (async && f->state == ON) {
        f->have_fup = true;
        f->fup_ip = ip;
    }
}

static void on_fup(struct assay_flow *f, const struct assay_pt_packet *p)
{
    if (f->bounds && !p->ip.suppressed && f->state != LOST) {
        on_bound_fup(f, p->ip.ip);
        return;
    }
    flow_release_bound(f, false, 0);
    if (f->state == OVERFLOWED && !p->ip.suppressed) {
        flow_resume(f, flow_pos(f));
        f->state = PROVISIONAL;
        f->resume_ip = p->ip.ip;
        f->resume_doubtful = false;
        return;
    }
    if (!need_on(f, "FUP while tracing is off") || !need_no_tnt(f, "FUP while a branch target is due") ||
        !need_no_fup(f, "FUP after FUP"))
        return;
    if (p->ip.suppressed) {
        flow_fail(f, ASSAY_E_MISMATCH, 0, "FUP without an address", NULL);
        return;
    }
    f->have_fup = true;
    f->fup_ip = p->ip.ip;
}

bool flow_branch_packet(struct assay_flow *f, const struct assay_pt_packet *p)
{
    switch (p->type) {
    case ASSAY_PT_TNT:
    case ASSAY_PT_TNT64:
        on_tnt(f, p);
        return true;
    case ASSAY_PT_TIP:
        on_tip(f, p);
        return true;
    case ASSAY_PT_TIP_PGE:
        on_pge(f, p);
        return true;
    case ASSAY_PT_TIP_PGD:
        on_pgd(f, p);
        return true;
    case ASSAY_PT_FUP:
        on_fup(f, p);
        return true;
    case ASSAY_PT_MODE_EXEC:
        f->mode_next = (uint8_t)flow_exec_mode(p);
        return true;
    default:
        return false;
    }
}
