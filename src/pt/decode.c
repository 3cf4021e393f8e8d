/* SPDX-License-Identifier: MIT */
/* One packet from bytes. */
#include <assay/cursor.h>
#include <assay/pt.h>

#include "pt/fast.h"
#include "pt/field.h"
#include "pt/layout.h"

#include <string.h>

static int refuse(const char **why, const char *text)
{
    *why = text;
    return ASSAY_E_BAD_PACKET;
}

static int cut(const char **why)
{
    *why = "the input ends inside a packet";
    return ASSAY_E_TRUNCATED;
}

static const char *unknown_opcode(const uint8_t *p)
{
    if (p[0] == 0x99)
        return "reserved MODE leaf";
    return p[0] == 0x02 ? "unknown extended opcode" : "unknown opcode";
}

/* The type that the opcode at p begins, or an error. The class tables give the first row that agrees in one byte; what
 * else the opcode has is compared here. */
static int match(const uint8_t *p, size_t size, uint8_t block_item, const char **why)
{
    if (block_item && (p[0] & 7) == 4)
        return ASSAY_PT_BIP;
    unsigned type = assay_pt_class[p[0]];
    if (type == PT_CLASS_EXT) {
        if (size < 2)
            return cut(why);
        type = assay_pt_class_ext[p[1]];
    }
    if (type == PT_CLASS_BAD)
        return refuse(why, unknown_opcode(p));
    if (type == ASSAY_PT_MODE_EXEC && size >= 2 && p[1] >> 5 == 1)
        type = ASSAY_PT_MODE_TSX;
    const struct pt_layout *l = &assay_pt_layout[type];
    if (size < l->opcode_bytes)
        return cut(why);
    if ((assay_load_le(p, l->opcode_bytes) & l->mask) != l->opcode)
        return refuse(why, unknown_opcode(p));
    return (int)type;
}

static int take_fields(const struct pt_layout *l, const uint8_t *p, struct assay_pt_packet *out, const char **why)
{
    for (const struct pt_field *f = l->field; f < l->field + PT_FIELDS && f->width; f++) {
        uint64_t v = pt_field_read(p, f);
        if ((f->kind == PT_ZERO && v != 0) || (f->kind == PT_ONES && v == pt_ones(f->width)))
            return refuse(why, "reserved bits or value");
        if (f->kind == PT_ITEM_BYTES)
            v = v ? 4 : 8;
        else if (f->kind == PT_ALSO)
            v |= pt_member_get(out, f);
        if (f->member_bytes)
            pt_member_set(out, f, v << f->shift);
    }
    return 0;
}

/* value: the branches below the stop bit, which is its highest set bit. */
static int take_branches(uint64_t value, int size, struct assay_pt_packet *out, const char **why)
{
    if (value < 2)
        return refuse(why, "TNT without a branch");
    unsigned count = 63u - (unsigned)__builtin_clzll(value);
    out->tnt.count = (uint8_t)count;
    out->tnt.bits = value & pt_ones(count);
    return size;
}

static int take_ip(const uint8_t *p, size_t size, struct assay_pt_packet *out, const char **why)
{
    unsigned ipbytes = p[0] >> 5;
    if (pt_ip_reserved(ipbytes))
        return refuse(why, "reserved IPBytes value");
    unsigned n = pt_ip_size(ipbytes);
    if (size < 1 + n)
        return cut(why);
    out->ip.payload = assay_load_le(p + 1, n);
    out->ip.ipbytes = (uint8_t)ipbytes;
    out->ip.suppressed = ipbytes == 0;
    return (int)(1 + n);
}

static int take_cycles(const uint8_t *p, size_t size, struct assay_pt_packet *out, const char **why)
{
    uint8_t chain[PT_FAST_ROOM] = {0};
    memcpy(chain, p, size < sizeof chain ? size : sizeof chain);
    unsigned n = pt_cyc(chain, &out->cyc.cycles);
    if (n > size || (n == 0 && size < 10))
        return cut(why);
    return n ? (int)n : refuse(why, "CYC of more than 64 bits");
}

