/* SPDX-License-Identifier: MIT */
/* Learning ways through the run graph, so that they need not be walked branch by branch. */
#include "memo.h"
#include "walk.h"

#include "pt/fast.h"

#include <stdlib.h>

enum { STEP_PUSHES = 64, PEAK_MOST = 56, PATHS_ROOM = 64, RUNS_ROOM = 1024, RUNS_MOST = 6 * MEMO_BYTES };

struct steps { /* one packet's branches, while they are walked */
    uint32_t run[8], pop[WAY_POPS], push[STEP_PUSHES];
    unsigned runs, pops, pushes, peak;
};

/* ---- paths */

static struct assay_flow_path *new_path(struct assay_flow *f, uint32_t runs, const struct way *way)
{
    uint32_t cap = f->paths_cap; /* one capacity for two tables */
    if (!flow_reserve(f, &f->ways, &cap, sizeof *f->ways, f->paths_n + UINT64_C(1)) ||
        !flow_reserve(f, &f->paths, &f->paths_cap, sizeof *f->paths, f->paths_n + UINT64_C(1)) ||
        !flow_reserve(f, &f->path_run, &f->path_runs_cap, sizeof *f->path_run, f->path_runs_n + (uint64_t)runs))
        return NULL;
    struct assay_flow_path *p = &f->paths[f->paths_n];
    *p = (struct assay_flow_path){.mul = 1, .runs = runs, .first = f->path_runs_n};
    f->ways[f->paths_n++] = *way;
    f->path_runs_n += runs;
    return p;
}

/* A path of these runs; UINT32_MAX when memory is out. */
static uint32_t path_of(struct assay_flow *f, const uint32_t *run, uint32_t n, const struct way *way)
{
    struct assay_flow_path *p = new_path(f, n, way);
    if (!p)
        return UINT32_MAX;
    memcpy(f->path_run + p->first, run, n * sizeof *run);
    for (uint32_t i = 0; i < n; i++) {
        const struct assay_flow_run *r = &f->runs[run[i]];
        p->add = p->add * r->mul + r->add;
        p->mul *= r->mul;
        p->insns += r->insns;
    }
    return f->paths_n - 1;
}

/* A path of two, one after the other. */
static uint32_t path_of_two(struct assay_flow *f, uint32_t first, uint32_t second, const struct way *way)
{
    struct assay_flow_path *p = new_path(f, f->paths[first].runs + f->paths[second].runs, way);
    if (!p)
        return UINT32_MAX;
    const struct assay_flow_path *a = &f->paths[first], *b = &f->paths[second];
    p->mul = a->mul * b->mul;
    p->add = a->add * b->mul + b->add;
    p->insns = a->insns + b->insns;
    memcpy(f->path_run + p->first, f->path_run + a->first, a->runs * sizeof *f->path_run);
    memcpy(f->path_run + p->first + a->runs, f->path_run + b->first, b->runs * sizeof *f->path_run);
    return f->paths_n - 1;
}

/* The item of the path without its first run, for the cycles that stand there; 0 when memory is out. */
static uint32_t rest_of(struct assay_flow *f, uint32_t path)
{
    uint32_t run[RUNS_MOST], n = f->paths[path].runs, rest;
    if (f->ways[path].rest)
        return f->ways[path].rest;
    if (n < 2)
        return f->ways[path].rest = WAY_SINGLE;
    memcpy(run, f->path_run + f->paths[path].first, n * sizeof *run); /* that table may move */
    rest = n == 2 ? run[1] : path_of(f, run + 1, n - 1, &(struct way){0});
    if (rest == UINT32_MAX)
        return 0;
    return f->ways[path].rest = n == 2 ? rest : 0x40000000u | rest;
}

void flow_memo_put(struct assay_flow *f, uint32_t path)
{
    const struct assay_flow_path *p = &f->paths[path];
    uint32_t at = p->first, end = p->first + p->runs, rest;
    if (f->cyc != f->cyc_told) {
        *f->out++ = f->path_run[at++];
        flow_put_cycles(f);
    } else if (f->take_paths) {
        *f->out++ = 0x40000000u | path;
        return;
    }
    if (f->take_paths && (rest = rest_of(f, path))) {
        *f->out = rest;
        f->out += rest != WAY_SINGLE;
        return;
    }
    memcpy(f->out, f->path_run + at, (end - at) * sizeof *f->out);
    f->out += end - at;
}

