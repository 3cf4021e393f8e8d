/* SPDX-License-Identifier: MIT */
/* An address space as it changes in time: maps, unmaps, captures, fork and exec are applied in order, and every change of code that
 * a reader may have seen is told. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Changes that forks may look at for one view: a process is forked once, but a damaged file may say it a million times. What is beyond
 * has no code. */
enum { FORK_WORK = 1 << 24 };

/* What readers must forget. */
struct touched {
    unsigned n;
    uint64_t low, high;
};

static void touch(struct touched *t, uint64_t low, uint64_t high)
{
    if (low < t->low)
        t->low = low;
    if (high > t->high)
        t->high = high;
}

static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Touches all captured bytes in [start, end). */
static void touch_overlay(const struct assay_view *v, uint64_t start, uint64_t end, struct touched *t)
{
    struct image_hit hit;
    for (uint64_t at = image_overlay_next(&v->overlay, start); at < end; at = image_overlay_next(&v->overlay, at)) {
        if (!image_overlay_find(&v->overlay, at, &hit))
            break;
        touch(t, at, min_u64(at + hit.size, end));
        at += hit.size;
    }
}

/* Touches the files in [start, end), except where the same bytes of the same file come there anew. */
static void touch_pieces(const struct assay_view *v, uint64_t start, uint64_t end, const struct image_piece *anew,
                         struct touched *t)
{
    for (size_t i = image_pieces_lower(&v->pieces, start); i < v->pieces.n; i++) {
        const struct image_piece *p = &v->pieces.piece[i];
        if (p->start >= end)
            break;
        bool same = anew && p->dso == anew->dso && p->offset - p->start == anew->offset - anew->start;
        if (!same && (image_is_file_name(v->im->dso[p->dso]->name) || v->im->dso[p->dso]->build_id.size))
            touch(t, max_u64(p->start, start), min_u64(p->end, end));
    }
}

static void apply_map(struct assay_view *v, const struct image_change *c, struct touched *t)
{
    struct image_piece p = {c->addr, c->end, c->offset, c->dso};
    touch_pieces(v, p.start, p.end, &p, t);
    touch_overlay(v, p.start, p.end, t);
    image_overlay_clear(&v->overlay, p.start, p.end);
    if (image_pieces_put(&v->pieces, p) != ASSAY_OK)
        v->failed = true;
}

static void apply_unmap(struct assay_view *v, uint64_t start, uint64_t end, struct touched *t)
{
    touch_pieces(v, start, end, NULL, t);
    touch_overlay(v, start, end, t);
    image_overlay_clear(&v->overlay, start, end);
    if (image_pieces_clear(&v->pieces, start, end) != ASSAY_OK)
        v->failed = true;
}

/* ---- captured code ---- */

/* What can be read at `at` now: bytes, how many, and whose they are (OWNER_BELOW: a file's). At most `max`; NULL bytes: nothing
 * for that many bytes. */
static struct image_hit what_is_there(const struct assay_view *v, uint64_t at, size_t max)
{
    struct image_hit hit = {NULL, max, IMAGE_OWNER_BELOW};
    struct assay_code code;
    if (!image_overlay_find(&v->overlay, at, &hit)) {
        uint64_t until = image_overlay_next(&v->overlay, at);
        size_t i = image_pieces_lower(&v->pieces, at);
        const struct image_piece *p = i < v->pieces.n ? &v->pieces.piece[i] : NULL;
        if (p && p->start > at)
            until = min_u64(until, p->start);
        else if (p && image_is_file_name(v->im->dso[p->dso]->name) && image_piece_code(v->im, p, at, &code))
            hit = (struct image_hit){code.bytes, code.size, IMAGE_OWNER_BELOW};
        else if (p)
            until = min_u64(until, p->end);
        hit.size = (size_t)min_u64(hit.size, until - at);
    }
    if (hit.size > max)
        hit.size = max;
    return hit;
}

/* Touches where the bytes differ, or everything when another function is there now. */
static void touch_difference(const struct image_hit *old, const uint8_t *bytes, uint64_t at, bool other_owner,
                             struct touched *t)
{
    size_t low = 0, high = old->size;
    while (!other_owner && low < high && old->bytes[low] == bytes[low])
        low++;
    while (!other_owner && low < high && old->bytes[high - 1] == bytes[high - 1])
        high--;
    if (low < high)
        touch(t, at + low, at + high);
}

/* Code with a name is a function of its own. Code without one patches what lies there, if anything does. */
static void apply_code(struct assay_view *v, const struct image_change *c, struct touched *t)
{
    const struct image_capture *k = c->capture;
    for (uint64_t at = c->addr; at < c->end && !v->failed;) {
        const uint8_t *bytes = k->bytes + (at - c->addr);
        struct image_hit old = what_is_there(v, at, (size_t)(c->end - at));
        uint32_t owner = old.bytes && !k->symbol ? old.owner : k->dso;
        if (old.bytes)
            touch_difference(&old, bytes, at, owner != old.owner, t);
        bool known = old.bytes && owner == old.owner && memcmp(old.bytes, bytes, old.size) == 0;
        if (!known && image_overlay_write(&v->overlay, at, bytes, old.size, owner) != ASSAY_OK)
            v->failed = true;
        at += old.size;
    }
}

