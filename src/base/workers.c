/* SPDX-License-Identifier: MIT */
/* The worker pool. Not part of the pure core. */
#include <assay/workers.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

struct pool {
    int (*fn)(void *ctx, size_t job);
    void *ctx;
    size_t jobs;
    atomic_size_t next;
    atomic_size_t stop;   /* no job from this number on is started */
    pthread_mutex_t lock; /* of the two below */
    size_t failed_job;
    int failed;
};

static void note_failure(struct pool *p, size_t job, int result)
{
    pthread_mutex_lock(&p->lock);
    if (job < p->failed_job) {
        p->failed_job = job;
        p->failed = result;
        atomic_store(&p->stop, job);
    }
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *arg)
{
    struct pool *p = arg;
    for (;;) {
        size_t job = atomic_fetch_add(&p->next, 1);
        if (job >= p->jobs || job >= atomic_load(&p->stop))
            return NULL;
        int result = p->fn(p->ctx, job);
        if (result)
            note_failure(p, job, result);
    }
}

int assay_workers_run(unsigned threads, size_t jobs, int (*fn)(void *ctx, size_t job), void *ctx)
{
    struct pool p = {.fn = fn, .ctx = ctx, .jobs = jobs, .failed_job = SIZE_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
    atomic_init(&p.next, 0);
    atomic_init(&p.stop, SIZE_MAX);
    long online = threads ? (long)threads : sysconf(_SC_NPROCESSORS_ONLN);
    size_t want = online < 1 ? 1 : (size_t)online;
    want = want > MOST_THREADS ? MOST_THREADS : want;
    want = want > jobs ? jobs : want;
    pthread_t id[MOST_THREADS];
    size_t made = 0;
    while (made + 1 < want && pthread_create(&id[made], NULL, work, &p) == 0)
        made++;
    work(&p);
    for (size_t i = 0; i < made; i++)
        pthread_join(id[i], NULL);
    pthread_mutex_destroy(&p.lock);
    return p.failed;
}
