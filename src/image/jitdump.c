/* SPDX-License-Identifier: MIT */
/* Reads jitdump, the file in which just-in-time compilers tell of their code (Linux, tools/perf/Documentation/jitdump-specification.txt). */
#include "internal.h"

#include <assay/cursor.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC          0x4a695444u
#define HEADER_SIZE    40
#define PREFIX_SIZE    16 /* of a record: id, total size, timestamp */
#define ARCH_TIMESTAMP 1  /* header flag: times are raw counter values */

enum { JIT_CODE_LOAD, JIT_CODE_MOVE, JIT_CODE_DEBUG_INFO, JIT_CODE_CLOSE, JIT_CODE_UNWINDING_INFO };

/* Where the code of an index lies now. */
struct placed {
    uint64_t index;
    struct image_capture *capture;
};

struct jitdump {
    struct assay_image *im;
    struct assay_error *e;
    const uint8_t *data;
    bool big;
    bool no_clock;         /* times cannot be compared with the recording's */
    struct placed *placed; /* hash of indices, a power of two of slots */
    size_t placed_n, slots;
};

static uint64_t get(const struct jitdump *j, struct assay_rd *r, unsigned n)
{
    return j->big ? assay_rd_be(r, n) : assay_rd_le(r, n);
}

static int fail(const struct jitdump *j, int code, const uint8_t *at, const char *what)
{
    uint64_t offset = (uint64_t)(at - j->data);
    return assay_error_set(j->e, code, offset, "jitdump: %s at byte %llu", what, (unsigned long long)offset);
}

/* ---- code by index ---- */

static struct placed *find_placed(struct jitdump *j, uint64_t index)
{
    size_t i = (size_t)(index * 0x9e3779b97f4a7c15 >> 32) & (j->slots - 1);
    while (j->placed[i].capture && j->placed[i].index != index)
        i = (i + 1) & (j->slots - 1);
    return &j->placed[i];
}

static int place(struct jitdump *j, uint64_t index, struct image_capture *c)
{
    if (j->placed_n * 2 >= j->slots) {
        struct jitdump old = *j;
        j->slots = old.slots ? old.slots * 2 : 64;
        j->placed = calloc(j->slots, sizeof *j->placed);
        if (!j->placed) {
            *j = old;
            return ASSAY_E_MEMORY;
        }
        for (size_t i = 0; i < old.slots; i++)
            if (old.placed[i].capture)
                *find_placed(j, old.placed[i].index) = old.placed[i];
        free(old.placed);
    }
    struct placed *p = find_placed(j, index);
    j->placed_n += p->capture == NULL;
    *p = (struct placed){index, c};
    return ASSAY_OK;
}

/* ---- records ---- */

static int read_load(struct jitdump *j, const uint8_t *record, struct assay_rd r, uint64_t time)
{
    uint32_t pid = (uint32_t)get(j, &r, 4);
    get(j, &r, 4); /* tid */
    get(j, &r, 8); /* vma */
    uint64_t addr = get(j, &r, 8), size = get(j, &r, 8), index = get(j, &r, 8);
    const uint8_t *name = r.at, *nul = r.over ? NULL : memchr(r.at, 0, assay_rd_left(&r));
    if (!nul)
        return fail(j, ASSAY_E_BAD_FORMAT, record, "code load record without the end of its name");
    assay_rd_bytes(&r, (size_t)(nul - name) + 1);
    if (size > assay_rd_left(&r))
        return fail(j, ASSAY_E_BAD_FORMAT, record, "code load record shorter than its code");
    if (size > UINT64_MAX - addr)
        return fail(j, ASSAY_E_BAD_FORMAT, record, "code load record past the end of memory");
    if (size == 0)
        return ASSAY_OK;
    int s = assay_image_code(j->im, pid, time, addr, r.at, (size_t)size, (const char *)name);
    if (s == ASSAY_OK)
        s = place(j, index, j->im->capture[j->im->captures - 1]);
    return s == ASSAY_OK ? s : assay_error_set(j->e, s, UINT64_MAX, "jitdump: %s", assay_status_name(s));
}

