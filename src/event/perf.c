/* SPDX-License-Identifier: MIT */
/* Encoded events for Linux: fields of struct perf_event_attr, and the same as text for the command perf. */
#include <assay/base.h>

#include "event/encode.h"

enum {
    PERF_TYPE_RAW = 4,
    MSR_OFFCORE_RSP_0 = 0x1a6,
    MSR_OFFCORE_RSP_1 = 0x1a7,
    MSR_PEBS_LD_LAT = 0x3f6,
    MSR_PEBS_FRONTEND = 0x3f7,
};

/* What the kernel sets itself is left out. */
static uint64_t config_core(const struct assay_event_code *c)
{
    return c->code[0] & ~(uint64_t)(EVENT_USR | EVENT_OS | EVENT_INT | EVENT_EN);
}

/* The replay metric that the kernel knows under a number: the umask's own, from 2. */
static uint64_t replay_metric(const struct assay_event_table *t, const struct assay_event_code *c)
{
    for (uint32_t i = 0; i < c->umasks; i++)
        if (t->umasks[c->umask[i]].flags & ASSAY_EVENT_VIRTUAL)
            return t->umasks[c->umask[i]].value - 1;
    return 0;
}

/* ESCR over CCCR, with the kernel's number in place of the event select; privilege is for the kernel to set. */
static uint64_t config_netburst(const struct assay_event_table *t, const struct assay_event_code *c)
{
    uint64_t select = (uint64_t)0x3f << ESCR_SELECT_AT, threads = ESCR_T1 | ESCR_T1 << 2;
    uint64_t number = t->netburst[t->events[c->event].netburst].perf_event;
    uint64_t escr = (c->code[0] & ~select) | (number << ESCR_SELECT_AT & select) | threads;
    return escr << 32 | c->code[1] | replay_metric(t, c);
}

void assay_event_to_perf(const struct assay_event_table *t, const struct assay_event_code *c,
                         struct assay_event_perf *p)
{
    const struct assay_event_row *event = &t->events[c->event];
    const uint64_t *v = c->modifier;
    uint8_t scheme = t->pmus[c->pmu].scheme;
    *p = (struct assay_event_perf){
        .type = scheme == ASSAY_EVENT_SOFTWARE ? event->perf_type : PERF_TYPE_RAW,
        .config = scheme == ASSAY_EVENT_CORE       ? config_core(c)
                  : scheme == ASSAY_EVENT_NETBURST ? config_netburst(t, c)
                                                   : c->code[0],
        .config1 = scheme == ASSAY_EVENT_CORE && c->codes > 1 ? c->code[1] : 0,
        .sample_period = v[ASSAY_EVENT_MOD_FREQ] ? v[ASSAY_EVENT_MOD_FREQ] : v[ASSAY_EVENT_MOD_PERIOD],
        .freq = v[ASSAY_EVENT_MOD_FREQ] != 0,
        .exclude_user = !v[ASSAY_EVENT_MOD_U],
        .exclude_kernel = !v[ASSAY_EVENT_MOD_K],
        .exclude_hv = c->named & EVENT_BIT(ASSAY_EVENT_MOD_H) && !v[ASSAY_EVENT_MOD_H],
        .exclude_host = !v[ASSAY_EVENT_MOD_MH],
        .exclude_guest = !v[ASSAY_EVENT_MOD_MG],
        .pinned = v[ASSAY_EVENT_MOD_PINNED] != 0,
        .exclusive = v[ASSAY_EVENT_MOD_EXCL] != 0,
        .precise_ip = (uint8_t)v[ASSAY_EVENT_MOD_PRECISE],
    };
}

/* Terms between the slashes. */
struct terms {
    struct assay_out *o;
    bool any;
};

static void put_term(struct terms *w, const char *name)
{
    assay_out_char(w->o, w->any ? ',' : '/');
    assay_out_str(w->o, name);
    w->any = true;
}

static void put_hex(struct terms *w, const char *name, uint64_t value)
{
    put_term(w, name);
    assay_out_str(w->o, "=0x");
    assay_out_hex(w->o, value);
}

