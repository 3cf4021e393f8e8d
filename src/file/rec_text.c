/* SPDX-License-Identifier: MIT */
/* Texts of a recording: copied into large blocks, freed together. */
#include "rec_priv.h"

#include <string.h>

enum { BLOCK = 1 << 16 };

struct rec_texts {
    struct rec_texts *before;
    size_t used, room;
    char bytes[];
};

const char *assay_rec_text(struct rec_texts **texts, const char *s, size_t n)
{
    struct rec_texts *t = *texts;
    if (!t || t->room - t->used < n + 1) {
        size_t room = n + 1 > BLOCK ? n + 1 : BLOCK;
        t = malloc(sizeof *t + room);
        if (!t)
            return NULL;
        *t = (struct rec_texts){.before = *texts, .room = room};
        *texts = t;
    }
    char *copy = t->bytes + t->used;
    memcpy(copy, s, n);
    copy[n] = '\0';
    t->used += n + 1;
    return copy;
}

void assay_rec_texts_free(struct rec_texts *t)
{
    while (t) {
        struct rec_texts *before = t->before;
        free(t);
        t = before;
    }
}
