/* SPDX-License-Identifier: MIT */
/* A recording cut at every byte, and with bits flipped: what opens decodes to its end, the ledger of each stream closes, and errors
 * are told. usage: damage RECORDING ROUNDS */
#include <assay/assay.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 20, MOST_FLIPS = 8 };

static const char *how; /* what is being tried, for complaints */
static uint64_t which;

static void must(bool sound, const char *complaint)
{
    if (sound)
        return;
    fprintf(stderr, "%s %" PRIu64 ": %s\n", how, which, complaint);
    exit(1);
}

static void check_stream(struct assay_pt_recording *rec, size_t n)
{
    struct assay_profile *p;
    struct assay_ledger ledger = {0};
    struct assay_error e = {0};
    must(assay_profile_new(assay_pt_recording_image(rec), ASSAY_PROFILE_TREE | ASSAY_PROFILE_EDGES, &p) == ASSAY_OK,
         "no profile");
    int rc = assay_pt_recording_flow(rec, assay_pt_recording_stream(rec, n), assay_profile_add, p, &ledger, &e);
    must(rc == ASSAY_OK || e.text[0], "an error without a word");
    must(rc != ASSAY_OK || assay_ledger_closes(&ledger), "the ledger does not close");
    must(assay_profile_stream_end(p) == ASSAY_OK && assay_profile_finish(p) == ASSAY_OK, "the profile does not end");
    assay_profile_free(p);
}

/* 1: it could be opened. */
static int check_recording(const char *path)
{
    struct assay_pt_recording *rec;
    struct assay_error e = {0};
    int rc = assay_pt_recording_open(path, &rec, &e);
    must(rc == ASSAY_OK || e.text[0], "an error without a word");
    must(rc != ASSAY_E_MEMORY, "a file of nothing needs all memory");
    if (rc != ASSAY_OK)
        return 0;
    for (size_t i = 0; i < assay_pt_recording_streams(rec); i++)
        check_stream(rec, i);
    assay_pt_recording_close(rec);
    return 1;
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

static void store(int fd, const uint8_t *data, size_t size)
{
    must(pwrite(fd, data, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0, "cannot be written");
}

static unsigned cut(int fd, const char *path, const uint8_t *data, size_t size)
{
    unsigned opened = 0;
    how = "cut at";
    store(fd, data, size);
    for (which = size; which-- > 0;) {
        must(ftruncate(fd, (off_t)which) == 0, "cannot be cut");
        opened += (unsigned)check_recording(path);
    }
    return opened;
}

static unsigned flip(int fd, const char *path, const uint8_t *data, size_t size, unsigned rounds)
{
    uint8_t *copy = malloc(size);
    unsigned opened = 0;
    how = "flipped with seed";
    for (which = 0; which < rounds; which++) {
        uint64_t seed = which;
        memcpy(copy, data, size);
        for (unsigned n = 1 + next_random(&seed) % MOST_FLIPS; n > 0; n--)
            copy[next_random(&seed) % size] ^= (uint8_t)(1u << next_random(&seed) % 8);
        store(fd, copy, size);
        opened += (unsigned)check_recording(path);
    }
    free(copy);
    return opened;
}

int main(int argc, char **argv)
{
    static uint8_t data[MOST];
    FILE *f = argc == 3 ? fopen(argv[1], "rb") : NULL;
    char path[32];
    how = "whole";
    must(f, "usage: damage RECORDING ROUNDS");
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    int fd = memfd_create("damage", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    store(fd, data, size);
    must(check_recording(path) == 1, "does not open");
    unsigned cuts = cut(fd, path, data, size);
    unsigned flips = flip(fd, path, data, size, (unsigned)atoi(argv[2]));
    close(fd);
    printf("%zu bytes: %u of %zu prefixes and %u of %s flipped files open\n", size, cuts, size, flips, argv[2]);
    return cuts > 0 && flips > 0 ? 0 : 1;
}
