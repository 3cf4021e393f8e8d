/* SPDX-License-Identifier: MIT */
/* Inline decoding of the packets that make up nearly all of a trace: PAD, short TNT, CYC, IP packets, MTC.
 * For loops that cannot afford a call a packet. The caller has checked that PT_FAST_ROOM bytes can be read. */
#ifndef ASSAY_SRC_PT_FAST_H
#define ASSAY_SRC_PT_FAST_H

#include <assay/pt.h>

#include <string.h>

enum { PT_FAST_ROOM = 16 };

/* What byte 0 begins: an enum assay_pt_type, or one of these two. MODE_EXEC stands for both MODE packets. */
enum { PT_CLASS_EXT = 0xfe, PT_CLASS_BAD = 0xff };
extern const uint8_t assay_pt_class[256];
/* The same for byte 1 after 0x02. */
extern const uint8_t assay_pt_class_ext[256];

static inline uint64_t pt_load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* ---- short TNT */

/* Branches in a short TNT byte: the stop bit is the highest set bit. */
static inline unsigned pt_tnt_count(unsigned byte) { return 30u - (unsigned)__builtin_clz(byte); }
/* Bit count-1 is the oldest branch. */
static inline unsigned pt_tnt_bits(unsigned byte, unsigned count) { return byte >> 1 & ((1u << count) - 1); }

/* ---- CYC */

/* A CYC of two bytes or more at p; its size, or 0 when it holds more than 64 bits. */
static inline unsigned pt_cyc_long(const uint8_t *p, uint64_t *cycles)
{
    uint64_t value = p[0] >> 3;
    unsigned size = 1, shift = 5;
    for (bool more = true; more; shift += 7) {
        if (size == 9 && (p[9] & 0xf1)) /* the tenth byte has bits 63:61, and nothing may follow */
            return 0;
        value |= (uint64_t)(p[size] >> 1) << shift;
        more = p[size++] & 1;
    }
    *cycles = value;
    return size;
}

static inline unsigned pt_cyc(const uint8_t *p, uint64_t *cycles)
{
    if (!(p[0] & 4)) {
        *cycles = p[0] >> 3;
        return 1;
    }
    if (!(p[1] & 1)) {
        *cycles = (uint64_t)(p[0] >> 3 | p[1] >> 1 << 5);
        return 2;
    }
    return pt_cyc_long(p, cycles);
}

/* ---- IP packets; ipbytes is byte 0 >> 5 */

/* Bytes of payload for an IPBytes value; 0xff for the reserved ones. Packed in a constant: four bits for each value. */
static inline unsigned pt_ip_size(unsigned ipbytes) { return 0xf8f66420u >> 4 * ipbytes & 15; }
static inline bool pt_ip_reserved(unsigned ipbytes) { return 0xa0u >> ipbytes & 1; }
/* Does the payload alone give the IP? (sign-extended and full) */
static inline bool pt_ip_alone(unsigned ipbytes) { return 0x48u >> ipbytes & 1; }

/* The payload of n (0..8) bytes that begins at p. */
static inline uint64_t pt_payload(const uint8_t *p, unsigned n)
{
    return n ? pt_load64(p) & UINT64_MAX >> (64 - 8 * n) : 0;
}

/* The new last IP: the payload in place of the low bytes, or sign-extended from bit 47. */
static inline uint64_t pt_ip_apply(unsigned ipbytes, uint64_t payload, uint64_t last_ip)
{
    switch (ipbytes) {
    case 1:
        return (last_ip & ~UINT64_C(0xffff)) | payload;
    case 2:
        return (last_ip & ~UINT64_C(0xffffffff)) | payload;
    case 3:
        return (payload ^ UINT64_C(1) << 47) - (UINT64_C(1) << 47);
    case 4:
        return (last_ip & ~UINT64_C(0xffffffffffff)) | payload;
    case 6:
        return payload;
    default:
        return last_ip;
    }
}

static inline bool pt_is_ip(unsigned type) { return type >= ASSAY_PT_TIP && type <= ASSAY_PT_FUP; }

/* ---- PAD */

/* The first byte at or after p that is not PAD, or end. */
static inline const uint8_t *pt_skip_pad(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 8 && pt_load64(p) == 0)
        p += 8;
    while (p < end && *p == 0)
        p++;
    return p;
}

/* ---- whole packets */

/* Fills *out (offset excepted; IP packets as by assay_pt_decode) and returns the packet's size; 0 when this is none of
 * the packets that are handled here, or a bad one. */
static inline unsigned pt_fast_packet(const uint8_t *p, struct assay_pt_packet *out)
{
    unsigned byte = p[0], size = 1, type = assay_pt_class[byte];
    switch (type) {
    case ASSAY_PT_PAD:
        break;
    case ASSAY_PT_TNT:
        out->tnt.count = (uint8_t)pt_tnt_count(byte);
        out->tnt.bits = pt_tnt_bits(byte, out->tnt.count);
        break;
    case ASSAY_PT_CYC:
        size = pt_cyc(p, &out->cyc.cycles);
        break;
    case ASSAY_PT_TIP:
    case ASSAY_PT_TIP_PGE:
    case ASSAY_PT_TIP_PGD:
    case ASSAY_PT_FUP:
        if (pt_ip_reserved(byte >> 5))
            return 0;
        size = 1 + pt_ip_size(byte >> 5);
        out->ip.payload = pt_payload(p + 1, size - 1);
        out->ip.ip = 0;
        out->ip.ipbytes = (uint8_t)(byte >> 5);
        out->ip.suppressed = size == 1;
        out->ip.known = false;
        break;
    case ASSAY_PT_MTC:
        size = 2;
        out->mtc.ctc = p[1];
        break;
    default:
        return 0;
    }
    out->type = (uint8_t)type;
    out->size = (uint8_t)size;
    return size;
}

#endif
