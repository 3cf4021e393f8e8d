/* SPDX-License-Identifier: MIT */
/* Intel Processor Trace packets: decode, encode, names.
 * Source: Intel SDM Vol. 3C chapter 36.4 ("Trace Packets and Data Types"); layouts are in docs/formats/intel-pt.md. */
#ifndef ASSAY_PT_H
#define ASSAY_PT_H

#include <assay/base.h>
#include <assay/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum assay_pt_type {
    ASSAY_PT_PAD,
    ASSAY_PT_TNT, /* short, 1 byte, 1..6 branches */
    ASSAY_PT_TNT64,
    ASSAY_PT_TIP,
    ASSAY_PT_TIP_PGE,
    ASSAY_PT_TIP_PGD,
    ASSAY_PT_FUP,
    ASSAY_PT_PIP,
    ASSAY_PT_MODE_EXEC,
    ASSAY_PT_MODE_TSX,
    ASSAY_PT_TRACESTOP,
    ASSAY_PT_CBR,
    ASSAY_PT_TSC,
    ASSAY_PT_MTC,
    ASSAY_PT_TMA,
    ASSAY_PT_CYC,
    ASSAY_PT_VMCS,
    ASSAY_PT_OVF,
    ASSAY_PT_PSB,
    ASSAY_PT_PSBEND,
    ASSAY_PT_MNT,
    ASSAY_PT_EXSTOP,
    ASSAY_PT_MWAIT,
    ASSAY_PT_PWRE,
    ASSAY_PT_PWRX,
    ASSAY_PT_PTW,
    ASSAY_PT_CFE,
    ASSAY_PT_EVD,
    ASSAY_PT_BBP,
    ASSAY_PT_BIP,
    ASSAY_PT_BEP,
    ASSAY_PT_TRIG,
    ASSAY_PT_TYPES,
    ASSAY_PT_GAP = ASSAY_PT_TYPES /* not a packet: bytes passed over, see .gap */
};

enum { ASSAY_PT_MAX_PACKET = 16 }; /* bytes; PSB is the longest */

/* One packet. Sizes in bytes, offsets in the stream. Which member of the union holds follows from type. */
struct assay_pt_packet {
    uint64_t offset;
    uint8_t type; /* enum assay_pt_type */
    uint8_t size; /* encoded length; 0 for a gap */
    union {
        struct {
            uint64_t bits; /* bit count-1 is the oldest branch, bit 0 the newest; 1 = taken */
            uint8_t count; /* 1..6, 1..47 in TNT-64 */
        } tnt;
        struct {              /* TIP, TIP.PGE, TIP.PGD, FUP */
            uint64_t payload; /* the bytes as they stand, zero extended */
            uint64_t ip;      /* after last-IP decompression; 0 unless known */
            uint8_t ipbytes;  /* 0..4 or 6 */
            bool suppressed;  /* ipbytes 0 */
            bool known;       /* ip holds: not suppressed, and there was a last IP to complete the payload with */
        } ip;
        struct {
            uint64_t cr3;
            bool nr; /* VMX non-root */
        } pip;
        struct {
            bool cs_l, cs_d, iflag;
        } exec;
        struct {
            bool in_tx, abort;
        } tsx;
        struct {
            uint8_t ratio, reserved;
        } cbr;
        struct {
            uint64_t tsc; /* bits 55:0 */
        } tsc;
        struct {
            uint8_t ctc;
        } mtc;
        struct {
            uint16_t ctc;
            uint16_t fc; /* 9 bits */
        } tma;
        struct {
            uint64_t cycles;
        } cyc;
        struct {
            uint64_t base; /* physical address */
        } vmcs;
        struct {
            uint64_t payload;
        } mnt;
        struct {
            bool ip; /* a FUP follows */
        } exstop, bep;
        struct {
            uint32_t hints, ext;
        } mwait;
        struct {
            uint8_t state, sub_state;
            bool hw;
        } pwre;
        struct {
            uint8_t last, deepest, wake;
        } pwrx;
        struct {
            uint64_t payload;
            uint8_t bytes; /* 4 or 8 */
            bool ip;       /* a FUP follows */
        } ptw;
        struct {
            uint8_t type, vector;
            bool ip;
        } cfe;
        struct {
            uint64_t payload;
            uint8_t type;
        } evd;
        struct {
            uint8_t type;
            uint8_t item_bytes; /* 4 or 8 */
        } bbp;
        struct {
            uint64_t value;
            uint8_t id;
            uint8_t bytes; /* 4 or 8 */
        } bip;
        struct {
            uint8_t trbv;
            uint16_t icnt;
            bool ip, icntv, mult;
        } trig;
        struct {
            uint64_t bytes;   /* how many were passed over */
            int code;         /* why: enum assay_status */
            const char *what; /* constant text */
        } gap;
    };
};

