/* SPDX-License-Identifier: MIT */
/* The one table of packet layouts: matching, decoding, encoding and printing all follow from it.
 * Each row is explained in docs/formats/intel-pt.md. */
#ifndef ASSAY_SRC_PT_LAYOUT_H
#define ASSAY_SRC_PT_LAYOUT_H

#include <assay/pt.h>

#include <stddef.h>

enum pt_shape {
    PT_FIXED, /* the fields are all there is */
    PT_IPS,   /* IPBytes in bits 7:5 of byte 0, then the payload */
    PT_BITS,  /* branches below a stop bit */
    PT_CYCLES,
    PT_REPEAT,   /* the opcode, again and again */
    PT_OPERAND,  /* PTW: 4 or 8 bytes by bits 6:5 of byte 1 */
    PT_ITEM,     /* BIP: 4 or 8 bytes by the block's BBP */
    PT_OPTIONAL, /* TRIG: two more bytes when ICNTV is set */
};

enum pt_kind {
    PT_DEC,
    PT_HEX,
    PT_FLAG,
    PT_REST, /* reserved bits that are kept: in text only where they are not 0 */
    PT_ALSO, /* a second place for a flag: read, never written */
    PT_ZERO, /* must be 0 */
    PT_ONES, /* must not be all ones */
    PT_CFE_TYPE,
    PT_EVD_TYPE,
    PT_ITEM_BYTES, /* one bit: 1 is 4 bytes, 0 is 8 */
};

/* A field: bits [lsb, lsb + width) of the packet, bit 0 of byte 0 first, and the struct member that holds it. */
struct pt_field {
    char name[10];
    uint8_t member, member_bytes;
    uint8_t lsb, width; /* (lsb & 7) + width <= 64 */
    uint8_t shift;      /* the member is the field << shift */
    uint8_t kind;
};

struct pt_layout {
    char name[10];
    uint8_t size; /* of the shortest form */
    uint8_t shape;
    bool passive; /* leaves an open PEBS block open */
    uint8_t opcode_bytes;
    uint32_t opcode, mask; /* of the first three bytes, byte 0 lowest */
    struct pt_field field[4];
};

#define PT_MEMBER_SIZE(m) sizeof(((struct assay_pt_packet *)0)->m)
#define PT_FIELD(name, m, lsb, width, shift, kind)                                                                     \
    {                                                                                                                  \
        name, offsetof(struct assay_pt_packet, m), PT_MEMBER_SIZE(m), lsb, width, shift, kind                          \
    }
#define PT_RESERVED(lsb, width, kind)                                                                                  \
    {                                                                                                                  \
        "", 0, 0, lsb, width, 0, kind                                                                                  \
    }
#define PT_EXT(second) (0x02 | (second) << 8)

/* clang-format off */
/* X(arg, type, name, opcode, mask, size, shape, passive, fields...). The first row that matches the bytes holds, so PAD
 * and the extended opcodes stand before TNT, and TNT before BIP, which is looked for inside a PEBS block only. */
