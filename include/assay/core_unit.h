/* SPDX-License-Identifier: MIT */
/* A software model of a core's performance counters: the registers of architectural performance monitoring, version 3, which
 * count what the machine model counted. Code that programs real hardware programs it.
 * Source: Intel SDM Vol. 3B chapter 18 (18.2.1 to 18.2.5 architectural performance monitoring, 18.2.6 full-width writes, 18.11
 * the tile cores of Knights Mill); docs/virtual-counters.md says what is modelled.
 * No allocation, no I/O. One unit, one thread at a time. */
#ifndef ASSAY_CORE_UNIT_H
#define ASSAY_CORE_UNIT_H

#include <assay/machine_event.h>

#ifdef __cplusplus
extern "C" {
#endif

enum assay_core_msr {
    ASSAY_MSR_PMC0 = 0xc1,           /* and up: write 32 bits, which are sign-extended */
    ASSAY_MSR_PERFEVTSEL0 = 0x186,   /* and up */
    ASSAY_MSR_OFFCORE_RSP_0 = 0x1a6, /* of event select B7H with umask 01H; the next one of umask 02H */
    ASSAY_MSR_OFFCORE_RSP_1 = 0x1a7,
    ASSAY_MSR_FIXED_CTR0 = 0x309, /* and up */
    ASSAY_MSR_PERF_CAPABILITIES = 0x345,
    ASSAY_MSR_FIXED_CTR_CTRL = 0x38d,
    ASSAY_MSR_PERF_GLOBAL_STATUS = 0x38e,
    ASSAY_MSR_PERF_GLOBAL_CTRL = 0x38f,
    ASSAY_MSR_PERF_GLOBAL_OVF_CTRL = 0x390,
    ASSAY_MSR_A_PMC0 = 0x4c1, /* and up: the PMCs, written in their full width */
};
#define ASSAY_PERFEVTSEL_USR    (UINT64_C(1) << 16)
#define ASSAY_PERFEVTSEL_OS     (UINT64_C(1) << 17)
#define ASSAY_PERFEVTSEL_INT    (UINT64_C(1) << 20)
#define ASSAY_PERFEVTSEL_EN     (UINT64_C(1) << 22)
#define ASSAY_PERF_FW_WRITE     (UINT64_C(1) << 13) /* of PERF_CAPABILITIES: A_PMC0 and up are there */
#define ASSAY_PERF_GLOBAL_FIXED 32                  /* bit of the first fixed counter in the global registers */

enum { ASSAY_CORE_UNIT_GENERAL = 32, ASSAY_CORE_UNIT_FIXED = 3, ASSAY_CORE_UNIT_COUNTERS = 35 };

struct assay_core_unit_config {
    unsigned general;   /* counters, 1 to 32; 0 = 2, as each thread of Knights Mill has */
    unsigned width;     /* bits of a counter, 32 to 63; 0 = 40 */
    bool no_full_width; /* no A_PMC0 and up */
};

/* Counters are numbered as in the unit's arrays: general ones from 0, fixed ones from 32. */
struct assay_core_unit {
    struct assay_core_unit_config config;
    const uint64_t *tally; /* ASSAY_MACHINE_QUANTITIES numbers that only grow */
    bool kernel;           /* the code that runs is in ring 0 */
    uint64_t select[ASSAY_CORE_UNIT_GENERAL];
    uint64_t offcore[2], fixed_ctrl, global_ctrl, global_status;
    struct {
        uint64_t value;
        uint64_t seen; /* the event's count when value was last brought up to date */
        struct assay_machine_event event;
    } counter[ASSAY_CORE_UNIT_COUNTERS];
};

/* Power-on: nothing is enabled but the general counters' bits of GLOBAL_CTRL. The tally outlives the unit. config may be NULL. */
void assay_core_unit_init(struct assay_core_unit *u, const struct assay_core_unit_config *config,
                          const uint64_t *tally);
/* ASSAY_OK, ASSAY_E_ARGUMENT for what would raise #GP (reserved bits, read-only registers), ASSAY_E_NOT_FOUND for a register that is
 * not there. An event that is not modelled is no error, as on hardware; ask assay_core_unit_event(). */
int assay_core_unit_wrmsr(struct assay_core_unit *u, uint32_t msr, uint64_t value);
int assay_core_unit_rdmsr(struct assay_core_unit *u, uint32_t msr, uint64_t *value);
/* RDPMC: index is ECX, with bit 30 a fixed counter's number. */
int assay_core_unit_rdpmc(struct assay_core_unit *u, uint32_t index, uint64_t *value);
/* The machine goes on in ring 0 or 3; what it counted since the last call of anything here was in the ring before. */
void assay_core_unit_ring(struct assay_core_unit *u, bool kernel);
/* Brings counters and GLOBAL_STATUS up to date with the tally. The set of counters that wrapped and ask for an interrupt, bits as in
 * the global registers. To be called at least once before any counter can wrap twice. */
uint64_t assay_core_unit_run(struct assay_core_unit *u);
/* What a counter counts. */
const struct assay_machine_event *assay_core_unit_event(const struct assay_core_unit *u, unsigned counter);

#ifdef __cplusplus
}
#endif
#endif
