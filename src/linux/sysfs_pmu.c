/* SPDX-License-Identifier: MIT */
/* PMUs that the kernel describes in sysfs: their types, the bits of their terms, their named events. */
#include "count.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"

enum { NAME = 64, LINE = 512, FILE_NAME = 256, NEAR = 3 };

/* One PMU while its terms are read. */
struct pmu {
    const struct assay_sys *sys;
    char name[NAME];
    struct assay_count_event *event;
    bool alias; /* the terms are those of a named event */
};

static bool file_line(const struct pmu *p, const char *folder, const char *name, const char *suffix, char *line)
{
    char file[FILE_NAME];
    int n = snprintf(file, sizeof file, DEVICES "/%s/%s%s%s", p->name, folder, name, suffix);
    return n < FILE_NAME && sys_line(p->sys, file, line, LINE);
}

/* Names become parts of file names: letters, digits and what sysfs uses besides, not at the begin. */
static bool copy_name(const char *s, size_t n, char name[NAME])
{
    if (n == 0 || n >= NAME || s[0] == '.')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("_-.", s[i]))
            return false;
    memcpy(name, s, n);
    name[n] = '\0';
    return true;
}

/* ---- the nearest name ---- */

struct nearest {
    char name[NAME];
    unsigned distance;
};

/* Of a short word less may be wrong: "cpu" is not meant to be "msr". */
static struct nearest near_to(const char *wanted)
{
    size_t limit = strlen(wanted) / 3 + 2;
    return (struct nearest){.distance = limit < NEAR + 1 ? (unsigned)limit : NEAR + 1};
}

static void compare(struct nearest *near, const char *wanted, const char *name)
{
    unsigned d = assay_edit_distance(wanted, name);
    if (d >= near->distance || strlen(name) >= NAME)
        return;
    near->distance = d;
    strcpy(near->name, name);
}

static void compare_folder(struct nearest *near, const struct assay_sys *s, const char *folder, const char *wanted)
{
    char **names;
    int n = sys_names(s, folder, &names);
    for (int i = 0; i < n; i++)
        if (!strchr(names[i], '.')) /* .scale and .unit are no events */
            compare(near, wanted, names[i]);
    free(names);
}

static int no_pmu(const struct pmu *p, size_t at, struct assay_error *e)
{
    struct nearest near = near_to(p->name);
    compare_folder(&near, p->sys, DEVICES, p->name);
    return assay_error_set(e, ASSAY_E_NOT_FOUND, at, "the kernel has no PMU %s%s%s; ls " DEVICES, p->name,
                           *near.name ? "; did you mean " : "", near.name);
}

static int no_term(const struct pmu *p, const char *term, size_t at, struct assay_error *e)
{
    static const char *const generic[] = {"config", "config1", "config2", "name"};
    struct nearest near = near_to(term);
    char folder[FILE_NAME];
    snprintf(folder, sizeof folder, DEVICES "/%s/format", p->name);
    compare_folder(&near, p->sys, folder, term);
    snprintf(folder, sizeof folder, DEVICES "/%s/events", p->name);
    compare_folder(&near, p->sys, folder, term);
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
        compare(&near, term, generic[i]);
    return assay_error_set(e, ASSAY_E_NOT_FOUND, at, "PMU %s has neither a term nor an event %s%s%s", p->name, term,
                           *near.name ? "; did you mean " : "", near.name);
}

/* ---- values into bits ---- */

static uint64_t *register_of(struct assay_count_event *event, const char *s, size_t n)
{
    static const char *const name[] = {"config", "config1", "config2"};
    uint64_t *const at[] = {&event->config, &event->config1, &event->config2};
    for (size_t i = 0; i < 3; i++)
        if (strlen(name[i]) == n && memcmp(name[i], s, n) == 0)
            return at[i];
    return NULL;
}

