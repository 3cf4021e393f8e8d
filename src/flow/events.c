/* SPDX-License-Identifier: MIT */
/* Packets that become events, now or with the FUP that follows them. */
#include "internal.h"

static void add_bound(struct assay_flow *f, unsigned type, uint64_t value, uint32_t insns)
{
    if (f->bounds == BOUND_MAX)
        flow_release_bound(f, false, 0);
    f->bound[f->bounds++] =
        (struct assay_flow_event){.type = (uint8_t)type, .offset = flow_pos(f), .value = value, .insns = insns};
}

void flow_release_bound(struct assay_flow *f, bool has_ip, uint64_t ip)
{
    if (!f->bounds)
        return;
    for (unsigned i = 0; i < f->bounds; i++) {
        f->bound[i].has_ip = has_ip;
        f->bound[i].ip = has_ip ? ip : 0;
        if (f->state != LOST)
            flow_event(f, &f->bound[i]);
    }
    f->bounds = 0;
}

/* An event now, or with the FUP that the packet announces. */
static void event_or_bind(struct assay_flow *f, unsigned type, uint64_t value, uint32_t insns, bool fup)
{
    add_bound(f, type, value, insns);
    if (!fup)
        flow_release_bound(f, false, 0);
}

/* An event of an instruction in the run in hand, when it has such an instruction. In PSB+ only news are told. */
static void event_at_flag(struct assay_flow *f, unsigned type, uint64_t value, unsigned node_flag, unsigned insn_flag)
{
    uint64_t ip = 0, *known = type == ASSAY_FLOW_PAGING ? &f->paging : &f->vmcs;
    if (f->psb.open && value == *known)
        return;
    *known = value;
    bool found = !f->psb.open && f->state == ON && f->link != LINK_NONE &&
                 f->nodes[LINK_ID(f->link)].flags & node_flag &&
                 flow_find_flag(f, LINK_ID(f->link), insn_flag, &ip) >= 0;
    flow_event_at(f, type, found, ip, value);
}

/* Is the interrupt or fault itself the asynchronous branch that FUP and TIP tell of? */
static bool cfe_leaves(const struct assay_flow *f, unsigned type, bool fup)
{
    static const uint32_t async_types = 1u << 1 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 8 | 1u << 9 | 1u << 10 | 1u << 12;
    return fup && f->state != OFF && type < 32 && async_types >> type & 1;
}

static void on_cfe(struct assay_flow *f, const struct assay_pt_packet *p)
{
    f->bound_async |= cfe_leaves(f, p->cfe.type, p->cfe.ip);
    event_or_bind(f, ASSAY_FLOW_INTERRUPT, p->cfe.type | (uint64_t)p->cfe.vector << 8, 0, p->cfe.ip);
}

static void on_tsx(struct assay_flow *f, const struct assay_pt_packet *p)
{
    uint64_t value = p->tsx.abort ? 2 : p->tsx.in_tx;
    event_or_bind(f, ASSAY_FLOW_TSX, value, 0, f->state == ON || f->state == PROVISIONAL);
}

static uint64_t power_value(const struct assay_pt_packet *p)
{
    uint64_t v = (uint64_t)p->type << 56;
    switch (p->type) {
    case ASSAY_PT_MWAIT:
        return v | p->mwait.hints | (uint64_t)(p->mwait.ext & 0xffffff) << 32;
    case ASSAY_PT_PWRE:
        return v | p->pwre.state | (uint64_t)p->pwre.sub_state << 8 | (uint64_t)p->pwre.hw << 16;
    case ASSAY_PT_PWRX:
        return v | p->pwrx.last | (uint64_t)p->pwrx.deepest << 8 | (uint64_t)p->pwrx.wake << 16;
    default:
        return v;
    }
}

static void on_stop(struct assay_flow *f)
{
    flow_release_bound(f, false, 0);
    flow_event_at(f, ASSAY_FLOW_STOP, false, 0, 0);
    if (f->state == PROVISIONAL || f->state == OVERFLOWED)
        f->state = OFF;
}

static void on_pebs(struct assay_flow *f, const struct assay_pt_packet *p)
{
    if (p->type == ASSAY_PT_BBP) {
        f->block_items = 0;
    } else if (p->type == ASSAY_PT_BIP) {
        f->block_items++;
    } else {
        event_or_bind(f, ASSAY_FLOW_PEBS, f->block_items, 0, p->bep.ip);
        f->block_items = 0;
    }
}

