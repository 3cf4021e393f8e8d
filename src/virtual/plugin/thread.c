/* SPDX-License-Identifier: MIT */
/* Streams by thread life: creation, growth, end, fork; and the clocks that threads share. */
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_WINDOW = 256 << 10, PAGE = 4096, LOG_ENTRIES = 4096 };

static const struct block no_block = {.kind = BLOCK_UNBORN};
const struct block outside = {.kind = BLOCK_OUTSIDE};
struct thread unborn = {.prev = &no_block};
struct thread *thread_of[THREADS];
__thread struct thread *thread_here;

uint64_t clock_furthest(void) { return __atomic_load_n(&process.setup->now, __ATOMIC_RELAXED); }

void clock_publish(const struct thread *t)
{
    uint64_t mine = t->s.unit.cycles, now = clock_furthest();
    while (mine > now &&
           !__atomic_compare_exchange_n(&process.setup->now, &now, mine, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static int map_file(int fd, uint64_t offset, size_t size, uint8_t **map)
{
    /* A hole that cannot be filled later would be a SIGBUS in the guest's name. */
    int sys = posix_fallocate(fd, (off_t)offset, (off_t)size);
    if (sys != 0)
        return sys;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (p == MAP_FAILED)
        return errno;
    madvise(p, size, MADV_DONTFORK);
    *map = p;
    return 0;
}

/* Output that goes nowhere, once there is no room on the disk: the program runs on. */
static bool discard(struct assay_pt_unit *u, void *ctx)
{
    const struct thread *t = ctx;
    assay_pt_unit_output(u, t->window, t->window_size);
    return true;
}

static bool begin_discarding(struct thread *t, int sys)
{
    event_failed(sys);
    t->window_size = PAGE;
    t->window = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t->window == MAP_FAILED)
        abort();
    t->s.unit.on_full = discard;
    return discard(&t->s.unit, t);
}

static bool next_window(struct assay_pt_unit *u, void *ctx)
{
    struct thread *t = ctx;
    if (__atomic_load_n(&process.setup->failed, __ATOMIC_RELAXED))
        return false; /* asking a full disk again for each packet would take for ever */
    uint64_t done = t->s.data + assay_pt_unit_written(u), from = done / PAGE * PAGE;
    size_t size = t->window_size ? t->window_size * 2 : FIRST_WINDOW;
    if (size > process.setup->window)
        size = process.setup->window;
    if (t->window)
        munmap(t->window, t->window_size);
    int fd = spool_open("stream", t->s.index, O_RDWR);
    int sys = fd < 0 ? errno : map_file(fd, from, size, &t->window);
    if (fd >= 0)
        close(fd);
    if (sys != 0)
        return begin_discarding(t, sys);
    t->window_size = size;
    t->s.data = done;
    assay_pt_unit_output(u, t->window + (done - from), size - (done - from));
    return true;
}

static void start_unit(struct thread *t, int sys)
{
    const struct assay_spool_setup *setup = process.setup;
    struct assay_pt_unit *u = &t->s.unit;
    assay_pt_unit_init(u, &setup->unit);
    u->cycles = t->s.birth;
    u->tsc_base = setup->tsc_base;
    if (setup->count) { /* the unit is a clock, no more */
        if (sys)
            event_failed(sys);
        return;
    }
    u->ctx = t;
    u->on_full = next_window;
    if (sys)
        begin_discarding(t, sys);
    else
        next_window(u, t);
    assay_pt_unit_wrmsr(u, ASSAY_MSR_RTIT_CTL, setup->rtit_ctl);
}

/* *sys: why its state is in no file, 0 when it is. */
static struct thread *map_thread(uint32_t index, int *sys)
{
    uint8_t *map = NULL;
    int fd = spool_open("stream", index, O_RDWR | O_CREAT | O_EXCL);
    *sys = fd < 0 ? errno : map_file(fd, 0, ASSAY_SPOOL_DATA, &map);
    if (fd >= 0)
        close(fd);
    if (*sys)
        map = mmap(NULL, ASSAY_SPOOL_DATA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        abort();
    return (struct thread *)(void *)map;
}

static void tell_birth(const struct thread *t)
{
    bool leader = t->s.tid == process.pid;
    if (!leader || process.parent) {
        struct assay_spool_fork f = {.ppid = leader ? process.parent : process.pid};
        f.ptid = f.ppid;
        event_put(ASSAY_SPOOL_FORK, t->s.tid, t->s.birth, &f, sizeof f, NULL, 0);
    }
    process.parent = leader ? 0 : process.parent;
}

/* The registers were found if the instruction pointer is where this block, which QEMU's main loop entered, starts. */
static const void *find_registers(struct thread *t, const void *env, uint64_t ip)
{
    struct regs r;
    t->env = env;
    if (env && regs_read(t, &r) && r.ip == ip)
        return env;
    __atomic_fetch_add(&process.setup->no_registers, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void start_core(struct thread *t)
{
    const struct assay_spool_setup *setup = process.setup;
    if (setup->model.flat || setup->count == ASSAY_SPOOL_COUNT_CODE)
        return;
    if (assay_machine_core_new(&setup->model, &t->core) != ASSAY_OK)
        abort();
    assay_machine_core_tally(t->core, t->s.tally);
}

struct thread *thread_start(const void *env, uint64_t ip)
{
    uint32_t index = __atomic_fetch_add(&process.setup->streams, 1, __ATOMIC_RELAXED);
    int sys;
    struct thread *t = map_thread(index, &sys);
    t->s.index = index;
    t->s.pid = process.pid;
    t->s.tid = (uint32_t)syscall(SYS_gettid);
    t->s.birth = clock_furthest();
    t->s.data = ASSAY_SPOOL_DATA;
    t->prev = &outside;
    t->env = find_registers(t, env, ip);
    start_core(t);
    if (process.setup->truth_blocks)
        t->log = malloc(LOG_ENTRIES * sizeof *t->log);
    tell_birth(t);
    start_unit(t, sys);
    t->s.magic = ASSAY_SPOOL_MAGIC;
    thread_here = t;
    return t;
}

static void write_log(struct thread *t)
{
    int fd = spool_open("blocks", t->s.index, O_WRONLY | O_CREAT | O_APPEND);
    size_t size = t->logged * sizeof *t->log;
    if (fd < 0 || write(fd, t->log, size) != (ssize_t)size)
        event_failed(fd < 0 ? errno : ENOSPC);
    if (fd >= 0)
        close(fd);
    t->s.block_count += t->logged;
    t->logged = 0;
}

void thread_log(struct thread *t, uint64_t ip, uint32_t insns)
{
    t->log[t->logged++] = (struct assay_spool_block){ip, insns};
    if (t->logged == LOG_ENTRIES)
        write_log(t);
}

void thread_end(struct thread *t, unsigned vcpu)
{
    thread_of[vcpu % THREADS] = &unborn;
    thread_here = NULL;
    if (t->log)
        write_log(t);
    free(t->log);
    assay_machine_core_free(t->core);
    t->s.state = ASSAY_SPOOL_ENDED;
    if (t->window)
        munmap(t->window, t->window_size);
    munmap(t, ASSAY_SPOOL_DATA);
}

static void before_fork(void) { pthread_mutex_lock(&process.lock); }
static void after_fork(void) { pthread_mutex_unlock(&process.lock); }

/* The child's thread is a new life with a stream of its own; the parent's mappings did not come along. */
static void in_child(void)
{
    pthread_mutex_unlock(&process.lock);
    process.parent = process.pid;
    process.pid = (uint32_t)getpid();
    thread_here = NULL;
    for (unsigned i = 0; i < THREADS; i++)
        thread_of[i] = &unborn;
}

int threads_init(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        thread_of[i] = &unborn;
    pthread_mutex_init(&process.lock, NULL);
    return pthread_atfork(before_fork, after_fork, in_child);
}
