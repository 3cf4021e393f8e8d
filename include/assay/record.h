/* SPDX-License-Identifier: MIT */
/* Recording a program on virtual hardware: QEMU's user mode runs it, our plugin drives the trace unit, and what both leave in a
 * temporary directory is read back here as events and streams.
 *
 * One recording at a time in a thread; nothing here touches signals or prints. Linux only. */
#ifndef ASSAY_RECORD_H
#define ASSAY_RECORD_H

#include <assay/machine.h>
#include <assay/perfdata.h>

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The terms of Linux's intel_pt PMU: "cyc,cyc_thresh=2,mtc=0,noretcomp". Each one changes *config, which begins as
 * assay_record_pt_default(). Errors name the column in e->offset and the nearest term. */
int assay_record_pt_parse(const char *terms, uint64_t *config, struct assay_error *e);
/* pt, branch, tsc, mtc, mtc_period=3, psb_period=3, as the kernel's default is, and cyc, without which no cycle is counted. */
uint64_t assay_record_pt_default(void);
/* The terms that give config, in buf. */
void assay_record_pt_print(uint64_t config, char *buf, size_t size);

struct assay_record_options {
    char *const *argv; /* program and arguments, NULL ends; found as a shell would, scripts by their interpreter */
    uint64_t config;   /* as from assay_record_pt_parse */
    struct assay_machine_model model;
    const char *plugin; /* NULL: $ASSAY_QEMU_PLUGIN, beside the command, where it was installed */
    const char *tmp;    /* directory for the temporary files; NULL: $TMPDIR or /tmp */
    uint64_t window;    /* bytes of one output region; 0 = 4 MiB */
    bool truth;         /* digests of what QEMU executed */
    bool truth_blocks;  /* and a log of every block */
};

struct assay_record;
/* Starts the program; assay_record_pid() is to be waited for, then assay_record_collect() called. On error *out is NULL and
 * nothing is left behind. */
int assay_record_start(const struct assay_record_options *o, struct assay_record **out, struct assay_error *e);
pid_t assay_record_pid(const struct assay_record *r);
/* Reads what the run left. Streams of threads that something killed are finished as their units would have been. */
int assay_record_collect(struct assay_record *r, struct assay_error *e);
/* Also removes the temporary files; kills nothing. */
void assay_record_free(struct assay_record *r);

enum assay_record_kind {
    ASSAY_RECORD_MMAP,
    ASSAY_RECORD_CODE, /* code that no file holds */
    ASSAY_RECORD_COMM,
    ASSAY_RECORD_FORK,
    ASSAY_RECORD_EXIT,
    ASSAY_RECORD_EXEC,  /* the process went on with another program, outside of the virtual machine */
    ASSAY_RECORD_START, /* a stream begins */
};
struct assay_record_event {
    enum assay_record_kind kind;
    uint32_t pid, tid;
    uint64_t time; /* ns */
    union {
        struct {
            uint64_t addr, len, pgoff, inode;
            uint32_t major, minor;
            const char *path;
            const uint8_t *build_id; /* NULL when there is none */
            unsigned build_id_size;
        } mmap;
        struct {
            uint64_t addr;
            const uint8_t *bytes;
            size_t size;
        } code;
        struct {
            const char *name;
            bool exec;
        } comm;
        struct {
            uint32_t ppid, ptid;
        } fork;
        const char *exec; /* path */
    };
};
struct assay_record_stream {
    uint32_t idx, pid, tid;
    uint64_t start, end; /* ns */
    uint64_t end_tsc;
    uint64_t size;        /* trace bytes */
    uint64_t insns, chk;  /* truth: chk = chk * 31 + ip over all instructions that retired */
    uint64_t lost;        /* events that were not written */
    uint64_t block_count; /* truth_blocks */
    bool killed;          /* it did not end by itself */
};
/* In the order of time. */
size_t assay_record_events(const struct assay_record *r);
const struct assay_record_event *assay_record_event(const struct assay_record *r, size_t n);
/* In the order of birth. */
size_t assay_record_streams(const struct assay_record *r);
const struct assay_record_stream *assay_record_stream(const struct assay_record *r, size_t n);
/* A descriptor on a stream's trace, which begins at *offset; the caller closes it. < 0: an error. */
int assay_record_stream_open(const struct assay_record *r, size_t n, uint64_t *offset, struct assay_error *e);
/* Calls f with every logged block of a stream (the first `insns` instructions from ip on), until it returns false. */
int assay_record_stream_blocks(const struct assay_record *r, size_t n,
                               bool (*f)(void *ctx, uint64_t ip, uint32_t insns), void *ctx, struct assay_error *e);
/* What a perf.data says of this machine: AUXTRACE_INFO and TIME_CONV. */
const struct assay_perf_pt_info *assay_record_pt_info(const struct assay_record *r);
const struct assay_machine_model *assay_record_model(const struct assay_record *r);
unsigned assay_record_mode(const struct assay_record *r);       /* 64 or 32 */
const char *assay_record_program(const struct assay_record *r); /* path of what was run */
const char *assay_record_machine(const struct assay_record *r); /* "QEMU 7.2.22" */
/* Faults and signals that the trace may not show exactly, and why; 0 when it is exact. */
unsigned assay_record_doubts(const struct assay_record *r, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
