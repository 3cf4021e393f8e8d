/* SPDX-License-Identifier: MIT */
/* The insides of a Processor Trace recording, shared by its files. */
#ifndef ASSAY_FILE_REC_PRIV_H
#define ASSAY_FILE_REC_PRIV_H

#include <assay/recording.h>

#include "base/table.h"
#include "source.h"

#include <stdlib.h>

#define REC_NOBODY UINT32_MAX /* a pid, tid or cpu that is not known */

/* ---- what the records said, in file order ---- */

struct rec_piece { /* AUXTRACE */
    uint32_t idx, cpu, tid;
    struct assay_pt_extent extent;
};

struct rec_mark { /* ITRACE_START, SWITCH, SWITCH_CPU_WIDE: who runs on a cpu from a time on */
    uint64_t time;
    uint32_t cpu, pid, tid;
    uint32_t seq; /* file order */
};

struct rec_loss { /* AUX with flags */
    struct assay_pt_lost lost;
    uint32_t cpu, tid;
};

enum rec_change_kind { REC_MAP, REC_FORK, REC_EXEC };
struct rec_change { /* of an address space */
    uint64_t time, addr, size, pgoff;
    const char *path;
    uint32_t pid, parent;
    uint8_t kind; /* enum rec_change_kind */
    uint8_t build_id_size, build_id[20];
};

struct rec_comm { /* COMM, or FORK with name NULL: as `parent` was called */
    uint64_t time;
    const char *name;
    uint32_t tid, parent;
    uint32_t seq;
};

struct rec_build_id { /* HEADER_BUILD_ID or the feature: of binaries whose maps do not tell */
    const char *path;
    uint8_t size, id[20];
};

struct rec_texts; /* copies of texts, freed together */
struct rec_collected {
    struct rec_piece *piece;
    struct rec_mark *mark;
    struct rec_loss *loss;
    struct rec_change *change;
    struct rec_comm *comm;
    struct rec_build_id *build_id;
    size_t pieces, piece_room, marks, mark_room, losses, loss_room, changes, change_room, comms, comm_room, build_ids,
        build_id_room;
    struct assay_diag fault[ASSAY_RECORDING_FAULTS];
    uint64_t faults, dropped;
    struct table_map cpu_of_id;  /* ID_INDEX: sample id to cpu */
    struct table_map pid_of_tid; /* the last that was told */
};

/* ---- the recording ---- */

struct rec_stream {
    struct assay_pt_stream pub; /* first: what users hold is a pointer to it */
    const uint64_t *start;      /* of each extent in the stream, counted over the extents */
    uint64_t overlap;           /* bytes of extents that repeat earlier ones */
};

struct assay_pt_recording {
    struct assay_perf *file; /* NULL for a raw trace */
    struct file_source raw;
    struct assay_image *image;
    struct rec_stream *stream;
    size_t streams;
    struct assay_pt_extent *extent; /* of all streams, as are the next three */
    uint64_t *start;
    struct assay_pt_task *task;
    struct assay_pt_lost *lost;
    struct rec_comm *comm; /* by tid and time */
    size_t comms;
    struct rec_texts *texts;
    struct assay_perf_pt_info info;
    unsigned family, model, stepping, mode;
    const char *virtual_text, *command;
    struct assay_diag fault[ASSAY_RECORDING_FAULTS];
    uint64_t faults, dropped;
};

/* rec_collect.c: reads all records. ASSAY_OK, ASSAY_E_MEMORY, ASSAY_E_SYSTEM. */
int assay_rec_collect(struct assay_perf *f, struct rec_collected *c, struct rec_texts **texts);
void assay_rec_collected_free(struct rec_collected *c);
const char *assay_rec_text(struct rec_texts **texts, const char *s, size_t n); /* NULL: no memory */
void assay_rec_texts_free(struct rec_texts *t);
/* What the map has for key, or otherwise. */
uint32_t assay_rec_find(const struct table_map *m, uint64_t key, uint32_t otherwise);

/* rec_command.c: the words joined by spaces; NULL when not recorded, or no memory. */
const char *assay_rec_command(struct assay_perf *f, struct rec_texts **texts);

/* rec_build_id.c: the body of a HEADER_BUILD_ID record (at least 28 bytes), and a feature section, which is a list of them. */
int assay_rec_add_build_id(struct rec_collected *c, struct rec_texts **texts, unsigned misc, const uint8_t *body,
                           size_t n);
int assay_rec_add_build_ids(struct rec_collected *c, struct rec_texts **texts, bool big, const uint8_t *p, size_t n);
/* Sorts what was added; then finds by path, NULL when there is none. */
void assay_rec_sort_build_ids(struct rec_collected *c);
const struct rec_build_id *assay_rec_build_id_of(const struct rec_collected *c, const char *path);

/* rec_streams.c, rec_image.c, rec_comm.c: what was collected, put in order. ASSAY_OK or ASSAY_E_MEMORY (or the image's). */
int assay_rec_make_streams(struct assay_pt_recording *rec, struct rec_collected *c);
int assay_rec_make_image(struct assay_pt_recording *rec, struct rec_collected *c);
int assay_rec_make_comms(struct assay_pt_recording *rec, struct rec_collected *c);

#endif
