/* SPDX-License-Identifier: MIT */
/* Reconstructed control flow: packets and code to runs, blocks, events and time.
 * A run is the instructions from an address up to and including the next one that consumes trace (conditional branch,
 * indirect branch or call, return, far transfer), following direct jumps and calls on the way. */
#ifndef ASSAY_FLOW_H
#define ASSAY_FLOW_H

#include <assay/base.h>
#include <assay/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block: instructions at consecutive addresses; ends at every branch, and where its code piece ends. */
struct assay_flow_block {
    uint64_t ip;      /* first instruction */
    uint64_t last_ip; /* last instruction */
    uint64_t end;     /* address after the last instruction */
    uint64_t target;  /* of a direct branch at the end */
    uint64_t dso_addr;
    uint32_t insns;
    uint32_t dso;   /* UINT32_MAX when none */
    uint32_t sizes; /* see assay_flow_sizes() */
    uint8_t kind;   /* enum assay_insn_kind of the last instruction */
    uint8_t far;    /* enum assay_insn_far */
    uint8_t flags;  /* enum assay_insn_flag of the last instruction */
    uint8_t mode;   /* 16, 32, 64 */
};

struct assay_flow_run {
    uint64_t ip;
    uint64_t mul, add; /* digest: chk' = chk * mul + add over the whole run */
    uint32_t insns;
    uint32_t first_block; /* index for assay_flow_block_at() */
    uint32_t blocks;
    uint8_t kind; /* of the last instruction: a terminator; or JMP, CALL, OTHER where a very long run is cut and goes on in
                     another, OTHER where code is missing, JMP or CALL where it has run into itself (an endless loop) */
    uint8_t mode;
};

/* Where an event stands. An event that `has_ip` and is no transfer of control (PTWRITE, TSX, PAGING, RESTART ...) stands
 * before the run or PARTIAL item that holds the instruction at ip; nothing is cut for it. ENABLED, DISABLED, ASYNC, OVERFLOW
 * and GAP stand exactly where control went: every instruction before them in time is in an item before them. */
enum assay_flow_event_type {
    ASSAY_FLOW_ENABLED,  /* tracing on at ip (TIP.PGE; or PSB+, OVF with FUP, where decoding begins or resumes) */
    ASSAY_FLOW_DISABLED, /* tracing off: after the instruction at ip (value 0) or before it, asynchronously (value 1); `to`
                            where control went, 0 when not told */
    ASSAY_FLOW_ASYNC,    /* asynchronous branch: from ip (not executed) to `to` */
    ASSAY_FLOW_PARTIAL,  /* the first `insns` instructions of run `run` were executed; control then left for the reason that
                            the next ASYNC or DISABLED tells. Counts as executed code, as a run item does */
    ASSAY_FLOW_TIME,     /* tsc has a new value from a TSC or MTC packet */
    ASSAY_FLOW_MODE,     /* value: 16, 32, 64 */
    ASSAY_FLOW_TSX,      /* value: 1 begin, 0 commit, 2 abort */
    ASSAY_FLOW_PAGING,   /* value: CR3, bit 0 VMX non-root */
    ASSAY_FLOW_VMCS,     /* value: base */
    ASSAY_FLOW_FREQUENCY,   /* value: core:bus ratio */
    ASSAY_FLOW_PTWRITE,     /* value: operand */
    ASSAY_FLOW_POWER,       /* value: packet type in bits 63:56 (enum assay_pt_type), below it
                               MWAIT hints, extensions << 32; PWRE state, sub state << 8, hw << 16;
                               PWRX last, deepest << 8, wake reason << 16; EXSTOP 0 */
    ASSAY_FLOW_INTERRUPT,   /* CFE: value = type | vector << 8 */
    ASSAY_FLOW_EVENT_DATA,  /* EVD: value = payload, insns = type */
    ASSAY_FLOW_PEBS,        /* a PEBS block ended: value = number of items */
    ASSAY_FLOW_TRIGGER,     /* TRIG: value = bit vector, insns = instruction count when there is one */
    ASSAY_FLOW_MAINTENANCE, /* MNT: value */
    ASSAY_FLOW_STOP,        /* TraceStop */
    ASSAY_FLOW_OVERFLOW,    /* OVF: packets were lost before this */
    ASSAY_FLOW_GAP,         /* data lost or not decodable: code, what, expected; offset and ip of the place; value = bytes
                               passed over. Stands where decoding resumed */
    ASSAY_FLOW_TASK,        /* another task runs on this stream: value = pid << 32 | tid */
    ASSAY_FLOW_RESTART, /* a PSB+ in the stream that the walk agrees with; ip = FUP, or none while tracing is off. No
                           compressed return after it refers to a call before it */
    ASSAY_FLOW_EVENTS
};

