/* SPDX-License-Identifier: MIT */
/* assay list --search: the best hits over all tables. */
#include "events_print.h"
#include "list.h"
#include "table.h"

#include <string.h>

struct best {
    const struct events *e;
    struct list_hit *hit;
    size_t n, room;
};

/* One event of two PMUs (Knights Mill and Landing) is one hit. */
static bool is_same(const struct events *e, const struct list_hit *a, const struct list_hit *b)
{
    const struct assay_event_row *x = &e->table.events[a->event], *y = &e->table.events[b->event];
    if (a->score != b->score || x->config != y->config ||
        strcmp(events_event_name(e, a->event), events_event_name(e, b->event)))
        return false;
    if (a->umask == ASSAY_EVENT_NONE || b->umask == ASSAY_EVENT_NONE)
        return a->umask == b->umask;
    return strcmp(events_umask_name(e, a->umask), events_umask_name(e, b->umask)) == 0;
}

/* Puts a hit into its place by score; of equals the one that came first stands first. */
static void keep(struct best *b, const struct list_hit *hit)
{
    size_t at = b->n;
    for (size_t i = 0; i < b->n; i++)
        if (is_same(b->e, &b->hit[i], hit)) {
            b->hit[i].pmus |= hit->pmus;
            return;
        }
    if (at == b->room && (b->room == 0 || b->hit[at - 1].score >= hit->score))
        return;
    at -= at == b->room;
    for (; at > 0 && b->hit[at - 1].score < hit->score; at--)
        b->hit[at] = b->hit[at - 1];
    b->hit[at] = *hit;
    b->n += b->n < b->room;
}

static void try_row(struct best *b, uint32_t pmu, uint32_t event, uint32_t umask, const char *query)
{
    struct list_hit hit = {.pmu = pmu, .event = event, .umask = umask, .pmus = pmu < 64 ? UINT64_C(1) << pmu : 0};
    hit.score = assay_event_match(&b->e->table, event, umask, query);
    if (hit.score)
        keep(b, &hit);
}

size_t list_search(const struct events *e, uint32_t pmu, const char *query, struct list_hit *hit, size_t room)
{
    struct best b = {e, hit, 0, room};
    for (uint32_t p = 0; p < e->table.pmu_count; p++) {
        if (pmu != ASSAY_EVENT_NONE && p != pmu)
            continue;
        for (uint32_t i = e->table.pmus[p].first_event, end = i + e->table.pmus[p].events; i < end; i++) {
            const struct assay_event_row *row = &e->table.events[i];
            try_row(&b, p, i, ASSAY_EVENT_NONE, query);
            for (uint32_t u = 0; u < row->umasks; u++)
                try_row(&b, p, i, row->first_umask + u, query);
        }
    }
    return b.n;
}

static void put_name(struct assay_out *o, const struct events *e, const struct list_hit *h)
{
    assay_out_str(o, events_pmu_name(e, h->pmu));
    assay_out_str(o, "::");
    assay_out_str(o, events_event_name(e, h->event));
    if (h->umask != ASSAY_EVENT_NONE) {
        assay_out_char(o, ':');
        assay_out_str(o, events_umask_name(e, h->umask));
    }
}

static void put_codes(struct assay_out *o, const struct events *e, const struct list_hit *h)
{
    uint64_t code[2];
    unsigned n = list_codes(e, h, code);
    events_put_hex0(o, code[0], 4);
    if (n > 1) {
        assay_out_char(o, ' ');
        events_put_hex0(o, code[1], 10);
    }
}

/* What it counts, and which other PMUs have it. */
static void put_what(struct assay_out *o, const struct events *e, const struct list_hit *h)
{
    const char *before = " (also ";
    assay_out_str(o, assay_event_str(&e->table, h->umask == ASSAY_EVENT_NONE ? e->table.events[h->event].desc
                                                                             : e->table.umasks[h->umask].desc));
    for (uint32_t p = 0; p < e->table.pmu_count && p < 64; p++)
        if (h->pmus >> p & 1 && p != h->pmu) {
            assay_out_str(o, before);
            assay_out_str(o, events_pmu_name(e, p));
            before = ", ";
        }
    assay_out_str(o, before[0] == ',' ? ")" : "");
}

enum { COLUMNS = 3 };
static void (*const column[COLUMNS])(struct assay_out *, const struct events *,
                                     const struct list_hit *) = {put_name, put_codes, put_what};

/* Text of a column, terminated, in buf. */
static const char *cell(char *buf, size_t size, unsigned i, const struct events *e, const struct list_hit *h)
{
    struct assay_out o;
    assay_out_init(&o, buf, size - 1, NULL, NULL);
    column[i](&o, e, h);
    buf[o.len] = '\0';
    return buf;
}

void list_hits(struct cli *c, const struct events *e, const struct list_hit *hit, size_t n)
{
    static const char *const sgr[COLUMNS] = {EVENTS_NAME, EVENTS_VALUE};
    size_t width[COLUMNS] = {0};
    char buf[1024];
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k + 1 < COLUMNS; k++) {
            size_t w = strlen(cell(buf, sizeof buf, k, e, &hit[i])) + 2;
            width[k] = w > width[k] ? w : width[k];
        }
    for (size_t i = 0; i < n; i++) {
        for (unsigned k = 0; k + 1 < COLUMNS; k++) {
            cli_sgr(c, sgr[k]);
            assay_out_left(&c->out, cell(buf, sizeof buf, k, e, &hit[i]), width[k]);
            cli_sgr(c, "0");
        }
        table_wrapped(c, cell(buf, sizeof buf, COLUMNS - 1, e, &hit[i]), width[0] + width[1]);
        assay_out_char(&c->out, '\n');
    }
}
