/* SPDX-License-Identifier: MIT */
/* A software model of the Processor Trace unit: its registers in, its bytes out.
 * Source: Intel SDM Vol. 3C chapter 36 (36.2 operation, 36.3 cycle-accurate mode, 36.4 packets, 36.2.7 RTIT MSRs);
 * docs/virtual-pt.md says what is modelled and which choices were made where the manual leaves them open.
 * What drives it (a machine, a test) tells it what retires; the unit decides what to write.
 * Pure: no allocation, no I/O. One unit, one thread at a time. */
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
#define ASSAY_RTIT_PWREVTEN        (UINT64_C(1) << 4) /* not in this unit: reserved */
#define ASSAY_RTIT_FUPONPTW        (UINT64_C(1) << 5)
#define ASSAY_RTIT_CR3FILTER       (UINT64_C(1) << 7)
#define ASSAY_RTIT_TOPA            (UINT64_C(1) << 8) /* not in this unit: reserved */
#define ASSAY_RTIT_MTCEN           (UINT64_C(1) << 9)
#define ASSAY_RTIT_TSCEN           (UINT64_C(1) << 10)
#define ASSAY_RTIT_DISRETC         (UINT64_C(1) << 11)
#define ASSAY_RTIT_PTWEN           (UINT64_C(1) << 12)
#define ASSAY_RTIT_BRANCHEN        (UINT64_C(1) << 13)
#define ASSAY_RTIT_MTCFREQ_SHIFT   14 /* 4 bits, all values */
#define ASSAY_RTIT_CYCTHRESH_SHIFT 19 /* 4 bits; 0 none, n: 2^(n-1) cycles; n <= 13 and <= the counter's width */
#define ASSAY_RTIT_PSBFREQ_SHIFT   24 /* 4 bits, all values; a PSB every 2^(n+11) bytes */

#define ASSAY_RTIT_STATUS_FILTEREN   (UINT64_C(1) << 0)
#define ASSAY_RTIT_STATUS_CONTEXTEN  (UINT64_C(1) << 1)
#define ASSAY_RTIT_STATUS_TRIGGEREN  (UINT64_C(1) << 2)
#define ASSAY_RTIT_STATUS_ERROR      (UINT64_C(1) << 4)
#define ASSAY_RTIT_STATUS_STOPPED    (UINT64_C(1) << 5)
#define ASSAY_RTIT_STATUS_BYTE_SHIFT 32 /* PacketByteCnt, 17 bits: bytes since the last PSB */

struct assay_pt_unit_config {
    uint32_t tsc_ctc_n, tsc_ctc_d; /* TSC per crystal tick = n/d (CPUID 15H EBX/EAX); 0 = 100/1 */
    unsigned max_ratio;            /* TSC runs at this many bus clocks (P1); 0 = 24 */
    unsigned core_ratio;           /* CBR: the core runs at this many bus clocks; 0 = max_ratio */
    unsigned cyc_counter_bits; /* the internal cycle counter wraps here: a stand-alone CYC before it; 8..32, 0 = 12 */
    unsigned mode;             /* execution mode at start: 64, 32 or 16; 0 = 64 */
};

enum {
    ASSAY_PT_UNIT_STACK = 64,
    ASSAY_PT_UNIT_ROOM = 128, /* bytes at the end of a region that only a packet group begun before them may use */
};

