/* SPDX-License-Identifier: MIT */
/* Our libpfm.so.4 beside Debian's in one run: what a call costs, as ratios. Rounds of both alternate, medians are
 * compared.
 * usage: bench_events REFERENCE.so OURS.so        bench_events count LIBRARY.so WORK N   does WORK N times, for a
 * profiler that counts instructions */
#include "../tests/peer/libpfm_sides.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 401, KNM = 371 << 21, KNM_EVENTS = 31, COLD = 101 };
#define SIMPLE  "knm::ICACHE:MISSES:u"
#define OFFCORE "knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u"

static char names[KNM_EVENTS][64]; /* "knm::EVENT" */

static void raw(const struct side *s, const char *text)
{
    uint64_t codes[2];
    pfm_pmu_encode_arg_t a = {.codes = codes, .size = sizeof a, .count = 2};
    if (s->get_os_event_encoding(text, PFM_PLM3, PFM_OS_NONE, &a) != PFM_SUCCESS)
        abort();
}

static void perf(const struct side *s, const char *text)
{
    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t a = {.attr = &attr, .size = sizeof a};
    if (s->get_os_event_encoding(text, PFM_PLM3, PFM_OS_PERF_EVENT, &a) != PFM_SUCCESS)
        abort();
}

static void named(const struct side *s)
{
    uint64_t codes[2];
    char *name = NULL;
    pfm_pmu_encode_arg_t a = {.codes = codes, .fstr = &name, .size = sizeof a, .count = 2};
    if (s->get_os_event_encoding(OFFCORE, PFM_PLM3, PFM_OS_NONE, &a) != PFM_SUCCESS)
        abort();
    free(name);
}

static void find(const struct side *s, int i)
{
    if (s->find_event(names[i]) < 0)
        abort();
}

static void raw_simple(const struct side *s) { raw(s, SIMPLE); }
static void raw_offcore(const struct side *s) { raw(s, OFFCORE); }
static void perf_simple(const struct side *s) { perf(s, SIMPLE); }
static void perf_offcore(const struct side *s) { perf(s, OFFCORE); }
static void find_first(const struct side *s) { find(s, 0); }
static void find_middle(const struct side *s) { find(s, KNM_EVENTS / 2); }
static void find_last(const struct side *s) { find(s, KNM_EVENTS - 1); }

static void find_all(const struct side *s)
{
    for (int i = 0; i < KNM_EVENTS; i++)
        find(s, i);
}

/* Every event and attribute of a PMU, at the layer that shows all. How many attributes there were. */
static unsigned list(const struct side *s, int first)
{
    unsigned n = 0;
    for (int idx = first; idx != -1; idx = s->get_event_next(idx)) {
        pfm_event_info_t e = {.size = sizeof e};
        if (s->get_event_info(idx, PFM_OS_PERF_EVENT_EXT, &e) != PFM_SUCCESS)
            abort();
        for (int a = 0; a < e.nattrs; a++, n++) {
            pfm_event_attr_info_t i = {.size = sizeof i};
            if (s->get_event_attr_info(idx, a, PFM_OS_PERF_EVENT_EXT, &i) != PFM_SUCCESS)
                abort();
        }
    }
    return n;
}

static void list_knm(const struct side *s) { list(s, KNM); }

static unsigned list_all(const struct side *s)
{
    unsigned n = 0;
    for (int i = 0; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t p = {.size = sizeof p};
        if (s->get_pmu_info((pfm_pmu_t)i, &p) == PFM_SUCCESS && p.first_event != -1)
            n += list(s, p.first_event);
    }
    return n;
}

static const struct work {
    const char *name;
    void (*run)(const struct side *s);
    unsigned batch; /* times a round: short, so that most rounds are not interrupted */
    unsigned parts; /* that one run does */
} works[] = {
    {"registers, simple", raw_simple, 60, 1},
    {"registers, offcore", raw_offcore, 30, 1},
    {"registers, offcore, with its name", named, 30, 1},
    {"perf, simple", perf_simple, 60, 1},
    {"perf, offcore", perf_offcore, 30, 1},
    {"find, first of the table", find_first, 60, 1},
    {"find, middle of the table", find_middle, 60, 1},
    {"find, last of the table", find_last, 60, 1},
    {"find, mean of all", find_all, 2, KNM_EVENTS},
    {"listing knm", list_knm, 1, 1},
};
enum { WORKS = sizeof works / sizeof *works };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_size);
    return v[n / 2];
}

static double once(const struct side *s, const struct work *w)
{
    double t = now();
    for (unsigned i = 0; i < w->batch; i++)
        w->run(s);
    return (now() - t) / (w->batch * w->parts);
}

static void line(const char *name, double reference, double ours, const char *unit)
{
    printf("%-34s %12.1f %12.1f %-5s %8.1f x\n", name, reference, ours, unit, reference / ours);
}

