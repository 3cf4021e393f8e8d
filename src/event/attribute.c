/* SPDX-License-Identifier: MIT */
/* One attribute of an event string: a umask, a raw umask in hex, or a modifier with or without a value. */
#include <assay/base.h>

#include "event/encode.h"

enum { MOST_MODIFIERS = 64 }; /* as in the reference */

void assay_event_take_umask(struct event_request *r, unsigned i, size_t at)
{
    uint64_t bit = (uint64_t)1 << i;
    if (!(r->umasks & bit))
        r->umask_at[i] = (uint32_t)at;
    r->umasks |= bit;
}

/* The umask's number in the event, ASSAY_EVENT_NONE when the event has none of that name. */
static uint32_t find_umask(const struct event_request *r, size_t at, size_t size)
{
    uint32_t u = assay_event_find_umask(r->t, r->c->event, r->text + at, size);
    if (u == ASSAY_EVENT_NONE || (event_is_libpfm4(r) && (r->t->umasks[u].flags & ASSAY_EVENT_EXTRA)))
        return ASSAY_EVENT_NONE;
    if (r->t->umasks[u].alias != ASSAY_EVENT_NONE)
        u = r->t->umasks[u].alias;
    u -= r->event->first_umask;
    return u < ASSAY_EVENT_MAX_UMASKS ? u : ASSAY_EVENT_NONE;
}

static unsigned digit_value(unsigned char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    ch |= 0x20;
    return ch >= 'a' && ch <= 'z' ? ch - 'a' + 10u : 99;
}

/* A number as strtoull(3) with base 0 reads it, all of [s, end). Not so in strict mode: a minus sign. */
static bool read_number(const char *s, const char *end, bool minus_ok, uint64_t *value)
{
    unsigned base = 10;
    bool minus = s < end && *s == '-';
    uint64_t v = 0;
    if (s < end && (*s == '+' || *s == '-'))
        s++;
    if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x') {
        base = 16;
        s += 2;
    } else if (s < end && *s == '0')
        base = 8;
    if (s == end || (minus && !minus_ok))
        return false;
    for (; s < end; s++) {
        unsigned d = digit_value((unsigned char)*s);
        if (d >= base || v > (UINT64_MAX - d) / base)
            return false;
        v = v * base + d;
    }
    *value = minus ? 0 - v : v;
    return true;
}

static bool read_boolean(const char *s, const char *end, uint64_t *value)
{
    switch (end - s == 1 ? *s : '\0') {
    case 'y':
    case 'Y':
    case 't':
    case 'T':
    case '1':
        *value = 1;
        return true;
    case 'n':
    case 'N':
    case 'f':
    case 'F':
    case '0':
        *value = 0;
        return true;
    default:
        return false;
    }
}

static int take_raw(struct event_request *r, size_t at, size_t end)
{
    if (r->c->raw || r->umask_tokens || r->umasks != r->preset)
        return assay_event_fail(r, ASSAY_EVENT_RAW_MIXED, at);
    if (end < r->size && r->text[end] == '=')
        return assay_event_fail(r, ASSAY_EVENT_VALUE_BAD, at);
    if (!read_number(r->text + at, r->text + end, false, &r->c->raw_umask))
        return assay_event_fail(r, ASSAY_EVENT_NO_ATTRIBUTE, at);
    r->umasks = 0; /* it stands for the umask of an alias */
    r->c->raw = true;
    r->raw_at = at;
    return ASSAY_OK;
}

static int fail_modifier(struct event_request *r, enum assay_event_reason reason, enum assay_event_modifier m,
                         size_t at)
{
    int status = assay_event_fail(r, reason, at);
    r->e->modifier = (uint8_t)m;
    return status;
}

/* Whether it is only for the want of PEBS that the modifier is not to be had. */
static bool is_pebs(const struct event_request *r, enum assay_event_modifier m)
{
    return m == ASSAY_EVENT_MOD_PRECISE && (r->mode & ASSAY_EVENT_PERF_EXT);
}

/* [at, name_end) is the name; its value goes to *end. */
static int take_modifier(struct event_request *r, size_t at, size_t name_end, size_t end)
{
    enum assay_event_modifier m = assay_event_modifier_find(r->text + at, name_end - at);
    uint64_t value = 1;
    if (m == ASSAY_EVENT_MODS)
        return assay_event_fail(r, ASSAY_EVENT_NO_ATTRIBUTE, at);
    if (!(r->allowed & EVENT_BIT(m)))
        return fail_modifier(r, is_pebs(r, m) ? ASSAY_EVENT_NO_PEBS : ASSAY_EVENT_NO_MODIFIER, m, at);
    bool boolean = assay_event_modifier_boolean(m);
    const char *s = r->text + name_end + 1, *e = r->text + end;
    if (name_end == end && !boolean)
        return fail_modifier(r, ASSAY_EVENT_VALUE_MISSING, m, at);
    if (name_end < end && !(boolean ? read_boolean(s, e, &value) : read_number(s, e, event_is_libpfm4(r), &value)))
        return fail_modifier(r, s == e ? ASSAY_EVENT_VALUE_MISSING : ASSAY_EVENT_VALUE_BAD, m, at);
    if (r->modifier_tokens++ == MOST_MODIFIERS)
        return assay_event_fail(r, ASSAY_EVENT_TOO_MANY, at);
    if (!(r->c->named & EVENT_BIT(m))) {
        r->c->named |= EVENT_BIT(m);
        r->c->modifier[m] = value;
        r->modifier_at[m] = (uint32_t)at;
    } else if (r->c->modifier[m] != value && r->twice_at == SIZE_MAX)
        r->twice_at = at;
    return ASSAY_OK;
}

int assay_event_attribute(struct event_request *r, size_t at, size_t *end)
{
    size_t name_end = *end;
    uint32_t u = r->event->umasks ? find_umask(r, at, name_end - at) : ASSAY_EVENT_NONE;
    if (u != ASSAY_EVENT_NONE) {
        if (name_end < r->size && r->text[name_end] == '=')
            return assay_event_fail(r, ASSAY_EVENT_UMASK_VALUE, at);
        if (r->c->raw)
            return assay_event_fail(r, ASSAY_EVENT_RAW_MIXED, at);
        if (r->umask_tokens++ == ASSAY_EVENT_MAX_UMASKS)
            return assay_event_fail(r, ASSAY_EVENT_TOO_MANY, at);
        assay_event_take_umask(r, u, at);
        return ASSAY_OK;
    }
    if (r->event->raw_bits && name_end - at >= 2 && r->text[at] == '0' && (r->text[at + 1] | 0x20) == 'x')
        return take_raw(r, at, name_end);
    *end = event_token_end(r->text, name_end, r->size);
    return take_modifier(r, at, name_end, *end);
}