struct assay_pt_unit {
    /* ---- set by the machine before each event: core cycles since power-on, never going back */
    uint64_t cycles;
    /* ---- everything below belongs to the unit; readable */
    uint64_t next_tick;           /* in cycles: assay_pt_unit_tick() may have something to do (MTC, counter wrap) */
    uint64_t tnt;                 /* pending branches with a leading 1 as stop bit; 1 = none */
    uint64_t tnt_cycle;           /* when the oldest of them retired */
    uint8_t *out_at, *out_end;    /* next byte; no packet group begins at or after out_end */
    uint64_t last_cyc, last_ip;   /* cycle of the last CYC; the base of IP compression */
    uint64_t cyc_min, cyc_thresh; /* least value of the next CYC, of those after it; UINT64_MAX with CYCEn clear */
    uint8_t *psb_at;              /* a PSB+ is due when out_at gets here */
    unsigned stack_top, stack_depth;
    unsigned stack_size; /* 0: calls are not remembered (DisRETC, or disabled) */
    uint8_t mode;        /* 64, 32, 16 */
    uint8_t mode_told;   /* of the last MODE.Exec; 0: none since the last PSB */
    bool enabled;        /* PacketEn: TriggerEn, ContextEn and BranchEn */
    bool overflow;       /* packets are being lost: an OVF is owed */
    bool inside;         /* between enter() and leave() */
    bool started;        /* the packets of TraceEn's setting are written */
    uint64_t stack[ASSAY_PT_UNIT_STACK];
    unsigned stack_kept;         /* stack_depth while disabled */
    unsigned core_ratio;         /* as of the last frequency() */
    uint64_t next_mtc, next_ctc; /* cycle and CTC of the next MTC; UINT64_MAX: none */
    /* Where the present ratio began: tsc = tsc_base + clock_tsc + (cycles - clock_cycle) x max_ratio / core_ratio. */
    uint64_t clock_cycle, clock_tsc;
    uint64_t tsc_base;             /* TSC at cycle 0; a machine that changes it calls assay_pt_unit_time() */
    uint64_t psb_last, psb_period; /* position, counted in bytes from power-on, of the last PSB; bytes to the next */
    uint64_t ctl, status, cr3, cr3_match;
    uint64_t output_base;
    uint8_t *out; /* the region */
    size_t out_size;
    uint64_t bytes_before; /* written to earlier regions since power-on */
    uint64_t lost;         /* events not written for want of room */
    struct assay_pt_unit_config config;
    /* The output region is full. May install another (assay_pt_unit_output) and return true: nothing is lost.
     * false or NULL: packets are dropped until room is made, then OVF is written. */
    bool (*on_full)(struct assay_pt_unit *u, void *ctx);
    void *ctx;
};

/* Power-on. config may be NULL (all defaults). */
void assay_pt_unit_init(struct assay_pt_unit *u, const struct assay_pt_unit_config *config);
/* ASSAY_OK, ASSAY_E_ARGUMENT for what would raise #GP (reserved bits, changing registers while TraceEn),
 * ASSAY_E_NOT_FOUND. Setting TraceEn arms the unit: PSB+ (or TSC, TMA, CBR when PacketByteCnt is not 0) is written by
 * the first event that follows, and enter() has to be called when the context matches then. Clearing it writes what is
 * pending, and TIP.PGD. */
int assay_pt_unit_wrmsr(struct assay_pt_unit *u, uint32_t msr, uint64_t value);
int assay_pt_unit_rdmsr(const struct assay_pt_unit *u, uint32_t msr, uint64_t *value);
/* The memory behind OUTPUT_BASE/MASK (single range): size >= 256 bytes, below that there is no room. Sets both
 * registers' offset to 0. The mask reads back as size - 1 rounded down to 128 bytes. */
void assay_pt_unit_output(struct assay_pt_unit *u, uint8_t *memory, size_t size);
/* Bytes written to the present region. */
size_t assay_pt_unit_written(const struct assay_pt_unit *u);

/* ---- what retires. `next` is always the address of the next instruction to execute. Each function first runs the
 * clock (a due tick) and last writes PSB+ when it is due, with a FUP to `next`. While !enabled only packets that do not
 * depend on PacketEn are written, as hardware does: MTC, CYC, TSC, CBR, PIP, PSB+ without a FUP. */

