/* SPDX-License-Identifier: MIT */
/* The file mappings of an address space: a sorted array without overlaps. */
#include "internal.h"

#include <string.h>

size_t image_pieces_lower(const struct image_pieces *ps, uint64_t addr)
{
    size_t low = 0, high = ps->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (ps->piece[mid].end <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct image_piece *image_pieces_find(const struct image_pieces *ps, uint64_t addr)
{
    size_t i = image_pieces_lower(ps, addr);
    return i < ps->n && ps->piece[i].start <= addr ? &ps->piece[i] : NULL;
}

/* As many as Linux lets a process have (vm.max_map_count). More would make the array slow to change: they have no code. */
enum { MOST_PIECES = 1 << 16 };

static int insert(struct image_pieces *ps, size_t at, struct image_piece p)
{
    if (ps->n >= MOST_PIECES)
        return ASSAY_E_MEMORY;
    struct image_piece *grown = image_grow(ps->piece, ps->n, &ps->cap, sizeof *grown);
    if (!grown)
        return ASSAY_E_MEMORY;
    ps->piece = grown;
    memmove(grown + at + 1, grown + at, (ps->n - at) * sizeof *grown);
    grown[at] = p;
    ps->n++;
    return ASSAY_OK;
}

static void move_start(struct image_piece *p, uint64_t start)
{
    p->offset += start - p->start;
    p->start = start;
}

int image_pieces_clear(struct image_pieces *ps, uint64_t start, uint64_t end)
{
    if (ps->n == 0)
        return ASSAY_OK;
    size_t i = image_pieces_lower(ps, start);
    if (i < ps->n && ps->piece[i].start < start) {
        struct image_piece tail = ps->piece[i];
        if (tail.end > end) {
            move_start(&tail, end);
            if (insert(ps, i + 1, tail) != ASSAY_OK)
                return ASSAY_E_MEMORY;
        }
        ps->piece[i++].end = start;
    }
    size_t j = i;
    while (j < ps->n && ps->piece[j].end <= end)
        j++;
    if (j < ps->n && ps->piece[j].start < end)
        move_start(&ps->piece[j], end);
    if (j > i)
        memmove(ps->piece + i, ps->piece + j, (ps->n - j) * sizeof *ps->piece);
    ps->n -= j - i;
    return ASSAY_OK;
}

int image_pieces_put(struct image_pieces *ps, struct image_piece p)
{
    int s = image_pieces_clear(ps, p.start, p.end);
    return s == ASSAY_OK ? insert(ps, image_pieces_lower(ps, p.start), p) : s;
}
