/* SPDX-License-Identifier: MIT */
/* Bytes to packets, by a switch over the first bytes. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t psb_bytes[16] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                                      0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82};

/* What the meaning of bytes depends on. */
struct reader {
    const uint8_t *at, *end;
    uint64_t last_ip;
    unsigned item_bytes; /* of the open PEBS block; 0: none is open */
};

enum { IS_BAD = 0, IS_CUT = -1 }; /* results in place of a size */

static uint64_t little_endian(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << 8 * i;
    return value;
}

static unsigned highest_bit(uint64_t v)
{
    unsigned n = 0;
    while (v >>= 1)
        n++;
    return n;
}

static int read_tnt(struct packet *p, uint64_t payload, int size)
{
    if (payload == 0)
        return IS_BAD;
    p->kind = TNT;
    p->count = highest_bit(payload); /* the stop bit */
    p->value = payload & ~(UINT64_C(1) << p->count);
    return p->count == 0 ? IS_BAD : size;
}

static int read_ip(struct reader *r, struct packet *p, enum kind kind)
{
    static const unsigned bytes_of[8] = {0, 2, 4, 6, 6, 99, 8, 99};
    unsigned form = r->at[0] >> 5;
    unsigned bytes = bytes_of[form];
    if (bytes == 99)
        return IS_BAD;
    if (r->end - r->at < 1 + (int)bytes)
        return IS_CUT;
    uint64_t payload = little_endian(r->at + 1, bytes);
    uint64_t ip = r->last_ip;
    switch (form) {
    case 1:
        ip = (ip & ~UINT64_C(0xffff)) | payload;
        break;
    case 2:
        ip = (ip & ~UINT64_C(0xffffffff)) | payload;
        break;
    case 3:
        ip = payload & UINT64_C(0x800000000000) ? payload | UINT64_C(0xffff000000000000) : payload;
        break;
    case 4:
        ip = (ip & UINT64_C(0xffff000000000000)) | payload;
        break;
    case 6:
        ip = payload;
        break;
    default:
        break;
    }
    p->kind = kind;
    p->has_ip = form != 0;
    p->ip = p->has_ip ? ip : 0;
    r->last_ip = ip;
    return 1 + (int)bytes;
}

/* 5 bits in the first byte, 7 in each that follows; no more than 64 in all. */
static int read_cyc(struct reader *r, struct packet *p)
{
    p->kind = CYC;
    p->value = r->at[0] >> 3;
    bool more = r->at[0] & 4;
    unsigned shift = 5;
    int size = 1;
    while (more) {
        if (r->at + size == r->end)
            return IS_CUT;
        uint64_t bits = r->at[size] >> 1;
        if (shift >= 64 || bits << shift >> shift != bits)
            return IS_BAD;
        p->value |= bits << shift;
        more = r->at[size] & 1;
        shift += 7;
        size++;
    }
    return size;
}

static int read_mode(struct reader *r, struct packet *p)
{
    if (r->end - r->at < 2)
        return IS_CUT;
    unsigned byte = r->at[1], low = byte & 3;
    if (low == 3)
        return IS_BAD;
    if (byte >> 5 == 0) {
        p->kind = MODE_EXEC;
        p->value = low == 1 ? 64 : low == 2 ? 32 : 16;
        return 2;
    }
    if (byte >> 5 == 1) {
        p->kind = MODE_TSX;
        p->value = low;
        return 2;
    }
    return IS_BAD;
}

static int read_trig(struct reader *r, struct packet *p)
{
    if (r->end - r->at < 2)
        return IS_CUT;
    p->kind = TRIG;
    p->fup = r->at[1] & 0x80;
    int size = r->at[1] & 0x40 ? 5 : 3;
    if (r->end - r->at < size)
        return IS_CUT;
    p->value = r->at[2];
    return size;
}

/* A packet of a fixed size whose value is `bytes` bytes at r->at + from. */
static int read_fixed(struct reader *r, struct packet *p, enum kind kind, int size, unsigned from, unsigned bytes)
{
    p->kind = kind;
    if (r->end - r->at < size)
        return IS_CUT;
    p->value = little_endian(r->at + from, bytes);
    return size;
}

static int read_psb(struct reader *r, struct packet *p)
{
    size_t left = (size_t)(r->end - r->at);
    if (memcmp(r->at, psb_bytes, left < 16 ? left : 16) != 0)
        return IS_BAD;
    if (left < 16)
        return IS_CUT;
    p->kind = PSB;
    r->last_ip = 0;
    return 16;
}

static int read_tma(struct reader *r, struct packet *p)
{
    int size = read_fixed(r, p, TMA, 7, 2, 2);
    if (size > 0 && (r->at[4] || r->at[6] & 0xfe)) /* reserved */
        return IS_BAD;
    if (size > 0)
        p->count = (unsigned)little_endian(r->at + 5, 2) & 0x1ff;
    return size;
}

static int read_ptw(struct reader *r, struct packet *p)
{
    unsigned form = r->at[1] >> 5 & 3;
    if (form > 1)
        return IS_BAD;
    p->fup = r->at[1] & 0x80;
    p->count = form == 0 ? 4 : 8;
    return read_fixed(r, p, PTW, 2 + (int)p->count, 2, p->count);
}

static int read_bbp(struct reader *r, struct packet *p)
{
    int size = read_fixed(r, p, BBP, 3, 2, 1);
    if (size > 0)
        p->count = r->at[2] & 0x80 ? 4 : 8;
    return size;
}

static int read_cfe(struct reader *r, struct packet *p)
{
    int size = read_fixed(r, p, CFE, 4, 2, 1);
    p->fup = p->value & 0x80;
    p->value &= 0x1f;
    return size;
}