static void compare(const struct side *reference, const struct side *ours, const struct work *w)
{
    double a[ROUNDS], b[ROUNDS];
    once(reference, w);
    once(ours, w);
    for (unsigned r = 0; r < ROUNDS; r++) {
        a[r] = once(reference, w);
        b[r] = once(ours, w);
    }
    line(w->name, median(a, ROUNDS), median(b, ROUNDS), "ns");
}

/* What a child process finds after loading a library: nanoseconds of the first pfm_initialize, kilobytes that became
 * its own. */
struct cold {
    double nanoseconds, kilobytes;
};

static double dirty_kilobytes(void)
{
    char text[64];
    double k = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fscanf(f, "%63s", text) == 1)
        if (strcmp(text, "Private_Dirty:") == 0 && fscanf(f, "%lf", &k) == 1)
            break;
    if (f)
        fclose(f);
    return k;
}

static struct cold start(const char *path)
{
    struct cold c = {0};
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        dirty_kilobytes(); /* what stdio needs is there before */
        double before = dirty_kilobytes();
        struct side s = side_load(path);
        double t = now();
        if (s.initialize() != PFM_SUCCESS)
            abort();
        c.nanoseconds = now() - t;
        raw_offcore(&s);
        c.kilobytes = dirty_kilobytes() - before;
        if (write(ends[1], &c, sizeof c) != sizeof c)
            abort();
        _exit(0);
    }
    close(ends[1]); /* so that a child that fails is seen */
    if (child < 0 || read(ends[0], &c, sizeof c) != sizeof c)
        abort();
    waitpid(child, NULL, 0);
    close(ends[0]);
    return c;
}

static void compare_cold(const char *reference, const char *ours, const char *what)
{
    double t[2][COLD], k[2][COLD];
    for (int r = 0; r < COLD; r++)
        for (int side = 0; side < 2; side++) {
            struct cold c = start(side ? ours : reference);
            t[side][r] = c.nanoseconds / 1000;
            k[side][r] = c.kilobytes;
        }
    char name[64];
    snprintf(name, sizeof name, "first initialise, %s", what);
    line(name, median(t[0], COLD), median(t[1], COLD), "us");
    snprintf(name, sizeof name, "memory of its own, %s", what);
    line(name, median(k[0], COLD), median(k[1], COLD), "kB");
}

/* All that each library knows, which is not the same: 6 PMUs of ours, some hundred of the reference. */
static void compare_listing(const struct side *reference, const struct side *ours)
{
    double t[2][5];
    unsigned n[2] = {0};
    for (int r = 0; r < 5; r++)
        for (int side = 0; side < 2; side++) {
            double begin = now();
            n[side] = list_all(side ? ours : reference);
            t[side][r] = (now() - begin) / 1000;
        }
    line("listing all that it knows", median(t[0], 5), median(t[1], 5), "us");
    printf("%-34s %12u %12u\n", "  attributes in it", n[0], n[1]);
    line("  for each", median(t[0], 5) * 1000 / n[0], median(t[1], 5) * 1000 / n[1], "ns");
}

static void name_events(const struct side *s)
{
    for (int i = 0; i < KNM_EVENTS; i++) {
        pfm_event_info_t e = {.size = sizeof e};
        if (s->get_event_info(KNM + i, PFM_OS_NONE, &e) != PFM_SUCCESS)
            abort();
        snprintf(names[i], sizeof names[i], "knm::%s", e.name);
    }
}

static int count(const char *path, const char *what, unsigned long n)
{
    struct side s = side_load(path);
    if (s.initialize() != PFM_SUCCESS)
        return 1;
    name_events(&s);
    for (unsigned w = 0; w < WORKS; w++)
        if (strcmp(works[w].name, what) == 0) {
            for (unsigned long i = 0; i < n; i++)
                works[w].run(&s);
            return 0;
        }
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "count") == 0) {
        setenv("LIBPFM_FORCE_PMU", "knm", 1);
        return count(argv[2], argv[3], strtoul(argv[4], NULL, 0));
    }
    if (argc != 3)
        return 2;
    printf("%-34s %12s %12s %-5s %10s\n", "", "libpfm4", "ours", "", "ratio");
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    compare_cold(argv[1], argv[2], "all PMUs");
    unsetenv("LIBPFM_ENCODE_INACTIVE"); /* the reference looks through all PMUs with it */
    setenv("LIBPFM_FORCE_PMU", "knm", 1);
    compare_cold(argv[1], argv[2], "knm forced");
    struct side reference = side_load(argv[1]), ours = side_load(argv[2]);
    if (reference.initialize() != PFM_SUCCESS || ours.initialize() != PFM_SUCCESS)
        return 1;
    name_events(&reference);
    for (unsigned w = 0; w < WORKS; w++)
        compare(&reference, &ours, &works[w]);
    compare_listing(&reference, &ours);
    return 0;
}
