/* SPDX-License-Identifier: MIT */
/* Reading perf.data: both byte orders, file and pipe form, zstd, unknown records kept.
 * Source: Linux tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h. */
#ifndef ASSAY_PERFDATA_H
#define ASSAY_PERFDATA_H

#include <assay/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum assay_perf_type { /* the record types that are parsed; any other is kept raw */
                       ASSAY_PERF_MMAP = 1,
                       ASSAY_PERF_LOST = 2,
                       ASSAY_PERF_COMM = 3,
                       ASSAY_PERF_EXIT = 4,
                       ASSAY_PERF_FORK = 7,
                       ASSAY_PERF_SAMPLE = 9,
                       ASSAY_PERF_MMAP2 = 10,
                       ASSAY_PERF_AUX = 11,
                       ASSAY_PERF_ITRACE_START = 12,
                       ASSAY_PERF_LOST_SAMPLES = 13,
                       ASSAY_PERF_SWITCH = 14,
                       ASSAY_PERF_SWITCH_CPU_WIDE = 15,
                       ASSAY_PERF_NAMESPACES = 16,
                       ASSAY_PERF_KSYMBOL = 17,
                       ASSAY_PERF_BPF_EVENT = 18,
                       ASSAY_PERF_CGROUP = 19,
                       ASSAY_PERF_TEXT_POKE = 20,
                       ASSAY_PERF_AUX_OUTPUT_HW_ID = 21,
                       ASSAY_PERF_HEADER_ATTR = 64,
                       ASSAY_PERF_HEADER_EVENT_TYPE = 65,
                       ASSAY_PERF_HEADER_TRACING_DATA = 66,
                       ASSAY_PERF_HEADER_BUILD_ID = 67,
                       ASSAY_PERF_FINISHED_ROUND = 68,
                       ASSAY_PERF_ID_INDEX = 69,
                       ASSAY_PERF_AUXTRACE_INFO = 70,
                       ASSAY_PERF_AUXTRACE = 71,
                       ASSAY_PERF_AUXTRACE_ERROR = 72,
                       ASSAY_PERF_THREAD_MAP = 73,
                       ASSAY_PERF_CPU_MAP = 74,
                       ASSAY_PERF_STAT_CONFIG = 75,
                       ASSAY_PERF_EVENT_UPDATE = 78,
                       ASSAY_PERF_TIME_CONV = 79,
                       ASSAY_PERF_HEADER_FEATURE = 80,
                       ASSAY_PERF_COMPRESSED = 81,
                       ASSAY_PERF_FINISHED_INIT = 82,
};

enum assay_perf_feature { /* header feature bits that are read or written here */
                          ASSAY_PERF_FEAT_BUILD_ID = 2,
                          ASSAY_PERF_FEAT_HOSTNAME = 3,
                          ASSAY_PERF_FEAT_OSRELEASE = 4,
                          ASSAY_PERF_FEAT_VERSION = 5,
                          ASSAY_PERF_FEAT_ARCH = 6,
                          ASSAY_PERF_FEAT_NRCPUS = 7,
                          ASSAY_PERF_FEAT_CPUDESC = 8,
                          ASSAY_PERF_FEAT_CPUID = 9,
                          ASSAY_PERF_FEAT_CMDLINE = 11,
                          ASSAY_PERF_FEAT_EVENT_DESC = 12,
                          ASSAY_PERF_FEAT_PMU_MAPPINGS = 17,
                          ASSAY_PERF_FEAT_AUXTRACE = 18,
                          ASSAY_PERF_FEAT_COMPRESSED = 27,
                          /* Ours, at the far end of the 256 bits, which perf passes over: */
                          ASSAY_PERF_FEAT_JITDUMP = 254, /* a jitdump file: code that is in no other file */
                          ASSAY_PERF_FEAT_VIRTUAL =
                              255, /* text, key=value lines: the recording is of virtual hardware, and of which model */
};

/* How CPUDESC begins in a recording of virtual hardware, in its feature section and in a HEADER_FEATURE record before the first map. */
#define ASSAY_PERF_VIRTUAL_CPU "Assay virtual Processor Trace"

/* intel_pt fields of AUXTRACE_INFO (facts: names of tools/perf/util/intel-pt.h). Missing trailing fields are 0. */
struct assay_perf_pt_info {
    bool present;
    uint64_t pmu_type, time_shift, time_mult, time_zero, cap_user_time_zero, tsc_bit, noretcomp_bit, have_sched_switch,
        snapshot_mode, per_cpu_mmaps, mtc_bit, mtc_freq_bits, tsc_ctc_n, tsc_ctc_d, cyc_bit, max_nonturbo_ratio;
    uint64_t config; /* attr.config of the event whose type is pmu_type */
    bool exclude_kernel, exclude_user;
    char filter[256];
};

