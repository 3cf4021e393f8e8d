/* SPDX-License-Identifier: MIT */
/* The history of what was in memory: binaries and changes of address spaces, told in any order, sorted once. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

int assay_image_new(struct assay_image **out, struct assay_error *e)
{
    *out = calloc(1, sizeof **out);
    return *out ? ASSAY_OK : assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "no memory for the image");
}

void assay_image_free(struct assay_image *im)
{
    if (!im)
        return;
    for (size_t i = 0; i < im->dsos; i++) {
        image_file_free(atomic_load(&im->dso[i]->file));
        image_symbols_free(atomic_load(&im->dso[i]->symbols));
    }
    image_pool_free(&im->pool);
    free(im->dso);
    free(im->dso_slot);
    free(im->change);
    free(im->capture);
    free(im->space);
    free(im->covered);
    free(im);
}

/* ---- binaries ---- */

static uint64_t hash_bytes(uint64_t h, const void *data, size_t size)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 0x100000001b3;
    return h;
}

static uint64_t hash_dso(const struct image_dso *d)
{
    uint64_t h = hash_bytes(0xcbf29ce484222325, d->name, strlen(d->name));
    h = hash_bytes(h, &d->build_id, sizeof d->build_id);
    h = hash_bytes(h, &d->pid, sizeof d->pid);
    h = hash_bytes(h, &d->layer, sizeof d->layer);
    return h ^ h >> 32;
}

static bool same_dso(const struct image_dso *a, const struct image_dso *b)
{
    return a->captured == b->captured && a->pid == b->pid && a->layer == b->layer &&
           memcmp(&a->build_id, &b->build_id, sizeof a->build_id) == 0 && strcmp(a->name, b->name) == 0;
}

/* The slot that holds the DSO, or the free one where it belongs. */
static uint32_t *find_slot(const struct assay_image *im, const struct image_dso *like)
{
    size_t i = hash_dso(like) & (im->dso_slots - 1);
    while (im->dso_slot[i] && !same_dso(im->dso[im->dso_slot[i] - 1], like))
        i = (i + 1) & (im->dso_slots - 1);
    return &im->dso_slot[i];
}

static int grow_slots(struct assay_image *im)
{
    if (im->dsos * 2 < im->dso_slots)
        return ASSAY_OK;
    size_t n = im->dso_slots ? im->dso_slots * 2 : 64;
    uint32_t *slot = calloc(n, sizeof *slot);
    if (!slot)
        return ASSAY_E_MEMORY;
    free(im->dso_slot);
    im->dso_slot = slot;
    im->dso_slots = n;
    for (size_t i = 0; i < im->dsos; i++)
        *find_slot(im, im->dso[i]) = (uint32_t)i + 1;
    return ASSAY_OK;
}

int64_t image_dso_add(struct assay_image *im, const struct image_dso *like)
{
    if (grow_slots(im) != ASSAY_OK || im->dsos >= UINT32_MAX - 1)
        return ASSAY_E_MEMORY;
    uint32_t *slot = find_slot(im, like);
    if (*slot)
        return *slot - 1;
    struct image_dso **grown = image_grow(im->dso, im->dsos, &im->dso_cap, sizeof(struct image_dso *));
    if (!grown)
        return ASSAY_E_MEMORY;
    im->dso = grown;
    struct image_dso *d = image_pool_alloc(&im->pool, sizeof *d);
    char *name = image_pool_string(&im->pool, like->name, strlen(like->name));
    if (!d || !name)
        return ASSAY_E_MEMORY;
    *d = (struct image_dso){
        .name = name, .build_id = like->build_id, .captured = like->captured, .pid = like->pid, .layer = like->layer};
    im->dso[im->dsos++] = d;
    *slot = (uint32_t)im->dsos;
    return (int64_t)im->dsos - 1;
}

const char *assay_dso_name(const struct assay_image *im, uint32_t dso)
{
    return dso < im->dsos ? im->dso[dso]->name : NULL;
}

size_t assay_dso_count(const struct assay_image *im) { return im->dsos; }