/* Decoder over the caller's contiguous memory. No allocation; copy it to fork it. One thread at a time. */
struct assay_pt_decoder {
    const uint8_t *begin, *at, *end;
    uint64_t base; /* stream offset of begin */
    uint64_t last_ip;
    bool have_last_ip;  /* false until an IP packet that stands alone was seen (a PSB makes it true: last IP 0) */
    bool synced;        /* false: next() first looks for a PSB and reports what it passed as a gap */
    bool more;          /* the caller will hand on further bytes: an incomplete last packet is left, not reported */
    uint8_t block_item; /* 0, or the size of the items of the open PEBS block (4 or 8) */
    struct assay_diag diag;
    /* ---- the decoder's own */
    uint64_t gap_from;          /* not synced: where the gap began that the next PSB ends */
    uint8_t gap_reason;         /* enum assay_skip, of that gap */
    const uint8_t *counted;     /* the ledger knows of the bytes before this */
    struct assay_ledger ledger; /* read it through assay_pt_decoder_ledger() */
};

/* Starts at data[0]; `base` is its offset in the stream. With synced == false it begins at the first PSB. */
void assay_pt_decoder_init(struct assay_pt_decoder *d, const void *data, size_t size, uint64_t base, bool synced);
/* 1 and *p filled (a packet, or a gap record after damage; decoding has then moved to the next PSB or the end),
 * 0 at the end (with `more`: at the first incomplete packet, assay_pt_decoder_pos() says where to continue).
 * Never fails: damage is a record. */
int assay_pt_decoder_next(struct assay_pt_decoder *d, struct assay_pt_packet *p);
/* Some packets, at most n, as by as many calls of next(), which it outruns where n is 64 or more; how many. 0 where
 * next() would give 0; fewer than n has no meaning. */
size_t assay_pt_decoder_batch(struct assay_pt_decoder *d, struct assay_pt_packet *p, size_t n);
/* Moves to the next PSB at or after the present position; 0, or ASSAY_E_NO_SYNC (position at the end, with `more` so
 * near to it that no PSB can begin before). What it passes over is in the ledger and in no gap record. */
int assay_pt_decoder_resync(struct assay_pt_decoder *d);
uint64_t assay_pt_decoder_pos(const struct assay_pt_decoder *d);
/* Continues with other memory that holds the stream from assay_pt_decoder_pos() on; state and ledger are kept. */
void assay_pt_decoder_refill(struct assay_pt_decoder *d, const void *data, size_t size);
/* The last damage, code 0 when there was none; also in the gap records. */
const struct assay_diag *assay_pt_decoder_diag(const struct assay_pt_decoder *d);
/* What became of the bytes handed in so far. Its sum always closes. */
const struct assay_ledger *assay_pt_decoder_ledger(struct assay_pt_decoder *d);

/* One packet from p[0..size): its size (> 0), or ASSAY_E_TRUNCATED, or ASSAY_E_BAD_PACKET. Stateless: IP packets get
 * payload and ipbytes, ip.ip is 0 and not known; offset is 0; block_item as in the decoder. `why` (may be NULL) gets a
 * constant text where the result is negative. */
int assay_pt_decode(const uint8_t *p, size_t size, uint8_t block_item, struct assay_pt_packet *out, const char **why);
/* Applies an IP packet's payload to *last_ip and fills p->ip.ip and p->ip.known; *last_ip stays when suppressed. */
void assay_pt_last_ip(struct assay_pt_packet *p, uint64_t *last_ip);
/* Bytes of p into buf (ASSAY_PT_MAX_PACKET bytes); the size, or ASSAY_E_ARGUMENT when a field does not fit its packet or
 * holds a value that decoding refuses. IP packets: ipbytes and payload are written, the rest of .ip is not looked at. */
int assay_pt_encode(const struct assay_pt_packet *p, uint8_t *buf);
/* Picks the shortest IPBytes that gets from last_ip to ip, and fills p->ip. */
void assay_pt_compress_ip(struct assay_pt_packet *p, uint64_t ip, uint64_t last_ip);
/* Offset of the first PSB in p[0..size), or size. */
size_t assay_pt_find_psb(const uint8_t *p, size_t size);
/* "TNT", "TIP.PGE", "MODE.Exec" ...; "gap" for ASSAY_PT_GAP. Constant. */
const char *assay_pt_name(unsigned type);
/* One line without the newline / one JSON object, as `assay dump` prints them. */
void assay_pt_print(const struct assay_pt_packet *p, struct assay_out *o);
void assay_pt_print_json(const struct assay_pt_packet *p, struct assay_json *j);
/* The members of that object alone, for a caller that opens it and adds others. */
void assay_pt_json_members(const struct assay_pt_packet *p, struct assay_json *j);

#ifdef __cplusplus
}
#endif
#endif
