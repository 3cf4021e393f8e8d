/* SPDX-License-Identifier: MIT */
/* What an x86 instruction does to control flow. The one place that knows the instruction set; Zydis finds lengths and opcodes. */
#include "internal.h"

#include <Zydis/Zydis.h>
#include <string.h>

/* Opcode classes: an assay_insn_kind in bits 3:0, an assay_insn_far in bits 6:4; bit 7 asks for a closer look. */
#define FAR_AS(far) (ASSAY_INSN_FAR | (far) << 4)
#define STRING      0x80
#define GROUP       0x81

static const uint8_t class_one_byte[256] = {
    [0x6c ... 0x6f] = STRING,                  /* INS, OUTS */
    [0x70 ... 0x7f] = ASSAY_INSN_COND,         /* Jcc rel8 */
    [0x9a] = FAR_AS(ASSAY_FAR_OTHER),          /* CALL ptr16:x */
    [0xa4 ... 0xa7] = STRING,                  /* MOVS, CMPS */
    [0xaa ... 0xaf] = STRING,                  /* STOS, LODS, SCAS */
    [0xc2 ... 0xc3] = ASSAY_INSN_RET,          /* RET */
    [0xca ... 0xcc] = FAR_AS(ASSAY_FAR_OTHER), /* far RET, INT3 */
    [0xcd] = FAR_AS(ASSAY_FAR_SYSCALL),        /* INT n */
    [0xce] = FAR_AS(ASSAY_FAR_OTHER),          /* INTO */
    [0xcf] = FAR_AS(ASSAY_FAR_RETURN),         /* IRET */
    [0xe0 ... 0xe3] = ASSAY_INSN_COND,         /* LOOPNE, LOOPE, LOOP, JRCXZ */
    [0xe8] = ASSAY_INSN_CALL,
    [0xe9] = ASSAY_INSN_JMP,
    [0xea] = FAR_AS(ASSAY_FAR_OTHER), /* JMP ptr16:x */
    [0xeb] = ASSAY_INSN_JMP,
    [0xf1] = FAR_AS(ASSAY_FAR_OTHER), /* INT1 */
    [0xff] = GROUP,                   /* CALL, JMP near and far through a register or memory */
};

static const uint8_t class_0f[256] = {
    [0x01] = GROUP,                     /* VMLAUNCH, VMRESUME, UIRET, SEAMCALL, SEAMRET */
    [0x05] = FAR_AS(ASSAY_FAR_SYSCALL), /* SYSCALL */
    [0x07] = FAR_AS(ASSAY_FAR_RETURN),  /* SYSRET */
    [0x22] = GROUP,                     /* MOV to control register */
    [0x34] = FAR_AS(ASSAY_FAR_SYSCALL), /* SYSENTER */
    [0x35] = FAR_AS(ASSAY_FAR_RETURN),  /* SYSEXIT */
    [0x80 ... 0x8f] = ASSAY_INSN_COND,  /* Jcc rel16/32 */
    [0xaa] = FAR_AS(ASSAY_FAR_RETURN),  /* RSM */
    [0xae] = GROUP,                     /* PTWRITE */
    [0xc7] = GROUP,                     /* VMPTRLD */
};

/* Instructions of the 64-bit mode that are newer than Zydis 4.0, by their exact bytes. */
struct newer {
    uint8_t bytes[4], given, size;
    uint8_t kind, far, flags;
};
static const struct newer newer_insns[] = {
    {{0xd5, 0x00, 0xa1}, 3, 11, ASSAY_INSN_JMP_IND, 0, ASSAY_INSN_JMPABS}, /* JMPABS imm64 (REX2 without bits) */
    {{0xf3, 0x0f, 0x01, 0xca}, 4, 4, ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0}, /* ERETU (FRED) */
    {{0xf2, 0x0f, 0x01, 0xca}, 4, 4, ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0}, /* ERETS (FRED) */
};

