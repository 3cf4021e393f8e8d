/* SPDX-License-Identifier: MIT */
/* Header features: sections at the end of the file form, HEADER_FEATURE records of the pipe form. */
#include "perf_priv.h"

#include <string.h>

static int keep_feature(struct assay_perf *f, unsigned feature, uint8_t *bytes, size_t size)
{
    free(f->feature[feature]);
    free(f->feature_text[feature]);
    f->feature_text[feature] = NULL;
    f->feature[feature] = bytes;
    f->feature_size[feature] = size;
    return ASSAY_OK;
}

int assay_pf_add_feature_record(struct assay_perf *f, const uint8_t *body, uint32_t size)
{
    uint64_t feature = perf_load(f->big, body, 8);
    if (feature >= PERF_FEATURES)
        return ASSAY_OK;
    size_t n = size - 8;
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        return ASSAY_E_MEMORY;
    memcpy(copy, body + 8, n);
    return keep_feature(f, (unsigned)feature, copy, n);
}

/* Reads the section on first use. */
static void load_section(struct assay_perf *f, unsigned feature)
{
    struct perf_section s = f->section[feature];
    if (f->feature[feature] || s.size == 0 || s.offset > f->src.size || s.size > f->src.size - s.offset)
        return;
    uint8_t *bytes = malloc((size_t)s.size);
    if (!bytes)
        return;
    if (assay_source_read(&f->src, s.offset, bytes, (size_t)s.size) == (int64_t)s.size)
        keep_feature(f, feature, bytes, (size_t)s.size);
    else
        free(bytes);
}

const uint8_t *assay_perf_feature(struct assay_perf *f, unsigned feature, size_t *size)
{
    if (feature >= PERF_FEATURES)
        return NULL;
    load_section(f, feature);
    *size = f->feature_size[feature];
    return f->feature[feature];
}

/* perf writes a string as u32 length, then so many bytes padded with NUL. ASSAY_PERF_FEAT_VIRTUAL is bare text. */
const char *assay_perf_feature_string(struct assay_perf *f, unsigned feature)
{
    size_t size = 0;
    const uint8_t *p = assay_perf_feature(f, feature, &size);
    if (!p || f->feature_text[feature])
        return p ? f->feature_text[feature] : NULL;
    size_t length = size;
    if (feature != ASSAY_PERF_FEAT_VIRTUAL) {
        if (size < 4)
            return NULL;
        length = (size_t)perf_load(f->big, p, 4);
        p += 4;
        if (length > size - 4)
            return NULL;
    }
    return f->feature_text[feature] = strndup((const char *)p, length);
}

void assay_pf_free_features(struct assay_perf *f)
{
    for (unsigned i = 0; i < PERF_FEATURES; i++) {
        free(f->feature[i]);
        free(f->feature_text[i]);
    }
}
