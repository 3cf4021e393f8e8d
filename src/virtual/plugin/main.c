/* SPDX-License-Identifier: MIT */
/* The plugin's start: reads what the recorder set up and asks QEMU for what it needs. */
#include "plugin.h"
#include "qemu_api.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct process process;

QEMU_EXPORT int qemu_plugin_version = 1;
QEMU_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

static const struct guest *find_guest(const char *name)
{
    for (const struct guest *g = guests; g->name; g++)
        if (strcmp(g->name, name) == 0)
            return g;
    return NULL;
}

static bool map_setup(void)
{
    int fd = spool_open("setup", (unsigned)-1, O_RDWR);
    if (fd < 0)
        return false;
    void *p = mmap(NULL, sizeof *process.setup, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    process.setup = p == MAP_FAILED ? NULL : p;
    return process.setup && process.setup->magic == ASSAY_SPOOL_MAGIC && process.setup->size == sizeof *process.setup;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "spool=", 6) == 0)
            snprintf(process.spool, sizeof process.spool, "%s", argv[i] + 6);
    process.pid = (uint32_t)getpid();
    process.guest = find_guest(info->target_name);
    if (!process.guest || info->system_emulation || !map_setup() || threads_init() != 0) {
        fprintf(stderr, "assay: the QEMU plugin cannot start (it is started by assay record)\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block);
    qemu_plugin_register_vcpu_syscall_cb(id, syscall_enter);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, syscall_leave);
    return 0;
}
