/* SPDX-License-Identifier: MIT */
/* Making a run: instructions are classified once, from an address to the next one that consumes trace. */
#include "internal.h"
#include "run.h"

#include <string.h>

/* A run under construction: the last one of each table. */
struct making {
    struct assay_flow *f;
    struct assay_view *view;
    struct assay_flow_run *run;
    uint8_t flags;
};

static uint64_t wrap_ip(uint64_t ip, unsigned mode) { return mode == 64 ? ip : (uint32_t)ip; }

/* The next instruction of the block; *left of the piece. False where there is none: no code, or none that x86 knows. */
static bool read_insn(struct making *m, const struct assay_code *code, size_t at, uint64_t ip, struct assay_insn *insn)
{
    int size = assay_x86_classify(code->bytes + at, code->size - at, m->f->mode, ip, insn);
    if (size == ASSAY_E_TRUNCATED) { /* it goes on in the next piece */
        uint8_t bytes[16];
        size_t n = assay_view_read(m->view, ip, bytes, sizeof bytes);
        size = assay_x86_classify(bytes, n, m->f->mode, ip, insn);
    }
    if (size > 0)
        return true;
    m->f->none_ip = ip;
    m->f->none_code = size == ASSAY_E_TRUNCATED ? ASSAY_E_NO_CODE : size;
    return false;
}

static bool add_insn(struct making *m, struct assay_flow_block *b, uint64_t ip, const struct assay_insn *insn)
{
    struct assay_flow *f = m->f;
    if (!flow_reserve(f, &f->sizes, &f->sizes_cap, 1, f->sizes_n + UINT64_C(1)))
        return false;
    f->sizes[f->sizes_n++] = insn->size;
    b->insns++;
    b->last_ip = ip;
    b->end = wrap_ip(ip + insn->size, b->mode);
    b->kind = insn->kind;
    b->far = insn->far;
    b->flags = insn->flags;
    b->target = insn->target;
    m->run->insns++;
    m->run->mul *= 31;
    m->run->add = m->run->add * 31 + ip;
    if (insn->flags & ASSAY_INSN_MOV_CR3)
        m->flags |= NODE_PAGING;
    if (insn->flags & ASSAY_INSN_VMPTRLD)
        m->flags |= NODE_VMCS;
    return true;
}

static bool cut_here(const struct making *m, uint64_t end, const struct assay_insn *insn)
{
    return m->run->insns >= CUT_INSNS && end % CUT_ALIGN < insn->size;
}

/* One block from ip on, in a table that has room for it. False when it has no instruction. */
static bool make_block(struct making *m, uint64_t ip)
{
    struct assay_flow *f = m->f;
    struct assay_code code;
    if (assay_view_code(m->view, ip, &code) < 0) {
        f->none_ip = ip;
        f->none_code = ASSAY_E_NO_CODE;
        return false;
    }
    struct assay_flow_block *b = &f->blocks[f->blocks_n];
    *b = (struct assay_flow_block){
        .ip = ip, .dso = code.dso, .dso_addr = code.dso_addr, .sizes = f->sizes_n, .mode = f->mode};
    size_t at = 0;
    while (at < code.size) {
        struct assay_insn insn;
        if (!read_insn(m, &code, at, ip, &insn) || !add_insn(m, b, ip, &insn) || insn.kind != ASSAY_INSN_OTHER ||
            cut_here(m, b->end, &insn))
            break;
        at += insn.size;
        ip = b->end;
    }
    if (!b->insns)
        return false;
    f->blocks_n++;
    m->run->blocks++;
    return true;
}

static bool add_site(struct making *m, struct node *node, const struct assay_flow_block *b)
{
    struct assay_flow *f = m->f;
    if (b->flags & ASSAY_INSN_CALL_NEXT)
        return true;
    if (!flow_reserve(f, &f->sites, &f->sites_cap, sizeof *f->sites, f->sites_n + UINT64_C(1)))
        return false;
    f->sites[f->sites_n++] = (struct site){.ip = b->end, .space = (uint16_t)f->space, .mode = f->mode};
    node->pushes++;
    return true;
}

