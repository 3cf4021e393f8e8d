/* SPDX-License-Identifier: MIT */
/* Register values back to events: each event of a PMU is asked whether it can have the value, and under which names. */
#include "event/compose.h"
#include "event/cover.h"

#define IGNORED                                                                                                        \
    (UINT64_C(0x2f00080000)) /* PC, IN_TX, IN_TXCP, ADAPTIVE, BR_CNTR, RDPMC_USER_DISABLE: no part of an event */
#define PRIVILEGE (UINT64_C(0x530000)) /* u, k, INT, EN */

enum scope { BY_CODE, BY_MSR, BY_ESCR, BY_FIXED };
enum kind { NAMED, RAW, RAW_ON_TOP, KINDS }; /* the last: over umask bits that the event has by itself */

struct query {
    const struct assay_event_table *t;
    uint32_t pmu;
    uint64_t code[4];
    unsigned n;
    enum scope scope; /* what the register is that the value came from: only events that use it */
    uint32_t number;
    bool perf; /* codes are perf's config */
    bool loose; /* also what encoding would refuse: nothing else has the value */
};

/* An answer and its place among the answers; lower is better. */
struct answer {
    struct assay_event_code code;
    uint64_t key;
};

static uint64_t field(uint64_t v, unsigned lsb, unsigned width) { return v >> lsb & ((UINT64_C(1) << width) - 1); }

static void set_privilege(struct assay_event_code *c, bool u, bool k)
{
    c->modifier[ASSAY_EVENT_MOD_U] = u;
    c->modifier[ASSAY_EVENT_MOD_K] = k;
    if (!u || !k)
        c->named |= 1u << ASSAY_EVENT_MOD_U | 1u << ASSAY_EVENT_MOD_K;
}

static void core_fields(uint64_t v, uint64_t *value)
{
    value[ASSAY_EVENT_MOD_E] = field(v, 18, 1);
    value[ASSAY_EVENT_MOD_T] = field(v, 21, 1);
    value[ASSAY_EVENT_MOD_I] = field(v, 23, 1);
    value[ASSAY_EVENT_MOD_C] = field(v, 24, 8);
}

/* The value's bits that a raw umask would be, or that names have to make up. */
static bool core_goal(const struct query *q, const struct assay_event_row *e, uint64_t v, struct event_goal *g)
{
    const uint64_t own = UINT64_C(0xffffffd0000000ff); /* what no umask and no modifier changes */
    uint64_t umask = field(v, 8, 8), fixed = field(e->config, 8, 8);
    if ((v ^ e->config) & own)
        return false;
    if (e->flags & ASSAY_EVENT_OFFCORE) {
        g->bits = q->n > 1 ? q->code[1] & ~e->extra : 0;
        if (umask != fixed || (q->n > 1 && e->extra & ~q->code[1]))
            return false;
    } else {
        g->bits = umask & ~fixed;
        if (q->n > 1 && q->code[1] != e->extra)
            return false;
    }
    core_fields(v, g->value);
    core_fields(e->config, g->base);
    return true;
}

/* All names, or a raw umask; only the modifiers where the second register is not known. */
static bool find_names(const struct query *q, const struct event_goal *g, enum kind kind, struct assay_event_code *c,
                       unsigned *written)
{
    const struct assay_event_row *e = &q->t->events[c->event];
    if (e->flags & ASSAY_EVENT_OFFCORE && q->n < 2)
        return kind == NAMED && assay_event_cover_modifiers(q->t, g, c, written);
    if (kind == NAMED)
        return assay_event_cover(q->t, g, c, written);
    bool on_top = !(e->flags & ASSAY_EVENT_OFFCORE) && field(e->config, 8, 8);
    if (q->t->pmus[q->pmu].flat || e->raw_bits == 0 || (e->raw_bits < 64 && g->bits >> e->raw_bits) ||
        on_top != (kind == RAW_ON_TOP))
        return false;
    c->raw = true;
    c->raw_umask = g->bits;
    return assay_event_cover_modifiers(q->t, g, c, written);
}

/* Puts the other code and register of an offcore event into c. */
static void use_alternative(const struct assay_event_row *e, struct assay_event_code *c)
{
    c->code[0] = (c->code[0] & ~UINT64_C(0xffff)) | e->config_alt;
    c->extra_msr = e->extra_msr_alt;
}

