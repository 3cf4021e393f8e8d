/* SPDX-License-Identifier: MIT */
/* Status codes, error reports and the byte ledger that every decoder keeps. */
#ifndef ASSAY_BASE_H
#define ASSAY_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Results are 0 or positive for success; errors are negative, in three families that fix the exit status of the command:
 * data (the input is at fault), use (the request is at fault), system (the machine is at fault). */
enum assay_status {
    ASSAY_OK = 0,

    ASSAY_E_TRUNCATED = -1,      /* the input ends inside a record */
    ASSAY_E_BAD_PACKET = -2,     /* bytes that are no packet, or a reserved value in one */
    ASSAY_E_BAD_FORMAT = -3,     /* a file structure that contradicts itself */
    ASSAY_E_NO_SYNC = -4,        /* no synchronisation point (PSB) in the rest of the input */
    ASSAY_E_NO_CODE = -5,        /* no instruction bytes are known for an address */
    ASSAY_E_MISMATCH = -6,       /* the trace contradicts the code, or a packet came where another was due */
    ASSAY_E_LOOP = -7,           /* a loop of direct branches that the trace never leaves */
    ASSAY_E_NOT_RECOGNISED = -8, /* the input is in no known format */

    ASSAY_E_ARGUMENT = -100,    /* a value the interface does not take */
    ASSAY_E_UNSUPPORTED = -101, /* valid, but not offered by this build, unit or file */
    ASSAY_E_NOT_FOUND = -102,   /* a named thing that is not there */

    ASSAY_E_MEMORY = -200, /* allocation failed */
    ASSAY_E_SYSTEM = -201, /* a system call failed; see assay_error.sys */
    ASSAY_E_EXISTS = -202, /* the output is there already */
};

static inline bool assay_is_data_error(int code) { return code < 0 && code > -100; }

/* What a pure decoder says of its last error. The strings are constants; nothing is owned. */
struct assay_diag {
    int code;             /* enum assay_status, 0 when there was none */
    uint64_t offset;      /* byte offset in the input */
    uint64_t ip;          /* code address it was at, 0 when none */
    const char *what;     /* what is wrong: "reserved IPBytes value" */
    const char *expected; /* what should have stood there, NULL when nothing can be said */
};

/* What a fallible operation outside the pure core says of its error. Text is NUL terminated, one line, no newline. */
struct assay_error {
    int code;        /* enum assay_status */
    int sys;         /* errno for ASSAY_E_SYSTEM, else 0 */
    uint64_t offset; /* byte offset in the input, UINT64_MAX when it has none */
    char text[320];
};

/* Fills *e (may be NULL) and returns code, so that a caller can write `return assay_error_set(...)`.
 * Formats with vsnprintf; outside the pure core only. */
int assay_error_set(struct assay_error *e, int code, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a failed system call: appends strerror(sys). */
int assay_error_sys(struct assay_error *e, int sys, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A constant word for a status code: "bad packet". Never NULL. */
const char *assay_status_name(int code);

/* Why bytes were passed over. */
enum assay_skip {
    ASSAY_SKIP_BEFORE_SYNC, /* before the first synchronisation point */
    ASSAY_SKIP_DAMAGED,     /* from a damaged place to the next synchronisation point */
    ASSAY_SKIP_TRUNCATED,   /* an incomplete last record */
    ASSAY_SKIP_OVERLAP,     /* seen before (snapshot copies) */
    ASSAY_SKIP_REASONS
};
const char *assay_skip_name(enum assay_skip reason);

/* in = decoded + sum(skipped) + unread, always. */
struct assay_ledger {
    uint64_t in;
    uint64_t decoded;
    uint64_t skipped[ASSAY_SKIP_REASONS];
    uint64_t unread;
};
uint64_t assay_ledger_skipped(const struct assay_ledger *l);
bool assay_ledger_closes(const struct assay_ledger *l);
void assay_ledger_add(struct assay_ledger *to, const struct assay_ledger *from);

#ifdef __cplusplus
}
#endif
#endif
