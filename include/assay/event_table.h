/* SPDX-License-Identifier: MIT */
/* Event tables: what a PMU counts and under which codes. Rows of numbers and offsets into one string pool, so that a
 * table is position independent: the built-in one is constant data, a loaded one (Intel's event JSON) is one block. */
#ifndef ASSAY_EVENT_TABLE_H
#define ASSAY_EVENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a PMU's registers are built from an event. */
enum assay_event_scheme {
    ASSAY_EVENT_CORE,     /* IA32_PERFEVTSELx, perhaps with a second register (offcore response, load latency, front end) */
    ASSAY_EVENT_NETBURST, /* an ESCR and a CCCR */
    ASSAY_EVENT_SOFTWARE, /* the kernel's generic hardware, cache and software events: perf type and config only */
};

/* Modifiers; a set of them is a mask of 1 << n. */
enum assay_event_modifier {
    ASSAY_EVENT_MOD_U, /* user: rings 1 to 3 */
    ASSAY_EVENT_MOD_K, /* kernel: ring 0 */
    ASSAY_EVENT_MOD_E, /* edge detect */
    ASSAY_EVENT_MOD_I, /* invert the comparison with c */
    ASSAY_EVENT_MOD_C, /* counter mask, 0..255 */
    ASSAY_EVENT_MOD_T, /* any hyper-thread of the core */
    ASSAY_EVENT_MOD_CMPL, /* NetBurst: complement */
    ASSAY_EVENT_MOD_THR,  /* NetBurst: threshold, 0..15 */
    ASSAY_EVENT_MOD_H,    /* hypervisor: kernel interface only */
    /* From here on: the kernel's interface, no register field of the PMU. */
    ASSAY_EVENT_MOD_PRECISE, /* 0..3 */
    ASSAY_EVENT_MOD_PERIOD,
    ASSAY_EVENT_MOD_FREQ,
    ASSAY_EVENT_MOD_EXCL,
    ASSAY_EVENT_MOD_PINNED,
    ASSAY_EVENT_MOD_MG, /* count in guests */
    ASSAY_EVENT_MOD_MH, /* count in the host */
    ASSAY_EVENT_MOD_CPU,
    ASSAY_EVENT_MODS
};

enum assay_event_flag {
    ASSAY_EVENT_PEBS = 1 << 0,       /* precise sampling is possible */
    ASSAY_EVENT_FIXED_ONLY = 1 << 1, /* no general counter counts it */
    ASSAY_EVENT_OFFCORE = 1 << 2,    /* umasks go to the second register */
    ASSAY_EVENT_EXTRA = 1 << 3,      /* not in the reference library: hidden in its compatible modes */
    ASSAY_EVENT_DEPRECATED = 1 << 4,
    ASSAY_EVENT_NO_COMBINE = 1 << 5, /* umask: none other of its group beside it */
    ASSAY_EVENT_DEFAULT = 1 << 6,    /* umask: taken when its group has none */
    ASSAY_EVENT_OVERRIDES = 1 << 7,  /* umask: excludes those of higher groups (ANY_RESPONSE) */
    ASSAY_EVENT_ALONE = 1 << 8,      /* umask: only group 0 beside it, and no default of group 1 (OUTSTANDING) */
    ASSAY_EVENT_AT_RETIREMENT = 1 << 9,
    ASSAY_EVENT_VIRTUAL = 1 << 10,   /* umask: no bit of the event's own register (NetBurst replay metrics) */
    ASSAY_EVENT_TAG = 1 << 11,       /* umask: an ESCR tag, value is 1 << n of the tag field */
    ASSAY_EVENT_NO_KERNEL = 1 << 12, /* the hardware has it, Linux refuses it */
    ASSAY_EVENT_SHARED = 1 << 13,    /* NetBurst: counts for both threads */
};

enum { ASSAY_EVENT_NONE = 0xffffffff }; /* "no row" in a row index */

