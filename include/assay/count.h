/* SPDX-License-Identifier: MIT */
/* Counting on the machine at hand: names to what perf_event_open(2) takes, counters of programs, processes and
 * processors, values with the time that they stand for. Linux only. Nothing here prints or touches signals; one
 * counting, one thread. Sources: perf_event_open(2);
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events} of Linux. */
#ifndef ASSAY_COUNT_H
#define ASSAY_COUNT_H

#include <assay/event_list.h>
#include <assay/event_table.h>
#include <assay/sys.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- events ---- */

/* One event as the kernel is asked for it. Plain data. */
struct assay_count_event {
    uint32_t type;
    uint64_t config, config1, config2;
    bool exclude_user, exclude_kernel, exclude_hv, exclude_idle, exclude_host, exclude_guest;
    bool pinned, exclusive;
    bool weak;       /* its group may fall apart into single events when it does not fit */
    bool privilege;  /* u, k or h was named, so that none is left out behind the user's back */
    uint8_t precise; /* 0..3 */
    uint32_t group;  /* 0: alone */
    char name[64];   /* that the list gave it: pmu/name=.../; "" none */
    double scale;    /* value * scale is in unit */
    char unit[24];   /* "" for plain counts */
    char pmu[64];    /* "cpu", "msr", "tracepoint", "software", "hardware", "cache", "raw" */
    char cpus[128];  /* sysfs PMUs: the processors that count, "" where each does for itself */
    uint32_t msr;    /* the register that config1 goes to (offcore response ...), 0 none or not known */
    bool package;    /* counts a whole package, never a single program */
};
/* What an item of a list means here: pmu/terms/mods, rHEX:mods, subsystem:tracepoint:mods, a name of the table
 * (pmu::name, a generic name, a name of this processor) with its modifiers. ASSAY_OK, or an error whose offset is
 * that in the item's text: ASSAY_E_ARGUMENT and ASSAY_E_NOT_FOUND when the text is wrong, ASSAY_E_UNSUPPORTED when
 * this machine does not let it be known. s may be NULL. */
int assay_count_resolve(const struct assay_sys *s, const struct assay_event_table *t,
                        const struct assay_event_item *item, struct assay_count_event *event, struct assay_error *e);

/* ---- what is counted on ---- */

/* "0-3,8" to processors, ascending without repetitions: *cpu is to be freed. */
int assay_count_cpus(const char *text, int **cpu, size_t *cpus, struct assay_error *e);
/* All that are online. */
int assay_count_online(const struct assay_sys *s, int **cpu, size_t *cpus, struct assay_error *e);
/* The threads of a process: *task is to be freed. */
int assay_count_threads(const struct assay_sys *s, pid_t process, pid_t **task, size_t *tasks, struct assay_error *e);

/* Tasks, or processors whatever runs there. */
struct assay_count_target {
    const pid_t *task;
    size_t tasks;
    const int *cpu; /* used when there are no tasks */
    size_t cpus;
    bool inherit; /* processes and threads that the tasks start from now on, too */
    bool on_exec; /* counting begins when a task calls execve(2), else with assay_count_enable() */
};

/* ---- counting ---- */

struct assay_count_value {
    uint64_t value;
    uint64_t enabled, running; /* ns that it should have and has counted */
};
/* value extended to the whole time: value * enabled / running; 0 when running is 0. */
double assay_count_extended(const struct assay_count_value *v);

enum assay_count_state { ASSAY_COUNT_COUNTED, ASSAY_COUNT_NOT_COUNTED, ASSAY_COUNT_NOT_SUPPORTED };
/* One line each, no newline; "" when there is nothing to say. */
struct assay_count_why {
    char reason[200], remedy[200];
};

struct assay_count;
/* Opens counters for all events on all targets, stopped. An event that the machine does not take is no error: it is
 * of state ASSAY_COUNT_NOT_SUPPORTED, the rest of its group is counted without it. Errors: nothing to count on, no
 * memory. The events and the system outlive *c. */
int assay_count_open(const struct assay_sys *s, const struct assay_count_event *event, size_t events,
                     const struct assay_count_target *t, struct assay_count **c, struct assay_error *e);
void assay_count_close(struct assay_count *c); /* c may be NULL */
int assay_count_enable(struct assay_count *c, struct assay_error *e);
int assay_count_disable(struct assay_count *c, struct assay_error *e);
/* Reads all counters; what the functions below say is as of the last time. */
int assay_count_read(struct assay_count *c, struct assay_error *e);

enum { ASSAY_COUNT_ALL = -1 };
/* Since it was opened; `target` is an index into tasks or processors, or ASSAY_COUNT_ALL for the sum. */
void assay_count_get(const struct assay_count *c, size_t event, int target, struct assay_count_value *v);
/* Of the difference of two readings (or one, counted from the start). *why is filled where it is not
 * ASSAY_COUNT_COUNTED. */
enum assay_count_state assay_count_state(const struct assay_count *c, size_t event, const struct assay_count_value *v,
                                         struct assay_count_why *why);
/* Is there a counter for the event on that target? */
bool assay_count_has(const struct assay_count *c, size_t event, size_t target);
/* The kernel did not permit its own part, and it was not asked for by name: user mode alone is counted. */
bool assay_count_user_only(const struct assay_count *c, size_t event);
/* Counted at the same time as the others of its group. */
bool assay_count_in_group(const struct assay_count *c, size_t event);

/* ---- programs ---- */

/* A program that waits to be started, so that counters can be put on it first. */
struct assay_count_program {
    pid_t pid;
    int child; /* descriptor to it; -1 when closed */
};
/* argv as for execvp(3). The child has the caller's signal mask and descriptors. */
int assay_count_prepare(char *const *argv, struct assay_count_program *p, struct assay_error *e);
/* Lets it run: ASSAY_OK, or ASSAY_E_NOT_FOUND and ASSAY_E_SYSTEM when it cannot be executed; it is gone then. The
 * caller waits for p->pid otherwise. */
int assay_count_start(struct assay_count_program *p, char *const *argv, struct assay_error *e);
/* Drops a program that was not started. */
void assay_count_drop(struct assay_count_program *p);

#ifdef __cplusplus
}
#endif
#endif
