/* SPDX-License-Identifier: MIT */
/* assay explain: codes and registers, and how the answers are shown. */
#ifndef ASSAY_CLI_EXPLAIN_H
#define ASSAY_CLI_EXPLAIN_H

#include "events.h"

/* What assay_event_explain() takes. */
struct explain_codes {
    uint64_t code[4];
    unsigned n;
    unsigned schemes; /* mask of 1 << enum assay_event_scheme: PMUs that can have it, where none is named */
};

/* explain_perf.c: "cpu/event=0xb7,umask=0x1/u", "r1b7"; false when it does not look like that. *status: CLI_OK, or
 * CLI_USAGE after a message. */
bool explain_perf_string(struct cli *c, const char *text, struct explain_codes *x, int *status);
/* "type=4,config=0x1b7,config1=0x1": CLI_OK, or CLI_USAGE after a message. */
int explain_perf_attr(struct cli *c, const char *text, struct explain_codes *x);
/* 0x hex, decimal, or hex without prefix where it has a letter; n bytes of s. */
bool explain_number(const char *s, size_t n, uint64_t *v);

/* explain_print.c: the register by its fields. */
void explain_register(struct cli *c, const struct assay_event_msr *r, uint64_t value);
/* The answer with this number, from 1; `also`: with the other PMUs of the same rows. */
void explain_answer(struct cli *c, const struct events *e, const struct assay_event_code *code, unsigned number,
                    bool also);

#endif