/* ---- fork and exec ---- */

static void clear_space(struct assay_view *v, struct touched *t) { apply_unmap(v, 0, UINT64_MAX, t); }

static void apply_change(struct assay_view *v, const struct image_change *c, struct touched *t);

/* A stretch of one process's history. */
struct stretch {
    size_t first, end;
};

/* The changes of `pid` up to the moment of change `fork` (of its child) that count: those after its last exec or fork. Where that was
 * a fork, *origin is it. */
static struct stretch history_before(struct assay_view *v, uint32_t pid, const struct image_change *fork,
                                     const struct image_change **origin)
{
    const struct assay_image *im = v->im;
    const struct image_space *s = image_space_of(im, pid);
    struct stretch h = {0, 0};
    *origin = NULL;
    if (!s)
        return h;
    h.end = s->first;
    while (h.end < s->end && (im->change[h.end].time < fork->time ||
                              (im->change[h.end].time == fork->time && im->change[h.end].order < fork->order)))
        h.end++;
    v->fork_work += 1 + h.end - s->first;
    for (h.first = h.end; h.first > s->first; h.first--) {
        const struct image_change *c = &im->change[h.first - 1];
        if (c->type == IMAGE_FORK)
            *origin = c;
        if (c->type == IMAGE_FORK || c->type == IMAGE_EXEC)
            break;
    }
    return h;
}

/* The child starts with what the parent had, which the parent may in turn have from its parent. Each step goes back in (time, order),
 * so the walk ends. */
static void apply_fork(struct assay_view *v, const struct image_change *c, struct touched *t)
{
    struct stretch *chain = NULL;
    size_t n = 0, cap = 0;
    struct touched built = {0, UINT64_MAX, 0};
    clear_space(v, t);
    for (const struct image_change *origin; c && v->fork_work < FORK_WORK; c = origin) {
        struct stretch *grown = image_grow(chain, n, &cap, sizeof *grown);
        if (!grown) {
            v->failed = true;
            break;
        }
        chain = grown;
        chain[n++] = history_before(v, c->parent, c, &origin);
    }
    while (n-- > 0)
        for (size_t i = chain[n].first; i < chain[n].end; i++)
            apply_change(v, &v->im->change[i], &built);
    free(chain);
}

static void apply_change(struct assay_view *v, const struct image_change *c, struct touched *t)
{
    struct touched own = {0, UINT64_MAX, 0};
    switch (c->type) {
    case IMAGE_MAP:
        apply_map(v, c, &own);
        break;
    case IMAGE_UNMAP:
        apply_unmap(v, c->addr, c->end, &own);
        break;
    case IMAGE_CODE:
        apply_code(v, c, &own);
        break;
    case IMAGE_FORK:
        apply_fork(v, c, &own);
        break;
    default:
        clear_space(v, &own);
        break;
    }
    if (own.low < own.high) {
        t->n++;
        touch(t, own.low, own.high);
    }
}

int assay_view_new(struct assay_image *im, uint32_t pid, struct assay_view **out)
{
    uint64_t low, high;
    *out = NULL;
    if (!im->sealed)
        return ASSAY_E_ARGUMENT;
    struct assay_view *v = calloc(1, sizeof *v);
    if (!v)
        return ASSAY_E_MEMORY;
    *v = (struct assay_view){.im = im, .pid = pid};
    const struct image_space *s = image_space_of(im, pid);
    if (s) {
        v->next = s->first;
        v->end = s->end;
    }
    assay_view_advance(v, 0, &low, &high);
    *out = v;
    return ASSAY_OK;
}

void assay_view_free(struct assay_view *v)
{
    if (!v)
        return;
    image_overlay_free(&v->overlay);
    free(v->pieces.piece);
    free(v);
}

/* What an exec or a fork empties need not be filled before it. */
static void skip_emptied(struct assay_view *v, uint64_t time)
{
    size_t last = v->next;
    for (size_t i = v->next; i < v->end && v->im->change[i].time <= time; i++)
        if (v->im->change[i].type == IMAGE_FORK || v->im->change[i].type == IMAGE_EXEC)
            last = i;
    v->next = last;
}

unsigned assay_view_advance(struct assay_view *v, uint64_t time, uint64_t *low, uint64_t *high)
{
    struct touched t = {0, UINT64_MAX, 0};
    skip_emptied(v, time);
    while (v->next < v->end && v->im->change[v->next].time <= time)
        apply_change(v, &v->im->change[v->next++], &t);
    *low = t.n ? t.low : 0;
    *high = t.high;
    return t.n;
}
