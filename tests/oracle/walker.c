/* SPDX-License-Identifier: MIT */
/* The random walker: it takes the part of the processor. */
#include "walker.h"

#include <assay/pt_unit.h>

#include <link.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_next(struct random *r) /* splitmix64 */
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t random_below(struct random *r, uint64_t n) { return random_next(r) % n; }

size_t text_read(void *ctx, uint64_t ip, uint8_t *buf, size_t size)
{
    const struct text *t = ctx;
    if (ip < t->address || ip - t->address >= t->size)
        return 0;
    size_t left = t->size - (size_t)(ip - t->address);
    if (size > left)
        size = left;
    memcpy(buf, t->bytes + (ip - t->address), size);
    return size;
}

static bool text_insn(const struct text *t, unsigned mode, uint64_t ip, struct insn *in)
{
    uint8_t code[15];
    size_t size = text_read((void *)t, ip, code, sizeof code);
    return size && insn_decode(code, size, mode, ip, in);
}

static void *grow(void *p, size_t n, size_t each)
{
    if (n & (n - 1))
        return p;
    p = realloc(p, (n ? 2 * n : 1) * each);
    if (!p)
        abort();
    return p;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct text *t = ctx;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr, inside = (uintptr_t)abort;
        if (p->p_type != PT_LOAD || inside < start || inside >= start + p->p_memsz)
            continue;
        t->bytes = (const uint8_t *)start;
        t->size = p->p_memsz;
        return 1;
    }
    return 0;
}

struct text text_of_libc(uint64_t address)
{
    struct text t = {.address = address};
    struct insn in;
    if (!dl_iterate_phdr(find_libc, &t))
        abort();
    for (uint64_t ip = t.address; ip < t.address + t.size; ip = in.next) {
        if (!text_insn(&t, 64, ip, &in)) {
            in.next = ip + 1;
            continue;
        }
        if (in.branch != CALL || in.target < t.address || in.target >= t.address + t.size)
            continue;
        t.entry = grow(t.entry, t.entries, sizeof *t.entry);
        t.entry[t.entries++] = in.target;
    }
    return t;
}

struct walker {
    const struct text *text;
    struct random *random;
    struct assay_pt_unit unit;
    struct recording out;
    uint64_t stack[256];
    unsigned depth;
    size_t decided; /* instructions before this index are decided by the trace */
};

static uint64_t somewhere(struct walker *w) { return w->text->entry[random_below(w->random, w->text->entries)]; }

static void retire(struct walker *w, const struct insn *in)
{
    static const unsigned often[] = {0, 1, 1, 1, 1, 2, 5, 40, 300};
    w->unit.cycles += often[random_below(w->random, sizeof often / sizeof *often)];
    struct recording *o = &w->out;
    o->ip = grow(o->ip, o->n, sizeof *o->ip);
    o->cycle = grow(o->cycle, o->n, sizeof *o->cycle);
    o->ip[o->n] = in->ip;
    o->cycle[o->n++] = w->unit.cycles;
}

static void call(struct walker *w, const struct insn *in)
{
    if (w->depth == 256)
        w->depth = 0;
    w->stack[w->depth++] = in->next;
    assay_pt_unit_call(&w->unit, in->next);
}

/* Mostly back to the caller, at times elsewhere as longjmp does. */
static uint64_t return_address(struct walker *w)
{
    if (w->depth == 0 || random_below(w->random, 50) == 0)
        return somewhere(w);
    return w->stack[--w->depth];
}

static uint64_t leave_and_come_back(struct walker *w, uint64_t ip)
{
    w->unit.cycles += random_below(w->random, 3) ? random_below(w->random, 200) : random_below(w->random, 100000);
    if (random_below(w->random, 4) == 0)
        ip = somewhere(w);
    assay_pt_unit_enter(&w->unit, ip);
    return ip;
}

