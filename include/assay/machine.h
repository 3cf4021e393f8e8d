/* SPDX-License-Identifier: MIT */
/* The virtual machine's timing: what cycles executed code takes, and what happens in its caches and its predictor meanwhile. A model,
 * deterministic, in no way a measurement. */
#ifndef ASSAY_MACHINE_H
#define ASSAY_MACHINE_H

#include <assay/base.h>
#include <assay/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Text form: docs/formats/machine.md, which says what each number does. */
enum { ASSAY_MACHINE_LEVELS = 3 };
struct assay_machine_cache {
    uint32_t bytes, ways, line, latency; /* bytes 0: not there; latency: cycles of a hit beyond the previous level */
};
struct assay_machine_model {
    char name[32];
    bool flat;            /* one instruction a cycle, system calls, nothing else */
    unsigned issue_width; /* instructions a cycle */
    struct assay_machine_cache l1i, level[ASSAY_MACHINE_LEVELS]; /* level[0] L1D, then L2, LLC */
    unsigned memory_latency;                                     /* beyond the last level */
    unsigned predictor_bits, predictor_history, branch_penalty, btb_bits;
    unsigned return_stack; /* entries */
    unsigned syscall_cycles;
    uint32_t tsc_ctc_n, tsc_ctc_d, crystal_hz;
    unsigned max_ratio, core_ratio, cyc_counter_bits;
    unsigned family, cpu_model, stepping;
};
/* What a model has, as a set. */
enum assay_machine_part {
    ASSAY_MACHINE_PART_L1I = 1 << 0,
    ASSAY_MACHINE_PART_L1D = 1 << 1,
    ASSAY_MACHINE_PART_L2 = 1 << 2,
    ASSAY_MACHINE_PART_LLC = 1 << 3,
    ASSAY_MACHINE_PART_PREDICTOR = 1 << 4, /* of directions */
    ASSAY_MACHINE_PART_TARGETS = 1 << 5,
    ASSAY_MACHINE_PART_RETURNS = 1 << 6,
};
unsigned assay_machine_parts(const struct assay_machine_model *m); /* none of a flat one */
/* The built-in models "flat" and "cache": ASSAY_OK or ASSAY_E_NOT_FOUND. */
int assay_machine_builtin(const char *name, struct assay_machine_model *out);
/* Text form, `key = value` lines, '#' comments; starts from a built-in (`base = flat` before any other key; cache when
 * there is none). ASSAY_E_BAD_FORMAT; errors name line and column. *out is untouched on error. */
int assay_machine_parse(const char *text, size_t size, struct assay_machine_model *out, struct assay_error *e);
/* Text that parses to the same model. */
void assay_machine_print(const struct assay_machine_model *m, struct assay_out *o);

/* What is counted while code runs on the machine. Events are sums of these. An array of them, all from one beginning, is a tally.
 * Of code, loads and stores, a line that L1 does not hold is counted once, by where it was found. */
enum assay_machine_quantity {
    ASSAY_MACHINE_STRAIGHT, /* blocks that no branch ends: how an emulator cuts code, nothing of the program's */
    ASSAY_MACHINE_COND_NOT_TAKEN,
    ASSAY_MACHINE_COND_TAKEN,
    ASSAY_MACHINE_JMP,
    ASSAY_MACHINE_CALL, /* direct, near */
    ASSAY_MACHINE_JMP_IND,
    ASSAY_MACHINE_CALL_IND,
    ASSAY_MACHINE_RET,
    ASSAY_MACHINE_FAR,            /* system calls among them */
    ASSAY_MACHINE_MISS_NOT_TAKEN, /* mispredicted: conditional ones that were not taken */
    ASSAY_MACHINE_MISS_TAKEN,
    ASSAY_MACHINE_MISS_JMP_IND,
    ASSAY_MACHINE_MISS_CALL_IND,
    ASSAY_MACHINE_MISS_RET,
    ASSAY_MACHINE_L1I_HIT,
    ASSAY_MACHINE_CODE_L2, /* the three levels behind L1, in this order, for code, loads and stores */
    ASSAY_MACHINE_CODE_LLC,
    ASSAY_MACHINE_CODE_MEMORY,
    ASSAY_MACHINE_LOAD_L2,
    ASSAY_MACHINE_LOAD_LLC,
    ASSAY_MACHINE_LOAD_MEMORY,
    ASSAY_MACHINE_STORE_L2,
    ASSAY_MACHINE_STORE_LLC,
    ASSAY_MACHINE_STORE_MEMORY,
    ASSAY_MACHINE_FETCH_CYCLES, /* that instruction fetch waited */
    ASSAY_MACHINE_CORE_QUANTITIES,
    /* The rest is known to what drives the core. */
    ASSAY_MACHINE_LOAD_CYCLES = ASSAY_MACHINE_CORE_QUANTITIES, /* that loads waited */
    ASSAY_MACHINE_BRANCH_CYCLES,                               /* that mispredictions cost */
    ASSAY_MACHINE_FAR_CYCLES,
    ASSAY_MACHINE_LOADS, /* accesses, not instructions */
    ASSAY_MACHINE_STORES,
    ASSAY_MACHINE_INSTRUCTIONS,
    ASSAY_MACHINE_CYCLES,     /* all of the core's */
    ASSAY_MACHINE_REF_CYCLES, /* the same time in ticks of the TSC */
    ASSAY_MACHINE_QUANTITIES,
};
/* A set of them is the sum of these. */
#define ASSAY_MACHINE_BIT(quantity) (UINT64_C(1) << (quantity))

/* One hardware thread's state: caches and predictor. Deterministic. One thread at a time. */
struct assay_machine_core;
/* The model has to be one that builtin() or parse() gave. */
int assay_machine_core_new(const struct assay_machine_model *m, struct assay_machine_core **out);
void assay_machine_core_free(struct assay_machine_core *c);
/* From now on MISS_NOT_TAKEN to FETCH_CYCLES are added to these ASSAY_MACHINE_QUANTITIES numbers, which outlive the core, as code runs. */
void assay_machine_core_tally(struct assay_machine_core *c, uint64_t *tally);
/* Cycles for a block of `insns` instructions and `bytes` code bytes at ip (instruction fetch and issue). Issue slots
 * that are left over count for the next block, so 0 is a possible answer. */
uint64_t assay_machine_block(struct assay_machine_core *c, uint64_t ip, uint32_t insns, uint32_t bytes);
/* Extra cycles of a data access. A store brings its line into the caches and costs nothing. */
uint64_t assay_machine_access(struct assay_machine_core *c, uint64_t addr, uint32_t bytes, bool store);
/* Extra cycles of a branch: kind is enum assay_insn_kind. */
uint64_t assay_machine_branch(struct assay_machine_core *c, unsigned kind, uint64_t ip, bool taken, uint64_t target,
                              uint64_t return_ip);

#ifdef __cplusplus
}
#endif
#endif
