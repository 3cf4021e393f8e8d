/* SPDX-License-Identifier: MIT */
/* An input file that can be read anywhere: a regular file, or what came through a pipe, kept in an unlinked file. */
#ifndef ASSAY_FILE_SOURCE_H
#define ASSAY_FILE_SOURCE_H

#include <assay/base.h>

struct file_source {
    int fd;
    uint64_t size;
};

/* path "-" is stdin. Anything that is no regular file is read to its end into an unlinked file in $TMPDIR (or /tmp).
 * An empty input is ASSAY_E_NOT_RECOGNISED. */
int assay_source_open(const char *path, struct file_source *out, struct assay_error *e);
void assay_source_close(struct file_source *s);
/* Reads all of [at, at + n) that the file has: the number of bytes, or ASSAY_E_SYSTEM. Any thread. */
int64_t assay_source_read(const struct file_source *s, uint64_t at, void *buf, size_t n);

/* What a file that begins like this seems to be ("a gzip file"), for error messages; NULL when nothing comes to mind. */
const char *assay_source_guess(const uint8_t *head, size_t n);

#endif
