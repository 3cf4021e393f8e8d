/* SPDX-License-Identifier: MIT */
/* The insides of the perf.data reader, shared by its files. */
#ifndef ASSAY_FILE_PERF_PRIV_H
#define ASSAY_FILE_PERF_PRIV_H

#include <assay/cursor.h>
#include <assay/perfdata.h>

#include "base/table.h"
#include "source.h"

#include <stdlib.h>
#include <zstd.h>

enum {
    PERF_HEADER = 8,         /* of every record: u32 type, u16 misc, u16 size */
    PERF_MAX_RECORD = 65535, /* header included */
    PERF_TYPES = 256,        /* counted one by one; see assay_perf_count */
    PERF_FEATURES = 256,
    PERF_WINDOW = 256 << 10,
    PERF_COMPRESSED2 = 83, /* as COMPRESSED, with the true size in front and padding behind (Linux 6.16) */
};

enum perf_sample { /* attr.sample_type, the bits that place other fields */
                   PERF_S_IP = 1 << 0,
                   PERF_S_TID = 1 << 1,
                   PERF_S_TIME = 1 << 2,
                   PERF_S_ADDR = 1 << 3,
                   PERF_S_ID = 1 << 6,
                   PERF_S_CPU = 1 << 7,
                   PERF_S_STREAM_ID = 1 << 9,
                   PERF_S_IDENTIFIER = 1 << 16,
};

struct perf_section {
    uint64_t offset, size;
};

/* One event of the recording. */
struct perf_attr {
    uint8_t *raw; /* as in the file, also fields that this reader does not know */
    uint32_t raw_size, type;
    uint64_t config, sample_type;
    bool sample_id_all, exclude_user, exclude_kernel;
};

struct perf_id { /* which event an id of a sample belongs to */
    uint64_t id;
    uint32_t attr;
};

struct perf_events {
    struct perf_attr *attr;
    size_t attrs, attr_cap;
    struct perf_id *id;
    size_t ids, id_cap;
    bool sorted; /* id[] by id */
    bool mixed;  /* the events differ in sample_type: the id decides */
};

/* zstd state: COMPRESSED records are pieces of one stream, and records straddle the pieces. */
struct perf_inflate {
    ZSTD_DStream *stream;
    ZSTD_inBuffer in; /* rest of the present piece, inside the window */
    bool full;        /* the last call filled the output: zstd may hold more */
    bool lost;        /* the stream broke: nothing decodes until a new frame begins */
    bool seek;        /* look for a sound record first */
    uint8_t *out;     /* PERF_INFLATE bytes; [at, len) is decompressed and not yet taken */
    size_t at, len;
    uint64_t offset, size;  /* of the present piece in the file, size 0 when it is accounted for */
    enum assay_skip reason; /* of `bad` */
    bool bad;               /* something in the present piece could not be used */
};

struct assay_perf {
    struct file_source src;
    bool big;
    bool open_ended;         /* where the data should end is not known, or is past the end of the file */
    const char *end_fault;   /* to be told at the end of the data */
    bool unaligned;          /* a record of odd size was seen: records need not begin at multiples of 8 */
    uint64_t data, end, pos; /* the data section, and where the next record is */
    uint8_t *window;         /* file bytes [window_at, window_at + window_len) */
    uint64_t window_at;
    size_t window_len;
    struct perf_events events;
    struct perf_inflate inflate;
    struct perf_section section[PERF_FEATURES]; /* of header features, file form */
    uint8_t *feature[PERF_FEATURES];            /* those read so far */
    size_t feature_size[PERF_FEATURES];
    char *feature_text[PERF_FEATURES];
    struct assay_perf_pt_info pt;
    struct assay_diag diag;
    bool pending; /* diag was set at opening and has not been told yet */
    struct assay_ledger ledger;
    uint64_t count[PERF_TYPES]; /* [0]: unknown types */
};

/* ---- numbers in the file's byte order ---- */

static inline uint64_t perf_load(bool big, const uint8_t *p, unsigned n)
{
    return big ? assay_load_be(p, n) : assay_load_le(p, n);
}

