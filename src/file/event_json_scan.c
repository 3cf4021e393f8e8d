/* SPDX-License-Identifier: MIT */
/* The elements of an event file, one at a time: so memory stays bounded, and each has a position. */
#include "event_json_priv.h"
#include "source.h"

#include <string.h>

/* Of an element's text; those of Intel have less than 4 kB. */
enum { MOST_ELEMENT = 1 << 20 };

static void skip_blanks(struct ej_scan *s)
{
    const struct ej_text *t = s->t;
    while (s->at < t->size && memchr(" \t\r\n", t->text[s->at], 4))
        s->at++;
}

/* The next character that is no blank, '\0' at the end (and for a NUL, which is as wrong everywhere). */
static char peek(struct ej_scan *s)
{
    skip_blanks(s);
    return s->at < s->t->size ? s->t->text[s->at] : '\0';
}

static int expected(struct ej_scan *s, const char *what)
{
    bool end = s->at >= s->t->size;
    return ej_fail(s->t, s->at, end ? ASSAY_E_TRUNCATED : ASSAY_E_BAD_FORMAT, "expected %s%s", what,
                   end ? ", but the file ends here" : "");
}

/* jansson counts what it has read: up to the byte that is no UTF-8, else all of what it complains of. */
static int parse_failed(struct ej_scan *s, size_t n, const json_error_t *je)
{
    enum json_error_code code = json_error_code(je);
    if (code == json_error_out_of_memory || je->text[0] == '\0')
        return ej_memory(s->t->e);
    size_t read = (size_t)je->position, at = s->at + read - (read > 0 && code != json_error_invalid_utf8);
    if (code != json_error_premature_end_of_input || read < n) /* a NUL is the end, too, for jansson */
        return ej_fail(s->t, at, ASSAY_E_BAD_FORMAT, "%s", je->text);
    if (n < s->t->size - s->at)
        return ej_fail(s->t, s->at, ASSAY_E_UNSUPPORTED, "an element of more than %u kB", MOST_ELEMENT >> 10);
    return ej_fail(s->t, s->t->size, ASSAY_E_TRUNCATED, "%s", je->text);
}

/* Any value, at s->at. Of a key that stands twice the last counts, with a warning. */
static int parse_value(struct ej_scan *s, json_t **value)
{
    size_t left = s->t->size - s->at, n = left < MOST_ELEMENT ? left : MOST_ELEMENT;
    size_t flags = JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY;
    json_error_t je;
    const char *text = s->t->text + s->at;
    *value = json_loadb(text, n, flags | JSON_REJECT_DUPLICATES, &je);
    if (!*value && json_error_code(&je) == json_error_duplicate_key) {
        int rc = ej_warn(s->t, s->at + (size_t)je.position - 1, "%s: the last one counts", je.text);
        if (rc < 0)
            return rc;
        *value = json_loadb(text, n, flags, &je);
    }
    if (!*value)
        return parse_failed(s, n, &je);
    s->at += (size_t)je.position;
    return ASSAY_OK;
}

/* `"key":` of the outer object. 1 when the key is `name`. */
static int parse_key(struct ej_scan *s, json_t **key)
{
    *key = NULL;
    if (peek(s) != '"')
        return expected(s, "a key in quotes");
    int rc = parse_value(s, key);
    if (rc < 0)
        return rc;
    if (peek(s) == ':') {
        s->at++;
        skip_blanks(s);
        return ASSAY_OK;
    }
    json_decref(*key);
    return expected(s, "':'");
}

/* A member of the outer object: that of the events is entered, the header kept, another passed over. */
static int outer_member(struct ej_scan *s)
{
    json_t *key, *value;
    int rc = parse_key(s, &key);
    if (rc < 0)
        return rc;
    bool events = strcmp(json_string_value(key), "Events") == 0, header = strcmp(json_string_value(key), "Header") == 0;
    json_decref(key);
    if (events) {
        if (peek(s) != '[')
            return expected(s, "'[': \"Events\" is an array");
        s->at++;
        s->inside = true;
        return ASSAY_OK;
    }
    rc = parse_value(s, &value);
    if (rc < 0)
        return rc;
    if (header && !s->header)
        s->header = value;
    else
        json_decref(value);
    return ASSAY_OK;
}

