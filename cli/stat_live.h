/* SPDX-License-Identifier: MIT */
/* The insides of counting on this machine: what is counted on, and the wait for the end. */
#ifndef ASSAY_CLI_STAT_LIVE_H
#define ASSAY_CLI_STAT_LIVE_H

#include "stat.h"

#include <assay/count.h>

#include <signal.h>

/* stat_target.c: the options -a -C -p -t. Without any of them both lists are empty: the program is counted. */
struct stat_target {
    pid_t *task;
    size_t tasks;
    int *cpu;
    size_t cpus;
};
int stat_target_read(struct cli *c, const struct stat_job *job, struct stat_target *t); /* CLI_OK, or after a message */
void stat_target_free(struct stat_target *t);

/* stat_wait.c: signals are blocked between these two, so that none is missed and none ends us. */
struct stat_wait;
void stat_wait_begin(sigset_t *before);
void stat_wait_end(const sigset_t *before, const struct stat_wait *w);
uint64_t stat_now(void); /* ns */
/* What is waited for. The functions are called at their times. */
struct stat_wait {
    pid_t program;     /* 0: none; it ends when all tasks have, or on a signal */
    const pid_t *task; /* looked at now and then */
    size_t tasks;
    uint64_t start_ns;                          /* of what the periods below count from */
    uint64_t interval_ms, delay_ms, timeout_ms; /* 0: none */
    int (*enable)(void *ctx);                   /* after the delay: an exit status */
    int (*interval)(void *ctx);                 /* the same */
    void *ctx;
    /* what came out */
    bool ended, interrupted;
    bool over; /* without a program: the timeout, or a signal */
    bool left; /* the program would not end */
    int status;
    uint64_t end_ns, user_ns, system_ns;
};
int stat_wait(struct stat_wait *w); /* CLI_OK, or what a function returned */

#endif
