/* SPDX-License-Identifier: MIT */
/* Events as a table for people: columns as wide as what is in them, descriptions wrapped at the terminal's width. */
#include "events_print.h"
#include "list.h"
#include "table.h"

#include <string.h>

/* Text of one column, measured before it is shown. */
struct cell {
    struct assay_out out;
    char text[160];
};

static struct assay_out *cell_begin(struct cell *l)
{
    assay_out_init(&l->out, l->text, sizeof l->text - 1, NULL, NULL);
    return &l->out;
}

static const char *cell_end(struct cell *l)
{
    l->text[l->out.len] = '\0';
    return l->text;
}

/* Widths of names, codes, and traits (counters, modifiers, flags); and the modifiers that go without saying. */
struct list_columns {
    size_t name, code, traits;
    uint32_t modifiers;
};

static void put(struct cli *c, const char *s) { assay_out_str(&c->out, s); }

static void put_cell(struct cli *c, const char *sgr, const char *text, size_t width)
{
    if (*sgr)
        cli_sgr(c, sgr);
    put(c, text);
    if (*sgr)
        cli_sgr(c, "0");
    assay_out_fill(&c->out, ' ', width + 2 - strlen(text));
}

static const char *event_code(struct cell *l, const struct events *e, const struct assay_event_row *event)
{
    struct assay_out *o = cell_begin(l);
    if (event->netburst != ASSAY_EVENT_NONE)
        events_put_hex0(o, e->table.netburst[event->netburst].event_select, 2);
    else
        events_put_hex0(o, event->config, 4);
    if (event->extra) { /* an event of a file, whole with its second register */
        assay_out_char(o, ' ');
        events_put_hex(o, event->extra);
    }
    return cell_end(l);
}

static const char *umask_code(struct cell *l, const struct assay_event_row *event, const struct assay_event_umask *u)
{
    struct assay_out *o = cell_begin(l);
    if (event->netburst == ASSAY_EVENT_NONE && event->flags & ASSAY_EVENT_OFFCORE) {
        events_put_hex0(o, u->value, 10);
    } else if (event->netburst == ASSAY_EVENT_NONE) {
        events_put_hex0(o, list_umask_code(event, u), 4);
    } else if (u->flags & ASSAY_EVENT_VIRTUAL) {
        assay_out_str(o, "metric");
    } else {
        assay_out_str(o, u->flags & ASSAY_EVENT_TAG ? "tag " : "bit ");
        assay_out_dec(o, u->value);
    }
    return cell_end(l);
}

/* Blanks between two parts of a cell, when the first is not empty; the later one begins in column `from` or behind. */
static void put_gap(struct assay_out *o, size_t from)
{
    if (o->len)
        assay_out_fill(o, ' ', o->len + 2 < from ? from - o->len : 2);
}

static const char *event_traits(struct cell *l, const struct assay_event_row *event, uint32_t usual)
{
    struct assay_out *o = cell_begin(l);
    events_put_counters(o, event->counters);
    put_gap(o, 8);
    if (event->modifiers != usual) {
        events_put_modifiers(o, event->modifiers);
        put_gap(o, 0);
    }
    list_put_flags(o, event->flags, ", ");
    while (o->len && o->buf[o->len - 1] == ' ')
        o->len--;
    return cell_end(l);
}

static const char *umask_traits(struct cell *l, const struct assay_event_umask *u)
{
    struct assay_out *o = cell_begin(l);
    list_put_flags(o, u->flags, ", ");
    if (u->counters) {
        assay_out_str(o, o->len ? ", counters " : "counters ");
        events_put_counters(o, u->counters);
    }
    return cell_end(l);
}

static void widen(size_t *width, const char *text, size_t indent)
{
    size_t n = strlen(text) + indent;
    *width = n > *width ? n : *width;
}

static void measure_event(const struct events *e, const struct assay_event_row *event, struct list_columns *w)
{
    struct cell l;
    widen(&w->name, assay_event_str(&e->table, event->name), 0);
    widen(&w->code, event_code(&l, e, event), 0);
    widen(&w->traits, event_traits(&l, event, w->modifiers), 0);
}

static void measure_umasks(const struct events *e, const struct assay_event_row *event, struct list_columns *w)
{
    struct cell l;
    for (uint32_t i = 0; i < event->umasks; i++) {
        const struct assay_event_umask *u = &e->table.umasks[event->first_umask + i];
        widen(&w->name, assay_event_str(&e->table, u->name), 2);
        widen(&w->code, umask_code(&l, event, u), 0);
        widen(&w->traits, umask_traits(&l, u), 0);
    }
}

static void put_what(struct cli *c, const char *text, const struct list_columns *w)
{
    table_wrapped(c, text, w->name + w->code + w->traits + 6);
    put(c, "\n");
}

static void put_event(struct cli *c, const struct events *e, const struct assay_event_row *event,
                      const struct list_columns *w)
{
    struct cell l;
    put_cell(c, "1;" EVENTS_NAME, assay_event_str(&e->table, event->name), w->name);
    put_cell(c, EVENTS_VALUE, event_code(&l, e, event), w->code);
    put_cell(c, "", event_traits(&l, event, w->modifiers), w->traits);
    put(c, event->alias == ASSAY_EVENT_NONE ? "" : "another name of ");
    put_what(c, assay_event_str(&e->table, event->alias == ASSAY_EVENT_NONE ? event->desc : event->equiv), w);
}

