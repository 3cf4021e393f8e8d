/* SPDX-License-Identifier: MIT */
/* Inside of the trace unit: packets into the output. No checks: the caller holds room for a packet group. */
#ifndef ASSAY_VIRTUAL_PT_UNIT_PUT_H
#define ASSAY_VIRTUAL_PT_UNIT_PUT_H

#include <assay/pt_unit.h>

enum { OP_TIP = 0x0d, OP_PGE = 0x11, OP_PGD = 0x01, OP_FUP = 0x1d }; /* low five bits of the IP packets */
enum {
    EXT_PIP = 0x43,
    EXT_CBR = 0x03,
    EXT_TMA = 0x73,
    EXT_OVF = 0xf3,
    EXT_PSB = 0x82,
    EXT_PSBEND = 0x23,
    EXT_PTW = 0x12
};

/* Written out so that compilers make one store of it; may write past the packet, into the room. */
static inline void store_le64(uint8_t *p, uint64_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
    p[4] = (uint8_t)(v >> 32);
    p[5] = (uint8_t)(v >> 40);
    p[6] = (uint8_t)(v >> 48);
    p[7] = (uint8_t)(v >> 56);
}

/* Packets of a two-byte header 02 ext and a payload of n <= 8 bytes. */
static inline void put_ext(struct assay_pt_unit *u, unsigned ext, uint64_t payload, unsigned n)
{
    u->out_at[0] = 0x02;
    u->out_at[1] = (uint8_t)ext;
    store_le64(u->out_at + 2, payload);
    u->out_at += 2 + n;
}

/* CYC with the cycles up to `when`, unless that is no cycle, or fewer than the threshold. */
static inline void put_cyc(struct assay_pt_unit *u, uint64_t when)
{
    uint64_t n = when - u->last_cyc;
    if (n < u->cyc_min)
        return;
    u->last_cyc = when;
    u->cyc_min = u->cyc_thresh;
    uint8_t *p = u->out_at;
    if (n < 32) {
        *p++ = (uint8_t)(n << 3 | 3);
    } else {
        *p++ = (uint8_t)(n << 3 | 7);
        for (n >>= 5; n >= 128; n >>= 7)
            *p++ = (uint8_t)(n << 1 | 1);
        *p++ = (uint8_t)(n << 1);
    }
    u->out_at = p;
}

/* Bits that came while disabled are dropped. */
static inline void put_tnt(struct assay_pt_unit *u)
{
    if (u->tnt == 1)
        return;
    if (u->enabled) {
        put_cyc(u, u->tnt_cycle);
        *u->out_at++ = (uint8_t)(u->tnt << 1);
    }
    u->tnt = 1;
}

/* An IP packet with the shortest payload that last-IP decompression turns into ip. */
static inline void put_ip(struct assay_pt_unit *u, unsigned op, uint64_t ip)
{
    uint64_t differ = ip ^ u->last_ip;
    unsigned ipbytes, n;
    if (differ >> 16 == 0) {
        ipbytes = 1;
        n = 2;
    } else if (differ >> 32 == 0) {
        ipbytes = 2;
        n = 4;
    } else if (ip + (UINT64_C(1) << 47) < UINT64_C(1) << 48) { /* bits 63:48 are copies of bit 47 */
        ipbytes = 3;
        n = 6;
    } else if (differ >> 48 == 0) {
        ipbytes = 4;
        n = 6;
    } else {
        ipbytes = 6;
        n = 8;
    }
    *u->out_at = (uint8_t)(ipbytes << 5 | op);
    store_le64(u->out_at + 1, ip);
    u->out_at += 1 + n;
    u->last_ip = ip;
}

static inline void put_pgd(struct assay_pt_unit *u) { *u->out_at++ = OP_PGD; } /* IP suppressed: out of context */

static inline void put_mode(struct assay_pt_unit *u)
{
    *u->out_at++ = 0x99;
    *u->out_at++ = u->mode == 64 ? 1 : u->mode == 32 ? 2 : 0; /* leaf 0; CS.L, CS.D */
    u->mode_told = u->mode;
}

static inline void put_mtc(struct assay_pt_unit *u, uint8_t ctc)
{
    *u->out_at++ = 0x59;
    *u->out_at++ = ctc;
}

static inline void put_pip(struct assay_pt_unit *u)
{
    put_ext(u, EXT_PIP, u->cr3 >> 5 << 1, 6);
} /* bit 0: VMX non-root */
static inline void put_cbr(struct assay_pt_unit *u) { put_ext(u, EXT_CBR, u->core_ratio, 2); }

#endif
