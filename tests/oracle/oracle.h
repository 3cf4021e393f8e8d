/* SPDX-License-Identifier: MIT */
/* A second, slow and obvious Processor Trace decoder, for tests only: it judges the fast one and shares no code with
 * it. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- packets (packets.c) ---- */

enum kind {
    PAD,
    TNT,
    TIP,
    TIP_PGE,
    TIP_PGD,
    FUP,
    PIP,
    MODE_EXEC,
    MODE_TSX,
    TRACESTOP,
    CBR,
    TSC,
    MTC,
    TMA,
    CYC,
    VMCS,
    OVF,
    PSB,
    PSBEND,
    MNT,
    EXSTOP,
    MWAIT,
    PWRE,
    PWRX,
    PTW,
    CFE,
    EVD,
    BBP,
    BIP,
    BEP,
    TRIG,
    BAD, /* bytes that are no packet, up to the next PSB */
};

struct packet {
    uint64_t offset; /* in the stream */
    uint64_t size;   /* bytes */
    enum kind kind;
    /* TNT: the branches, the oldest in bit count-1. MODE.Exec: 16, 32, 64. MODE.TSX: 0 commit, 1 begin, 2 abort. TMA:
     * CTC. CFE: type. Others: the value that the packet is about (cycles, TSC, MTC's byte, ratio, PTW's operand). */
    uint64_t value;
    unsigned count; /* TNT: branches. TMA: fast counter. PTW, BBP, BIP: bytes of the operand or item */
    uint64_t ip;    /* TIP, TIP.PGE, TIP.PGD, FUP: decompressed */
    bool has_ip;    /* ... and not suppressed */
    bool fup;       /* PTW, EXSTOP, CFE, BEP, TRIG: a FUP follows that tells where */
};

struct packets {
    struct packet *at;
    size_t n;
};

/* All packets from the first PSB of data[0..size) on; `base` is the stream offset of data[0]. An incomplete last
 * packet is left out. The caller frees ->at. */
struct packets packets_of(const uint8_t *data, size_t size, uint64_t base);

/* ---- code (code.c) ---- */

enum branch {
    STRAIGHT, /* no branch */
    COND,     /* one TNT bit */
    JMP,      /* direct */
    CALL,
    JMP_IND,
    CALL_IND,
    RET, /* near */
    FAR, /* every far transfer */
};

struct insn {
    uint64_t ip;
    uint64_t next;   /* the address after it */
    uint64_t target; /* of COND, JMP, CALL */
    enum branch branch;
    bool mov_cr3, ptwrite;
};

/* The instruction at ip whose bytes are code[0..size). false when they are none. */
bool insn_decode(const uint8_t *code, size_t size, unsigned mode, uint64_t ip, struct insn *in);

/* ---- time (time.c) ---- */

struct clock_config {
    unsigned mtc_freq;      /* an MTC every 2^mtc_freq crystal ticks */
    uint64_t ctc_n, ctc_d;  /* TSC per crystal tick; 0: not known */
    unsigned max_ratio;     /* TSC runs at this many bus clocks; 0: not known */
    uint64_t tsc_reference; /* extends the 56 bits of a TSC packet; 0: none */
};

struct clock {
    struct clock_config config;
    uint64_t tsc; /* the estimate, never going back; 0: none yet */
    uint64_t packet_tsc;
    /* crystal */
    bool have_tsc, have_ctc, ctc_high_unknown, mtc_seen;
    uint64_t ctc_tsc;    /* TSC at the last crystal tick before the TMA */
    uint64_t ctc_before; /* crystal ticks from the beginning of that MTC period to it */
    uint64_t ctc_ticks;  /* from the beginning of that period to the last MTC */
    uint8_t last_mtc;
    /* core cycles */
    unsigned core_ratio;       /* CBR; 0: not known */
    uint64_t mark, cycles;     /* TSC of the last TSC or MTC, core cycles since */
    uint64_t cal_tsc, cal_cyc; /* calibration: TSC and cycles between the last two MTCs */
};

void clock_init(struct clock *c, const struct clock_config *config);
/* false for packets that tell no time. *told: a TSC or MTC packet told it, c->mark, with no estimate in it. */
bool clock_packet(struct clock *c, const struct packet *p, bool *told);

/* ---- flow (walk.c, events.c) ---- */

