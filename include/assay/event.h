/* SPDX-License-Identifier: MIT */
/* Core PMU events: names to register values, perf attributes and back.
 * Sources: libpfm_intel_knm(3); Intel SDM Vol. 3B 18.2, 18.15, 19; docs/formats/events.md says which rule is from where.
 * Pure: no allocation, no I/O, no state. Thread safe: everything works on the caller's structures and a read-only table. */
#ifndef ASSAY_EVENT_H
#define ASSAY_EVENT_H

#include <assay/base.h>
#include <assay/event_table.h>
#include <assay/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ASSAY_EVENT_MAX_UMASKS = 64, /* named umasks in one event string; more are an error */
    ASSAY_EVENT_MAX_COUNTERS = 64,
};

/* How to read and judge a string. 0 is strict: what the hardware or Linux would refuse, or what counts nothing, is an error. */
enum assay_event_mode {
    ASSAY_EVENT_STRICT = 0,
    ASSAY_EVENT_LIBPFM4 = 1 << 0, /* names, defaults and results of the reference library, without its defects */
    ASSAY_EVENT_REGISTERS =
        1 << 1,                /* for code that writes the registers itself: rules that only Linux has are left out */
    ASSAY_EVENT_PERF = 1 << 2, /* modifiers of the kernel's interface are known: mg mh (PERF_EVENT of libpfm) */
    ASSAY_EVENT_PERF_EXT = 1 << 3, /* and precise, period, freq, excl, pinned, cpu (PERF_EVENT_EXT) */
};

/* What is wrong with a string. */
enum assay_event_reason {
    ASSAY_EVENT_FINE,
    ASSAY_EVENT_BAD_CHARACTER, /* comma, blank, control */
    ASSAY_EVENT_NO_PMU,        /* unknown name before :: */
    ASSAY_EVENT_NO_EVENT,      /* unknown event */
    ASSAY_EVENT_AMBIGUOUS,     /* no PMU named and more than one has the event with another code */
    ASSAY_EVENT_NO_ATTRIBUTE,  /* neither umask nor modifier of this event */
    ASSAY_EVENT_EMPTY,         /* nothing between two delimiters, or after the last */
    ASSAY_EVENT_UMASK_VALUE,   /* a umask with =value */
    ASSAY_EVENT_VALUE_MISSING,
    ASSAY_EVENT_VALUE_BAD,      /* no number, no boolean */
    ASSAY_EVENT_VALUE_RANGE,    /* c past 255, thr past 15, precise past 3 ... */
    ASSAY_EVENT_SET_TWICE,      /* one modifier, two values */
    ASSAY_EVENT_TOO_MANY,       /* attributes */
    ASSAY_EVENT_RAW_MIXED,      /* a raw umask beside a named one or another raw one */
    ASSAY_EVENT_RAW_WIDTH,      /* bits that the field does not have */
    ASSAY_EVENT_RAW_ILLEGAL,    /* offcore: a request without a response or the reverse; bits beside a fixed counter's code */
    ASSAY_EVENT_NOT_TOGETHER,   /* two umasks of one group of which one stands alone */
    ASSAY_EVENT_LATENCY,        /* OUTSTANDING beside a response, or ANY_RESPONSE beside OUTSTANDING */
    ASSAY_EVENT_NEEDS_UMASK,    /* the event has umasks and no default */
    ASSAY_EVENT_FIXED_MODIFIER, /* the umask itself sets this modifier to another value */
    ASSAY_EVENT_EDGE_CMASK,     /* e without c >= 1 */
    ASSAY_EVENT_INVERT_CMASK,   /* i without c >= 1 */
    ASSAY_EVENT_NO_PRIVILEGE,   /* neither u nor k is left */
    ASSAY_EVENT_NO_MODIFIER,    /* a modifier that exists, not on this event (t) */
    ASSAY_EVENT_NO_PEBS,        /* precise on an event or umask that has none */
    ASSAY_EVENT_MSR_REFUSES,    /* a request that this offcore MSR does not take */
    ASSAY_EVENT_KERNEL_REFUSES, /* legal for the hardware, not for Linux */
    ASSAY_EVENT_EXCLUDES,       /* period and freq, and the like */
    ASSAY_EVENT_REASONS
};

/* The first thing wrong, in the order of docs/formats/events.md, "Strings": what cannot be read before what cannot be, and by place
 * in the string. Offsets into the string; rows of the table, ASSAY_EVENT_NONE when not known. */
