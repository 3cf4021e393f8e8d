/* SPDX-License-Identifier: MIT */
/* The trace unit's registers: what may be written when, and the output region behind them. */
#include "pt_unit_inside.h"
#include "pt_unit_put.h"

#include <string.h>

#define BITS(high, low) ((~UINT64_C(0) >> (63 - (high))) & (~UINT64_C(0) << (low)))

/* What this unit has; the rest of RTIT_CTL is reserved, as on a processor whose CPUID 14H does not offer it: power
 * events, fabric output, ToPA, address filters, event trace, TNT disable. */
static const uint64_t ctl_bits = ASSAY_RTIT_TRACEEN | ASSAY_RTIT_CYCEN | ASSAY_RTIT_OS | ASSAY_RTIT_USER |
                                 ASSAY_RTIT_FUPONPTW | ASSAY_RTIT_CR3FILTER | ASSAY_RTIT_MTCEN | ASSAY_RTIT_TSCEN |
                                 ASSAY_RTIT_DISRETC | ASSAY_RTIT_PTWEN | ASSAY_RTIT_BRANCHEN | BITS(17, 14) |
                                 BITS(22, 19) | BITS(27, 24);
static const uint64_t status_bits = ASSAY_RTIT_STATUS_FILTEREN | ASSAY_RTIT_STATUS_CONTEXTEN |
                                    ASSAY_RTIT_STATUS_TRIGGEREN | ASSAY_RTIT_STATUS_ERROR | ASSAY_RTIT_STATUS_STOPPED |
                                    BITS(48, 32);
static const uint64_t base_bits = BITS(51, 7); /* MAXPHYADDR 52 */

void assay_pt_unit_init(struct assay_pt_unit *u, const struct assay_pt_unit_config *config)
{
    memset(u, 0, sizeof *u);
    if (config)
        u->config = *config;
    struct assay_pt_unit_config *c = &u->config;
    if (!c->tsc_ctc_n || !c->tsc_ctc_d) {
        c->tsc_ctc_n = 100;
        c->tsc_ctc_d = 1;
    }
    if (!c->max_ratio)
        c->max_ratio = 24;
    if (!c->core_ratio)
        c->core_ratio = c->max_ratio;
    if (!c->cyc_counter_bits)
        c->cyc_counter_bits = 12;
    c->cyc_counter_bits = c->cyc_counter_bits < 8 ? 8 : c->cyc_counter_bits > 32 ? 32 : c->cyc_counter_bits;
    u->core_ratio = c->core_ratio;
    u->mode = c->mode ? (uint8_t)c->mode : 64;
    u->tnt = 1;
    u->next_tick = u->next_mtc = u->cyc_min = u->cyc_thresh = UINT64_MAX;
}

void assay_pt_unit_psb_arm(struct assay_pt_unit *u)
{
    if (!u->out_size) {
        u->psb_at = u->out_at;
        return;
    }
    uint64_t count = pt_unit_position(u) - u->psb_last;
    uint64_t left = count < u->psb_period ? u->psb_period - count : 0;
    uint64_t size = u->out_size - assay_pt_unit_written(u);
    u->psb_at = u->out_at + (left < size ? left : size); /* out_at never gets to the region's end */
}

void assay_pt_unit_output(struct assay_pt_unit *u, uint8_t *memory, size_t size)
{
    u->bytes_before = pt_unit_position(u);
    bool fits = memory && size >= 2 * (size_t)ASSAY_PT_UNIT_ROOM;
    u->out = u->out_at = memory;
    u->out_size = fits ? size : 0;
    u->out_end = fits ? memory + size - ASSAY_PT_UNIT_ROOM : memory;
    assay_pt_unit_psb_arm(u);
}

size_t assay_pt_unit_written(const struct assay_pt_unit *u) { return (size_t)(u->out_at - u->out); }

static uint64_t output_mask(const struct assay_pt_unit *u) { return (u->out_size ? u->out_size - 1 : 0) | 0x7f; }

static uint64_t read_status(const struct assay_pt_unit *u)
{
    uint64_t count = (pt_unit_position(u) - u->psb_last) & BITS(16, 0);
    uint64_t v = u->status | count << ASSAY_RTIT_STATUS_BYTE_SHIFT;
    if (triggered(u))
        v |= ASSAY_RTIT_STATUS_TRIGGEREN | ASSAY_RTIT_STATUS_FILTEREN;
    if (in_context(u))
        v |= ASSAY_RTIT_STATUS_CONTEXTEN;
    return v;
}

