/* SPDX-License-Identifier: MIT */
/* The decoder's state, shared by the files of this folder. */
#ifndef ASSAY_SRC_FLOW_INTERNAL_H
#define ASSAY_SRC_FLOW_INTERNAL_H

#include <assay/flow.h>
#include <assay/pt.h>

/* ---- the run graph */

/* A link names a run and what its end needs: the run's id in bits 31:3, below it one of these. The walk decides by the link
 * in its hand, so that the next load does not wait for this one. Link 0 is "not resolved yet". */
enum {
    LINK_COND,
    LINK_COND_PUSH, /* the same, and calls on the way to push */
    LINK_RET,
    LINK_RET_PUSH,
    LINK_TIP,
    LINK_TIP_PUSH,
    LINK_SLOW, /* ends without consuming trace: cut for length, for want of code, or in an endless loop */
    LINK_KINDS = 8
};
#define LINK(id, kind)  ((uint32_t)(id) << 3 | (uint32_t)(kind))
#define LINK_ID(link)   ((link) >> 3)
#define LINK_KIND(link) ((link)&7u)
#define LINK_NONE       LINK(0, LINK_SLOW) /* no code at flow.none_ip */

enum { RUN_BLOCKS = 32, RUNS_MAX = 1 << 28 };
/* Straight code is cut at such an address, where it is long: runs that begin at different places in it share the rest. */
enum { CUT_INSNS = 512, CUT_ALIGN = 1024 };
enum { TABLE_LIMIT = 128 << 20 };

enum { NODE_LOOP = 1 << 0, NODE_PAGING = 1 << 1, NODE_VMCS = 1 << 2, NODE_DEAD = 1 << 3 };

struct node {         /* the hot half of a run */
    uint32_t next[2]; /* links: fallen through (or the only way on), taken */
    uint32_t first_push;
    uint16_t space;
    uint8_t pushes;
    uint8_t flags;
};

struct site { /* a return address that some call pushes */
    uint64_t ip;
    uint32_t link; /* of the run there, in `space` */
    uint16_t space;
    uint8_t mode;
};

struct slot { /* of a hash table from address and mode to link; link 0 = free */
    uint64_t ip;
    uint32_t link, mode;
};

struct space { /* the runs of one address space */
    struct assay_view *view;
    struct slot *slots;
    uint32_t used;
    uint8_t bits; /* 1 << bits slots */
};

/* ---- time */

struct clock {
    uint64_t now;      /* the last estimate given out; never goes back */
    uint64_t base;     /* TSC of the last TSC or MTC packet */
    uint64_t base_cyc; /* flow.cyc there */
    uint64_t ctc_base; /* TSC when the crystal count was 0 */
    uint64_t ctc;      /* crystal ticks since */
    uint32_t ratio;    /* TSC ticks a core cycle, 16 fractional bits; 0 = not known */
    uint8_t last_mtc;
    bool known, have_ctc, since_tma;
    bool measured;   /* base is a packet's own time, not an estimate */
    bool calibrated; /* ratio was measured between two MTCs */
};

/* ---- the decoder */

enum state {
    UNSYNCED,    /* bytes cannot be told apart: the next PSB is looked for */
    LOST,        /* packets are known, the place in the code is not */
    OFF,         /* tracing is off */
    PROVISIONAL, /* an address is known; TIP.PGE may still say that tracing was off (BDM70, APL12) */
    OVERFLOWED,  /* after OVF: FUP or TIP.PGE tells where it goes on */
    ON,          /* the walk waits at the end of `link` */
};

enum { STACK = 64, BOUND_MAX = 8, ITEMS = 1 << 14, ITEMS_ROOM = 256, EVENTS_MAX = 1 << 10 };

/* ---- ways taken before */

enum { MEMO_BITS = 15, MEMO_BYTES = 4, WAY_POPS = 3, WAY_PUSHES = 4, PATHS_MAX = 1 << 18, PATH_RUNS_MAX = 1 << 22 };

struct
    memo { /* where up to MEMO_BYTES short TNT packets in a row lead to from one run; a table of these must fit the cache */
    uint64_t key;  /* link << 32 | the bytes; 0 = free */
    uint32_t next; /* link reached */
    uint32_t path; /* index; MEMO_STACK set when it works on the return stack */
};
#define MEMO_STACK 0x80000000u
#define WAY_SINGLE UINT32_MAX /* as rest: there is none */

struct way {                /* what a path does to the return stack, and what else is seldom needed of it */
    uint32_t pop[WAY_POPS]; /* sites that must be there, the top first */
    uint32_t push[WAY_PUSHES];
    uint32_t first; /* run */
    uint32_t rest;  /* item of the path without its first run; 0 = not made yet */
    uint8_t pops, pushes;
    uint8_t peak; /* how far above its height at the start the stack was on the way */
};

struct psb { /* what a PSB+ said so far */
    uint64_t ip;
    bool open, has_ip;
    bool begins; /* decoding begins here: nothing is known before it */
    uint8_t mode;
};

