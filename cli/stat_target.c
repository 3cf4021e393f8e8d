/* SPDX-License-Identifier: MIT */
/* What is counted on, by the options: processors, processes, threads. */
#include "stat_live.h"

#include "base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_tasks(struct stat_target *t, const pid_t *task, size_t tasks)
{
    pid_t *more = realloc(t->task, (t->tasks + tasks) * sizeof *more);
    if (!more)
        return -1;
    memcpy(more + t->tasks, task, tasks * sizeof *task);
    t->task = more;
    t->tasks += tasks;
    return 0;
}

static int add_process(struct cli *c, struct stat_target *t, int id, pid_t pid)
{
    struct assay_error e = {0};
    pid_t *task = NULL;
    size_t tasks = 0;
    if (id == STAT_PIDS && assay_count_threads(NULL, pid, &task, &tasks, &e) < 0)
        return cli_fail_error(c, &e);
    int bad = id == STAT_PIDS ? add_tasks(t, task, tasks) : add_tasks(t, &pid, 1);
    free(task);
    return bad ? cli_fail(c, CLI_CANNOT, "out of memory") : CLI_OK;
}

static int read_ids(struct cli *c, struct stat_target *t, int id, const char *list)
{
    const char *at = list;
    int status = CLI_OK;
    do {
        char *end;
        errno = 0;
        long v = strtol(at, &end, 10);
        if (end == at || errno || v <= 0 || v > INT32_MAX || (*end && *end != ','))
            return cli_fail(c, CLI_USAGE, "-%c %s: not numbers of %s with commas", id == STAT_PIDS ? 'p' : 't', list,
                            id == STAT_PIDS ? "processes" : "threads");
        status = add_process(c, t, id, (pid_t)v);
        at = *end ? end + 1 : end;
    } while (status == CLI_OK && *at);
    return status;
}

static int read_tasks(struct cli *c, struct stat_target *t)
{
    int status = CLI_OK;
    for (int i = 0; i < c->givens && status == CLI_OK; i++) {
        int id = c->given[i].option->id;
        if (id == STAT_PIDS || id == STAT_TIDS)
            status = read_ids(c, t, id, c->given[i].value);
    }
    return status;
}

/* Of a list only what is online: others have no counters. */
static int read_cpus(struct cli *c, struct stat_target *t)
{
    struct assay_error e = {0};
    const char *list = cli_value(c, STAT_CPUS);
    int *online;
    size_t n;
    if (!list && !cli_flag(c, STAT_ALL_CPUS))
        return CLI_OK;
    if (assay_count_online(NULL, &online, &n, &e) < 0)
        return cli_fail_error(c, &e);
    if (!list) {
        t->cpu = online;
        t->cpus = n;
        return CLI_OK;
    }
    int status = assay_count_cpus(list, &t->cpu, &t->cpus, &e) < 0 ? cli_fail(c, CLI_USAGE, "-C %s", e.text) : CLI_OK;
    for (size_t i = 0, j = 0; i < t->cpus && status == CLI_OK; i++) {
        while (j < n && online[j] < t->cpu[i])
            j++;
        if (j == n || online[j] != t->cpu[i])
            status = cli_fail(c, CLI_USAGE, "-C %s: processor %d is not online", list, t->cpu[i]);
    }
    free(online);
    return status;
}

int stat_target_read(struct cli *c, const struct stat_job *job, struct stat_target *t)
{
    *t = (struct stat_target){0};
    int status = read_cpus(c, t);
    if (status == CLI_OK)
        status = read_tasks(c, t);
    if (status != CLI_OK)
        return status;
    if (t->cpus && t->tasks)
        return cli_fail(c, CLI_USAGE, "processors (-a, -C) or processes (-p, -t), not both");
    if (!t->cpus && !t->tasks && !job->argv)
        return cli_fail(c, CLI_USAGE,
                        "nothing to count on: a program behind --, processes (-p), or processors (-a, -C)");
    if (!t->cpus && cli_flag(c, STAT_PER_CPU))
        return cli_fail(c, CLI_USAGE, "--per-cpu is for counting on processors: -a, or -C LIST");
    return CLI_OK;
}

void stat_target_free(struct stat_target *t)
{
    free(t->task);
    free(t->cpu);
}
