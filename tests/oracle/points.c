/* SPDX-License-Identifier: MIT */
/* oracle_points FILE: where in the code the library's flow places core cycles and what time TSC and MTC tell, in the
 * form that `oracle --cycles --time` prints. */
#include <assay/recording.h>

#include <inttypes.h>
#include <stdio.h>

struct points {
    uint64_t insns, pending_cycles, pending_at;
};

static void end_cycles(struct points *p)
{
    if (p->pending_cycles)
        printf("cycles %" PRIu64 " %" PRIu64 "\n", p->pending_at, p->pending_cycles);
    p->pending_cycles = 0;
}

static void on_cycles(struct points *p, uint64_t cycles)
{
    if (p->insns != p->pending_at)
        end_cycles(p);
    p->pending_at = p->insns;
    p->pending_cycles += cycles;
}

static int on_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct points *p = ctx;
    for (size_t i = 0; i < b->items_n; i++) {
        uint32_t item = b->items[i], index = ASSAY_FLOW_INDEX(item);
        if (ASSAY_FLOW_IS_RUN(item))
            p->insns += assay_flow_run_at(f, item)->insns;
        else if (ASSAY_FLOW_IS_CYCLES(item))
            on_cycles(p, index);
        else if (b->events[index].type == ASSAY_FLOW_PARTIAL)
            p->insns += b->events[index].insns;
        else if (b->events[index].type == ASSAY_FLOW_TIME)
            printf("time %" PRIu64 " %" PRIu64 "\n", p->insns, b->events[index].tsc);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct assay_pt_recording *rec;
    struct assay_error e = {0};
    if (argc != 2 || assay_pt_recording_open(argv[1], &rec, &e) < 0) {
        fprintf(stderr, "oracle_points: %s\n", argc == 2 ? e.text : "one file, please");
        return 2;
    }
    for (size_t n = 0; n < assay_pt_recording_streams(rec); n++) {
        struct points p = {0};
        if (assay_pt_recording_flow(rec, assay_pt_recording_stream(rec, n), on_batch, &p, NULL, &e) != ASSAY_OK)
            fprintf(stderr, "oracle_points: %s\n", e.text);
        end_cycles(&p);
        printf("stream %zu %" PRIu64 "\n", n, p.insns);
    }
    assay_pt_recording_close(rec);
    return 0;
}