struct assay_flow {
    /* hot */
    struct node *nodes;
    struct assay_flow_run *runs;
    struct site *sites;
    struct slot *slots;     /* of the present space */
    uint32_t *out;          /* where the next item goes */
    uint64_t cyc, cyc_told; /* they differ while cycles wait for the next branch, whose time they are */
    uint64_t cyc_held;      /* cycles that have no place yet: they go with those of a later branch */
    bool cyc_outside;       /* a CYC came while tracing was not on: what is held is not of the code after it */
    uint64_t last_ip;
    uint64_t tnt; /* branches waiting for a TIP that was put off: the last tnt_n bits, newest in bit 0 */
    uint32_t link;
    uint32_t stack_top, stack_depth;
    uint32_t stack[STACK]; /* indices of sites */
    uint8_t slot_shift, tnt_n, mode, state;
    bool irregular; /* the next packet must take the general way */
    bool crowded;   /* the run tables are too large: they begin anew before the next packet */

    struct memo *memos;
    uint32_t *path_run;
    bool take_paths;
    uint8_t window;            /* TNT packets that are looked up together: as many as are often found */
    uint32_t misses;           /* of such look-ups since the last delivery */
    uint32_t patience, waited; /* deliveries without many misses before the window grows */

    /* packets and bindings */
    struct psb psb;
    uint64_t none_ip; /* where LINK_NONE stands */
    int none_code;    /* why there is no code */
    uint64_t resume_ip;
    bool resume_doubtful; /* a PSB+ says that tracing is on, the walk knew it as off */
    bool have_fup;
    uint64_t fup_ip;
    uint8_t mode_next; /* MODE.Exec that binds to the next TIP, 0 = none */
    uint8_t block_item;
    uint32_t block_items;
    uint64_t paging, vmcs;
    struct assay_flow_event bound[BOUND_MAX];
    unsigned bounds;
    bool bound_async;            /* one of them is itself an asynchronous branch */
    struct assay_flow_event gap; /* told when it ends */
    bool have_gap;
    uint64_t gap_from;

    /* input */
    const uint8_t *begin, *at; /* the bytes in hand, and the packet that is being decoded */
    uint64_t base;             /* stream offset of begin */
    uint64_t counted;          /* bytes before this are in the ledger */
    uint8_t counting;          /* bytes after it are: 0 decoded, else 1 + enum assay_skip */
    uint64_t fed;
    struct assay_ledger ledger;
    struct clock clock;
    int stop;

    /* graph tables */
    uint32_t runs_n, runs_cap, sites_n, sites_cap;
    struct assay_flow_block *blocks;
    uint32_t blocks_n, blocks_cap;
    uint8_t *sizes;
    uint32_t sizes_n, sizes_cap;
    uint32_t generation;
    struct space *spaces;
    uint32_t spaces_n, spaces_cap, space;

    struct assay_flow_path *paths;
    struct way *ways; /* by path */
    uint32_t paths_n, paths_cap, path_runs_n, path_runs_cap;
    uint32_t *memo_seen; /* by slot: hash of the last way that had no place yet */

    /* output */
    uint32_t *items, *out_limit;
    struct assay_flow_event *events;
    uint32_t events_n;

    struct assay_flow_config config;
    uint32_t errata;
    assay_flow_batch_fn *on_batch;
    void *ctx;
    void (*on_time)(void *, struct assay_flow *, uint64_t);
    void *time_ctx;
};

static inline uint64_t flow_pos(const struct assay_flow *f) { return f->base + (uint64_t)(f->at - f->begin); }

/* graph.c */
/* Grows *array (elements of `size` bytes) to hold need elements; false, with flow.stop set, when memory is out. */
bool flow_reserve(struct assay_flow *f, void *array, uint32_t *cap, size_t size, uint64_t need);
/* The run at ip in the present mode; LINK_NONE (none_ip and none_code set) where there is no code. */
uint32_t flow_link_at(struct assay_flow *f, uint64_t ip);
/* Where the run of `link` goes on. */
uint32_t flow_edge(struct assay_flow *f, uint32_t link, unsigned taken);
/* The link of a site is that of where the walk is: not in another address space, nor in the mode of a call before MODE.Exec. */
static inline bool flow_site_knows(const struct assay_flow *f, const struct site *s)
{
    return s->link && s->space == f->space && s->mode == f->mode;
}
/* The run at the return address of a site. */
uint32_t flow_return_link(struct assay_flow *f, struct site *s);
/* Which instruction of a run stands at ip: its number, or -1. */
int64_t flow_locate(const struct assay_flow *f, uint32_t id, uint64_t ip);
uint64_t flow_last_ip(const struct assay_flow *f, uint32_t id);
/* The first instruction of the run with a flag; -1 when there is none. *ip gets its address. */
int64_t flow_find_flag(struct assay_flow *f, uint32_t id, unsigned flag, uint64_t *ip);
bool flow_use_view(struct assay_flow *f, struct assay_view *view);
/* Forgets all runs. The walk goes on where it is. */
void flow_begin_anew(struct assay_flow *f);
void flow_graph_free(struct assay_flow *f);