static uint64_t jump(struct walker *w, uint64_t next)
{
    size_t from = assay_pt_unit_written(&w->unit);
    assay_pt_unit_indirect(&w->unit, next);
    w->out.jump = grow(w->out.jump, w->out.jumps, sizeof *w->out.jump);
    w->out.jump[w->out.jumps++] = (struct span){from, assay_pt_unit_written(&w->unit)};
    return next;
}

static uint64_t execute(struct walker *w, const struct insn *in)
{
    bool taken = random_below(w->random, 3) > 0;
    uint64_t next = in->next;
    retire(w, in);
    if (in->branch != STRAIGHT && in->branch != JMP && in->branch != CALL)
        w->decided = w->out.n;
    switch (in->branch) {
    case STRAIGHT:
        return next;
    case COND:
        next = taken ? in->target : in->next;
        assay_pt_unit_cond(&w->unit, taken, next);
        return next;
    case CALL:
        if (in->target != in->next)
            call(w, in);
        return in->target;
    case JMP:
        return in->target;
    case CALL_IND:
        call(w, in);
        return jump(w, somewhere(w));
    case JMP_IND:
        return jump(w, somewhere(w));
    case RET:
        next = return_address(w);
        assay_pt_unit_ret(&w->unit, next);
        return next;
    case FAR:
        assay_pt_unit_leave(&w->unit);
        return leave_and_come_back(w, next);
    }
    return next;
}

/* A signal or fault before the instruction at ip. */
static uint64_t interrupt(struct walker *w, uint64_t ip)
{
    w->unit.cycles += random_below(w->random, 20);
    w->decided = w->out.n;
    if (random_below(w->random, 2)) {
        assay_pt_unit_async_leave(&w->unit, ip);
        return leave_and_come_back(w, ip);
    }
    uint64_t next = somewhere(w);
    assay_pt_unit_async(&w->unit, ip, next);
    return next;
}

static void power_on(struct walker *w, const struct walk_options *options, uint64_t ip)
{
    struct assay_pt_unit_config config = {
        .tsc_ctc_n = 100, .tsc_ctc_d = 3, .max_ratio = 30, .core_ratio = 24, .mode = options->mode};
    size_t room = options->insns * 24 + (1 << 16);
    w->out.data = calloc(1, room);
    if (!w->out.data)
        abort();
    assay_pt_unit_init(&w->unit, &config);
    assay_pt_unit_output(&w->unit, w->out.data, room);
    assay_pt_unit_wrmsr(&w->unit, ASSAY_MSR_RTIT_CTL,
                        options->ctl | ASSAY_RTIT_TRACEEN | ASSAY_RTIT_USER | ASSAY_RTIT_BRANCHEN);
    assay_pt_unit_enter(&w->unit, ip);
}

/* No trace tells how often a loop of direct jumps went round before it was interrupted: back in it, the round never
 * was. */
static bool goes_round(struct walker *w, uint64_t ip)
{
    for (size_t i = w->decided; i < w->out.n; i++)
        if (w->out.ip[i] == ip) {
            w->out.n = i;
            return true;
        }
    return false;
}

struct recording walk_randomly(const struct text *text, struct random *random, const struct walk_options *options)
{
    struct walker w = {.text = text, .random = random};
    struct insn in;
    uint64_t ip = somewhere(&w);
    power_on(&w, options, ip);
    while (w.out.n < options->insns) {
        if (!text_insn(text, options->mode, ip, &in) || goes_round(&w, ip) || random_below(random, 700) == 0)
            ip = interrupt(&w, ip);
        else
            ip = execute(&w, &in);
    }
    goes_round(&w, ip);
    /* The last instruction before an interrupt is the last that the trace proves. */
    assay_pt_unit_async_leave(&w.unit, ip);
    assay_pt_unit_flush(&w.unit);
    w.out.size = assay_pt_unit_written(&w.unit);
    return w.out;
}

void recording_free(struct recording *r)
{
    free(r->data);
    free(r->ip);
    free(r->cycle);
    free(r->jump);
}
