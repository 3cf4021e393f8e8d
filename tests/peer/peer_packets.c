/* SPDX-License-Identifier: MIT */
/* A second opinion on single packets: libipt's packet decoder on every pair of first bytes with random bytes behind. */
#include <assay/pt.h>

#include <intel-pt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static uint64_t seed = 88172645463325252u;

static uint8_t random_byte(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint8_t)(seed >> 40);
}

/* The size that libipt gives the packet at data, or its error. */
static int their_decode(uint8_t *data, size_t size, struct pt_packet *p)
{
    struct pt_config config;
    pt_config_init(&config);
    config.begin = data;
    config.end = data + size;
    struct pt_packet_decoder *d = pt_pkt_alloc_decoder(&config);
    assert_non_null(d);
    pt_pkt_sync_set(d, 0);
    int n = pt_pkt_next(d, p, sizeof *p);
    pt_pkt_free_decoder(d);
    return n;
}

/* Where docs/formats/intel-pt.md says that we differ on purpose: packets that libipt 2.0.5 does not know, both bits of a MODE, a
 * CYC of ten bytes. */
static bool differs_on_purpose(const uint8_t *p, const struct assay_pt_packet *ours)
{
    if (p[0] == 0x99)
        return (p[1] & 3) == 3;
    return ours->type == ASSAY_PT_CFE || ours->type == ASSAY_PT_EVD || ours->type == ASSAY_PT_BBP ||
           ours->type == ASSAY_PT_BEP || ours->type == ASSAY_PT_TRIG ||
           (ours->type == ASSAY_PT_CYC && ours->size == 10);
}

static bool says_the_same(const struct assay_pt_packet *a, const struct pt_packet *b)
{
    switch (b->type) {
    case ppt_tnt_8:
    case ppt_tnt_64:
        return a->tnt.count == b->payload.tnt.bit_size && a->tnt.bits == b->payload.tnt.payload;
    case ppt_tip:
    case ppt_tip_pge:
    case ppt_tip_pgd:
    case ppt_fup:
        return a->ip.ipbytes == b->payload.ip.ipc && a->ip.payload == b->payload.ip.ip;
    case ppt_mode:
        return a->type == ASSAY_PT_MODE_EXEC
                   ? b->payload.mode.leaf == pt_mol_exec && a->exec.cs_l == b->payload.mode.bits.exec.csl &&
                         a->exec.cs_d == b->payload.mode.bits.exec.csd
                   : b->payload.mode.leaf == pt_mol_tsx && a->tsx.in_tx == b->payload.mode.bits.tsx.intx &&
                         a->tsx.abort == b->payload.mode.bits.tsx.abrt;
    case ppt_pip:
        return a->pip.cr3 == b->payload.pip.cr3 && a->pip.nr == b->payload.pip.nr;
    case ppt_vmcs:
        return a->vmcs.base == b->payload.vmcs.base;
    case ppt_cbr:
        return a->cbr.ratio == b->payload.cbr.ratio;
    case ppt_tsc:
        return a->tsc.tsc == b->payload.tsc.tsc;
    case ppt_tma:
        return a->tma.ctc == b->payload.tma.ctc && a->tma.fc == b->payload.tma.fc;
    case ppt_mtc:
        return a->mtc.ctc == b->payload.mtc.ctc;
    case ppt_cyc:
        return a->cyc.cycles == b->payload.cyc.value;
    case ppt_mnt:
        return a->mnt.payload == b->payload.mnt.payload;
    case ppt_exstop:
        return a->exstop.ip == b->payload.exstop.ip;
    case ppt_mwait:
        return a->mwait.hints == b->payload.mwait.hints && a->mwait.ext == b->payload.mwait.ext;
    case ppt_pwre: /* HW: we read one bit more */
        return a->pwre.state == b->payload.pwre.state && a->pwre.sub_state == b->payload.pwre.sub_state &&
               a->pwre.hw >= b->payload.pwre.hw;
    case ppt_pwrx:
        return a->pwrx.deepest == b->payload.pwrx.deepest && a->pwrx.last == b->payload.pwrx.last &&
               (a->pwrx.wake & 1) == b->payload.pwrx.interrupt && (a->pwrx.wake >> 2 & 1) == b->payload.pwrx.store &&
               (a->pwrx.wake >> 3 & 1) == b->payload.pwrx.autonomous;
    case ppt_ptw:
        return a->ptw.payload == b->payload.ptw.payload && a->ptw.ip == b->payload.ptw.ip;
    default:
        return true;
    }
}

static void every_pair_of_first_bytes_is_read_alike(void **state)
{
    (void)state;
    unsigned same = 0;
    for (unsigned i = 0; i < 4 * 65536; i++) {
        uint8_t data[24] = {(uint8_t)i, (uint8_t)(i >> 8)};
        struct assay_pt_packet ours;
        struct pt_packet theirs;
        for (size_t k = 2; k < sizeof data; k++)
            data[k] = i >> 16 ? random_byte() : 0;
        if (i >> 17 && data[0] == 0x02) /* opcodes of three bytes, and reserved bytes that are 0 */
            data[2] = 0x88, data[4] = 0, data[6] &= 1;
        int n = assay_pt_decode(data, sizeof data, 0, &ours, NULL);
        int m = their_decode(data, sizeof data, &theirs);
        if (differs_on_purpose(data, &ours))
            continue;
        if (n < 0 || m < 0) {
            if (n > 0 || m > 0)
                fail_msg("%02x %02x %02x: %d, libipt %d", data[0], data[1], data[2], n, m);
            continue;
        }
        if (n != m || !says_the_same(&ours, &theirs))
            fail_msg("%02x %02x %02x: %d bytes, libipt %d, or another payload", data[0], data[1], data[2], n, m);
        same++;
    }
    assert_true(same > 200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pair_of_first_bytes_is_read_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
