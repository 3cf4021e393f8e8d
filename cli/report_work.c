/* SPDX-License-Identifier: MIT */
/* assay report: the streams of a recording into one profile, by several threads. */
#include "report.h"

#include <assay/recording.h>
#include <assay/workers.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct work;

/* One job is one stream, with a profile and ledger of its own. */
struct job {
    struct work *work;
    struct assay_profile *profile;
    struct assay_ledger ledger;
    struct assay_error error;
    uint64_t done; /* bytes */
};

/* Jobs are merged in the order of the streams. One that ends early waits for its turn; when too much waits, nothing new is begun. */
enum { WAITING_MOST = 1 << 20 }; /* call paths, edges and functions */

struct work {
    const struct assay_pt_recording *rec;
    size_t first, jobs; /* streams first .. first + jobs - 1 */
    unsigned want;
    struct assay_profile *into;
    struct assay_ledger *ledger;
    pthread_mutex_t lock; /* of what follows, and of the two above */
    pthread_cond_t merged_more;
    struct job **ended; /* by stream: waits for its turn */
    size_t merged, waiting;
    size_t failed;            /* the first job that failed, SIZE_MAX: none */
    struct assay_error error; /* its message */
    pthread_mutex_t progress_lock;
    struct cli_progress progress;
    _Atomic uint64_t done; /* bytes */
};

/* Counts a batch; whichever thread finds the line free says how far all are. */
static int add_batch(void *ctx, struct assay_flow *flow, const struct assay_flow_batch *batch)
{
    struct job *j = ctx;
    struct work *w = j->work;
    uint64_t done = assay_flow_ledger(flow)->in;
    atomic_fetch_add(&w->done, done - j->done);
    j->done = done;
    if (w->progress.on && pthread_mutex_trylock(&w->progress_lock) == 0) {
        cli_progress_at(&w->progress, w->done);
        pthread_mutex_unlock(&w->progress_lock);
    }
    return assay_profile_add(j->profile, flow, batch);
}

static int decode_stream(struct job *j, size_t n)
{
    const struct work *w = j->work;
    int status = assay_profile_new(assay_pt_recording_image(w->rec), w->want, &j->profile);
    if (status == ASSAY_OK)
        status = assay_pt_recording_flow(w->rec, assay_pt_recording_stream(w->rec, w->first + n), add_batch, j,
                                         &j->ledger, &j->error);
    return status == ASSAY_OK ? assay_profile_stream_end(j->profile) : status;
}

static void free_job(struct job *j)
{
    if (j)
        assay_profile_free(j->profile);
    free(j);
}

static size_t size_of(const struct job *j)
{
    return 64 + assay_profile_nodes(j->profile) + assay_profile_edges(j->profile) + assay_profile_functions(j->profile);
}

/* With the lock held: all whose turn it is. */
static int merge_ended(struct work *w)
{
    int status = ASSAY_OK;
    for (; status == ASSAY_OK && w->merged < w->jobs && w->ended[w->merged]; w->merged++) {
        struct job *j = w->ended[w->merged];
        w->ended[w->merged] = NULL;
        w->waiting -= size_of(j);
        status = assay_profile_merge(w->into, j->profile);
        assay_ledger_add(w->ledger, &j->ledger);
        free_job(j);
    }
    return status;
}

static void wait_for_room(struct work *w, size_t n)
{
    pthread_mutex_lock(&w->lock);
    while (w->waiting > WAITING_MOST && n != w->merged && w->failed == SIZE_MAX)
        pthread_cond_wait(&w->merged_more, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

/* Takes the job over. */
static int end_job(struct work *w, size_t n, struct job *j, int status)
{
    pthread_mutex_lock(&w->lock);
    if (status == ASSAY_OK) {
        w->ended[n] = j;
        w->waiting += size_of(j);
        status = merge_ended(w);
        j = NULL;
    }
    if (status != ASSAY_OK && n < w->failed) {
        w->failed = n;
        w->error = j ? j->error : (struct assay_error){0};
    }
    pthread_cond_broadcast(&w->merged_more);
    pthread_mutex_unlock(&w->lock);
    free_job(j);
    return status;
}

static int profile_stream(void *ctx, size_t n)
{
    struct work *w = ctx;
    wait_for_room(w, n);
    struct job *j = calloc(1, sizeof *j);
    if (!j)
        return end_job(w, n, j, ASSAY_E_MEMORY);
    j->work = w;
    return end_job(w, n, j, decode_stream(j, n));
}

static uint64_t all_bytes(const struct work *w)
{
    uint64_t total = 0;
    for (size_t i = 0; i < w->jobs; i++)
        total += assay_pt_recording_stream(w->rec, w->first + i)->size;
    return total;
}

int report_profile(struct cli *c, const struct report_part *part, unsigned threads, struct assay_profile *into,
                   struct assay_ledger *ledger)
{
    struct work w = {.rec = part->rec,
                     .first = part->first,
                     .jobs = part->end - part->first,
                     .want = part->want,
                     .into = into,
                     .ledger = ledger,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .merged_more = PTHREAD_COND_INITIALIZER,
                     .failed = SIZE_MAX,
                     .progress_lock = PTHREAD_MUTEX_INITIALIZER};
    w.ended = calloc(w.jobs + 1, sizeof(struct job *));
    if (!w.ended)
        return cli_fail(c, CLI_CANNOT, "out of memory");
    cli_progress_begin(&w.progress, "report", all_bytes(&w));
    int status = assay_workers_run(threads, w.jobs, profile_stream, &w);
    cli_progress_end(&w.progress);
    for (size_t i = 0; i < w.jobs; i++)
        free_job(w.ended[i]);
    free(w.ended);
    if (status == ASSAY_OK)
        status = assay_profile_finish(into);
    if (w.error.code)
        return cli_fail_error(c, &w.error);
    return status == ASSAY_OK ? CLI_OK : cli_fail(c, CLI_CANNOT, "%s", assay_status_name(status));
}