struct assay_event_error {
    int code;              /* enum assay_status: ASSAY_E_ARGUMENT or ASSAY_E_NOT_FOUND */
    uint8_t reason;        /* enum assay_event_reason */
    uint8_t modifier;      /* enum assay_event_modifier it is about, ASSAY_EVENT_MODS none */
    bool listed;           /* ASSAY_EVENT_LIBPFM4: only what the reference has can have been meant */
    uint32_t column, size; /* the token: byte offset from 0 and length */
    uint32_t pmu, event, umask, other_umask;
    uint64_t value; /* the value or the bits that are wrong; AMBIGUOUS: row of the other PMU */
};
/* One line without newline: reason and, where one is near, the correct name. text is the string that failed. */
void assay_event_error_print(const struct assay_event_table *t, const char *text, const struct assay_event_error *e,
                             struct assay_out *o);
/* The nearest name to the token at fault: pool string, or NULL when none is near. */
const char *assay_event_error_meant(const struct assay_event_table *t, const char *text,
                                    const struct assay_event_error *e);
const char *assay_event_reason_name(enum assay_event_reason r); /* "no such event": constant */

/* An event as programmed. */
struct assay_event_code {
    uint32_t pmu, event;                    /* rows; an alias is replaced by its target */
    uint32_t umask[ASSAY_EVENT_MAX_UMASKS]; /* rows, in the order of the table, defaults included, aliases replaced */
    uint32_t umasks;
    bool raw; /* a raw umask instead */
    uint64_t raw_umask;
    uint32_t named;                      /* mask of modifiers that the string (or a umask) set */
    uint64_t modifier[ASSAY_EVENT_MODS]; /* their values; u and k after defaults */
    unsigned codes;                      /* 1 or 2 */
    uint64_t code[2];   /* core: IA32_PERFEVTSELx with INT and EN, second register's value; NetBurst: ESCR, CCCR */
    uint32_t extra_msr; /* where code[1] goes; 0 */
    uint64_t counters;  /* that can count it: bits as in assay_event_row */
};

/* Reads `text` (n bytes; need not be terminated) and encodes it. `plm`: privilege when neither u nor k is named, mask of
 * 1 user, 2 kernel. pmu: row to look in when the string names none; ASSAY_EVENT_NONE: all PMUs in the order of the table.
 * ASSAY_OK, or e->code with *e filled (e may be NULL); *c is then undefined. */
enum { ASSAY_EVENT_USER = 1, ASSAY_EVENT_KERNEL = 2 };
int assay_event_encode(const struct assay_event_table *t, const char *text, size_t n, unsigned mode, unsigned plm,
                       uint32_t pmu, struct assay_event_code *c, struct assay_event_error *e);

/* The name that encodes to the same code in every mode: "knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u". Modifiers are
 * written when they differ from what is set without them (u and k when not both). */
void assay_event_name(const struct assay_event_table *t, const struct assay_event_code *c, struct assay_out *o);

/* The same without modifiers as the reference library spells it: umasks that are made of others are these, so that ANY_READ is
 * nine names. For its compatible forms. */
void assay_event_whole_name(const struct assay_event_table *t, const struct assay_event_code *c, struct assay_out *o);

/* What perf_event_open(2) takes: fields of struct perf_event_attr. */
struct assay_event_perf {
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t sample_period;
    bool freq, exclude_user, exclude_kernel, exclude_hv, exclude_host, exclude_guest, pinned, exclusive;
    uint8_t precise_ip;
};
void assay_event_to_perf(const struct assay_event_table *t, const struct assay_event_code *c,
                         struct assay_event_perf *p);
/* An event for `perf stat -e`: "cpu/event=0xb7,umask=0x1,offcore_rsp=0x80800001/u". */
void assay_event_perf_string(const struct assay_event_table *t, const struct assay_event_code *c, struct assay_out *o);

/* Register fields, spelled out. */
struct assay_event_field {
    char name[22]; /* "umask" */
    uint16_t desc; /* for assay_event_field_desc() */
    uint8_t lsb, width;
};
/* Layouts; the MSRs that have them are rows of data/event/registers.tsv. */
enum assay_event_register {
    ASSAY_EVENT_REG_PERFEVTSEL,
    ASSAY_EVENT_REG_ESCR,
    ASSAY_EVENT_REG_CCCR,
    ASSAY_EVENT_REG_PERF_CONFIG_P4, /* perf's config of NetBurst events: CCCR and ESCR in one number */
    ASSAY_EVENT_REG_COUNTER,
    ASSAY_EVENT_REG_FIXED_CTR_CTRL,
    ASSAY_EVENT_REG_GLOBAL_CTRL,
    ASSAY_EVENT_REG_GLOBAL_STATUS,
    ASSAY_EVENT_REG_OFFCORE_RSP,
    ASSAY_EVENT_REG_LD_LAT,
    ASSAY_EVENT_REG_FRONTEND,
    ASSAY_EVENT_REG_PEBS_ENABLE,
    ASSAY_EVENT_REG_PEBS_ENABLE_P4,
    ASSAY_EVENT_REG_MATRIX_VERT,
    ASSAY_EVENT_REG_PEBS_DATA_CFG,
    ASSAY_EVENT_REG_PEBS_BASE,
    ASSAY_EVENT_REG_PEBS_INDEX,
    ASSAY_EVENT_REG_COUNTER_CONFIG,
    ASSAY_EVENT_REG_MISC_ENABLE,
    ASSAY_EVENT_REG_PERF_CAPABILITIES,
    ASSAY_EVENT_REG_DEBUGCTL,
    ASSAY_EVENT_REG_DEBUGCTL_P4,
    ASSAY_EVENT_REG_WHOLE, /* one number: an address, a value to reload */
    ASSAY_EVENT_REGISTERS_KNOWN
};
/* The fields, lowest first; *n their number. Never NULL. */
const struct assay_event_field *assay_event_fields(enum assay_event_register r, unsigned *n);
const char *
assay_event_field_desc(const struct assay_event_field *f); /* what it does, in our words; constant, may be empty */

