/* SPDX-License-Identifier: MIT */
/* Where the oracle gets bytes from: the streams of a recording, and code as it was in memory when. */
#ifndef STREAMS_H
#define STREAMS_H

#include "oracle.h"

#include <assay/recording.h>

struct streams_request {
    const char *file; /* a perf.data, or */
    const char *raw;  /* raw trace with images given by hand */
    struct assay_raw_image image[16];
    size_t images;
    unsigned mode; /* of the raw trace */
};

/* FILE@ADDRESS[:OFFSET:LENGTH]; false when it is none. Keeps a copy of the name. */
bool streams_add_image(struct streams_request *r, const char *word);

/* NULL after a message on stderr. */
struct assay_pt_recording *streams_open(const struct streams_request *r);
/* Decodes the n-th stream. */
void streams_decode(const struct assay_pt_recording *rec, size_t n, unsigned mode, const struct findings *find);

#endif
