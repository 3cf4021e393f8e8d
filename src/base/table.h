/* SPDX-License-Identifier: MIT */
/* Growing arrays and a map from 64-bit keys to indices. Not part of the pure core. */
#ifndef ASSAY_BASE_TABLE_H
#define ASSAY_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for `need` elements of `size` bytes at *array (zeroed where new), at least doubling *room; false: out of memory,
 * nothing changed. */
bool table_grow(void *array, size_t *room, size_t need, size_t size);

/* Open addressing; values are indices that the caller hands out. A zeroed struct is an empty map. */
struct table_map {
    uint64_t *key;
    uint32_t *value; /* index + 1; 0 = free place */
    size_t places, used;
};
void table_map_free(struct table_map *m);
/* The value's place for key, new places hold 0; NULL: out of memory. Store index + 1. Valid until the next call. */
uint32_t *table_map_at(struct table_map *m, uint64_t key);
/* The value for key, 0 when it has none. */
uint32_t table_map_find(const struct table_map *m, uint64_t key);

#endif