/* The context begins to match: [MODE.Exec] TIP.PGE. */
void assay_pt_unit_enter(struct assay_pt_unit *u, uint64_t next);
/* A far transfer at a block's end left the context: TIP.PGD, no IP. */
void assay_pt_unit_leave(struct assay_pt_unit *u);
/* An interrupt or fault at ip (not executed) left it: FUP, TIP.PGD. */
void assay_pt_unit_async_leave(struct assay_pt_unit *u, uint64_t ip);
/* An interrupt or fault at ip that stays in the context: FUP ip, TIP next. */
void assay_pt_unit_async(struct assay_pt_unit *u, uint64_t ip, uint64_t next);
/* A near jump, call (before it, assay_pt_unit_call) or return whose target the code does not tell: TIP. */
void assay_pt_unit_indirect(struct assay_pt_unit *u, uint64_t next);
/* What the inline functions below leave over: the TNT is full, or something is due. */
void assay_pt_unit_cond_slow(struct assay_pt_unit *u, uint64_t next);
void assay_pt_unit_ptwrite(struct assay_pt_unit *u, uint64_t ip, uint64_t value, unsigned bytes); /* bytes: 4 or 8 */
void assay_pt_unit_mode(struct assay_pt_unit *u, unsigned mode); /* before the indirect()/enter() that it belongs to */
void assay_pt_unit_cr3(struct assay_pt_unit *u, uint64_t cr3, uint64_t next);
void assay_pt_unit_frequency(struct assay_pt_unit *u, unsigned core_ratio, uint64_t next); /* TSC, TMA, CBR */
/* TSC and TMA now; after a jump of the clock, whose MTCs are not written. */
void assay_pt_unit_time(struct assay_pt_unit *u);
/* Optional: what is due (MTCs, stand-alone CYCs) without waiting for an event. */
void assay_pt_unit_tick(struct assay_pt_unit *u);
/* Pending TNT out. */
void assay_pt_unit_flush(struct assay_pt_unit *u);
uint64_t assay_pt_unit_tsc(const struct assay_pt_unit *u); /* TSC at u->cycles */

/* ---- the hot ones, inline: a conditional branch, a near call (not of displacement 0), a near return. */

/* `n` more TNT bits, 0 or 1: for a caller that would else have to branch on whether the instruction is conditional. True:
 * cond_slow() has to be called now. */
static inline bool assay_pt_unit_add(struct assay_pt_unit *u, unsigned n, unsigned bit)
{
    uint64_t first = u->tnt_cycle;
    __asm__("" : "+r"(first)); /* or compilers jump around the load, which is a jump that nobody predicts */
    u->tnt_cycle = u->tnt == 1 ? u->cycles : first;
    u->tnt = u->tnt << n | (bit & n);
    return (u->tnt >= 1u << 6) | (n & (u->cycles >= u->next_tick));
}

/* One more TNT bit. When a tick is due, cond_slow() takes the bit back and adds it after the tick. */
static inline void assay_pt_unit_bit(struct assay_pt_unit *u, unsigned bit, uint64_t next)
{
    if (assay_pt_unit_add(u, 1, bit))
        assay_pt_unit_cond_slow(u, next);
}

static inline void assay_pt_unit_cond(struct assay_pt_unit *u, bool taken, uint64_t next)
{
    assay_pt_unit_bit(u, taken ? 1u : 0u, next);
}

static inline void assay_pt_unit_call(struct assay_pt_unit *u, uint64_t return_ip)
{
    if (!u->stack_size)
        return;
    u->stack[u->stack_top++ % ASSAY_PT_UNIT_STACK] = return_ip;
    u->stack_depth += u->stack_depth < ASSAY_PT_UNIT_STACK;
}

static inline void assay_pt_unit_ret(struct assay_pt_unit *u, uint64_t next)
{
    if (u->stack_depth && u->stack[(u->stack_top - 1) % ASSAY_PT_UNIT_STACK] == next) {
        u->stack_top--;
        u->stack_depth--;
        assay_pt_unit_bit(u, 1, next);
    } else {
        u->stack_depth = 0; /* decoders disagree whether this pops: no later RET refers to a call before it */
        assay_pt_unit_indirect(u, next);
    }
}

#ifdef __cplusplus
}
#endif
#endif