static int read_move(struct jitdump *j, const uint8_t *record, struct assay_rd r, uint64_t time)
{
    get(j, &r, 8); /* pid, tid */
    get(j, &r, 8); /* vma */
    get(j, &r, 8); /* old address: as known */
    uint64_t to = get(j, &r, 8);
    get(j, &r, 8); /* size: as known */
    uint64_t index = get(j, &r, 8);
    if (r.over)
        return fail(j, ASSAY_E_BAD_FORMAT, record, "short code move record");
    struct placed *p = j->slots ? find_placed(j, index) : NULL;
    if (!p || !p->capture)
        return fail(j, ASSAY_E_BAD_FORMAT, record, "move of code that was not loaded");
    if (p->capture->end - p->capture->addr > UINT64_MAX - to)
        return fail(j, ASSAY_E_BAD_FORMAT, record, "code move record past the end of memory");
    int s = image_code_move(j->im, time, p->capture, to);
    if (s != ASSAY_OK)
        return assay_error_set(j->e, s, UINT64_MAX, "jitdump: %s", assay_status_name(s));
    p->capture = j->im->capture[j->im->captures - 1];
    return ASSAY_OK;
}

/* One record; *at moves behind it. A record whose own fields are bad is passed over, its error returned. */
static int read_record(struct jitdump *j, struct assay_rd *at)
{
    const uint8_t *record = at->at;
    struct assay_rd r = *at;
    uint32_t id = (uint32_t)get(j, &r, 4), size = (uint32_t)get(j, &r, 4);
    uint64_t time = get(j, &r, 8);
    if (r.over) {
        at->at = at->end;
        return fail(j, ASSAY_E_TRUNCATED, record, "the file ends inside a record");
    }
    bool short_size = size<PREFIX_SIZE, beyond = size> assay_rd_left(at);
    if (short_size || beyond) {
        at->at = at->end;
        return short_size ? fail(j, ASSAY_E_BAD_FORMAT, record, "record size below that of its header")
                          : fail(j, ASSAY_E_TRUNCATED, record, "the file ends inside a record");
    }
    assay_rd_bytes(at, size);
    r.end = at->at;
    if (j->no_clock)
        time = 0;
    if (id == JIT_CODE_LOAD)
        return read_load(j, record, r, time);
    if (id == JIT_CODE_MOVE)
        return read_move(j, record, r, time);
    return ASSAY_OK; /* debug and unwinding info, close, and what newer writers add */
}

static int read_header(struct jitdump *j, struct assay_rd *at)
{
    struct assay_rd r = *at;
    j->big = assay_rd_left(&r) >= 4 && assay_load_be(r.at, 4) == MAGIC;
    uint32_t magic = (uint32_t)get(j, &r, 4);
    if (!r.over && magic != MAGIC)
        return fail(j, ASSAY_E_NOT_RECOGNISED, at->at, "no magic number");
    get(j, &r, 4); /* version: 1, the only one */
    uint32_t size = (uint32_t)get(j, &r, 4);
    assay_rd_bytes(&r, 4 + 4 + 4 + 8); /* machine, padding, pid, time */
    j->no_clock = (get(j, &r, 8) & ARCH_TIMESTAMP) != 0;
    if (r.over || size > assay_rd_left(at))
        return fail(j, ASSAY_E_TRUNCATED, at->at, "the file ends inside its header");
    if (size < HEADER_SIZE)
        return fail(j, ASSAY_E_BAD_FORMAT, at->at, "header size below that of a header");
    assay_rd_bytes(at, size);
    return ASSAY_OK;
}

/* A bad record is passed over when its size is sound; the first error is the one that is told. */
int assay_image_jitdump(struct assay_image *im, const uint8_t *data, size_t size, struct assay_error *e)
{
    struct jitdump j = {.im = im, .e = e, .data = data};
    struct assay_rd at = assay_rd_of(data, size);
    int first = read_header(&j, &at), s = first;
    bool header = first == ASSAY_OK;
    while (header && (s == ASSAY_OK || assay_is_data_error(s)) && assay_rd_left(&at) > 0) {
        s = read_record(&j, &at);
        if (s != ASSAY_OK && first == ASSAY_OK) {
            first = s;
            j.e = NULL;
        }
    }
    free(j.placed);
    return first;
}
