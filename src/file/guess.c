/* SPDX-License-Identifier: MIT */
/* What a file that is not ours seems to be, so that the error message helps. */
#include "source.h"

#include <string.h>

struct magic {
    const char *bytes;
    size_t size;
    const char *name;
};

#define MAGIC(bytes, name)                                                                                             \
    {                                                                                                                  \
        bytes, sizeof bytes - 1, name                                                                                  \
    }
static const struct magic magics[] = {
    MAGIC("PERFFILE", "a perf.data of the first format, of Linux before 2.6.38"),
    MAGIC("ELIFFREP", "a perf.data of the first format, of Linux before 2.6.38"),
    MAGIC("\x7f"
          "ELF",
          "an ELF file"),
    MAGIC("\x02\x82\x02\x82\x02\x82\x02\x82", "raw Processor Trace; try --as pt"),
    MAGIC("\x1f\x8b", "a gzip file; unpack it first"),
    MAGIC("\x28\xb5\x2f\xfd", "a zstd file; unpack it first"),
    MAGIC("\xfd"
          "7zXZ",
          "an xz file; unpack it first"),
    MAGIC("BZh", "a bzip2 file; unpack it first"),
    MAGIC("PK\x03\x04", "a zip file; unpack it first"),
    MAGIC("JiTD", "a jitdump file"),
    MAGIC("DTiJ", "a jitdump file"),
    MAGIC("\x17\x08\x44tracing", "a trace.dat of trace-cmd"),
    MAGIC("<?xml", "XML"),
};

static bool is_text(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] == 0x7f || (p[i] < 0x20 && p[i] != '\t' && p[i] != '\n' && p[i] != '\r'))
            return false;
    return true;
}

static bool is_zeros(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return true;
}

const char *assay_source_guess(const uint8_t *head, size_t n)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (n >= magics[i].size && memcmp(head, magics[i].bytes, magics[i].size) == 0)
            return magics[i].name;
    if (is_zeros(head, n))
        return "zero bytes";
    return is_text(head, n) ? "text" : NULL;
}