/* A model specific register. */
struct assay_event_msr {
    char name[30];   /* "IA32_PERFEVTSEL0" */
    uint8_t layout;  /* enum assay_event_register */
    uint8_t schemes; /* mask of 1 << enum assay_event_scheme: the processors that have it */
    uint32_t number;
};
/* The register of a name ("IA32_PERFEVTSEL0", "perfevtsel0") or number ("0x186", "390"), among those of `schemes`, a mask of
 * 1 << enum assay_event_scheme; 0 is all, and where one number has several names the one of today's processors. Or NULL. */
const struct assay_event_msr *assay_event_find_register(const char *text, size_t n, unsigned schemes);
const struct assay_event_msr *assay_event_register_at(uint32_t number, enum assay_event_scheme scheme); /* or NULL */

/* Back: the events that codes mean. Calls found() for each, best first: an event with all umasks named before one with a raw
 * umask (which is given only when there is none with names), events of a fixed counter and specific names before general ones,
 * aliases and deprecated names last. found returns false to stop. Returns the number of calls; 0: no event of this PMU has the
 * code. An alias has its own row in c->event and no umasks; the codes are those of its target.
 *   core:      codes[0] a value of IA32_PERFEVTSELx, or perf's config where EN, INT, u and k are clear (the event is then taken
 *              to count at every privilege); bits that are no part of an event (PC, IN_TX, IN_TXCP, ADAPTIVE, BR_CNTR) are
 *              passed over. codes[1] the second register; without it an offcore event is told without umasks.
 *   NetBurst:  one code is perf's config; two are ESCR and CCCR; codes[2] and codes[3] MSR_PEBS_ENABLE and
 *              MSR_PEBS_MATRIX_VERT, from which replay metrics get their names.
 *   software:  perf's config, and perf's type if there are two. */
int assay_event_explain(const struct assay_event_table *t, uint32_t pmu, const uint64_t *codes, unsigned n,
                        bool (*found)(void *ctx, const struct assay_event_code *c), void *ctx);
/* The same for the value of one register: an event select, an offcore register, an ESCR, the fixed counters' control. */
int assay_event_explain_register(const struct assay_event_table *t, uint32_t pmu, const struct assay_event_msr *r,
                                 uint64_t value, bool (*found)(void *ctx, const struct assay_event_code *c), void *ctx);

