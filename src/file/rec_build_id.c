/* SPDX-License-Identifier: MIT */
/* Build ids that a recording keeps apart from its maps. */
#include "rec_priv.h"

#include <assay/cursor.h>

#include <string.h>

enum {
    EVENT_HEADER = 8, /* u32 type, u16 misc, u16 size */
    FIXED = 28,       /* u32 pid, 20 bytes of id padded to 24 */
    AT_ID = 4,
    AT_SIZE = 24,
    MISC_SIZE = 1 << 15, /* the byte after the id holds its size */
};

static uint64_t load(bool big, const uint8_t *p, unsigned n) { return big ? assay_load_be(p, n) : assay_load_le(p, n); }

int assay_rec_add_build_id(struct rec_collected *c, struct rec_texts **texts, unsigned misc, const uint8_t *body,
                           size_t n)
{
    const char *path = (const char *)body + FIXED;
    size_t length = strnlen(path, n - FIXED);
    if (length == 0)
        return ASSAY_OK;
    if (!table_grow(&c->build_id, &c->build_id_room, c->build_ids + 1, sizeof *c->build_id))
        return ASSAY_E_MEMORY;
    struct rec_build_id b = {.size = 20, .path = assay_rec_text(texts, path, length)};
    if (!b.path)
        return ASSAY_E_MEMORY;
    if ((misc & MISC_SIZE) && body[AT_SIZE] > 0 && body[AT_SIZE] <= sizeof b.id)
        b.size = body[AT_SIZE];
    memcpy(b.id, body + AT_ID, sizeof b.id);
    c->build_id[c->build_ids++] = b;
    return ASSAY_OK;
}

int assay_rec_add_build_ids(struct rec_collected *c, struct rec_texts **texts, bool big, const uint8_t *p, size_t n)
{
    while (n >= EVENT_HEADER + FIXED) {
        size_t size = (size_t)load(big, p + 6, 2);
        if (size < EVENT_HEADER + FIXED || size > n)
            return ASSAY_OK;
        int rc = assay_rec_add_build_id(c, texts, (unsigned)load(big, p + 4, 2), p + EVENT_HEADER, size - EVENT_HEADER);
        if (rc < 0)
            return rc;
        p += size;
        n -= size;
    }
    return ASSAY_OK;
}

static int compare_paths(const void *a, const void *b)
{
    const struct rec_build_id *x = a, *y = b;
    return strcmp(x->path, y->path);
}

void assay_rec_sort_build_ids(struct rec_collected *c)
{
    if (c->build_ids > 0)
        qsort(c->build_id, c->build_ids, sizeof *c->build_id, compare_paths);
}

const struct rec_build_id *assay_rec_build_id_of(const struct rec_collected *c, const char *path)
{
    struct rec_build_id key = {.path = path};
    return c->build_ids ? bsearch(&key, c->build_id, c->build_ids, sizeof key, compare_paths) : NULL;
}
