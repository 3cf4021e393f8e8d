/* SPDX-License-Identifier: MIT */
/* COMPRESSED records: one zstd stream in pieces, records inside it that straddle the pieces. */
#include "perf_priv.h"

#include <string.h>

enum { OUT = 256 << 10 }; /* more than the largest record, so that there is always room to go on */

static const uint8_t zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};

static void piece_is_bad(struct perf_inflate *z, enum assay_skip reason)
{
    z->bad = true;
    z->reason = reason;
}

void assay_pf_inflate_settle(struct assay_perf *f)
{
    struct perf_inflate *z = &f->inflate;
    f->ledger.unread -= z->size;
    *(z->bad ? &f->ledger.skipped[z->reason] : &f->ledger.decoded) += z->size;
    z->size = 0;
    z->bad = false;
}

static int prepare_stream(struct assay_perf *f)
{
    struct perf_inflate *z = &f->inflate;
    if (!z->stream)
        z->stream = ZSTD_createDStream();
    if (!z->out)
        z->out = malloc(OUT);
    if (!z->stream || !z->out)
        return assay_pf_fault(f, ASSAY_E_MEMORY, z->offset, "no memory to decompress", NULL);
    return ASSAY_OK;
}

/* The zstd bytes of a record. */
static ZSTD_inBuffer piece_of(const struct assay_perf *f, const struct assay_perf_record *r)
{
    if (r->type == ASSAY_PERF_COMPRESSED)
        return (ZSTD_inBuffer){r->body, r->size, 0};
    uint64_t size = perf_load(f->big, r->body, 8);
    return (ZSTD_inBuffer){r->body + 8, size < r->size - 8 ? (size_t)size : r->size - 8, 0};
}

int assay_pf_inflate_begin(struct assay_perf *f, const struct assay_perf_record *r)
{
    struct perf_inflate *z = &f->inflate;
    assay_pf_inflate_settle(f);
    z->offset = r->offset;
    z->size = PERF_HEADER + r->size;
    int rc = prepare_stream(f);
    if (rc < 0)
        return rc;
    z->in = piece_of(f, r);
    z->full = false;
    if (z->lost && z->in.size >= sizeof zstd_magic && memcmp(z->in.src, zstd_magic, sizeof zstd_magic) == 0)
        z->lost = false;
    if (z->lost) {
        z->in.pos = z->in.size;
        piece_is_bad(z, ASSAY_SKIP_DAMAGED);
    }
    return ASSAY_OK;
}

static int stream_broke(struct assay_perf *f)
{
    struct perf_inflate *z = &f->inflate;
    ZSTD_DCtx_reset(z->stream, ZSTD_reset_session_only);
    z->lost = z->seek = true;
    z->full = false;
    z->at = z->len = 0;
    z->in.pos = z->in.size;
    piece_is_bad(z, ASSAY_SKIP_DAMAGED);
    return assay_pf_fault(f, ASSAY_E_BAD_FORMAT, z->offset, "damaged zstd data; compressed records after it are lost",
                          NULL);
}

/* Decompresses as much as there is room for. 1 when something came, 0 when the piece is at its end, or < 0. */
static int inflate_some(struct assay_perf *f)
{
    struct perf_inflate *z = &f->inflate;
    if (z->in.pos == z->in.size && !z->full)
        return 0;
    if (z->at > 0)
        memmove(z->out, z->out + z->at, z->len - z->at);
    z->len -= z->at;
    z->at = 0;
    ZSTD_outBuffer out = {z->out, OUT, z->len};
    size_t consumed = z->in.pos;
    if (ZSTD_isError(ZSTD_decompressStream(z->stream, &out, &z->in)))
        return stream_broke(f);
    bool moved = out.pos > z->len || z->in.pos > consumed;
    z->len = out.pos;
    z->full = out.pos == OUT;
    return moved;
}

static int record_fault(struct assay_perf *f, const char *what, const char *expected)
{
    piece_is_bad(&f->inflate, ASSAY_SKIP_DAMAGED);
    return assay_pf_fault(f, ASSAY_E_BAD_FORMAT, f->inflate.offset, what, expected);
}

/* After damage: goes to the next sound record, or drops what there is. */
static void seek_record(struct assay_perf *f)
{
    struct perf_inflate *z = &f->inflate;
    struct perf_span s = {f->big, true, z->out + z->at, z->len - z->at, z->len - z->at};
    z->at += assay_pf_find_sound(&s, s.n, 1);
    z->seek = z->at == z->len;
}

/* The next record that is whole: 1, 0 when there is none, or < 0. */
static int take_record(struct assay_perf *f, struct assay_perf_record *r)
{
    struct perf_inflate *z = &f->inflate;
    if (z->seek)
        seek_record(f);
    if (z->len - z->at < PERF_HEADER)
        return 0;
    const uint8_t *p = z->out + z->at;
    uint32_t type = (uint32_t)perf_load(f->big, p, 4), size = (uint32_t)perf_load(f->big, p + 6, 2);
    if (!assay_pf_plausible(type, size)) {
        z->at++;
        z->seek = true;
        return record_fault(f, "no record header in decompressed data", "a type and a size of at least 8");
    }
    if (z->len - z->at < size)
        return 0;
    z->at += size;
    if (type == ASSAY_PERF_COMPRESSED || type == PERF_COMPRESSED2 || type == ASSAY_PERF_AUXTRACE ||
        type == ASSAY_PERF_HEADER_TRACING_DATA)
        return record_fault(f, "a record of this type cannot be inside compressed data", NULL);
    r->offset = z->offset;
    r->type = type;
    r->misc = (uint16_t)perf_load(f->big, p + 4, 2);
    r->body = p + PERF_HEADER;
    r->size = size - PERF_HEADER;
    return 1;
}

int assay_pf_inflate_next(struct assay_perf *f, struct assay_perf_record *r)
{
    for (;;) {
        int got = take_record(f, r);
        if (got != 0)
            return got;
        got = inflate_some(f);
        if (got <= 0)
            return got;
    }
}

int assay_pf_inflate_end(struct assay_perf *f)
{
    struct perf_inflate *z = &f->inflate;
    bool cut = z->len > z->at && !z->seek;
    z->at = z->len = 0;
    if (cut)
        piece_is_bad(z, ASSAY_SKIP_TRUNCATED);
    assay_pf_inflate_settle(f);
    return cut ? assay_pf_fault(f, ASSAY_E_TRUNCATED, z->offset, "the compressed data ends inside a record", NULL) : 0;
}

void assay_pf_inflate_free(struct perf_inflate *z)
{
    ZSTD_freeDStream(z->stream);
    free(z->out);
}
