/* SPDX-License-Identifier: MIT */
/* One packet to bytes. */
#include <assay/cursor.h>
#include <assay/pt.h>

#include "pt/fast.h"
#include "pt/field.h"
#include "pt/layout.h"

#include <string.h>

static bool fits(uint64_t v, unsigned width) { return (v & ~pt_ones(width)) == 0; }

/* The field's value for a member's, or an error when it cannot say it. */
static int field_of_member(const struct pt_field *f, uint64_t v, uint64_t *field)
{
    if (f->kind == PT_ITEM_BYTES) {
        *field = v == 4;
        return v == 4 || v == 8 ? 0 : ASSAY_E_ARGUMENT;
    }
    *field = v >> f->shift;
    return *field << f->shift == v && fits(*field, f->width) ? 0 : ASSAY_E_ARGUMENT;
}

static int put_fields(const struct pt_layout *l, const struct assay_pt_packet *p, uint8_t *buf)
{
    for (const struct pt_field *f = l->field; f < l->field + PT_FIELDS && f->width; f++) {
        uint64_t v;
        if (f->kind == PT_ONES && pt_field_read(buf, f) == pt_ones(f->width))
            return ASSAY_E_ARGUMENT;
        if (!f->member_bytes || f->kind == PT_ALSO)
            continue;
        if (field_of_member(f, pt_member_get(p, f), &v) < 0)
            return ASSAY_E_ARGUMENT;
        pt_field_write(buf, f, v);
    }
    return l->size;
}

static int put_branches(const struct assay_pt_packet *p, unsigned most, uint8_t *buf)
{
    unsigned count = p->tnt.count;
    if (count < 1 || count > most || !fits(p->tnt.bits, count))
        return ASSAY_E_ARGUMENT;
    uint64_t value = UINT64_C(1) << count | p->tnt.bits;
    if (most == 6) {
        buf[0] = (uint8_t)(value << 1);
        return 1;
    }
    assay_store_le(buf + 2, value, 6);
    return 8;
}

static int put_ip(const struct assay_pt_packet *p, uint8_t *buf)
{
    unsigned ipbytes = p->ip.ipbytes;
    if (ipbytes > 6 || pt_ip_reserved(ipbytes))
        return ASSAY_E_ARGUMENT;
    unsigned n = pt_ip_size(ipbytes);
    if (n < 8 && p->ip.payload >> 8 * n)
        return ASSAY_E_ARGUMENT;
    buf[0] = (uint8_t)(buf[0] | ipbytes << 5);
    assay_store_le(buf + 1, p->ip.payload, n);
    return (int)(1 + n);
}

static int put_cycles(uint64_t v, uint8_t *buf)
{
    int n = 1;
    buf[0] = (uint8_t)(buf[0] | (v & 31) << 3);
    uint8_t exp = 4; /* the Exp bit of the byte before */
    for (v >>= 5; v; v >>= 7, exp = 1) {
        buf[n - 1] |= exp;
        buf[n++] = (uint8_t)((v & 127) << 1);
    }
    return n;
}

static int put_operand(const struct assay_pt_packet *p, uint8_t *buf)
{
    unsigned n = p->ptw.bytes;
    if ((n != 4 && n != 8) || !fits(p->ptw.payload, 8 * n))
        return ASSAY_E_ARGUMENT;
    if (n == 8)
        buf[1] |= 0x20;
    assay_store_le(buf + 2, p->ptw.payload, n);
    return (int)(2 + n);
}

static int put_item(const struct assay_pt_packet *p, uint8_t *buf)
{
    unsigned n = p->bip.bytes;
    if ((n != 4 && n != 8) || !fits(p->bip.value, 8 * n) || p->bip.id > 31)
        return ASSAY_E_ARGUMENT;
    buf[0] = (uint8_t)(buf[0] | p->bip.id << 3);
    assay_store_le(buf + 1, p->bip.value, n);
    return (int)(1 + n);
}

static int put_trigger(const struct assay_pt_packet *p, uint8_t *buf)
{
    if (!p->trig.icntv)
        return p->trig.icnt ? ASSAY_E_ARGUMENT : 3;
    assay_store_le(buf + 3, p->trig.icnt, 2);
    return 5;
}

static int put_psb(uint8_t *buf)
{
    for (unsigned i = 0; i < ASSAY_PT_MAX_PACKET; i++)
        buf[i] = i & 1 ? 0x82 : 0x02;
    return ASSAY_PT_MAX_PACKET;
}

int assay_pt_encode(const struct assay_pt_packet *p, uint8_t *buf)
{
    if (p->type >= ASSAY_PT_TYPES)
        return ASSAY_E_ARGUMENT;
    const struct pt_layout *l = &assay_pt_layout[p->type];
    memset(buf, 0, ASSAY_PT_MAX_PACKET);
    assay_store_le(buf, l->opcode, l->opcode_bytes);
    int n = put_fields(l, p, buf);
    if (n < 0)
        return n;
    switch (l->shape) {
    case PT_BITS:
        return put_branches(p, l->size == 1 ? 6 : 47, buf);
    case PT_IPS:
        return put_ip(p, buf);
    case PT_CYCLES:
        return put_cycles(p->cyc.cycles, buf);
    case PT_REPEAT:
        return put_psb(buf);
    case PT_OPERAND:
        return put_operand(p, buf);
    case PT_ITEM:
        return put_item(p, buf);
    case PT_OPTIONAL:
        return put_trigger(p, buf);
    default:
        return n;
    }
}

void assay_pt_compress_ip(struct assay_pt_packet *p, uint64_t ip, uint64_t last_ip)
{
    uint64_t differ = ip ^ last_ip;
    uint8_t ipbytes = 6;
    if (differ >> 16 == 0)
        ipbytes = 1;
    else if (differ >> 32 == 0)
        ipbytes = 2;
    else if (pt_ip_apply(3, ip & pt_ones(48), 0) == ip)
        ipbytes = 3;
    else if (differ >> 48 == 0)
        ipbytes = 4;
    p->ip.ipbytes = ipbytes;
    p->ip.payload = ip & pt_ones(8 * pt_ip_size(ipbytes));
    p->ip.ip = ip;
    p->ip.suppressed = false;
    p->ip.known = true;
}
