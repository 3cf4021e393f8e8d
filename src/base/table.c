/* SPDX-License-Identifier: MIT */
/* Growing arrays and a map from 64-bit keys to indices. Not part of the pure core. */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

bool table_grow(void *array, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return true;
    size_t more = *room < 8 ? 16 : *room * 2;
    more = more < need ? need : more;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    if (more > SIZE_MAX / size || !(grown = realloc(old, more * size)))
        return false;
    memset((char *)grown + *room * size, 0, (more - *room) * size);
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

void table_map_free(struct table_map *m)
{
    free(m->key);
    free(m->value);
    *m = (struct table_map){0};
}

static size_t find_place(const struct table_map *m, uint64_t key)
{
    size_t at = (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (m->places - 1);
    while (m->value[at] != 0 && m->key[at] != key)
        at = (at + 1) & (m->places - 1);
    return at;
}

static bool make_room(struct table_map *m)
{
    if (m->used * 2 < m->places)
        return true;
    struct table_map larger = {.places = m->places ? m->places * 2 : 64, .used = m->used};
    larger.key = malloc(larger.places * sizeof *larger.key);
    larger.value = calloc(larger.places, sizeof *larger.value);
    if (!larger.key || !larger.value) {
        table_map_free(&larger);
        return false;
    }
    for (size_t i = 0; i < m->places; i++)
        if (m->value[i]) {
            size_t at = find_place(&larger, m->key[i]);
            larger.key[at] = m->key[i];
            larger.value[at] = m->value[i];
        }
    table_map_free(m);
    *m = larger;
    return true;
}

uint32_t *table_map_at(struct table_map *m, uint64_t key)
{
    if (!make_room(m))
        return NULL;
    size_t at = find_place(m, key);
    if (m->value[at] == 0) {
        m->key[at] = key;
        m->used++;
    }
    return &m->value[at];
}

uint32_t table_map_find(const struct table_map *m, uint64_t key) { return m->places ? m->value[find_place(m, key)] : 0; }
