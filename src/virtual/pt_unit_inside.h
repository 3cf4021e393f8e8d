/* SPDX-License-Identifier: MIT */
/* Inside of the trace unit: what its files share. */
#ifndef ASSAY_VIRTUAL_PT_UNIT_INSIDE_H
#define ASSAY_VIRTUAL_PT_UNIT_INSIDE_H

#include <assay/pt_unit.h>

static inline bool triggered(const struct assay_pt_unit *u)
{
    return u->ctl & ASSAY_RTIT_TRACEEN && !(u->status & (ASSAY_RTIT_STATUS_ERROR | ASSAY_RTIT_STATUS_STOPPED));
}

/* ContextEn: the machine says whether the privilege level matches (inside), the unit compares CR3. */
static inline bool in_context(const struct assay_pt_unit *u)
{
    return u->inside && triggered(u) && u->ctl & (ASSAY_RTIT_OS | ASSAY_RTIT_USER) &&
           (!(u->ctl & ASSAY_RTIT_CR3FILTER) || u->cr3 >> 5 == u->cr3_match >> 5);
}

static inline unsigned ctl_field(const struct assay_pt_unit *u, unsigned shift)
{
    return (unsigned)(u->ctl >> shift) & 15;
}

static inline uint64_t pt_unit_position(const struct assay_pt_unit *u)
{
    return u->bytes_before + (uint64_t)(u->out_at - u->out);
}

/* pt_unit_clock.c */
/* TSC and CTC to the present cycle; sets when the next MTC is due, passing over those that were due before. */
void assay_pt_unit_clock_restart(struct assay_pt_unit *u);
void assay_pt_unit_clock_ratio(struct assay_pt_unit *u, unsigned core_ratio);
void assay_pt_unit_put_time(struct assay_pt_unit *u); /* CYC, TSC, TMA as enabled */
uint64_t assay_pt_unit_next_due(const struct assay_pt_unit *u);

/* pt_unit.c */
bool assay_pt_unit_room(struct assay_pt_unit *u);               /* a packet group fits, or on_full() made room */
void assay_pt_unit_psb(struct assay_pt_unit *u, uint64_t next); /* PSB+; next only counts while enabled */
void assay_pt_unit_disable(struct assay_pt_unit *u);            /* PacketEn goes to 0, without a packet */

/* pt_unit_msr.c */
void assay_pt_unit_psb_arm(struct assay_pt_unit *u); /* psb_last, the period or the region changed */

#endif