/* Edge and inversion without a counter mask are for events and umasks that have them by themselves. */
static bool is_refused(const struct query *q, const struct assay_event_code *c)
{
    uint64_t config = q->t->events[c->event].config;
    bool edge = c->modifier[ASSAY_EVENT_MOD_E] && !(config & EVENT_EDGE);
    bool invert = c->modifier[ASSAY_EVENT_MOD_I] && !(config & EVENT_INV);
    for (uint32_t i = 0; i < c->umasks; i++) {
        uint32_t fixed = q->t->umasks[c->umask[i]].fixed_modifiers;
        edge &= !(fixed >> ASSAY_EVENT_MOD_E & 1);
        invert &= !(fixed >> ASSAY_EVENT_MOD_I & 1);
    }
    return (edge || invert) && !c->modifier[ASSAY_EVENT_MOD_C];
}

static bool answer_core(const struct query *q, enum kind kind, struct assay_event_code *c, unsigned *written)
{
    const struct assay_event_row *e = &q->t->events[c->event];
    struct event_goal g = {0};
    uint64_t v = q->code[0];
    bool alt = q->t->pmus[q->pmu].flat && e->config_alt && (v & 0xffff) == e->config_alt;
    if (alt)
        v = (v & ~UINT64_C(0xffff)) | (e->config & 0xffff);
    if (!core_goal(q, e, v, &g))
        return false;
    set_privilege(c, q->perf || v & EVENT_USR, q->perf || v & EVENT_OS);
    if (!find_names(q, &g, kind, c, written) || (!q->loose && is_refused(q, c)))
        return false;
    assay_event_compose(q->t, c);
    bool whole = q->n > 1 || !(e->flags & ASSAY_EVENT_OFFCORE);
    if (!whole)
        c->codes = 1;
    uint64_t rings = q->perf ? EVENT_USR | EVENT_OS : v & (EVENT_USR | EVENT_OS);
    bool same = c->code[0] == ((v & ~(IGNORED | PRIVILEGE)) | rings | EVENT_INT | EVENT_EN);
    if (alt)
        use_alternative(e, c);
    return same && (q->n < 2 || c->code[1] == q->code[1]);
}

/* The replay metric that perf's config or MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT tell of, as a bit of the goal. */
static bool metric_bits(const struct query *q, uint32_t event, uint64_t *bits)
{
    const uint64_t flags = UINT64_C(0x3000000);
    unsigned number = q->perf ? (unsigned)field(q->code[1], 0, 6) : 0;
    *bits = number && number < 31 ? UINT64_C(1) << (32 + number + 1) : 0;
    if (q->perf || q->n < 4)
        return !number || *bits;
    for (uint32_t i = 0; i < q->t->metric_count; i++) {
        const struct assay_event_metric *m = &q->t->metrics[i];
        if (m->event == event && m->umask != ASSAY_EVENT_NONE && (q->code[2] & ~flags) == (m->pebs_enable & ~flags) &&
            q->code[3] == m->matrix_vert) {
            *bits = assay_event_umask_bits(q->t, q->pmu, m->umask);
            return true;
        }
    }
    return true;
}

static bool netburst_goal(const struct query *q, uint32_t event, struct event_goal *g)
{
    const struct assay_event_row *e = &q->t->events[event];
    const struct assay_event_netburst *where = &q->t->netburst[e->netburst];
    uint64_t escr = q->code[0], cccr = q->code[1], tag = field(escr, ESCR_TAG_AT, 4), metric;
    unsigned select = q->perf ? where->perf_event : where->event_select;
    if (field(escr, ESCR_SELECT_AT, 6) != select || field(cccr, CCCR_SELECT_AT, 3) != where->escr_select ||
        !!(escr & ESCR_TAG_ENABLE) != !!tag || !metric_bits(q, event, &metric))
        return false;
    g->bits = field(escr, ESCR_MASK_AT, 16) | tag << 16 | metric;
    g->value[ASSAY_EVENT_MOD_E] = field(cccr, 24, 1);
    g->value[ASSAY_EVENT_MOD_CMPL] = field(cccr, 19, 1);
    g->value[ASSAY_EVENT_MOD_THR] = field(cccr, CCCR_THRESHOLD_AT, 4);
    return true;
}

