/* SPDX-License-Identifier: MIT */
/* Counting a program on virtual hardware: QEMU's user mode runs it, our plugin and the machine model count, thread by thread, in
 * the processes that it forks too. No trace is written. Counts are modelled and deterministic; instructions and branches are those that
 * the program executed, in user mode: system calls run in the host's kernel and are not seen.
 *
 * One run at a time in a thread; nothing here touches signals or prints. Linux only. */
#ifndef ASSAY_TALLY_H
#define ASSAY_TALLY_H

#include <assay/machine.h>

#include <signal.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_tally_options {
    char *const *argv; /* program and arguments, NULL ends; found as a shell would, scripts by their interpreter */
    struct assay_machine_model model;
    uint64_t quantities; /* that will be asked for, ASSAY_MACHINE_BIT() each: the fewer, the faster. The rest may be 0 */
    const char *plugin; /* NULL: $ASSAY_QEMU_PLUGIN, beside the command, where it was installed */
    const char *tmp;    /* directory for the temporary files; NULL: $TMPDIR or /tmp */
    const sigset_t *mask; /* signals that the program has blocked; NULL: those of the caller */
};

struct assay_tally;
/* Starts the program; assay_tally_pid() is to be waited for, then assay_tally_collect() called. On error *out is NULL and
 * nothing is left behind. */
int assay_tally_start(const struct assay_tally_options *o, struct assay_tally **out, struct assay_error *e);
pid_t assay_tally_pid(const struct assay_tally *c);
/* Reads what the run left, of threads that something killed too: what had retired by then. */
int assay_tally_collect(struct assay_tally *c, struct assay_error *e);
/* Also removes the temporary files; kills nothing. */
void assay_tally_free(struct assay_tally *c);

struct assay_tally_thread {
    uint32_t pid, tid;
    bool killed; /* it did not end by itself */
    uint64_t tally[ASSAY_MACHINE_QUANTITIES];
};
/* In the order of birth; before collect() none. */
size_t assay_tally_threads(const struct assay_tally *c);
const struct assay_tally_thread *assay_tally_thread(const struct assay_tally *c, size_t n);
const uint64_t *assay_tally_total(const struct assay_tally *c); /* tally of all threads */
/* The n-th process that went on with another program, outside of the virtual machine, uncounted: its path, NULL past the last. */
const char *assay_tally_exec(const struct assay_tally *c, size_t n, uint32_t *pid);
const char *assay_tally_machine(const struct assay_tally *c); /* "QEMU 7.2.22" */
/* Faults and signals whose blocks may not be counted exactly, and why; 0 when all is exact. */
unsigned assay_tally_doubts(const struct assay_tally *c, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
