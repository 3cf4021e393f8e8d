/* SPDX-License-Identifier: MIT */
/* mapfile.csv: which files are for which processors. Intel's names files, Linux's names folders. */
#include "event_json_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { MOST_ROWS = 8192, MODELS = 256, STEPPINGS = 16 };

enum column { MODEL, FILE_NAME, TYPE, ROLE, COLUMNS };
static const char *const column_name[COLUMNS] = {"Family-model", "Filename", "EventType", "Core Role Name"};

struct field {
    const char *s;
    size_t n, at;
};

/* A row of core events. Rows of one file become one PMU. */
struct row {
    struct field field[COLUMNS];
    bool done;
};

struct map {
    struct ej_text t;
    const char *folder;
    size_t column[COLUMNS], columns; /* SIZE_MAX: not there */
    struct row *rows;
    size_t n, cap;
    size_t missing; /* position of the first file that is not there */
};

/* ---- lines and fields ---- */

static bool is_word(const struct field *f, const char *word)
{
    return f->n == strlen(word) && strncasecmp(f->s, word, f->n) == 0;
}

static bool same_field(const struct field *a, const struct field *b)
{
    return a->n == b->n && memcmp(a->s, b->s, a->n) == 0;
}

/* The next line without its end; false after the last. */
static bool next_line(const struct ej_text *t, size_t *at, struct field *line)
{
    if (*at >= t->size)
        return false;
    const char *s = t->text + *at, *end = memchr(s, '\n', t->size - *at);
    size_t n = end ? (size_t)(end - s) : t->size - *at;
    *line = (struct field){s, n > 0 && s[n - 1] == '\r' ? n - 1 : n, *at};
    *at += n + (end != NULL);
    return true;
}

/* The field `line` begins with; the line is what is left. False after the last. */
static bool next_field(struct field *line, struct field *f)
{
    if (!line->s)
        return false;
    const char *comma = memchr(line->s, ',', line->n);
    size_t n = comma ? (size_t)(comma - line->s) : line->n;
    *f = (struct field){line->s, n, line->at};
    *line =
        comma ? (struct field){comma + 1, line->n - n - 1, line->at + n + 1} : (struct field){NULL, 0, line->at + n};
    return true;
}

static int read_header(struct map *m, struct field line)
{
    struct field f, all = line;
    for (size_t i = 0; i < COLUMNS; i++)
        m->column[i] = SIZE_MAX;
    while (next_field(&line, &f)) {
        for (size_t i = 0; i < COLUMNS; i++)
            if (is_word(&f, column_name[i]))
                m->column[i] = m->columns;
        m->columns++;
    }
    for (size_t i = 0; i <= TYPE; i++)
        if (m->column[i] == SIZE_MAX)
            return ej_fail(&m->t, all.at, ASSAY_E_BAD_FORMAT, "the first line has no column \"%s\"", column_name[i]);
    return ASSAY_OK;
}

/* ---- models: "6-55-[01234]", "6-(97|9A)", "6-5[CF]" ---- */

/* Whether c is what [p, end) begins with, a digit or a set of them; *p moves behind it. */
static bool match_one(const char **p, const char *end, char c)
{
    if (**p != '[')
        return *(*p)++ == c;
    bool found = false;
    const char *s = *p + 1;
    for (; s < end && *s != ']'; s++) {
        bool range = s + 2 < end && s[1] == '-' && s[2] != ']';
        found |= range ? c >= s[0] && c <= s[2] : c == s[0];
        s += range ? 2 : 0;
    }
    *p = s < end ? s + 1 : end;
    return found;
}

/* Whether all of s is matched by [p, end) without parentheses. */
static bool match_plain(const char *p, const char *end, const char *s)
{
    while (p < end && *s)
        if (!match_one(&p, end, *s++))
            return false;
    return p == end && *s == '\0';
}

/* The same, where the whole may be "(a|b|c)". */
static bool match(const struct field *f, const char *s)
{
    const char *p = f->s, *end = f->s + f->n;
    if (p == end || *p != '(')
        return match_plain(p, end, s);
    for (p++, end--; p <= end; p++) {
        const char *bar = memchr(p, '|', (size_t)(end - p)), *alt = bar ? bar : end;
        if (match_plain(p, alt, s))
            return true;
        p = alt;
    }
    return false;
}

