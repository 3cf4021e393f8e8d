/* SPDX-License-Identifier: MIT */
/* A pool of threads for work that was split beforehand: jobs 0..n-1, each done once, in any order. */
#ifndef ASSAY_WORKERS_H
#define ASSAY_WORKERS_H

#include <stddef.h>

/* Runs fn(ctx, job) for every job on up to `threads` threads (0: one a processor), the caller's included; returns when all are
 * done. The first non-zero result in the order of jobs is returned; later jobs that did not start yet are then left out.
 * With one thread, or when no thread can be made, the caller does all of it: the outcome is the same. */
int assay_workers_run(unsigned threads, size_t jobs, int (*fn)(void *ctx, size_t job), void *ctx);

#endif
