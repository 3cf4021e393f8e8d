/* SPDX-License-Identifier: MIT */
/* Captured code has no file, so it is given DSOs here: one "[jit]" a process, and further layers of it where different functions
 * lay at the same address at different times, so that an address within one DSO always means one function. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_home(const struct image_capture *a, const struct image_capture *b)
{
    int c = compare_u64(a->pid, b->pid);
    return c ? c : strcmp(a->dso_name, b->dso_name);
}

static int compare_function(const struct image_capture *a, const struct image_capture *b)
{
    int c = compare_u64(a->addr, b->addr);
    if (c == 0)
        c = compare_u64(a->end, b->end);
    if (c == 0 && a->symbol && b->symbol)
        c = strcmp(a->symbol, b->symbol);
    return c;
}

/* Named code first within its process, then by address. */
static int compare_captures(const void *va, const void *vb)
{
    const struct image_capture *a = *(struct image_capture *const *)va, *b = *(struct image_capture *const *)vb;
    int c = compare_home(a, b);
    if (c == 0)
        c = (a->symbol == NULL) - (b->symbol == NULL);
    if (c == 0)
        c = compare_function(a, b);
    return c ? c : compare_u64(a->order, b->order);
}

static int compare_by_dso(const void *va, const void *vb)
{
    const struct image_capture *a = *(struct image_capture *const *)va, *b = *(struct image_capture *const *)vb;
    int c = compare_u64(a->dso, b->dso);
    if (c == 0)
        c = compare_function(a, b);
    return c ? c : compare_u64(a->order, b->order);
}

static int compare_ends(const void *va, const void *vb)
{
    const struct image_range *a = va, *b = vb;
    return compare_u64(a->end, b->end);
}

static int assign(struct assay_image *im, struct image_capture *c, uint64_t layer)
{
    int64_t dso = image_dso_add(
        im, &(struct image_dso){.name = c->dso_name, .captured = true, .pid = c->pid, .layer = (uint32_t)layer});
    if (dso < 0)
        return (int)dso;
    c->dso = (uint32_t)dso;
    return ASSAY_OK;
}

/* Work space of one sweep, with room for all captures. */
struct sweep {
    size_t *head; /* the first capture of each different function */
    size_t heads;
    struct image_range *ends; /* (head, end), sorted by end */
    uint64_t *free_layer;
};

static void find_heads(struct sweep *w, struct image_capture *const *c, size_t n)
{
    w->heads = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && compare_function(c[i - 1], c[i]) == 0)
            continue;
        w->ends[w->heads] = (struct image_range){i, c[i]->end};
        w->head[w->heads++] = i;
    }
    if (w->heads)
        qsort(w->ends, w->heads, sizeof *w->ends, compare_ends);
}

/* Over the functions in order of address: a layer becomes free where its function ends; a function takes the layer that became
 * free last, or a new one. The number of layers, or a negative status. */
static int64_t layer_functions(struct assay_image *im, struct sweep *w, struct image_capture **c, size_t n)
{
    size_t frees = 0, ended = 0;
    int64_t layers = 0;
    find_heads(w, c, n);
    for (size_t h = 0; h < w->heads; h++) {
        size_t first = w->head[h], end = h + 1 < w->heads ? w->head[h + 1] : n;
        for (; ended < w->heads && w->ends[ended].end <= c[first]->addr; ended++)
            w->free_layer[frees++] = im->dso[c[w->ends[ended].start]->dso]->layer;
        uint64_t layer = frees ? w->free_layer[--frees] : (uint64_t)layers++;
        for (size_t i = first; i < end; i++) {
            int s = assign(im, c[i], layer);
            if (s != ASSAY_OK)
                return s;
        }
    }
    return layers;
}

/* The captures of one process and DSO name: c[0..n), named ones first. Code without a name of its own has a layer of its own. */
static int layer_home(struct assay_image *im, struct sweep *w, struct image_capture **c, size_t n)
{
    size_t named = 0;
    while (named < n && c[named]->symbol)
        named++;
    int64_t layers = layer_functions(im, w, c, named);
    int s = layers < 0 ? (int)layers : ASSAY_OK;
    for (size_t i = named; i < n && s == ASSAY_OK; i++)
        s = assign(im, c[i], (uint64_t)layers);
    return s;
}

static int layer_all(struct assay_image *im, struct sweep *w)
{
    int s = ASSAY_OK;
    for (size_t i = 0, end; i < im->captures && s == ASSAY_OK; i = end) {
        for (end = i + 1; end < im->captures && compare_home(im->capture[i], im->capture[end]) == 0;)
            end++;
        s = layer_home(im, w, im->capture + i, end - i);
    }
    return s;
}

static void tell_dsos(struct assay_image *im)
{
    for (size_t i = 0; i < im->captures; i++) {
        struct image_dso *d = im->dso[im->capture[i]->dso];
        if (d->captures++ == 0)
            d->first = i;
    }
}

int image_layer_captures(struct assay_image *im)
{
    size_t n = im->captures;
    if (n == 0)
        return ASSAY_OK;
    qsort(im->capture, n, sizeof *im->capture, compare_captures);
    struct sweep w = {calloc(n, sizeof *w.head), 0, calloc(n, sizeof *w.ends), calloc(n, sizeof *w.free_layer)};
    int s = w.head && w.ends && w.free_layer ? layer_all(im, &w) : ASSAY_E_MEMORY;
    free(w.head);
    free(w.ends);
    free(w.free_layer);
    if (s != ASSAY_OK)
        return s;
    qsort(im->capture, n, sizeof *im->capture, compare_by_dso);
    tell_dsos(im);
    return ASSAY_OK;
}
