/* SPDX-License-Identifier: MIT */
/* The virtual machine's timing: what cycles executed code takes. A model, deterministic, in no way a measurement. */
#ifndef ASSAY_MACHINE_H
#define ASSAY_MACHINE_H

#include <assay/base.h>
#include <assay/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Text form: docs/formats/machine.md. */
enum { ASSAY_MACHINE_LEVELS = 3 };
struct assay_machine_cache {
    uint32_t bytes, ways, line, latency; /* latency: cycles of a hit beyond the previous level */
};
struct assay_machine_model {
    char name[32];
    bool flat;                                                   /* one instruction a cycle, nothing else */
    unsigned issue_width;                                        /* instructions a cycle */
    struct assay_machine_cache l1i, level[ASSAY_MACHINE_LEVELS]; /* level[0] L1D, then L2, LLC */
    unsigned memory_latency;
    unsigned predictor_bits, predictor_history, branch_penalty, btb_bits;
    unsigned syscall_cycles;
    uint32_t tsc_ctc_n, tsc_ctc_d, crystal_hz;
    unsigned max_ratio, core_ratio, cyc_counter_bits;
    unsigned family, cpu_model, stepping;
};
/* The built-in models "flat" and "cache". */
int assay_machine_builtin(const char *name, struct assay_machine_model *out);
/* Text form, `key = value` lines, '#' comments, starts from a built-in (`base = cache`). Errors name line and column. */
int assay_machine_parse(const char *text, size_t size, struct assay_machine_model *out, struct assay_error *e);
void assay_machine_print(const struct assay_machine_model *m, struct assay_out *o);

/* One hardware thread's state: caches and predictor. Deterministic. */
struct assay_machine_core;
int assay_machine_core_new(const struct assay_machine_model *m, struct assay_machine_core **out);
void assay_machine_core_free(struct assay_machine_core *c);
/* Cycles for a block of `insns` instructions and `bytes` code bytes at ip (instruction fetch and issue). */
uint64_t assay_machine_block(struct assay_machine_core *c, uint64_t ip, uint32_t insns, uint32_t bytes);
/* Extra cycles of a data access. */
uint64_t assay_machine_access(struct assay_machine_core *c, uint64_t addr, uint32_t bytes, bool store);
/* Extra cycles of a branch: kind is enum assay_insn_kind. */
uint64_t assay_machine_branch(struct assay_machine_core *c, unsigned kind, uint64_t ip, bool taken, uint64_t target,
                              uint64_t return_ip);

#ifdef __cplusplus
}
#endif
#endif
