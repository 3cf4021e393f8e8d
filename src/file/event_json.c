/* SPDX-License-Identifier: MIT */
/* Loads event files: one, those of a directory, or those that mapfile.csv names. */
#include "event_json_priv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names ---- */

static bool is_tail(const char *s, size_t n, const char *tail)
{
    size_t m = strlen(tail);
    return n >= m && memcmp(s + n - m, tail, m) == 0;
}

static void append(char name[EJ_PMU_NAME], const char *s, size_t n)
{
    size_t at = strlen(name);
    for (size_t i = 0; i < n && at < EJ_PMU_NAME - 1; i++, at++) {
        char c = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] | 0x20) : s[i];
        name[at] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ? c : '_';
    }
    name[at] = '\0';
}

/* The folder before "/events/", as Intel's repository has it. */
static size_t find_code(const char *path, size_t n, const char **code)
{
    static const char events[] = "/events/";
    if (!is_tail(path, n, events))
        return 0;
    size_t end = n - (sizeof events - 1), at = end;
    while (at > 0 && path[at - 1] != '/')
        at--;
    *code = path + at;
    return end - at;
}

void ej_name_of(const char *path, const char *role, char name[EJ_PMU_NAME])
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path, *code = file;
    size_t n = strlen(file), head = strcspn(file, "_.");
    n -= is_tail(file, n, ".json") ? 5 : 0;
    n -= is_tail(file, n, "_core") ? 5 : 0;
    head = head < n ? head : n;
    size_t size = find_code(path, (size_t)(file - path), &code);
    name[0] = '\0';
    append(name, size ? code : file, size ? size : head);
    const char *tail = role && *role ? role : file + head + 1;
    size_t tail_size = role && *role ? strlen(role) : n > head + 1 ? n - head - 1 : 0;
    if (tail_size) {
        append(name, "-", 1);
        append(name, tail, tail_size);
    }
    if (name[0] == '\0')
        append(name, "events", 6);
}

/* ---- events of one file ---- */

/* The name of an event's PMU: that of the file, or a part of it where the event names one. False for other units. */
static bool pick_name(const char *unit, const char *name, char pmu[EJ_PMU_NAME])
{
    bool part = unit && (strcmp(unit, "cpu_core") == 0 || strcmp(unit, "cpu_atom") == 0);
    if (part)
        snprintf(pmu, EJ_PMU_NAME, "%.*s-%s", EJ_PMU_NAME - 6, name, unit + 4);
    else
        snprintf(pmu, EJ_PMU_NAME, "%s", name);
    return part || !unit || strcmp(unit, "cpu") == 0 || strcmp(unit, "core") == 0;
}

static int add_strings(struct ej_text *t, const struct ej_fields *f, struct assay_event_row *row,
                       struct assay_event_facts *facts)
{
    const char *brief = f->string[EJ_BRIEF], *more = f->string[EJ_LONG], *errata = f->string[EJ_ERRATA];
    if (more && brief && strcmp(more, brief) == 0)
        more = NULL;
    if (errata && (strcmp(errata, "null") == 0 || strcmp(errata, "0") == 0))
        errata = NULL;
    int rc = ej_pool_add(t->j, f->string[EJ_NAME], &row->name, t->e);
    if (rc == ASSAY_OK)
        rc = ej_pool_add(t->j, brief, &row->desc, t->e);
    if (rc == ASSAY_OK)
        rc = ej_pool_add(t->j, more, &facts->long_desc, t->e);
    if (rc == ASSAY_OK)
        rc = ej_pool_add(t->j, errata, &facts->errata, t->e);
    return rc;
}

static int add_row(struct ej_text *t, size_t at, const char *pmu, const struct assay_event_row *row,
                   const struct assay_event_facts *facts)
{
    struct assay_event_json *j = t->j;
    struct ej_pmu *p;
    int rc = ej_pmu_get(j, pmu, &p, t->e);
    if (rc < 0)
        return rc;
    if (p->n == ASSAY_EVENT_JSON_MOST_EVENTS)
        return ej_fail(t, at, ASSAY_E_UNSUPPORTED, "more than %d events of one PMU", ASSAY_EVENT_JSON_MOST_EVENTS);
    rc = ej_pmu_add(j, p, row, facts, t->e);
    if (rc == 0) {
        j->sums.duplicates++;
        return ej_warn(t, at, "%s: a second event of this name: left out", j->pool + row->name);
    }
    j->sums.events += rc > 0;
    return rc;
}

