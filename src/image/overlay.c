/* SPDX-License-Identifier: MIT */
/* Captured bytes over an address space, kept by page so that captures which overlap resolve to the newest byte by byte. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define PAGE sizeof(((struct image_page *)0)->bytes)

/* 256 MB of code at a time, as much as the largest JIT compilers make. A byte here and there would otherwise take a page each. */
enum { MOST_PAGES = 1 << 16 };

static uint64_t base_of(uint64_t addr) { return addr - addr % PAGE; }

/* Index of the first page at or after that of addr. */
static size_t lower_page(const struct image_overlay *o, uint64_t addr)
{
    uint64_t base = base_of(addr);
    size_t low = 0, high = o->pages;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (o->page[mid]->base < base)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Index of the first extent that ends after `at`. */
static size_t lower_extent(const struct image_page *p, unsigned at)
{
    size_t low = 0, high = p->extents;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->extent[mid].end <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void free_page(struct image_page *p)
{
    free(p->extent);
    free(p);
}

void image_overlay_free(struct image_overlay *o)
{
    for (size_t i = 0; i < o->pages; i++)
        free_page(o->page[i]);
    free(o->page);
    *o = (struct image_overlay){0};
}

bool image_overlay_find(const struct image_overlay *o, uint64_t addr, struct image_hit *hit)
{
    size_t i = lower_page(o, addr);
    if (i == o->pages || o->page[i]->base != base_of(addr))
        return false;
    const struct image_page *p = o->page[i];
    unsigned at = (unsigned)(addr - p->base);
    size_t e = lower_extent(p, at);
    if (e == p->extents || p->extent[e].start > at)
        return false;
    *hit = (struct image_hit){p->bytes + at, p->extent[e].end - at, p->extent[e].owner};
    return true;
}

uint64_t image_overlay_next(const struct image_overlay *o, uint64_t addr)
{
    for (size_t i = lower_page(o, addr); i < o->pages; i++) {
        const struct image_page *p = o->page[i];
        size_t e = p->base >= addr ? 0 : lower_extent(p, (unsigned)(addr - p->base));
        if (e < p->extents)
            return p->base + p->extent[e].start > addr ? p->base + p->extent[e].start : addr;
    }
    return UINT64_MAX;
}

static struct image_page *page_for(struct image_overlay *o, uint64_t addr)
{
    size_t i = lower_page(o, addr);
    if (i < o->pages && o->page[i]->base == base_of(addr))
        return o->page[i];
    if (o->pages >= MOST_PAGES)
        return NULL;
    struct image_page **grown = image_grow(o->page, o->pages, &o->cap, sizeof(struct image_page *));
    if (!grown)
        return NULL;
    o->page = grown;
    struct image_page *p = malloc(sizeof *p);
    if (!p)
        return NULL;
    *p = (struct image_page){.base = base_of(addr)};
    memmove(o->page + i + 1, o->page + i, (o->pages - i) * sizeof(struct image_page *));
    o->page[i] = p;
    o->pages++;
    return p;
}

static int insert_extent(struct image_page *p, size_t at, struct image_extent e)
{
    struct image_extent *grown = image_grow(p->extent, p->extents, &p->extent_cap, sizeof *grown);
    if (!grown)
        return ASSAY_E_MEMORY;
    p->extent = grown;
    memmove(grown + at + 1, grown + at, (p->extents - at) * sizeof *grown);
    grown[at] = e;
    p->extents++;
    return ASSAY_OK;
}

static void remove_extents(struct image_page *p, size_t first, size_t end)
{
    memmove(p->extent + first, p->extent + end, (p->extents - end) * sizeof *p->extent);
    p->extents -= end - first;
}

/* Takes [start, end) out of the extents. */
static int cut_extents(struct image_page *p, unsigned start, unsigned end)
{
    if (p->extents == 0)
        return ASSAY_OK;
    size_t i = lower_extent(p, start);
    if (i < p->extents && p->extent[i].start < start) {
        struct image_extent tail = p->extent[i];
        if (tail.end > end) {
            tail.start = (uint16_t)end;
            if (insert_extent(p, i + 1, tail) != ASSAY_OK)
                return ASSAY_E_MEMORY;
        }
        p->extent[i++].end = (uint16_t)start;
    }
    size_t j = i;
    while (j < p->extents && p->extent[j].end <= end)
        j++;
    if (j < p->extents && p->extent[j].start < end)
        p->extent[j].start = (uint16_t)end;
    remove_extents(p, i, j);
    return ASSAY_OK;
}

static void join_extents(struct image_page *p, size_t i)
{
    if (i + 1 < p->extents && p->extent[i].end == p->extent[i + 1].start &&
        p->extent[i].owner == p->extent[i + 1].owner) {
        p->extent[i].end = p->extent[i + 1].end;
        remove_extents(p, i + 1, i + 2);
    }
}

static int write_page(struct image_page *p, unsigned at, const uint8_t *bytes, size_t size, uint32_t owner)
{
    unsigned end = at + (unsigned)size;
    if (cut_extents(p, at, end) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    size_t i = lower_extent(p, at);
    if (insert_extent(p, i, (struct image_extent){(uint16_t)at, (uint16_t)end, owner}) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    memcpy(p->bytes + at, bytes, size);
    join_extents(p, i);
    if (i > 0)
        join_extents(p, i - 1);
    return ASSAY_OK;
}

int image_overlay_write(struct image_overlay *o, uint64_t addr, const uint8_t *bytes, size_t size, uint32_t owner)
{
    while (size > 0) {
        unsigned at = (unsigned)(addr % PAGE);
        size_t n = size < PAGE - at ? size : PAGE - at;
        struct image_page *p = page_for(o, addr);
        if (!p || write_page(p, at, bytes, n, owner) != ASSAY_OK)
            return ASSAY_E_MEMORY;
        addr += n;
        bytes += n;
        size -= n;
    }
    return ASSAY_OK;
}

/* A page that cannot be split for want of memory is dropped whole: code is then missing, never wrong. */
void image_overlay_clear(struct image_overlay *o, uint64_t start, uint64_t end)
{
    if (o->pages == 0)
        return;
    size_t first = lower_page(o, start), kept = first, i;
    for (i = first; i < o->pages && o->page[i]->base < end; i++) {
        struct image_page *p = o->page[i];
        unsigned from = start > p->base ? (unsigned)(start - p->base) : 0;
        unsigned to = end - p->base < PAGE ? (unsigned)(end - p->base) : (unsigned)PAGE;
        if (cut_extents(p, from, to) == ASSAY_OK && p->extents > 0)
            o->page[kept++] = p;
        else
            free_page(p);
    }
    memmove(o->page + kept, o->page + i, (o->pages - i) * sizeof(struct image_page *));
    o->pages -= i - kept;
}
