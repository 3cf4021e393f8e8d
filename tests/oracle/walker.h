/* SPDX-License-Identifier: MIT */
/* A random walk through real code (the C library's), traced by the virtual trace unit: a recording and its truth. */
#ifndef WALKER_H
#define WALKER_H

#include "oracle.h"

/* Real code, at an address of our choice so that a seed gives the same walk in every run on one machine. */
struct text {
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
    uint64_t *entry; /* targets of direct calls */
    size_t entries;
};

/* The C library as it is mapped in this process. */
struct text text_of_libc(uint64_t address);
/* memory.read for a struct text. */
size_t text_read(void *ctx, uint64_t ip, uint8_t *buf, size_t size);

struct random {
    uint64_t state;
};
uint64_t random_next(struct random *r);
uint64_t random_below(struct random *r, uint64_t n); /* 0..n-1 */

struct walk_options {
    uint64_t ctl;  /* RTIT_CTL bits beside TraceEn, BranchEn and User */
    unsigned mode; /* 64 or 32: the same bytes are other code */
    size_t insns;  /* to execute */
};

struct recording {
    uint8_t *data;
    size_t size;
    /* The truth: executed addresses, and the cycle at which each retired. */
    uint64_t *ip, *cycle;
    size_t n;
    /* The bytes that indirect jumps and calls wrote, each its TIP among them. */
    struct span {
        size_t from, to;
    } * jump;
    size_t jumps;
};

struct recording walk_randomly(const struct text *text, struct random *random, const struct walk_options *options);
void recording_free(struct recording *r);

#endif
