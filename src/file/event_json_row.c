/* SPDX-License-Identifier: MIT */
/* From the fields of an event to its row: register bits, the second register, counters, modifiers. */
#include "event_json_priv.h"

#include <string.h>
#include <strings.h>

enum { OFFCORE_RSP0 = 0x1a6, OMR0 = 0x3e0, LD_LAT = 0x3f6, FRONTEND = 0x3f7, SNOOP_RSP0 = 0x1328 };

#define GENERAL UINT32_MAX /* counters of assay_event_row: the general ones */

/* What fixed counters count, as Linux wants to have it named. The files give these events code 0 (Bonnell: 0xa), which
 * no general counter has, and the oldest files number the counters from 1. */
static const struct {
    const char *name;
    uint16_t config;
    uint8_t counter;
} fixed_events[] = {
    {"INST_RETIRED.ANY", 0x00c0, 0},
    {"CPU_CLK_UNHALTED.THREAD", 0x003c, 1},
    {"CPU_CLK_UNHALTED.THREAD_ANY", 0x003c, 1},
    {"CPU_CLK_UNHALTED.CORE", 0x003c, 1},
    {"CPU_CLK_UNHALTED.REF", 0x0300, 2},
    {"CPU_CLK_UNHALTED.REF_TSC", 0x0300, 2},
};

static int leave_out(struct ej_text *t, size_t at, const struct ej_fields *f, const char *key, const char *why)
{
    t->j->sums.bad++;
    return ej_warn(t, key ? ej_scan_key(t, at, key) : at, "%s: %s: left out", f->string[EJ_NAME], why);
}

/* ---- fixed counters ---- */

static bool is_fixed(const struct ej_fields *f)
{
    uint64_t counters = f->counters[EJ_COUNTER];
    bool no_code = f->listed[EJ_CODE] == 0 || f->list[EJ_CODE][0] == 0;
    return counters ? (counters & GENERAL) == 0 : no_code;
}

/* Umask n of code 0 is fixed counter n - 1. */
static int make_fixed(struct ej_text *t, size_t at, const struct ej_fields *f, struct assay_event_row *row)
{
    uint64_t umask = f->list[EJ_UMASK][0];
    row->flags |= ASSAY_EVENT_FIXED_ONLY;
    for (size_t i = 0; i < sizeof fixed_events / sizeof *fixed_events; i++)
        if (strcasecmp(fixed_events[i].name, f->string[EJ_NAME]) == 0) {
            row->config = fixed_events[i].config;
            row->counters = 1ull << (32 + fixed_events[i].counter);
            return 1;
        }
    if (f->list[EJ_CODE][0] == 0 && umask >= 1 && umask <= 32) {
        row->config = umask << 8;
        row->counters = 1ull << (31 + umask);
        return 1;
    }
    if (f->counters[EJ_COUNTER] == 0)
        return leave_out(t, at, f, NULL, "neither a code nor a counter");
    row->config = f->list[EJ_CODE][0] | umask << 8;
    row->counters = f->counters[EJ_COUNTER];
    return 1;
}

/* ---- the second register ---- */

/* Registers that do the same, each for an event select of its own: offcore, off-module and snoop responses. */
static const struct family {
    uint32_t first, registers;
} families[] = {{OFFCORE_RSP0, 2}, {OMR0, 4}, {SNOOP_RSP0, 2}};

static const struct family *family_of(uint64_t msr)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (msr >= families[i].first && msr < families[i].first + families[i].registers)
            return &families[i];
    return NULL;
}

/* Bits that the register has (SDM Vol. 4, table 2-2 and the tables of the offcore events). */
static uint64_t msr_bits(uint64_t msr) { return msr == LD_LAT ? 0xffff : msr == FRONTEND ? 0xffffff : UINT64_MAX; }

static uint16_t code_of(const struct ej_fields *f, unsigned i)
{
    unsigned code = i < f->listed[EJ_CODE] ? i : 0, umask = i < f->listed[EJ_UMASK] ? i : 0;
    return (uint16_t)(f->list[EJ_CODE][code] | (f->list[EJ_UMASK][umask] & 0xff) << 8);
}

/* The code that goes with the i-th of the event's registers: "0xB7, 0xBB" or umask "0x01,0x02" go with 0x1a6,0x1a7 in
 * that order, also where only one of the registers takes the request. Where one code with umask 1 is named for all, the
 * next registers' umasks are 2, 4, 8: so it is on Atoms (0xb7), and for off-module and snoop responses. */
static uint16_t register_code(const struct ej_fields *f, const struct family *family, unsigned i)
{
    unsigned k = (unsigned)(f->list[EJ_MSR][i] - family->first);
    unsigned listed = f->listed[EJ_CODE] > f->listed[EJ_UMASK] ? f->listed[EJ_CODE] : f->listed[EJ_UMASK];
    uint16_t code = code_of(f, listed == f->listed[EJ_MSR] ? i : k);
    bool by_umask = listed == 1 && code >> 8 == 1 && (family->first != OFFCORE_RSP0 || code == 0x01b7);
    return by_umask ? (uint16_t)((code & 0xff) | 0x100 << k) : code;
}

static bool is_row_of_registers(const struct ej_fields *f, const struct family *family)
{
    const uint64_t *msr = f->list[EJ_MSR];
    for (unsigned i = 1; i < f->listed[EJ_MSR]; i++)
        if (!family || msr[i] != msr[0] + i || family_of(msr[i]) != family)
            return false;
    return true;
}

