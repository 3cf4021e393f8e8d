/* SPDX-License-Identifier: MIT */
/* One field of a packet: between the packet's bytes, the struct's member, and a number. */
#ifndef ASSAY_SRC_PT_FIELD_H
#define ASSAY_SRC_PT_FIELD_H

#include <assay/cursor.h>

#include "pt/layout.h"

#include <string.h>

static inline uint64_t pt_ones(unsigned width) { return UINT64_MAX >> (64 - width); }

static inline uint64_t pt_field_read(const uint8_t *p, const struct pt_field *f)
{
    unsigned bit = f->lsb & 7u, bytes = (bit + f->width + 7u) / 8u;
    return assay_load_le(p + f->lsb / 8u, bytes) >> bit & pt_ones(f->width);
}

/* Into bytes whose bits of the field are 0. */
static inline void pt_field_write(uint8_t *p, const struct pt_field *f, uint64_t v)
{
    unsigned bit = f->lsb & 7u, bytes = (bit + f->width + 7u) / 8u;
    uint8_t *at = p + f->lsb / 8u;
    assay_store_le(at, assay_load_le(at, bytes) | v << bit, bytes);
}

/* The members are uint8_t, bool, uint16_t, uint32_t, uint64_t; a bool is read and written as a byte of 0 or 1. */
static inline uint64_t pt_member_get(const struct assay_pt_packet *p, const struct pt_field *f)
{
    const uint8_t *at = (const uint8_t *)p + f->member;
    uint16_t v2;
    uint32_t v4;
    uint64_t v8;
    switch (f->member_bytes) {
    case 2:
        memcpy(&v2, at, sizeof v2);
        return v2;
    case 4:
        memcpy(&v4, at, sizeof v4);
        return v4;
    case 8:
        memcpy(&v8, at, sizeof v8);
        return v8;
    default:
        return *at;
    }
}

static inline void pt_member_set(struct assay_pt_packet *p, const struct pt_field *f, uint64_t v)
{
    uint8_t *at = (uint8_t *)p + f->member;
    uint16_t v2 = (uint16_t)v;
    uint32_t v4 = (uint32_t)v;
    switch (f->member_bytes) {
    case 2:
        memcpy(at, &v2, sizeof v2);
        break;
    case 4:
        memcpy(at, &v4, sizeof v4);
        break;
    case 8:
        memcpy(at, &v, sizeof v);
        break;
    default:
        *at = (uint8_t)v;
    }
}

#endif
