/* SPDX-License-Identifier: MIT */
/* The head of the file: magic, byte order, sections; what of the file lies where. */
#include "perf_priv.h"

#include <errno.h>
#include <string.h>

enum {
    HEADER_PIPE = 16,
    HEADER_OLD = 72, /* without feature bits */
    HEADER_FULL = 104,
    AT_SIZE = 8, /* offsets in the header */
    AT_ATTR_SIZE = 16,
    AT_ATTRS = 24,
    AT_DATA = 40,
    AT_FEATURES = 72,
    SECTION = 16,
};

static struct perf_section section_at(const struct assay_perf *f, const uint8_t *p)
{
    return (struct perf_section){perf_load(f->big, p, 8), perf_load(f->big, p + 8, 8)};
}

/* The bits are an array of the writer's unsigned longs; little-endian ones read the same in any width. */
static bool feature_bit(const uint8_t *bits, bool big, unsigned width, unsigned n)
{
    unsigned byte = n / 8;
    if (big)
        byte = byte / width * width + (width - 1 - byte % width);
    return bits[byte] >> n % 8 & 1;
}

/* perf always writes the host name: where it is missing at one width of long, the other was meant. */
static unsigned feature_width(const uint8_t *bits, bool big)
{
    return !feature_bit(bits, big, 8, ASSAY_PERF_FEAT_HOSTNAME) && feature_bit(bits, big, 4, ASSAY_PERF_FEAT_HOSTNAME)
               ? 4
               : 8;
}

/* Reads the table of feature sections behind the data: their number, or -1 when the file has not all of it. Sections that do
 * not fit the file are left out and counted in *bad. */
static int read_sections(struct assay_perf *f, const uint8_t *bits, uint64_t table, unsigned *bad)
{
    unsigned width = feature_width(bits, f->big);
    int n = 0;
    for (unsigned i = 0; i < PERF_FEATURES; i++) {
        if (!feature_bit(bits, f->big, width, i))
            continue;
        uint8_t entry[SECTION];
        if (assay_source_read(&f->src, table + (uint64_t)n * SECTION, entry, SECTION) != SECTION)
            return -1;
        struct perf_section s = section_at(f, entry);
        bool fits = s.offset <= f->src.size && s.size <= f->src.size - s.offset;
        f->section[i] = fits ? s : (struct perf_section){0};
        *bad += !fits;
        n++;
    }
    return n;
}

/* What is outside of the data section is read at opening. Bytes between the sections hold nothing that could be lost. */
static void open_ledger(struct assay_perf *f)
{
    f->ledger.in = f->src.size;
    f->ledger.unread = f->end - f->data;
    f->ledger.decoded = f->ledger.in - f->ledger.unread;
}

static void set_data(struct assay_perf *f, uint64_t data, uint64_t end)
{
    f->data = f->pos = data < f->src.size ? data : f->src.size;
    f->end = end < f->src.size ? end : f->src.size;
    if (f->end < f->data)
        f->end = f->data;
}

static void set_pipe(struct assay_perf *f)
{
    f->open_ended = true;
    set_data(f, HEADER_PIPE, f->src.size);
    open_ledger(f);
}

/* The data's end is not known, or is past the end of the file: what there is counts. */
static void set_open_ended(struct assay_perf *f, struct perf_section data)
{
    f->open_ended = true;
    f->end_fault = data.size == 0 ? "the recording was not finished: its header has no data size"
                                  : "the file ends before its data section does";
    memset(f->section, 0, sizeof f->section);
    set_data(f, data.offset, f->src.size);
    open_ledger(f);
}

/* Where the data section ends and the features are. perf writes the size when it finishes: 0 means that it did not,
 * unless there were no records at all and the feature table follows at once. */
static void place_data(struct assay_perf *f, struct perf_section data, const uint8_t *bits)
{
    bool fits = data.offset <= f->src.size && data.size <= f->src.size - data.offset;
    unsigned bad = 0;
    int n = fits && bits ? read_sections(f, bits, data.offset + data.size, &bad) : 0;
    if (!fits || (data.size == 0 && (n <= 0 || bad > 0))) {
        set_open_ended(f, data);
        return;
    }
    set_data(f, data.offset, data.offset + data.size);
    open_ledger(f);
    if (bad > 0)
        f->end_fault = "a feature section lies outside of the file";
    if (n < 0) {
        f->end_fault = "the file ends inside the table of its feature sections";
        f->ledger.decoded -= f->src.size - f->end;
        f->ledger.skipped[ASSAY_SKIP_TRUNCATED] += f->src.size - f->end;
    }
}

static int set_file(struct assay_perf *f, const uint8_t *h, uint64_t size)
{
    int rc = assay_pf_read_attrs(f, section_at(f, h + AT_ATTRS), perf_load(f->big, h + AT_ATTR_SIZE, 8));
    if (rc == ASSAY_OK)
        place_data(f, section_at(f, h + AT_DATA), size >= HEADER_FULL ? h + AT_FEATURES : NULL);
    return rc;
}

static int not_perf_data(const char *name, const uint8_t *h, size_t n, struct assay_error *e)
{
    const char *guess = assay_source_guess(h, n);
    return assay_error_set(e, ASSAY_E_NOT_RECOGNISED, 0,
                           guess ? "%s: not a perf.data file (it starts like %s)" : "%s: not a perf.data file", name,
                           guess);
}

int assay_pf_read_header(struct assay_perf *f, const char *name, struct assay_error *e)
{
    uint8_t h[HEADER_FULL] = {0};
    int64_t n = assay_source_read(&f->src, 0, h, sizeof h);
    if (n < 0)
        return assay_error_sys(e, EIO, "cannot read %s", name);
    bool little = n >= 8 && memcmp(h, "PERFILE2", 8) == 0;
    f->big = n >= 8 && memcmp(h, "2ELIFREP", 8) == 0;
    if (!little && !f->big)
        return not_perf_data(name, h, (size_t)n, e);
    uint64_t size = n >= HEADER_PIPE ? perf_load(f->big, h + AT_SIZE, 8) : 0;
    if (n < HEADER_PIPE || (size != HEADER_PIPE && n < HEADER_OLD))
        return assay_error_set(e, ASSAY_E_TRUNCATED, (uint64_t)n, "%s: ends inside its header", name);
    if (size != HEADER_PIPE && (size < HEADER_OLD || (size >= HEADER_FULL && n < HEADER_FULL)))
        return assay_error_set(e, ASSAY_E_BAD_FORMAT, AT_SIZE,
                               "%s: a perf.data header of %llu bytes; 16 or 104 expected", name,
                               (unsigned long long)size);
    int rc = ASSAY_OK;
    if (size == HEADER_PIPE)
        set_pipe(f);
    else
        rc = set_file(f, h, size);
    if (rc == ASSAY_E_SYSTEM)
        return assay_error_sys(e, EIO, "cannot read %s", name);
    return rc < 0 ? assay_error_set(e, rc, UINT64_MAX, "%s: no memory", name) : ASSAY_OK;
}
