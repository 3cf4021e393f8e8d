/* SPDX-License-Identifier: MIT */
/* What each packet means, from what came before it. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

const char oracle_fup_after_fup[] = "FUP where the TIP of another is due";

void oracle_init(struct oracle *o, const struct oracle_config *config, const struct memory *memory,
                 const struct findings *find)
{
    memset(o, 0, sizeof *o);
    o->memory = *memory;
    o->find = *find;
    o->mode = config->mode ? config->mode : 64;
    clock_init(&o->clock, &config->clock);
}

void oracle_free(struct oracle *o) { free(o->way); }

void oracle_forget(struct oracle *o)
{
    o->way_n = 0;
    o->bits_n = 0;
    o->stack_n = 0;
    o->new_mode = 0;
    o->fup_waits = false;
    o->fup_use = FUP_ALONE;
}

static void tell_loss(struct oracle *o, const char *why)
{
    for (size_t i = 0; i < o->way_n; i++)
        if (o->find.unproved)
            o->find.unproved(o->find.ctx, &o->way[i]);
    if (o->find.loss)
        o->find.loss(o->find.ctx, o->packet ? o->packet->offset : 0, o->ip, why);
    if (o->find.jump)
        o->find.jump(o->find.ctx);
}

bool oracle_lose(struct oracle *o, const char *why)
{
    tell_loss(o, why);
    oracle_forget(o);
    o->state = LOST;
    return false;
}

/* Cycles since the last such place have passed exactly here. */
void oracle_cycle_point(struct oracle *o)
{
    if (o->cycles_exact && o->cycles && o->find.cycles)
        o->find.cycles(o->find.ctx, o->cycles);
    if (o->cycles_exact)
        o->cycles = 0;
    o->cycles_exact = false;
}

/* Tracing is on at ip. */
void oracle_resume(struct oracle *o, uint64_t ip)
{
    if (o->find.jump)
        o->find.jump(o->find.ctx);
    o->way_n = 0;
    o->state = ON;
    o->ip = ip;
    oracle_cycle_point(o);
}

/* A MODE.Exec takes effect with the branch after it. */
static void take_mode(struct oracle *o)
{
    if (o->new_mode)
        o->mode = o->new_mode;
    o->new_mode = 0;
}

static void on_tnt(struct oracle *o, const struct packet *p)
{
    if (o->state == LOST)
        return;
    if (o->state != ON)
        oracle_lose(o, "TNT while tracing is off");
    else if (o->fup_waits)
        oracle_lose(o, "TNT where the TIP of a FUP is due");
    else if (o->bits_n > 0)
        oracle_lose(o, "TNT where a TIP is due");
    else {
        o->bits = p->value;
        o->bits_n = p->count;
        oracle_follow_bits(o);
    }
}

/* The instruction at the FUP of a CFE: does it itself transfer control, as IRET and SYSCALL do? */
static bool cfe_is_instruction(unsigned cfe)
{
    enum { IRET = 2, RSM = 4, VMENTRY = 7, UIRET = 13, SWINTR = 14, SYSCALL = 15 };
    return cfe == IRET || cfe == RSM || cfe == VMENTRY || cfe == UIRET || cfe == SWINTR || cfe == SYSCALL;
}

/* FUP, TIP: control left at the FUP's address. */
static bool async_branch(struct oracle *o, uint64_t to)
{
    if (!oracle_walk_to(o, o->fup_ip))
        return false;
    oracle_prove(o);
    oracle_cycle_point(o);
    if (o->find.jump)
        o->find.jump(o->find.ctx);
    o->ip = to;
    return true;
}

static bool fup_is_async(const struct oracle *o)
{
    return o->fup_waits && !(o->fup_of_cfe && cfe_is_instruction(o->cfe));
}

static void on_tip(struct oracle *o, const struct packet *p)
{
    bool async = fup_is_async(o);
    o->fup_waits = false;
    if (o->state == LOST) {
        take_mode(o);
        return;
    }
    if (o->state == OFF) {
        oracle_lose(o, "TIP while tracing is off");
        return;
    }
    if (!p->has_ip) {
        oracle_lose(o, "TIP without an address");
        return;
    }
    if (o->state == OVERFLOWN) /* its FUP is missing (SKD010), but control goes here */
        oracle_resume(o, p->ip);
    else if (!(async ? async_branch(o, p->ip) : oracle_tip(o, p->ip)))
        return;
    take_mode(o);
    oracle_follow_bits(o); /* those that were kept because the TIP was deferred */
}

static void on_pge(struct oracle *o, const struct packet *p)
{
    if (o->state == ON)
        oracle_lose(o, "TIP.PGE while tracing is on");
    o->fup_waits = false;
    if (!p->has_ip) {
        oracle_lose(o, "TIP.PGE without an address");
        return;
    }
    take_mode(o);
    o->cycles_exact |= o->cycles_outside;
    o->cycles_outside = false;
    oracle_resume(o, p->ip);
}

