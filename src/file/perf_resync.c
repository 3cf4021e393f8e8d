/* SPDX-License-Identifier: MIT */
/* What looks like a record, and where records go on after damage. */
#include "perf_priv.h"

enum {
    CHAIN = 4,           /* so many sound records in a row are believed */
    MISC_UNUSED = 0x0ff8 /* beside cpumode and the flags of each type */
};

bool assay_pf_plausible(uint32_t type, uint32_t size) { return size >= PERF_HEADER && type > 0 && type < 1 << 16; }

enum verdict { NO, SOUND, UNSEEN };

/* Judges the record at s->p; *extent gets its bytes with all that belongs to it. UNSEEN: too few bytes are visible. */
static enum verdict judge(const struct perf_span *s, uint64_t *extent)
{
    if (s->n < PERF_HEADER)
        return s->left < PERF_HEADER && !s->open_ended ? NO : UNSEEN;
    uint32_t type = (uint32_t)perf_load(s->big, s->p, 4);
    unsigned misc = (unsigned)perf_load(s->big, s->p + 4, 2);
    uint32_t size = (uint32_t)perf_load(s->big, s->p + 6, 2);
    struct perf_type_info info = assay_pf_type(type);
    bool odd = type == ASSAY_PERF_COMPRESSED || type == ASSAY_PERF_HEADER_TRACING_DATA;
    if (!info.known || size < PERF_HEADER + (uint32_t)info.fixed || (size % 8 != 0 && !odd) ||
        (misc & MISC_UNUSED) != 0)
        return NO;
    if (size > s->left && !s->open_ended)
        return NO;
    if (s->n < PERF_HEADER + (size_t)info.fixed)
        return UNSEEN;
    uint64_t trailing = assay_pf_trailing(s->big, type, s->p + PERF_HEADER, info.fixed);
    if (size <= s->left && trailing > s->left - size && !s->open_ended)
        return NO;
    *extent = trailing > UINT64_MAX - size ? UINT64_MAX : size + trailing;
    return SOUND;
}

/* A record alone is believed where it ends with the data, two where the data ends inside the next one. */
static bool chain_sound(struct perf_span s)
{
    for (unsigned i = 0; i < CHAIN; i++) {
        bool data_ends = s.n == s.left;
        uint64_t extent = 0;
        enum verdict v = judge(&s, &extent);
        if (v == NO)
            return false;
        if (v == UNSEEN)
            return i > (data_ends ? 1 : 0);
        if (extent == s.left)
            return true;
        if (extent >= s.n)
            return i > 0 || extent < s.left;
        s.p += extent;
        s.n -= (size_t)extent;
        s.left -= extent;
    }
    return true;
}

size_t assay_pf_find_sound(const struct perf_span *s, size_t limit, unsigned step)
{
    for (size_t at = 0; at < limit; at += step) {
        struct perf_span from = *s;
        from.p += at;
        from.n -= at;
        from.left -= at;
        if (chain_sound(from))
            return at;
    }
    return limit;
}