struct assay_flow_event {
    uint8_t type; /* enum assay_flow_event_type */
    bool has_ip;
    bool exact; /* of tsc: the time is exact here, else a lower bound */
    int code;   /* GAP: enum assay_status */
    uint32_t run, insns;
    uint64_t offset; /* of the packet in the stream */
    uint64_t ip, to, value;
    uint64_t tsc;                /* estimated TSC at this place, 0 when none is known */
    const char *what, *expected; /* GAP: constant texts */
};

/* What was decoded, in order: items[0..items_n). An item is
 *   a run executed in full:   its id, bits 31:30 clear;
 *   a path:                   bits 31:30 = 01, bits 29:0 = index for assay_flow_path_at(): several runs executed one after the
 *                             other. Only after assay_flow_take_paths();
 *   core cycles:              bits 31:30 = 10, bits 29:0 = cycles since the last such item. Exact at this place in the order;
 *                             larger counts come as several items. Right after ENABLED they passed while tracing was off,
 *                             right after GAP while it could not be decoded; at the
 *                             end of the stream they are what is left;
 *   an event:                 bits 31:30 = 11, bits 29:0 = index into events. */
#define ASSAY_FLOW_IS_RUN(i)    (((i)&0xc0000000u) == 0)
#define ASSAY_FLOW_IS_PATH(i)   (((i)&0xc0000000u) == 0x40000000u)
#define ASSAY_FLOW_IS_CYCLES(i) (((i)&0xc0000000u) == 0x80000000u)
#define ASSAY_FLOW_IS_EVENT(i)  (((i)&0xc0000000u) == 0xc0000000u)
#define ASSAY_FLOW_INDEX(i)     ((i)&0x3fffffffu)

struct assay_flow_batch {
    const uint32_t *items;
    size_t items_n;
    const struct assay_flow_event *events;
    size_t events_n;
};

struct assay_flow_config {
    unsigned family, model, stepping; /* errata; 0 = not known */
    unsigned mode;                    /* execution mode until a MODE.Exec: 64 (0 means 64) or 32, 16 */
    unsigned mtc_freq;                /* N: an MTC every 2^N crystal ticks */
    uint32_t tsc_ctc_n, tsc_ctc_d;    /* TSC per crystal tick = n/d; 0 = not known: MTC gives no time */
    unsigned max_ratio;               /* maximum non-turbo ratio (P1); 0 = not known */
    uint64_t loop_limit;              /* blocks without consuming trace before ASSAY_E_LOOP; 0 = 65536 */
    uint64_t table_limit;             /* bytes of run tables after which they begin anew; 0 = 128 MB */
    uint64_t tsc_reference;           /* a TSC near the stream's: extends the packets' 56 bits to 64; 0 = none */
};

/* Decoder of one stream of one address space at a time. One thread. Allocates (run tables). */
struct assay_flow;
/* 0 goes on; anything else stops the decode and is returned by it. */
typedef int assay_flow_batch_fn(void *ctx, struct assay_flow *flow, const struct assay_flow_batch *batch);

