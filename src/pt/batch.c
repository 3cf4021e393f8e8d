/* SPDX-License-Identifier: MIT */
/* Many packets in one call. What a trace mostly holds (TNT, IP packets, short CYC, MTC, TSC, PAD) is decoded without a
 * branch on the kind of packet, which no processor could predict: a row of constants for each first byte says what to
 * mask and add. */
#include <assay/pt.h>

#include "pt/fast.h"

#include <stddef.h>
#include <string.h>

/* Members of one byte are stored with the word that they begin: shifted by this. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FIRST_BYTE 56
#else
#define FIRST_BYTE 0
#endif
#define AT(m) offsetof(struct assay_pt_packet, m)
_Static_assert(AT(tnt.bits) == AT(ip.payload) && AT(cyc.cycles) == AT(ip.payload) && AT(tsc.tsc) == AT(ip.payload) &&
                   AT(mtc.ctc) == AT(ip.payload),
               "value is stored without asking of which packet");
_Static_assert(AT(tnt.count) == AT(ip.ip), "so is second");
_Static_assert(AT(ip.suppressed) == AT(ip.ipbytes) + 1 && AT(ip.known) == AT(ip.ipbytes) + 2, "so is tail");

/* value: the payload's bits; the packet's first 64-bit member. second: the one after it. The rows of bytes that begin
 * another packet have size 0. */
struct row {
    uint64_t mask;   /* of the 8 bytes after byte 0: what belongs to value */
    uint64_t take;   /* bits of value that replace those of the last IP */
    uint8_t tail[3]; /* ipbytes, suppressed, known as they lie in memory */
    uint8_t type, size;
    uint8_t value;     /* what byte 0 gives to value */
    uint8_t shift;     /* of the masked bytes, to the left */
    uint8_t extend;    /* 16: value is extended from bit 47 */
    uint8_t second;    /* TNT: the count */
    uint8_t second_ip; /* second is the last IP */
    uint8_t chain;     /* a bit of byte 1 that says that the packet is longer yet */
};

#define IS_TNT(b)  ((b) != 0 && (b) != 2 && ((b)&1) == 0)
#define IS_CYC(b)  (((b)&3) == 3)
#define IS_CYC2(b) (IS_CYC(b) && ((b)&4))
#define IS_IP(b)   (0x20022002u >> ((b)&31) & 1 && ((b) >> 5) != 5 && ((b) >> 5) != 7)
#define IPBYTES(b) ((b) >> 5)
#define PAYLOAD(b) (IS_IP(b) ? (int)(0xf8f66420u >> 4 * IPBYTES(b) & 15) : (b) == 0x19 ? 7 : (b) == 0x59 ? 1 : 0)
#define ONES(bits) ((UINT64_C(1) << (bits) / 2 << ((bits) + 1) / 2) - 1) /* of 0 to 64 */
#define TAKE(b)    (IPBYTES(b) == 3 ? UINT64_MAX : ONES(8 * (PAYLOAD(b) & 15)))
#define COUNT(b)   ((uint8_t)(30 - __builtin_clz((unsigned)(b) | 3)))
#define TYPE_OF_IP(b)                                                                                                  \
    (((b)&31) == 0x0d   ? ASSAY_PT_TIP                                                                                 \
     : ((b)&31) == 0x11 ? ASSAY_PT_TIP_PGE                                                                             \
     : ((b)&31) == 0x01 ? ASSAY_PT_TIP_PGD                                                                             \
                        : ASSAY_PT_FUP)
#define TYPE(b)                                                                                                        \
    (IS_TNT(b)     ? ASSAY_PT_TNT                                                                                      \
     : IS_CYC(b)   ? ASSAY_PT_CYC                                                                                      \
     : IS_IP(b)    ? TYPE_OF_IP(b)                                                                                     \
     : (b) == 0x19 ? ASSAY_PT_TSC                                                                                      \
     : (b) == 0x59 ? ASSAY_PT_MTC                                                                                      \
                   : ASSAY_PT_PAD)
#define HANDLED(b) (IS_TNT(b) || IS_CYC(b) || IS_IP(b) || (b) == 0 || (b) == 0x19 || (b) == 0x59)
#define ROW(b)                                                                                                         \
    {                                                                                                                  \
        .mask = IS_CYC2(b) ? 0xfe : ONES(8 * PAYLOAD(b)), .take = IS_IP(b) ? TAKE(b) : 0,                              \
        .tail = {IPBYTES(b), IPBYTES(b) == 0, IPBYTES(b) != 0}, .type = TYPE(b),                                       \
        .size = HANDLED(b) ? 1 + (IS_CYC2(b) ? 1 : PAYLOAD(b)) : 0,                                                    \
        .value = IS_TNT(b)   ? ((b) >> 1 & ((1 << COUNT(b)) - 1))                                                      \
                 : IS_CYC(b) ? (b) >> 3                                                                                \
                             : 0,                                                                                      \
        .shift = IS_CYC2(b)    ? 4                                                                                     \
                 : (b) == 0x59 ? FIRST_BYTE                                                                            \
                               : 0,                                                                                    \
        .extend = IS_IP(b) && IPBYTES(b) == 3 ? 16 : 0, .second = IS_TNT(b) ? COUNT(b) : 0,                            \
        .second_ip = IS_IP(b) && IPBYTES(b) != 0, .chain = IS_CYC2(b) ? 1 : 0                                          \
    }