/* Groups: which counter each of n events gets, so that all count at once. */
enum { ASSAY_EVENT_NO_COUNTER_BIT = 0xff };
struct assay_event_slot {
    uint8_t counter; /* bit number, as in counters; ASSAY_EVENT_NO_COUNTER_BIT: a software event */
    uint8_t
        upstream_counter; /* NetBurst: the counter that keeps the tagging unit awake, or ASSAY_EVENT_NO_COUNTER_BIT */
    bool alt;             /* code0 is the event's other code (offcore responses) */
    uint16_t escr;        /* NetBurst: MSR of the ESCR */
    uint16_t upstream_escr;
    uint32_t upstream_value;
    uint32_t metric; /* NetBurst: row of the replay metric, ASSAY_EVENT_NONE */
    uint64_t code0;  /* code[0] with what the assignment changed */
    uint32_t extra_msr;
};
enum assay_event_conflict {
    ASSAY_EVENT_FITS,
    ASSAY_EVENT_MANY_PMUS,     /* events of more than one PMU */
    ASSAY_EVENT_NO_COUNTER,    /* `events` contend for `counters`, which are fewer */
    ASSAY_EVENT_ONE_MSR,       /* more values than registers to put them into (offcore response, load latency ...) */
    ASSAY_EVENT_ONE_ESCR,      /* the same for ESCRs */
    ASSAY_EVENT_ONE_MATRIX,    /* two replay metrics: one MSR_PEBS_ENABLE and one MSR_PEBS_MATRIX_VERT */
    ASSAY_EVENT_ONE_MECHANISM, /* front end, execution and replay tagging at once */
    ASSAY_EVENT_LATENCY_PAIR,  /* OUTSTANDING without the matching OFFCORE_RESPONSE_1 */
    ASSAY_EVENT_CONFLICTS
};
/* The smallest set of events that cannot be together: without any one of them the others can. */
struct assay_event_group_error {
    uint8_t conflict;      /* enum assay_event_conflict */
    uint8_t first, second; /* the lowest and the highest of `events`; the events before `second` fit */
    uint64_t events;       /* bit i: event i */
    uint64_t counters;     /* NO_COUNTER: all that the events can use */
    uint32_t msr[2];       /* the registers in question, 0 none */
};
/* n <= ASSAY_EVENT_MAX_COUNTERS. ASSAY_OK or ASSAY_E_ARGUMENT with *e filled (may be NULL). Exact: it fails only when no
 * assignment exists. The choice is the same for the same input: a fixed counter before general ones, lower before higher;
 * NetBurst events that can make PEBS records the counter that makes them, and no other when `precise` asks for it.
 * mode: ASSAY_EVENT_LIBPFM4 leaves out the rule that OUTSTANDING in a group of several needs its partner; else 0. */
int assay_event_assign(const struct assay_event_table *t, const struct assay_event_code *c, unsigned n, unsigned mode,
                       struct assay_event_slot *slot, struct assay_event_group_error *e);
void assay_event_group_error_print(const struct assay_event_table *t, const struct assay_event_code *c,
                                   const struct assay_event_group_error *e, struct assay_out *o);

/* One register write. */
struct assay_event_write {
    uint32_t msr;
    uint64_t value;
    const char *name; /* "MSR_PEBS_MATRIX_VERT": constant */
    const char *why;  /* constant */
};
enum {
    ASSAY_EVENT_WRITE_PMI = 1,  /* NetBurst: interrupt on overflow (core: the event select says so itself) */
    ASSAY_EVENT_WRITE_PEBS = 2, /* PEBS records are made */
};
/* The writes, in order, that program a group as assigned: first everything that selects and tags, last what lets the counters
 * run. The counters' own values are the caller's. NetBurst: as for logical processor 0 (T0). PEBS is for the events with
 * modifier `precise`, or when none has it for those that can. Returns how many of max it wrote, or ASSAY_E_ARGUMENT when max is too
 * small or a counter cannot make records; 5 * n + 4 are enough. Sources: SDM Vol. 3B 18.2, 18.15.6, 18.15.7. */
int assay_event_writes(const struct assay_event_table *t, const struct assay_event_code *c,
                       const struct assay_event_slot *slot, unsigned n, unsigned flags, struct assay_event_write *w,
                       unsigned max);

/* Average-latency mode (libpfm_intel_knm(3), OFFCORE_RESPONSE): the pair for a request list ("DMND_DATA_RD:PF_L2_RFO"). The
 * latency is count of pair[0] / count of pair[1], in core cycles. Errors as assay_event_encode. */
int assay_event_latency(const struct assay_event_table *t, const char *requests, size_t n, unsigned mode, unsigned plm,
                        uint32_t pmu, struct assay_event_code pair[2], struct assay_event_error *e);

/* Finding. Rows or ASSAY_EVENT_NONE. Names are compared without regard to case. */
uint32_t assay_event_find_pmu(const struct assay_event_table *t, const char *name, size_t n);
uint32_t assay_event_find(const struct assay_event_table *t, uint32_t pmu, const char *name, size_t n);
uint32_t assay_event_find_umask(const struct assay_event_table *t, uint32_t event, const char *name, size_t n);
/* The PMU of a processor (CPUID family, model, stepping of an Intel CPU), ASSAY_EVENT_NONE when there is no table. */
uint32_t assay_event_find_model(const struct assay_event_table *t, unsigned family, unsigned model, unsigned stepping);
/* How well the words of a query match an event and one of its umasks (ASSAY_EVENT_NONE: the event alone): 0 not at all, higher
 * is better. Words are matched in names first, then in descriptions; a misspelt word of five letters or more still counts. */
unsigned assay_event_match(const struct assay_event_table *t, uint32_t event, uint32_t umask, const char *query);

const char *assay_event_modifier_name(enum assay_event_modifier m); /* "u"; constant */
bool assay_event_modifier_boolean(enum assay_event_modifier m);
const char *assay_event_modifier_desc(enum assay_event_modifier m); /* a line in our words; constant */

#ifdef __cplusplus
}
#endif
#endif
