/* SPDX-License-Identifier: MIT */
/* Code bytes for an address: captured code, else the mapped file, else what will be mapped there first. */
#include "internal.h"

#include <string.h>

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

bool image_piece_code(struct assay_image *im, const struct image_piece *p, uint64_t ip, struct assay_code *out)
{
    const struct image_file *f = image_dso_file(im->dso[p->dso]);
    uint64_t offset = p->offset + (ip - p->start);
    if (!f || !f->bytes || offset < p->offset || offset >= f->size)
        return false;
    *out = (struct assay_code){.bytes = f->bytes + offset,
                               .size = (size_t)min_u64(p->end - ip, f->size - offset),
                               .dso = p->dso,
                               .dso_addr = image_file_vaddr(f, offset),
                               .mode = f->mode};
    return true;
}

static const struct image_piece *piece_at(struct assay_view *v, uint64_t ip)
{
    if (v->last_piece < v->pieces.n) {
        const struct image_piece *p = &v->pieces.piece[v->last_piece];
        if (ip >= p->start && ip < p->end)
            return p;
    }
    const struct image_piece *p = image_pieces_find(&v->pieces, ip);
    if (p)
        v->last_piece = (size_t)(p - v->pieces.piece);
    return p;
}

static bool captured_code(struct assay_view *v, uint64_t ip, struct assay_code *out)
{
    struct image_hit hit;
    if (v->overlay.pages == 0 || !image_overlay_find(&v->overlay, ip, &hit))
        return false;
    *out = (struct assay_code){.dso = hit.owner, .dso_addr = ip};
    if (hit.owner == IMAGE_OWNER_BELOW) {
        const struct image_piece *p = piece_at(v, ip);
        if (!p || !image_piece_code(v->im, p, ip, out))
            return false;
        hit.size = (size_t)min_u64(hit.size, p->end - ip);
    }
    out->bytes = hit.bytes;
    out->size = hit.size;
    return true;
}

/* Code that a change to come brings to ip. only_captured: a file is mapped there, but has no bytes. */
static bool code_of_change(struct assay_image *im, const struct image_change *c, uint64_t ip, bool only_captured,
                           struct assay_code *out)
{
    if (ip < c->addr || ip >= c->end)
        return false;
    if (c->type == IMAGE_CODE) {
        *out = (struct assay_code){.bytes = c->capture->bytes + (ip - c->addr),
                                   .size = (size_t)(c->end - ip),
                                   .dso = c->capture->dso,
                                   .dso_addr = ip};
        return true;
    }
    const struct image_piece p = {c->addr, c->end, c->offset, c->dso};
    return c->type == IMAGE_MAP && !only_captured && image_piece_code(im, &p, ip, out);
}

/* Changes that may be looked at for one view to find code that comes later than it is asked for. A recording whose clocks differ needs
 * few; the first of each question are always looked at. */
enum { FORWARD_WORK = 1 << 28, FORWARD_ALWAYS = 64 };

/* What the parent has at ip when it forks: its newest change that says something of ip. */
static bool code_of_fork(struct assay_view *v, const struct image_change *fork, uint64_t ip, bool only_captured,
                         struct assay_code *out)
{
    struct assay_image *im = v->im;
    const struct image_space *s = image_space_of(im, fork->parent);
    for (size_t i = s ? s->end : 0; s && i > s->first && v->forward_work <= FORWARD_WORK; i--) {
        const struct image_change *c = &im->change[i - 1];
        v->forward_work++;
        if (c->time > fork->time || (c->time == fork->time && c->order > fork->order))
            continue;
        if (c->type == IMAGE_EXEC)
            return false;
        if (c->type == IMAGE_FORK) { /* go on in its own parent */
            fork = c;
            s = image_space_of(im, fork->parent);
            i = s ? s->end + 1 : 1;
            continue;
        }
        if (code_of_change(im, c, ip, only_captured, out))
            return true;
        if (c->type == IMAGE_UNMAP && ip >= c->addr && ip < c->end)
            return false;
    }
    return false;
}

static bool ever_covered(const struct assay_image *im, uint64_t ip)
{
    size_t low = 0, high = im->covers;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (im->covered[mid].end <= ip)
            low = mid + 1;
        else
            high = mid;
    }
    return low < im->covers && im->covered[low].start <= ip;
}

/* Only up to where something is mapped now. */
static void limit_to_free(const struct assay_view *v, uint64_t ip, struct assay_code *out)
{
    size_t i = image_pieces_lower(&v->pieces, ip);
    if (i < v->pieces.n && v->pieces.piece[i].start > ip)
        out->size = (size_t)min_u64(out->size, v->pieces.piece[i].start - ip);
    out->size = (size_t)min_u64(out->size, image_overlay_next(&v->overlay, ip) - ip);
}

static bool look_forward(struct assay_view *v, uint64_t ip, bool only_captured, struct assay_code *out)
{
    if (!ever_covered(v->im, ip))
        return false;
    size_t end = v->end;
    if (v->forward_work > FORWARD_WORK && end - v->next > FORWARD_ALWAYS)
        end = v->next + FORWARD_ALWAYS;
    for (size_t i = v->next; i < end; i++) {
        const struct image_change *c = &v->im->change[i];
        v->forward_work++;
        if (c->type == IMAGE_FORK ? code_of_fork(v, c, ip, only_captured, out)
                                  : code_of_change(v->im, c, ip, only_captured, out)) {
            limit_to_free(v, ip, out);
            return true;
        }
    }
    return false;
}

static int no_code(struct assay_view *v, const struct image_piece *p)
{
    if (v->failed)
        return ASSAY_E_MEMORY;
    if (p && image_dso_file(v->im->dso[p->dso]))
        atomic_store(&v->im->dso[p->dso]->asked, true);
    return ASSAY_E_NO_CODE;
}

int assay_view_code(struct assay_view *v, uint64_t ip, struct assay_code *out)
{
    if (captured_code(v, ip, out))
        return ASSAY_OK;
    const struct image_piece *p = piece_at(v, ip);
    if (p && image_piece_code(v->im, p, ip, out)) {
        if (v->overlay.pages)
            out->size = (size_t)min_u64(out->size, image_overlay_next(&v->overlay, ip) - ip);
        atomic_store_explicit(&v->im->dso[p->dso]->asked, true, memory_order_relaxed);
        return ASSAY_OK;
    }
    return look_forward(v, ip, p != NULL, out) ? ASSAY_OK : no_code(v, p);
}

size_t assay_view_read(struct assay_view *v, uint64_t ip, uint8_t *buf, size_t n)
{
    size_t done = 0;
    struct assay_code code;
    while (done < n && assay_view_code(v, ip + done, &code) == ASSAY_OK) {
        size_t part = code.size < n - done ? code.size : n - done;
        memcpy(buf + done, code.bytes, part);
        done += part;
    }
    return done;
}