/* What the packets of time say is true in any state. */
static bool time_packet(struct assay_flow *f, const struct assay_pt_packet *p)
{
    switch (p->type) {
    case ASSAY_PT_TSC:
        flow_clock_tsc(f, p->tsc.tsc);
        return true;
    case ASSAY_PT_TMA:
        flow_clock_tma(f, p->tma.ctc, p->tma.fc);
        return true;
    case ASSAY_PT_MTC:
        flow_clock_mtc(f, p->mtc.ctc);
        return true;
    case ASSAY_PT_CYC:
        f->cyc += p->cyc.cycles;
        f->cyc_outside |= f->state != ON;
        return true;
    case ASSAY_PT_CBR:
        flow_clock_cbr(f, p->cbr.ratio);
        return true;
    default:
        return p->type == ASSAY_PT_PAD;
    }
}

/* BDM70, APL12: what may stand between a FUP that is to be doubted and the TIP.PGE that shows it. */
static bool leaves_doubt(unsigned type)
{
    return type == ASSAY_PT_PIP || type == ASSAY_PT_VMCS || type == ASSAY_PT_MNT || type == ASSAY_PT_TRACESTOP;
}

/* A CYC times these; the others come with a branch and are timed with it. */
static bool takes_cycles(unsigned type)
{
    return type == ASSAY_PT_PTW || type == ASSAY_PT_EXSTOP || type == ASSAY_PT_MWAIT || type == ASSAY_PT_PWRE ||
           type == ASSAY_PT_PWRX || type == ASSAY_PT_CFE || type == ASSAY_PT_EVD || type == ASSAY_PT_TRIG ||
           type == ASSAY_PT_BBP;
}

void flow_event_packet(struct assay_flow *f, const struct assay_pt_packet *p)
{
    if (takes_cycles(p->type))
        flow_hold_cycles(f);
    if (f->state == PROVISIONAL && !leaves_doubt(p->type))
        flow_confirm(f);
    switch (p->type) {
    case ASSAY_PT_MODE_TSX:
        on_tsx(f, p);
        break;
    case ASSAY_PT_PIP:
        event_at_flag(f, ASSAY_FLOW_PAGING, p->pip.cr3 | p->pip.nr, NODE_PAGING, ASSAY_INSN_MOV_CR3);
        break;
    case ASSAY_PT_VMCS:
        event_at_flag(f, ASSAY_FLOW_VMCS, p->vmcs.base, NODE_VMCS, ASSAY_INSN_VMPTRLD);
        break;
    case ASSAY_PT_TRACESTOP:
        on_stop(f);
        break;
    case ASSAY_PT_MNT:
        flow_event_at(f, ASSAY_FLOW_MAINTENANCE, false, 0, p->mnt.payload);
        break;
    case ASSAY_PT_PTW:
        event_or_bind(f, ASSAY_FLOW_PTWRITE, p->ptw.payload, 0, p->ptw.ip);
        break;
    case ASSAY_PT_EXSTOP:
        event_or_bind(f, ASSAY_FLOW_POWER, power_value(p), 0, p->exstop.ip);
        break;
    case ASSAY_PT_MWAIT: /* binds to the FUP of the EXSTOP that follows */
        add_bound(f, ASSAY_FLOW_POWER, power_value(p), 0);
        break;
    case ASSAY_PT_PWRE:
    case ASSAY_PT_PWRX:
        event_or_bind(f, ASSAY_FLOW_POWER, power_value(p), 0, false);
        break;
    case ASSAY_PT_CFE:
        on_cfe(f, p);
        break;
    case ASSAY_PT_EVD:
        event_or_bind(f, ASSAY_FLOW_EVENT_DATA, p->evd.payload, p->evd.type, false);
        break;
    case ASSAY_PT_TRIG:
        event_or_bind(f, ASSAY_FLOW_TRIGGER, p->trig.trbv, p->trig.icntv ? p->trig.icnt : 0, p->trig.ip);
        break;
    default:
        on_pebs(f, p);
        break;
    }
}

void flow_packet(struct assay_flow *f, const struct assay_pt_packet *p)
{
    if (p->type == ASSAY_PT_PSB)
        flow_psb(f);
    else if (p->type == ASSAY_PT_OVF)
        flow_overflow(f);
    else if (time_packet(f, p))
        return;
    else if (f->psb.open)
        flow_psb_packet(f, p);
    else if (!flow_branch_packet(f, p) && f->state != LOST)
        flow_event_packet(f, p);
}