#define DECODER(machine, stack, minimal)                                                                               \
    {                                                                                                                  \
        ZYDIS_MACHINE_MODE_##machine, ZYDIS_STACK_WIDTH_##stack,                                                       \
        {                                                                                                              \
            [ZYDIS_DECODER_MODE_MINIMAL] = minimal, [ZYDIS_DECODER_MODE_MPX] = 1, [ZYDIS_DECODER_MODE_CET] = 1,        \
            [ZYDIS_DECODER_MODE_LZCNT] = 1, [ZYDIS_DECODER_MODE_TZCNT] = 1, [ZYDIS_DECODER_MODE_CLDEMOTE] = 1          \
        }                                                                                                              \
    }

/* What ZydisDecoderInit() makes, as constants: minimal, then full, by log2(mode / 16). */
static const ZydisDecoder decoders[2][3] = {
    {DECODER(LEGACY_16, 16, 1), DECODER(LEGACY_32, 32, 1), DECODER(LONG_64, 64, 1)},
    {DECODER(LEGACY_16, 16, 0), DECODER(LEGACY_32, 32, 0), DECODER(LONG_64, 64, 0)},
};

static const ZydisDecoder *decoder_for(unsigned mode, bool full)
{
    return &decoders[full][mode == 64 ? 2 : mode == 32 ? 1 : 0];
}

static int status_of(ZyanStatus s) { return s == ZYDIS_STATUS_NO_MORE_DATA ? ASSAY_E_TRUNCATED : ASSAY_E_BAD_FORMAT; }

/* Its size, 0 when it is none of these, or ASSAY_E_TRUNCATED when the bytes end inside one. */
static int classify_newer(const uint8_t *code, size_t size, struct assay_insn *out)
{
    for (size_t i = 0; i < sizeof newer_insns / sizeof newer_insns[0]; i++) {
        const struct newer *n = &newer_insns[i];
        if (memcmp(code, n->bytes, size < n->given ? size : n->given) != 0)
            continue;
        if (size < n->size)
            return ASSAY_E_TRUNCATED;
        *out = (struct assay_insn){.size = n->size, .kind = n->kind, .far = n->far, .flags = n->flags};
        for (unsigned b = n->size; b > n->given; b--)
            out->target = out->target << 8 | code[b - 1];
        return n->size;
    }
    return 0;
}

static bool has_rep(const ZydisDecodedInstruction *z)
{
    for (unsigned i = 0; i < z->raw.prefix_count; i++)
        if (z->raw.prefixes[i].value == 0xf2 || z->raw.prefixes[i].value == 0xf3)
            return true;
    return false;
}

static uint8_t class_of_group_ff(unsigned reg)
{
    static const uint8_t by_reg[8] = {[2] = ASSAY_INSN_CALL_IND,
                                      [3] = FAR_AS(ASSAY_FAR_OTHER),
                                      [4] = ASSAY_INSN_JMP_IND,
                                      [5] = FAR_AS(ASSAY_FAR_OTHER)};
    return by_reg[reg];
}

/* The class of an opcode that says too little alone; sets flags. */
static uint8_t look_closer(const ZydisDecodedInstruction *z, uint8_t class, struct assay_insn *out)
{
    if (class == STRING) {
        out->flags = has_rep(z) ? ASSAY_INSN_REP_STRING : 0;
        return ASSAY_INSN_OTHER;
    }
    if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
        return class_of_group_ff(z->raw.modrm.reg);
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_VMLAUNCH:
    case ZYDIS_MNEMONIC_VMRESUME:
        return FAR_AS(ASSAY_FAR_VMENTRY);
    case ZYDIS_MNEMONIC_UIRET:
        return FAR_AS(ASSAY_FAR_RETURN);
    case ZYDIS_MNEMONIC_SEAMCALL:
    case ZYDIS_MNEMONIC_SEAMRET:
        return FAR_AS(ASSAY_FAR_OTHER);
    case ZYDIS_MNEMONIC_MOV: /* 0F 22: MOV CRn, r */
        out->flags = z->raw.modrm.reg == 3 && !z->raw.rex.R ? ASSAY_INSN_MOV_CR3 : 0;
        return ASSAY_INSN_OTHER;
    case ZYDIS_MNEMONIC_PTWRITE:
        out->flags = ASSAY_INSN_PTWRITE;
        return ASSAY_INSN_OTHER;
    case ZYDIS_MNEMONIC_VMPTRLD:
        out->flags = ASSAY_INSN_VMPTRLD;
        return ASSAY_INSN_OTHER;
    default:
        return ASSAY_INSN_OTHER;
    }
}

