/* SPDX-License-Identifier: MIT */
/* Properties of the packet code over random packets and random damage, from fixed seeds. */
#include "packet_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static uint64_t seed;

/* xorshift64* */
static uint64_t random64(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(2685821657736338717);
}

static uint64_t random_below(uint64_t n) { return random64() % n; }
static bool coin(void) { return random64() >> 63; }
/* Of any length: small numbers as often as large ones. */
static uint64_t random_bits(unsigned width) { return random64() >> (64 - width) >> random_below(width); }

static void random_ip(struct assay_pt_packet *p)
{
    static const uint8_t ipbytes[] = {0, 1, 2, 3, 4, 6}, payload[] = {0, 16, 32, 48, 48, 64};
    size_t i = random_below(sizeof ipbytes);
    p->ip.ipbytes = ipbytes[i];
    p->ip.payload = payload[i] ? random_bits(payload[i]) : 0;
    p->ip.suppressed = ipbytes[i] == 0;
}

static void random_branches(struct assay_pt_packet *p, unsigned most)
{
    p->tnt.count = (uint8_t)(1 + random_below(most));
    p->tnt.bits = random64() >> (64 - p->tnt.count);
}

/* PEBS, power and event packets. */
static void random_rare(struct assay_pt_packet *p)
{
    switch (p->type) {
    case ASSAY_PT_EXSTOP:
    case ASSAY_PT_BEP:
        p->bep.ip = coin();
        break;
    case ASSAY_PT_MWAIT:
        p->mwait.hints = (uint32_t)random64();
        p->mwait.ext = (uint32_t)random64();
        break;
    case ASSAY_PT_PWRE:
        p->pwre.state = (uint8_t)random_below(16);
        p->pwre.sub_state = (uint8_t)random_below(16);
        p->pwre.hw = coin();
        break;
    case ASSAY_PT_PWRX:
        p->pwrx.last = (uint8_t)random_below(16);
        p->pwrx.deepest = (uint8_t)random_below(16);
        p->pwrx.wake = (uint8_t)random_below(16);
        break;
    case ASSAY_PT_CFE:
        p->cfe.type = (uint8_t)random_below(32);
        p->cfe.vector = (uint8_t)random64();
        p->cfe.ip = coin();
        break;
    case ASSAY_PT_EVD:
        p->evd.type = (uint8_t)random_below(64);
        p->evd.payload = random_bits(64);
        break;
    case ASSAY_PT_BBP:
        p->bbp.type = (uint8_t)random_below(32);
        p->bbp.item_bytes = coin() ? 4 : 8;
        break;
    case ASSAY_PT_TRIG:
        p->trig.trbv = (uint8_t)random64();
        p->trig.ip = coin();
        p->trig.mult = coin();
        p->trig.icntv = coin();
        p->trig.icnt = p->trig.icntv ? (uint16_t)random64() : 0;
        break;
    default:
        break;
    }
}

static struct assay_pt_packet random_packet(unsigned type, uint8_t block_item)
{
    struct assay_pt_packet p = {.type = (uint8_t)type};
    switch (type) {
    case ASSAY_PT_TNT:
        random_branches(&p, 6);
        break;
    case ASSAY_PT_TNT64:
        random_branches(&p, 47);
        break;
    case ASSAY_PT_TIP:
    case ASSAY_PT_TIP_PGE:
    case ASSAY_PT_TIP_PGD:
    case ASSAY_PT_FUP:
        random_ip(&p);
        break;
    case ASSAY_PT_PIP:
        p.pip.cr3 = random_bits(47) << 5;
        p.pip.nr = coin();
        break;
    case ASSAY_PT_MODE_EXEC:
        p.exec.cs_l = coin();
        p.exec.cs_d = !p.exec.cs_l && coin();
        p.exec.iflag = coin();
        break;
    case ASSAY_PT_MODE_TSX:
        p.tsx.in_tx = coin();
        p.tsx.abort = !p.tsx.in_tx && coin();
        break;
    case ASSAY_PT_CBR:
        p.cbr.ratio = (uint8_t)random64();
        p.cbr.reserved = (uint8_t)random64();
        break;
    case ASSAY_PT_TSC:
        p.tsc.tsc = random_bits(56);
        break;
    case ASSAY_PT_MTC:
        p.mtc.ctc = (uint8_t)random64();
        break;
    case ASSAY_PT_TMA:
        p.tma.ctc = (uint16_t)random64();
        p.tma.fc = (uint16_t)random_below(512);
        break;
    case ASSAY_PT_CYC:
        p.cyc.cycles = random_bits(64);
        break;
    case ASSAY_PT_VMCS:
        p.vmcs.base = random_bits(40) << 12;
        break;
    case ASSAY_PT_MNT:
        p.mnt.payload = random_bits(64);
        break;
    case ASSAY_PT_PTW:
        p.ptw.bytes = coin() ? 4 : 8;
        p.ptw.payload = random_bits(8 * p.ptw.bytes);
        p.ptw.ip = coin();
        break;
    case ASSAY_PT_BIP:
        p.bip.id = (uint8_t)random_below(32);
        p.bip.bytes = block_item;
        p.bip.value = random_bits(8 * block_item);
        break;
    default:
        random_rare(&p);
    }
    return p;
}

