/* SPDX-License-Identifier: MIT */
/* A quick way for the instructions that most 64-bit code consists of: their length and kind from two small tables. Whatever it is not
 * sure of it leaves to Zydis; what it answers, tests hold equal to Zydis over whole programs and over every opcode. */
#include "internal.h"

#include <assay/cursor.h>

/* What follows an opcode. An opcode without KNOWN is left to Zydis. */
enum {
    KNOWN = 1,
    MODRM = 2,
    IMM8 = 4,
    IMMZ = 8,     /* 4 bytes, 2 with an operand-size prefix */
    REL = 16,     /* IMM8 or IMMZ is a branch displacement */
    PLAIN = 32,   /* known without an operand-size prefix only */
    PARTLY = 64,  /* depends on the reg field: see knows_group */
    MOV_IMM = 128 /* IMMZ, but 8 bytes with REX.W */
};

#define M       (KNOWN | MODRM)
#define N       KNOWN
#define I1      (KNOWN | IMM8)
#define IZ      (KNOWN | IMMZ)
#define ALU(op) [op] = M, [op + 1] = M, [op + 2] = M, [op + 3] = M, [op + 4] = I1, [op + 5] = IZ

static const uint8_t shape_one_byte[256] = {
    ALU(0x00),
    ALU(0x08),
    ALU(0x10),
    ALU(0x18),
    ALU(0x20),
    ALU(0x28),
    ALU(0x30),
    ALU(0x38),
    [0x50 ... 0x5f] = N, /* PUSH, POP */
    [0x63] = M,          /* MOVSXD */
    [0x68] = IZ,         /* PUSH imm */
    [0x69] = M | IMMZ,   /* IMUL */
    [0x6a] = I1,
    [0x6b] = M | IMM8,
    [0x70 ... 0x7f] = I1 | REL | PLAIN, /* Jcc */
    [0x80] = M | IMM8,
    [0x81] = M | IMMZ,
    [0x83] = M | IMM8,
    [0x84 ... 0x8b] = M, /* TEST, XCHG, MOV */
    [0x8d] = M | PARTLY, /* LEA */
    [0x90 ... 0x99] = N, /* NOP, XCHG, CWDE, CDQ */
    [0xa8] = I1,         /* TEST */
    [0xa9] = IZ,
    [0xb0 ... 0xb7] = I1, /* MOV imm */
    [0xb8 ... 0xbf] = IZ | MOV_IMM,
    [0xc0 ... 0xc1] = M | IMM8, /* shifts */
    [0xc3] = N | PLAIN,         /* RET */
    [0xc6] = M | IMM8 | PARTLY, /* MOV imm */
    [0xc7] = M | IMMZ | PARTLY,
    [0xc9] = N,                         /* LEAVE */
    [0xd0 ... 0xd3] = M,                /* shifts */
    [0xe8 ... 0xe9] = IZ | REL | PLAIN, /* CALL, JMP */
    [0xeb] = I1 | REL | PLAIN,
    [0xf6] = M | PARTLY, /* TEST, NOT, NEG, MUL, DIV */
    [0xf7] = M | PARTLY,
    [0xfe] = M | PARTLY,         /* INC, DEC */
    [0xff] = M | PLAIN | PARTLY, /* INC, DEC, CALL, JMP, PUSH */
};

static const uint8_t shape_0f[256] = {
    [0x10 ... 0x11] = M, /* MOVUPS */
    [0x14 ... 0x15] = M,
    [0x1f] = M,          /* NOP */
    [0x28 ... 0x29] = M, /* MOVAPS */
    [0x2e ... 0x2f] = M, /* UCOMISS, COMISS */
    [0x40 ... 0x4f] = M, /* CMOVcc */
    [0x54 ... 0x59] = M,
    [0x60 ... 0x6b] = M,
    [0x6e ... 0x6f] = M,
    [0x74 ... 0x76] = M,
    [0x7e ... 0x7f] = M,
    [0x80 ... 0x8f] = IZ | REL | PLAIN, /* Jcc */
    [0x90 ... 0x9f] = M,                /* SETcc */
    [0xa3] = M,
    [0xab] = M,
    [0xb3] = M,
    [0xbb] = M, /* BT, BTS, BTR, BTC */
    [0xaf] = M, /* IMUL */
    [0xb6 ... 0xb7] = M,
    [0xbe ... 0xbf] = M,        /* MOVZX, MOVSX */
    [0xba] = M | IMM8 | PARTLY, /* BT imm8 */
    [0xc8 ... 0xcf] = N,        /* BSWAP */
    [0xdb] = M,
    [0xdf] = M,
    [0xeb] = M,
    [0xef] = M, /* logic */
};