#define PT_LAYOUTS(X, arg) \
    X(arg, PAD,       "PAD",       0x00,           0xff,     1,  PT_FIXED,    true) \
    X(arg, PSB,       "PSB",       PT_EXT(0x82),   0xffff,   16, PT_REPEAT,   false) \
    X(arg, PSBEND,    "PSBEND",    PT_EXT(0x23),   0xffff,   2,  PT_FIXED,    false) \
    X(arg, OVF,       "OVF",       PT_EXT(0xf3),   0xffff,   2,  PT_FIXED,    false) \
    X(arg, TRACESTOP, "TraceStop", PT_EXT(0x83),   0xffff,   2,  PT_FIXED,    false) \
    X(arg, TNT64,     "TNT64",     PT_EXT(0xa3),   0xffff,   8,  PT_BITS,     false) \
    X(arg, PIP,       "PIP",       PT_EXT(0x43),   0xffff,   8,  PT_FIXED,    false, \
      PT_FIELD("cr3", pip.cr3, 17, 47, 5, PT_HEX), \
      PT_FIELD("nr", pip.nr, 16, 1, 0, PT_FLAG)) \
    X(arg, CBR,       "CBR",       PT_EXT(0x03),   0xffff,   4,  PT_FIXED,    true, \
      PT_FIELD("ratio", cbr.ratio, 16, 8, 0, PT_DEC), \
      PT_FIELD("reserved", cbr.reserved, 24, 8, 0, PT_REST)) \
    X(arg, TMA,       "TMA",       PT_EXT(0x73),   0xffff,   7,  PT_FIXED,    true, \
      PT_FIELD("ctc", tma.ctc, 16, 16, 0, PT_DEC), \
      PT_FIELD("fc", tma.fc, 40, 9, 0, PT_DEC), \
      PT_RESERVED(32, 8, PT_ZERO), \
      PT_RESERVED(49, 7, PT_ZERO)) \
    X(arg, VMCS,      "VMCS",      PT_EXT(0xc8),   0xffff,   7,  PT_FIXED,    false, \
      PT_FIELD("base", vmcs.base, 16, 40, 12, PT_HEX)) \
    X(arg, MNT,       "MNT",       PT_EXT(0x88c3), 0xffffff, 11, PT_FIXED,    true, \
      PT_FIELD("payload", mnt.payload, 24, 64, 0, PT_HEX)) \
    X(arg, EXSTOP,    "EXSTOP",    PT_EXT(0x62),   0x7fff,   2,  PT_FIXED,    true, \
      PT_FIELD("ip", exstop.ip, 15, 1, 0, PT_FLAG)) \
    X(arg, MWAIT,     "MWAIT",     PT_EXT(0xc2),   0xffff,   10, PT_FIXED,    false, \
      PT_FIELD("hints", mwait.hints, 16, 32, 0, PT_HEX), \
      PT_FIELD("ext", mwait.ext, 48, 32, 0, PT_HEX)) \
    X(arg, PWRE,      "PWRE",      PT_EXT(0x22),   0xffff,   4,  PT_FIXED,    true, \
      PT_FIELD("state", pwre.state, 28, 4, 0, PT_DEC), \
      PT_FIELD("sub_state", pwre.sub_state, 24, 4, 0, PT_DEC), \
      PT_FIELD("hw", pwre.hw, 19, 1, 0, PT_FLAG), \
      PT_FIELD("hw", pwre.hw, 23, 1, 0, PT_ALSO)) \
    X(arg, PWRX,      "PWRX",      PT_EXT(0xa2),   0xffff,   7,  PT_FIXED,    true, \
      PT_FIELD("deepest", pwrx.deepest, 16, 4, 0, PT_DEC), \
      PT_FIELD("last", pwrx.last, 20, 4, 0, PT_DEC), \
      PT_FIELD("wake", pwrx.wake, 24, 4, 0, PT_HEX)) \
    X(arg, PTW,       "PTW",       PT_EXT(0x12),   0x1fff,   6,  PT_OPERAND,  false, \
      PT_FIELD("ip", ptw.ip, 15, 1, 0, PT_FLAG)) \
    X(arg, CFE,       "CFE",       PT_EXT(0x13),   0xffff,   4,  PT_FIXED,    false, \
      PT_FIELD("type", cfe.type, 16, 5, 0, PT_CFE_TYPE), \
      PT_FIELD("vector", cfe.vector, 24, 8, 0, PT_DEC), \
      PT_FIELD("ip", cfe.ip, 23, 1, 0, PT_FLAG)) \
    X(arg, EVD,       "EVD",       PT_EXT(0x53),   0xffff,   11, PT_FIXED,    false, \
      PT_FIELD("type", evd.type, 16, 6, 0, PT_EVD_TYPE), \
      PT_FIELD("payload", evd.payload, 24, 64, 0, PT_HEX)) \
    X(arg, BBP,       "BBP",       PT_EXT(0x63),   0xffff,   3,  PT_FIXED,    true, \
      PT_FIELD("type", bbp.type, 16, 5, 0, PT_DEC), \
      PT_FIELD("bytes", bbp.item_bytes, 23, 1, 0, PT_ITEM_BYTES)) \
    X(arg, BEP,       "BEP",       PT_EXT(0x33),   0x7fff,   2,  PT_FIXED,    false, \
      PT_FIELD("ip", bep.ip, 15, 1, 0, PT_FLAG)) \
    X(arg, TNT,       "TNT",       0x00,           0x01,     1,  PT_BITS,     false) \
    X(arg, BIP,       "BIP",       0x04,           0x07,     5,  PT_ITEM,     true) \
    X(arg, CYC,       "CYC",       0x03,           0x03,     1,  PT_CYCLES,   true) \
    X(arg, TIP_PGD,   "TIP.PGD",   0x01,           0x1f,     1,  PT_IPS,      false) \
    X(arg, TIP,       "TIP",       0x0d,           0x1f,     1,  PT_IPS,      false) \
    X(arg, TIP_PGE,   "TIP.PGE",   0x11,           0x1f,     1,  PT_IPS,      false) \
    X(arg, FUP,       "FUP",       0x1d,           0x1f,     1,  PT_IPS,      true) \
    X(arg, TSC,       "TSC",       0x19,           0xff,     8,  PT_FIXED,    true, \
      PT_FIELD("tsc", tsc.tsc, 8, 56, 0, PT_DEC)) \
    X(arg, MTC,       "MTC",       0x59,           0xff,     2,  PT_FIXED,    true, \
      PT_FIELD("ctc", mtc.ctc, 8, 8, 0, PT_DEC)) \
    X(arg, MODE_EXEC, "MODE.Exec", 0x0099,         0xe0ff,   2,  PT_FIXED,    false, \
      PT_FIELD("cs_l", exec.cs_l, 8, 1, 0, PT_FLAG), \
      PT_FIELD("cs_d", exec.cs_d, 9, 1, 0, PT_FLAG), \
      PT_FIELD("if", exec.iflag, 10, 1, 0, PT_FLAG), \
      PT_RESERVED(8, 2, PT_ONES)) \
    X(arg, MODE_TSX,  "MODE.TSX",  0x2099,         0xe0ff,   2,  PT_FIXED,    false, \
      PT_FIELD("in_tx", tsx.in_tx, 8, 1, 0, PT_FLAG), \
      PT_FIELD("abort", tsx.abort, 9, 1, 0, PT_FLAG), \
      PT_RESERVED(8, 2, PT_ONES)) \
    X(arg, TRIG,      "TRIG",      0xd9,           0xff,     3,  PT_OPTIONAL, false, \
      PT_FIELD("trbv", trig.trbv, 16, 8, 0, PT_HEX), \
      PT_FIELD("ip", trig.ip, 15, 1, 0, PT_FLAG), \
      PT_FIELD("icntv", trig.icntv, 14, 1, 0, PT_FLAG), \
      PT_FIELD("mult", trig.mult, 13, 1, 0, PT_FLAG))
/* clang-format on */

enum { PT_FIELDS = 4 };

/* By enum assay_pt_type. */
extern const struct pt_layout assay_pt_layout[ASSAY_PT_TYPES];

#endif
