/* SPDX-License-Identifier: MIT */
/* Files of the spool: opened for each use, so that the guest never meets a descriptor of ours. */
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

int spool_open(const char *name, unsigned number, int flags)
{
    char path[sizeof process.spool + 32];
    snprintf(path, sizeof path, number == (unsigned)-1 ? "%s/%s" : "%s/%s.%u", process.spool, name, number);
    return open(path, flags | O_CLOEXEC | O_NOCTTY, 0600);
}

void event_failed(int sys)
{
    int32_t none = 0;
    __atomic_compare_exchange_n(&process.setup->failed, &none, sys, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void event_put(uint32_t type, uint32_t tid, uint64_t cycles, const void *head, size_t head_size, const void *tail,
               size_t tail_size)
{
    struct assay_spool_event e = {.type = type, .pid = process.pid, .tid = tid, .cycles = cycles};
    struct iovec part[3] = {{&e, sizeof e}, {(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)tail, tail_size}};
    size_t size = sizeof e + head_size + tail_size;
    e.size = (uint32_t)size;
    int fd = spool_open("events", (unsigned)-1, O_WRONLY | O_APPEND);
    ssize_t n = -1;
    if (fd >= 0) {
        do
            n = writev(fd, part, 3);
        while (n < 0 && errno == EINTR);
    }
    if (n != (ssize_t)size)
        event_failed(n < 0 ? errno : ENOSPC);
    if (fd >= 0)
        close(fd);
}