int assay_pt_unit_rdmsr(const struct assay_pt_unit *u, uint32_t msr, uint64_t *value)
{
    switch (msr) {
    case ASSAY_MSR_RTIT_OUTPUT_BASE:
        *value = u->output_base;
        return ASSAY_OK;
    case ASSAY_MSR_RTIT_OUTPUT_MASK_PTRS:
        *value = (output_mask(u) & BITS(31, 0)) | (uint64_t)assay_pt_unit_written(u) << 32;
        return ASSAY_OK;
    case ASSAY_MSR_RTIT_CTL:
        *value = u->ctl;
        return ASSAY_OK;
    case ASSAY_MSR_RTIT_STATUS:
        *value = read_status(u);
        return ASSAY_OK;
    case ASSAY_MSR_RTIT_CR3_MATCH:
        *value = u->cr3_match;
        return ASSAY_OK;
    default:
        return ASSAY_E_NOT_FOUND;
    }
}

static void set_trace_en(struct assay_pt_unit *u)
{
    unsigned thresh = ctl_field(u, ASSAY_RTIT_CYCTHRESH_SHIFT);
    u->cyc_thresh = !(u->ctl & ASSAY_RTIT_CYCEN) ? UINT64_MAX : thresh ? UINT64_C(1) << (thresh - 1) : 1;
    u->cyc_min = u->cyc_thresh;
    u->last_cyc = u->cycles;
    u->psb_period = UINT64_C(1) << (ctl_field(u, ASSAY_RTIT_PSBFREQ_SHIFT) + 11);
    assay_pt_unit_psb_arm(u);
    u->stack_depth = u->stack_kept = 0;
    u->inside = u->overflow = u->started = false;
    if (u->output_base & output_mask(u) & BITS(31, 0))
        u->status |= ASSAY_RTIT_STATUS_ERROR; /* the region is not aligned to its size */
    u->next_tick = 0;
}

static void clear_trace_en(struct assay_pt_unit *u)
{
    assay_pt_unit_leave(u);
    assay_pt_unit_disable(u);
    u->inside = u->overflow = false;
    u->next_tick = UINT64_MAX;
}

static int write_ctl(struct assay_pt_unit *u, uint64_t value)
{
    unsigned thresh = (unsigned)(value >> ASSAY_RTIT_CYCTHRESH_SHIFT) & 15;
    if (value & ~ctl_bits || thresh > 13 || thresh > u->config.cyc_counter_bits)
        return ASSAY_E_ARGUMENT;
    if (value == u->ctl)
        return ASSAY_OK;
    bool was = u->ctl & ASSAY_RTIT_TRACEEN, is = value & ASSAY_RTIT_TRACEEN;
    if (was && is)
        return ASSAY_E_ARGUMENT;
    if (was)
        clear_trace_en(u);
    u->ctl = value;
    if (is)
        set_trace_en(u);
    return ASSAY_OK;
}

static int write_status(struct assay_pt_unit *u, uint64_t value)
{
    if (value & ~status_bits)
        return ASSAY_E_ARGUMENT;
    u->status = value & (ASSAY_RTIT_STATUS_ERROR | ASSAY_RTIT_STATUS_STOPPED);
    u->psb_last = pt_unit_position(u) - (value >> ASSAY_RTIT_STATUS_BYTE_SHIFT);
    return ASSAY_OK;
}

/* The low seven bits of the mask read as ones whatever is written. */
static int write_mask(struct assay_pt_unit *u, uint64_t value)
{
    uint64_t mask = (value & BITS(31, 0)) | 0x7f, offset = value >> 32;
    if (!u->out_size || mask != output_mask(u) || offset > u->out_size)
        return ASSAY_E_ARGUMENT;
    u->bytes_before = pt_unit_position(u) - offset;
    u->out_at = u->out + offset;
    return ASSAY_OK;
}

int assay_pt_unit_wrmsr(struct assay_pt_unit *u, uint32_t msr, uint64_t value)
{
    if (msr == ASSAY_MSR_RTIT_CTL)
        return write_ctl(u, value);
    bool tracing = u->ctl & ASSAY_RTIT_TRACEEN;
    switch (msr) {
    case ASSAY_MSR_RTIT_OUTPUT_BASE:
        if (tracing || value & ~base_bits)
            return ASSAY_E_ARGUMENT;
        u->output_base = value;
        return ASSAY_OK;
    case ASSAY_MSR_RTIT_OUTPUT_MASK_PTRS:
        return tracing ? ASSAY_E_ARGUMENT : write_mask(u, value);
    case ASSAY_MSR_RTIT_STATUS:
        return tracing ? ASSAY_E_ARGUMENT : write_status(u, value);
    case ASSAY_MSR_RTIT_CR3_MATCH:
        if (tracing || value & BITS(4, 0))
            return ASSAY_E_ARGUMENT;
        u->cr3_match = value;
        return ASSAY_OK;
    default:
        return ASSAY_E_NOT_FOUND;
    }
}
