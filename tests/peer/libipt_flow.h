/* SPDX-License-Identifier: MIT */
/* The flow of a trace by libipt's block decoder, from files mapped at addresses. Shared by the peer test and the benchmark. */
#ifndef ASSAY_TESTS_PEER_LIBIPT_FLOW_H
#define ASSAY_TESTS_PEER_LIBIPT_FLOW_H

#include <assay/assay.h>

#include <intel-pt.h>
#include <string.h>

struct ipt_piece {
    const char *path;
    uint64_t offset, size, addr;
};

struct ipt_flow {
    uint64_t insns, blocks, errors;
    struct assay_flow_digest digest; /* with `view`: instruction by instruction */
};

/* A block is told by its first address and its number of instructions; direct branches lie inside. */
static inline void ipt_add_block(struct assay_flow_digest *d, struct assay_view *view, const struct pt_block *b)
{
    uint64_t ip = b->ip;
    for (unsigned i = 0; i < b->ninsn; i++) {
        uint8_t code[16];
        struct assay_insn insn;
        size_t n = assay_view_read(view, ip, code, sizeof code);
        d->chk = d->chk * 31 + ip;
        d->insns++;
        if (assay_x86_classify(code, n, b->mode == ptem_64bit ? 64 : 32, ip, &insn) < 0)
            return;
        ip = insn.kind == ASSAY_INSN_JMP || insn.kind == ASSAY_INSN_CALL ? insn.target : ip + insn.size;
    }
}

static inline int ipt_events(struct pt_block_decoder *d, int status)
{
    while (status >= 0 && status & pts_event_pending) {
        struct pt_event event;
        status = pt_blk_event(d, &event, sizeof event);
    }
    return status;
}

static inline void ipt_blocks(struct pt_block_decoder *d, struct assay_view *view, struct ipt_flow *out)
{
    for (int status; (status = pt_blk_sync_forward(d)) >= 0;) {
        while ((status = ipt_events(d, status)) >= 0 && !(status & pts_eos)) {
            struct pt_block b = {0};
            status = pt_blk_next(d, &b, sizeof b);
            out->insns += b.ninsn;
            out->blocks++;
            if (view)
                ipt_add_block(&out->digest, view, &b);
        }
        if (status >= 0 || status == -pte_eos)
            return;
        out->errors++;
    }
}

/* 0, or -1 when libipt refuses. */
static inline int ipt_decode(const uint8_t *trace, size_t size, const struct ipt_piece *piece, size_t pieces,
                             struct assay_view *view, struct ipt_flow *out)
{
    struct pt_config config;
    uint8_t *begin;
    memcpy(&begin, &trace, sizeof begin);
    pt_config_init(&config);
    config.begin = begin;
    config.end = begin + size;
    struct pt_block_decoder *d = pt_blk_alloc_decoder(&config);
    if (!d)
        return -1;
    int status = 0;
    for (size_t i = 0; i < pieces && status >= 0; i++)
        status =
            pt_image_add_file(pt_blk_get_image(d), piece[i].path, piece[i].offset, piece[i].size, NULL, piece[i].addr);
    if (status >= 0)
        ipt_blocks(d, view, out);
    pt_blk_free_decoder(d);
    return status < 0 ? -1 : 0;
}

#endif
