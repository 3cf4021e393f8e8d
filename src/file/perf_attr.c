/* SPDX-License-Identifier: MIT */
/* The events of a recording, their ids, and which event's sample_type describes a record. */
#include "perf_priv.h"

#include <string.h>

enum {
    ATTR_TYPE = 0, /* offsets in perf_event_attr */
    ATTR_SIZE = 4,
    ATTR_CONFIG = 8,
    ATTR_SAMPLE_TYPE = 24,
    ATTR_FLAGS = 40,
    ATTR_MIN = 64,   /* PERF_ATTR_SIZE_VER0 */
    ATTR_MAX = 4096, /* far above any so far */
    FLAG_EXCLUDE_USER = 4,
    FLAG_EXCLUDE_KERNEL = 5,
    FLAG_SAMPLE_ID_ALL = 18,
    SECTION = 16, /* bytes of {offset, size} */
};

/* Compilers fill bit-fields from the low end of a byte on little-endian machines, from the high end on the others. */
static bool attr_flag(const uint8_t *raw, bool big, unsigned bit)
{
    unsigned in_byte = big ? 7 - bit % 8 : bit % 8;
    return raw[ATTR_FLAGS + bit / 8] >> in_byte & 1;
}

static int add_attr(struct assay_perf *f, const uint8_t *raw, uint32_t size)
{
    struct perf_events *ev = &f->events;
    if (!table_grow(&ev->attr, &ev->attr_cap, ev->attrs + 1, sizeof *ev->attr))
        return ASSAY_E_MEMORY;
    uint8_t *copy = malloc(size);
    if (!copy)
        return ASSAY_E_MEMORY;
    memcpy(copy, raw, size);
    struct perf_attr *a = &ev->attr[ev->attrs++];
    *a = (struct perf_attr){
        .raw = copy,
        .raw_size = size,
        .type = (uint32_t)perf_load(f->big, raw + ATTR_TYPE, 4),
        .config = perf_load(f->big, raw + ATTR_CONFIG, 8),
        .sample_type = perf_load(f->big, raw + ATTR_SAMPLE_TYPE, 8),
        .sample_id_all = attr_flag(raw, f->big, FLAG_SAMPLE_ID_ALL),
        .exclude_user = attr_flag(raw, f->big, FLAG_EXCLUDE_USER),
        .exclude_kernel = attr_flag(raw, f->big, FLAG_EXCLUDE_KERNEL),
    };
    if (a->sample_type != ev->attr->sample_type || a->sample_id_all != ev->attr->sample_id_all)
        ev->mixed = true;
    return ASSAY_OK;
}

static int add_ids(struct assay_perf *f, const uint8_t *p, size_t n)
{
    struct perf_events *ev = &f->events;
    for (; n >= 8; n -= 8, p += 8) {
        if (!table_grow(&ev->id, &ev->id_cap, ev->ids + 1, sizeof *ev->id))
            return ASSAY_E_MEMORY;
        ev->id[ev->ids++] = (struct perf_id){perf_load(f->big, p, 8), (uint32_t)(ev->attrs - 1)};
    }
    ev->sorted = false;
    return ASSAY_OK;
}

static int read_ids(struct assay_perf *f, struct perf_section ids)
{
    uint8_t buf[4096];
    /* ids are distinct, so all together fit the file: a bound for sections that lie */
    if (ids.offset > f->src.size || ids.size > f->src.size - ids.offset ||
        ids.size / 8 + f->events.ids > f->src.size / 8) {
        assay_pf_fault(f, ASSAY_E_BAD_FORMAT, ids.offset, "the ids of an event lie outside of the file", NULL);
        f->pending = true;
        return ASSAY_OK;
    }
    while (ids.size >= 8) {
        size_t part = ids.size < sizeof buf ? (size_t)ids.size & ~(size_t)7 : sizeof buf;
        if (assay_source_read(&f->src, ids.offset, buf, part) != (int64_t)part)
            return ASSAY_E_SYSTEM;
        int rc = add_ids(f, buf, part);
        if (rc < 0)
            return rc;
        ids.offset += part;
        ids.size -= part;
    }
    return ASSAY_OK;
}

