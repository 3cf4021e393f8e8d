/* SPDX-License-Identifier: MIT */
/* The byte ledger: what went in must come out as decoded, skipped or unread. */
#include <assay/base.h>

const char *assay_skip_name(enum assay_skip reason)
{
    static const char *const name[ASSAY_SKIP_REASONS] = {"before sync", "damaged", "truncated", "overlap"};
    return (unsigned)reason < ASSAY_SKIP_REASONS ? name[reason] : "unknown";
}

uint64_t assay_ledger_skipped(const struct assay_ledger *l)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ASSAY_SKIP_REASONS; i++)
        sum += l->skipped[i];
    return sum;
}

bool assay_ledger_closes(const struct assay_ledger *l)
{
    return l->in == l->decoded + assay_ledger_skipped(l) + l->unread;
}

void assay_ledger_add(struct assay_ledger *to, const struct assay_ledger *from)
{
    to->in += from->in;
    to->decoded += from->decoded;
    to->unread += from->unread;
    for (unsigned i = 0; i < ASSAY_SKIP_REASONS; i++)
        to->skipped[i] += from->skipped[i];
}
