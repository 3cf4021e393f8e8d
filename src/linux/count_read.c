/* SPDX-License-Identifier: MIT */
/* Starts, stops and reads counters, and says what a value is worth. */
#include "count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* ---- starting and stopping ---- */

static int for_leaders(struct assay_count *c, unsigned long request, const char *what, struct assay_error *e)
{
    for (size_t t = 0; t < c->targets; t++)
        for (size_t i = 0; i < c->events; i++) {
            const struct count_cell *cell = count_cell(c, t, i);
            int bad = cell->fd >= 0 && cell->lead == i ? sys_ioctl(c->sys, cell->fd, request, 0) : 0;
            if (bad < 0)
                return assay_error_sys(e, -bad, "counters cannot be %s", what);
        }
    return ASSAY_OK;
}

int assay_count_enable(struct assay_count *c, struct assay_error *e)
{
    return for_leaders(c, PERF_EVENT_IOC_ENABLE, "started", e);
}

int assay_count_disable(struct assay_count *c, struct assay_error *e)
{
    return for_leaders(c, PERF_EVENT_IOC_DISABLE, "stopped", e);
}

/* ---- reading ---- */

static int short_read(struct assay_error *e, ssize_t got, size_t expected)
{
    if (got < 0)
        return assay_error_sys(e, (int)-got, "a counter cannot be read");
    return assay_error_set(e, ASSAY_E_TRUNCATED, UINT64_MAX, "a counter gave %zd bytes where %zu are due", got,
                           expected);
}

/* value, enabled, running, id and, where the kernel has it, lost samples, of which counting has none. */
static int read_alone(struct assay_count *c, size_t event, struct count_cell *cell, struct assay_error *e)
{
    uint64_t v[5];
    size_t size = (c->no_lost ? 4 : 5) * sizeof *v;
    ssize_t n = sys_read(c->sys, cell->fd, v, size);
    if (n == 0) { /* the end of file of a pinned event that lost its place */
        c->plan[event].error_state = true;
        return ASSAY_OK;
    }
    if (n != (ssize_t)size)
        return short_read(e, n, size);
    cell->now = (struct assay_count_value){v[0], v[1], v[2]};
    return ASSAY_OK;
}

static size_t members(const struct assay_count *c, size_t target, size_t lead)
{
    size_t n = 0;
    for (size_t i = lead; i < c->events; i++)
        n += count_cell(c, target, i)->fd >= 0 && count_cell(c, target, i)->lead == lead;
    return n;
}

static void take_member(struct assay_count *c, size_t target, size_t lead, uint64_t id, struct assay_count_value value)
{
    for (size_t i = lead; i < c->events; i++)
        if (count_cell(c, target, i)->lead == lead && count_cell(c, target, i)->id == id)
            count_cell(c, target, i)->now = value;
}

static void mark_group_error(struct assay_count *c, size_t target, size_t lead)
{
    for (size_t i = lead; i < c->events; i++)
        if (count_cell(c, target, i)->fd >= 0 && count_cell(c, target, i)->lead == lead)
            c->plan[i].error_state = true;
}

/* nr, enabled, running, then value, id and lost of each, in one moment. */
static int read_group(struct assay_count *c, size_t target, size_t lead, struct assay_error *e)
{
    size_t n = members(c, target, lead), each = c->no_lost ? 2 : 3, size = (3 + n * each) * sizeof(uint64_t);
    uint64_t *v = malloc(size);
    if (!v)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
    ssize_t got = sys_read(c->sys, count_cell(c, target, lead)->fd, v, size);
    int r = ASSAY_OK;
    if (got == 0)
        mark_group_error(c, target, lead);
    else if (got != (ssize_t)size || v[0] != n)
        r = short_read(e, got, size);
    for (size_t i = 0; got > 0 && r == ASSAY_OK && i < n; i++)
        take_member(c, target, lead, v[4 + i * each], (struct assay_count_value){v[3 + i * each], v[1], v[2]});
    free(v);
    return r;
}

int assay_count_read(struct assay_count *c, struct assay_error *e)
{
    for (size_t t = 0; t < c->targets; t++)
        for (size_t i = 0; i < c->events; i++) {
            struct count_cell *cell = count_cell(c, t, i);
            bool group = c->event[i].group && !c->no_group;
            if (cell->fd < 0 || (group && cell->lead != i))
                continue;
            int r = group ? read_group(c, t, i, e) : read_alone(c, i, cell, e);
            if (r < 0)
                return r;
        }
    return ASSAY_OK;
}

/* ---- values ---- */

void assay_count_get(const struct assay_count *c, size_t event, int target, struct assay_count_value *v)
{
    *v = (struct assay_count_value){0};
    for (size_t t = 0; t < c->targets; t++)
        if (target == ASSAY_COUNT_ALL || (size_t)target == t) {
            const struct assay_count_value *now = &count_cell(c, t, event)->now;
            v->value += now->value;
            v->enabled += now->enabled;
            v->running += now->running;
        }
}

double assay_count_extended(const struct assay_count_value *v)
{
    if (v->running == 0)
        return 0;
    return v->running < v->enabled ? (double)v->value * ((double)v->enabled / (double)v->running) : (double)v->value;
}

enum assay_count_state assay_count_state(const struct assay_count *c, size_t event, const struct assay_count_value *v,
                                         struct assay_count_why *why)
{
    const struct count_plan *p = &c->plan[event];
    *why = p->why;
    if (p->refused)
        return ASSAY_COUNT_NOT_SUPPORTED;
    if (v->running > 0 && !p->error_state)
        return ASSAY_COUNT_COUNTED;
    if (p->gone)
        COUNT_SAY(why->reason, "%s",
                  *c->event[event].cpus && !c->target.tasks
                      ? "its PMU counts on none of the chosen processors"
                      : "the processes or threads had ended before counting began");
    else if (p->error_state)
        COUNT_SAY(why->reason, "pinned (D), and the PMU had no place for it");
    else if (v->enabled == 0)
        COUNT_SAY(why->reason, "nothing ran while it was counted");
    else
        count_explain_idle(c->sys, &c->event[event], c->event[event].group && !p->apart, why);
    return ASSAY_COUNT_NOT_COUNTED;
}
