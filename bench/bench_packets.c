/* SPDX-License-Identifier: MIT */
/* Speed of the packet decoder beside libipt's on a raw trace. usage: bench_packets RAW [ROUNDS]
 * Prints for each the packets seen and MB/s (1e6 bytes, the best round), then the ratio. */
#include <assay/pt.h>

#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Each counts packets; the sum of their sizes keeps the loop from being optimised away. */
struct result {
    uint64_t packets, bytes;
};

static struct result run_next(const uint8_t *data, size_t size)
{
    struct result r = {0};
    struct assay_pt_decoder d;
    struct assay_pt_packet p;
    assay_pt_decoder_init(&d, data, size, 0, false);
    for (; assay_pt_decoder_next(&d, &p); r.packets++)
        r.bytes += p.size;
    return r;
}

static struct result run_batch(const uint8_t *data, size_t size)
{
    struct result r = {0};
    struct assay_pt_decoder d;
    struct assay_pt_packet p[256];
    assay_pt_decoder_init(&d, data, size, 0, false);
    for (size_t n; (n = assay_pt_decoder_batch(&d, p, 256)) > 0; r.packets += n)
        for (size_t i = 0; i < n; i++)
            r.bytes += p[i].size;
    return r;
}

static struct pt_packet_decoder *open_libipt(const uint8_t *data, size_t size)
{
    struct pt_config config;
    pt_config_init(&config);
    config.begin = (uint8_t *)(uintptr_t)data;
    config.end = config.begin + size;
    return pt_pkt_alloc_decoder(&config);
}

static struct result run_libipt(const uint8_t *data, size_t size)
{
    struct result r = {0};
    struct pt_packet p;
    struct pt_packet_decoder *d = open_libipt(data, size);
    while (d && pt_pkt_sync_forward(d) >= 0)
        for (; pt_pkt_next(d, &p, sizeof p) >= 0; r.packets++)
            r.bytes += p.size;
    pt_pkt_free_decoder(d);
    return r;
}

static bool agree(const struct assay_pt_packet *a, const struct pt_packet *b)
{
    if (a->size != b->size)
        return false;
    switch (b->type) {
    case ppt_tnt_8:
    case ppt_tnt_64:
        return a->tnt.count == b->payload.tnt.bit_size && a->tnt.bits == b->payload.tnt.payload;
    case ppt_tip:
    case ppt_tip_pge:
    case ppt_tip_pgd:
    case ppt_fup:
        return a->ip.ipbytes == b->payload.ip.ipc && a->ip.payload == b->payload.ip.ip;
    case ppt_cyc:
        return a->cyc.cycles == b->payload.cyc.value;
    case ppt_tsc:
        return a->tsc.tsc == b->payload.tsc.tsc;
    case ppt_mtc:
        return a->mtc.ctc == b->payload.mtc.ctc;
    default:
        return true;
    }
}

/* The offset of the first packet that libipt reads otherwise, or the size. */
static uint64_t compare(const uint8_t *data, size_t size)
{
    struct assay_pt_decoder d;
    struct assay_pt_packet ours;
    struct pt_packet theirs;
    struct pt_packet_decoder *libipt = open_libipt(data, size);
    assay_pt_decoder_init(&d, data, size, 0, false);
    pt_pkt_sync_forward(libipt);
    while (assay_pt_decoder_next(&d, &ours)) {
        if (ours.type == ASSAY_PT_GAP)
            pt_pkt_sync_forward(libipt);
        else if (pt_pkt_next(libipt, &theirs, sizeof theirs) < 0 || !agree(&ours, &theirs))
            break;
    }
    pt_pkt_free_decoder(libipt);
    return assay_pt_decoder_pos(&d);
}

static double measure(const char *name, struct result (*run)(const uint8_t *, size_t), const uint8_t *data, size_t size,
                      unsigned rounds)
{
    double best = 0;
    struct result r = {0};
    for (unsigned i = 0; i < rounds; i++) {
        double start = seconds();
        r = run(data, size);
        double speed = (double)size / 1e6 / (seconds() - start);
        if (speed > best)
            best = speed;
    }
    printf("%-7s %12" PRIu64 " packets %9.1f MB/s\n", name, r.packets, best);
    return best;
}

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        fprintf(stderr, "usage: bench_packets RAW [ROUNDS]\n");
        return 2;
    }
    size_t size = (size_t)ftell(f);
    uint8_t *data = malloc(size + 1);
    rewind(f);
    if (!data || fread(data, 1, size, f) != size) {
        fprintf(stderr, "cannot read %s\n", argv[1]);
        return 4;
    }
    fclose(f);
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
    measure("next", run_next, data, size, rounds);
    double ours = measure("batch", run_batch, data, size, rounds);
    double theirs = measure("libipt", run_libipt, data, size, rounds);
    uint64_t same = compare(data, size);
    printf("ratio   %.2f, %s\n", ours / theirs, same == size ? "the same packets" : "other packets");
    free(data);
    return same == size ? 0 : 1;
}