static bool is_pattern(const struct field *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (!memchr("0123456789ABCDEFabcdef[]()|-", f->s[i], 28))
            return false;
    return f->n > 0 && (f->s[0] != '(' || f->s[f->n - 1] == ')');
}

/* Up to the next '-' that does not stand in brackets. */
static struct field take_part(struct field *rest)
{
    size_t n = 0, depth = 0;
    for (; n < rest->n && (depth || rest->s[n] != '-'); n++)
        depth += (rest->s[n] == '[') - (size_t)(rest->s[n] == ']' && depth);
    struct field part = {rest->s, n, rest->at};
    size_t used = n < rest->n ? n + 1 : n;
    *rest = (struct field){rest->s + used, rest->n - used, rest->at + used};
    return part;
}

static unsigned lowest_stepping(const struct field *f)
{
    char s[4];
    for (unsigned i = 0; f->n && i < STEPPINGS; i++) {
        snprintf(s, sizeof s, "%X", i);
        if (match(f, s))
            return i;
    }
    return 0;
}

/* The models of a row for a PMU (NULL: only judged). Rows of other vendors have none. */
static int read_models(struct map *m, const struct field *f, struct ej_pmu *p)
{
    struct field rest = *f, vendor = take_part(&rest), family = take_part(&rest), model = take_part(&rest);
    char s[4];
    bool any = false;
    unsigned number = 0;
    for (size_t i = 0; i < family.n && number < 1000; i++)
        number = family.s[i] >= '0' && family.s[i] <= '9' ? number * 10 + (unsigned)(family.s[i] - '0') : 1000;
    bool sound = vendor.n && family.n && number < 256 && is_pattern(&model) && (rest.n == 0 || is_pattern(&rest));
    for (unsigned i = 0; sound && i < MODELS; i++) {
        snprintf(s, sizeof s, "%X", i);
        if (!match(&model, s))
            continue;
        any = true;
        if (p && !ej_pmu_model(p, number << 16 | i << 4 | lowest_stepping(&rest)))
            return ej_warn(&m->t, f->at, "more than %d models of one PMU", EJ_MODELS);
    }
    return any ? 1
               : ej_warn(&m->t, f->at, "'%.*s' is no family and model: left out", (int)(f->n < 60 ? f->n : 60), f->s);
}

/* ---- rows ---- */

static int keep_row(struct map *m, const struct row *r)
{
    if (m->n == MOST_ROWS)
        return ej_fail(&m->t, r->field[MODEL].at, ASSAY_E_UNSUPPORTED, "more than %d rows", MOST_ROWS);
    if (m->n == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 64;
        struct row *rows = realloc(m->rows, cap * sizeof *rows);
        if (!rows)
            return ej_memory(m->t.e);
        m->rows = rows;
        m->cap = cap;
    }
    m->rows[m->n++] = *r;
    return ASSAY_OK;
}

/* No way out of the folder. */
static bool is_inside(const struct field *file)
{
    for (size_t i = 0; i + 1 < file->n; i++)
        if (file->s[i] == '.' && file->s[i + 1] == '.')
            return false;
    return file->n > 0 && file->n < 256 && !memchr(file->s, '\0', file->n);
}

static int read_row(struct map *m, struct field line)
{
    struct row r = {0};
    struct field f, all = line;
    size_t n = 0;
    for (; next_field(&line, &f); n++)
        for (size_t i = 0; i < COLUMNS; i++)
            if (m->column[i] == n)
                r.field[i] = f;
    if (n != m->columns)
        return ej_warn(&m->t, all.at + all.n, "%zu columns, expected %zu: left out", n, m->columns);
    bool core = is_word(&r.field[TYPE], "core") || is_word(&r.field[TYPE], "hybridcore");
    if (!core || strncmp(r.field[MODEL].s, "GenuineIntel-", 13) != 0) {
        m->t.j->sums.files_other++;
        return ASSAY_OK;
    }
    if (!is_inside(&r.field[FILE_NAME]))
        return ej_warn(&m->t, r.field[FILE_NAME].at, "no name of a file in this folder: left out");
    int rc = read_models(m, &r.field[MODEL], NULL);
    return rc <= 0 ? rc : keep_row(m, &r);
}