/* ---- learning */

static void insert(struct assay_flow *f, uint32_t link, uint32_t word, uint32_t path)
{
    const struct way *w = &f->ways[path];
    bool stack = w->pops || w->pushes || w->peak;
    uint32_t mix = w->pops ? memo_mix_on(word, w->pop[0]) : memo_mix(word);
    *memo_slot(f, link, mix) =
        (struct memo){.key = memo_key(link, word), .next = f->link, .path = path | (stack ? MEMO_STACK : 0)};
}

static void note_calls(struct steps *s, const struct node *node)
{
    for (uint32_t i = 0; i < node->pushes && s->pushes < STEP_PUSHES; i++)
        s->push[s->pushes++] = node->first_push + i;
    if (s->pushes > s->pops + s->peak)
        s->peak = s->pushes - s->pops;
}

static void note_return(struct steps *s, uint32_t site)
{
    if (s->pushes)
        s->pushes--;
    else if (s->pops++ < WAY_POPS)
        s->pop[s->pops - 1] = site;
}

/* One packet, walked a branch at a time. False: the general walk took over. */
static bool walk_steps(struct assay_flow *f, struct steps *s, unsigned byte)
{
    unsigned n = pt_tnt_count(byte), bits = byte >> 1;
    for (; n > 0; n--) {
        uint32_t link = f->link, top = f->stack[(f->stack_top - 1) % STACK];
        uint32_t next = walk_next(f, link, bits >> (n - 1) & 1);
        if (!next) {
            flow_follow(f, bits & ((1u << n) - 1), n);
            return false;
        }
        *f->out++ = s->run[s->runs++] = LINK_ID(link);
        if (f->cyc != f->cyc_told)
            flow_put_cycles(f);
        f->link = next;
        note_calls(s, &f->nodes[LINK_ID(link)]);
        if (LINK_KIND(link) >= LINK_RET)
            note_return(s, top);
    }
    return true;
}

/* The path of these steps; UINT32_MAX when they cannot be kept. */
static uint32_t learn_steps(struct assay_flow *f, uint32_t link, uint32_t word, const struct steps *s)
{
    if (s->pops > WAY_POPS || s->pushes > WAY_PUSHES || s->peak > PEAK_MOST || f->link == LINK_NONE)
        return UINT32_MAX;
    struct way w = {.pops = (uint8_t)s->pops, .pushes = (uint8_t)s->pushes, .peak = (uint8_t)s->peak};
    memcpy(w.pop, s->pop, sizeof w.pop);
    memcpy(w.push, s->push, sizeof w.push);
    w.first = s->run[0];
    uint32_t path = path_of(f, s->run, s->runs, &w);
    if (path != UINT32_MAX)
        insert(f, link, word, path);
    return path;
}

/* What two ways do to the return stack, one after the other. */
static bool join_ways(const struct way *a, const struct way *b, struct way *w)
{
    unsigned inside = a->pushes < b->pops ? a->pushes : b->pops; /* pushed by a, popped by b */
    unsigned pops = a->pops + b->pops - inside, pushes = a->pushes - inside + b->pushes;
    int peak = a->pushes - a->pops + b->peak;
    peak = peak > a->peak ? peak : a->peak;
    if (pops > WAY_POPS || pushes > WAY_PUSHES || peak > PEAK_MOST)
        return false;
    *w = (struct way){.pops = (uint8_t)pops, .pushes = (uint8_t)pushes, .peak = (uint8_t)peak};
    memcpy(w->pop, a->pop, a->pops * sizeof *w->pop);
    memcpy(w->pop + a->pops, b->pop + inside, (b->pops - inside) * sizeof *w->pop);
    memcpy(w->push, a->push, (a->pushes - inside) * sizeof *w->push);
    memcpy(w->push + (a->pushes - inside), b->push, b->pushes * sizeof *w->push);
    return true;
}

