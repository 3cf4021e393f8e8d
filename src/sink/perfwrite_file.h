/* SPDX-License-Identifier: MIT */
/* Inside of the perf.data writer: a growing byte buffer, and an output file that gets its name at the end. */
#ifndef ASSAY_SINK_PERFWRITE_FILE_H
#define ASSAY_SINK_PERFWRITE_FILE_H

#include <assay/base.h>

struct bytes {
    uint8_t *data;
    size_t size, room;
    bool failed; /* out of memory; what was put since is missing */
};
void bytes_put(struct bytes *b, const void *data, size_t size);
void bytes_le(struct bytes *b, uint64_t v, unsigned n);
void bytes_zero(struct bytes *b, size_t n);
void bytes_text(struct bytes *b, const char *s, size_t align); /* with its NUL, padded */

struct file {
    int fd;
    uint64_t at;            /* where the next byte goes */
    char *path, *temporary; /* temporary NULL: written in place */
    bool replace;
    struct bytes pending;
    struct assay_error error; /* the first one; code 0: none */
};
int file_open(struct file *f, const char *path, bool replace, struct assay_error *e);
void file_put(struct file *f, const void *data, size_t size);
void file_copy(struct file *f, int fd, uint64_t offset, uint64_t size);
void file_put_at(struct file *f, uint64_t offset, const void *data, size_t size);
int file_finish(struct file *f, struct assay_error *e);
void file_free(struct file *f);

#endif