struct assay_event_pmu {
    uint32_t name, desc;            /* offsets into the pool, as everywhere */
    uint32_t first_event, events;   /* rows */
    uint32_t listed;                /* events of the reference library: the first `listed` rows */
    uint32_t first_slot, slot_mask; /* hash of event names: slot_mask + 1 slots, a power of two */
    uint32_t seed;
    uint32_t first_model, models;   /* rows of `models`: family << 16 | model << 4 | lowest stepping, 0 when unknown */
    uint32_t counters_note;         /* where the specification and the machine disagree, 0 when nowhere */
    uint16_t id;                    /* number of the PMU in libpfm's ABI, 0 none */
    uint8_t scheme;                 /* enum assay_event_scheme */
    uint8_t generic, fixed;         /* counters */
    uint8_t registers;              /* values an event may need */
    uint8_t flat;                   /* event names hold their dots; there are no umasks */
    uint8_t perf_type;              /* PERF_TYPE_RAW, or of a software PMU 0 */
    uint32_t precise;               /* general counters that sample precisely, bit n: counter n; 0: all of them */
    uint32_t kernel_pmu;            /* Linux's name of it ("cpu_core" on a hybrid), 0: "cpu" */
};

/* One event. `config` is IA32_PERFEVTSELx without u, k, INT, EN (bits 63:0 as the register has them); for NetBurst the ESCR's
 * event select, already in place; for software events perf's config. */
struct assay_event_row {
    uint32_t name, desc;
    uint64_t config;
    uint64_t extra;     /* value of the second register that is part of the event, 0 */
    uint64_t extra_ok;  /* bits that register takes, 0: it has none */
    uint64_t extra_alt_ok;
    uint64_t counters;  /* bit n: general counter n, bit 32 + n: fixed counter n (Intel numbers them) */
    uint32_t modifiers; /* mask of enum assay_event_modifier */
    uint32_t flags;     /* enum assay_event_flag */
    uint32_t alias;     /* row of the event this is another name of, ASSAY_EVENT_NONE */
    uint32_t alias_umask;
    uint32_t equiv;     /* the same for people ("BR_INST_RETIRED:ANY"), 0 */
    uint32_t first_umask, umasks; /* rows; the first `listed` are the reference library's */
    uint32_t first_slot, slot_mask, seed;
    uint32_t extra_msr, extra_msr_alt; /* 0: none. The second is used with config_alt */
    uint32_t netburst;                 /* row of `netburst`, ASSAY_EVENT_NONE */
    uint16_t config_alt;               /* bits 15:0 of config when extra_msr_alt is used, 0: none */
    uint8_t listed;
    uint8_t groups;
    uint8_t raw_bits;  /* widest raw umask */
    uint8_t perf_type; /* software events: PERF_TYPE_*; else 4, PERF_TYPE_RAW */
    uint8_t defaults;  /* bit n: group n has a default umask */
    uint8_t pad[5];
};

struct assay_event_umask {
    uint32_t name, desc;
    uint64_t value;    /* core: to be put at bit 8, or with ASSAY_EVENT_OFFCORE the second register's bits; NetBurst: the bit's
                          number of the event mask (also where VIRTUAL), with TAG bits of the tag; software: part of config */
    uint32_t flags;
    uint32_t alias;    /* row of the umask this is another name of, ASSAY_EVENT_NONE */
    uint32_t fixed_modifiers; /* modifiers that the umask sets: a mask ... */
    uint8_t fixed_edge, fixed_invert, fixed_cmask; /* ... and their values */
    uint8_t group;
    uint32_t counters; /* 0: those of the event */
    uint32_t equiv;    /* what it is made of, for people ("A:B:C"), 0 */
};

