/* SPDX-License-Identifier: MIT */
/* A run that is counted: what the plugin is told, and its threads' tallies completed and added up. */
#include <assay/tally.h>

#include "base/table.h"
#include "run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct exec {
    uint32_t pid, tid;
    const char *path;
};
struct assay_tally {
    struct virtual_run run;
    struct assay_tally_thread *thread;
    size_t threads, thread_room;
    uint64_t total[ASSAY_MACHINE_QUANTITIES];
    uint8_t *raw; /* the events file; paths point into it */
    size_t raw_size;
    struct exec *exec;
    size_t execs, exec_room;
};

#define BIT(q)         ASSAY_MACHINE_BIT(ASSAY_MACHINE_##q)
#define FROM_TO(a, b)  ((BIT(b) << 1) - BIT(a))
#define BY_CODE        (FROM_TO(STRAIGHT, FAR) | BIT(FAR_CYCLES) | BIT(INSTRUCTIONS))
#define BY_ACCESSES    (BIT(LOADS) | BIT(STORES))
#define BY_PREDICTOR   (FROM_TO(MISS_NOT_TAKEN, MISS_RET) | BIT(BRANCH_CYCLES))
#define BY_FLAT_CYCLES (BIT(CYCLES) | BIT(REF_CYCLES))

