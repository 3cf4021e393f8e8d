/* SPDX-License-Identifier: MIT */
/* Fuzzes the perf.data reader: any bytes are read to their end, and the ledger closes. */
#include <assay/perfdata.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_trace(const struct assay_perf *f, const struct assay_perf_record *r)
{
    uint8_t buf[64];
    if (r->type == ASSAY_PERF_AUXTRACE && assay_perf_read(f, r->auxtrace.data, buf, sizeof buf) < 0)
        abort();
}

static void read_all(struct assay_perf *f)
{
    struct assay_perf_record r;
    int rc;
    while ((rc = assay_perf_next(f, &r)) != 0) {
        if (rc > 0)
            read_trace(f, &r);
        if (rc < 0 && assay_perf_diag(f)->code != rc)
            abort();
    }
    for (unsigned i = 0; i < 256; i++)
        assay_perf_feature_string(f, i);
    if (!assay_ledger_closes(assay_perf_ledger(f)) || assay_perf_ledger(f)->unread != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct assay_perf *f;
    struct assay_error e;
    if (assay_perf_open(path, &f, &e) == ASSAY_OK) {
        read_all(f);
        assay_perf_close(f);
    }
    close(fd);
    return 0;
}