/* Where NetBurst counts an event (SDM Vol. 3B table 19-28 and 18.15; facts in docs/formats/events.md). */
struct assay_event_netburst {
    uint16_t escr_msr[2];  /* for thread 0 and 1, or the two choices; 0 none */
    uint32_t counters[2];  /* mask of counters 0..17 that can take from escr_msr[i] */
    uint8_t escr_select;   /* CCCR bits 15:13 */
    uint8_t event_select;  /* ESCR bits 30:25 */
    uint8_t perf_event;    /* the kernel's own number, in place of the event select in perf's config */
    uint8_t upstream;      /* first row of `metrics` that counts with this event (they stand together), 0xff none */
    uint16_t escr_number[2]; /* the reference library's ESCR numbers, 0xffff none */
};

/* NetBurst at-retirement metrics: what must be programmed besides (docs/formats/events.md). */
struct assay_event_metric {
    uint32_t name;             /* "1stL_cache_load_miss_retired" */
    uint32_t event, umask;     /* rows: the downstream event and, for replay events, the umask that stands for the metric */
    uint32_t upstream_event;   /* row, ASSAY_EVENT_NONE */
    uint32_t upstream_mask;    /* event mask bits of the upstream ESCR */
    uint32_t pebs_enable;      /* MSR_PEBS_ENABLE (3F1H) when counting */
    uint32_t pebs_enable_pebs; /* the same when sampling with PEBS */
    uint32_t matrix_vert;      /* MSR_PEBS_MATRIX_VERT (3F2H) */
    uint16_t upstream_escr;    /* MSR it has to be in, 0: either of the event's */
    uint8_t upstream_tag;      /* tag value to set there with tag enable, 0: neither */
    uint8_t mechanism;         /* 0 front end, 1 execution, 2 replay */
};

/* Read only, shared by threads; the arrays outlive it. Slots hold row number + 1, or 0. */
struct assay_event_table {
    const char *pool;
    const struct assay_event_pmu *pmus;
    const struct assay_event_row *events;
    const struct assay_event_umask *umasks;
    const struct assay_event_netburst *netburst;
    const struct assay_event_metric *metrics;
    const uint32_t *models;
    const uint16_t *slots; /* row number within the PMU (events) or the event (umasks), + 1; 0 empty */
    uint32_t pmu_count, event_count, umask_count, netburst_count, metric_count;
    uint32_t pool_size, model_count, slot_count; /* so that a loaded table can begin with a copy of this one */
};

/* The table that was compiled in from data/event/. Fills t; no state, no cost to speak of. */
void assay_event_builtin(struct assay_event_table *t);

static inline const char *assay_event_str(const struct assay_event_table *t, uint32_t offset) { return t->pool + offset; }

/* The first n bytes of a name, at most eight, least significant first. */
static inline uint64_t assay_event_load(const char *s, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, s, n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* All of a name of at most seven bytes: one letter may be there twice. */
static inline uint64_t assay_event_load_short(const char *s, size_t n)
{
    if (n >= 4)
        return assay_event_load(s, 4) | assay_event_load(s + n - 4, 4) << 32;
    if (n == 0)
        return 0;
    return (uint64_t)(unsigned char)s[0] | (uint64_t)(unsigned char)s[n / 2] << 8 |
           (uint64_t)(unsigned char)s[n - 1] << 16;
}

static inline uint64_t assay_event_mix(uint64_t h, uint64_t v)
{
    h = (h ^ (v | 0x2020202020202020u)) * 0x9e3779b97f4a7c15u; /* bit 5: letters of both cases are one */
    return h ^ h >> 32;
}

/* The hash of a name without regard to case; the same code fills and reads the slots (tools/compile_events.py has it too).
 * Slot: hash & slot_mask, then the next ones until a match or an empty slot. */
static inline uint32_t assay_event_hash(uint32_t seed, const char *s, size_t n)
{
    uint64_t h = seed ^ n;
    for (; n >= 8; s += 8, n -= 8)
        h = assay_event_mix(h, assay_event_load(s, 8));
    if (n)
        h = assay_event_mix(h, assay_event_load_short(s, n));
    return (uint32_t)(h * 0x9e3779b97f4a7c15u >> 32);
}

#ifdef __cplusplus
}
#endif
#endif
