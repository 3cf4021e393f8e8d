/* SPDX-License-Identifier: MIT */
/* Small pieces of memory that are freed together, and growing arrays. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct image_chunk {
    struct image_chunk *next;
    size_t used, cap;
    max_align_t data[];
};

void *image_pool_alloc(struct image_pool *p, size_t size)
{
    size_t need = size + (-size & 7);
    struct image_chunk *c = p->head;
    if (need < size)
        return NULL;
    if (!c || c->cap - c->used < need) {
        size_t cap = need > 64 * 1024 ? need : 64 * 1024;
        c = malloc(sizeof *c + cap);
        if (!c)
            return NULL;
        *c = (struct image_chunk){.next = p->head, .cap = cap};
        p->head = c;
    }
    void *at = (char *)c->data + c->used;
    c->used += need;
    return at;
}

char *image_pool_string(struct image_pool *p, const char *s, size_t size)
{
    char *copy = image_pool_alloc(p, size + 1);
    if (copy) {
        memcpy(copy, s, size);
        copy[size] = '\0';
    }
    return copy;
}

void image_pool_free(struct image_pool *p)
{
    for (struct image_chunk *c = p->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    p->head = NULL;
}

void *image_grow(void *array, size_t n, size_t *cap, size_t element)
{
    if (n < *cap)
        return array;
    size_t more = *cap ? *cap * 2 : 16;
    if (more > SIZE_MAX / element)
        return NULL;
    void *bigger = realloc(array, more * element);
    if (bigger)
        *cap = more;
    return bigger;
}