/* A 16-bit operand size cuts EIP to 16 bits. Not in 16-bit mode, where ip is a linear address whose segment base is unknown. */
static uint64_t target_of(const ZydisDecodedInstruction *z, unsigned mode, uint64_t ip)
{
    uint64_t to = ip + z->length + z->raw.imm[0].value.u;
    if (mode == 64)
        return to;
    return to & (mode == 32 && z->operand_width == 16 ? 0xffff : 0xffffffff);
}

static void fill_branch(const ZydisDecodedInstruction *z, unsigned mode, uint64_t ip, struct assay_insn *out)
{
    uint8_t class = 0;
    if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
        if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
            class = class_one_byte[z->opcode];
        else if (z->opcode_map == ZYDIS_OPCODE_MAP_0F)
            class = class_0f[z->opcode];
    }
    if (class & 0x80)
        class = look_closer(z, class, out);
    out->kind = class & 15;
    out->far = class >> 4;
    if (out->kind == ASSAY_INSN_COND || out->kind == ASSAY_INSN_JMP || out->kind == ASSAY_INSN_CALL)
        out->target = target_of(z, mode, ip);
    if (out->kind == ASSAY_INSN_CALL && z->raw.imm[0].value.u == 0)
        out->flags = ASSAY_INSN_CALL_NEXT;
}

int image_x86_by_zydis(const uint8_t *code, size_t size, unsigned mode, uint64_t ip, struct assay_insn *out)
{
    if (size == 0)
        return ASSAY_E_TRUNCATED;
    if (mode == 64 && (code[0] == 0xd5 || code[0] == 0xf2 || code[0] == 0xf3)) {
        int n = classify_newer(code, size, out);
        if (n != 0)
            return n;
    }
    ZydisDecodedInstruction z;
    ZyanStatus s = ZydisDecoderDecodeInstruction(decoder_for(mode, false), NULL, code, size, &z);
    if (ZYAN_FAILED(s))
        return status_of(s);
    *out = (struct assay_insn){.size = z.length};
    fill_branch(&z, mode, ip, out);
    return z.length;
}

int assay_x86_classify(const uint8_t *code, size_t size, unsigned mode, uint64_t ip, struct assay_insn *out)
{
    if (mode == 64 && size >= IMAGE_X86_LONGEST) {
        int n = image_x86_common(code, ip, out);
        if (n != 0)
            return n;
    }
    return image_x86_by_zydis(code, size, mode, ip, out);
}

int assay_x86_memory(const uint8_t *code, size_t size, unsigned mode)
{
    ZydisDecodedInstruction z;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    ZyanStatus s = ZydisDecoderDecodeFull(decoder_for(mode, true), code, size, &z, op);
    if (ZYAN_FAILED(s))
        return size == 0 ? ASSAY_E_TRUNCATED : status_of(s);
    int flags = 0;
    for (unsigned i = 0; i < z.operand_count && z.mnemonic != ZYDIS_MNEMONIC_NOP; i++) {
        if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY || op[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            continue;
        flags |= op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ ? ASSAY_INSN_LOAD : 0;
        flags |= op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? ASSAY_INSN_STORE : 0;
    }
    return flags;
}