static void off(struct oracle *o)
{
    o->state = OFF;
    if (o->find.jump)
        o->find.jump(o->find.ctx);
}

static void on_pgd(struct oracle *o, const struct packet *p)
{
    bool async = fup_is_async(o);
    o->fup_waits = false;
    switch (o->state) {
    case LOST:
    case OVERFLOWN: /* resolved by saying that it is over */
        off(o);
        return;
    case OFF:
        oracle_lose(o, "TIP.PGD while tracing is off");
        return;
    case ON:
        break;
    }
    if (o->bits_n > 0) {
        oracle_lose(o, "TIP.PGD where a TIP is due");
        return;
    }
    if (!(async       ? oracle_walk_to(o, o->fup_ip)
          : p->has_ip ? oracle_leave_by_branch_to(o, p->ip)
                      : oracle_leave_context(o)))
        return;
    if (async)
        oracle_prove(o);
    oracle_cycle_point(o);
    off(o);
}

/* Some processors give the address of a PSB+ (BDM70) or after an OVF (APL12) although tracing is off; then a TIP.PGE, a
 * TraceStop or a PSB+ without an address follows before anything that only comes while it is on. */
static bool is_off_after_all(const struct oracle *o)
{
    bool in_psb = false;
    for (const struct packet *p = o->packet + 1; p < o->end; p++) {
        switch (p->kind) {
        case PSB:
            in_psb = true;
            break;
        case PSBEND:
            return in_psb; /* without an address */
        case PAD:
        case TSC:
        case TMA:
        case MTC:
        case CYC:
        case CBR:
        case PIP:
        case VMCS:
        case MODE_EXEC:
        case MODE_TSX:
        case MNT:
            break;
        default:
            return p->kind == TIP_PGE || p->kind == TRACESTOP;
        }
    }
    return false;
}

static void fup_while_on(struct oracle *o, enum fup_use use, uint64_t ip)
{
    if (use == FUP_OF_STATE) /* says nothing of the walk */
        return;
    if (o->bits_n > 0) {
        oracle_lose(o, "FUP where a TIP is due");
        return;
    }
    if (o->fup_waits) {
        oracle_lose(o, oracle_fup_after_fup);
        return;
    }
    if (use == FUP_OF_INSN) {
        if (oracle_walk_to(o, ip))
            oracle_walk_over_ptwrite(o);
        return;
    }
    o->fup_waits = true;
    o->fup_of_cfe = use == FUP_OF_CFE;
    o->fup_ip = ip;
}

static void on_fup(struct oracle *o, const struct packet *p)
{
    enum fup_use use = o->fup_use;
    o->fup_use = FUP_ALONE;
    if (o->in_psb) {
        o->psb_has_fup = p->has_ip;
        o->psb_fup = p->ip;
        return;
    }
    if (o->state == LOST)
        return;
    if (!p->has_ip) {
        oracle_lose(o, "FUP without an address");
        return;
    }
    if (o->state == ON)
        fup_while_on(o, use, p->ip);
    else if (use != FUP_ALONE)
        return;
    else if (o->state == OFF)
        oracle_lose(o, "FUP while tracing is off");
    else if (!is_off_after_all(o))
        oracle_resume(o, p->ip);
}

static void on_psb(struct oracle *o)
{
    if (o->state == ON && (o->bits_n > 0 || o->fup_waits))
        oracle_lose(o, "PSB where a TIP is due");
    o->stack_n = 0;
    o->fup_waits = false;
    o->fup_use = FUP_ALONE;
    o->in_psb = true;
    o->psb_has_fup = false;
    o->psb_mode = 0;
}

/* The status that a PSB+ told, against what was known. */
static void on_psbend(struct oracle *o)
{
    if (!o->in_psb) /* a stray one says nothing */
        return;
    bool enabled = o->psb_has_fup && (o->state == ON || !is_off_after_all(o));
    o->in_psb = false;
    bool same_mode = !o->psb_mode || o->psb_mode == o->mode;
    if (!same_mode)
        o->mode = o->psb_mode;
    if (o->state == ON && !same_mode)
        oracle_lose(o, "a PSB+ tells another execution mode");
    else if (o->state == ON && !enabled)
        oracle_lose(o, "a PSB+ says that tracing is off");
    else if (o->state == OFF && enabled)
        oracle_lose(o, "a PSB+ says that tracing is on");
    else if (o->state == ON)
        oracle_walk_to(o, o->psb_fup);
    if (!enabled)
        o->state = OFF;
    else if (o->state != ON)
        oracle_resume(o, o->psb_fup);
}