const char *assay_image_problem(struct assay_image *im, size_t n)
{
    for (size_t i = 0; i < im->dsos; i++) {
        const struct image_file *f = atomic_load(&im->dso[i]->file);
        if (f && f->problem && atomic_load(&im->dso[i]->asked) && n-- == 0)
            return f->problem;
    }
    return NULL;
}

/* ---- changes ---- */

static int add_change(struct assay_image *im, struct image_change c)
{
    if (im->sealed)
        return ASSAY_E_ARGUMENT;
    struct image_change *grown = image_grow(im->change, im->changes, &im->change_cap, sizeof *grown);
    if (!grown)
        return ASSAY_E_MEMORY;
    im->change = grown;
    c.order = im->changes;
    im->change[im->changes++] = c;
    return ASSAY_OK;
}

static uint64_t end_of(uint64_t addr, uint64_t size) { return size > UINT64_MAX - addr ? UINT64_MAX : addr + size; }

int assay_image_map(struct assay_image *im, uint32_t pid, uint64_t time, uint64_t addr, uint64_t size, uint64_t pgoff,
                    const char *path, const uint8_t *build_id, unsigned build_id_size)
{
    struct image_dso like = {.name = path};
    if (im->sealed || build_id_size > IMAGE_BUILD_ID_MAX)
        return ASSAY_E_ARGUMENT;
    if (build_id && build_id_size) {
        like.build_id.size = (uint8_t)build_id_size;
        memcpy(like.build_id.bytes, build_id, build_id_size);
    }
    if (size == 0)
        return ASSAY_OK;
    int64_t dso = image_dso_add(im, &like);
    if (dso < 0)
        return (int)dso;
    return add_change(im, (struct image_change){.time = time,
                                                .addr = addr,
                                                .end = end_of(addr, size),
                                                .offset = pgoff,
                                                .pid = pid,
                                                .dso = (uint32_t)dso,
                                                .type = IMAGE_MAP});
}

int assay_image_unmap(struct assay_image *im, uint32_t pid, uint64_t time, uint64_t addr, uint64_t size)
{
    return add_change(im, (struct image_change){
                              .time = time, .addr = addr, .end = end_of(addr, size), .pid = pid, .type = IMAGE_UNMAP});
}

/* "[vdso]" says where the code belongs, anything else is the name of a function. */
static int name_capture(struct assay_image *im, struct image_capture *c, const char *name)
{
    bool place = name && name[0] == '[';
    c->dso_name = "[jit]";
    if (!name || name[0] == '\0')
        return ASSAY_OK;
    const char *copy = image_pool_string(&im->pool, name, strlen(name));
    if (place)
        c->dso_name = copy;
    else
        c->symbol = copy;
    return copy ? ASSAY_OK : ASSAY_E_MEMORY;
}

static int add_capture(struct assay_image *im, uint64_t time, const struct image_capture *like)
{
    if (im->sealed)
        return ASSAY_E_ARGUMENT;
    struct image_capture **grown = image_grow(im->capture, im->captures, &im->capture_cap, sizeof *grown);
    if (!grown)
        return ASSAY_E_MEMORY;
    im->capture = grown;
    struct image_capture *c = image_pool_alloc(&im->pool, sizeof *c);
    if (!c)
        return ASSAY_E_MEMORY;
    *c = *like;
    c->order = im->captures;
    im->capture[im->captures++] = c;
    return add_change(
        im, (struct image_change){
                .time = time, .addr = c->addr, .end = c->end, .pid = c->pid, .capture = c, .type = IMAGE_CODE});
}

