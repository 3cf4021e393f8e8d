/* SPDX-License-Identifier: MIT */
/* The address spaces of a recording: maps, forks and execs of its records, and the code of its embedded jitdump. */
#include "rec_priv.h"

static int apply_change(struct assay_image *im, const struct rec_collected *c, const struct rec_change *m)
{
    if (m->kind == REC_FORK)
        return assay_image_fork(im, m->time, m->parent, m->pid);
    if (m->kind == REC_EXEC)
        return assay_image_exec(im, m->time, m->pid);
    const struct rec_build_id *b = m->build_id_size ? NULL : assay_rec_build_id_of(c, m->path);
    return assay_image_map(im, m->pid, m->time, m->addr, m->size, m->pgoff, m->path, b ? b->id : m->build_id,
                           b ? b->size : m->build_id_size);
}

int assay_rec_make_image(struct assay_pt_recording *rec, struct rec_collected *c)
{
    for (size_t i = 0; i < c->changes; i++) {
        int rc = apply_change(rec->image, c, &c->change[i]);
        if (rc == ASSAY_E_MEMORY)
            return rc; /* any other is a map that makes no sense: it gives no code, and nothing else hangs on it */
    }
    size_t size = 0;
    const uint8_t *jitdump = assay_perf_feature(rec->file, ASSAY_PERF_FEAT_JITDUMP, &size);
    if (jitdump && assay_image_jitdump(rec->image, jitdump, size, NULL) == ASSAY_E_MEMORY)
        return ASSAY_E_MEMORY;
    return assay_image_seal(rec->image);
}
