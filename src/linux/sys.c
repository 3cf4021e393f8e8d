/* SPDX-License-Identifier: MIT */
/* Asking the machine: files, CPUID, perf events, programs. */
#include "sys.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

enum { CPUID_1_ECX_HYPERVISOR = 1u << 31 };

/* ---- files ---- */

static const char *full_name(const struct assay_sys *s, const char *file, char *name)
{
    int n = snprintf(name, PATH_MAX, "%s%s", s->root ? s->root : "", file);
    return n > 0 && n < PATH_MAX ? name : "";
}

bool sys_exists(const struct assay_sys *s, const char *file)
{
    char name[PATH_MAX];
    return access(full_name(s, file, name), F_OK) == 0;
}

bool sys_line(const struct assay_sys *s, const char *file, char *line, size_t size)
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

bool sys_number(const struct assay_sys *s, const char *file, long *v)
{
    char line[64], *end;
    if (!sys_line(s, file, line, sizeof line))
        return false;
    *v = strtol(line, &end, 10);
    return end != line;
}

bool sys_capable(const struct assay_sys *s, unsigned capability)
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

static int copy_names(struct dirent **entry, int n, char ***names)
{
    size_t size = sizeof **names;
    for (int i = 0; i < n; i++)
        size += sizeof **names + strlen(entry[i]->d_name) + 1;
    *names = malloc(size);
    char *text = *names ? (char *)(*names + n) : NULL;
    for (int i = 0; i < n; i++) {
        if (text) {
            (*names)[i] = text;
            text = stpcpy(text, entry[i]->d_name) + 1;
        }
        free(entry[i]);
    }
    free(entry);
    return *names ? n : -ENOMEM;
}

static int is_visible(const struct dirent *d) { return d->d_name[0] != '.'; }

int sys_names(const struct assay_sys *s, const char *folder, char ***names)
{
    char name[PATH_MAX];
    struct dirent **entry;
    *names = NULL;
    int n = scandir(full_name(s, folder, name), &entry, is_visible, alphasort);
    return n < 0 ? -errno : copy_names(entry, n, names);
}

/* ---- the processor and the kernel ---- */

bool sys_machine_is(const struct assay_sys *s, const char *name)
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

bool sys_cpuid(const struct assay_sys *s, uint32_t leaf, uint32_t subleaf, uint32_t reg[4])
{
    memset(reg, 0, 4 * sizeof *reg);
    return s->cpuid ? s->cpuid(leaf, subleaf, reg) : real_cpuid(leaf, subleaf, reg);
}

bool sys_has_hypervisor(const struct assay_sys *s)
{
    uint32_t reg[4];
    return sys_cpuid(s, 1, 0, reg) && (reg[2] & CPUID_1_ECX_HYPERVISOR);
}

/* ---- perf events ---- */

static int real_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
    return fd < 0 ? -errno : (int)fd;
}

static ssize_t real_read(int fd, void *buf, size_t size)
{
    ssize_t n = read(fd, buf, size);
    return n < 0 ? -errno : n;
}

static int real_ioctl(int fd, unsigned long request, unsigned long argument)
{
    return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static int real_close(int fd) { return close(fd) < 0 ? -errno : 0; }

int sys_perf_event_open(const struct assay_sys *s, struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
    int fd;
    do
        fd =
            (s->perf_event_open ? s->perf_event_open : real_event_open)(attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
    while (fd == -EINTR);
    return fd;
}

ssize_t sys_read(const struct assay_sys *s, int fd, void *buf, size_t size)
{
    ssize_t n;
    do
        n = (s->read ? s->read : real_read)(fd, buf, size);
    while (n == -EINTR);
    return n;
}

int sys_ioctl(const struct assay_sys *s, int fd, unsigned long request, unsigned long argument)
{
    int r;
    do
        r = (s->ioctl ? s->ioctl : real_ioctl)(fd, request, argument);
    while (r == -EINTR);
    return r;
}

/* Not made again: after EINTR the descriptor is closed all the same. */
int sys_close(const struct assay_sys *s, int fd) { return (s->close ? s->close : real_close)(fd); }

/* ---- programs ---- */

static bool find_program(const struct assay_sys *s, const char *name, char *found)
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

bool sys_program(const struct assay_sys *s, const char *name, const char *argument, char *output, size_t size)
{
    char found[PATH_MAX];
    *output = '\0';
    if (!find_program(s, name, found))
        return false;
    if ((s->run ? s->run : sys_run)(found, argument, output, size) < 0)
        *output = '\0';
    return true;
}
