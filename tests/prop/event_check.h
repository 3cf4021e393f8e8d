/* SPDX-License-Identifier: MIT */
/* What holds of every string given to the event encoder. Each check returns NULL or what is wrong. */
#ifndef EVENT_CHECK_H
#define EVENT_CHECK_H

#include <assay/base.h>
#include <assay/event.h>

#include <string.h>

enum { EVENT_TEXT = 8192 };

static const unsigned event_modes[] = {
    ASSAY_EVENT_STRICT,
    ASSAY_EVENT_REGISTERS,
    ASSAY_EVENT_PERF_EXT,
    ASSAY_EVENT_PERF_EXT | ASSAY_EVENT_REGISTERS,
    ASSAY_EVENT_LIBPFM4,
    ASSAY_EVENT_LIBPFM4 | ASSAY_EVENT_PERF,
    ASSAY_EVENT_LIBPFM4 | ASSAY_EVENT_PERF_EXT,
};
enum { EVENT_MODES = sizeof event_modes / sizeof event_modes[0] };

/* All that a string says; `named` also tells what was said twice or for nothing. */
static inline bool event_same(const struct assay_event_code *a, const struct assay_event_code *b)
{
    if (a->pmu != b->pmu || a->event != b->event || a->umasks != b->umasks || a->raw != b->raw || a->codes != b->codes)
        return false;
    if (memcmp(a->umask, b->umask, a->umasks * sizeof a->umask[0]) || a->raw_umask != b->raw_umask)
        return false;
    if (memcmp(a->modifier, b->modifier, sizeof a->modifier) || memcmp(a->code, b->code, a->codes * sizeof a->code[0]))
        return false;
    return a->extra_msr == b->extra_msr && a->counters == b->counters;
}

static inline bool event_is_plain(const struct assay_out *o)
{
    for (size_t i = 0; i < o->len; i++)
        if ((unsigned char)o->buf[i] < 0x20 || (unsigned char)o->buf[i] >= 0x7f)
            return false;
    return o->len > 0 && !o->cut;
}

/* The privilege with which a name has to be read again: u and k are not in it when both or none are set. */
static inline unsigned event_privilege(const struct assay_event_code *c)
{
    return c->modifier[ASSAY_EVENT_MOD_U] || c->modifier[ASSAY_EVENT_MOD_K] ? 3 : 0;
}

/* Its own PMU's name in front makes the default PMU irrelevant. */
static inline const char *event_check_name(const struct assay_event_table *t, const struct assay_event_code *c,
                                           unsigned mode)
{
    char text[EVENT_TEXT], text2[EVENT_TEXT];
    struct assay_out o, o2;
    struct assay_event_code again;
    assay_out_init(&o, text, sizeof text, NULL, NULL);
    assay_event_name(t, c, &o);
    if (!event_is_plain(&o))
        return "a name is empty, cut or not text";
    if (assay_event_encode(t, text, o.len, mode, event_privilege(c), ASSAY_EVENT_NONE, &again, NULL) != ASSAY_OK)
        return "its own name is refused";
    if (!event_same(c, &again))
        return "its own name means something else";
    assay_out_init(&o2, text2, sizeof text2, NULL, NULL);
    assay_event_name(t, &again, &o2);
    return o.len == o2.len && memcmp(text, text2, o.len) == 0 ? NULL : "the name of its name is another";
}

static inline const char *event_check_perf(const struct assay_event_table *t, const struct assay_event_code *c)
{
    char text[EVENT_TEXT];
    struct assay_out o;
    struct assay_event_perf p;
    assay_out_init(&o, text, sizeof text, NULL, NULL);
    assay_event_perf_string(t, c, &o);
    if (!event_is_plain(&o))
        return "a string for perf is empty, cut or not text";
    assay_event_to_perf(t, c, &p);
    if (p.exclude_host && p.exclude_guest)
        return "neither host nor guest is counted";
    return p.precise_ip <= 3 ? NULL : "precise_ip past 3";
}

