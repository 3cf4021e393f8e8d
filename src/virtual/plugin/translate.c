/* SPDX-License-Identifier: MIT */
/* Blocks at translation: everything about a block that can be known once. */
#include "plugin.h"
#include "qemu_api.h"

#include <assay/image.h>

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 16, MAX_INSNS = 1024, PAGE = 4096, CACHE_LINE = 64 };
static struct block *bucket[BUCKETS];

static struct block **bucket_of(uint64_t ip) { return &bucket[(ip ^ ip >> 16) * 0x9e3779b1u >> 7 & (BUCKETS - 1)]; }

static void set_born(struct block *b) { b->born = b->flags & (BLOCK_HANDLER | BLOCK_SHORT) ? UINT64_MAX : b->since; }

void translate_mark_handler(uint64_t ip)
{
    for (struct block *b = *bucket_of(ip); b; b = b->more)
        if (b->start == ip) {
            b->flags |= BLOCK_HANDLER;
            set_born(b);
        }
}

static uint8_t kind_of(const struct assay_insn *i)
{
    switch (i->kind) {
    case ASSAY_INSN_COND:
        return BLOCK_COND;
    case ASSAY_INSN_JMP:
        return i->flags & ASSAY_INSN_JMPABS ? BLOCK_JMP_IND : BLOCK_NEXT;
    case ASSAY_INSN_CALL:
        return i->flags & ASSAY_INSN_CALL_NEXT ? BLOCK_NEXT : BLOCK_CALL;
    case ASSAY_INSN_JMP_IND:
        return BLOCK_JMP_IND;
    case ASSAY_INSN_CALL_IND:
        return BLOCK_CALL_IND;
    case ASSAY_INSN_RET:
        return BLOCK_RET;
    case ASSAY_INSN_FAR:
        return BLOCK_FAR;
    default:
        return i->flags & ASSAY_INSN_REP_STRING ? BLOCK_REP : BLOCK_NEXT;
    }
}

struct code {
    uint64_t start;
    uint32_t insns, bytes;
    uint64_t hash;
    uint8_t size[MAX_INSNS];
    uint8_t byte[MAX_INSNS * 15];
};

static void read_code(const void *tb, struct code *c)
{
    c->start = qemu_plugin_tb_vaddr(tb);
    c->insns = (uint32_t)qemu_plugin_tb_n_insns(tb);
    c->bytes = 0;
    c->hash = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < c->insns && i < MAX_INSNS; i++) {
        void *insn = qemu_plugin_tb_get_insn(tb, i);
        c->size[i] = (uint8_t)qemu_plugin_insn_size(insn);
        memcpy(c->byte + c->bytes, qemu_plugin_insn_data(insn), c->size[i]);
        c->bytes += c->size[i];
    }
    for (uint32_t i = 0; i < c->bytes; i++)
        c->hash = (c->hash ^ c->byte[i]) * 0x100000001b3;
}

static uint8_t quantity_of(const struct assay_insn *i)
{
    static const uint8_t by_kind[] = {
        [ASSAY_INSN_OTHER] = ASSAY_MACHINE_STRAIGHT,  [ASSAY_INSN_COND] = ASSAY_MACHINE_COND_NOT_TAKEN,
        [ASSAY_INSN_JMP] = ASSAY_MACHINE_JMP,         [ASSAY_INSN_CALL] = ASSAY_MACHINE_CALL,
        [ASSAY_INSN_JMP_IND] = ASSAY_MACHINE_JMP_IND, [ASSAY_INSN_CALL_IND] = ASSAY_MACHINE_CALL_IND,
        [ASSAY_INSN_RET] = ASSAY_MACHINE_RET,         [ASSAY_INSN_FAR] = ASSAY_MACHINE_FAR,
    };
    return by_kind[i->kind];
}

static struct block *find_block(const struct code *c)
{
    struct block *b = *bucket_of(c->start);
    while (b && !(b->start == c->start && b->bytes == c->bytes && b->insns == c->insns && b->hash == c->hash))
        b = b->more;
    return b;
}

/* QEMU ends a block before the page's end only at an instruction that demands it, or after a single one that it repeats. */
static bool ends_early(const struct code *c, const struct block *b)
{
    return c->insns == 1 && b->kind == BLOCK_NEXT && b->insn_kind == ASSAY_INSN_OTHER && b->next % PAGE < PAGE - 15;
}

static void digest_block(struct block *b)
{
    uint64_t at = b->start;
    b->factor = 1;
    b->chain = 0;
    for (uint32_t i = 0; i < b->insns; i++) {
        b->chain = b->chain * 31 + at;
        b->factor *= 31;
        at += b->size[i];
    }
}

static struct block *make_block(const struct code *c)
{
    void *memory;
    if (posix_memalign(&memory, CACHE_LINE, sizeof(struct block) + c->insns) != 0)
        abort();
    struct block *b = memory; /* what the hot path reads of it is one line */
    *b = (struct block){0};
    b->start = c->start;
    b->insns = c->insns;
    b->bytes = c->bytes;
    b->hash = c->hash;
    b->next = b->target = c->start + c->bytes;
    b->last_size = c->size[c->insns - 1];
    memcpy(b->size, c->size, c->insns);
    struct assay_insn last;
    uint32_t at = c->bytes - b->last_size;
    b->kind = BLOCK_NEXT;
    if (assay_x86_classify(c->byte + at, b->last_size, process.guest->mode, c->start + at, &last) > 0) {
        b->kind = kind_of(&last);
        b->insn_kind = last.kind;
        b->quantity = quantity_of(&last);
        if (last.kind == ASSAY_INSN_COND || last.kind == ASSAY_INSN_JMP || last.kind == ASSAY_INSN_CALL)
            b->target = last.target;
    }
    b->other = b->kind == BLOCK_COND ? b->next : b->target;
    if (ends_early(c, b))
        b->flags |= BLOCK_SHORT;
    if (signal_is_handler(b->start))
        b->flags |= BLOCK_HANDLER;
    digest_block(b);
    b->more = *bucket_of(b->start);
    *bucket_of(b->start) = b;
    return b;
}

static void watch_accesses(void *tb, struct block *b)
{
    access_fn *f = access_callback();
    for (uint32_t i = 0; f && i < b->insns; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), f, QEMU_CB_NO_REGS, QEMU_MEM_RW, &b->size[i]);
}

void translate_block(uint64_t id, void *tb)
{
    (void)id;
    static struct code c; /* QEMU translates one block at a time in a process */
    size_t insns = qemu_plugin_tb_n_insns(tb);
    if (insns == 0 || insns > MAX_INSNS)
        return;
    void *first = qemu_plugin_tb_get_insn(tb, 0);
    pthread_mutex_lock(&process.lock);
    read_code(tb, &c);
    process.guest_base = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(first) - c.start;
    struct code_age age = {0};
    if (!process.setup->count) /* nobody reads the code of a run that is only counted */
        age = code_note(c.start, c.byte, c.bytes);
    struct block *b = find_block(&c);
    if (!b)
        b = make_block(&c);
    if (age.since > b->since)
        b->since = age.since;
    if (age.replaced)
        b->flags |= BLOCK_REPLACED;
    set_born(b);
    pthread_mutex_unlock(&process.lock);
    watch_accesses(tb, b);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, exec_callback(), QEMU_CB_NO_REGS, b);
}
