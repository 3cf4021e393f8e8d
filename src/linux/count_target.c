/* SPDX-License-Identifier: MIT */
/* What is counted on: lists of processors, the threads of a process. */
#include "count.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 65536, LINE = 4096 };

static int bad_list(struct assay_error *e, const char *text, const char *at)
{
    return assay_error_set(e, ASSAY_E_ARGUMENT, (uint64_t)(at - text),
                           "%s, column %zu: not a list of processors such as 0-3,8", text, (size_t)(at - text) + 1);
}

static bool read_cpu(const char **at, int *cpu)
{
    long v = 0;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at) && v < MOST_CPUS; (*at)++)
        v = v * 10 + (**at - '0');
    *cpu = (int)v;
    return v < MOST_CPUS;
}

/* One "lo-hi" or number of a list, past the comma before it: 1, 0 at the end, -1 and *at is where it is wrong. */
static int read_range(const char **at, bool first, int *lo, int *hi)
{
    if (!first && (**at == '\0' || **at == '\n'))
        return 0;
    if (!first && **at != ',')
        return -1;
    *at += !first;
    if (!read_cpu(at, lo))
        return -1;
    *hi = *lo;
    if (**at == '-') {
        ++*at;
        if (!read_cpu(at, hi))
            return -1;
    }
    return *hi < *lo ? -1 : 1;
}

/* Marks each processor of the list; one past the highest is the result, or -1 and *at is where it is wrong. */
static int mark(const char **at, bool *in)
{
    int last = 0, lo, hi, got;
    while ((got = read_range(at, last == 0, &lo, &hi)) > 0) {
        last = hi + 1 > last ? hi + 1 : last;
        for (; lo <= hi; lo++)
            in[lo] = true;
    }
    return got < 0 ? -1 : last;
}

bool count_cpu_is_in(const char *list, int cpu)
{
    int lo, hi;
    bool first = true;
    for (; read_range(&list, first, &lo, &hi) > 0; first = false)
        if (cpu >= lo && cpu <= hi)
            return true;
    return false;
}

int assay_count_cpus(const char *text, int **cpu, size_t *cpus, struct assay_error *e)
{
    bool *in = calloc(MOST_CPUS, sizeof *in);
    const char *at = text;
    *cpu = NULL;
    *cpus = 0;
    int last = in ? mark(&at, in) : 0;
    if (in && last > 0)
        *cpu = calloc((size_t)last, sizeof **cpu);
    for (int i = 0; *cpu && i < last; i++)
        if (in[i])
            (*cpu)[(*cpus)++] = i;
    free(in);
    if (last < 0)
        return bad_list(e, text, at);
    return *cpu ? ASSAY_OK : assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
}

int assay_count_online(const struct assay_sys *s, int **cpu, size_t *cpus, struct assay_error *e)
{
    static const struct assay_sys real = {0};
    static const char file[] = "/sys/devices/system/cpu/online";
    char line[LINE];
    if (!sys_line(s ? s : &real, file, line, sizeof line))
        return assay_error_sys(e, errno, "%s", file);
    return assay_count_cpus(line, cpu, cpus, e);
}

int assay_count_threads(const struct assay_sys *s, pid_t process, pid_t **task, size_t *tasks, struct assay_error *e)
{
    static const struct assay_sys real = {0};
    char folder[64], **names;
    *task = NULL;
    *tasks = 0;
    snprintf(folder, sizeof folder, "/proc/%ld/task", (long)process);
    int n = sys_names(s ? s : &real, folder, &names);
    if (n == -ENOENT || n == 0)
        return assay_error_set(e, ASSAY_E_NOT_FOUND, UINT64_MAX, "no process %ld", (long)process);
    if (n < 0)
        return assay_error_sys(e, -n, "%s", folder);
    *task = calloc((size_t)n, sizeof **task);
    for (int i = 0; *task && i < n; i++)
        (*task)[(*tasks)++] = (pid_t)strtol(names[i], NULL, 10);
    free(names);
    return *task ? ASSAY_OK : assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
}