/* Whether the form of a PARTLY known opcode is; map 0F has its opcodes from 0x100 on. */
static bool knows_group(unsigned op, uint8_t modrm)
{
    unsigned reg = 1u << (modrm >> 3 & 7);
    switch (op) {
    case 0x8d:
        return modrm < 0xc0;
    case 0xc6:
    case 0xc7:
        return reg & 0x01;
    case 0xfe:
        return reg & 0x03;
    case 0xff:
        return reg & 0x57;
    case 0xf6:
    case 0xf7:
        return reg & 0xfd;
    default: /* 0F BA */
        return reg & 0xf0;
    }
}

/* ModRM, SIB and displacement. */
static unsigned modrm_size(const uint8_t *p)
{
    unsigned mod = p[0] >> 6, rm = p[0] & 7;
    if (mod == 3)
        return 1;
    unsigned size = rm == 4 ? 2 : 1;
    unsigned base = rm == 4 ? p[1] & 7 : rm;
    if (mod == 0)
        return size + (base == 5 ? 4 : 0);
    return size + (mod == 1 ? 1 : 4);
}

static uint8_t kind_of(unsigned op, uint8_t modrm)
{
    static const uint8_t of_group_ff[8] = {[2] = ASSAY_INSN_CALL_IND, [4] = ASSAY_INSN_JMP_IND};
    if (op == 0xff)
        return of_group_ff[modrm >> 3 & 7];
    if (op == 0xe8)
        return ASSAY_INSN_CALL;
    if (op == 0xe9 || op == 0xeb)
        return ASSAY_INSN_JMP;
    if (op == 0xc3)
        return ASSAY_INSN_RET;
    return ASSAY_INSN_COND;
}

int image_x86_common(const uint8_t *code, uint64_t ip, struct assay_insn *out)
{
    const uint8_t *p = code;
    bool small = *p == 0x66;
    p += small;
    uint8_t rex = (*p & 0xf0) == 0x40 ? *p++ : 0;
    unsigned op = *p++;
    unsigned shape = shape_one_byte[op];
    if (op == 0x0f) {
        op = 0x100 | *p++;
        shape = shape_0f[op & 0xff];
    }
    if (!(shape & KNOWN) || (small && (shape & PLAIN)))
        return 0;
    uint8_t modrm = *p;
    if ((shape & PARTLY) && !knows_group(op, modrm))
        return 0;
    if (shape & MODRM)
        p += modrm_size(p);
    unsigned imm = shape & IMM8 ? 1 : shape & IMMZ ? 4 : 0;
    if ((op == 0xf6 || op == 0xf7) && (modrm & 0x38) == 0)
        imm = op == 0xf6 ? 1 : 4;
    if (imm == 4 && (rex & 8))
        imm = shape & MOV_IMM ? 8 : 4;
    else if (imm == 4 && small)
        imm = 2;
    p += imm;
    *out = (struct assay_insn){.size = (uint8_t)(p - code)};
    if (!(shape & PLAIN)) /* all that branches is PLAIN */
        return out->size;
    out->kind = kind_of(op, modrm);
    if (shape & REL) {
        int64_t displacement = imm == 1 ? (int8_t)p[-1] : (int32_t)assay_load_le(p - 4, 4);
        out->target = ip + out->size + (uint64_t)displacement;
        out->flags = op == 0xe8 && displacement == 0 ? ASSAY_INSN_CALL_NEXT : 0;
    }
    return out->size;
}
