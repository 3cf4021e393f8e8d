/* SPDX-License-Identifier: MIT */
/* The virtual machine's timing: what cycles executed code takes. A model, deterministic, in no way a measurement. */
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
/* The built-in models "flat" and "cache": ASSAY_OK or ASSAY_E_NOT_FOUND. */
int assay_machine_builtin(const char *name, struct assay_machine_model *out);
/* Text form, `key = value` lines, '#' comments; starts from a built-in (`base = flat` before any other key; cache when
 * there is none). ASSAY_E_BAD_FORMAT; errors name line and column. *out is untouched on error. */
int assay_machine_parse(const char *text, size_t size, struct assay_machine_model *out, struct assay_error *e);
/* Text that parses to the same model. */
void assay_machine_print(const struct assay_machine_model *m, struct assay_out *o);

/* One hardware thread's state: caches and predictor. Deterministic. One thread at a time. */
struct assay_machine_core;
/* The model has to be one that builtin() or parse() gave. */
int assay_machine_core_new(const struct assay_machine_model *m, struct assay_machine_core **out);
void assay_machine_core_free(struct assay_machine_core *c);
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