static int read_rows(struct map *m)
{
    size_t at = 0;
    struct field line;
    int rc = next_line(&m->t, &at, &line) ? read_header(m, line) : ASSAY_OK;
    while (rc >= 0 && next_line(&m->t, &at, &line)) {
        ej_text_mark(&m->t, line.at);
        if (line.n > 0)
            rc = read_row(m, line);
    }
    if (rc >= 0 && m->n == 0)
        rc = ej_fail(&m->t, m->t.size, ASSAY_E_BAD_FORMAT, "no row of core events of Intel's processors");
    return rc < 0 ? rc : ASSAY_OK;
}

/* ---- files ---- */

/* "Core", "Atom": of the first of the file's rows that says so. */
static struct field role_of(const struct map *m, size_t from)
{
    for (size_t i = from; i < m->n; i++)
        if (same_field(&m->rows[i].field[FILE_NAME], &m->rows[from].field[FILE_NAME]) && m->rows[i].field[ROLE].n)
            return m->rows[i].field[ROLE];
    return (struct field){"", 0, 0};
}

/* The models of all rows of the file for the PMUs that it has become. */
static int add_models(struct map *m, size_t from, const char *name)
{
    static const char *const parts[] = {"", "-core", "-atom"};
    for (size_t part = 0; part < 3; part++) {
        char whole[2 * EJ_PMU_NAME];
        snprintf(whole, sizeof whole, "%s%s", name, parts[part]);
        struct ej_pmu *p = ej_pmu_find(m->t.j, whole);
        for (size_t i = from; p && i < m->n; i++) {
            if (!same_field(&m->rows[i].field[FILE_NAME], &m->rows[from].field[FILE_NAME]))
                continue;
            int rc = read_models(m, &m->rows[i].field[MODEL], p);
            if (rc < 0)
                return rc;
        }
    }
    return ASSAY_OK;
}

static int load_row(struct map *m, size_t from)
{
    const struct field *file = &m->rows[from].field[FILE_NAME];
    struct field role = role_of(m, from);
    char named[256], path[4096 + 256], role_name[EJ_PMU_NAME], name[EJ_PMU_NAME];
    for (size_t i = from; i < m->n; i++)
        m->rows[i].done |= same_field(&m->rows[i].field[FILE_NAME], file);
    snprintf(named, sizeof named, "%.*s", (int)file->n, file->s);
    snprintf(path, sizeof path, "%s/%s", m->folder, named + (named[0] == '/'));
    snprintf(role_name, sizeof role_name, "%.*s", (int)role.n, role.s);
    ej_name_of(named, role_name, name);
    struct stat st;
    if (stat(path, &st) < 0) {
        m->missing = m->t.j->sums.files_missing++ == 0 ? file->at : m->missing;
        return ASSAY_OK;
    }
    int rc =
        S_ISDIR(st.st_mode) ? ej_load_folder(m->t.j, path, name, m->t.e) : ej_load_file(m->t.j, path, name, m->t.e);
    return rc < 0 ? rc : add_models(m, from, name);
}

static int load_rows(struct map *m)
{
    int rc = ASSAY_OK;
    for (size_t i = 0; i < m->n && rc == ASSAY_OK; i++)
        if (!m->rows[i].done)
            rc = load_row(m, i);
    return rc;
}

/* A checkout of some of the folders is usual, and worth one line. */
static int tell_missing(struct map *m)
{
    const struct assay_event_json_sums *sums = &m->t.j->sums;
    if (sums->files_missing == 0)
        return ASSAY_OK;
    m->t.mark = m->t.mark_start = 0;
    m->t.mark_line = 1;
    if (sums->files == 0)
        return ej_fail(&m->t, m->missing, ASSAY_E_NOT_FOUND, "none of the %u files of core events is there",
                       sums->files_missing);
    return ej_warn(&m->t, m->missing, "%u of the files of core events are not there, this one first",
                   sums->files_missing);
}

int ej_map_load(struct assay_event_json *j, const char *folder, struct assay_error *e)
{
    char path[4096 + 16];
    struct map m = {.folder = folder};
    snprintf(path, sizeof path, "%s/mapfile.csv", folder);
    int rc = ej_text_read(&m.t, j, path, e);
    if (rc < 0)
        return rc;
    rc = read_rows(&m);
    if (rc == ASSAY_OK)
        rc = load_rows(&m);
    if (rc == ASSAY_OK)
        rc = tell_missing(&m);
    free(m.rows);
    ej_text_free(&m.t);
    return rc;
}
