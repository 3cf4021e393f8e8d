/* SPDX-License-Identifier: MIT */
/* The forms in which a profile is shown. */
#ifndef ASSAY_CLI_REPORT_H
#define ASSAY_CLI_REPORT_H

#include "cli.h"

#include <assay/profile.h>
#include <assay/recording.h>

struct report {
    const struct assay_pt_recording *rec;
    const struct assay_profile *profile;
    struct assay_ledger ledger;
    size_t top;            /* lines at most */
    unsigned min_permille; /* of call paths */
};

void report_header(struct cli *c, const struct report *r);
void report_functions(struct cli *c, const struct report *r);
void report_tree(struct cli *c, const struct report *r);
void report_edges(struct cli *c, const struct report *r);
void report_footer(struct cli *c, const struct report *r);
void report_json(struct cli *c, const struct report *r);
void report_csv(struct cli *c, const struct report *r);

/* report_sort.c: indices in the order of weight, heaviest first (caller frees); NULL when memory is out. */
uint32_t *report_sorted_functions(const struct report *r);
uint32_t *report_sorted_edges(const struct report *r);
/* Cycles where the recording has them, else instructions. */
double report_weight(const struct report *r, const struct assay_profile_counts *k);
bool report_has_cycles(const struct report *r);
/* "name" or "[binary+0x12]" into buf. */
const char *report_function_name(const struct report *r, uint32_t function, char *buf, size_t size);
const char *report_binary_name(const struct report *r, uint32_t function); /* last component of the path */

/* report_work.c: streams first .. end - 1 into a profile, which is finished. A CLI status, told on stderr. */
struct report_part {
    const struct assay_pt_recording *rec;
    size_t first, end;
    unsigned want; /* enum assay_profile_want */
};
int report_profile(struct cli *c, const struct report_part *part, unsigned threads, struct assay_profile *into,
                   struct assay_ledger *ledger);

#endif
