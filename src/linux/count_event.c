/* SPDX-License-Identifier: MIT */
/* What a name means on this machine: a sysfs PMU, a raw code, a tracepoint, an event of the tables. */
#include "count.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = COUNT_TEXT };

size_t count_find(struct count_span s, char c)
{
    const char *at = memchr(s.text, c, s.size);
    return at ? (size_t)(at - s.text) : s.size;
}

struct count_span count_from(struct count_span s, size_t n)
{
    return (struct count_span){s.text + n, s.size - n, s.at + n};
}

/* "" or ":letters". */
int count_put_modifiers(struct count_span rest, struct assay_count_event *event, struct assay_error *e)
{
    if (rest.size == 0)
        return ASSAY_OK;
    if (rest.size == 1)
        return assay_error_set(e, ASSAY_E_ARGUMENT, rest.at, "no modifiers behind the colon");
    return count_modifiers(count_from(rest, 1), event, e);
}

/* ---- pmu/terms/modifiers ---- */

static size_t closing_slash(struct count_span s, size_t open)
{
    char quote = '\0';
    size_t at = open + 1;
    for (; at < s.size && (quote || s.text[at] != '/'); at++) {
        if (quote && s.text[at] == quote)
            quote = '\0';
        else if (!quote && (s.text[at] == '\'' || s.text[at] == '"'))
            quote = s.text[at];
    }
    return at;
}

static int resolve_sysfs(const struct assay_sys *s, struct count_span text, struct assay_count_event *event,
                         struct assay_error *e)
{
    size_t open = count_find(text, '/'), close = closing_slash(text, open);
    if (close == text.size)
        return assay_error_set(e, ASSAY_E_ARGUMENT, text.at + open, "the slash is never closed: pmu/term=value/");
    struct count_span rest = count_from(text, close + 1), pmu = {text.text, close + 1, text.at};
    if (rest.size > 0 && *rest.text == ':')
        rest = count_from(rest, 1);
    int r = count_sysfs_pmu(s, pmu, event, e);
    return r < 0 ? r : count_modifiers(rest, event, e);
}

/* ---- rHEX ---- */

static bool is_raw(struct count_span name)
{
    if (name.size < 2 || name.size > 17 || *name.text != 'r')
        return false;
    for (size_t i = 1; i < name.size; i++)
        if (!isxdigit((unsigned char)name.text[i]))
            return false;
    return true;
}

static int resolve_raw(struct count_span name, struct assay_count_event *event)
{
    char digits[17] = {0};
    memcpy(digits, name.text + 1, name.size - 1);
    event->type = PERF_TYPE_RAW;
    event->config = strtoull(digits, NULL, 16);
    COUNT_SAY(event->pmu, "raw");
    return ASSAY_OK;
}

/* ---- subsystem:tracepoint ---- */

static const char *const tracefs[] = {"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"};

bool count_is_word(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '-')
            return false;
    return n > 0 && n < 100;
}

/* The folder of the subsystem, or NULL. */
static const char *tracepoint_folder(const struct assay_sys *s, struct count_span text, char folder[TEXT])
{
    size_t n = count_find(text, ':');
    if (n == text.size || !count_is_word(text.text, n))
        return NULL;
    for (size_t i = 0; i < sizeof tracefs / sizeof *tracefs; i++) {
        snprintf(folder, TEXT, "%s/%.*s", tracefs[i], (int)n, text.text);
        if (sys_exists(s, folder))
            return folder;
    }
    return NULL;
}

static int no_tracepoint(const struct assay_sys *s, const char *folder, struct count_span name, struct assay_error *e)
{
    char wanted[TEXT], meant[TEXT] = "", **names;
    unsigned least = 4;
    snprintf(wanted, sizeof wanted, "%.*s", (int)name.size, name.text);
    int n = sys_names(s, folder, &names);
    for (int i = 0; i < n; i++) {
        unsigned d = assay_edit_distance(wanted, names[i]);
        if (d < least) {
            least = d;
            snprintf(meant, sizeof meant, "; did you mean %s", names[i]);
        }
    }
    free(names);
    return assay_error_set(e, ASSAY_E_NOT_FOUND, name.at, "no tracepoint %s in %s%s", wanted, folder, meant);
}

static int resolve_tracepoint(const struct assay_sys *s, const char *folder, struct count_span name,
                              struct assay_count_event *event, struct assay_error *e)
{
    char file[TEXT];
    long id;
    int n = snprintf(file, sizeof file, "%s/%.*s", folder, (int)name.size, name.text);
    if (!count_is_word(name.text, name.size) || n >= TEXT - 4 || !sys_exists(s, file))
        return no_tracepoint(s, folder, name, e);
    strcat(file, "/id");
    if (!sys_number(s, file, &id))
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, name.at, "%s cannot be read: %s; run as root", file,
                               strerror(errno));
    event->type = PERF_TYPE_TRACEPOINT;
    event->config = (uint64_t)id;
    COUNT_SAY(event->pmu, "tracepoint");
    return ASSAY_OK;
}

/* ---- all of them ---- */

static int resolve_text(const struct assay_sys *s, const struct assay_event_table *t, struct count_span text,
                        struct assay_count_event *event, struct assay_error *e)
{
    char folder[TEXT];
    struct count_span name = {text.text, count_find(text, ':'), text.at}, rest = count_from(text, name.size);
    if (count_find(text, '/') < text.size)
        return resolve_sysfs(s, text, event, e);
    if (rest.size > 1 && rest.text[1] == ':')
        return count_named(s, t, text, event, e);
    if (is_raw(name)) {
        resolve_raw(name, event);
        return count_put_modifiers(rest, event, e);
    }
    if (tracepoint_folder(s, text, folder)) {
        struct count_span point = count_from(rest, 1);
        size_t n = count_find(point, ':');
        int r = resolve_tracepoint(s, folder, (struct count_span){point.text, n, point.at}, event, e);
        return r < 0 ? r : count_put_modifiers(count_from(point, n), event, e);
    }
    int r = count_name(s, t, text, event, e);
    if (r == ASSAY_E_NOT_FOUND && rest.size > 1 && !count_are_modifiers(rest.text + 1, rest.size - 1) &&
        !sys_exists(s, tracefs[0]) && !sys_exists(s, tracefs[1]))
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, 0,
                               "no such event; if it is a tracepoint: %s cannot be read, run as root", tracefs[0]);
    return r;
}

int assay_count_resolve(const struct assay_sys *s, const struct assay_event_table *t,
                        const struct assay_event_item *item, struct assay_count_event *event, struct assay_error *e)
{
    static const struct assay_sys real = {0};
    struct count_span text = {item->text, item->size, 0};
    struct count_span group = {item->modifiers, item->modifiers_size, 0};
    *event = (struct assay_count_event){.group = item->group, .scale = 1};
    if (text.size >= TEXT)
        return assay_error_set(e, ASSAY_E_ARGUMENT, 0, "an event of more than %d characters", TEXT - 1);
    int r = resolve_text(s ? s : &real, t, text, event, e);
    if (r < 0 || group.size == 0)
        return r;
    group.at = (size_t)(group.text - item->text); /* one text holds both */
    return count_modifiers(group, event, e);
}
