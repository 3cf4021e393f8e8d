/* SPDX-License-Identifier: MIT */
/* A Processor Trace recording as a whole: its streams, its images, and the flow of each stream. */
#ifndef ASSAY_RECORDING_H
#define ASSAY_RECORDING_H

#include <assay/flow.h>
#include <assay/image.h>
#include <assay/perfdata.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_pt_extent { /* consecutive pieces of one stream */
    uint64_t data;       /* for assay_perf_read */
    uint64_t size;
    uint64_t offset;    /* in the AUX stream; a jump against the piece before is a loss */
    uint64_t reference; /* TSC when read */
};
struct assay_pt_task { /* who ran on the stream from `time` on */
    uint64_t time;     /* ns; 0 = from the start */
    uint32_t pid, tid; /* (uint32_t)-1 when not known; pid 0 tid 0 idle */
};
struct assay_pt_lost { /* an AUX record with flags: data lost or doubtful at aux offset */
    uint64_t offset, flags, time;
};
struct assay_pt_stream {
    uint32_t idx, cpu, tid; /* cpu == (uint32_t)-1: per-thread stream */
    const struct assay_pt_extent *extent;
    size_t extents;
    const struct assay_pt_task *task; /* at least one, sorted by time */
    size_t tasks;
    const struct assay_pt_lost *lost;
    size_t losts;
    uint64_t size; /* bytes in all extents */
};
struct assay_pt_recording;
/* Reads all records once: builds streams and the sealed image (mmaps, comms, forks, embedded jitdump). */
int assay_pt_recording_open(const char *path, struct assay_pt_recording **out, struct assay_error *e);
void assay_pt_recording_close(struct assay_pt_recording *rec);
const struct assay_perf *assay_pt_recording_file(const struct assay_pt_recording *rec);
struct assay_image *assay_pt_recording_image(const struct assay_pt_recording *rec);
size_t assay_pt_recording_streams(const struct assay_pt_recording *rec);
const struct assay_pt_stream *assay_pt_recording_stream(const struct assay_pt_recording *rec, size_t n);
/* Bytes [position, position+size) of a stream, counted over its extents as if they were one; the number read. */
int64_t assay_pt_stream_read(const struct assay_pt_recording *rec, const struct assay_pt_stream *s, uint64_t position,
                             void *buf, size_t size);
/* The command name of a thread at a time; "" when not known. */
const char *assay_pt_recording_comm(const struct assay_pt_recording *rec, uint32_t tid, uint64_t time);
const struct assay_perf_pt_info *assay_pt_recording_info(const struct assay_pt_recording *rec);
/* Faults of the file itself: where it is cut or contradicts itself. How many; the n-th, with offset in the file and constant text (at
 * most ASSAY_RECORDING_FAULTS are kept), NULL past the last. */
enum { ASSAY_RECORDING_FAULTS = 8 };
uint64_t assay_pt_recording_faults(const struct assay_pt_recording *rec);
const struct assay_diag *assay_pt_recording_fault(const struct assay_pt_recording *rec, size_t n);
/* Records that the kernel dropped while recording: maps and switches may be among them. */
uint64_t assay_pt_recording_dropped(const struct assay_pt_recording *rec);
/* The command line that was recorded, words joined by spaces; NULL when the file does not tell. */
const char *assay_pt_recording_command(const struct assay_pt_recording *rec);
/* Text of ASSAY_PERF_FEAT_VIRTUAL, NULL for a recording of real hardware. Of a virtual recording that was cut before that text, the
 * mark that stands with the first records is known: "virtual=1\n". */
const char *assay_pt_recording_virtual(const struct assay_pt_recording *rec);
/* The processor: family, model, stepping from CPUID "GenuineIntel,6,158,10"; all 0 when not known. */
void assay_pt_recording_cpu(const struct assay_pt_recording *rec, unsigned *family, unsigned *model,
                            unsigned *stepping);

/* A raw trace (one stream) with images given by hand. An image piece maps file bytes [offset, offset + size) at addr;
 * size 0: to the end of the file. The recording answers like one from perf.data, with pid and tid 0. */
struct assay_raw_image {
    const char *path;
    uint64_t addr, offset, size;
};
struct assay_raw_options {
    const struct assay_raw_image *image;
    size_t images;
    unsigned family, model, stepping;
    unsigned mode; /* 16, 32, 64; 0 = 64 */
    unsigned mtc_freq, max_ratio;
    uint32_t tsc_ctc_n, tsc_ctc_d;
};
int assay_pt_recording_open_raw(const char *path, const struct assay_raw_options *o, struct assay_pt_recording **out,
                                struct assay_error *e);

/* Decodes one stream from beginning to end: views, task switches, windows, losses. Memory is bounded by the window and the run
 * tables, not by the trace. Several streams may run in several threads, each with its own call. */
int assay_pt_recording_flow(const struct assay_pt_recording *rec, const struct assay_pt_stream *s,
                            assay_flow_batch_fn *on_batch, void *ctx, struct assay_ledger *ledger,
                            struct assay_error *e);

#ifdef __cplusplus
}
#endif
#endif
