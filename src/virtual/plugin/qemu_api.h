/* SPDX-License-Identifier: MIT */
/* The part of QEMU's plugin interface, version 1, that is used here; distributions ship no header for it. */
#ifndef ASSAY_QEMU_API_H
#define ASSAY_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_EXPORT __attribute__((visibility("default")))

struct qemu_info {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    int smp_vcpus, max_vcpus;
};
enum { QEMU_CB_NO_REGS = 0 };
enum { QEMU_MEM_R = 1, QEMU_MEM_W = 2, QEMU_MEM_RW = 3 };

typedef void qemu_udata_fn(unsigned vcpu, void *user);
typedef void qemu_mem_fn(unsigned vcpu, uint32_t info, uint64_t vaddr, void *user);
typedef void qemu_vcpu_fn(uint64_t id, unsigned vcpu);
typedef void qemu_tb_fn(uint64_t id, void *tb);
typedef void qemu_syscall_fn(uint64_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2, uint64_t a3,
                             uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void qemu_syscall_ret_fn(uint64_t id, unsigned vcpu, int64_t num, int64_t ret);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_tb_fn *fn);
void qemu_plugin_register_vcpu_tb_exec_cb(void *tb, qemu_udata_fn *fn, int flags, void *user);
void qemu_plugin_register_vcpu_mem_cb(void *insn, qemu_mem_fn *fn, int flags, int rw, void *user);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, qemu_syscall_fn *fn);
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, qemu_syscall_ret_fn *fn);
size_t qemu_plugin_tb_n_insns(const void *tb);
uint64_t qemu_plugin_tb_vaddr(const void *tb);
void *qemu_plugin_tb_get_insn(const void *tb, size_t index);
const void *qemu_plugin_insn_data(const void *insn);
size_t qemu_plugin_insn_size(const void *insn);
void *qemu_plugin_insn_haddr(const void *insn);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

#endif
