/* SPDX-License-Identifier: MIT */
/* perf.data files made in memory, in either byte order and form, for tests. */
#ifndef ASSAY_TESTS_PERF_BUILDER_H
#define ASSAY_TESTS_PERF_BUILDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pb { /* bytes that grow, and the byte order of numbers put in */
    uint8_t *p;
    size_t n, room;
    bool big;
};

static inline void pb_bytes(struct pb *b, const void *p, size_t n)
{
    if (b->n + n > b->room) {
        b->room = (b->n + n) * 2;
        b->p = realloc(b->p, b->room);
        if (!b->p)
            abort();
    }
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static inline void pb_store(const struct pb *b, uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        at[b->big ? n - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

static inline void pb_num(struct pb *b, uint64_t v, unsigned n)
{
    uint8_t bytes[8];
    pb_store(b, bytes, v, n);
    pb_bytes(b, bytes, n);
}
static inline void pb_u16(struct pb *b, unsigned v) { pb_num(b, v, 2); }
static inline void pb_u32(struct pb *b, uint32_t v) { pb_num(b, v, 4); }
static inline void pb_u64(struct pb *b, uint64_t v) { pb_num(b, v, 8); }

static inline void pb_zeros(struct pb *b, size_t n)
{
    for (; n > 0; n--)
        pb_bytes(b, "", 1);
}

/* Text, NUL, and padding to 8 bytes. */
static inline void pb_text(struct pb *b, const char *s)
{
    pb_bytes(b, s, strlen(s) + 1);
    pb_zeros(b, (8 - (strlen(s) + 1) % 8) % 8);
}

static inline size_t pb_begin(struct pb *b, uint32_t type, unsigned misc)
{
    size_t at = b->n;
    pb_u32(b, type);
    pb_u16(b, misc);
    pb_u16(b, 0);
    return at;
}
static inline void pb_end(struct pb *b, size_t record) { pb_store(b, b->p + record + 6, b->n - record, 2); }

struct pb_attr {
    uint32_t type, size; /* size 0: 112 */
    uint64_t config, sample_type;
    bool exclude_kernel;
    uint64_t id; /* one id */
};

static inline void pb_attr_bytes(struct pb *b, const struct pb_attr *a)
{
    size_t at = b->n, size = a->size ? a->size : 112;
    pb_zeros(b, size);
    pb_store(b, b->p + at, a->type, 4);
    pb_store(b, b->p + at + 4, size, 4);
    pb_store(b, b->p + at + 8, a->config, 8);
    pb_store(b, b->p + at + 24, a->sample_type, 8);
    /* bit-fields of one u64: sample_id_all is the 19th, exclude_kernel the 6th, from the end that the byte order says */
    uint64_t flags = UINT64_C(1) << (b->big ? 63 - 18 : 18);
    if (a->exclude_kernel)
        flags |= UINT64_C(1) << (b->big ? 63 - 5 : 5);
    pb_store(b, b->p + at + 40, flags, 8);
}

struct pb_feature {
    unsigned bit;
    const void *bytes;
    size_t size;
};

struct pb_file {
    bool big;
    const struct pb_attr *attr;
    size_t attrs;
    const struct pb_feature *feature; /* by rising bit */
    size_t features;
    const struct pb *data;
};

static inline void pb_header(struct pb *b, const struct pb_file *f, size_t attr_size)
{
    size_t ids = 104, attrs = ids + 8 * f->attrs, data = attrs + attr_size * f->attrs;
    pb_bytes(b, f->big ? "2ELIFREP" : "PERFILE2", 8);
    pb_u64(b, 104);
    pb_u64(b, attr_size);
    pb_u64(b, attrs);
    pb_u64(b, attr_size * f->attrs);
    pb_u64(b, data);
    pb_u64(b, f->data->n);
    pb_u64(b, 0);
    pb_u64(b, 0);
    uint64_t bits[4] = {0};
    for (size_t i = 0; i < f->features; i++)
        bits[f->feature[i].bit / 64] |= UINT64_C(1) << f->feature[i].bit % 64;
    for (unsigned i = 0; i < 4; i++)
        pb_u64(b, bits[i]);
}

/* The file form. */
static inline struct pb pb_make_file(const struct pb_file *f)
{
    struct pb b = {.big = f->big};
    size_t attr_size = 16 + (f->attrs && f->attr->size ? f->attr->size : 112);
    pb_header(&b, f, attr_size);
    for (size_t i = 0; i < f->attrs; i++)
        pb_u64(&b, f->attr[i].id);
    for (size_t i = 0; i < f->attrs; i++) {
        pb_attr_bytes(&b, &f->attr[i]);
        pb_u64(&b, 104 + 8 * i);
        pb_u64(&b, 8);
    }
    pb_bytes(&b, f->data->p, f->data->n);
    uint64_t at = b.n + 16 * f->features;
    for (size_t i = 0; i < f->features; at += f->feature[i++].size) {
        pb_u64(&b, at);
        pb_u64(&b, f->feature[i].size);
    }
    for (size_t i = 0; i < f->features; i++)
        pb_bytes(&b, f->feature[i].bytes, f->feature[i].size);
    return b;
}

/* The pipe form. */
static inline struct pb pb_make_pipe(const struct pb_file *f)
{
    struct pb b = {.big = f->big};
    pb_bytes(&b, f->big ? "2ELIFREP" : "PERFILE2", 8);
    pb_u64(&b, 16);
    for (size_t i = 0; i < f->attrs; i++) {
        size_t r = pb_begin(&b, 64, 0);
        pb_attr_bytes(&b, &f->attr[i]);
        pb_u64(&b, f->attr[i].id);
        pb_end(&b, r);
    }
    for (size_t i = 0; i < f->features; i++) {
        size_t r = pb_begin(&b, 80, 0);
        pb_u64(&b, f->feature[i].bit);
        pb_bytes(&b, f->feature[i].bytes, f->feature[i].size);
        pb_zeros(&b, (8 - f->feature[i].size % 8) % 8);
        pb_end(&b, r);
    }
    pb_bytes(&b, f->data->p, f->data->n);
    return b;
}

/* An unlinked file in memory with these bytes; *path (of at least 32 bytes) names it as long as the result is open. */
static inline int pb_memory_file(const void *p, size_t n, char *path)
{
    int fd = memfd_create("test", 0);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n)
        abort();
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