/* Members up to the array of events, or to the end of the object: then *end. */
static int outer_members(struct ej_scan *s, bool first, bool *end)
{
    while (!s->inside) {
        if (peek(s) == '}') {
            s->at++;
            *end = true;
            return ASSAY_OK;
        }
        if (!first) {
            if (peek(s) != ',')
                return expected(s, "',' or '}'");
            s->at++;
        }
        int rc = outer_member(s);
        if (rc < 0)
            return rc;
        first = false;
    }
    return ASSAY_OK;
}

int ej_scan_begin(struct ej_scan *s, struct ej_text *t)
{
    *s = (struct ej_scan){.t = t, .first = true};
    if (t->size >= 3 && memcmp(t->text, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        s->at = 3;
    char c = peek(s);
    if (c == '[') {
        s->at++;
        s->inside = true;
        return ASSAY_OK;
    }
    if (c != '{') {
        const char *guess = assay_source_guess((const uint8_t *)t->text, t->size);
        return ej_fail(t, s->at, ASSAY_E_NOT_RECOGNISED, "no event file: expected '{' or '['%s%s",
                       guess ? ", this is " : "", guess ? guess : "");
    }
    size_t begin = s->at++;
    bool end = false;
    s->object = true;
    int rc = outer_members(s, true, &end);
    if (rc == ASSAY_OK && end)
        rc = ej_fail(t, begin, ASSAY_E_NOT_RECOGNISED, "no event file: an object without \"Events\"");
    return rc;
}

void ej_scan_end(struct ej_scan *s) { json_decref(s->header); }

/* After the array: the rest of the outer object, and then nothing. */
static int finish(struct ej_scan *s)
{
    s->inside = false;
    bool end = !s->object;
    if (s->object) {
        int rc = outer_members(s, false, &end);
        if (rc < 0)
            return rc;
        if (s->inside)
            return ej_fail(s->t, s->at, ASSAY_E_BAD_FORMAT, "\"Events\" a second time");
    }
    skip_blanks(s);
    return s->at == s->t->size ? 0 : expected(s, "the end of the file");
}

int ej_scan_next(struct ej_scan *s, json_t **element, size_t *at)
{
    if (!s->inside)
        return 0;
    char c = peek(s);
    if (c == ']') {
        s->at++;
        return finish(s);
    }
    if (!s->first) {
        if (c != ',')
            return expected(s, "',' or ']'");
        s->at++;
        skip_blanks(s);
    }
    s->first = false;
    *at = s->at;
    ej_text_mark(s->t, s->at);
    if (s->at >= s->t->size)
        return expected(s, "an event");
    int rc = parse_value(s, element);
    return rc < 0 ? rc : 1;
}

/* Past the string that begins at `at`. The text has been parsed, so it ends. */
static size_t string_end(const struct ej_text *t, size_t at)
{
    for (at++; at < t->size && t->text[at] != '"'; at++)
        at += t->text[at] == '\\';
    return at + 1;
}

size_t ej_scan_key(const struct ej_text *t, size_t at, const char *key)
{
    size_t n = strlen(key), depth = 0;
    for (size_t i = at; i < t->size; i++) {
        char c = t->text[i];
        if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (--depth == 0)
                break;
        } else if (c == '"') {
            size_t end = string_end(t, i), colon = end;
            while (colon < t->size && memchr(" \t\r\n", t->text[colon], 4))
                colon++;
            bool is_key = depth == 1 && colon < t->size && t->text[colon] == ':';
            if (is_key && end - i == n + 2 && memcmp(t->text + i + 1, key, n) == 0) {
                for (colon++; colon < t->size && memchr(" \t\r\n", t->text[colon], 4);)
                    colon++;
                return colon;
            }
            i = end - 1;
        }
    }
    return at;
}
