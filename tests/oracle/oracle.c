/* SPDX-License-Identifier: MIT */
/* oracle FILE: the flow of each stream of a recording by the second decoder; one line a stream:
 * number, instructions, chk (chk = chk * 31 + ip), losses. */
#include "oracle.h"
#include "streams.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct report {
    bool insn, blocks, cycles, time, losses; /* what is listed */
    uint64_t insns, chk, lost;
    uint64_t pending_cycles, pending_at; /* cycle points at one place are one */
    uint64_t block, block_insns;         /* the block at work */
};

static void end_block(struct report *r)
{
    if (r->block_insns && r->blocks)
        printf("block %" PRIx64 " %" PRIu64 "\n", r->block, r->block_insns);
    r->block_insns = 0;
}

static void on_insn(void *ctx, const struct insn *in)
{
    struct report *r = ctx;
    r->insns++;
    r->chk = r->chk * 31 + in->ip;
    if (r->insn)
        printf("%" PRIx64 "\n", in->ip);
    if (r->block_insns++ == 0)
        r->block = in->ip;
    if (in->branch != STRAIGHT)
        end_block(r);
}

static void on_jump(void *ctx) { end_block(ctx); }

static void end_cycles(struct report *r)
{
    if (r->pending_cycles && r->cycles)
        printf("cycles %" PRIu64 " %" PRIu64 "\n", r->pending_at, r->pending_cycles);
    r->pending_cycles = 0;
}

static void on_cycles(void *ctx, uint64_t cycles)
{
    struct report *r = ctx;
    if (r->insns != r->pending_at)
        end_cycles(r);
    r->pending_at = r->insns;
    r->pending_cycles += cycles;
}

static void on_time(void *ctx, uint64_t tsc)
{
    struct report *r = ctx;
    if (r->time)
        printf("time %" PRIu64 " %" PRIu64 "\n", r->insns, tsc);
}

static void on_loss(void *ctx, uint64_t offset, uint64_t ip, const char *why)
{
    struct report *r = ctx;
    r->lost++;
    if (r->losses)
        printf("loss %" PRIu64 " offset %" PRIu64 " ip %" PRIx64 ": %s\n", r->insns, offset, ip, why);
}

static void report_stream(const struct assay_pt_recording *all, size_t n, unsigned mode, const struct report *what)
{
    struct report r = *what;
    struct findings find = {&r, on_insn, on_cycles, on_time, on_jump, NULL, on_loss};
    streams_decode(all, n, mode, &find);
    end_block(&r);
    end_cycles(&r);
    printf("stream %zu %" PRIu64 " %016" PRIx64 " %" PRIu64 "\n", n, r.insns, r.chk, r.lost);
}

static int usage(void)
{
    fputs("oracle [--insn] [--blocks] [--cycles] [--time] [--losses] [--mode 64] FILE\n"
          "oracle ... --raw RAW --image FILE@ADDRESS[:OFFSET:LENGTH]...\n",
          stderr);
    return 2;
}

static bool *flag(struct report *r, const char *word)
{
    struct {
        const char *word;
        bool *flag;
    } known[] = {
        {"--insn", &r->insn}, {"--blocks", &r->blocks}, {"--cycles", &r->cycles},
        {"--time", &r->time}, {"--losses", &r->losses},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].word, word) == 0)
            return known[i].flag;
    return NULL;
}

int main(int argc, char **argv)
{
    struct report what = {0};
    struct streams_request request = {0};
    for (int i = 1; i < argc; i++) {
        bool *f = flag(&what, argv[i]);
        bool last = i + 1 == argc;
        if (f)
            *f = true;
        else if (strcmp(argv[i], "--raw") == 0 && !last)
            request.raw = argv[++i];
        else if (strcmp(argv[i], "--image") == 0 && !last && streams_add_image(&request, argv[i + 1]))
            i++;
        else if (strcmp(argv[i], "--mode") == 0 && !last)
            request.mode = (unsigned)atoi(argv[++i]);
        else if (argv[i][0] != '-' && !request.file)
            request.file = argv[i];
        else
            return usage();
    }
    if (!request.file == !request.raw)
        return usage();
    struct assay_pt_recording *all = streams_open(&request);
    if (!all)
        return 4;
    for (size_t n = 0; n < assay_pt_recording_streams(all); n++)
        report_stream(all, n, request.mode, &what);
    assay_pt_recording_close(all);
    for (size_t i = 0; i < request.images; i++)
        free((char *)(uintptr_t)request.image[i].path);
    return 0;
}
