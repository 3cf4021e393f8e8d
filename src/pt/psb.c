/* SPDX-License-Identifier: MIT */
/* The search for a PSB. */
#include <assay/pt.h>

#include <string.h>

static const uint8_t psb[ASSAY_PT_MAX_PACKET + 1] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
                                                     0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02};

/* The first PSB that begins in p[from..to], or SIZE_MAX. */
static size_t psb_from_to(const uint8_t *p, size_t from, size_t to)
{
    for (; from <= to; from++)
        if (memcmp(p + from, psb, ASSAY_PT_MAX_PACKET) == 0)
            return from;
    return SIZE_MAX;
}

/* Every PSB covers a whole word at a multiple of 8 from p, which is then one of two values. */
size_t assay_pt_find_psb(const uint8_t *p, size_t size)
{
    uint64_t even, odd, word;
    if (size < ASSAY_PT_MAX_PACKET)
        return size;
    memcpy(&even, psb, sizeof even);
    memcpy(&odd, psb + 1, sizeof odd);
    size_t last = size - ASSAY_PT_MAX_PACKET; /* where the last one can begin */
    for (size_t at = 0; at <= size - sizeof word; at += sizeof word) {
        memcpy(&word, p + at, sizeof word);
        if (word != even && word != odd)
            continue;
        size_t found = psb_from_to(p, at < 7 ? 0 : at - 7, at < last ? at : last);
        if (found != SIZE_MAX)
            return found;
    }
    return size;
}