static bool answer_netburst(const struct query *q, enum kind kind, struct assay_event_code *c, unsigned *written)
{
    struct event_goal g = {0};
    uint64_t rings = field(q->code[0], 0, 4);
    if (kind != NAMED || !netburst_goal(q, c->event, &g))
        return false;
    bool every = q->perf && !rings; /* perf keeps them elsewhere */
    set_privilege(c, every || rings & 5, every || rings & 10);
    if (!assay_event_cover(q->t, &g, c, written))
        return false;
    assay_event_compose(q->t, c);
    return (q->code[1] & CCCR_COMPARE) == (c->code[1] & CCCR_COMPARE);
}

static bool answer_software(const struct query *q, enum kind kind, struct assay_event_code *c, unsigned *written)
{
    const struct assay_event_row *e = &q->t->events[c->event];
    if (kind != NAMED || e->config & ~q->code[0] || (q->n > 1 && q->code[1] != e->perf_type))
        return false;
    struct event_goal g = {.bits = q->code[0] & ~e->config};
    set_privilege(c, true, true);
    return assay_event_cover(q->t, &g, c, written) && (assay_event_compose(q->t, c), c->code[0] == q->code[0]);
}

/* An alias of a umask is one for that umask alone; it has no names but its own. */
static bool wear_alias(const struct query *q, uint32_t event, struct assay_event_code *c)
{
    uint32_t umask = q->t->events[event].alias_umask;
    c->event = event;
    if (umask == ASSAY_EVENT_NONE)
        return true;
    bool it = c->umasks == 1 && c->umask[0] == umask;
    c->umasks = 0;
    return it;
}

static bool uses_register(const struct query *q, const struct assay_event_row *e)
{
    switch (q->scope) {
    case BY_MSR:
        return e->extra_msr == q->number || (e->extra_msr_alt == q->number && q->t->pmus[q->pmu].flat);
    case BY_ESCR:
        return q->t->netburst[e->netburst].escr_msr[0] == q->number ||
               q->t->netburst[e->netburst].escr_msr[1] == q->number;
    case BY_FIXED:
        return e->counters >> (32 + q->number) & 1;
    default:
        return true;
    }
}

/* The codes that go with the register's value if it is this event. */
static void assume(struct query *q, const struct assay_event_row *e)
{
    if (q->scope == BY_MSR)
        q->code[0] = e->config;
    else if (q->scope == BY_ESCR)
        q->code[1] = (uint64_t)q->t->netburst[e->netburst].escr_select << CCCR_SELECT_AT;
    else if (q->scope == BY_FIXED)
        q->code[0] |= e->config;
}

static uint64_t place(const struct query *q, uint32_t event, const struct assay_event_code *c, unsigned written)
{
    const struct assay_event_row *e = &q->t->events[event];
    uint64_t last =
        (e->alias != ASSAY_EVENT_NONE) * 4u + !!(e->flags & ASSAY_EVENT_DEPRECATED) * 2u + !(c->counters >> 32);
    uint64_t names = c->umasks + written + (c->raw && e->umasks == 0);
    return last << 48 | names << 32 | event;
}

static bool answer(const struct query *asked, enum kind kind, uint32_t event, struct answer *a)
{
    const struct assay_event_row *e = &asked->t->events[event];
    struct query q = *asked;
    unsigned written = 0;
    bool alias = e->alias != ASSAY_EVENT_NONE;
    if (!uses_register(&q, e) || (alias && kind != NAMED))
        return false;
    assume(&q, e);
    a->code = (struct assay_event_code){.pmu = q.pmu, .event = alias ? e->alias : event};
    a->code.modifier[ASSAY_EVENT_MOD_MH] = 1;
    uint8_t scheme = q.t->pmus[q.pmu].scheme;
    bool is = scheme == ASSAY_EVENT_CORE       ? answer_core(&q, kind, &a->code, &written)
              : scheme == ASSAY_EVENT_NETBURST ? answer_netburst(&q, kind, &a->code, &written)
                                               : answer_software(&q, kind, &a->code, &written);
    if (!is || (alias && !wear_alias(&q, event, &a->code)))
        return false;
    a->key = place(&q, event, &a->code, written);
    return true;
}

