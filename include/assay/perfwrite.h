/* SPDX-License-Identifier: MIT */
/* Writing a perf.data with Processor Trace, in the file form that stock perf reads.
 * Source: Linux tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h.
 *
 * Records go in the order of the calls. The file gets its name only by assay_perfwrite_finish(): until then, and after any
 * failure, whatever had that name is untouched. The first failure stays; all calls may be made after it. One thread. */
#ifndef ASSAY_PERFWRITE_H
#define ASSAY_PERFWRITE_H

#include <assay/perfdata.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_perfwrite;
/* ASSAY_E_EXISTS when path is there and !replace. A path that is no regular file (/dev/null) is written in place. */
int assay_perfwrite_open(const char *path, bool replace, struct assay_perfwrite **out, struct assay_error *e);
/* Writes features and header and gives the file its name. */
int assay_perfwrite_finish(struct assay_perfwrite *w, struct assay_error *e);
/* Without finish before it: nothing is left. */
void assay_perfwrite_free(struct assay_perfwrite *w);

/* First: the two events (intel_pt//, dummy:u), AUXTRACE_INFO and TIME_CONV. */
void assay_perfwrite_begin(struct assay_perfwrite *w, const struct assay_perf_pt_info *pt);

struct assay_perfwrite_who { /* sample_id of a record */
    uint32_t pid, tid;
    uint64_t time; /* ns */
};
struct assay_perfwrite_mmap {
    uint64_t addr, len, pgoff, inode;
    uint32_t major, minor;
    const char *path;
    const uint8_t *build_id; /* NULL: none */
    unsigned build_id_size;
};
void assay_perfwrite_mmap(struct assay_perfwrite *w, struct assay_perfwrite_who who,
                          const struct assay_perfwrite_mmap *m);
void assay_perfwrite_comm(struct assay_perfwrite *w, struct assay_perfwrite_who who, const char *name, bool exec);
void assay_perfwrite_fork(struct assay_perfwrite *w, struct assay_perfwrite_who who, uint32_t ppid, uint32_t ptid);
void assay_perfwrite_exit(struct assay_perfwrite *w, struct assay_perfwrite_who who);
void assay_perfwrite_itrace_start(struct assay_perfwrite *w, struct assay_perfwrite_who who);
/* flags: 1 truncated. */
void assay_perfwrite_aux(struct assay_perfwrite *w, struct assay_perfwrite_who who, uint64_t offset, uint64_t size,
                         uint64_t flags);
void assay_perfwrite_finished_round(struct assay_perfwrite *w);
/* A per-thread stream: `size` trace bytes from fd at fd_offset on, in one record. reference: TSC at the end. */
void assay_perfwrite_auxtrace(struct assay_perfwrite *w, uint32_t idx, uint32_t tid, uint64_t reference, int fd,
                              uint64_t fd_offset, uint64_t size);

/* Feature sections, in any order; the bytes are copied. */
void assay_perfwrite_feature(struct assay_perfwrite *w, unsigned feature, const void *bytes, size_t size);
void assay_perfwrite_feature_string(struct assay_perfwrite *w, unsigned feature, const char *s);
void assay_perfwrite_feature_strings(struct assay_perfwrite *w, unsigned feature,
                                     char *const *s); /* CMDLINE; NULL ends */

/* The same string as a record among the others: known even where the end of the file is lost. */
void assay_perfwrite_feature_record(struct assay_perfwrite *w, unsigned feature, const char *s);

/* A jitdump file, for ASSAY_PERF_FEAT_JITDUMP (source: tools/perf/Documentation/jitdump-specification.txt). */
void assay_perfwrite_code(struct assay_perfwrite *w, struct assay_perfwrite_who who, uint64_t addr,
                          const uint8_t *bytes, size_t size, unsigned mode);

#ifdef __cplusplus
}
#endif
#endif
