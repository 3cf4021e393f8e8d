/* SPDX-License-Identifier: MIT */
/* Opening inputs: regular files as they are, pipes through an unlinked file. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_spool(char *name, size_t size)
{
    const char *dir = getenv("TMPDIR");
    snprintf(name, size, "%s", dir && *dir ? dir : "/tmp");
    int fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd;
    snprintf(name, size, "%s/assay-XXXXXX", dir && *dir ? dir : "/tmp");
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}

/* 0, or errno. */
static int write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return w < 0 ? errno : EIO;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

/* Copies the rest of `from` to `to`; *at_fault is the one that failed. */
static int copy_all(int from, int to, int *at_fault)
{
    char buf[1 << 16];
    for (;;) {
        ssize_t n = read(from, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        *at_fault = from;
        if (n <= 0)
            return n < 0 ? errno : 0;
        int failed = write_all(to, buf, (size_t)n);
        *at_fault = to;
        if (failed)
            return failed;
    }
}

/* Replaces the pipe *fd by a file with its contents. */
static int spool(const char *name, int *fd, struct assay_error *e)
{
    char where[4096];
    int to = open_spool(where, sizeof where);
    if (to < 0)
        return assay_error_sys(e, errno, "cannot make a temporary file in %s", where);
    int at_fault;
    int failed = copy_all(*fd, to, &at_fault);
    if (failed) {
        assay_error_sys(e, failed, at_fault == to ? "cannot keep %s in %s" : "cannot read %s", name, where);
        close(to);
        return ASSAY_E_SYSTEM;
    }
    close(*fd);
    *fd = to;
    return ASSAY_OK;
}

/* A pipe becomes a file here; the size is known afterwards. */
static int settle(const char *name, struct file_source *s, struct assay_error *e)
{
    struct stat st;
    if (fstat(s->fd, &st) < 0)
        return assay_error_sys(e, errno, "cannot open %s", name);
    if (S_ISDIR(st.st_mode))
        return assay_error_sys(e, EISDIR, "cannot read %s", name);
    if (!S_ISREG(st.st_mode)) {
        int rc = spool(name, &s->fd, e);
        if (rc < 0)
            return rc;
        if (fstat(s->fd, &st) < 0)
            return assay_error_sys(e, errno, "cannot read %s", name);
    }
    s->size = (uint64_t)st.st_size;
    if (s->size == 0)
        return assay_error_set(e, ASSAY_E_NOT_RECOGNISED, 0, "%s: empty", name);
    return ASSAY_OK;
}

int assay_source_open(const char *path, struct file_source *out, struct assay_error *e)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    *out = (struct file_source){.fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                               : open(path, O_RDONLY | O_CLOEXEC)};
    if (out->fd < 0)
        return assay_error_sys(e, errno, "cannot open %s", name);
    int rc = settle(name, out, e);
    if (rc < 0)
        assay_source_close(out);
    return rc;
}

void assay_source_close(struct file_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

int64_t assay_source_read(const struct file_source *s, uint64_t at, void *buf, size_t n)
{
    if (at >= s->size)
        return 0;
    if (n > s->size - at)
        n = (size_t)(s->size - at);
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(s->fd, (char *)buf + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ASSAY_E_SYSTEM;
        if (got == 0) /* the file shrank under us */
            break;
        done += (size_t)got;
    }
    return (int64_t)done;
}