static void random_packets_survive(void **state)
{
    (void)state;
    seed = 1;
    for (unsigned i = 0; i < 200000; i++) {
        uint8_t bytes[ASSAY_PT_MAX_PACKET], block_item = i & 64 ? 4 : 8;
        struct assay_pt_packet p = random_packet(i % ASSAY_PT_TYPES, block_item), again;
        int n = assay_pt_encode(&p, bytes);
        assert_in_range(n, 1, ASSAY_PT_MAX_PACKET);
        if (p.type != ASSAY_PT_BIP)
            block_item = 0;
        assert_int_equal(assay_pt_decode(bytes, (size_t)n, block_item, &again, NULL), n);
        p.size = (uint8_t)n;
        assert_true(packets_equal(&p, &again));
    }
}

struct sample {
    uint8_t data[4096];
    size_t size, psb[8], psbs;
};

static void append(struct sample *s, const struct assay_pt_packet *p)
{
    int n = assay_pt_encode(p, s->data + s->size);
    assert_true(n > 0);
    s->size += (size_t)n;
}

/* PSBs with random packets between them; items only where a block is open. */
static void make_sample(struct sample *s, uint64_t from)
{
    seed = from;
    s->size = s->psbs = 0;
    while (s->psbs < 8) {
        struct assay_pt_packet p = {.type = ASSAY_PT_PSB};
        s->psb[s->psbs++] = s->size;
        append(s, &p);
        for (uint64_t n = 10 + random_below(10); n > 0; n--) {
            do
                p = random_packet((unsigned)random_below(ASSAY_PT_TYPES), 8);
            while (p.type == ASSAY_PT_PSB || p.type == ASSAY_PT_BIP || p.type == ASSAY_PT_BBP);
            append(s, &p);
        }
        p = (struct assay_pt_packet){.type = ASSAY_PT_BBP, .bbp = {.type = 1, .item_bytes = 8}};
        append(s, &p);
        p = random_packet(ASSAY_PT_BIP, 8);
        append(s, &p);
    }
}

static void ok(const char *complaint)
{
    if (complaint)
        fail_msg("%s", complaint);
}

static void random_bytes_are_accounted_for(void **state)
{
    (void)state;
    static uint8_t data[4096];
    seed = 2;
    for (unsigned round = 0; round < 300; round++) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)(round & 1 ? random64() >> 56 : 0x02 + (random64() >> 60 << 4) + (random64() >> 63));
        for (size_t at = random_below(200); at + 16 < sizeof data; at += 100 + random_below(300))
            for (size_t i = 0; i < 16; i++)
                data[at + i] = i & 1 ? 0x82 : 0x02;
        ok(check_stream(data, sizeof data, round & 2));
        ok(check_batches(data, sizeof data, 1 + random_below(300), round & 2));
    }
}

static size_t decode_all(const uint8_t *data, size_t size, struct assay_pt_packet *out, size_t room)
{
    struct assay_pt_decoder d;
    size_t n = 0;
    assay_pt_decoder_init(&d, data, size, 0, true);
    while (n < room && assay_pt_decoder_next(&d, &out[n]))
        n++;
    return n;
}

enum { ROOM = 1500 };
static struct assay_pt_packet whole[ROOM], part[ROOM];

