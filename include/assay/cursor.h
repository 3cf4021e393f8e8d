/* SPDX-License-Identifier: MIT */
/* Bounded reads of bytes in either byte order: a read past the end gives 0 and sets a flag that stays. */
#ifndef ASSAY_CURSOR_H
#define ASSAY_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay_rd {
    const uint8_t *at;
    const uint8_t *end;
    bool over; /* some read did not fit; every later one gives 0 */
};

static inline struct assay_rd assay_rd_of(const void *data, size_t size)
{
    struct assay_rd r = {(const uint8_t *)data, (const uint8_t *)data + size, false};
    return r;
}

static inline size_t assay_rd_left(const struct assay_rd *r) { return (size_t)(r->end - r->at); }

/* The next n bytes, or NULL (flag set) when there are fewer. */
static inline const uint8_t *assay_rd_bytes(struct assay_rd *r, size_t n)
{
    if (r->over || assay_rd_left(r) < n) {
        r->over = true;
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at += n;
    return p;
}

/* Unbounded loads, for places whose length was checked: n (1..8) bytes, least or most significant first. */
static inline uint64_t assay_load_le(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static inline uint64_t assay_load_be(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static inline void assay_store_le(uint8_t *p, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static inline uint64_t assay_rd_le(struct assay_rd *r, unsigned n)
{
    const uint8_t *p = assay_rd_bytes(r, n);
    return p ? assay_load_le(p, n) : 0;
}

static inline uint64_t assay_rd_be(struct assay_rd *r, unsigned n)
{
    const uint8_t *p = assay_rd_bytes(r, n);
    return p ? assay_load_be(p, n) : 0;
}

static inline uint8_t assay_rd_u8(struct assay_rd *r) { return (uint8_t)assay_rd_le(r, 1); }
static inline uint16_t assay_rd_le16(struct assay_rd *r) { return (uint16_t)assay_rd_le(r, 2); }
static inline uint32_t assay_rd_le32(struct assay_rd *r) { return (uint32_t)assay_rd_le(r, 4); }
static inline uint64_t assay_rd_le64(struct assay_rd *r) { return assay_rd_le(r, 8); }
static inline uint16_t assay_rd_be16(struct assay_rd *r) { return (uint16_t)assay_rd_be(r, 2); }
static inline uint32_t assay_rd_be32(struct assay_rd *r) { return (uint32_t)assay_rd_be(r, 4); }
static inline uint64_t assay_rd_be64(struct assay_rd *r) { return assay_rd_be(r, 8); }

#endif
