/* SPDX-License-Identifier: MIT */
/* The insides of counting. */
#ifndef ASSAY_LINUX_COUNT_H
#define ASSAY_LINUX_COUNT_H

#include <assay/count.h>
#include <assay/text.h>

#include "sys.h"

/* A piece of text, for errors with its place in the whole. */
struct count_span {
    const char *text;
    size_t size;
    size_t at; /* its offset in the event's text */
};

enum { COUNT_TEXT = 512 }; /* the longest event, and more than the file names that are made of one */

/* count_event.c: spans; "" or ":letters" put on an event; what may stand in a file name. */
size_t count_find(struct count_span s, char c); /* its size when c is not in it */
struct count_span count_from(struct count_span s, size_t n);
int count_put_modifiers(struct count_span rest, struct assay_count_event *event, struct assay_error *e);
bool count_is_word(const char *s, size_t n);

/* count_table.c: a name of the tables, or of the core's PMU in sysfs; pmu::name. */
int count_name(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
               struct assay_count_event *event, struct assay_error *e);
int count_named(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
                struct assay_count_event *event, struct assay_error *e);

/* sysfs_pmu.c: "pmu/term=value,term/" without modifiers. */
int count_sysfs_pmu(const struct assay_sys *s, struct count_span text, struct assay_count_event *event,
                    struct assay_error *e);

/* The type, name and processors of one kind of core of a hybrid; false when the kernel has no such PMU. */
bool count_sysfs_core(const struct assay_sys *s, const char *name, struct assay_count_event *event);

/* count_modifiers.c: letters such as "ukp" put on an event that has none yet. */
int count_modifiers(struct count_span letters, struct assay_count_event *event, struct assay_error *e);
bool count_are_modifiers(const char *s, size_t n);

/* count_target.c: is the processor in a list such as "0-3,8"? */
bool count_cpu_is_in(const char *list, int cpu);

/* count_why.c: what perf_event_open was asked for, and why it failed. */
struct count_request {
    const struct assay_count_event *event;
    bool tasks;
    size_t group;        /* 0: alone, or it would not open alone either; else the size of the group */
    const char *other;   /* another PMU in that group, NULL */
    bool register_taken; /* one before it in the group has another value in the register that it needs */
};
void count_explain(const struct assay_sys *s, const struct count_request *r, int error, struct assay_count_why *why);
/* What happens in the kernel alone: without its part the count would be a 0 that says nothing. */
bool count_is_kernel_only(const struct assay_count_event *event);
bool count_never_in_user_mode(const struct assay_count_event *event, struct assay_count_why *why);
/* Two PMUs, neither of them the kernel's software: not for one group. */
bool count_differ(const struct assay_count_event *a, const struct assay_count_event *b);
/* Why it never ran. */
void count_explain_idle(const struct assay_sys *s, const struct assay_count_event *event, bool grouped,
                        struct assay_count_why *why);
void count_say(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#define COUNT_SAY(field, ...) count_say(field, sizeof field, __VA_ARGS__)

/* ---- one counting ---- */

struct count_cell {
    int fd;        /* -1: none */
    uint32_t lead; /* the event that leads its group here; itself when alone */
    uint64_t id;
    struct assay_count_value now;
};
/* What is settled for an event by what the kernel has refused. */
struct count_plan {
    bool refused, user_only, apart, gone;
    bool error_state; /* pinned, and could not be kept on the PMU */
    struct assay_count_why why;
};
struct assay_count {
    const struct assay_sys *sys;
    const struct assay_count_event *event;
    size_t events, targets;
    struct assay_count_target target;
    struct count_plan *plan; /* events */
    struct count_cell *cell; /* targets * events, those of a target together */
    bool no_lost, no_group;  /* parts of the read format that this kernel does not take */
    uint32_t attr_size;
};
static inline struct count_cell *count_cell(const struct assay_count *c, size_t target, size_t event)
{
    return &c->cell[target * c->events + event];
}

#endif