static void a_prefix_gives_the_same_packets(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, 3);
    size_t n = decode_all(s.data, s.size, whole, ROOM);
    for (size_t size = 0; size <= s.size; size++) {
        size_t m = decode_all(s.data, size, part, ROOM), same = 0;
        while (same < n && whole[same].offset + whole[same].size <= size)
            same++;
        bool cut = size > 0 && same < n && whole[same].offset < size;
        assert_int_equal(m, same + cut);
        for (size_t i = 0; i < same; i++)
            assert_true(packets_equal(&whole[i], &part[i]));
        if (cut)
            assert_int_equal(part[same].gap.code, ASSAY_E_TRUNCATED);
        ok(check_stream(s.data, size, true));
    }
}

/* A wrong packet may hide the PSB right behind it, but not the one after that. */
static uint64_t sound_again(const struct sample *s, size_t byte)
{
    for (size_t i = 0; i + 1 < s->psbs; i++)
        if (s->psb[i] > byte)
            return s->psb[i + 1];
    return s->size;
}

static void a_flipped_bit_does_no_harm_after_the_next_psbs(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, 4);
    size_t n = decode_all(s.data, s.size, whole, ROOM);
    for (size_t bit = 0; bit < 8 * s.size; bit++) {
        s.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ok(check_stream(s.data, s.size, true));
        size_t m = decode_all(s.data, s.size, part, ROOM);
        for (size_t i = 0; whole[i].offset + whole[i].size <= bit / 8; i++)
            assert_true(packets_equal(&whole[i], &part[i]));
        uint64_t sound = sound_again(&s, bit / 8);
        for (size_t i = n, j = m; i-- > 0 && whole[i].offset >= sound;)
            assert_true(j-- > 0 && packets_equal(&whole[i], &part[j]));
        s.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void parts_give_the_same_packets_as_the_whole(void **state)
{
    (void)state;
    struct sample s;
    for (uint64_t from = 5; from < 9; from++) {
        make_sample(&s, from);
        for (unsigned damage = 0; damage < (from - 5) * 4; damage++)
            s.data[random_below(s.size)] ^= (uint8_t)random64();
        for (size_t step = 1; step <= s.size; step++)
            ok(check_refills(s.data, s.size, step, from & 1));
    }
}

/* Mostly what the batches decode without asking what it is, with all of its forms. */
static void batches_give_the_same_packets(void **state)
{
    (void)state;
    static uint8_t data[1 << 16];
    static const uint8_t rare[] = {ASSAY_PT_PSB, ASSAY_PT_OVF, ASSAY_PT_BBP, ASSAY_PT_BIP, ASSAY_PT_TNT64};
    static const uint8_t common[] = {ASSAY_PT_PAD,     ASSAY_PT_TNT, ASSAY_PT_TNT, ASSAY_PT_TNT,
                                     ASSAY_PT_CYC,     ASSAY_PT_CYC, ASSAY_PT_TIP, ASSAY_PT_TIP_PGE,
                                     ASSAY_PT_TIP_PGD, ASSAY_PT_FUP, ASSAY_PT_MTC, ASSAY_PT_TSC};
    seed = 6;
    for (unsigned round = 0; round < 20; round++) {
        size_t size = 0;
        while (size < sizeof data - ASSAY_PT_MAX_PACKET) {
            bool often = random_below(50) > 0;
            unsigned type = often ? common[random_below(sizeof common)] : rare[random_below(sizeof rare)];
            struct assay_pt_packet p = random_packet(size ? type : ASSAY_PT_PSB, 8);
            if (round & 1 && p.type == ASSAY_PT_CYC)
                p.cyc.cycles &= 4095;
            if (round & 2 && p.type == ASSAY_PT_TNT) /* no single bytes for long */
                p.type = ASSAY_PT_MTC;
            size += (size_t)assay_pt_encode(&p, data + size);
        }
        ok(check_batches(data, size, 1 + random_below(300), round & 4));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_packets_survive),
        cmocka_unit_test(random_bytes_are_accounted_for),
        cmocka_unit_test(a_prefix_gives_the_same_packets),
        cmocka_unit_test(a_flipped_bit_does_no_harm_after_the_next_psbs),
        cmocka_unit_test(batches_give_the_same_packets),
        cmocka_unit_test(parts_give_the_same_packets_as_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