static int add_event(struct ej_text *t, json_t *element, size_t at, const char *name)
{
    struct ej_fields f;
    struct assay_event_row row;
    struct assay_event_facts facts;
    char pmu[EJ_PMU_NAME];
    int rc = ej_fields_read(t, element, at, &f);
    if (rc <= 0)
        return rc;
    if (!pick_name(f.string[EJ_UNIT], name, pmu)) {
        t->j->sums.other++;
        return ASSAY_OK;
    }
    rc = ej_row_make(t, at, &f, &row, &facts);
    if (rc <= 0)
        return rc;
    rc = add_strings(t, &f, &row, &facts);
    return rc < 0 ? rc : add_row(t, at, pmu, &row, &facts);
}

/* The file's own words for the machine. */
static int describe(struct ej_text *t, const json_t *header, const char *name)
{
    const char *info = json_string_value(json_object_get(header, "Info"));
    struct ej_pmu *p = ej_pmu_find(t->j, name);
    return p && !p->desc ? ej_pool_add(t->j, info, &p->desc, t->e) : ASSAY_OK;
}

static int load_text(struct ej_text *t, const char *name)
{
    struct ej_scan s;
    json_t *element;
    size_t at;
    int rc = ej_scan_begin(&s, t);
    while (rc >= 0 && (rc = ej_scan_next(&s, &element, &at)) > 0) {
        rc = add_event(t, element, at, name);
        json_decref(element);
    }
    if (rc == 0)
        rc = describe(t, s.header, name);
    ej_scan_end(&s);
    t->j->sums.files++;
    return rc;
}

int ej_load_file(struct assay_event_json *j, const char *path, const char *name, struct assay_error *e)
{
    struct ej_text t;
    int rc = ej_text_read(&t, j, path, e);
    if (rc < 0)
        return rc;
    rc = load_text(&t, name);
    ej_text_free(&t);
    return rc;
}

/* ---- directories ---- */

static bool is_json(const char *name) { return name[0] != '.' && is_tail(name, strlen(name), ".json"); }

static bool is_core(const char *name) { return name[0] != '.' && is_tail(name, strlen(name), "_core.json"); }

static int select_json(const struct dirent *d) { return is_json(d->d_name); }
static int select_core(const struct dirent *d) { return is_core(d->d_name); }