/* What the oracle finds, in order. Any may be NULL. */
struct findings {
    void *ctx;
    void (*insn)(void *ctx, const struct insn *in); /* executed */
    void (*cycles)(void *ctx, uint64_t cycles);     /* exactly here, since the last such place */
    void (*time)(void *ctx, uint64_t tsc);          /* as a TSC or MTC packet told */
    void (*jump)(void *ctx); /* control goes elsewhere by something that is no instruction, or was lost */
    /* A loss: first what was walked over to here, which may have been executed or not. */
    void (*unproved)(void *ctx, const struct insn *in);
    void (*loss)(void *ctx, uint64_t offset, uint64_t ip, const char *why); /* OVF, or an error */
};

struct memory {
    void *ctx;
    size_t (*read)(void *ctx, uint64_t ip, uint8_t *buf, size_t size); /* code bytes; how many there are */
    void (*time)(void *ctx, uint64_t tsc);                             /* now; may be NULL */
};

enum state {
    LOST,      /* nobody knows where the program is */
    OVERFLOWN, /* after an OVF: FUP or TIP.PGE will tell */
    OFF,
    ON,
};

/* What a FUP is for, by the packet before it. */
enum fup_use {
    FUP_ALONE,    /* control leaves there: a TIP or TIP.PGD follows */
    FUP_OF_STATE, /* where the processor stopped and the like */
    FUP_OF_INSN,  /* PTWRITE, begin and end of a transaction: the walk comes by */
    FUP_OF_CFE,   /* like one alone, but the instruction there may itself be what transfers control */
};

enum { RETURN_STACK = 64 };

struct oracle {
    struct memory memory;
    struct findings find;
    struct clock clock;
    const struct packet *packet; /* at work */
    const struct packet *end;
    enum state state;
    unsigned mode;     /* 64, 32, 16 */
    unsigned new_mode; /* from a MODE.Exec that waits for its TIP; 0: none */
    uint64_t ip;       /* of the next instruction */
    struct insn *way;  /* walked over to get to ip since the last decided branch; not proved */
    size_t way_n, way_cap;
    uint64_t stack[RETURN_STACK]; /* circular */
    unsigned stack_top, stack_n;
    /* TNT bits not used yet; the oldest is bit bits_n-1 */
    uint64_t bits;
    unsigned bits_n;
    /* cycles that passed and have no place yet */
    uint64_t cycles;
    bool cycles_outside;  /* a CYC came while tracing was not on */
    bool cycles_exact;    /* a CYC stands before the packet at work, so they end exactly there */
    enum fup_use fup_use; /* of the next FUP */
    unsigned cfe;
    /* a FUP that waits for its TIP or TIP.PGD */
    bool fup_waits;
    bool fup_of_cfe; /* it is that of a CFE */
    uint64_t fup_ip;
    /* PSB+ so far */
    bool in_psb, psb_has_fup;
    uint64_t psb_fup;
    unsigned psb_mode;
};

struct oracle_config {
    unsigned mode; /* until a MODE.Exec tells; 0 = 64 */
    struct clock_config clock;
};

void oracle_init(struct oracle *o, const struct oracle_config *config, const struct memory *memory,
                 const struct findings *find);
void oracle_free(struct oracle *o);
/* The reason of a loss that is a matter of taste: nothing says what may stand between a FUP and its TIP. */
extern const char oracle_fup_after_fup[];
/* Decodes a stretch of a stream with nothing missing in it. The state before it is forgotten, except time. */
void oracle_run(struct oracle *o, const uint8_t *data, size_t size, uint64_t base);

/* Between walk.c and events.c. */
bool oracle_lose(struct oracle *o, const char *why); /* false, always */
void oracle_resume(struct oracle *o, uint64_t ip);
void oracle_forget(struct oracle *o); /* unproved steps, bits, bindings, return stack */
void oracle_prove(struct oracle *o);  /* the way was executed */
void oracle_cycle_point(struct oracle *o);
bool oracle_walk_to(struct oracle *o, uint64_t ip);
bool oracle_leave_context(struct oracle *o);
bool oracle_walk_over_ptwrite(struct oracle *o);
bool oracle_leave_by_branch_to(struct oracle *o, uint64_t target);
bool oracle_follow_bits(struct oracle *o);
bool oracle_tip(struct oracle *o, uint64_t target);

#endif
