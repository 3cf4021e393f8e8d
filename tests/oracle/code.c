/* SPDX-License-Identifier: MIT */
/* One instruction and what it does to control flow, from Zydis's full decoding and its own categories. */
#include "oracle.h"

#include <Zydis/Zydis.h>
#include <string.h>

static ZydisMachineMode machine_mode(unsigned mode)
{
    return mode == 64   ? ZYDIS_MACHINE_MODE_LONG_64
           : mode == 32 ? ZYDIS_MACHINE_MODE_LEGACY_32
                        : ZYDIS_MACHINE_MODE_LEGACY_16;
}

static ZydisStackWidth stack_width(unsigned mode)
{
    return mode == 64 ? ZYDIS_STACK_WIDTH_64 : mode == 32 ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_16;
}

/* JMPABS (REX2 A1 imm64), which this Zydis does not know: direct, but traced with a TIP. */
static bool is_jmpabs(const uint8_t *code, size_t size, unsigned mode)
{
    return mode == 64 && size >= 11 && code[0] == 0xd5 && code[1] == 0x00 && code[2] == 0xa1;
}

static enum branch branch_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operand)
{
    bool direct = operand[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    bool far = z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

    /* XBEGIN and XABORT count as branches there; their transfers of control are traced by MODE.TSX and FUP. */
    if (z->meta.isa_set == ZYDIS_ISA_SET_RTM)
        return STRAIGHT;
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: /* also JKZD of Knights Corner, which has no Processor Trace */
        return direct ? COND : STRAIGHT;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return far ? FAR : direct ? JMP : JMP_IND;
    case ZYDIS_CATEGORY_CALL:
        return far ? FAR : direct ? CALL : CALL_IND;
    case ZYDIS_CATEGORY_RET: /* IRET is one of these, with no branch type */
        return z->mnemonic == ZYDIS_MNEMONIC_RET && !far ? RET : FAR;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
        return FAR;
    case ZYDIS_CATEGORY_INTERRUPT: /* BOUND is one of these: it goes on, or faults */
        return z->mnemonic == ZYDIS_MNEMONIC_BOUND ? STRAIGHT : FAR;
    default:
        break;
    }
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_VMLAUNCH:
    case ZYDIS_MNEMONIC_VMRESUME:
    case ZYDIS_MNEMONIC_UIRET:
        return FAR;
    default:
        return STRAIGHT;
    }
}

static uint64_t within_mode(uint64_t ip, unsigned mode) { return mode == 64 ? ip : ip & 0xffffffff; }

bool insn_decode(const uint8_t *code, size_t size, unsigned mode, uint64_t ip, struct insn *in)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];

    memset(in, 0, sizeof *in);
    in->ip = ip;
    if (is_jmpabs(code, size, mode)) {
        in->next = ip + 11;
        in->branch = JMP_IND;
        return true;
    }
    ZydisDecoderInit(&decoder, machine_mode(mode), stack_width(mode));
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &z, operand)))
        return false;
    in->next = within_mode(ip + z.length, mode);
    in->branch = branch_of(&z, operand);
    if (in->branch == COND || in->branch == JMP || in->branch == CALL) {
        ZyanU64 target = 0;
        if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&z, &operand[0], ip, &target)))
            return false;
        /* In 16-bit mode ip counts from an unknown segment base, so nothing can wrap at 64 KiB. */
        in->target = mode == 16 ? within_mode(in->next + (uint64_t)operand[0].imm.value.s, mode) : target;
    }
    in->ptwrite = z.mnemonic == ZYDIS_MNEMONIC_PTWRITE;
    in->mov_cr3 = z.mnemonic == ZYDIS_MNEMONIC_MOV && operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                  operand[0].reg.value == ZYDIS_REGISTER_CR3;
    return true;
}