/* Blocks until one consumes trace, code ends, or the run is as long as a run may be. */
static void make_blocks(struct making *m, struct node *node, uint64_t ip)
{
    struct assay_flow *f = m->f;
    uint32_t id = f->runs_n;
    while (m->run->blocks < RUN_BLOCKS && make_block(m, ip)) {
        const struct assay_flow_block *b = &f->blocks[f->blocks_n - 1];
        m->run->kind = b->kind;
        if ((b->kind == ASSAY_INSN_CALL || b->kind == ASSAY_INSN_CALL_IND) && !add_site(m, node, b))
            return;
        if (b->kind != ASSAY_INSN_OTHER && b->kind != ASSAY_INSN_JMP && b->kind != ASSAY_INSN_CALL)
            return;
        if (m->run->insns >= CUT_INSNS)
            return;
        ip = b->kind == ASSAY_INSN_OTHER ? b->end : b->target;
        if (flow_locate(f, id, ip) >= 0) {
            m->flags |= NODE_LOOP;
            return;
        }
    }
}

static unsigned link_kind(const struct assay_flow_run *run, const struct node *node)
{
    static const uint8_t kind[] = {
        [ASSAY_INSN_OTHER] = LINK_SLOW, [ASSAY_INSN_COND] = LINK_COND,   [ASSAY_INSN_JMP] = LINK_SLOW,
        [ASSAY_INSN_CALL] = LINK_SLOW,  [ASSAY_INSN_JMP_IND] = LINK_TIP, [ASSAY_INSN_CALL_IND] = LINK_TIP,
        [ASSAY_INSN_RET] = LINK_RET,    [ASSAY_INSN_FAR] = LINK_TIP,
    };
    unsigned k = kind[run->kind];
    return k == LINK_SLOW ? k : k | (node->pushes ? 1 : 0);
}

static uint64_t table_bytes(const struct assay_flow *f)
{
    uint64_t run = sizeof *f->nodes + sizeof *f->runs + 2 * sizeof *f->slots;
    return f->runs_n * run + f->blocks_n * (uint64_t)sizeof *f->blocks + f->sites_n * (uint64_t)sizeof *f->sites +
           f->sizes_n;
}

uint32_t flow_make_run(struct assay_flow *f, uint64_t ip)
{
    uint32_t cap = f->runs_cap; /* one capacity for two tables */
    if (f->runs_n >= RUNS_MAX)
        f->stop = ASSAY_E_MEMORY;
    if (f->stop || !flow_reserve(f, &f->nodes, &cap, sizeof *f->nodes, f->runs_n + UINT64_C(1)) ||
        !flow_reserve(f, &f->runs, &f->runs_cap, sizeof *f->runs, f->runs_n + UINT64_C(1)) ||
        !flow_reserve(f, &f->blocks, &f->blocks_cap, sizeof *f->blocks, f->blocks_n + (uint64_t)RUN_BLOCKS)) {
        f->none_ip = ip;
        f->none_code = ASSAY_E_MEMORY;
        return LINK_NONE;
    }
    struct making m = {.f = f, .view = f->spaces[f->space].view, .run = &f->runs[f->runs_n]};
    struct node *node = &f->nodes[f->runs_n];
    *m.run = (struct assay_flow_run){.ip = ip, .mul = 1, .first_block = f->blocks_n, .mode = f->mode};
    *node = (struct node){.first_push = f->sites_n, .space = (uint16_t)f->space};
    make_blocks(&m, node, ip);
    if (!m.run->blocks)
        return LINK_NONE;
    node->flags = m.flags;
    f->crowded = table_bytes(f) > f->config.table_limit;
    return LINK(f->runs_n++, link_kind(m.run, node));
}
