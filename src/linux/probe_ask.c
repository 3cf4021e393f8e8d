/* SPDX-License-Identifier: MIT */
/* Asking the machine: files, CPUID, perf events, programs. */
#include "probe_priv.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

/* ---- files ---- */

static const char *full_name(const struct assay_probe_system *s, const char *file, char *name)
{
    int n = snprintf(name, PATH_MAX, "%s%s", s->root ? s->root : "", file);
    return n > 0 && n < PATH_MAX ? name : "";
}

bool probe_exists(const struct assay_probe_system *s, const char *file)
{
    char name[PATH_MAX];
    return access(full_name(s, file, name), F_OK) == 0;
}

bool probe_line(const struct assay_probe_system *s, const char *file, char *line, size_t size)
{
    char name[PATH_MAX];
    FILE *f = fopen(full_name(s, file, name), "re");
    if (!f)
        return false;
    bool ok = fgets(line, (int)size, f) != NULL;
    fclose(f);
    if (ok)
        line[strcspn(line, "\n")] = '\0';
    return ok;
}

bool probe_number(const struct assay_probe_system *s, const char *file, long *v)
{
    char line[64], *end;
    if (!probe_line(s, file, line, sizeof line))
        return false;
    *v = strtol(line, &end, 10);
    return end != line;
}

bool probe_capable(const struct assay_probe_system *s, unsigned capability)
{
    char name[PATH_MAX], line[256];
    unsigned long long effective = 0;
    FILE *f = fopen(full_name(s, "/proc/self/status", name), "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "CapEff: %llx", &effective) == 1)
            break;
    if (f)
        fclose(f);
    return effective >> capability & 1;
}

/* ---- the processor and the kernel ---- */

bool probe_machine_is(const struct assay_probe_system *s, const char *name)
{
    struct utsname u;
    if (s->machine)
        return strcmp(s->machine, name) == 0;
    return uname(&u) == 0 && strcmp(u.machine, name) == 0;
}

static bool real_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t reg[4])
{
#if defined __x86_64__ || defined __i386__
    return __get_cpuid_count(leaf, subleaf, &reg[0], &reg[1], &reg[2], &reg[3]) != 0;
#else
    (void)leaf;
    (void)subleaf;
    (void)reg;
    return false;
#endif
}

bool probe_cpuid(const struct assay_probe_system *s, uint32_t leaf, uint32_t subleaf, uint32_t reg[4])
{
    memset(reg, 0, 4 * sizeof *reg);
    return s->cpuid ? s->cpuid(leaf, subleaf, reg) : real_cpuid(leaf, subleaf, reg);
}

static int real_event_open(const struct perf_event_attr *attr)
{
    long fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

int probe_event(const struct assay_probe_system *s, uint32_t type, uint64_t config, bool kernel)
{
    struct perf_event_attr attr = {
        .type = type, .size = sizeof attr, .config = config, .disabled = 1, .exclude_kernel = !kernel, .exclude_hv = 1};
    int fd = (s->perf_event_open ? s->perf_event_open : real_event_open)(&attr);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* ---- programs ---- */

static bool find_program(const struct assay_probe_system *s, const char *name, char *found)
{
    const char *path = s->path ? s->path : getenv("PATH");
    for (const char *at = path ? path : ""; *at;) {
        size_t n = strcspn(at, ":");
        int length = snprintf(found, PATH_MAX, "%s%.*s/%s", s->root ? s->root : "", (int)n, at, name);
        if (n > 0 && length < PATH_MAX && access(found, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

bool probe_program(const struct assay_probe_system *s, const char *name, const char *argument, char *output,
                   size_t size)
{
    char found[PATH_MAX];
    *output = '\0';
    if (!find_program(s, name, found))
        return false;
    if ((s->run ? s->run : probe_run)(found, argument, output, size) < 0)
        *output = '\0';
    return true;
}