/* Two paths as one, the second time that they are met. */
static uint32_t join(struct assay_flow *f, uint32_t link, uint32_t word, uint32_t a, uint32_t b)
{
    uint32_t *seen = &f->memo_seen[(link + memo_mix(word)) & ((1u << MEMO_BITS) - 1)], tag = word + link * 977;
    struct way w;
    if (*seen != tag) {
        *seen = tag;
        return UINT32_MAX;
    }
    if (!join_ways(&f->ways[a], &f->ways[b], &w))
        return UINT32_MAX;
    w.first = f->ways[a].first;
    uint32_t path = path_of_two(f, a, b, &w);
    if (path != UINT32_MAX)
        insert(f, link, word, path);
    return path;
}

/* Takes the bytes of `word`; *path gets the path that was taken, UINT32_MAX when it is none. */
static unsigned take(struct assay_flow *f, uint32_t word, unsigned n, uint32_t *path)
{
    uint32_t link = f->link;
    const struct memo *m = memo_find(f, link, word);
    *path = UINT32_MAX;
    if (m) {
        *path = m->path & ~MEMO_STACK;
        f->link = m->next;
        flow_memo_put(f, *path);
        return n;
    }
    if (n == 1) {
        struct steps s;
        s.runs = s.pops = s.pushes = s.peak = 0;
        if (walk_steps(f, &s, word))
            *path = learn_steps(f, link, word, &s);
        return 1;
    }
    unsigned low = n > 2 ? 2 : 1, taken;
    uint32_t a, b = UINT32_MAX;
    f->misses++;
    taken = take(f, word & (low == 2 ? 0xffffu : 0xffu), low, &a);
    if (taken < low || f->state != ON || f->tnt_n || f->stop)
        return taken;
    f->at += low;
    taken += take(f, word >> 8 * low, n - low, &b);
    if (a != UINT32_MAX && b != UINT32_MAX)
        *path = join(f, link, word, a, b);
    return taken;
}

unsigned flow_memo_tnt(struct assay_flow *f, uint32_t word, unsigned n)
{
    uint32_t path;
    if (f->paths_n > PATHS_MAX - PATHS_ROOM || f->path_runs_n > PATH_RUNS_MAX - RUNS_ROOM) {
        flow_deliver(f); /* it names paths by what they are now */
        flow_memo_clear(f);
    }
    return take(f, word, n, &path);
}

void flow_memo_adapt(struct assay_flow *f)
{
    if (f->misses > ITEMS / 32 && f->window > 1) {
        f->window--;
        f->patience += f->patience < 64 ? f->patience : 0;
        f->waited = 0;
    } else if (f->misses < ITEMS / 128 && f->window < MEMO_BYTES && ++f->waited >= f->patience) {
        f->window++;
        f->waited = 0;
    }
    f->misses = 0;
}

/* ---- making and forgetting */

bool flow_memo_new(struct assay_flow *f)
{
    f->window = 2;
    f->patience = 2;
    f->memos = calloc(1u << MEMO_BITS, sizeof *f->memos);
    f->memo_seen = calloc(1u << MEMO_BITS, sizeof *f->memo_seen);
    return f->memos && f->memo_seen && new_path(f, 0, &(struct way){0}); /* path 0 stands for "none" */
}

void flow_memo_clear(struct assay_flow *f)
{
    memset(f->memos, 0, sizeof *f->memos << MEMO_BITS);
    f->paths_n = 1;
    f->path_runs_n = 0;
}

void flow_memo_free(struct assay_flow *f)
{
    free(f->memos);
    free(f->memo_seen);
    free(f->paths);
    free(f->ways);
    free(f->path_run);
}

/* ---- what callers see of it */

void assay_flow_take_paths(struct assay_flow *f) { f->take_paths = true; }

const struct assay_flow_path *assay_flow_path_at(const struct assay_flow *f, uint32_t index)
{
    return index < f->paths_n ? &f->paths[index] : NULL;
}

const uint32_t *assay_flow_path_runs(const struct assay_flow *f, const struct assay_flow_path *path)
{
    return f->path_run + path->first;
}
