/* SPDX-License-Identifier: MIT */
/* A software model of the Processor Trace unit: its registers in, its bytes out.
 * Source: Intel SDM Vol. 3C chapter 36 (36.2 operation, 36.3 cycle-accurate mode, 36.4 packets, 36.2.7 RTIT MSRs).
 * What drives it (a machine, a test) tells it what retires; the unit decides what to write. */
#ifndef ASSAY_PT_UNIT_H
#define ASSAY_PT_UNIT_H

#include <assay/pt.h>

#ifdef __cplusplus
extern "C" {
#endif

enum assay_rtit_msr {
    ASSAY_MSR_RTIT_OUTPUT_BASE = 0x560,
    ASSAY_MSR_RTIT_OUTPUT_MASK_PTRS = 0x561, /* 31:7 (size - 1) >> 7 << 7 | 0x7f, 63:32 output offset */
    ASSAY_MSR_RTIT_CTL = 0x570,
    ASSAY_MSR_RTIT_STATUS = 0x571,
    ASSAY_MSR_RTIT_CR3_MATCH = 0x572,
};
#define ASSAY_RTIT_TRACEEN         (UINT64_C(1) << 0)
#define ASSAY_RTIT_CYCEN           (UINT64_C(1) << 1)
#define ASSAY_RTIT_OS              (UINT64_C(1) << 2)
#define ASSAY_RTIT_USER            (UINT64_C(1) << 3)
#define ASSAY_RTIT_PWREVTEN        (UINT64_C(1) << 4)
#define ASSAY_RTIT_FUPONPTW        (UINT64_C(1) << 5)
#define ASSAY_RTIT_CR3FILTER       (UINT64_C(1) << 7)
#define ASSAY_RTIT_TOPA            (UINT64_C(1) << 8)
#define ASSAY_RTIT_MTCEN           (UINT64_C(1) << 9)
#define ASSAY_RTIT_TSCEN           (UINT64_C(1) << 10)
#define ASSAY_RTIT_DISRETC         (UINT64_C(1) << 11)
#define ASSAY_RTIT_PTWEN           (UINT64_C(1) << 12)
#define ASSAY_RTIT_BRANCHEN        (UINT64_C(1) << 13)
#define ASSAY_RTIT_MTCFREQ_SHIFT   14 /* 4 bits */
#define ASSAY_RTIT_CYCTHRESH_SHIFT 19 /* 4 bits; 0 none, n: 2^(n-1) cycles */
#define ASSAY_RTIT_PSBFREQ_SHIFT   24 /* 4 bits; a PSB every 2^(n+11) bytes */

struct assay_pt_unit_config {
    uint32_t tsc_ctc_n, tsc_ctc_d; /* TSC per crystal tick = n/d (CPUID 15H EBX/EAX) */
    unsigned max_ratio;            /* TSC runs at this many bus clocks (P1) */
    unsigned core_ratio;           /* CBR: the core runs at this many bus clocks */
    unsigned cyc_counter_bits;     /* the internal cycle counter wraps here: a stand-alone CYC before it; 0 = 12 */
    unsigned mode;                 /* execution mode at start: 64 or 32 */
};

enum { ASSAY_PT_UNIT_STACK = 64 };

struct assay_pt_unit {
    /* ---- set by the machine before each event: core cycles since power-on, never going back */
    uint64_t cycles;
    /* ---- everything below belongs to the unit; readable */
    uint64_t next_tick;              /* in cycles: when assay_pt_unit_tick() is due (MTC, counter wrap) */
    uint64_t tnt;                    /* pending branches with a leading 1 as stop bit; 1 = none */
    uint64_t tnt_cycle;              /* when the oldest of them retired */
    uint8_t *out, *out_at, *out_end; /* out_end leaves room for one packet group */
    uint64_t psb_due;                /* bytes until the next PSB+ */
    uint64_t stack[ASSAY_PT_UNIT_STACK];
    unsigned stack_top, stack_depth;
    uint64_t last_ip, last_cyc, last_mtc;
    uint64_t tsc_base; /* TSC at cycle 0 */
    uint64_t ctl, status, output_base, output_mask, cr3_match;
    uint64_t bytes; /* written since power-on */
    uint64_t lost;  /* packets not written for want of room */
    bool enabled;   /* PacketEn: TraceEn, BranchEn and the context match */
    bool overflow;  /* output is full: an OVF is owed */
    uint8_t mode;   /* 64, 32, 16 */
    struct assay_pt_unit_config config;
    /* The output region is full. May install another (assay_pt_unit_output) and return true: nothing is lost.
     * false or NULL: packets are dropped until room is made, then OVF is written. */
    bool (*on_full)(struct assay_pt_unit *u, void *ctx);
    void *ctx;
};

void assay_pt_unit_init(struct assay_pt_unit *u, const struct assay_pt_unit_config *config);
/* ASSAY_OK, ASSAY_E_ARGUMENT for what would raise #GP (reserved bits, changing CTL fields while TraceEn), ASSAY_E_NOT_FOUND. */
int assay_pt_unit_wrmsr(struct assay_pt_unit *u, uint32_t msr, uint64_t value);
int assay_pt_unit_rdmsr(const struct assay_pt_unit *u, uint32_t msr, uint64_t *value);
/* The memory behind OUTPUT_BASE/MASK (single range): size >= 256 bytes. Sets both registers' offset to 0. */
void assay_pt_unit_output(struct assay_pt_unit *u, uint8_t *memory, size_t size);
/* Bytes written to the present region. */
size_t assay_pt_unit_written(const struct assay_pt_unit *u);

/* ---- what retires. `next` is always the address of the next instruction to execute. Each function first runs the clock
 * (a due tick) and last writes PSB+ when it is due, with a FUP to `next`. Nothing is written while !enabled. */
void assay_pt_unit_enter(struct assay_pt_unit *u,
                         uint64_t next);           /* context begins to match: TIP.PGE (PSB+ first after TraceEn) */
void assay_pt_unit_leave(struct assay_pt_unit *u); /* a far transfer at the end of a block left it: TIP.PGD, no IP */
void assay_pt_unit_async_leave(struct assay_pt_unit *u,
                               uint64_t ip); /* interrupt, fault at ip (not executed): FUP, TIP.PGD */
void assay_pt_unit_async(struct assay_pt_unit *u, uint64_t ip, uint64_t next); /* FUP ip, TIP next */
void assay_pt_unit_cond_slow(struct assay_pt_unit *u, uint64_t next); /* the TNT is full, or something is due */
void assay_pt_unit_indirect(struct assay_pt_unit *u, uint64_t next);
void assay_pt_unit_ret(struct assay_pt_unit *u, uint64_t next);
void assay_pt_unit_ptwrite(struct assay_pt_unit *u, uint64_t ip, uint64_t value, unsigned bytes);
void assay_pt_unit_mode(struct assay_pt_unit *u, unsigned mode); /* before the indirect()/enter() that it belongs to */
void assay_pt_unit_cr3(struct assay_pt_unit *u, uint64_t cr3, uint64_t next);
void assay_pt_unit_frequency(struct assay_pt_unit *u, unsigned core_ratio, uint64_t next); /* CBR */
void assay_pt_unit_time(struct assay_pt_unit *u);  /* TSC and TMA now (after a jump of the clock) */
void assay_pt_unit_tick(struct assay_pt_unit *u);  /* cycles >= next_tick: MTCs and stand-alone CYCs that are due */
void assay_pt_unit_flush(struct assay_pt_unit *u); /* pending TNT out */
uint64_t assay_pt_unit_tsc(const struct assay_pt_unit *u); /* TSC at u->cycles */

/* The hot ones, inline: a conditional branch and a call. */
static inline void assay_pt_unit_cond(struct assay_pt_unit *u, bool taken, uint64_t next)
{
    if (u->tnt == 1)
        u->tnt_cycle = u->cycles;
    u->tnt = u->tnt << 1 | (taken ? 1u : 0u);
    if (u->tnt >= 1u << 6 || u->cycles >= u->next_tick)
        assay_pt_unit_cond_slow(u, next);
}

static inline void assay_pt_unit_call(struct assay_pt_unit *u, uint64_t return_ip)
{
    u->stack[u->stack_top++ % ASSAY_PT_UNIT_STACK] = return_ip;
    if (u->stack_depth < ASSAY_PT_UNIT_STACK)
        u->stack_depth++;
}

#ifdef __cplusplus
}
#endif
#endif