/* One "lo-hi" or "bit" of a format; false when it is neither. */
static bool read_range(const char **at, unsigned *lo, unsigned *width)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    unsigned long first = strtoul(*at, &end, 10), last = first;
    if (*end == '-') {
        if (!isdigit((unsigned char)end[1]))
            return false;
        last = strtoul(end + 1, &end, 10);
    }
    if (last < first || last > 63 || (*end && *end != ','))
        return false;
    *lo = (unsigned)first;
    *width = (unsigned)(last - first + 1);
    *at = end;
    return true;
}

/* Spreads value over "0-7,32-35", its lowest bits first. 0, 1 when it does not fit into *bits, -1 for a damaged
 * format. */
static int spread(uint64_t *to, const char *ranges, uint64_t value, unsigned *bits)
{
    unsigned lo, width;
    uint64_t set = 0, mask = 0, left = value;
    *bits = 0;
    for (bool more = true; more; ranges += more) {
        if (!read_range(&ranges, &lo, &width))
            return -1;
        more = *ranges == ',';
        uint64_t field = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
        set |= (left & field) << lo;
        mask |= field << lo;
        left = width == 64 ? 0 : left >> width;
        *bits += width;
    }
    if (left)
        return 1;
    *to = (*to & ~mask) | set;
    return 0;
}

static int put_term(struct pmu *p, const char *term, const char *format, uint64_t value, size_t at,
                    struct assay_error *e)
{
    size_t n = strcspn(format, ":");
    uint64_t *to = register_of(p->event, format, n);
    unsigned bits;
    int how = to && format[n] ? spread(to, format + n + 1, value, &bits) : -1;
    if (how < 0)
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, at, "the kernel's format of %s/%s/ is not understood: \"%s\"",
                               p->name, term, format);
    if (how > 0)
        return assay_error_set(e, ASSAY_E_ARGUMENT, at, "%s=0x%" PRIx64 ": %s/%s/ has %u bits", term, value, p->name,
                               term, bits);
    return ASSAY_OK;
}

static bool read_number(const char *s, size_t n, uint64_t *v)
{
    char text[24], *end;
    if (n == 0 || n >= sizeof text || !isdigit((unsigned char)*s))
        return false;
    memcpy(text, s, n);
    text[n] = '\0';
    errno = 0;
    *v = strtoull(text, &end, strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0 ? 16 : 10);
    return !*end && !errno;
}

/* ---- terms ---- */

static int read_terms(struct pmu *p, struct count_span text, struct assay_error *e);

static void read_scale(struct pmu *p, const char *event)
{
    char line[LINE], *end;
    if (file_line(p, "events/", event, ".scale", line)) {
        double scale = strtod(line, &end);
        p->event->scale = end != line && scale > 0 ? scale : 1;
    }
    if (file_line(p, "events/", event, ".unit", line))
        COUNT_SAY(p->event->unit, "%s", line);
}

/* The terms of a named event, which cannot name others. */
static int put_event(struct pmu *p, const char *name, const char *line, size_t at, struct assay_error *e)
{
    const char *open = strchr(line, '?');
    if (open)
        return assay_error_set(e, ASSAY_E_ARGUMENT, at, "%s/%s/ leaves a value open: write out its terms: %s", p->name,
                               name, line);
    p->alias = true;
    int r = read_terms(p, (struct count_span){line, strlen(line), 0}, e);
    p->alias = false;
    if (r < 0)
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, at, "the kernel's event %s/%s/ is not understood: \"%s\"",
                               p->name, name, line);
    read_scale(p, name);
    return ASSAY_OK;
}

static int put_name(struct pmu *p, struct count_span value, struct assay_error *e)
{
    const char *s = value.text;
    size_t n = value.size;
    if (n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n - 1] == s[0]) {
        s++;
        n -= 2;
    }
    if (n == 0 || n >= sizeof p->event->name)
        return assay_error_set(e, ASSAY_E_ARGUMENT, value.at, "a name of 1 to %zu characters is needed",
                               sizeof p->event->name - 1);
    COUNT_SAY(p->event->name, "%.*s", (int)n, s);
    return ASSAY_OK;
}