int assay_flow_new(const struct assay_flow_config *config, struct assay_view *view, assay_flow_batch_fn *on_batch,
                   void *ctx, struct assay_flow **out);
void assay_flow_free(struct assay_flow *f);
/* Another task's address space from here on (same stream, per-CPU recordings). Runs made so far keep their ids. A view must
 * live as long as the flow. May be called from on_time. ASSAY_OK or ASSAY_E_MEMORY. */
int assay_flow_set_view(struct assay_flow *f, struct assay_view *view);
/* Puts a TASK event here. */
void assay_flow_task(struct assay_flow *f, uint32_t pid, uint32_t tid);
/* Called with the tsc whenever time moves, so that the caller can advance views and switch tasks; NULL for none. */
void assay_flow_on_time(struct assay_flow *f, void (*fn)(void *ctx, struct assay_flow *f, uint64_t tsc), void *ctx);
/* Drops cached code of the present view in [low, high): runs there are made anew under new ids. May be called from on_time. */
void assay_flow_forget(struct assay_flow *f, uint64_t low, uint64_t high);
/* Decodes data[0..size), the stream's next bytes; *used tells how many were taken (the rest, less than a few hundred bytes,
 * must come again at the front of the next call). last: nothing follows; all is taken, the walk is finished to the last
 * decided branch, and the batch is delivered. ASSAY_OK, or what on_batch returned (non-zero stops), or ASSAY_E_MEMORY.
 * Damage is a GAP event, not an error. */
int assay_flow_feed(struct assay_flow *f, const uint8_t *data, size_t size, bool last, size_t *used);
/* The caller knows that data is missing here (AUX offset jump): a GAP event, then decoding starts anew at the next PSB. What
 * came before is fed with last = true; offsets go on counting the bytes fed. */
int assay_flow_lost(struct assay_flow *f, uint64_t bytes, const char *what);
const struct assay_ledger *assay_flow_ledger(const struct assay_flow *f);
const struct assay_flow_run *assay_flow_run_at(const struct assay_flow *f, uint32_t id);
const struct assay_flow_block *assay_flow_block_at(const struct assay_flow *f, uint32_t index);
/* Ids are 1 .. assay_flow_runs() - 1. */
uint32_t assay_flow_runs(const struct assay_flow *f);
/* Moves on between two batches when the run tables became too large and began anew: ids, blocks and sizes of earlier batches mean
 * nothing any more. A caller that keeps them compares this at the beginning of each batch. */
uint32_t assay_flow_generation(const struct assay_flow *f);
/* Sizes in bytes of the block's instructions, block->insns of them: the addresses inside a block. Valid until the next feed. */
const uint8_t *assay_flow_sizes(const struct assay_flow *f, const struct assay_flow_block *block);

/* Ways that were taken often are known as a whole: a caller that can count them as a whole is several times faster. */
struct assay_flow_path {
    uint64_t mul, add; /* digest over all of it, as of a run */
    uint32_t insns;
    uint32_t runs;
    uint32_t first; /* for assay_flow_path_runs() */
};
/* From the next batch on items may be paths. May be called from on_batch. */
void assay_flow_take_paths(struct assay_flow *f);
/* Valid until on_batch returns; an index may name another path in a later batch. */
const struct assay_flow_path *assay_flow_path_at(const struct assay_flow *f, uint32_t index);
/* The ids of its runs, path->runs of them, in order. */
const uint32_t *assay_flow_path_runs(const struct assay_flow *f, const struct assay_flow_path *path);

/* Order-sensitive digest: for each instruction chk = chk * 31 + ip (mod 2^64), insns = their number. */
struct assay_flow_digest {
    uint64_t insns, chk;
};
void assay_flow_digest_add(struct assay_flow_digest *d, const struct assay_flow *f, const struct assay_flow_batch *b);

#ifdef __cplusplus
}
#endif
#endif
