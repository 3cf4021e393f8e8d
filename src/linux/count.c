/* SPDX-License-Identifier: MIT */
/* Opens counters for events on targets. What the kernel refuses changes the plan, and opening begins again; so it
 * ends in one of few states that are the same for all targets. */
#include "count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, AGAIN = 1 };

static void close_all(struct assay_count *c)
{
    for (size_t i = c->targets * c->events; i-- > 0;) {
        if (c->cell[i].fd >= 0)
            sys_close(c->sys, c->cell[i].fd);
        c->cell[i] = (struct count_cell){.fd = -1};
    }
}

/* ---- groups ---- */

static bool is_alone(const struct assay_count *c, size_t event)
{
    return c->event[event].group == 0 || c->plan[event].apart;
}

/* The first of the event's group that is open on the target; itself when there is none before it. */
static size_t leader(const struct assay_count *c, size_t target, size_t event)
{
    for (size_t i = event; !is_alone(c, event) && i-- > 0 && c->event[i].group == c->event[event].group;)
        if (count_cell(c, target, i)->fd >= 0)
            return count_cell(c, target, i)->lead;
    return event;
}

static size_t group_size(const struct assay_count *c, size_t event)
{
    size_t n = 0;
    for (size_t i = 0; i < c->events; i++)
        n += c->event[i].group == c->event[event].group;
    return n;
}

bool assay_count_in_group(const struct assay_count *c, size_t event) { return !is_alone(c, event); }
bool assay_count_has(const struct assay_count *c, size_t event, size_t target)
{
    return count_cell(c, target, event)->fd >= 0;
}
bool assay_count_user_only(const struct assay_count *c, size_t event) { return c->plan[event].user_only; }

/* ---- one counter ---- */

static void fill_attr(const struct assay_count *c, size_t event, bool leads, struct perf_event_attr *a)
{
    const struct assay_count_event *v = &c->event[event];
    bool group = c->event[event].group && !c->no_group;
    *a = (struct perf_event_attr){
        .type = v->type,
        .size = c->attr_size,
        .config = v->config,
        .config1 = v->config1,
        .config2 = v->config2,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
                       (group ? PERF_FORMAT_GROUP : 0) | (c->no_lost ? 0 : PERF_FORMAT_LOST),
        .disabled = leads, /* the others follow their leader */
        .enable_on_exec = leads && c->target.on_exec && c->target.tasks,
        .inherit = c->target.inherit && c->target.tasks,
        .pinned = v->pinned && leads,
        .exclusive = v->exclusive && leads,
        .exclude_user = v->exclude_user,
        .exclude_kernel = v->exclude_kernel || c->plan[event].user_only,
        .exclude_hv = v->exclude_hv || c->plan[event].user_only,
        .exclude_idle = v->exclude_idle,
        .exclude_host = v->exclude_host,
        .exclude_guest = v->exclude_guest,
        .precise_ip = v->precise & 3u,
    };
}

static int open_event(struct assay_count *c, size_t target, size_t event, int group_fd)
{
    struct perf_event_attr a;
    fill_attr(c, event, group_fd < 0, &a);
    pid_t task = c->target.tasks ? c->target.task[target] : -1;
    int cpu = c->target.tasks ? -1 : c->target.cpu[target];
    int fd = sys_perf_event_open(c->sys, &a, task, cpu, group_fd);
    if (fd == -E2BIG && a.size < c->attr_size && a.size >= PERF_ATTR_SIZE_VER0)
        c->attr_size = a.size;
    return fd;
}

/* Would it open with another plan, or alone? 0 or -errno; the descriptor is closed again. */
static int try_event(struct assay_count *c, size_t target, size_t event, int group_fd)
{
    int fd = open_event(c, target, event, group_fd);
    if (fd >= 0)
        sys_close(c->sys, fd);
    return fd < 0 ? fd : 0;
}

/* EINVAL says nothing of what was invalid: parts of the request that older kernels lack are left out in turn. */
static bool is_old_kernel(struct assay_count *c, size_t target, size_t event, int group_fd)
{
    bool no_lost = c->no_lost, no_group = c->no_group;
    c->no_lost = true;
    if (!no_lost && try_event(c, target, event, group_fd) == 0)
        return true;
    c->no_group = true;
    if (!no_group && c->event[event].group && c->target.inherit && try_event(c, target, event, group_fd) == 0)
        return true;
    c->no_lost = no_lost;
    c->no_group = no_group;
    return false;
}

/* ---- what a refusal changes ---- */

static void break_group(struct assay_count *c, size_t event)
{
    for (size_t i = 0; i < c->events; i++)
        c->plan[i].apart |= c->event[i].group == c->event[event].group;
}

static bool may_drop_kernel(const struct assay_count *c, size_t event, int error)
{
    const struct assay_count_event *v = &c->event[event];
    return (error == -EACCES || error == -EPERM) && c->target.tasks && !v->privilege && !v->exclude_kernel &&
           !c->plan[event].user_only && v->type != PERF_TYPE_TRACEPOINT && !count_is_kernel_only(v);
}

/* Of an event of the same group that cannot be together with this one; NULL when there is none. */
static const char *other_pmu(const struct assay_count *c, size_t event)
{
    for (size_t i = 0; i < event; i++)
        if (c->event[i].group == c->event[event].group && !c->plan[i].refused &&
            count_differ(&c->event[i], &c->event[event]))
            return c->event[i].pmu;
    return NULL;
}

