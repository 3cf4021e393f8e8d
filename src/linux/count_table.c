/* SPDX-License-Identifier: MIT */
/* Events of the tables: the kernel's generic ones, those of this processor. */
#include "count.h"

#include <assay/event.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

static bool is_intel(const struct assay_sys *s)
{
    uint32_t r[4];
    return sys_cpuid(s, 0, 0, r) && r[1] == 0x756e6547 && r[3] == 0x49656e69 && r[2] == 0x6c65746e;
}

struct signature {
    unsigned family, model, stepping;
};

static bool read_signature(const struct assay_sys *s, struct signature *is)
{
    uint32_t r[4];
    if (!is_intel(s) || !sys_cpuid(s, 1, 0, r))
        return false;
    *is = (struct signature){r[0] >> 8 & 15, r[0] >> 4 & 15, r[0] & 15};
    if (is->family == 6 || is->family == 15)
        is->model |= r[0] >> 12 & 0xf0;
    if (is->family == 15)
        is->family += r[0] >> 20 & 0xff;
    return true;
}

/* The table of this processor, else that of what all Intel processors have, or ASSAY_EVENT_NONE. */
static uint32_t own_pmu(const struct assay_sys *s, const struct assay_event_table *t)
{
    struct signature is;
    if (!read_signature(s, &is))
        return ASSAY_EVENT_NONE;
    uint32_t pmu = assay_event_find_model(t, is.family, is.model, is.stepping);
    return pmu != ASSAY_EVENT_NONE ? pmu : assay_event_find_pmu(t, "ix86arch", strlen("ix86arch"));
}

/* The PMU's row of this processor, 0 for none: of those with its model the one with the highest stepping not above. */
static uint32_t model_row(const struct assay_event_table *t, uint32_t pmu, const struct signature *is)
{
    const struct assay_event_pmu *p = &t->pmus[pmu];
    uint32_t best = 0;
    for (uint32_t i = 0; i < p->models; i++) {
        uint32_t m = t->models[p->first_model + i];
        if (m >> 4 == (is->family << 12 | is->model) && (m & 15) <= is->stepping && m >= best)
            best = m;
    }
    return best;
}

/* A processor may have several tables: a hybrid's, or one that is built in and one of a file. A file that names no
 * processor is taken to be of this one. */
static bool is_own(const struct assay_sys *s, const struct assay_event_table *t, uint32_t pmu)
{
    struct signature is;
    uint32_t own = own_pmu(s, t);
    if (own == ASSAY_EVENT_NONE || !read_signature(s, &is))
        return false;
    if (pmu == own || pmu == assay_event_find_pmu(t, "ix86arch", strlen("ix86arch")))
        return true;
    if (t->pmus[pmu].flat && t->pmus[pmu].models == 0)
        return true;
    uint32_t row = model_row(t, pmu, &is);
    return row && row == model_row(t, own, &is);
}

static void take_code(const struct assay_sys *s, const struct assay_event_table *t, const struct assay_event_code *c,
                      struct assay_count_event *event)
{
    static const char *const kind[] = {"hardware", "software", "tracepoint", "cache", "cpu"};
    struct assay_event_perf p;
    assay_event_to_perf(t, c, &p);
    event->type = p.type;
    event->config = p.config;
    event->config1 = p.config1;
    event->config2 = p.config2;
    event->msr = c->extra_msr;
    event->exclude_user = p.exclude_user;
    event->exclude_kernel = p.exclude_kernel;
    event->exclude_hv = p.exclude_hv;
    if (c->named & (1u << ASSAY_EVENT_MOD_MG | 1u << ASSAY_EVENT_MOD_MH)) {
        event->exclude_host = p.exclude_host;
        event->exclude_guest = p.exclude_guest;
    }
    event->pinned = p.pinned;
    event->exclusive = p.exclusive;
    event->precise = p.precise_ip;
    event->privilege = c->named & (1u << ASSAY_EVENT_MOD_U | 1u << ASSAY_EVENT_MOD_K);
    COUNT_SAY(event->pmu, "%s", kind[p.type < 4 ? p.type : 4]);
    if (t->pmus[c->pmu].kernel_pmu)
        count_sysfs_core(s, assay_event_str(t, t->pmus[c->pmu].kernel_pmu), event); /* else its cores are all alike */
    if (p.type == PERF_TYPE_SOFTWARE && (p.config == PERF_COUNT_SW_TASK_CLOCK || p.config == PERF_COUNT_SW_CPU_CLOCK)) {
        event->scale = 1e-6; /* the kernel counts nanoseconds */
        COUNT_SAY(event->unit, "ms");
    }
}

static int encode(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text, uint32_t pmu,
                  struct assay_count_event *event, struct assay_event_error *wrong)
{
    struct assay_event_code code;
    int r = assay_event_encode(t, text.text, text.size, ASSAY_EVENT_PERF | ASSAY_EVENT_PERF_EXT,
                               ASSAY_EVENT_USER | ASSAY_EVENT_KERNEL, pmu, &code, wrong);
    if (r == ASSAY_OK)
        take_code(s, t, &code, event);
    return r;
}

/* Behind the last colon, when these are letters that perf knows; a list of umasks goes on otherwise. */
static size_t letters_at(struct count_span text)
{
    for (size_t i = text.size; i-- > 0;)
        if (text.text[i] == ':')
            return count_are_modifiers(text.text + i + 1, text.size - i - 1) ? i : text.size;
    return text.size;
}