static int put_value(struct pmu *p, const char *term, struct count_span value, bool given, size_t at,
                     struct assay_error *e)
{
    char line[LINE];
    uint64_t number = 1, *whole = register_of(p->event, term, strlen(term));
    if (strcmp(term, "name") == 0 && given)
        return put_name(p, value, e);
    if (given && !read_number(value.text, value.size, &number))
        return assay_error_set(e, ASSAY_E_ARGUMENT, value.at, "'%.*s' is no number of 64 bits", (int)value.size,
                               value.text);
    if (file_line(p, "format/", term, "", line))
        return put_term(p, term, line, number, at, e);
    if (whole && given) {
        *whole = number;
        return ASSAY_OK;
    }
    if (!given && !p->alias && file_line(p, "events/", term, "", line))
        return put_event(p, term, line, at, e);
    return no_term(p, term, at, e);
}

/* "term" or "term=value" of n bytes. */
static int read_term(struct pmu *p, const char *s, size_t n, size_t at, struct assay_error *e)
{
    const char *equals = memchr(s, '=', n);
    size_t size = equals ? (size_t)(equals - s) : n;
    struct count_span value = {s + n, 0, at + n};
    char term[NAME];
    if (equals)
        value = (struct count_span){equals + 1, n - size - 1, at + size + 1};
    if (!copy_name(s, size, term))
        return assay_error_set(e, ASSAY_E_ARGUMENT, at, n ? "'%.*s' is no term" : "a term is missing",
                               (int)(n < NAME ? n : NAME), s);
    return put_value(p, term, value, equals != NULL, at, e);
}

static size_t term_size(const char *s, size_t n)
{
    char quote = '\0';
    size_t i = 0;
    for (; i < n && (quote || s[i] != ','); i++) {
        if (quote && s[i] == quote)
            quote = '\0';
        else if (!quote && (s[i] == '\'' || s[i] == '"'))
            quote = s[i];
    }
    return i;
}

static int read_terms(struct pmu *p, struct count_span text, struct assay_error *e)
{
    for (size_t at = 0; at <= text.size && text.size > 0; at++) {
        size_t n = term_size(text.text + at, text.size - at);
        int r = read_term(p, text.text + at, n, text.at + at, e);
        if (r < 0)
            return r;
        at += n;
    }
    return ASSAY_OK;
}

/* ---- the whole ---- */

static void read_cpus(struct pmu *p)
{
    char line[LINE];
    p->event->package = file_line(p, "", "cpumask", "", line);
    if (p->event->package || file_line(p, "", "cpus", "", line)) /* `cpus`: one kind of core of several */
        COUNT_SAY(p->event->cpus, "%s", line);
}

bool count_sysfs_core(const struct assay_sys *s, const char *name, struct assay_count_event *event)
{
    struct pmu p = {.sys = s, .event = event};
    char line[LINE];
    if (!copy_name(name, strlen(name), p.name) || !file_line(&p, "", "type", "", line))
        return false;
    event->type = (uint32_t)strtoul(line, NULL, 10);
    COUNT_SAY(event->pmu, "%s", p.name);
    read_cpus(&p);
    return true;
}

int count_sysfs_pmu(const struct assay_sys *s, struct count_span text, struct assay_count_event *event,
                    struct assay_error *e)
{
    struct pmu p = {.sys = s, .event = event};
    const char *slash = memchr(text.text, '/', text.size);
    size_t n = (size_t)(slash - text.text), end = text.size;
    char line[LINE], *stop;
    if (text.text[end - 1] == '/' && end - 1 > n)
        end--;
    if (!copy_name(text.text, n, p.name))
        return assay_error_set(e, ASSAY_E_ARGUMENT, text.at, "'%.*s' is no name of a PMU", (int)(n < NAME ? n : NAME),
                               text.text);
    if (!file_line(&p, "", "type", "", line))
        return no_pmu(&p, text.at, e);
    event->type = (uint32_t)strtoul(line, &stop, 10);
    if (stop == line)
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, text.at, "the kernel's type of PMU %s is no number: \"%s\"",
                               p.name, line);
    COUNT_SAY(event->pmu, "%s", p.name);
    read_cpus(&p);
    return read_terms(&p, (struct count_span){slash + 1, end - n - 1, text.at + n + 1}, e);
}