int assay_image_code(struct assay_image *im, uint32_t pid, uint64_t time, uint64_t addr, const uint8_t *bytes,
                     size_t size, const char *name)
{
    struct image_capture c = {.addr = addr, .end = end_of(addr, size), .pid = pid};
    if (im->sealed)
        return ASSAY_E_ARGUMENT;
    if (c.end == addr)
        return ASSAY_OK;
    c.bytes = (const uint8_t *)image_pool_string(&im->pool, (const char *)bytes, (size_t)(c.end - addr));
    if (!c.bytes || name_capture(im, &c, name) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    return add_capture(im, time, &c);
}

int image_code_move(struct assay_image *im, uint64_t time, const struct image_capture *from, uint64_t to)
{
    struct image_capture c = *from;
    c.addr = to;
    c.end = end_of(to, from->end - from->addr);
    int s = assay_image_unmap(im, from->pid, time, from->addr, from->end - from->addr);
    return s == ASSAY_OK ? add_capture(im, time, &c) : s;
}

int assay_image_fork(struct assay_image *im, uint64_t time, uint32_t parent, uint32_t child)
{
    if (parent == child) /* a new thread */
        return im->sealed ? ASSAY_E_ARGUMENT : ASSAY_OK;
    return add_change(im, (struct image_change){.time = time, .pid = child, .parent = parent, .type = IMAGE_FORK});
}

int assay_image_exec(struct assay_image *im, uint64_t time, uint32_t pid)
{
    return add_change(im, (struct image_change){.time = time, .pid = pid, .type = IMAGE_EXEC});
}

/* ---- sorting ---- */

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* At time 0, which stands for "before anything was recorded", captured code comes last: it lies over file mappings. */
static int compare_changes(const void *va, const void *vb)
{
    const struct image_change *a = va, *b = vb;
    int c = compare_u64(a->pid, b->pid);
    if (c == 0)
        c = compare_u64(a->time, b->time);
    if (c == 0 && a->time == 0)
        c = (a->type == IMAGE_CODE) - (b->type == IMAGE_CODE);
    return c ? c : compare_u64(a->order, b->order);
}

static int make_spaces(struct assay_image *im)
{
    size_t cap = 0;
    for (size_t i = 0; i < im->changes; i++) {
        struct image_space *last = im->spaces ? &im->space[im->spaces - 1] : NULL;
        if (!last || last->pid != im->change[i].pid) {
            struct image_space *grown = image_grow(im->space, im->spaces, &cap, sizeof *grown);
            if (!grown)
                return ASSAY_E_MEMORY;
            im->space = grown;
            last = &grown[im->spaces++];
            *last = (struct image_space){im->change[i].pid, i, i};
        }
        last->end = i + 1;
    }
    return ASSAY_OK;
}

static int compare_ranges(const void *va, const void *vb)
{
    const struct image_range *a = va, *b = vb;
    return compare_u64(a->start, b->start);
}

static int make_covered(struct assay_image *im)
{
    size_t n = 0;
    struct image_range *r = malloc((im->changes + 1) * sizeof *r);
    if (!r)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < im->changes; i++)
        if (im->change[i].type == IMAGE_MAP || im->change[i].type == IMAGE_CODE)
            r[n++] = (struct image_range){im->change[i].addr, im->change[i].end};
    qsort(r, n, sizeof *r, compare_ranges);
    im->covers = 0;
    for (size_t i = 0; i < n; i++) {
        struct image_range *last = im->covers ? &r[im->covers - 1] : NULL;
        if (!last || r[i].start > last->end)
            r[im->covers++] = r[i];
        else if (r[i].end > last->end)
            last->end = r[i].end;
    }
    im->covered = r;
    return ASSAY_OK;
}

int assay_image_seal(struct assay_image *im)
{
    if (im->sealed)
        return ASSAY_OK;
    im->sealed = true;
    int s = image_layer_captures(im);
    if (im->changes)
        qsort(im->change, im->changes, sizeof *im->change, compare_changes);
    if (s == ASSAY_OK)
        s = make_spaces(im);
    return s == ASSAY_OK ? make_covered(im) : s;
}

const struct image_space *image_space_of(const struct assay_image *im, uint32_t pid)
{
    size_t low = 0, high = im->spaces;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (im->space[mid].pid < pid)
            low = mid + 1;
        else
            high = mid;
    }
    return low < im->spaces && im->space[low].pid == pid ? &im->space[low] : NULL;
}