static bool is_register_taken(const struct assay_count *c, size_t event)
{
    const struct assay_count_event *v = &c->event[event];
    for (size_t i = 0; v->msr && i < event; i++)
        if (c->event[i].group == v->group && c->event[i].msr == v->msr && c->event[i].config1 != v->config1)
            return true;
    return false;
}

static void refuse(struct assay_count *c, size_t event, int error, size_t grouped)
{
    c->plan[event].refused = true;
    struct count_request r = {.event = &c->event[event], .tasks = c->target.tasks > 0, .group = grouped};
    if (grouped) {
        r.other = other_pmu(c, event);
        r.register_taken = is_register_taken(c, event);
    }
    count_explain(c->sys, &r, -error, &c->plan[event].why);
}

static int change_plan(struct assay_count *c, size_t target, size_t event, int group_fd, int error, uint32_t size)
{
    if (error == -E2BIG && c->attr_size < size)
        return AGAIN;
    if (may_drop_kernel(c, event, error)) {
        c->plan[event].user_only = true;
        int without = try_event(c, target, event, group_fd);
        if (without == 0)
            return AGAIN;
        c->plan[event].user_only = false;
        error = without; /* perhaps the permission is not what is missing */
    }
    bool invalid = error == -EINVAL || error == -ENOSPC;
    if (invalid && is_old_kernel(c, target, event, group_fd))
        return AGAIN;
    size_t grouped = invalid && group_fd >= 0 && try_event(c, target, event, -1) == 0 ? group_size(c, event) : 0;
    if (grouped && c->event[event].weak)
        break_group(c, event);
    else
        refuse(c, event, error, grouped);
    return AGAIN;
}

/* ---- all counters ---- */

static int open_cell(struct assay_count *c, size_t target, size_t event)
{
    struct count_cell *cell = count_cell(c, target, event);
    size_t lead = leader(c, target, event);
    int group_fd = lead == event ? -1 : count_cell(c, target, lead)->fd;
    uint32_t size = c->attr_size;
    int fd = open_event(c, target, event, group_fd);
    if (fd == -ESRCH && c->target.tasks)
        return DONE; /* a thread that ended: the others go on */
    if (fd < 0)
        return change_plan(c, target, event, group_fd, fd, size);
    cell->fd = fd;
    cell->lead = (uint32_t)lead;
    int bad = sys_ioctl(c->sys, fd, PERF_EVENT_IOC_ID, (unsigned long)(uintptr_t)&cell->id);
    if (bad < 0)
        refuse(c, event, bad, 0);
    return bad < 0 ? AGAIN : DONE;
}

/* Which processors count for a PMU is in its cpus; one that is not among them has no counter. */
static bool is_counted_on(const struct assay_count *c, size_t target, size_t event)
{
    const char *cpus = c->event[event].cpus;
    return c->target.tasks || !*cpus || count_cpu_is_in(cpus, c->target.cpu[target]);
}

static int open_all(struct assay_count *c)
{
    for (size_t t = 0; t < c->targets; t++)
        for (size_t i = 0; i < c->events; i++)
            if (!c->plan[i].refused && is_counted_on(c, t, i) && open_cell(c, t, i) == AGAIN)
                return AGAIN;
    return DONE;
}

static void mark_gone(struct assay_count *c)
{
    for (size_t i = 0; i < c->events; i++) {
        c->plan[i].gone = true;
        for (size_t t = 0; t < c->targets; t++)
            c->plan[i].gone &= count_cell(c, t, i)->fd < 0;
    }
}

static bool allocate(struct assay_count *c)
{
    c->plan = calloc(c->events, sizeof *c->plan);
    c->cell = calloc(c->events * c->targets, sizeof *c->cell);
    for (size_t i = 0; c->cell && i < c->targets * c->events; i++)
        c->cell[i].fd = -1;
    return c->plan && c->cell;
}

int assay_count_open(const struct assay_sys *s, const struct assay_count_event *event, size_t events,
                     const struct assay_count_target *t, struct assay_count **out, struct assay_error *e)
{
    static const struct assay_sys real = {0};
    struct assay_count *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
    *c = (struct assay_count){.sys = s ? s : &real,
                              .event = event,
                              .events = events,
                              .target = *t,
                              .targets = t->tasks ? t->tasks : t->cpus,
                              .attr_size = sizeof(struct perf_event_attr)};
    if (c->events == 0 || c->targets == 0 || c->events > UINT32_MAX / c->targets || !allocate(c)) {
        bool empty = c->events == 0 || c->targets == 0;
        assay_count_close(c);
        return empty ? assay_error_set(e, ASSAY_E_ARGUMENT, UINT64_MAX, "nothing to count, or nothing to count on")
                     : assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
    }
    for (size_t i = 0; i < c->events; i++)
        c->plan[i].refused = count_never_in_user_mode(&event[i], &c->plan[i].why);
    while (open_all(c) == AGAIN)
        close_all(c);
    mark_gone(c);
    *out = c;
    return ASSAY_OK;
}

void assay_count_close(struct assay_count *c)
{
    if (!c)
        return;
    if (c->cell)
        close_all(c);
    free(c->plan);
    free(c->cell);
    free(c);
}
