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

/* ---- records of a Processor Trace recording, all with the sample_id of PB_SAMPLE_TYPE ---- */

enum { PB_SAMPLE_TYPE = 2 | 4 | 128 | 1 << 16 }; /* TID, TIME, CPU, IDENTIFIER */

struct pb_who {
    uint32_t pid, tid, cpu;
    uint64_t time;
};

static inline void pb_trailer(struct pb *b, struct pb_who w)
{
    pb_u32(b, w.pid);
    pb_u32(b, w.tid);
    pb_u64(b, w.time);
    pb_u32(b, w.cpu);
    pb_u32(b, 0);
    pb_u64(b, 1);
}

static inline void pb_finish(struct pb *b, size_t record, struct pb_who w)
{
    pb_trailer(b, w);
    pb_end(b, record);
}

static inline void pb_pair(struct pb *b, struct pb_who w, uint32_t type, unsigned misc, uint32_t x, uint32_t y)
{
    size_t r = pb_begin(b, type, misc);
    pb_u32(b, x);
    pb_u32(b, y);
    pb_finish(b, r, w);
}
static inline void pb_itrace_start(struct pb *b, struct pb_who w) { pb_pair(b, w, 12, 0, w.pid, w.tid); }
static inline void pb_switch_wide(struct pb *b, struct pb_who w, bool out, uint32_t pid, uint32_t tid)
{
    pb_pair(b, w, 15, out ? 1 << 13 : 0, pid, tid);
}
static inline void pb_switch(struct pb *b, struct pb_who w, bool out)
{
    pb_finish(b, pb_begin(b, 14, out ? 1 << 13 : 0), w);
}

static inline void pb_comm(struct pb *b, struct pb_who w, const char *name, bool exec)
{
    size_t r = pb_begin(b, 3, exec ? 1 << 13 : 0);
    pb_u32(b, w.pid);
    pb_u32(b, w.tid);
    pb_text(b, name);
    pb_finish(b, r, w);
}

static inline void pb_fork(struct pb *b, struct pb_who parent, uint32_t pid, uint32_t tid, unsigned misc)
{
    size_t r = pb_begin(b, 7, misc);
    pb_u32(b, pid);
    pb_u32(b, parent.pid);
    pb_u32(b, tid);
    pb_u32(b, parent.tid);
    pb_u64(b, parent.time);
    pb_finish(b, r, parent);
}

static inline void pb_mmap2(struct pb *b, struct pb_who w, unsigned misc, uint64_t addr, uint64_t size, uint64_t pgoff,
                            uint32_t prot, const char *path)
{
    size_t r = pb_begin(b, 10, misc);
    pb_u32(b, w.pid);
    pb_u32(b, w.tid);
    pb_u64(b, addr);
    pb_u64(b, size);
    pb_u64(b, pgoff);
    pb_zeros(b, 24);
    pb_u32(b, prot);
    pb_u32(b, 2);
    pb_text(b, path);
    pb_finish(b, r, w);
}

static inline void pb_aux(struct pb *b, struct pb_who w, uint64_t offset, uint64_t size, uint64_t flags)
{
    size_t r = pb_begin(b, 11, 0);
    pb_u64(b, offset);
    pb_u64(b, size);
    pb_u64(b, flags);
    pb_finish(b, r, w);
}

static inline void pb_auxtrace(struct pb *b, uint32_t idx, uint32_t cpu, uint32_t tid, uint64_t offset, const void *p,
                               size_t n)
{
    size_t r = pb_begin(b, 71, 0);
    pb_u64(b, n);
    pb_u64(b, offset);
    pb_u64(b, 0);
    pb_u32(b, idx);
    pb_u32(b, tid);
    pb_u32(b, cpu);
    pb_u32(b, 0);
    pb_end(b, r);
    pb_bytes(b, p, n);
}

/* Intel PT of an event of type 8 with TSC, whose TSC is the time in ns. */
static inline void pb_pt_info(struct pb *b)
{
    static const uint64_t word[] = {8, 0, 1, 0, 1, 0x400, 0x800, 3, 0, 1, 0x200, 0x3c000, 100, 2, 2, 12, 0};
    size_t r = pb_begin(b, 70, 0);
    pb_u32(b, 1);
    pb_u32(b, 0);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        pb_u64(b, word[i]);
    pb_end(b, r);
}

static const struct pb_attr pb_pt_attr = {.type = 8, .config = 0x401, .sample_type = PB_SAMPLE_TYPE, .id = 1};

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