struct assay_perf_record {
    uint64_t offset; /* in the file (of the compressed record, for one that was inside it) */
    uint32_t type;
    uint16_t misc;
    const uint8_t *body; /* after the 8-byte header, in the file's byte order; valid until the next call */
    uint32_t size;       /* of body, without the trace data that follows an AUXTRACE */
    /* from sample_id (or the sample itself), where the event's sample_type has them */
    bool has_time, has_tid, has_cpu;
    uint64_t time, id;
    uint32_t pid, tid, cpu;
    union {
        struct {
            uint32_t pid, tid, prot, flags;
            uint64_t addr, len, pgoff;
            const char *filename;
            uint8_t build_id[20], build_id_size; /* 0 when there is none */
        } mmap;                                  /* MMAP, MMAP2 */
        struct {
            uint32_t pid, tid;
            bool exec;
            const char *comm;
        } comm;
        struct {
            uint32_t pid, ppid, tid, ptid;
            uint64_t time;
        } task; /* FORK, EXIT */
        struct {
            uint64_t aux_offset, aux_size, flags;
        } aux;
        struct {
            uint32_t pid, tid;
        } itrace_start;
        struct {
            bool out, wide;
            uint32_t next_prev_pid, next_prev_tid; /* wide only */
        } context_switch;
        struct {
            uint64_t size, offset, reference;
            uint32_t idx, tid, cpu;
            uint64_t data; /* where the trace bytes start: argument of assay_perf_read() */
        } auxtrace;
        struct {
            uint64_t shift, mult, zero;
        } time_conv;
        struct {
            uint64_t addr;
            const uint8_t *old_bytes, *new_bytes;
            uint16_t old_len, new_len;
        } text_poke;
        struct {
            uint64_t id, lost;
        } lost;
    };
};

/* An open perf.data. One thread, except assay_perf_read(), which any thread may call. */
struct assay_perf;
/* path "-" is stdin (pipe form is spooled to an unlinked temporary file). A truncated file opens; its ledger tells. */
int assay_perf_open(const char *path, struct assay_perf **out, struct assay_error *e);
void assay_perf_close(struct assay_perf *f);
bool assay_perf_big_endian(const struct assay_perf *f);
/* 1 with *r, 0 at the end, < 0 after a damaged record (reported in assay_perf_diag; decoding may go on with the next call,
 * which finds the next sound record or the end). */
int assay_perf_next(struct assay_perf *f, struct assay_perf_record *r);
const struct assay_diag *assay_perf_diag(const struct assay_perf *f);
const struct assay_ledger *assay_perf_ledger(const struct assay_perf *f);
/* How many records of a type were read so far, COMPRESSED ones included; type 0: of all types that this reader does not know. */
uint64_t assay_perf_count(const struct assay_perf *f, uint32_t type);
/* The events of the recording, and the perf_event_attr of each as it stands in the file (also fields unknown here). */
size_t assay_perf_events(const struct assay_perf *f);
const uint8_t *assay_perf_event_attr(const struct assay_perf *f, size_t n, size_t *size);
/* AUX trace bytes by the position in r.auxtrace.data; the number read (short at the end of the file), or < 0. */
int64_t assay_perf_read(const struct assay_perf *f, uint64_t position, void *buf, size_t size);
/* Intel PT facts, complete once the records before the first AUXTRACE were read. */
const struct assay_perf_pt_info *assay_perf_pt(const struct assay_perf *f);
/* Bytes of a header feature section (raw, file byte order), NULL when absent. Owned by f. For pipe form complete after the
 * HEADER_FEATURE records were read. */
const uint8_t *assay_perf_feature(struct assay_perf *f, unsigned feature, size_t *size);
/* The same for features that hold one string; NULL when absent. */
const char *assay_perf_feature_string(struct assay_perf *f, unsigned feature);

/* ns of the recording's clock to and from TSC, by TIME_CONV / AUXTRACE_INFO (facts/pt/packets.md section 6). */
uint64_t assay_perf_tsc_to_ns(const struct assay_perf_pt_info *i, uint64_t tsc);
uint64_t assay_perf_ns_to_tsc(const struct assay_perf_pt_info *i, uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif
