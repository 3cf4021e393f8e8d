/* SPDX-License-Identifier: MIT */
/* An event string: PMU, event, and the rest cut into attributes at : and . */
#include <assay/base.h>

#include <string.h>

#include "event/encode.h"

enum { LONGEST_FLAT = 160 };

const uint8_t assay_event_stop[256] = {[':'] = EVENT_DELIMITER, ['.'] = EVENT_DELIMITER, ['='] = EVENT_EQUALS};

static bool is_hidden(const struct event_request *r, uint32_t event)
{
    return event == ASSAY_EVENT_NONE || (event_is_libpfm4(r) && (r->t->events[event].flags & ASSAY_EVENT_EXTRA));
}

/* The names of a flat PMU hold dots: the longest piece of the text up to a delimiter that is a name. */
static uint32_t find_flat(const struct event_request *r, uint32_t pmu, size_t at, size_t *end)
{
    char name[LONGEST_FLAT];
    uint32_t found = ASSAY_EVENT_NONE;
    size_t n = 0;
    for (size_t i = at; i <= r->size && n < LONGEST_FLAT; i++) {
        bool delimiter = i == r->size || assay_event_stop[(unsigned char)r->text[i]] == EVENT_DELIMITER;
        uint32_t event = delimiter ? assay_event_find(r->t, pmu, name, n) : ASSAY_EVENT_NONE;
        if (!is_hidden(r, event)) {
            found = event;
            *end = i;
        }
        if (i < r->size)
            name[n++] = delimiter ? '.' : r->text[i];
    }
    return found;
}

static uint32_t find_event(const struct event_request *r, uint32_t pmu, size_t at, size_t *end)
{
    if (r->t->pmus[pmu].flat)
        return find_flat(r, pmu, at, end);
    *end = event_name_end(r->text, at, r->size);
    uint32_t event = assay_event_find(r->t, pmu, r->text + at, *end - at);
    return is_hidden(r, event) || (*end < r->size && r->text[*end] == '=') ? ASSAY_EVENT_NONE : event;
}

void assay_event_begin(struct event_request *r, uint32_t pmu, uint32_t event, size_t at, size_t end)
{
    const struct assay_event_row *named = &r->t->events[event];
    if (named->alias != ASSAY_EVENT_NONE)
        event = named->alias;
    r->pmu = &r->t->pmus[pmu];
    r->event = &r->t->events[event];
    r->event_at = at;
    r->event_end = end;
    r->twice_at = SIZE_MAX;
    r->umask_tokens = r->modifier_tokens = 0;
    r->umasks = 0;
    r->fixed = 0;
    r->allowed = assay_event_allowed(r);
    r->c->pmu = pmu;
    r->c->event = event;
    r->c->raw = false;
    r->c->raw_umask = 0;
    r->c->named = 0;
    memset(r->c->modifier, 0, sizeof r->c->modifier);
    if (named->alias_umask != ASSAY_EVENT_NONE)
        assay_event_take_umask(r, named->alias_umask - r->event->first_umask, at);
    r->preset = r->umasks;
}

int assay_event_attributes(struct event_request *r, size_t at)
{
    int status = ASSAY_OK;
    while (at < r->size && status == ASSAY_OK) {
        size_t end = event_name_end(r->text, ++at, r->size);
        status = end == at ? assay_event_fail(r, ASSAY_EVENT_EMPTY, at) : assay_event_attribute(r, at, &end);
        at = end;
    }
    return status;
}

int assay_event_finish(struct event_request *r)
{
    int status = assay_event_select_umasks(r);
    if (status == ASSAY_OK)
        status = assay_event_judge_modifiers(r);
    if (status == ASSAY_OK)
        status = assay_event_judge_registers(r);
    if (status == ASSAY_OK)
        status = assay_event_judge_kernel(r);
    if (status == ASSAY_OK)
        assay_event_compose(r->t, r->c);
    return status;
}

static int fail_no_event(struct event_request *r, uint32_t pmu, size_t at)
{
    int status = assay_event_fail(r, ASSAY_EVENT_NO_EVENT, at);
    size_t end = at;
    while (end < r->size && r->text[end] != ':')
        end++;
    if (r->t->pmus[pmu].flat)
        r->e->size = (uint32_t)(end - at);
    r->e->pmu = pmu;
    r->e->event = ASSAY_EVENT_NONE;
    return status;
}

static int encode_in(struct event_request *r, uint32_t pmu, size_t at)
{
    size_t end;
    uint32_t event = find_event(r, pmu, at, &end);
    if (event == ASSAY_EVENT_NONE)
        return fail_no_event(r, pmu, at);
    assay_event_begin(r, pmu, event, at, end);
    int status = assay_event_attributes(r, end);
    return status == ASSAY_OK ? assay_event_finish(r) : status;
}

static bool is_same(const struct assay_event_table *t, const struct assay_event_code *a,
                    const struct assay_event_code *b)
{
    return t->pmus[a->pmu].scheme == t->pmus[b->pmu].scheme &&
           t->events[a->event].perf_type == t->events[b->event].perf_type && a->codes == b->codes &&
           a->code[0] == b->code[0] && (a->codes < 2 || (a->code[1] == b->code[1] && a->extra_msr == b->extra_msr));
}

static int fail_ambiguous(struct event_request *r, const struct assay_event_code *a, const struct assay_event_code *b,
                          size_t at)
{
    int status = assay_event_fail(r, ASSAY_EVENT_AMBIGUOUS, at);
    r->e->pmu = a->pmu;
    r->e->event = a->event;
    r->e->value = b->pmu;
    return status;
}

/* No PMU is named: the first in which the whole string makes sense, unless it means something else in a later one. */
static int encode_anywhere(struct event_request *r, size_t at)
{
    struct assay_event_code other, *first = r->c;
    struct assay_event_error why;
    int status = ASSAY_E_NOT_FOUND, failed = ASSAY_OK;
    size_t end;
    for (uint32_t pmu = 0; pmu < r->t->pmu_count; pmu++) {
        if (find_event(r, pmu, at, &end) == ASSAY_EVENT_NONE)
            continue;
        r->c = status == ASSAY_OK ? &other : first;
        int now = encode_in(r, pmu, at);
        if (now == ASSAY_OK && status == ASSAY_OK && !is_same(r->t, first, &other))
            return fail_ambiguous(r, first, &other, at);
        if (now == ASSAY_OK)
            status = ASSAY_OK;
        else if (failed == ASSAY_OK) {
            failed = now;
            why = *r->e;
        }
    }
    if (status == ASSAY_OK)
        return status;
    if (failed == ASSAY_OK)
        return assay_event_fail(r, ASSAY_EVENT_NO_EVENT, at);
    *r->e = why;
    return failed;
}

static int encode_text(struct event_request *r, uint32_t pmu)
{
    size_t end = event_name_end(r->text, 0, r->size), at = 0;
    if (r->size - end >= 2 && r->text[end] == ':' && r->text[end + 1] == ':') {
        pmu = assay_event_find_pmu(r->t, r->text, end);
        if (pmu == ASSAY_EVENT_NONE)
            return assay_event_fail(r, ASSAY_EVENT_NO_PMU, 0);
        at = end + 2;
    }
    return pmu == ASSAY_EVENT_NONE ? encode_anywhere(r, at) : encode_in(r, pmu, at);
}

/* Characters that no name has; the reference looks for some of them before anything else. */
static bool is_illegal(const struct event_request *r, unsigned char ch)
{
    if (event_is_libpfm4(r))
        return ch == ',' || ch == ' ' || ch == '\t' || ch == '\n' || ch == '\0';
    return ch == ',' || ch <= ' ' || ch == 0x7f;
}

/* A string that failed: what the reference finds before it reads the first word goes before what was found. */
static int fail_first(struct event_request *r, int status)
{
    for (size_t i = 0; i < r->size; i++)
        if (is_illegal(r, (unsigned char)r->text[i])) {
            status = assay_event_fail(r, ASSAY_EVENT_BAD_CHARACTER, i);
            r->e->size = 1;
            return status;
        }
    if (!event_is_libpfm4(r))
        return status;
    size_t end = event_name_end(r->text, 0, r->size);
    for (size_t i = end; i + 1 < r->size; i++)
        if (r->text[i] == ':' && r->text[i + 1] == ':') {
            if (i > end) {
                status = assay_event_fail(r, ASSAY_EVENT_NO_PMU, 0);
                r->e->size = (uint32_t)i;
            }
            break;
        }
    return status;
}

int assay_event_encode(const struct assay_event_table *t, const char *text, size_t n, unsigned mode, unsigned plm,
                       uint32_t pmu, struct assay_event_code *c, struct assay_event_error *e)
{
    struct assay_event_error unused;
    struct event_request r;
    r.t = t;
    r.text = text;
    r.size = n;
    r.mode = mode;
    r.plm = plm;
    r.pmu = NULL;
    r.c = c;
    r.e = e ? e : &unused;
    int status = encode_text(&r, pmu);
    return status == ASSAY_OK ? status : fail_first(&r, status);
}