static void on_ovf(struct oracle *o)
{
    tell_loss(o, "overflow");
    oracle_cycle_point(o);
    oracle_forget(o);
    o->in_psb = false;
    o->state = OVERFLOWN;
}

/* A packet that stands inside a PSB+ only to report status. */
static bool is_status(enum kind k)
{
    switch (k) {
    case FUP:
    case MODE_EXEC:
    case MODE_TSX:
    case PIP:
    case VMCS:
    case TSC:
    case TMA:
    case CBR:
    case PSBEND:
    case OVF:
    case PSB:
    case PAD:
    case CYC:
    case MTC:
    case MNT:
        return true;
    default:
        return false;
    }
}

/* Kinds that a CYC before them times, but that stand nowhere in the code: a branch after them has an exact time only
 * with a CYC of its own (with a threshold at any rate; without one it may also be of the same cycle). */
static bool takes_cycles(enum kind k)
{
    switch (k) {
    case TSC:
    case MTC:
    case PTW:
    case CFE:
    case EVD:
    case MWAIT:
    case PWRE:
    case PWRX:
    case EXSTOP:
    case TRIG:
    case BBP:
        return true;
    default:
        return false;
    }
}

static void use_fup_for(struct oracle *o, enum fup_use use)
{
    if (use > o->fup_use)
        o->fup_use = use;
}

static void on_other(struct oracle *o, const struct packet *p)
{
    switch (p->kind) {
    case MODE_EXEC:
        if (o->in_psb)
            o->psb_mode = (unsigned)p->value;
        else
            o->new_mode = (unsigned)p->value;
        return;
    case MODE_TSX: /* begin and commit have a FUP of their own; that after an abort is of the branch away */
        if (!o->in_psb && p->value != 2 && o->state == ON)
            use_fup_for(o, FUP_OF_INSN);
        return;
    case PTW:
        if (p->fup)
            use_fup_for(o, FUP_OF_INSN);
        return;
    case CFE:
        if (p->fup)
            use_fup_for(o, FUP_OF_CFE);
        o->cfe = (unsigned)p->value;
        return;
    case MWAIT: /* goes with the FUP of the EXSTOP after it */
        use_fup_for(o, FUP_OF_STATE);
        return;
    case EXSTOP:
    case BEP:
    case TRIG:
        if (p->fup)
            use_fup_for(o, FUP_OF_STATE);
        return;
    default:
        return;
    }
}

/* true for a packet that says where control goes. */
static bool on_branch(struct oracle *o, const struct packet *p)
{
    switch (p->kind) {
    case TNT:
        on_tnt(o, p);
        break;
    case TIP:
        on_tip(o, p);
        break;
    case TIP_PGE:
        on_pge(o, p);
        break;
    case TIP_PGD:
        on_pgd(o, p);
        break;
    default:
        return false;
    }
    o->fup_use = FUP_ALONE; /* another would have come before */
    return true;
}

static void on_control(struct oracle *o, const struct packet *p)
{
    if (on_branch(o, p))
        return;
    switch (p->kind) {
    case FUP:
        on_fup(o, p);
        return;
    case PSB:
        on_psb(o);
        return;
    case PSBEND:
        on_psbend(o);
        return;
    case OVF:
        on_ovf(o);
        return;
    case BAD:
        o->in_psb = false;
        oracle_lose(o, "no packet");
        return;
    default:
        on_other(o, p);
        return;
    }
}

static void on_time(struct oracle *o, const struct packet *p)
{
    bool told;
    if (!clock_packet(&o->clock, p, &told))
        return;
    if (p->kind == CYC) {
        o->cycles += p->value;
        o->cycles_exact = true;
        o->cycles_outside |= o->state != ON;
    }
    if (told && o->find.time)
        o->find.time(o->find.ctx, o->clock.mark);
    if (o->memory.time)
        o->memory.time(o->memory.ctx, o->clock.tsc);
}

static void on_packet(struct oracle *o)
{
    const struct packet *p = o->packet;
    if (o->in_psb && !is_status(p->kind)) {
        o->in_psb = false;
        oracle_lose(o, "a PSB+ that does not end");
    }
    on_time(o, p);
    on_control(o, p);
    if (takes_cycles(p->kind))
        o->cycles_exact = false;
}

void oracle_run(struct oracle *o, const uint8_t *data, size_t size, uint64_t base)
{
    struct packets all = packets_of(data, size, base);
    oracle_forget(o);
    o->in_psb = false;
    o->state = LOST;
    o->end = all.at + all.n;
    for (o->packet = all.at; o->packet < o->end; o->packet++)
        on_packet(o);
    o->packet = NULL;
    o->cycles_exact = true; /* what is left passed after the last instruction */
    oracle_cycle_point(o);
    free(all.at);
}