struct perf_rd {
    struct assay_rd r;
    bool big;
};
static inline uint64_t perf_rd(struct perf_rd *r, unsigned n)
{
    return r->big ? assay_rd_be(&r->r, n) : assay_rd_le(&r->r, n);
}
static inline uint32_t perf_rd32(struct perf_rd *r) { return (uint32_t)perf_rd(r, 4); }
static inline uint64_t perf_rd64(struct perf_rd *r) { return perf_rd(r, 8); }

/* ---- perf_header.c ---- */
int assay_pf_read_header(struct assay_perf *f, const char *name, struct assay_error *e);

/* ---- perf_attr.c ---- */
/* Reads the attr section {offset, size} of entries of entry_size bytes; damage goes to f->diag. ASSAY_E_MEMORY or 0. */
int assay_pf_read_attrs(struct assay_perf *f, struct perf_section attrs, uint64_t entry_size);
/* The same from a HEADER_ATTR record's body. */
int assay_pf_add_attr_record(struct assay_perf *f, const uint8_t *body, uint32_t size);
/* The event whose sample_type describes a record, NULL when the file has none. */
const struct perf_attr *assay_pf_event_of_sample(struct assay_perf *f, const uint8_t *body, uint32_t size);
const struct perf_attr *assay_pf_event_of_other(struct assay_perf *f, const uint8_t *body, uint32_t size);
void assay_pf_free_events(struct perf_events *ev);

/* ---- perf_feature.c ---- */
/* A HEADER_FEATURE record of the pipe form. ASSAY_E_MEMORY or 0. */
int assay_pf_add_feature_record(struct assay_perf *f, const uint8_t *body, uint32_t size);
void assay_pf_free_features(struct assay_perf *f);

/* ---- perf_parse.c ---- */
/* What of the type is known: fixed bytes of the body, and whether a sample_id follows. */
struct perf_type_info {
    bool known, kernel;
    uint16_t fixed;
};
struct perf_type_info assay_pf_type(uint32_t type);
/* Bytes that follow the record outside of its size (AUXTRACE, TRACING_DATA). */
uint64_t assay_pf_trailing(bool big, uint32_t type, const uint8_t *body, uint32_t size);
/* Fills r from the framed record (type, misc, body, size are set); what is absent stays 0. 0, or a data error with f->diag. */
int assay_pf_parse(struct assay_perf *f, struct assay_perf_record *r);

/* ---- perf_pt.c ---- */
void assay_pf_take_auxtrace_info(struct assay_perf *f, const uint8_t *body, uint32_t size);
void assay_pf_take_time_conv(struct assay_perf *f, uint64_t shift, uint64_t mult, uint64_t zero);
void assay_pf_find_pt_event(struct assay_perf *f);

/* ---- perf_resync.c ---- */
struct perf_span {
    bool big, open_ended; /* open_ended: the last record may be cut */
    const uint8_t *p;
    size_t n;      /* bytes visible at p */
    uint64_t left; /* bytes from p to the end of the data, >= n */
};
/* The first offset below limit, in steps, where sound records begin; limit when there is none. */
size_t assay_pf_find_sound(const struct perf_span *s, size_t limit, unsigned step);
/* Could a header be one of a record? Unknown types are welcome, nonsense is not. */
bool assay_pf_plausible(uint32_t type, uint32_t size);

/* ---- perf_window.c ---- */
/* The window moved so that it holds file bytes from `at` on: the number there (less than want only at the end of the file
 * or data), *p their place, valid until the next call. < 0: ASSAY_E_SYSTEM. */
int64_t assay_pf_peek(struct assay_perf *f, uint64_t at, size_t want, const uint8_t **p);

/* ---- perf_inflate.c ---- */
int assay_pf_inflate_begin(struct assay_perf *f, const struct assay_perf_record *compressed);
/* The next record of the decompressed data, framed: 1, 0 when more input is needed, or < 0. */
int assay_pf_inflate_next(struct assay_perf *f, struct assay_perf_record *r);
/* No more input comes. 0, or ASSAY_E_TRUNCATED when a record is cut. */
int assay_pf_inflate_end(struct assay_perf *f);
/* Accounts for the present piece. */
void assay_pf_inflate_settle(struct assay_perf *f);
void assay_pf_inflate_free(struct perf_inflate *z);

/* ---- perf.c ---- */
int assay_pf_fault(struct assay_perf *f, int code, uint64_t offset, const char *what, const char *expected);

#endif
