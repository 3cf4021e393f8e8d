/* SPDX-License-Identifier: MIT */
/* The output file: written under a temporary name beside its own, renamed when it is whole. */
#include "perfwrite_file.h"

#include <assay/cursor.h>

#include "base/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_AT = 1 << 16, COPY = 1 << 20 };

void bytes_put(struct bytes *b, const void *data, size_t size)
{
    if (b->failed || !table_grow(&b->data, &b->room, b->size + size, 1)) {
        b->failed = true;
        return;
    }
    if (size > 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

void bytes_le(struct bytes *b, uint64_t v, unsigned n)
{
    uint8_t raw[8];
    assay_store_le(raw, v, n);
    bytes_put(b, raw, n);
}

void bytes_zero(struct bytes *b, size_t n)
{
    for (; n > 0; n--)
        bytes_put(b, "", 1);
}

void bytes_text(struct bytes *b, const char *s, size_t align)
{
    size_t n = strlen(s) + 1;
    bytes_put(b, s, n);
    bytes_zero(b, (align - n % align) % align);
}

static void fail(struct file *f, int sys)
{
    if (f->error.code == 0)
        assay_error_sys(&f->error, sys, "%s: cannot write", f->path);
}

static int open_temporary(struct file *f, struct assay_error *e)
{
    if (asprintf(&f->temporary, "%s.XXXXXX", f->path) < 0) {
        f->temporary = NULL;
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
    }
    f->fd = mkostemp(f->temporary, O_CLOEXEC);
    if (f->fd < 0) {
        int sys = errno;
        free(f->temporary);
        f->temporary = NULL;
        return assay_error_sys(e, sys, "%s: cannot create", f->path);
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(f->fd, 0666 & ~mask);
    return ASSAY_OK;
}

int file_open(struct file *f, const char *path, bool replace, struct assay_error *e)
{
    *f = (struct file){.fd = -1, .replace = replace, .path = strdup(path)};
    if (!f->path)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return assay_error_sys(e, EISDIR, "%s", path);
    if (there && S_ISREG(st.st_mode) && !replace)
        return assay_error_set(e, ASSAY_E_EXISTS, UINT64_MAX, "%s exists already", path);
    if (!there || S_ISREG(st.st_mode))
        return open_temporary(f, e);
    f->fd = open(path, O_WRONLY | O_CLOEXEC);
    return f->fd < 0 ? assay_error_sys(e, errno, "%s: cannot open", path) : ASSAY_OK;
}

static bool write_all(struct file *f, const uint8_t *data, size_t size, uint64_t at)
{
    while (size > 0) {
        ssize_t n = pwrite(f->fd, data, size, (off_t)at);
        if (n < 0 && errno == ESPIPE)
            n = write(f->fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fail(f, n < 0 ? errno : ENOSPC);
            return false;
        }
        data += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

static void flush(struct file *f)
{
    if (f->pending.failed)
        fail(f, ENOMEM);
    if (f->error.code == 0)
        write_all(f, f->pending.data, f->pending.size, f->at - f->pending.size);
    f->pending.size = 0;
}

void file_put(struct file *f, const void *data, size_t size)
{
    bytes_put(&f->pending, data, size);
    f->at += size;
    if (f->pending.size >= FLUSH_AT)
        flush(f);
}

void file_put_at(struct file *f, uint64_t offset, const void *data, size_t size)
{
    flush(f);
    if (f->error.code == 0)
        write_all(f, data, size, offset);
}

/* What the kernel would not copy by itself. */
static void copy_by_hand(struct file *f, int fd, uint64_t offset, uint64_t size)
{
    uint8_t *buf = malloc(COPY);
    if (!buf)
        fail(f, ENOMEM);
    while (size > 0 && f->error.code == 0) {
        ssize_t n = pread(fd, buf, size < COPY ? (size_t)size : COPY, (off_t)offset);
        if (n <= 0) {
            fail(f, n < 0 ? errno : EIO);
            break;
        }
        write_all(f, buf, (size_t)n, f->at);
        f->at += (uint64_t)n;
        offset += (uint64_t)n;
        size -= (uint64_t)n;
    }
    free(buf);
}

void file_copy(struct file *f, int fd, uint64_t offset, uint64_t size)
{
    flush(f);
    while (size > 0 && f->error.code == 0) {
        off_t from = (off_t)offset, to = (off_t)f->at;
        ssize_t n = copy_file_range(fd, &from, f->fd, &to, size, 0);
        if (n <= 0) {
            copy_by_hand(f, fd, offset, size);
            return;
        }
        offset += (uint64_t)n;
        f->at += (uint64_t)n;
        size -= (uint64_t)n;
    }
}

/* link() does not replace: somebody else's file of that name, made meanwhile, stays. */
static int take_name(struct file *f)
{
    if (f->replace)
        return rename(f->temporary, f->path) == 0 ? 0 : errno;
    if (link(f->temporary, f->path) == 0)
        return unlink(f->temporary) == 0 ? 0 : errno;
    if (errno == EPERM || errno == EOPNOTSUPP) /* a file system without links */
        return rename(f->temporary, f->path) == 0 ? 0 : errno;
    return errno;
}

int file_finish(struct file *f, struct assay_error *e)
{
    flush(f);
    if (close(f->fd) != 0)
        fail(f, errno);
    f->fd = -1;
    if (f->error.code == 0 && f->temporary) {
        int sys = take_name(f);
        if (sys == EEXIST)
            assay_error_set(&f->error, ASSAY_E_EXISTS, UINT64_MAX, "%s exists already", f->path);
        else if (sys)
            fail(f, sys);
        else {
            free(f->temporary);
            f->temporary = NULL;
        }
    }
    if (f->error.code != 0 && e)
        *e = f->error;
    return f->error.code;
}

void file_free(struct file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->temporary)
        unlink(f->temporary);
    free(f->temporary);
    free(f->path);
    free(f->pending.data);
}