/* emit.c */
void flow_deliver(struct assay_flow *f);
void flow_item(struct assay_flow *f, uint32_t item);
void flow_event(struct assay_flow *f, struct assay_flow_event *e);
/* The same with what most events need. */
void flow_event_at(struct assay_flow *f, unsigned type, bool has_ip, uint64_t ip, uint64_t value);
/* Cycles since the last such item, if a CYC came that times this place. */
void flow_put_cycles(struct assay_flow *f);
/* What the CYC timed stands nowhere in the order of the code. */
void flow_hold_cycles(struct assay_flow *f);
/* All that are left: at the end, and when tracing begins after a CYC outside. */
void flow_put_last_cycles(struct assay_flow *f);

/* walk.c */
/* Takes n branch outcomes, the oldest in bit n-1. What must wait for a TIP stays in tnt. */
void flow_follow(struct assay_flow *f, uint64_t bits, unsigned n);
/* The branch target of a TIP for the indirect branch at the end of the run. */
void flow_take_tip(struct assay_flow *f, uint64_t ip);
/* Executes up to (not including) the instruction at ip. false: it is not ahead; nothing was done. */
bool flow_leave_at(struct assay_flow *f, uint64_t ip);
bool flow_reaches(struct assay_flow *f, uint64_t ip);
/* A synchronous TIP.PGD. Returns the address of the last instruction executed through *last. */
bool flow_leave_sync(struct assay_flow *f, bool has_ip, uint64_t ip, uint64_t *last);
bool flow_no_code(struct assay_flow *f);

/* memo.c */
bool flow_memo_new(struct assay_flow *f);
void flow_memo_clear(struct assay_flow *f);
/* Before a delivery: looks at how well the window did. */
void flow_memo_adapt(struct assay_flow *f);
void flow_memo_free(struct assay_flow *f);

/* sync.c */
/* The place is lost: a gap begins at the present packet. */
void flow_fail(struct assay_flow *f, int code, uint64_t ip, const char *what, const char *expected);
/* A gap that passes nothing over: decoding goes on right here. */
void flow_note_gap(struct assay_flow *f, int code, uint64_t ip, const char *what, const char *expected);
/* Bytes from here to the first PSB cannot be told apart. */
void flow_begin_unsynced(struct assay_flow *f);
/* A sound place: the gap, if there is one, ends before stream offset `pos`. */
void flow_resume(struct assay_flow *f, uint64_t pos);
void flow_end_gap(struct assay_flow *f, uint64_t pos);
void flow_count_until(struct assay_flow *f, uint64_t pos);
void flow_count_as(struct assay_flow *f, uint64_t pos, unsigned counting);
/* Tracing is on at ip. */
void flow_enable(struct assay_flow *f, uint64_t ip);
/* An address that a PROVISIONAL state holds is confirmed. */
void flow_confirm(struct assay_flow *f);
void flow_drop_bindings(struct assay_flow *f);
void flow_psb(struct assay_flow *f);
void flow_psb_packet(struct assay_flow *f, const struct assay_pt_packet *p);
void flow_overflow(struct assay_flow *f);

/* branches.c and events.c: what packets mean outside PSB+ */
void flow_packet(struct assay_flow *f, const struct assay_pt_packet *p);
bool flow_branch_packet(struct assay_flow *f, const struct assay_pt_packet *p);
void flow_event_packet(struct assay_flow *f, const struct assay_pt_packet *p);
/* Events that waited for a FUP. */
void flow_release_bound(struct assay_flow *f, bool has_ip, uint64_t ip);
unsigned flow_exec_mode(const struct assay_pt_packet *p);
void flow_set_mode(struct assay_flow *f, unsigned mode);

/* time.c */
void flow_clock_tsc(struct assay_flow *f, uint64_t tsc);
void flow_clock_tma(struct assay_flow *f, unsigned ctc, unsigned fc);
void flow_clock_mtc(struct assay_flow *f, unsigned mtc);
void flow_clock_cbr(struct assay_flow *f, unsigned ratio);
uint64_t flow_clock_now(struct assay_flow *f);

/* fast.c */
/* Packets from flow.at on while they are the usual ones; end leaves PT_FAST_ROOM bytes to read. */
void flow_fast_packets(struct assay_flow *f, const uint8_t *end);

/* errata.c */
enum {
    ERRATUM_BDM64 = 1 << 0,
    ERRATUM_SKD007 = 1 << 1,
    ERRATUM_SKD022 = 1 << 2,
    ERRATUM_SKZ84 = 1 << 3,
    ERRATUM_NEXT_IP = 1 << 4, /* FUP may carry the address after an indirect branch */
};
uint32_t flow_errata(unsigned family, unsigned model);

#endif