static int say_wrong(const struct assay_event_table *t, struct count_span text, const struct assay_event_error *wrong,
                     struct assay_error *e)
{
    char all[COUNT_TEXT], line[256];
    struct assay_out o;
    snprintf(all, sizeof all, "%.*s", (int)text.size, text.text);
    assay_out_init(&o, line, sizeof line - 1, NULL, NULL);
    assay_event_error_print(t, all, wrong, &o);
    line[o.len] = '\0';
    /* The column is the error's offset here, and the list may have begun before it. */
    const char *colon = strncmp(line, "column ", strlen("column ")) == 0 ? strstr(line, ": ") : NULL;
    return assay_error_set(e, wrong->code, text.at + wrong->column, "%s", colon ? colon + 2 : line);
}

/* The table's own modifiers first; "up" and the like are perf's. */
static int resolve_own(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
                       uint32_t pmu, struct assay_count_event *event, struct assay_event_error *wrong,
                       struct assay_error *e)
{
    struct assay_event_error ignored;
    if (encode(s, t, text, pmu, event, wrong) == ASSAY_OK)
        return ASSAY_OK;
    size_t n = letters_at(text);
    if (n == text.size || encode(s, t, (struct count_span){text.text, n, text.at}, pmu, event, &ignored) != ASSAY_OK)
        return say_wrong(t, text, wrong, e);
    return count_put_modifiers(count_from(text, n), event, e);
}

/* pmu::name. The codes of another processor's event would count something else here. */
int count_named(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
                struct assay_count_event *event, struct assay_error *e)
{
    struct assay_event_error wrong;
    uint32_t pmu = assay_event_find_pmu(t, text.text, count_find(text, ':'));
    int r = resolve_own(s, t, text, ASSAY_EVENT_NONE, event, &wrong, e);
    if (r < 0 || t->pmus[pmu].scheme == ASSAY_EVENT_SOFTWARE || is_own(s, t, pmu))
        return r;
    return assay_error_set(
        e, ASSAY_E_UNSUPPORTED, text.at,
        "this processor is no %s: the event's code would count something else here; on a model: --virtual",
        assay_event_str(t, t->pmus[pmu].flat ? t->pmus[pmu].name : t->pmus[pmu].desc));
}

static bool is_sysfs_event(const struct assay_sys *s, struct count_span name, char text[COUNT_TEXT])
{
    char file[COUNT_TEXT];
    snprintf(file, sizeof file, "/sys/bus/event_source/devices/cpu/events/%.*s", (int)name.size, name.text);
    snprintf(text, COUNT_TEXT, "cpu/%.*s/", (int)name.size, name.text);
    return count_is_word(name.text, name.size) && sys_exists(s, file);
}

/* A name that is neither the kernel's nor the processor's: the kernel's have the say when one of them is near. */
static int say_no_event(const struct assay_event_table *t, struct count_span text, uint32_t generic,
                        const struct assay_event_error *wrong, struct assay_error *e)
{
    char all[COUNT_TEXT];
    struct assay_event_code code;
    struct assay_event_error other;
    snprintf(all, sizeof all, "%.*s", (int)text.size, text.text);
    bool near = assay_event_encode(t, text.text, text.size, 0, ASSAY_EVENT_USER, generic, &code, &other) != ASSAY_OK &&
                assay_event_error_meant(t, all, &other) != NULL;
    return say_wrong(t, text, near ? &other : wrong, e);
}

/* In the loaded files that are of this processor: those that were loaded last first. */
static bool is_loaded_event(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
                            struct assay_count_event *event)
{
    struct assay_event_error wrong;
    struct assay_error ignored;
    for (uint32_t pmu = t->pmu_count; pmu-- > 0;)
        if (t->pmus[pmu].flat && is_own(s, t, pmu) && resolve_own(s, t, text, pmu, event, &wrong, &ignored) == ASSAY_OK)
            return true;
    return false;
}

int count_name(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
               struct assay_count_event *event, struct assay_error *e)
{
    char alias[COUNT_TEXT];
    struct assay_event_error wrong;
    struct count_span name = {text.text, count_find(text, ':'), text.at}, rest = count_from(text, name.size);
    uint32_t generic = assay_event_find_pmu(t, "perf", strlen("perf")), own = own_pmu(s, t);
    bool letters = rest.size == 0 || count_are_modifiers(rest.text + 1, rest.size - 1);
    if (letters && encode(s, t, name, generic, event, &wrong) == ASSAY_OK)
        return count_put_modifiers(rest, event, e);
    if (letters && is_sysfs_event(s, name, alias)) {
        int r = count_sysfs_pmu(s, (struct count_span){alias, strlen(alias), text.at}, event, e);
        if (r < 0 && e)
            e->offset = text.at; /* not that in the longer form */
        return r < 0 ? r : count_put_modifiers(rest, event, e);
    }
    if (assay_event_find(t, generic, name.text, name.size) != ASSAY_EVENT_NONE)
        own = generic;
    else if (is_loaded_event(s, t, text, event))
        return ASSAY_OK;
    int r = resolve_own(s, t, text, own == ASSAY_EVENT_NONE ? generic : own, event, &wrong, e);
    return r < 0 && wrong.reason == ASSAY_EVENT_NO_EVENT ? say_no_event(t, text, generic, &wrong, e) : r;
}
