/* SPDX-License-Identifier: MIT */
/* For tests: a packet stream as a line of words, "PSB CBR:24 PSBEND MODE:64 PGE/2:401000 CYC:7 TNT:TN PGD". */
#ifndef ASSAY_TESTS_PT_WORDS_H
#define ASSAY_TESTS_PT_WORDS_H

#include <assay/pt.h>
#include <stdio.h>
#include <string.h>

/* The word of one packet; IP packets as name/ipbytes:ip. NULL for a packet that the unit under test never writes. */
static inline const char *pt_word(const struct assay_pt_packet *p, char *buf, size_t size)
{
    static const char *const ip_name[] = {
        [ASSAY_PT_TIP] = "TIP", [ASSAY_PT_TIP_PGE] = "PGE", [ASSAY_PT_TIP_PGD] = "PGD", [ASSAY_PT_FUP] = "FUP"};
    switch (p->type) {
    case ASSAY_PT_PSB:
    case ASSAY_PT_PSBEND:
    case ASSAY_PT_OVF:
        return assay_pt_name(p->type);
    case ASSAY_PT_TNT: {
        size_t n = (size_t)snprintf(buf, size, "TNT:");
        for (unsigned i = p->tnt.count; i-- > 0;)
            buf[n++] = p->tnt.bits >> i & 1 ? 'T' : 'N';
        buf[n] = '\0';
        return buf;
    }
    case ASSAY_PT_TIP:
    case ASSAY_PT_TIP_PGE:
    case ASSAY_PT_TIP_PGD:
    case ASSAY_PT_FUP:
        if (p->ip.suppressed)
            return ip_name[p->type];
        snprintf(buf, size, "%s/%u:%llx", ip_name[p->type], p->ip.ipbytes, (unsigned long long)p->ip.ip);
        return buf;
    case ASSAY_PT_MODE_EXEC:
        snprintf(buf, size, "MODE:%u", p->exec.cs_l ? 64 : p->exec.cs_d ? 32 : 16);
        return buf;
    case ASSAY_PT_PIP:
        snprintf(buf, size, "PIP:%llx", (unsigned long long)p->pip.cr3);
        return buf;
    case ASSAY_PT_CBR:
        snprintf(buf, size, "CBR:%u", p->cbr.ratio);
        return buf;
    case ASSAY_PT_TSC:
        snprintf(buf, size, "TSC:%llu", (unsigned long long)p->tsc.tsc);
        return buf;
    case ASSAY_PT_TMA:
        snprintf(buf, size, "TMA:%u,%u", p->tma.ctc, p->tma.fc);
        return buf;
    case ASSAY_PT_MTC:
        snprintf(buf, size, "MTC:%u", p->mtc.ctc);
        return buf;
    case ASSAY_PT_CYC:
        snprintf(buf, size, "CYC:%llu", (unsigned long long)p->cyc.cycles);
        return buf;
    case ASSAY_PT_PTW:
        snprintf(buf, size, "PTW%u%s:%llx", p->ptw.bytes, p->ptw.ip ? "+" : "", (unsigned long long)p->ptw.payload);
        return buf;
    default:
        return NULL;
    }
}

#endif