static void put_core(struct terms *w, const struct assay_event_code *c, const struct assay_event_perf *p)
{
    uint64_t config = p->config,
             known = 0xffffu | EVENT_EDGE | EVENT_INV | EVENT_ANY | (uint64_t)0xff << EVENT_CMASK_AT;
    if (config & ~known) {
        put_hex(w, "config", config);
    } else {
        put_hex(w, "event", config & 0xff);
        if (config >> 8 & 0xff)
            put_hex(w, "umask", config >> 8 & 0xff);
        if (config >> EVENT_CMASK_AT & 0xff)
            put_hex(w, "cmask", config >> EVENT_CMASK_AT & 0xff);
        if (config & EVENT_INV)
            put_term(w, "inv");
        if (config & EVENT_EDGE)
            put_term(w, "edge");
        if (config & EVENT_ANY)
            put_term(w, "any");
    }
    if (c->codes < 2)
        return;
    bool offcore = c->extra_msr == MSR_OFFCORE_RSP_0 || c->extra_msr == MSR_OFFCORE_RSP_1;
    put_hex(w,
            offcore                             ? "offcore_rsp"
            : c->extra_msr == MSR_PEBS_LD_LAT   ? "ldlat"
            : c->extra_msr == MSR_PEBS_FRONTEND ? "frontend"
                                                : "config1",
            p->config1);
}

/* perf's name of a generic event is another name in the table, or a row that is a cache event as a whole. */
static const char *generic_name(const struct assay_event_table *t, const struct assay_event_code *c)
{
    const struct assay_event_pmu *pmu = &t->pmus[c->pmu];
    const struct assay_event_row *own = &t->events[c->event], *rows = t->events + pmu->first_event;
    for (uint32_t i = 0; i < pmu->events; i++) {
        bool is_it = rows[i].perf_type == own->perf_type && rows[i].config == c->code[0] && rows[i].umasks == 0;
        if (is_it && (rows[i].alias != ASSAY_EVENT_NONE || own->umasks))
            return assay_event_str(t, rows[i].name);
    }
    return assay_event_str(t, own->name);
}

/* What stands behind the last slash, or behind a colon when there is none. */
static void put_flags(struct terms *w, const struct assay_event_code *c, const struct assay_event_perf *p)
{
    bool all = !p->exclude_user && !p->exclude_kernel, h = !p->exclude_hv && c->modifier[ASSAY_EVENT_MOD_H];
    char flags[16];
    size_t n = 0;
    if (!p->exclude_user && (!all || h))
        flags[n++] = 'u';
    if (!p->exclude_kernel && (!all || h))
        flags[n++] = 'k';
    if (h || (p->exclude_user && p->exclude_kernel))
        flags[n++] = 'h';
    for (unsigned i = 0; i < p->precise_ip; i++)
        flags[n++] = 'p';
    if (!p->exclude_guest)
        flags[n++] = 'G';
    if (!p->exclude_guest && !p->exclude_host)
        flags[n++] = 'H';
    if (p->pinned)
        flags[n++] = 'D';
    if (p->exclusive)
        flags[n++] = 'e';
    if (w->any)
        assay_out_char(w->o, '/');
    else if (n)
        assay_out_char(w->o, ':');
    assay_out_bytes(w->o, flags, n);
}

void assay_event_perf_string(const struct assay_event_table *t, const struct assay_event_code *c, struct assay_out *o)
{
    struct assay_event_perf p;
    struct terms w = {.o = o};
    uint8_t scheme = t->pmus[c->pmu].scheme;
    assay_event_to_perf(t, c, &p);
    uint32_t kernel_pmu = t->pmus[c->pmu].kernel_pmu;
    assay_out_str(o, scheme == ASSAY_EVENT_SOFTWARE ? generic_name(t, c)
                     : kernel_pmu                   ? assay_event_str(t, kernel_pmu)
                                                    : "cpu");
    if (scheme == ASSAY_EVENT_CORE)
        put_core(&w, c, &p);
    else if (scheme == ASSAY_EVENT_NETBURST)
        put_hex(&w, "config", p.config);
    if (p.sample_period) {
        put_term(&w, p.freq ? "freq=" : "period=");
        assay_out_dec(o, p.sample_period);
    }
    put_flags(&w, c, &p);
}
