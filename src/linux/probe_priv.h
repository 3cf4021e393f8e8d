/* SPDX-License-Identifier: MIT */
/* The insides of the probe: asking the machine, and one function for each thing that is asked for. */
#ifndef ASSAY_LINUX_PROBE_PRIV_H
#define ASSAY_LINUX_PROBE_PRIV_H

#include <assay/probe.h>

/* ---- probe_ask.c: the machine, or what a test has put in its place ---- */
bool probe_exists(const struct assay_probe_system *s, const char *file);
/* The first line of a file; false when it cannot be read. */
bool probe_line(const struct assay_probe_system *s, const char *file, char *line, size_t size);
bool probe_number(const struct assay_probe_system *s, const char *file, long *v);
/* The real descriptor is closed again: 0 or -errno. */
int probe_event(const struct assay_probe_system *s, uint32_t type, uint64_t config, bool kernel);
bool probe_cpuid(const struct assay_probe_system *s, uint32_t leaf, uint32_t subleaf, uint32_t reg[4]);
bool probe_machine_is(const struct assay_probe_system *s, const char *name);
/* Does this process have one of the capabilities (bits of CapEff)? Root has all. */
enum { PROBE_CAP_SYS_ADMIN = 21, PROBE_CAP_SYSLOG = 34, PROBE_CAP_PERFMON = 38 };
bool probe_capable(const struct assay_probe_system *s, unsigned capability);
/* Finds a program and runs it: false when it is not there. `output` gets what it said, "" when it failed. */
bool probe_program(const struct assay_probe_system *s, const char *name, const char *argument, char *output,
                   size_t size);

/* ---- results ---- */
void probe_say(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#define PROBE_SAY(field, ...) probe_say(field, sizeof field, __VA_ARGS__)

/* ---- what is asked for ---- */
typedef void probe_fn(const struct assay_probe_system *s, struct assay_probe_result *out);
probe_fn probe_pt, probe_counters, probe_paranoid, probe_kptr, probe_i915, probe_cpum_cf, probe_qemu, probe_perf;

/* probe_run.c: the real assay_probe_system.run */
int probe_run(const char *program, const char *argument, char *output, size_t size);

#endif
