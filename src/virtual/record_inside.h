/* SPDX-License-Identifier: MIT */
/* Inside of the recorder: what its files share. */
#ifndef ASSAY_VIRTUAL_RECORD_INSIDE_H
#define ASSAY_VIRTUAL_RECORD_INSIDE_H

#include <assay/record.h>

#include "run.h"

/* The build id of an ELF file (malloc'd), NULL when it has none. */
uint8_t *record_build_id(const char *path, unsigned *size);

struct assay_record {
    struct virtual_run run;
    struct assay_perf_pt_info pt;
    struct assay_record_event *event;
    size_t events, event_room;
    struct assay_record_stream *stream;
    size_t streams, stream_room;
    uint8_t *raw; /* the events file; events point into it */
    size_t raw_size;
    struct build_id_of { /* of each path */
        const char *path;
        uint8_t *id;
        unsigned size;
    } * build_id;
    size_t build_ids, build_id_room;
};

#endif
