/* SPDX-License-Identifier: MIT */
/* The layout table as data, and the two class tables that are computed from it. */
#include "pt/layout.h"

#include "pt/fast.h"

#define ROW(arg, type_, name_, opcode_, mask_, size_, shape_, passive_, ...)                                           \
    [ASSAY_PT_##type_] = {                                                                                             \
        .name = name_,                                                                                                 \
        .size = size_,                                                                                                 \
        .shape = shape_,                                                                                               \
        .passive = passive_,                                                                                           \
        .opcode_bytes = (mask_) > 0xffff ? 3                                                                           \
                        : (mask_) > 0xff ? 2                                                                           \
                                         : 1,                                                                          \
        .opcode = opcode_,                                                                                             \
        .mask = mask_,                                                                                                 \
        .field = {__VA_ARGS__},                                                                                        \
    },
const struct pt_layout assay_pt_layout[ASSAY_PT_TYPES] = {PT_LAYOUTS(ROW, )};

/* The first row that byte 0 (byte 1 after 0x02) agrees with, as a constant expression. */
#define FIRST(byte, type_, name_, opcode_, mask_, ...)                                                                 \
    ((byte) & (mask_)&0xff) == ((opcode_)&0xff) ? (int)ASSAY_PT_##type_:
#define SECOND(byte, type_, name_, opcode_, mask_, ...)                                                                \
    ((opcode_)&0xff) == 0x02 && ((byte) & ((mask_) >> 8) & 0xff) == ((opcode_) >> 8 & 0xff) ? (int)ASSAY_PT_##type_:

#define CLASS(byte)        (byte) == 0x02 ? (int)PT_CLASS_EXT : PT_LAYOUTS(FIRST, byte)(int) PT_CLASS_BAD
#define CLASS_EXT(byte)    PT_LAYOUTS(SECOND, byte)(int) PT_CLASS_BAD
#define BY_4(class, first) class((first)), class((first) + 1), class((first) + 2), class((first) + 3)
#define BY_16(class, first)                                                                                            \
    BY_4(class, first), BY_4(class, (first) + 4), BY_4(class, (first) + 8), BY_4(class, (first) + 12)
#define BY_64(class, first)                                                                                            \
    BY_16(class, first), BY_16(class, (first) + 16), BY_16(class, (first) + 32), BY_16(class, (first) + 48)

const uint8_t assay_pt_class[256] = {BY_64(CLASS, 0), BY_64(CLASS, 64), BY_64(CLASS, 128), BY_64(CLASS, 192)};
const uint8_t assay_pt_class_ext[256] = {BY_64(CLASS_EXT, 0), BY_64(CLASS_EXT, 64), BY_64(CLASS_EXT, 128),
                                         BY_64(CLASS_EXT, 192)};

const char *assay_pt_name(unsigned type)
{
    return type < ASSAY_PT_TYPES ? assay_pt_layout[type].name : type == ASSAY_PT_GAP ? "gap" : "?";
}
