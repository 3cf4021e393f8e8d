/* SPDX-License-Identifier: MIT */
/* A made-up kernel behind struct assay_sys: it opens, groups and reads counters as perf_event_open(2) says, refuses
 * what a test tells it to, and keeps account of what is open. */
#ifndef ASSAY_TEST_FAKE_PERF_H
#define ASSAY_TEST_FAKE_PERF_H

#include <assay/sys.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { FAKE_FDS = 256, FAKE_FIRST = 1000, FAKE_REFUSALS = 8 };

struct fake_event {
    bool open, on;
    struct perf_event_attr attr;
    pid_t pid;
    int cpu, lead; /* index of its leader; itself when alone */
    uint64_t id;
    uint64_t value, enabled, running; /* what a read gives */
};
/* Refuses what fits all of its conditions. */
struct fake_refusal {
    int error;
    uint32_t type;
    uint64_t config;
    bool any;         /* of all types and configs */
    bool with_kernel; /* unless exclude_kernel */
    bool grouped;     /* as a member, not when alone or leading */
    uint64_t format;  /* with any of these bits of read_format */
    bool inherit;
    int cpu, pid;   /* 0: any. Processor n is n + 1 here */
    unsigned after; /* lets so many pass */
};
static struct {
    struct fake_event event[FAKE_FDS];
    int events;
    struct fake_refusal refusal[FAKE_REFUSALS];
    unsigned counters;   /* hardware events in a group, more are EINVAL; 0: any number */
    uint32_t attr_size;  /* that it knows, 0: all */
    unsigned interrupts; /* calls that are interrupted first */
    ssize_t read_less;   /* bytes that reads are short of */
    int read_error, ioctl_error;
    bool end_of_file; /* reads give 0 bytes */
    bool reversed;    /* members of a group are read in the opposite order */
    int opened, closed;
} fake;

static inline bool fake_interrupted(void) { return fake.interrupts > 0 && fake.interrupts--; }

static inline bool fake_refuses(struct fake_refusal *r, const struct perf_event_attr *a, pid_t pid, int cpu,
                                bool grouped)
{
    if (!r->error || (!r->any && (r->type != a->type || r->config != a->config)))
        return false;
    if ((r->with_kernel && a->exclude_kernel) || (r->grouped && !grouped) || (r->inherit && !a->inherit))
        return false;
    if ((r->format && !(r->format & a->read_format)) || (r->cpu && r->cpu != cpu + 1) || (r->pid && r->pid != pid))
        return false;
    return r->after == 0 || r->after-- == 0;
}

static inline bool fake_is_hardware(uint32_t type) { return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_RAW; }

static inline unsigned fake_in_group(int lead)
{
    unsigned n = 0;
    for (int i = 0; i < fake.events; i++)
        n += fake.event[i].open && fake.event[i].lead == lead && fake_is_hardware(fake.event[i].attr.type);
    return n;
}

static inline int fake_open(struct perf_event_attr *a, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    if (flags != PERF_FLAG_FD_CLOEXEC)
        return -EINVAL;
    if (fake_interrupted())
        return -EINTR;
    if (fake.attr_size && a->size > fake.attr_size) {
        a->size = fake.attr_size;
        return -E2BIG;
    }
    for (int i = 0; i < FAKE_REFUSALS; i++)
        if (fake_refuses(&fake.refusal[i], a, pid, cpu, group_fd >= 0))
            return -fake.refusal[i].error;
    int lead = group_fd < 0 ? fake.events : group_fd - FAKE_FIRST;
    if (fake.counters && fake_is_hardware(a->type) && fake_in_group(lead) >= fake.counters)
        return -EINVAL;
    if (fake.events == FAKE_FDS)
        return -EMFILE;
    fake.event[fake.events] = (struct fake_event){.open = true,
                                                  .on = !a->disabled,
                                                  .attr = *a,
                                                  .pid = pid,
                                                  .cpu = cpu,
                                                  .lead = lead,
                                                  .id = 7000 + (uint64_t)fake.events * 3};
    fake.opened++;
    return FAKE_FIRST + fake.events++;
}

static inline size_t fake_put(uint64_t *to, const struct fake_event *e, bool lost)
{
    to[0] = e->value;
    to[1] = e->id;
    to[2] = 0;
    return lost ? 3 : 2;
}

static inline size_t fake_group(uint64_t *to, int lead, bool lost)
{
    size_t n = 3;
    to[0] = 0;
    to[1] = fake.event[lead].enabled;
    to[2] = fake.event[lead].running;
    for (int k = 0; k < fake.events; k++) {
        const struct fake_event *e = &fake.event[fake.reversed ? fake.events - 1 - k : k];
        if (e->open && e->lead == lead) {
            n += fake_put(to + n, e, lost);
            to[0]++;
        }
    }
    return n;
}

static inline ssize_t fake_read(int fd, void *buf, size_t size)
{
    const struct fake_event *e = &fake.event[fd - FAKE_FIRST];
    bool lost = e->attr.read_format & PERF_FORMAT_LOST;
    uint64_t all[3 + 3 * FAKE_FDS];
    if (fake_interrupted())
        return -EINTR;
    if (fake.read_error || fake.end_of_file)
        return fake.end_of_file ? 0 : -fake.read_error;
    size_t n = lost ? 5 : 4;
    uint64_t alone[5] = {e->value, e->enabled, e->running, e->id, 0};
    if (e->attr.read_format & PERF_FORMAT_GROUP)
        n = fake_group(all, fd - FAKE_FIRST, lost);
    else
        memcpy(all, alone, sizeof alone);
    if (size < n * sizeof *all)
        return -ENOSPC;
    memcpy(buf, all, n * sizeof *all);
    return (ssize_t)(n * sizeof *all) - fake.read_less;
}

static inline int fake_ioctl(int fd, unsigned long request, unsigned long argument)
{
    struct fake_event *e = &fake.event[fd - FAKE_FIRST];
    if (fake_interrupted())
        return -EINTR;
    if (fake.ioctl_error && request != PERF_EVENT_IOC_ID)
        return -fake.ioctl_error;
    if (request == PERF_EVENT_IOC_ID)
        *(uint64_t *)(uintptr_t)argument = e->id;
    else
        e->on = request == PERF_EVENT_IOC_ENABLE;
    return 0;
}

static inline int fake_close(int fd)
{
    struct fake_event *e = &fake.event[fd - FAKE_FIRST];
    if (!e->open)
        return -EBADF;
    e->open = false;
    fake.closed++;
    return 0;
}

/* The n-th that is open; NULL when there are fewer. */
static inline struct fake_event *fake_nth(int n)
{
    for (int i = 0; i < fake.events; i++)
        if (fake.event[i].open && n-- == 0)
            return &fake.event[i];
    return NULL;
}

/* All open events of a type and config count alike. */
static inline void fake_count(uint64_t config, uint64_t value, uint64_t enabled, uint64_t running)
{
    for (int i = 0; i < fake.events; i++)
        if (fake.event[i].open && fake.event[i].attr.config == config) {
            fake.event[i].value = value;
            fake.event[i].enabled = enabled;
            fake.event[i].running = running;
        }
}

#endif
