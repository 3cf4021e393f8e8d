/* SPDX-License-Identifier: MIT */
/* assay dump: the window over a stream of trace bytes, and which packets are shown. */
#ifndef ASSAY_CLI_DUMP_H
#define ASSAY_CLI_DUMP_H

#include "cli.h"

#include <assay/pt.h>

struct dump_filter {
    bool hide[ASSAY_PT_TYPES + 1]; /* gaps are never hidden */
    uint64_t from, to;             /* offsets of packets: [from, to) */
};

/* Where the bytes come from: up to n of them into buf, 0 at the end, < 0 after an error was filled in. */
struct dump_source {
    int64_t (*read)(void *ctx, void *buf, size_t n, struct assay_error *e);
    void *ctx;
};

struct dump {
    struct cli *cli;
    struct dump_filter filter;
    int64_t stream; /* named in JSON; -1: there is only one */
    uint8_t *window;
    size_t window_size;
    struct assay_ledger ledger; /* of all that was decoded */
    struct cli_progress progress;
};

/* Prints the packets of one piece of trace whose first byte has the offset `base`. The first `have` bytes are in the
 * window already. 1 when the filter wants nothing behind it, 0, or the error of the source. */
int dump_packets(struct dump *d, const struct dump_source *source, uint64_t base, size_t have, struct assay_error *e);
/* Prints all streams of a perf.data, or one of them. An exit status, after a message where it is not CLI_OK. */
int dump_perf(struct dump *d, const char *path, const uint64_t *only_stream);

#endif
