/* SPDX-License-Identifier: MIT */
/* How a Linux machine is asked: system calls, files, the processor, programs. What everything live works through,
 * so that tests can put another machine in its place. */
#ifndef ASSAY_SYS_H
#define ASSAY_SYS_H

#include <assay/base.h>

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perf_event_attr;

/* Members that are 0 or NULL stand for the real thing. All functions return -errno for a failure. */
struct assay_sys {
    const char *root;    /* put before every file name; "" */
    const char *path;    /* folders of programs, with colons; $PATH */
    const char *machine; /* "x86_64", "s390x" ...; uname */
    /* The descriptor. With E2BIG it writes the size that it knows into attr->size. */
    int (*perf_event_open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);
    ssize_t (*read)(int fd, void *buf, size_t size);
    int (*ioctl)(int fd, unsigned long request, unsigned long argument);
    int (*close)(int fd);
    /* eax, ebx, ecx, edx; false when the leaf is not there. */
    bool (*cpuid)(uint32_t leaf, uint32_t subleaf, uint32_t reg[4]);
    /* Runs a program and keeps the begin of its output: 0, or -errno. */
    int (*run)(const char *program, const char *argument, char *output, size_t size);
};

#ifdef __cplusplus
}
#endif
#endif
