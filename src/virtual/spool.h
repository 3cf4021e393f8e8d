/* SPDX-License-Identifier: MIT */
/* What the QEMU plugin leaves for the recorder: a directory of files that both map. Both are of one build and one host, so
 * these are plain structures.
 *
 *   setup      struct assay_spool_setup: written by the recorder; the clock and the stream counter are shared by all
 *              processes of the recording
 *   events     struct assay_spool_event and its payload, appended
 *   stream.N   struct assay_spool_stream, from ASSAY_SPOOL_DATA on the trace bytes
 *   blocks.N   struct assay_spool_block, with `truth_blocks`
 *
 * All of a thread's state stands in its stream's mapped file: whatever ends the process, the recorder can finish it. */
#ifndef ASSAY_VIRTUAL_SPOOL_H
#define ASSAY_VIRTUAL_SPOOL_H

#include <assay/machine.h>
#include <assay/pt_unit.h>

/* What a run counts, in place of a trace; each one the former's too. */
enum assay_spool_count {
    ASSAY_SPOOL_NO_COUNT,        /* a recording */
    ASSAY_SPOOL_COUNT_CODE,      /* instructions and branches */
    ASSAY_SPOOL_COUNT_PREDICTOR, /* mispredictions */
    ASSAY_SPOOL_COUNT_CYCLES,    /* all that the core models */
};

enum { ASSAY_SPOOL_MAGIC = 0x31535041, ASSAY_SPOOL_DATA = 8192 };

struct assay_spool_setup {
    uint32_t magic, size;
    uint64_t rtit_ctl; /* with TraceEn */
    uint64_t tsc_base; /* TSC at cycle 0 */
    struct assay_pt_unit_config unit;
    struct assay_machine_model model;
    uint64_t window; /* bytes of one output region */
    bool truth, truth_blocks;
    bool accesses; /* counting: data accesses are watched */
    uint8_t count; /* enum assay_spool_count */
    /* written by the plugin, atomically */
    uint64_t now;          /* the furthest clock, in cycles */
    uint32_t streams;      /* given out so far */
    int32_t failed;        /* errno of the first write that failed: the trace is not whole */
    uint32_t no_registers; /* threads whose registers could not be found: faults inside blocks are not cut */
    uint32_t unexplained;  /* blocks that followed no known successor of the block before */
};

enum assay_spool_state { ASSAY_SPOOL_LIVE, ASSAY_SPOOL_ENDED };

struct assay_spool_stream {
    uint32_t magic;
    uint32_t index, pid, tid;
    uint32_t state;       /* enum assay_spool_state */
    uint64_t birth;       /* cycles */
    uint64_t at;          /* start of the block that runs now: everything before it has retired */
    uint64_t data;        /* file offset of unit.out */
    uint64_t insns, chk;  /* truth, and insns when counting: chk = chk * 31 + ip over all retired instructions */
    uint64_t block_count; /* truth_blocks: entries in blocks.N */
    uint64_t waited;      /* counting: cycles by which the clock was moved, which the thread did not run */
    uint64_t tally[ASSAY_MACHINE_QUANTITIES]; /* counting: what the plugin and the core count as it happens */
    struct assay_pt_unit unit;
};

/* A run of retired instructions: the first `insns` of the block at `ip`. */
struct assay_spool_block {
    uint64_t ip;
    uint32_t insns;
};

enum assay_spool_type {
    ASSAY_SPOOL_MMAP, /* struct assay_spool_mmap, path */
    ASSAY_SPOOL_CODE, /* struct assay_spool_code, bytes */
    ASSAY_SPOOL_COMM, /* name */
    ASSAY_SPOOL_FORK, /* struct assay_spool_fork: pid, tid of the event are the child's */
    ASSAY_SPOOL_EXIT, /* a thread */
    ASSAY_SPOOL_EXEC, /* path: the process goes on outside of QEMU */
};
struct assay_spool_event {
    uint32_t size; /* with the payload */
    uint32_t type; /* enum assay_spool_type */
    uint32_t pid, tid;
    uint64_t cycles;
};
struct assay_spool_mmap {
    uint64_t addr, len, pgoff, inode;
    uint32_t major, minor;
};
struct assay_spool_code {
    uint64_t addr;
};
struct assay_spool_fork {
    uint32_t ppid, ptid;
};

#endif
