/* SPDX-License-Identifier: MIT */
/* What must hold for any bytes whatever; shared by the property tests and the fuzzer. Complaints are constant texts. */
#ifndef ASSAY_TESTS_PACKET_CHECK_H
#define ASSAY_TESTS_PACKET_CHECK_H

#include <assay/pt.h>

#include <string.h>

static inline uint64_t packet_bytes(const struct assay_pt_packet *p)
{
    return p->type == ASSAY_PT_GAP ? p->gap.bytes : p->size;
}

/* All that a packet says, as text. */
static inline size_t packet_text(const struct assay_pt_packet *p, char *text, size_t size)
{
    struct assay_out o;
    struct assay_json j;
    assay_out_init(&o, text, size - 1, NULL, NULL);
    assay_json_init(&j, &o);
    assay_pt_print_json(p, &j);
    text[o.len] = '\0';
    return o.len;
}

static inline bool packets_equal(const struct assay_pt_packet *a, const struct assay_pt_packet *b)
{
    char text[2][400];
    size_t n = packet_text(a, text[0], sizeof text[0]);
    return packet_text(b, text[1], sizeof text[1]) == n && memcmp(text[0], text[1], n) == 0;
}

/* Encoding what was decoded gives a packet that decodes to the same. */
static inline const char *check_round_trip(const struct assay_pt_packet *p, uint8_t block_item)
{
    uint8_t bytes[ASSAY_PT_MAX_PACKET];
    struct assay_pt_packet again, bare = *p;
    int n = assay_pt_encode(p, bytes);
    if (n <= 0 || n > p->size)
        return "a decoded packet does not encode";
    if (n < p->size && p->type != ASSAY_PT_CYC)
        return "a decoded packet encodes to fewer bytes";
    if (assay_pt_decode(bytes, (size_t)n, block_item, &again, NULL) != n)
        return "an encoded packet does not decode";
    again.offset = bare.offset;
    again.size = bare.size;
    if (again.type >= ASSAY_PT_TIP && again.type <= ASSAY_PT_FUP) {
        bare.ip.ip = 0;
        bare.ip.known = false;
    }
    return packets_equal(&bare, &again) ? NULL : "a packet is another after its round trip";
}

/* Packets and gaps follow each other without a hole to the end, and the ledger says the same. */
static inline const char *check_stream(const uint8_t *data, size_t size, bool synced)
{
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    uint64_t at = 0, passed_over = 0;
    assay_pt_decoder_init(&d, data, size, 0, synced);
    for (uint8_t item = 0; assay_pt_decoder_next(&d, &p); item = d.block_item) {
        if (p.offset != at || packet_bytes(&p) == 0)
            return "packets overlap or leave a hole";
        at += packet_bytes(&p);
        if (p.type == ASSAY_PT_GAP)
            passed_over += p.gap.bytes;
        const char *complaint = p.type == ASSAY_PT_GAP ? NULL : check_round_trip(&p, item);
        if (complaint)
            return complaint;
        if (!assay_ledger_closes(assay_pt_decoder_ledger(&d)))
            return "the ledger does not close on the way";
    }
    const struct assay_ledger *l = assay_pt_decoder_ledger(&d);
    if (at != size || assay_pt_decoder_pos(&d) != size)
        return "the end was not reached";
    if (!assay_ledger_closes(l) || l->in != size || l->unread != 0 || assay_ledger_skipped(l) != passed_over)
        return "the ledger is wrong at the end";
    return NULL;
}

/* The same packets come many at a time. */
static inline const char *check_batches(const uint8_t *data, size_t size, size_t n, bool synced)
{
    struct assay_pt_decoder one, many;
    struct assay_pt_packet a, b[300];
    assay_pt_decoder_init(&one, data, size, 0, synced);
    assay_pt_decoder_init(&many, data, size, 0, synced);
    for (size_t got; (got = assay_pt_decoder_batch(&many, b, n)) > 0;)
        for (size_t i = 0; i < got; i++)
            if (!assay_pt_decoder_next(&one, &a) || !packets_equal(&a, &b[i]))
                return "other packets in batches";
    if (assay_pt_decoder_next(&one, &a))
        return "fewer packets in batches";
    return memcmp(assay_pt_decoder_ledger(&one), assay_pt_decoder_ledger(&many), sizeof one.ledger) != 0
               ? "another ledger in batches"
               : NULL;
}

/* A decoder that is handed its bytes in parts, and the packets it has given but nobody has taken. */
struct in_parts {
    const uint8_t *data;
    size_t size, have, step;
    struct assay_pt_decoder d;
    struct assay_pt_packet p[64];
    size_t packets, taken;
};

/* The next packet, NULL at the end. One at a time or in batches, by the step. */
static inline const struct assay_pt_packet *next_in_parts(struct in_parts *s)
{
    while (s->taken == s->packets) {
        s->taken = 0;
        s->packets = assay_pt_decoder_batch(&s->d, s->p, s->step & 1 ? 1 : 64);
        if (s->packets > 0)
            break;
        if (s->have == s->size)
            return NULL;
        s->have = s->size - s->have < s->step ? s->size : s->have + s->step;
        s->d.more = s->have < s->size;
        size_t pos = (size_t)assay_pt_decoder_pos(&s->d);
        assay_pt_decoder_refill(&s->d, s->data + pos, s->have - pos);
    }
    return &s->p[s->taken++];
}

/* The same packets come when the bytes are handed in `step` at a time. */
static inline const char *check_refills(const uint8_t *data, size_t size, size_t step, bool synced)
{
    struct assay_pt_decoder whole;
    struct assay_pt_packet a;
    struct in_parts parts = {.data = data, .size = size, .have = step < size ? step : size, .step = step};
    assay_pt_decoder_init(&whole, data, size, 0, synced);
    assay_pt_decoder_init(&parts.d, data, parts.have, 0, synced);
    parts.d.more = parts.have < size;
    while (assay_pt_decoder_next(&whole, &a)) {
        const struct assay_pt_packet *b = next_in_parts(&parts);
        if (!b)
            return "fewer packets in parts";
        if (!packets_equal(&a, b))
            return "other packets in parts";
    }
    if (next_in_parts(&parts))
        return "more packets in parts";
    return memcmp(assay_pt_decoder_ledger(&whole), assay_pt_decoder_ledger(&parts.d), sizeof whole.ledger) != 0
               ? "another ledger in parts"
               : NULL;
}

#endif