/* A table has room for two registers of a family; the others are Linux's to use. */
static int make_extra(struct ej_text *t, size_t at, const struct ej_fields *f, struct assay_event_row *row)
{
    const uint64_t *msr = f->list[EJ_MSR];
    const struct family *family = family_of(msr[0]);
    if (!is_row_of_registers(f, family))
        return leave_out(t, at, f, "MSRIndex", "registers that do not go together");
    if (family)
        row->config = register_code(f, family, 0);
    if (f->listed[EJ_MSR] > 1 && register_code(f, family, 1) != row->config) {
        row->extra_msr_alt = (uint32_t)msr[1];
        row->config_alt = register_code(f, family, 1);
        row->extra_alt_ok = UINT64_MAX;
    }
    row->extra_msr = (uint32_t)msr[0];
    row->extra = f->number[EJ_MSR_VALUE];
    row->extra_ok = msr_bits(msr[0]);
    if (row->extra & ~row->extra_ok)
        return leave_out(t, at, f, "MSRValue", "a value with bits that the register does not have");
    if (family || msr[0] == LD_LAT || msr[0] == FRONTEND)
        return 1;
    row->flags |= ASSAY_EVENT_NO_KERNEL;
    int rc = ej_warn(t, ej_scan_key(t, at, "MSRIndex"), "%s: Linux programs no MSR %#llx", f->string[EJ_NAME],
                     (unsigned long long)msr[0]);
    return rc < 0 ? rc : 1;
}

/* ---- general counters ---- */

static uint64_t field(const struct ej_fields *f, enum ej_number n, unsigned lsb) { return f->number[n] << lsb; }

static int make_general(struct ej_text *t, size_t at, const struct ej_fields *f, struct assay_event_row *row)
{
    row->config = code_of(f, 0);
    row->counters = f->counters[EJ_COUNTER];
    if (f->list[EJ_UMASK][0] > 0xff && f->number[EJ_UMASK_EXT])
        return leave_out(t, at, f, "UMask", "more than 8 bits beside a UMaskExt");
    bool extra = f->listed[EJ_MSR] > 0 && f->list[EJ_MSR][0] != 0;
    if (!extra && f->number[EJ_MSR_VALUE])
        return leave_out(t, at, f, "MSRValue", "a value without a register");
    int rc = extra ? make_extra(t, at, f, row) : 1;
    if (rc <= 0)
        return rc;
    uint64_t umask2 = f->number[EJ_UMASK_EXT] | f->list[EJ_UMASK][0] >> 8;
    row->config |= field(f, EJ_EDGE, 18) | field(f, EJ_INVERT, 23) | field(f, EJ_CMASK, 24) | field(f, EJ_EQUAL, 36) |
                   umask2 << 40;
    return 1;
}

/* What the event sets itself is not for the user to set. */
static uint32_t modifiers_of(const struct ej_fields *f, bool fixed)
{
    uint32_t m = 1u << ASSAY_EVENT_MOD_U | 1u << ASSAY_EVENT_MOD_K;
    if (!fixed && !f->number[EJ_EDGE])
        m |= 1u << ASSAY_EVENT_MOD_E;
    if (!fixed && !f->number[EJ_INVERT])
        m |= 1u << ASSAY_EVENT_MOD_I;
    if (!fixed && !f->number[EJ_CMASK])
        m |= 1u << ASSAY_EVENT_MOD_C;
    if (f->numbered[EJ_ANY] && !f->number[EJ_ANY]) /* only cores that have the bit speak of it */
        m |= 1u << ASSAY_EVENT_MOD_T;
    return m;
}

static void make_facts(const struct ej_fields *f, struct assay_event_facts *facts)
{
    uint64_t pebs = f->number[EJ_PEBS];
    *facts = (struct assay_event_facts){
        .sample_after = f->number[EJ_SAMPLE],
        .pebs_counters = f->counters[EJ_COUNTER_PEBS],
        .pdist_counters = f->counters[EJ_COUNTER_PDIST],
        .counters_ht_off = f->counters[EJ_COUNTER_HT_OFF],
        .pebs = (uint8_t)(pebs ? (pebs > 1 ? 2 : 1) : f->number[EJ_PRECISE] > 0),
        .taken_alone = f->number[EJ_ALONE] != 0,
        .data_address = f->number[EJ_ADDRESS] != 0,
    };
}

int ej_row_make(struct ej_text *t, size_t at, const struct ej_fields *f, struct assay_event_row *row,
                struct assay_event_facts *facts)
{
    *row = (struct assay_event_row){
        .alias = ASSAY_EVENT_NONE,
        .alias_umask = ASSAY_EVENT_NONE,
        .netburst = ASSAY_EVENT_NONE,
        .perf_type = 4, /* PERF_TYPE_RAW */
    };
    bool fixed = is_fixed(f);
    int rc = fixed ? make_fixed(t, at, f, row) : make_general(t, at, f, row);
    if (rc <= 0)
        return rc;
    row->config |= field(f, EJ_ANY, 21);
    row->modifiers = modifiers_of(f, fixed);
    make_facts(f, facts);
    row->flags |= (facts->pebs ? ASSAY_EVENT_PEBS : 0u) | (f->number[EJ_DEPRECATED] ? ASSAY_EVENT_DEPRECATED : 0u);
    return 1;
}