static int read_mnt(struct reader *r, struct packet *p)
{
    if (r->end - r->at >= 3 && r->at[2] != 0x88)
        return IS_BAD;
    return read_fixed(r, p, MNT, 11, 3, 8);
}

static int read_long_tnt(struct reader *r, struct packet *p)
{
    if (r->end - r->at < 8)
        return IS_CUT;
    return read_tnt(p, little_endian(r->at + 2, 6), 8);
}

/* 0x02 and a second byte. */
static int read_extended(struct reader *r, struct packet *p)
{
    if (r->end - r->at < 2)
        return IS_CUT;
    unsigned second = r->at[1];
    switch (second) {
    case 0x82:
        return read_psb(r, p);
    case 0x23:
        return read_fixed(r, p, PSBEND, 2, 0, 0);
    case 0xf3:
        /* Not told by the sources alike whether it resets the last IP; facts section 7 says it does. */
        r->last_ip = 0;
        return read_fixed(r, p, OVF, 2, 0, 0);
    case 0x83:
        return read_fixed(r, p, TRACESTOP, 2, 0, 0);
    case 0xa3:
        return read_long_tnt(r, p);
    case 0x43:
        return read_fixed(r, p, PIP, 8, 2, 6);
    case 0x03:
        return read_fixed(r, p, CBR, 4, 2, 1);
    case 0x73:
        return read_tma(r, p);
    case 0xc8:
        return read_fixed(r, p, VMCS, 7, 2, 5);
    case 0xc3:
        return read_mnt(r, p);
    case 0x62:
    case 0xe2:
        p->fup = second & 0x80;
        return read_fixed(r, p, EXSTOP, 2, 0, 0);
    case 0xc2:
        return read_fixed(r, p, MWAIT, 10, 2, 8);
    case 0x22:
        return read_fixed(r, p, PWRE, 4, 2, 2);
    case 0xa2:
        return read_fixed(r, p, PWRX, 7, 2, 5);
    case 0x13:
        return read_cfe(r, p);
    case 0x53:
        return read_fixed(r, p, EVD, 11, 3, 8);
    case 0x63:
        return read_bbp(r, p);
    case 0x33:
    case 0xb3:
        p->fup = second & 0x80;
        return read_fixed(r, p, BEP, 2, 0, 0);
    default:
        return (second & 0x1f) == 0x12 ? read_ptw(r, p) : IS_BAD;
    }
}

static int read_bip(struct reader *r, struct packet *p)
{
    p->count = r->item_bytes;
    return read_fixed(r, p, BIP, 1 + (int)r->item_bytes, 1, r->item_bytes);
}

/* The size of the packet at r->at, IS_BAD or IS_CUT. */
static int read_packet(struct reader *r, struct packet *p)
{
    unsigned first = r->at[0];
    if (r->item_bytes && (first & 7) == 4)
        return read_bip(r, p);
    if (first == 0x00)
        return read_fixed(r, p, PAD, 1, 0, 0);
    if (first == 0x02)
        return read_extended(r, p);
    if ((first & 1) == 0)
        return read_tnt(p, first >> 1, 1);
    if ((first & 3) == 3)
        return read_cyc(r, p);
    switch (first & 0x1f) {
    case 0x01:
        return read_ip(r, p, TIP_PGD);
    case 0x0d:
        return read_ip(r, p, TIP);
    case 0x11:
        return read_ip(r, p, TIP_PGE);
    case 0x1d:
        return read_ip(r, p, FUP);
    default:
        break;
    }
    switch (first) {
    case 0x19:
        return read_fixed(r, p, TSC, 8, 1, 7);
    case 0x59:
        return read_fixed(r, p, MTC, 2, 1, 1);
    case 0x99:
        return read_mode(r, p);
    case 0xd9:
        return read_trig(r, p);
    default:
        return IS_BAD;
    }
}

/* A PEBS block stays open over packets that can come at any time. */
static void follow_block(struct reader *r, const struct packet *p)
{
    switch (p->kind) {
    case BBP:
        r->item_bytes = p->count;
        break;
    case PAD:
    case TSC:
    case TMA:
    case MTC:
    case CYC:
    case CBR:
    case MNT:
    case FUP:
    case EXSTOP:
    case PWRE:
    case PWRX:
    case BIP:
        break;
    default:
        r->item_bytes = 0;
        break;
    }
}

static const uint8_t *find_psb(const uint8_t *p, const uint8_t *end)
{
    for (; end - p >= 16; p++)
        if (memcmp(p, psb_bytes, 16) == 0)
            return p;
    return end;
}

static void append(struct packets *all, const struct packet *p)
{
    if ((all->n & (all->n - 1)) == 0) {
        all->at = realloc(all->at, (all->n ? 2 * all->n : 1) * sizeof *all->at);
        if (!all->at)
            abort();
    }
    all->at[all->n++] = *p;
}

struct packets packets_of(const uint8_t *data, size_t size, uint64_t base)
{
    struct packets all = {0};
    struct reader r = {.end = data + size};
    r.at = find_psb(data, r.end);
    while (r.at < r.end) {
        struct packet p = {.offset = base + (uint64_t)(r.at - data)};
        int length = read_packet(&r, &p);
        if (length == IS_CUT)
            break;
        if (length == IS_BAD) {
            p = (struct packet){.offset = p.offset, .kind = BAD};
            length = (int)(find_psb(r.at + 1, r.end) - r.at);
        }
        p.size = (uint64_t)length;
        follow_block(&r, &p);
        append(&all, &p);
        r.at += length;
    }
    return all;
}