static int take_psb(const uint8_t *p, size_t size, const char **why)
{
    for (size_t i = 0; i < ASSAY_PT_MAX_PACKET; i++) {
        if (i == size)
            return cut(why);
        if (p[i] != (i & 1 ? 0x82 : 0x02))
            return refuse(why, "broken PSB");
    }
    return ASSAY_PT_MAX_PACKET;
}

static int take_operand(const uint8_t *p, size_t size, struct assay_pt_packet *out, const char **why)
{
    if (p[1] & 0x40)
        return refuse(why, "reserved PTW operand size");
    unsigned n = p[1] & 0x20 ? 8 : 4;
    if (size < 2 + n)
        return cut(why);
    out->ptw.bytes = (uint8_t)n;
    out->ptw.payload = assay_load_le(p + 2, n);
    return (int)(2 + n);
}

static int take_item(const uint8_t *p, size_t size, uint8_t block_item, struct assay_pt_packet *out, const char **why)
{
    unsigned n = block_item == 4 ? 4 : 8;
    if (size < 1 + n)
        return cut(why);
    out->bip.id = p[0] >> 3;
    out->bip.bytes = (uint8_t)n;
    out->bip.value = assay_load_le(p + 1, n);
    return (int)(1 + n);
}

static int take_trigger(const uint8_t *p, size_t size, struct assay_pt_packet *out, const char **why)
{
    if (!out->trig.icntv)
        return 3;
    if (size < 5)
        return cut(why);
    out->trig.icnt = (uint16_t)assay_load_le(p + 3, 2);
    return 5;
}

static int take_shape(const struct pt_layout *l, const uint8_t *p, size_t size, uint8_t block_item,
                      struct assay_pt_packet *out, const char **why)
{
    switch (l->shape) {
    case PT_BITS:
        return l->size == 1 ? take_branches(p[0] >> 1, 1, out, why)
                            : take_branches(assay_load_le(p + 2, 6), 8, out, why);
    case PT_IPS:
        return take_ip(p, size, out, why);
    case PT_CYCLES:
        return take_cycles(p, size, out, why);
    case PT_OPERAND:
        return take_operand(p, size, out, why);
    case PT_ITEM:
        return take_item(p, size, block_item, out, why);
    case PT_OPTIONAL:
        return take_trigger(p, size, out, why);
    default:
        return l->size;
    }
}

static int decode(const uint8_t *p, size_t size, uint8_t block_item, struct assay_pt_packet *out, const char **why)
{
    int type = match(p, size, block_item, why);
    if (type < 0)
        return type;
    const struct pt_layout *l = &assay_pt_layout[type];
    out->type = (uint8_t)type;
    if (l->shape == PT_REPEAT)
        return take_psb(p, size, why);
    if (size < l->size)
        return cut(why);
    int n = take_fields(l, p, out, why);
    return n < 0 ? n : take_shape(l, p, size, block_item, out, why);
}

int assay_pt_decode(const uint8_t *p, size_t size, uint8_t block_item, struct assay_pt_packet *out, const char **why)
{
    const char *unused;
    if (!why)
        why = &unused;
    memset(out, 0, sizeof *out);
    if (size == 0)
        return cut(why);
    int n = decode(p, size, block_item, out, why);
    out->size = n > 0 ? (uint8_t)n : 0;
    return n;
}

void assay_pt_last_ip(struct assay_pt_packet *p, uint64_t *last_ip)
{
    p->ip.suppressed = p->ip.ipbytes == 0;
    p->ip.known = !p->ip.suppressed;
    *last_ip = pt_ip_apply(p->ip.ipbytes, p->ip.payload, *last_ip);
    p->ip.ip = p->ip.known ? *last_ip : 0;
}