/* The fields of the registers against the modifiers: the layouts once more. */
static inline bool event_fields_agree(const struct assay_event_table *t, const struct assay_event_code *c)
{
    const uint64_t *v = c->modifier;
    uint64_t a = c->code[0], b = c->code[1];
    if (t->pmus[c->pmu].scheme == ASSAY_EVENT_CORE)
        return (a >> 16 & 1) == v[ASSAY_EVENT_MOD_U] && (a >> 17 & 1) == v[ASSAY_EVENT_MOD_K] &&
               (a >> 18 & 1) == v[ASSAY_EVENT_MOD_E] && (a >> 21 & 1) == v[ASSAY_EVENT_MOD_T] &&
               (a >> 23 & 1) == v[ASSAY_EVENT_MOD_I] && (a >> 24 & 0xff) == v[ASSAY_EVENT_MOD_C] &&
               (a & 0x580000) == 0x500000;
    if (t->pmus[c->pmu].scheme != ASSAY_EVENT_NETBURST)
        return true;
    uint64_t rings = v[ASSAY_EVENT_MOD_U] | v[ASSAY_EVENT_MOD_K] << 1, thr = v[ASSAY_EVENT_MOD_THR];
    uint64_t compare = v[ASSAY_EVENT_MOD_E] | v[ASSAY_EVENT_MOD_CMPL] | (thr != 0);
    return (a & 15) == rings * 5 && (b & 0xfff) == 0 && (b >> 12 & 1) == 1 && (b >> 16 & 3) == 3 &&
           (b >> 18 & 1) == compare && (b >> 19 & 1) == v[ASSAY_EVENT_MOD_CMPL] && (b >> 20 & 15) == thr &&
           b >> 24 == v[ASSAY_EVENT_MOD_E];
}

static inline const char *event_check_code(const struct assay_event_table *t, const struct assay_event_code *c,
                                           unsigned mode)
{
    if (c->pmu >= t->pmu_count || c->event >= t->event_count || c->umasks > ASSAY_EVENT_MAX_UMASKS || c->codes < 1 ||
        c->codes > 2)
        return "rows or counts out of range";
    for (uint32_t i = 0; i < c->umasks; i++)
        if (c->umask[i] - t->events[c->event].first_umask >= t->events[c->event].umasks ||
            (i > 0 && c->umask[i - 1] >= c->umask[i]) || t->umasks[c->umask[i]].alias != ASSAY_EVENT_NONE)
            return "umasks not of the event, not in order, or another's name";
    if (!(mode & ASSAY_EVENT_LIBPFM4) && !event_privilege(c) && !c->modifier[ASSAY_EVENT_MOD_H])
        return "strict, and no privilege level";
    if (!event_fields_agree(t, c))
        return "a register's field differs from its modifier";
    const char *complaint = event_check_perf(t, c);
    return complaint ? complaint : event_check_name(t, c, mode);
}

static inline const char *event_check_error(const struct assay_event_table *t, const char *s, size_t n,
                                            const struct assay_event_error *e, bool message)
{
    char text[EVENT_TEXT];
    struct assay_out o;
    if (e->code != ASSAY_E_ARGUMENT && e->code != ASSAY_E_NOT_FOUND)
        return "an error with another status";
    if (e->reason == ASSAY_EVENT_FINE || e->reason >= ASSAY_EVENT_REASONS)
        return "an error without reason";
    if (e->column > n || e->size > n - e->column)
        return "a token outside the string";
    if (!message)
        return NULL;
    assay_out_init(&o, text, sizeof text, NULL, NULL);
    assay_event_error_print(t, s, e, &o);
    return event_is_plain(&o) && o.len > sizeof "column 1: " ? NULL : "an error message is empty, cut or not text";
}

/* One string in one mode. *ok: whether it is an event. message: also what an error would print, which takes longer. */
static inline const char *event_check(const struct assay_event_table *t, const char *s, size_t n, unsigned mode,
                                      unsigned plm, uint32_t pmu, bool message, bool *ok)
{
    struct assay_event_code c;
    struct assay_event_error e;
    int status = assay_event_encode(t, s, n, mode, plm, pmu, &c, &e);
    *ok = status == ASSAY_OK;
    if (*ok)
        return event_check_code(t, &c, mode);
    return status == e.code ? event_check_error(t, s, n, &e, message) : "status and error differ";
}

#endif
