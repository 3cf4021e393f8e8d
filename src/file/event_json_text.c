/* SPDX-License-Identifier: MIT */
/* The text of an event file, and what is said of places in it. */
#include "event_json_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WARNINGS = 100, NAME_SHOWN = 100, LINE = 400 };

int ej_memory(struct assay_error *e)
{
    return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "no memory for the events of a file");
}

/* ---- reading ---- */

/* All that is in fd, which may be a pipe. */
static int read_all(struct ej_text *t, int fd)
{
    size_t cap = 0;
    for (;;) {
        if (t->size == cap) {
            cap = cap ? cap * 2 : 1 << 16;
            char *more = realloc(t->text, cap);
            if (!more)
                return ej_memory(t->e);
            t->text = more;
        }
        ssize_t n = read(fd, t->text + t->size, cap - t->size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return assay_error_sys(t->e, errno, "cannot read %s", t->name);
        if (n == 0)
            return ASSAY_OK;
        t->size += (size_t)n;
        if (t->size > ASSAY_EVENT_JSON_MOST_BYTES)
            return ej_fail(t, 0, ASSAY_E_UNSUPPORTED, "larger than %u MB", ASSAY_EVENT_JSON_MOST_BYTES >> 20);
    }
}

/* ok unless the text is none to begin with. */
static int check_text(struct ej_text *t)
{
    t->j->bytes += t->size;
    if (t->j->bytes > 4ull * ASSAY_EVENT_JSON_MOST_BYTES)
        return ej_fail(t, 0, ASSAY_E_UNSUPPORTED, "the files together are larger than %u MB",
                       4 * (ASSAY_EVENT_JSON_MOST_BYTES >> 20));
    if (t->size == 0)
        return ej_fail(t, 0, ASSAY_E_NOT_RECOGNISED, "the file is empty");
    return ASSAY_OK;
}

static int begin(struct ej_text *t, struct assay_event_json *j, const char *name, struct assay_error *e)
{
    *t = (struct ej_text){.j = j, .e = e, .name = strdup(name), .mark_line = 1};
    return t->name ? ASSAY_OK : ej_memory(e);
}

int ej_text_read(struct ej_text *t, struct assay_event_json *j, const char *path, struct assay_error *e)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int rc = begin(t, j, is_stdin ? "standard input" : path, e);
    if (rc < 0)
        return rc;
    int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    rc = fd < 0 ? assay_error_sys(e, errno, "cannot open %s", t->name) : read_all(t, fd);
    if (fd >= 0)
        close(fd);
    if (rc == ASSAY_OK)
        rc = check_text(t);
    if (rc < 0)
        ej_text_free(t);
    return rc;
}

int ej_text_copy(struct ej_text *t, struct assay_event_json *j, const char *name, const void *data, size_t size,
                 struct assay_error *e)
{
    int rc = begin(t, j, name, e);
    if (rc == ASSAY_OK && size > ASSAY_EVENT_JSON_MOST_BYTES)
        rc = ej_fail(t, 0, ASSAY_E_UNSUPPORTED, "larger than %u MB", ASSAY_EVENT_JSON_MOST_BYTES >> 20);
    if (rc == ASSAY_OK && !(t->text = malloc(size ? size : 1)))
        rc = ej_memory(e);
    if (rc == ASSAY_OK) {
        memcpy(t->text, data, size);
        t->size = size;
        rc = check_text(t);
    }
    if (rc < 0)
        ej_text_free(t);
    return rc;
}

void ej_text_free(struct ej_text *t)
{
    free(t->text);
    free(t->name);
    t->text = t->name = NULL;
}

/* ---- places ---- */

/* The line of `at`, which is not before the mark, and the offset where it begins. */
static size_t line_of(const struct ej_text *t, size_t at, size_t *start)
{
    size_t line = t->mark_line, from = t->mark;
    *start = t->mark_start;
    const char *newline;
    while (from < at && (newline = memchr(t->text + from, '\n', at - from))) {
        from = (size_t)(newline - t->text) + 1;
        *start = from;
        line++;
    }
    return line;
}

void ej_text_mark(struct ej_text *t, size_t at)
{
    size_t start;
    t->mark_line = line_of(t, at, &start);
    t->mark_start = start;
    t->mark = at;
}

/* "file:line:column: ". Of a long path the end is shown, so that the rest stays within the line. */
static size_t put_place(const struct ej_text *t, size_t at, char *line, size_t size)
{
    size_t start, n = strlen(t->name), number = line_of(t, at, &start);
    bool cut = n > NAME_SHOWN;
    int put = snprintf(line, size, "%s%s:%zu:%zu: ", cut ? "..." : "", cut ? t->name + n - NAME_SHOWN : t->name, number,
                       at - start + 1);
    return put < 0 ? 0 : (size_t)put;
}

/* What comes from the file is shown without the control characters in it. */
static void put_text(struct ej_text *t, size_t at, char *line, size_t size, const char *fmt, va_list ap)
{
    size_t n = put_place(t, at, line, size);
    vsnprintf(line + n, size - n, fmt, ap);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

int ej_fail(struct ej_text *t, size_t at, int code, const char *fmt, ...)
{
    char line[sizeof t->e->text];
    va_list ap;
    va_start(ap, fmt);
    put_text(t, at, line, sizeof line, fmt, ap);
    va_end(ap);
    return assay_error_set(t->e, code, at, "%s", line);
}

int ej_warn(struct ej_text *t, size_t at, const char *fmt, ...)
{
    struct assay_event_json *j = t->j;
    j->sums.warnings++;
    if (j->warnings == MOST_WARNINGS)
        return ASSAY_OK;
    if (!j->warning && !(j->warning = calloc(MOST_WARNINGS, sizeof *j->warning)))
        return ej_memory(t->e);
    char line[LINE];
    va_list ap;
    va_start(ap, fmt);
    put_text(t, at, line, sizeof line, fmt, ap);
    va_end(ap);
    if (!(j->warning[j->warnings] = strdup(line)))
        return ej_memory(t->e);
    j->warnings++;
    return ASSAY_OK;
}
