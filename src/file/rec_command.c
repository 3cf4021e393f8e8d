/* SPDX-License-Identifier: MIT */
/* The command line that was recorded. */
#include "rec_priv.h"

#include <assay/cursor.h>

#include <string.h>

/* The feature holds a count, then each word as u32 length and bytes padded with NUL. */
const char *assay_rec_command(struct assay_perf *f, struct rec_texts **texts)
{
    size_t size = 0;
    const uint8_t *p = assay_perf_feature(f, ASSAY_PERF_FEAT_CMDLINE, &size);
    if (!p || size < 4)
        return NULL;
    bool big = assay_perf_big_endian(f);
    struct assay_rd r = assay_rd_of(p, size);
    uint32_t words = big ? assay_rd_be32(&r) : assay_rd_le32(&r);
    char *line = malloc(size + 1);
    size_t at = 0;
    for (uint32_t i = 0; line && i < words; i++) {
        uint32_t length = big ? assay_rd_be32(&r) : assay_rd_le32(&r);
        const uint8_t *word = assay_rd_bytes(&r, length);
        if (!word)
            break;
        size_t n = strnlen((const char *)word, length);
        if (at)
            line[at++] = ' ';
        memcpy(line + at, word, n); /* fits: every word came with four bytes of length */
        at += n;
    }
    const char *copy = line ? assay_rec_text(texts, line, at) : NULL;
    free(line);
    return copy;
}
