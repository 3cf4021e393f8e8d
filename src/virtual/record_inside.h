/* SPDX-License-Identifier: MIT */
/* Inside of the recorder: what its files share. */
#ifndef ASSAY_VIRTUAL_RECORD_INSIDE_H
#define ASSAY_VIRTUAL_RECORD_INSIDE_H

#include <assay/record.h>

#include "spool.h"

/* A program as it is started: by what emulator, what file, which arguments. */
struct record_program {
    char *file;       /* path of the ELF file that runs */
    char **argv;      /* its arguments, argv[0] first; owned */
    unsigned mode;    /* 64 or 32 */
    const char *qemu; /* name of the emulator */
};
int record_program_find(char *const *argv, struct record_program *p, struct assay_error *e);
void record_program_free(struct record_program *p);
/* Path of an executable by name, searched in $PATH when it has no slash; NULL with errno. */
char *record_find_executable(const char *name);
/* The plugin's path by the rules of struct assay_record_options; NULL after *e was set. */
char *record_find_plugin(const char *given, struct assay_error *e);

/* The build id of an ELF file (malloc'd), NULL when it has none. */
uint8_t *record_build_id(const char *path, unsigned *size);

struct assay_record {
    struct record_program program;
    char *plugin, *emulator;
    char *spool;
    char version[64];
    pid_t pid;
    struct assay_spool_setup *setup; /* shared with the plugin */
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
int record_open_spool(const struct assay_record *r, const char *name, unsigned number, int flags);

#endif
