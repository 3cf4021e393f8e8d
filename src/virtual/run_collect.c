/* SPDX-License-Identifier: MIT */
/* What a run left in the spool: its events, and the heads of its streams. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int run_read_events(const struct virtual_run *r, uint8_t **raw, size_t *size, struct assay_error *e)
{
    struct stat st;
    int fd = run_open_file(r, "events", (unsigned)-1, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0 || !(*raw = malloc((size_t)st.st_size + 1)) ||
        (*size = (size_t)read(fd, *raw, (size_t)st.st_size)) != (size_t)st.st_size) {
        int sys = errno;
        if (fd >= 0)
            close(fd);
        return assay_error_sys(e, sys, "%s/events: cannot read", r->spool);
    }
    close(fd);
    return ASSAY_OK;
}

const uint8_t *run_next_event(const uint8_t *raw, size_t size, size_t *at, struct assay_spool_event *out)
{
    if (size - *at < sizeof *out)
        return NULL;
    memcpy(out, raw + *at, sizeof *out);
    if (out->size < sizeof *out || out->size > size - *at || out->type > ASSAY_SPOOL_EXEC)
        return NULL; /* the disk was full: setup.failed tells */
    const uint8_t *payload = raw + *at + sizeof *out;
    *at += out->size;
    return payload;
}

int run_open_stream(const struct virtual_run *r, unsigned n, struct assay_spool_stream *s)
{
    int fd = run_open_file(r, "stream", n, O_RDWR);
    if (fd < 0)
        return -1;
    if (pread(fd, s, sizeof *s, 0) == (ssize_t)sizeof *s && s->magic == ASSAY_SPOOL_MAGIC)
        return fd;
    close(fd);
    return -1;
}

unsigned run_doubts(const struct virtual_run *r, char *why, size_t size)
{
    const struct assay_spool_setup *s = r->setup;
    snprintf(why, size, "threads without known registers: %u, blocks reached in a way not understood: %u",
             s->no_registers, s->unexplained);
    return s->no_registers + s->unexplained;
}