static void put_umask(struct cli *c, const struct events *e, const struct assay_event_row *event,
                      const struct assay_event_umask *u, const struct list_columns *w)
{
    struct cell l;
    put(c, "  ");
    put_cell(c, EVENTS_NAME, assay_event_str(&e->table, u->name), w->name - 2);
    put_cell(c, EVENTS_VALUE, umask_code(&l, event, u), w->code);
    put_cell(c, "", umask_traits(&l, u), w->traits);
    if (u->alias != ASSAY_EVENT_NONE) {
        put(c, "another name of ");
        put(c, events_umask_name(e, u->alias));
        put(c, "\n");
    } else {
        put_what(c, assay_event_str(&e->table, u->desc), w);
    }
}

/* Umasks of one group, under its title if it has one. */
static void put_group(struct cli *c, const struct events *e, const struct assay_event_row *event, unsigned group,
                      const struct list_columns *w)
{
    const char *title = events_group_title(event, group);
    for (uint32_t i = 0; i < event->umasks; i++) {
        const struct assay_event_umask *u = &e->table.umasks[event->first_umask + i];
        if (u->group != group)
            continue;
        if (title) {
            put(c, " ");
            put(c, title);
            put(c, "\n");
        }
        title = NULL;
        put_umask(c, e, event, u, w);
    }
}

static void put_umasks(struct cli *c, const struct events *e, const struct assay_event_row *event,
                       const struct list_columns *w)
{
    unsigned last = 0;
    for (uint32_t i = 0; i < event->umasks; i++)
        if (e->table.umasks[event->first_umask + i].group > last)
            last = e->table.umasks[event->first_umask + i].group;
    for (unsigned group = 0; group <= last; group++)
        put_group(c, e, event, group, w);
}

void list_umasks(struct cli *c, const struct events *e, const struct assay_event_row *event)
{
    struct list_columns w = {0};
    measure_umasks(e, event, &w);
    put_umasks(c, e, event, &w);
}

/* "2 general counters, 3 fixed; processors 6/133; 33 events" and what is to be known of the PMU. */
static void put_head(struct cli *c, const struct events *e, uint32_t pmu)
{
    const struct assay_event_pmu *p = &e->table.pmus[pmu];
    cli_sgr(c, "1");
    put(c, events_pmu_name(e, pmu));
    cli_sgr(c, "0");
    put(c, ": ");
    put(c, assay_event_str(&e->table, p->desc));
    put(c, "\n");
    if (p->scheme != ASSAY_EVENT_SOFTWARE) {
        assay_out_dec(&c->out, p->generic);
        put(c, p->generic == 1 ? " general counter, " : " general counters, ");
        assay_out_dec(&c->out, p->fixed);
        put(c, " fixed");
        for (uint32_t i = 0; i < p->models; i++) {
            put(c, i ? " " : "; processors ");
            list_put_model(&c->out, e->table.models[p->first_model + i]);
        }
        put(c, "\n");
    }
    if (p->counters_note) {
        table_wrapped(c, assay_event_str(&e->table, p->counters_note), 0);
        put(c, "\n");
    }
}

/* The modifiers that most events have. */
static uint32_t usual_modifiers(const struct events *e, const struct assay_event_pmu *p)
{
    uint32_t best = 0, most = 0;
    for (uint32_t i = 0; i < p->events; i++) {
        uint32_t modifiers = e->table.events[p->first_event + i].modifiers, n = 0;
        if (modifiers == best)
            continue;
        for (uint32_t k = i; k < p->events; k++)
            n += e->table.events[p->first_event + k].modifiers == modifiers;
        if (n > most) {
            most = n;
            best = modifiers;
        }
    }
    return best;
}

static const char *code_title(const struct assay_event_pmu *p)
{
    return p->scheme == ASSAY_EVENT_NETBURST ? "select" : "code";
}

void list_events(struct cli *c, const struct events *e, const struct list_rows *r)
{
    const struct assay_event_pmu *p = &e->table.pmus[r->pmu];
    struct list_columns w = {strlen("event, its umasks"), 6, 8, usual_modifiers(e, p)};
    for (uint32_t i = 0; i < p->events; i++)
        if (!r->shown || r->shown[i]) {
            measure_event(e, &e->table.events[p->first_event + i], &w);
            measure_umasks(e, &e->table.events[p->first_event + i], &w);
        }
    put_head(c, e, r->pmu);
    put(c, "modifiers ");
    events_put_modifiers(&c->out, w.modifiers);
    put(c, ", where no others are shown\n");
    put(c, "\n");
    put_cell(c, "1", "event, its umasks", w.name);
    put_cell(c, "1", code_title(p), w.code);
    put_cell(c, "1", p->scheme == ASSAY_EVENT_SOFTWARE ? "" : "counters", w.traits);
    cli_sgr(c, "1");
    put(c, "what it counts");
    cli_sgr(c, "0");
    put(c, "\n");
    for (uint32_t i = 0; i < p->events; i++) {
        const struct assay_event_row *event = &e->table.events[p->first_event + i];
        if (r->shown && !r->shown[i])
            continue;
        put_event(c, e, event, &w);
        put_umasks(c, e, event, &w);
    }
}