static int by_bytes(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* The files of a directory, each into a PMU of its own when name is NULL. The number of files, or the error. */
static int load_selected(struct assay_event_json *j, const char *folder, const char *name,
                         int (*select)(const struct dirent *), struct assay_error *e)
{
    struct dirent **entry = NULL;
    int n = scandir(folder, &entry, select, by_bytes), rc = n;
    if (n < 0)
        return errno == ENOMEM ? ej_memory(e) : assay_error_sys(e, errno, "cannot read %s", folder);
    for (int i = 0; i < n; i++) {
        char path[4096], own[EJ_PMU_NAME];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        ej_name_of(path, NULL, own);
        if (rc >= 0)
            rc = ej_load_file(j, path, name ? name : own, e);
        free(entry[i]);
    }
    free(entry);
    return rc < 0 ? rc : n;
}

int ej_load_folder(struct assay_event_json *j, const char *path, const char *name, struct assay_error *e)
{
    int n = load_selected(j, path, name, select_json, e);
    return n < 0 ? n : ASSAY_OK;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Without mapfile.csv: Intel's core files, of each CPU one; else what is there is of one CPU, as Linux's files are. */
static int load_folder(struct assay_event_json *j, const char *path, struct assay_error *e)
{
    char sub[4096], name[EJ_PMU_NAME];
    snprintf(sub, sizeof sub, "%s/events", path);
    if (is_folder(sub))
        path = sub;
    int n = load_selected(j, path, NULL, select_core, e);
    if (n != 0)
        return n < 0 ? n : ASSAY_OK;
    ej_name_of(path, NULL, name);
    n = load_selected(j, path, name, select_json, e);
    return n == 0 ? assay_error_set(e, ASSAY_E_NOT_FOUND, UINT64_MAX,
                                    "%s holds neither mapfile.csv nor event files (*.json)", path)
                  : (n < 0 ? n : ASSAY_OK);
}

static int load_path(struct assay_event_json *j, const char *path, struct assay_error *e)
{
    char folder[4096], map[4096 + 16], name[EJ_PMU_NAME];
    size_t n = strlen(path);
    if (n >= sizeof folder)
        return assay_error_sys(e, ENAMETOOLONG, "cannot open the event files");
    memcpy(folder, path, n + 1);
    if (is_tail(path, n, "/mapfile.csv"))
        folder[n -= strlen("/mapfile.csv")] = '\0';
    else
        while (n > 1 && folder[n - 1] == '/')
            folder[--n] = '\0';
    if (!is_folder(folder)) {
        ej_name_of(path, NULL, name);
        return ej_load_file(j, path, name, e);
    }
    struct stat st;
    snprintf(map, sizeof map, "%s/mapfile.csv", folder);
    return stat(map, &st) == 0 ? ej_map_load(j, folder, e) : load_folder(j, folder, e);
}

/* ---- the interface ---- */

static int make(const struct assay_event_table *base, struct assay_event_json **out, struct assay_error *e)
{
    struct assay_event_json *j = calloc(1, sizeof *j);
    *out = NULL;
    if (!j)
        return ej_memory(e);
    if (base)
        j->base = *base;
    j->base_pmus = j->base.pmu_count;
    j->base_events = j->base.event_count;
    j->pool_size = j->base.pool_size ? j->base.pool_size : 1;
    j->pool_cap = j->pool_size + (1 << 16);
    j->pool = calloc(j->pool_cap, 1);
    if (!j->pool) {
        assay_event_json_free(j);
        return ej_memory(e);
    }
    if (j->base.pool_size)
        memcpy(j->pool, j->base.pool, j->base.pool_size);
    *out = j;
    return ASSAY_OK;
}

static int finish(struct assay_event_json *j, int rc, const char *path, struct assay_event_json **out,
                  struct assay_error *e)
{
    if (rc == ASSAY_OK && j->sums.events == 0) {
        const char *first = assay_event_json_warning(j, 0);
        rc = assay_error_set(e, ASSAY_E_NOT_RECOGNISED, UINT64_MAX, "%.100s: no events of a core in it%s%.180s", path,
                             first ? "; " : "", first ? first : "");
    }
    if (rc == ASSAY_OK)
        rc = ej_table_finish(j, e);
    if (rc < 0) {
        assay_event_json_free(j);
        j = NULL;
    }
    *out = j;
    return rc;
}

int assay_event_json_load(const char *path, const struct assay_event_table *base, struct assay_event_json **out,
                          struct assay_error *e)
{
    struct assay_event_json *j;
    int rc = make(base, &j, e);
    *out = NULL;
    return rc < 0 ? rc : finish(j, load_path(j, path, e), path, out, e);
}

int assay_event_json_parse(const char *name, const void *data, size_t size, const struct assay_event_table *base,
                           struct assay_event_json **out, struct assay_error *e)
{
    struct assay_event_json *j;
    struct ej_text t;
    char pmu[EJ_PMU_NAME];
    int rc = make(base, &j, e);
    *out = NULL;
    if (rc < 0)
        return rc;
    ej_name_of(name, NULL, pmu);
    rc = ej_text_copy(&t, j, name, data, size, e);
    if (rc == ASSAY_OK) {
        rc = load_text(&t, pmu);
        ej_text_free(&t);
    }
    return finish(j, rc, name, out, e);
}

void assay_event_json_free(struct assay_event_json *j)
{
    if (!j)
        return;
    for (uint32_t i = 0; i < j->warnings; i++)
        free(j->warning[i]);
    free(j->warning);
    ej_table_free(j);
    free(j);
}

const struct assay_event_table *assay_event_json_table(const struct assay_event_json *j) { return &j->table; }

const struct assay_event_json_sums *assay_event_json_sums(const struct assay_event_json *j) { return &j->sums; }

uint32_t assay_event_json_first_pmu(const struct assay_event_json *j) { return j->base_pmus; }

const struct assay_event_facts *assay_event_json_facts(const struct assay_event_json *j, uint32_t event)
{
    return event < j->base_events || event >= j->table.event_count ? NULL : &j->facts[event - j->base_events];
}

const char *assay_event_json_warning(const struct assay_event_json *j, size_t i)
{
    return i < j->warnings ? j->warning[i] : NULL;
}