/* The best answer behind `after`. */
static bool next_answer(const struct query *q, enum kind kind, uint64_t after, struct answer *best)
{
    const struct assay_event_pmu *p = &q->t->pmus[q->pmu];
    struct answer a;
    best->key = UINT64_MAX;
    for (uint32_t e = p->first_event; e < p->first_event + p->events; e++)
        if (answer(q, kind, e, &a) && a.key + 1 > after && a.key < best->key)
            *best = a;
    return best->key != UINT64_MAX;
}

static int tell_kinds(const struct query *q, bool (*found)(void *, const struct assay_event_code *), void *ctx)
{
    int calls = 0;
    for (enum kind kind = NAMED; kind < KINDS && calls == 0; kind++) {
        struct answer best = {.key = 0};
        for (uint64_t after = 0; next_answer(q, kind, after, &best); after = best.key + 1) {
            calls++;
            if (!found(ctx, &best.code))
                return calls;
        }
    }
    return calls;
}

static int tell(struct query *q, bool (*found)(void *, const struct assay_event_code *), void *ctx)
{
    q->loose = false;
    int calls = tell_kinds(q, found, ctx);
    q->loose = true;
    return calls ? calls : tell_kinds(q, found, ctx);
}

int assay_event_explain(const struct assay_event_table *t, uint32_t pmu, const uint64_t *codes, unsigned n,
                        bool (*found)(void *ctx, const struct assay_event_code *c), void *ctx)
{
    struct query q = {.t = t, .pmu = pmu, .n = n < 4 ? n : 4};
    for (unsigned i = 0; i < q.n; i++)
        q.code[i] = codes[i];
    if (n == 0)
        return 0;
    if (t->pmus[pmu].scheme == ASSAY_EVENT_CORE) {
        q.perf = !(codes[0] & PRIVILEGE);
    } else if (t->pmus[pmu].scheme == ASSAY_EVENT_NETBURST && n == 1) {
        q.perf = true;
        q.code[0] = codes[0] >> 32;
        q.code[1] = codes[0] & UINT32_MAX;
    }
    return tell(&q, found, ctx);
}

/* One nibble for each fixed counter: os, usr, any, pmi. */
static int explain_fixed(struct query *q, uint64_t value, bool (*found)(void *, const struct assay_event_code *),
                         void *ctx)
{
    int calls = 0;
    for (q->number = 0; q->number < 4; q->number++) {
        uint64_t own = value >> 4 * q->number;
        q->code[0] = (own & 1 ? EVENT_OS : 0) | (own & 2 ? EVENT_USR : 0) | (own & 4 ? EVENT_ANY : 0);
        q->n = 1;
        if (own & 3)
            calls += tell(q, found, ctx);
    }
    return calls;
}

int assay_event_explain_register(const struct assay_event_table *t, uint32_t pmu, const struct assay_event_msr *r,
                                 uint64_t value, bool (*found)(void *ctx, const struct assay_event_code *c), void *ctx)
{
    struct query q = {.t = t, .pmu = pmu, .n = 2, .number = r->number};
    if (!(r->schemes >> t->pmus[pmu].scheme & 1))
        return 0;
    switch (r->layout) {
    case ASSAY_EVENT_REG_PERFEVTSEL:
        return assay_event_explain(t, pmu, &value, 1, found, ctx);
    case ASSAY_EVENT_REG_OFFCORE_RSP:
    case ASSAY_EVENT_REG_LD_LAT:
    case ASSAY_EVENT_REG_FRONTEND:
        q.scope = BY_MSR;
        q.code[1] = value;
        q.perf = true;
        return tell(&q, found, ctx);
    case ASSAY_EVENT_REG_ESCR:
        q.scope = BY_ESCR;
        q.code[0] = value;
        return tell(&q, found, ctx);
    case ASSAY_EVENT_REG_FIXED_CTR_CTRL:
        q.scope = BY_FIXED;
        return explain_fixed(&q, value, found, ctx);
    default:
        return 0;
    }
}