static int read_attr(struct assay_perf *f, uint64_t at, uint32_t entry_size)
{
    uint8_t raw[ATTR_MAX + SECTION];
    if (assay_source_read(&f->src, at, raw, entry_size) != entry_size)
        return ASSAY_E_SYSTEM;
    int rc = add_attr(f, raw, entry_size - SECTION);
    if (rc < 0)
        return rc;
    const uint8_t *section = raw + entry_size - SECTION;
    struct perf_section ids = {perf_load(f->big, section, 8), perf_load(f->big, section + 8, 8)};
    return read_ids(f, ids);
}

int assay_pf_read_attrs(struct assay_perf *f, struct perf_section attrs, uint64_t entry_size)
{
    if (entry_size < ATTR_MIN + SECTION || entry_size > ATTR_MAX + SECTION || attrs.offset > f->src.size ||
        attrs.size > f->src.size - attrs.offset || attrs.size % entry_size != 0) {
        assay_pf_fault(f, ASSAY_E_BAD_FORMAT, attrs.offset, "the header's section of events does not fit the file",
                       "events of at least 80 bytes each");
        f->pending = true;
        return ASSAY_OK;
    }
    for (uint64_t at = 0; at < attrs.size; at += entry_size) {
        int rc = read_attr(f, attrs.offset + at, (uint32_t)entry_size);
        if (rc < 0)
            return rc;
    }
    return ASSAY_OK;
}

int assay_pf_add_attr_record(struct assay_perf *f, const uint8_t *body, uint32_t size)
{
    uint32_t attr_size = (uint32_t)perf_load(f->big, body + ATTR_SIZE, 4);
    if (attr_size == 0)
        attr_size = ATTR_MIN;
    if (attr_size < ATTR_MIN || attr_size > size)
        return ASSAY_E_BAD_FORMAT;
    int rc = add_attr(f, body, attr_size);
    return rc < 0 ? rc : add_ids(f, body + attr_size, size - attr_size);
}

void assay_pf_free_events(struct perf_events *ev)
{
    for (size_t i = 0; i < ev->attrs; i++)
        free(ev->attr[i].raw);
    free(ev->attr);
    free(ev->id);
}

static int compare_ids(const void *a, const void *b)
{
    const struct perf_id *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* id 0 is that of records which perf made up itself: they look like the first event's. So does whatever is unknown. */
static const struct perf_attr *attr_of_id(struct perf_events *ev, uint64_t id)
{
    if (!ev->sorted && ev->ids > 0)
        qsort(ev->id, ev->ids, sizeof *ev->id, compare_ids);
    ev->sorted = true;
    struct perf_id key = {.id = id};
    const struct perf_id *hit = ev->ids ? bsearch(&key, ev->id, ev->ids, sizeof key, compare_ids) : NULL;
    return &ev->attr[hit ? hit->attr : 0];
}

static unsigned count_bits(uint64_t v) { return (unsigned)__builtin_popcountll(v); }

const struct perf_attr *assay_pf_event_of_sample(struct assay_perf *f, const uint8_t *body, uint32_t size)
{
    struct perf_events *ev = &f->events;
    if (!ev->mixed)
        return ev->attrs ? ev->attr : NULL;
    uint64_t st = ev->attr->sample_type;
    unsigned at = 0;
    if (!(st & PERF_S_IDENTIFIER)) {
        if (!(st & PERF_S_ID))
            return ev->attr;
        at = 8 * count_bits(st & (PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_ADDR));
    }
    return size < at + 8 ? ev->attr : attr_of_id(ev, perf_load(f->big, body + at, 8));
}

const struct perf_attr *assay_pf_event_of_other(struct assay_perf *f, const uint8_t *body, uint32_t size)
{
    struct perf_events *ev = &f->events;
    if (!ev->mixed)
        return ev->attrs ? ev->attr : NULL;
    uint64_t st = ev->attr->sample_type;
    unsigned behind = 8;
    if (!(st & PERF_S_IDENTIFIER)) {
        if (!(st & PERF_S_ID))
            return ev->attr;
        behind += 8 * count_bits(st & (PERF_S_CPU | PERF_S_STREAM_ID));
    }
    return size < behind ? ev->attr : attr_of_id(ev, perf_load(f->big, body + size - behind, 8));
}

/* ---- public ---- */

size_t assay_perf_events(const struct assay_perf *f) { return f->events.attrs; }

const uint8_t *assay_perf_event_attr(const struct assay_perf *f, size_t n, size_t *size)
{
    if (n >= f->events.attrs)
        return NULL;
    *size = f->events.attr[n].raw_size;
    return f->events.attr[n].raw;
}
