/* SPDX-License-Identifier: MIT */
/* Asking the machine, or what a test has put in its place. */
#ifndef ASSAY_LINUX_SYS_H
#define ASSAY_LINUX_SYS_H

#include <assay/sys.h>

/* ---- files; names are absolute, the root is put before them ---- */
bool sys_exists(const struct assay_sys *s, const char *file);
/* The first line of a file; false when it cannot be read. */
bool sys_line(const struct assay_sys *s, const char *file, char *line, size_t size);
bool sys_number(const struct assay_sys *s, const char *file, long *v);
/* The names in a folder, sorted, without those that begin with a dot: how many, or -errno. `names` is one block to
 * free(). */
int sys_names(const struct assay_sys *s, const char *folder, char ***names);

/* ---- the processor and who may ---- */
bool sys_cpuid(const struct assay_sys *s, uint32_t leaf, uint32_t subleaf, uint32_t reg[4]);
bool sys_machine_is(const struct assay_sys *s, const char *name);
bool sys_has_hypervisor(const struct assay_sys *s);
/* Does this process have one of the capabilities (bits of CapEff)? Root has all. */
enum { SYS_CAP_SYS_ADMIN = 21, SYS_CAP_SYSLOG = 34, SYS_CAP_PERFMON = 38 };
bool sys_capable(const struct assay_sys *s, unsigned capability);
#define SYS_PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* ---- perf events: the result or -errno; interrupted calls are made again ---- */
int sys_perf_event_open(const struct assay_sys *s, struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd);
ssize_t sys_read(const struct assay_sys *s, int fd, void *buf, size_t size);
int sys_ioctl(const struct assay_sys *s, int fd, unsigned long request, unsigned long argument);
int sys_close(const struct assay_sys *s, int fd);

/* ---- programs ---- */
/* Finds a program and runs it: false when it is not there. `output` gets what it said, "" when it failed. */
bool sys_program(const struct assay_sys *s, const char *name, const char *argument, char *output, size_t size);
/* sys_run.c: the real assay_sys.run */
int sys_run(const char *program, const char *argument, char *output, size_t size);

#endif
