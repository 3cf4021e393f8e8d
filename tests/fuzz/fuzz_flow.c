/* SPDX-License-Identifier: MIT */
/* Any bytes as code and trace: every byte of the trace is accounted for, and cutting the trace into parts or asking for paths
 * changes nothing in what is told.
 * Byte 0: size of the parts; byte 1: mode, processor; byte 2: length of the code in units of 2 bytes; then code, then trace. */
#include <assay/assay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 0x400000 };

struct told {
    uint64_t order;
    struct assay_flow_digest digest;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void note(struct told *t, uint64_t v)
{
    t->order = (t->order ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    t->order ^= t->order >> 29;
}

static void note_event(struct told *t, const struct assay_flow_event *e)
{
    require(e->type < ASSAY_FLOW_EVENTS, "event of no type");
    note(t, e->type);
    note(t, e->ip + e->to);
    note(t, e->value + e->insns);
    note(t, e->offset ^ e->tsc);
}

static int on_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct told *t = ctx;
    for (size_t i = 0; i < b->items_n; i++) {
        uint32_t item = b->items[i], index = ASSAY_FLOW_INDEX(item);
        if (ASSAY_FLOW_IS_EVENT(item)) {
            require(index < b->events_n, "event out of range");
            note_event(t, &b->events[index]);
        } else if (ASSAY_FLOW_IS_PATH(item)) {
            const struct assay_flow_path *p = assay_flow_path_at(f, index);
            require(p && p->runs > 0, "path out of range");
            for (uint32_t k = 0; k < p->runs; k++)
                note(t, assay_flow_path_runs(f, p)[k]);
        } else {
            require(ASSAY_FLOW_IS_CYCLES(item) || (item > 0 && item < assay_flow_runs(f)), "run out of range");
            note(t, item);
        }
    }
    assay_flow_digest_add(&t->digest, f, b);
    return 0;
}

static struct told decode(const struct assay_flow_config *c, struct assay_view *view, const uint8_t *trace, size_t size,
                          size_t step, bool paths)
{
    struct told t = {0};
    struct assay_flow *f;
    size_t at = 0, end = step, used;
    require(assay_flow_new(c, view, on_batch, &t, &f) == ASSAY_OK, "no flow");
    if (paths)
        assay_flow_take_paths(f);
    for (bool last = false; !last; end += step) {
        last = end >= size;
        size_t n = (last ? size : end) - at;
        uint8_t *part = malloc(n ? n : 1); /* so that a read past its end is seen */
        memcpy(part, trace + at, n);
        require(assay_flow_feed(f, part, n, last, &used) == ASSAY_OK && used <= n, "feed");
        free(part);
        at += used;
    }
    require(at == size, "bytes left over");
    require(assay_ledger_closes(assay_flow_ledger(f)) && assay_flow_ledger(f)->in == size, "ledger");
    assay_flow_free(f);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned modes[] = {64, 32, 16, 64}, models[] = {0, 0x3d, 0x4e, 0x55, 0x5c, 0x9e, 0x97, 0x66};
    if (size < 3 || size < 3 + 2 * (size_t)data[2])
        return 0;
    struct assay_image *image;
    struct assay_view *view = NULL;
    size_t code = 2 * (size_t)data[2];
    const struct assay_flow_config c = {.family = 6,
                                        .model = models[data[1] >> 2 & 7],
                                        .mode = modes[data[1] & 3],
                                        .mtc_freq = data[1] >> 5 & 7,
                                        .tsc_ctc_n = 100,
                                        .tsc_ctc_d = 2,
                                        .max_ratio = 20};
    require(assay_image_new(&image, NULL) == ASSAY_OK, "no image");
    if (code)
        require(assay_image_code(image, 0, 0, BASE, data + 3, code, NULL) == ASSAY_OK, "no code");
    require(assay_image_seal(image) == ASSAY_OK && assay_view_new(image, 0, &view) == ASSAY_OK, "no view");
    const uint8_t *trace = data + 3 + code;
    size -= 3 + code;
    struct told whole = decode(&c, view, trace, size, size + 1, false);
    struct told parts = decode(&c, view, trace, size, 1 + data[0], true);
    require(whole.order == parts.order && whole.digest.chk == parts.digest.chk, "parts tell something else");
    assay_view_free(view);
    assay_image_free(image);
    return 0;
}
