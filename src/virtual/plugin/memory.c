/* SPDX-License-Identifier: MIT */
/* Reads of memory that may not be there, and of QEMU's copy of the guest's registers. */
#include "plugin.h"

#include <assay/cursor.h>

#include <sys/uio.h>
#include <unistd.h>

bool host_read(const void *from, void *to, size_t size)
{
    struct iovec there = {(void *)(uintptr_t)from, size}, here = {to, size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool guest_read(uint64_t addr, void *to, size_t size)
{
    return host_read((const void *)(uintptr_t)(addr + process.guest_base), to, size);
}

/* CPUX86State begins with the general registers in the order of their encoding, then the instruction pointer. The registers
 * are in memory between blocks; the pointer is only right where QEMU's main loop entered a block. */
bool regs_read(const struct thread *t, struct regs *r)
{
    enum { AX, CX, DX, BX, SP, BP, SI, DI };
    unsigned word = process.guest->mode / 8, count = process.guest->mode == 64 ? 16 : 8;
    uint8_t raw[17 * 8];
    if (!t->env || !host_read(t->env, raw, word * (count + 1)))
        return false;
    *r = (struct regs){.ip = assay_load_le(raw + word * count, word),
                       .sp = assay_load_le(raw + word * SP, word),
                       .ax = assay_load_le(raw + word * AX, word),
                       .cx = assay_load_le(raw + word * CX, word),
                       .dx = assay_load_le(raw + word * DX, word),
                       .si = assay_load_le(raw + word * SI, word),
                       .di = assay_load_le(raw + word * DI, word)};
    return true;
}