#define ROWS_4(b)  ROW(b), ROW((b) + 1), ROW((b) + 2), ROW((b) + 3)
#define ROWS_16(b) ROWS_4(b), ROWS_4((b) + 4), ROWS_4((b) + 8), ROWS_4((b) + 12)
#define ROWS_64(b) ROWS_16(b), ROWS_16((b) + 16), ROWS_16((b) + 32), ROWS_16((b) + 48)
static const struct row rows[256] = {ROWS_64(0), ROWS_64(64), ROWS_64(128), ROWS_64(192)};

enum { SINGLES = 4, MANY = 16 };
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* How many of the first SINGLES bytes, from the lowest on, are packets of one byte: PAD, TNT, CYC without Exp. */
static unsigned count_singles(uint64_t bytes)
{
    uint64_t even = ~bytes & EACH(0x01);
    uint64_t other = bytes ^ EACH(0x02), cyc = (bytes & EACH(0x07)) ^ EACH(0x03);
    uint64_t not_two = ((other & EACH(0x7f)) + EACH(0x7f)) | other, not_cyc = cyc + EACH(0x7f);
    uint64_t single = (even << 7 & not_two) | ~not_cyc;
    return (unsigned)__builtin_ctzll((~single & EACH(0x80)) | UINT64_C(0x80) << 8 * SINGLES) / 8;
}

static inline void put_single(struct assay_pt_packet *p, uint64_t offset, unsigned byte)
{
    const struct row *r = &rows[byte];
    p->offset = offset;
    p->type = r->type;
    p->size = 1;
    p->tnt.bits = r->value;
    p->tnt.count = r->second;
}

/* The packet at `at` by its row, or 0 when it has none. */
static inline unsigned put_row(struct assay_pt_packet *p, uint64_t offset, unsigned byte, uint64_t after,
                               uint64_t *last_ip)
{
    const struct row *r = &rows[byte];
    if (r->size == 0 || (after & r->chain))
        return 0;
    uint64_t value = (after & r->mask) << r->shift | r->value;
    uint64_t extended = (uint64_t)((int64_t)(value << r->extend) >> r->extend);
    *last_ip ^= (*last_ip ^ extended) & r->take;
    p->offset = offset;
    p->type = r->type;
    p->size = r->size;
    p->ip.payload = value;
    p->ip.ip = (*last_ip & (0 - (uint64_t)r->second_ip)) | (uint64_t)r->second << FIRST_BYTE;
    memcpy((uint8_t *)p + AT(ip.ipbytes), r->tail, sizeof r->tail);
    return r->size;
}

/* A decoder's position in registers, and the packets it has filled. */
struct run {
    const uint8_t *at, *safe; /* a turn may begin up to `safe` */
    uint64_t offset, last_ip;
    struct assay_pt_packet *out, *full;
};

/* All slots are filled; those behind the last single byte are filled again by what comes next. *next: the byte after
 * them, out of the register, which is sooner than from memory. */
static inline unsigned take_singles(struct run *r, unsigned *next)
{
    uint64_t bytes = pt_load64(r->at);
    unsigned n = count_singles(bytes);
    *next = bytes >> 8 * n & 0xff;
    for (unsigned k = 0; k < SINGLES; k++)
        put_single(&r->out[k], r->offset + k, bytes >> 8 * k & 0xff);
    r->out += n;
    r->at += n;
    r->offset += n;
    return n;
}

static inline bool take_row(struct run *r, unsigned byte)
{
    unsigned size = put_row(r->out, r->offset, byte, pt_load64(r->at + 1), &r->last_ip);
    r->out += size > 0;
    r->at += size;
    r->offset += size;
    return size > 0;
}

static inline bool take_many_rows(struct run *r)
{
    for (unsigned i = 0; i < MANY && r->at <= r->safe; i++)
        if (!take_row(r, r->at[0]))
            return false;
    return true;
}

/* What the rows can decode from here on, as far as there is room. A turn takes what single bytes there are without
 * asking how many, and the packet after them; where there never are any (CYC and MTC in turn), it takes more of those. */
static void take_turns(struct run *r)
{
    unsigned dry = 0, next;
    while (r->full - r->out > SINGLES + MANY && r->at <= r->safe) {
        dry = take_singles(r, &next) ? 0 : dry + 1;
        if (!take_row(r, next) || (dry >= 4 && !take_many_rows(r)))
            return;
    }
}

static size_t decode_run(struct assay_pt_decoder *d, struct assay_pt_packet *out, size_t n)
{
    if (!d->synced || d->block_item || !d->have_last_ip || (size_t)(d->end - d->at) < SINGLES + PT_FAST_ROOM)
        return 0;
    struct run r = {d->at, d->end - (SINGLES + PT_FAST_ROOM), assay_pt_decoder_pos(d), d->last_ip, out, out + n};
    take_turns(&r);
    d->at = r.at;
    d->last_ip = r.last_ip;
    return (size_t)(r.out - out);
}

size_t assay_pt_decoder_batch(struct assay_pt_decoder *d, struct assay_pt_packet *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        i += decode_run(d, p + i, n - i);
        if (i > 0 && n - i <= SINGLES + MANY) /* the next call has room for turns again */
            break;
        if (!assay_pt_decoder_next(d, &p[i]))
            break;
        i++;
    }
    return i;
}