static int no_memory(struct assay_error *e) { return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory"); }

static void fill_setup(struct assay_tally *c, const struct assay_tally_options *o)
{
    uint64_t q = o->quantities, whole = ~(BY_CODE | BY_ACCESSES | BY_PREDICTOR | (o->model.flat ? BY_FLAT_CYCLES : 0));
    bool all = !o->model.flat && q & whole;
    *c->run.setup = (struct assay_spool_setup){
        .magic = ASSAY_SPOOL_MAGIC,
        .size = sizeof *c->run.setup,
        .unit = {.max_ratio = o->model.max_ratio, .core_ratio = o->model.core_ratio, .mode = c->run.program.mode},
        .model = o->model,
        .accesses = all || q & BY_ACCESSES,
        .count = all                ? ASSAY_SPOOL_COUNT_CYCLES
                 : q & BY_PREDICTOR ? ASSAY_SPOOL_COUNT_PREDICTOR
                                    : ASSAY_SPOOL_COUNT_CODE,
    };
}

int assay_tally_start(const struct assay_tally_options *o, struct assay_tally **out, struct assay_error *e)
{
    *out = NULL;
    struct assay_tally *c = calloc(1, sizeof *c);
    if (!c)
        return no_memory(e);
    int ret = run_open(&c->run, o->argv, o->plugin, o->tmp, e);
    if (ret == ASSAY_OK) {
        fill_setup(c, o);
        ret = run_spawn(&c->run, o->mask, e);
    }
    if (ret < 0)
        assay_tally_free(c);
    else
        *out = c;
    return ret;
}

void assay_tally_free(struct assay_tally *c)
{
    if (!c)
        return;
    run_free(&c->run);
    free(c->thread);
    free(c->exec);
    free(c->raw);
    free(c);
}

/* What follows from the rest, so that nobody counts it while the program runs. */
static void complete(const struct assay_spool_setup *setup, const struct assay_spool_stream *s, uint64_t *tally)
{
    const struct assay_machine_model *m = &setup->model;
    tally[ASSAY_MACHINE_INSTRUCTIONS] = s->insns;
    tally[ASSAY_MACHINE_FAR_CYCLES] = tally[ASSAY_MACHINE_FAR] * m->syscall_cycles;
    for (unsigned q = ASSAY_MACHINE_MISS_NOT_TAKEN; q <= ASSAY_MACHINE_MISS_RET; q++)
        tally[ASSAY_MACHINE_BRANCH_CYCLES] += tally[q] * m->branch_penalty;
    tally[ASSAY_MACHINE_CYCLES] =
        m->flat ? s->insns + tally[ASSAY_MACHINE_FAR_CYCLES] : s->unit.cycles - s->birth - s->waited;
    uint64_t cycles = tally[ASSAY_MACHINE_CYCLES];
    tally[ASSAY_MACHINE_REF_CYCLES] =
        cycles / m->core_ratio * m->max_ratio + cycles % m->core_ratio * m->max_ratio / m->core_ratio;
}

static int read_thread(struct assay_tally *c, unsigned n, struct assay_error *e)
{
    struct assay_spool_stream s;
    int fd = run_open_stream(&c->run, n, &s);
    if (fd < 0)
        return ASSAY_OK;
    close(fd);
    if (!table_grow(&c->thread, &c->thread_room, c->threads + 1, sizeof *c->thread))
        return no_memory(e);
    struct assay_tally_thread *t = &c->thread[c->threads++];
    *t = (struct assay_tally_thread){.pid = s.pid, .tid = s.tid, .killed = s.state != ASSAY_SPOOL_ENDED};
    memcpy(t->tally, s.tally, sizeof t->tally);
    complete(c->run.setup, &s, t->tally);
    for (unsigned q = 0; q < ASSAY_MACHINE_QUANTITIES; q++)
        c->total[q] += t->tally[q];
    return ASSAY_OK;
}

/* A thread that went on with another program never ended, but nothing killed it. */
static void forgive_exec(struct assay_tally *c, const struct exec *x)
{
    for (size_t i = 0; i < c->threads; i++)
        if (c->thread[i].pid == x->pid)
            c->thread[i].killed = false;
}

/* An exec that failed is told by a second one without a path. */
static int read_execs(struct assay_tally *c, struct assay_error *e)
{
    struct assay_spool_event v;
    const uint8_t *payload;
    int ret = run_read_events(&c->run, &c->raw, &c->raw_size, e);
    for (size_t at = 0; ret == ASSAY_OK && (payload = run_next_event(c->raw, c->raw_size, &at, &v));) {
        if (v.type != ASSAY_SPOOL_EXEC)
            continue;
        if (*payload) {
            if (!table_grow(&c->exec, &c->exec_room, c->execs + 1, sizeof *c->exec))
                return no_memory(e);
            c->exec[c->execs++] = (struct exec){v.pid, v.tid, (const char *)payload};
            continue;
        }
        for (size_t i = c->execs; i-- > 0;)
            if (c->exec[i].tid == v.tid) {
                memmove(&c->exec[i], &c->exec[i + 1], (--c->execs - i) * sizeof *c->exec);
                break;
            }
    }
    return ret;
}

int assay_tally_collect(struct assay_tally *c, struct assay_error *e)
{
    const struct assay_spool_setup *setup = c->run.setup;
    int ret = read_execs(c, e);
    for (unsigned i = 0; ret == ASSAY_OK && i < setup->streams; i++)
        ret = read_thread(c, i, e);
    for (size_t i = 0; i < c->execs; i++)
        forgive_exec(c, &c->exec[i]);
    if (ret == ASSAY_OK && setup->failed)
        ret = assay_error_sys(e, setup->failed, "%s: cannot write the counts (TMPDIR may name another place)",
                              c->run.spool);
    return ret;
}

pid_t assay_tally_pid(const struct assay_tally *c) { return c->run.pid; }
size_t assay_tally_threads(const struct assay_tally *c) { return c->threads; }
const struct assay_tally_thread *assay_tally_thread(const struct assay_tally *c, size_t n) { return &c->thread[n]; }
const uint64_t *assay_tally_total(const struct assay_tally *c) { return c->total; }
const char *assay_tally_machine(const struct assay_tally *c) { return c->run.version; }

const char *assay_tally_exec(const struct assay_tally *c, size_t n, uint32_t *pid)
{
    if (n >= c->execs)
        return NULL;
    *pid = c->exec[n].pid;
    return c->exec[n].path;
}

unsigned assay_tally_doubts(const struct assay_tally *c, char *why, size_t size)
{
    return run_doubts(&c->run, why, size);
}
