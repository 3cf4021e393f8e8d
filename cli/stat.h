/* SPDX-License-Identifier: MIT */
/* assay stat: what was asked for, what was counted, and how it is shown. Live and virtual counting take the same
 * job and fill the same result. */
#ifndef ASSAY_CLI_STAT_H
#define ASSAY_CLI_STAT_H

#include "cli.h"

#include <assay/event_list.h>

enum stat_option {
    STAT_EVENT = 1,
    STAT_ALL_CPUS,
    STAT_CPUS,
    STAT_PIDS,
    STAT_TIDS,
    STAT_INTERVAL,
    STAT_REPEAT,
    STAT_DELAY,
    STAT_TIMEOUT,
    STAT_PER_CPU,
    STAT_NO_INHERIT,
    STAT_BIG_NUM,
    STAT_VIRTUAL,
    STAT_MACHINE,
};

/* ---- what was asked for ---- */

/* The events of all -e options, in order; the texts are argv's and outlive it. */
struct stat_list {
    struct assay_event_item *event;
    size_t events, room;
    uint32_t groups;
    bool defaults; /* no -e: what the machine cannot count of these is no loss */
};
/* CLI_OK, or the exit status after a message with the column. */
int stat_list_add(struct cli *c, struct stat_list *l, const char *text);
void stat_list_free(struct stat_list *l);
/* "-e LIST, column N: text" for an offset into the item's text; returns the status. */
int stat_list_fail(const struct cli *c, const struct assay_event_item *item, uint64_t offset, int status,
                   const char *text);

struct stat_job {
    struct stat_list list;
    char *const *argv;                          /* NULL: what runs already is counted */
    uint64_t interval_ms, delay_ms, timeout_ms; /* 0: none */
    uint64_t repeat;                            /* runs, at least 1 */
    bool big_num;                               /* commas between thousands */
};

/* ---- what was counted ---- */

enum stat_state {
    STAT_COUNTED,
    STAT_NOT_COUNTED,   /* the machine has it, and it never ran: the reason says why */
    STAT_NOT_SUPPORTED, /* it could not be set up */
    STAT_NOT_MODELLED,  /* the machine model knows nothing like it */
};

/* One counter. The value is `raw`, extended to the whole time where it ran for a part of it only. */
struct stat_row {
    struct assay_event_item event;
    int cpu;          /* -1: all that was counted on, as one */
    const char *unit; /* of value * scale: "ms", "Joules", ""; lives as long as the result */
    double scale;     /* 1 for plain counts */
    enum stat_state state;
    double value;              /* of several runs the mean of those in which it was counted */
    uint64_t raw;              /* of several runs the sum; so are the times, ns */
    uint64_t enabled, running; /* what it should have and has counted */
    uint64_t runs;             /* of several: those in which it was counted; stat_result_add() keeps it */
    double squares;            /* while runs are added: the sum of squared deviations from the mean */
    double spread;             /* of several runs: the standard error of the mean in percent of it; < 0: none */
    char reason[200];          /* of the states that are not counted; one line */
    char remedy[200];          /* "" where there is none */
    const char *about; /* modelled: how the count differs from hardware's; constant, NULL or "" nothing to say */
};

struct stat_result {
    struct stat_row *row; /* of each event of the list, in its order; with --per-cpu of each processor of each event */
    size_t rows;
    const char *model; /* the machine model that counted; NULL: the machine itself. Everything shown says which */
    uint64_t at_ns;    /* of an interval: its end, since the start; 0 in a total */
    uint64_t wall_ns, user_ns, system_ns; /* of several runs the mean */
    double wall_squares, wall_spread;     /* as of a row */
    bool ended;                           /* a program was run and `status` is its own, as waitpid(2) has it */
    int status;                           /* of several runs the first that is not 0 */
    bool interrupted;                     /* by ^C or the timeout: what was counted up to there */
    bool lost;                            /* a part of the program was not counted; said on stderr */
    uint64_t runs;
    void *keep; /* what the texts of rows point into, freed with them; NULL: nothing */
};
/* Rows without a value, those of the list's events or as many as asked for: false when memory is out. */
bool stat_result_init(struct stat_result *r, const struct stat_list *l);
bool stat_result_alloc(struct stat_result *r, size_t rows);
void stat_result_free(struct stat_result *r);
/* Adds another run of the same job. After the last one stat_result_finish() makes means and spreads. */
void stat_result_add(struct stat_result *to, const struct stat_result *one);
void stat_result_finish(struct stat_result *r);

/* One run: counts and fills *r, which is empty, and shows intervals by stat_show_interval as they pass. CLI_OK when
 * it ran, whatever was counted and however the program ended; else the exit status after a message. */
int stat_live(struct cli *c, const struct stat_job *job, struct stat_result *r);
int stat_virtual(struct cli *c, const struct stat_job *job, struct stat_result *r);

/* ---- how it is shown: stat_print.c for people, stat_json.c, stat_csv.c; by the options of c ---- */

/* All of them write to c->out, which stat_output.c has led to where the result belongs. */
void stat_show_interval(struct cli *c, const struct stat_job *job, const struct stat_result *r);
void stat_show(struct cli *c, const struct stat_job *job, const struct stat_result *r);

/* Short notes that two rows give together, such as "1.83 IPC", in buf; "" when there is none. Only rows that were
 * counted over the same time are put together. */
const char *stat_note(const struct stat_result *r, const struct stat_row *row, char *buf, size_t size);

#endif
