/* SPDX-License-Identifier: MIT */
/* Data accesses: what they cost, and how many there are. */
#include "plugin.h"
#include "qemu_api.h"

/* Where an access stands in the word that comes with it (QEMU 7.2 to 9). No function asks for an atomic instruction's load; without
 * it a thread's atomic instructions would lose theirs as soon as there is a second thread. */
enum { MEMORY_RW_SHIFT = 16 };

/* What QEMU packs into the word that comes with an access; asked once for each of the few values that occur. */
struct access {
    uint32_t info;
    uint8_t bytes;
    bool known, load, store;
};
static __thread struct access seen[64];

__attribute__((noinline)) static void learn(struct access *a, uint32_t info)
{
    bool store = qemu_plugin_mem_is_store(info);
    bool both = (info >> MEMORY_RW_SHIFT & QEMU_MEM_RW) == QEMU_MEM_RW;
    *a = (struct access){info, (uint8_t)(1u << qemu_plugin_mem_size_shift(info)), true, !store || both, store};
}

static inline struct access access_of(uint32_t info)
{
    struct access *a = &seen[(info ^ info >> 6 ^ info >> 16) % 64];
    if (a->info != info || !a->known)
        learn(a, info);
    return *a;
}

static void charge(unsigned vcpu, uint32_t info, uint64_t vaddr, void *insn)
{
    (void)insn;
    struct thread *t = thread_of[vcpu % THREADS];
    struct access a = access_of(info);
    if (t->core)
        t->s.unit.cycles += assay_machine_access(t->core, vaddr, a.bytes, a.store);
}

/* QEMU cuts what is wider than eight bytes. Neighbours of one instruction are one access. */
static bool goes_on(struct thread *t, const struct access *a, uint64_t vaddr, const void *insn)
{
    bool same = t->access == insn && t->access_end == vaddr && t->access_store == a->store;
    t->access = insn;
    t->access_end = vaddr + a->bytes;
    t->access_store = a->store;
    return same;
}

static void count(unsigned vcpu, uint32_t info, uint64_t vaddr, void *insn)
{
    struct thread *t = thread_of[vcpu % THREADS];
    struct access a = access_of(info);
    if (t == &unborn)
        return;
    if (!goes_on(t, &a, vaddr, insn)) {
        t->s.tally[ASSAY_MACHINE_LOADS] += a.load;
        t->s.tally[ASSAY_MACHINE_STORES] += a.store;
    }
    if (!t->core)
        return;
    uint64_t cycles = assay_machine_access(t->core, vaddr, a.bytes, a.store);
    t->s.unit.cycles += cycles;
    t->s.tally[ASSAY_MACHINE_LOAD_CYCLES] += cycles;
}

access_fn *access_callback(void)
{
    const struct assay_spool_setup *s = process.setup;
    if (s->count)
        return s->accesses ? count : NULL;
    return s->model.flat ? NULL : charge;
}
