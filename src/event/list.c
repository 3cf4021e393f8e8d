/* SPDX-License-Identifier: MIT */
/* Splits a list of events at commas and braces. */
#include <assay/event_list.h>

void assay_event_list_init(struct assay_event_list *l, const char *text, size_t n, uint32_t groups)
{
    *l = (struct assay_event_list){.text = text, .size = n, .groups = groups, .modifiers = ""};
}

static int fail(struct assay_diag *d, size_t at, const char *what, const char *expected)
{
    *d = (struct assay_diag){.code = ASSAY_E_ARGUMENT, .offset = at, .what = what, .expected = expected};
    return ASSAY_E_ARGUMENT;
}

static char here(const struct assay_event_list *l) { return l->at < l->size ? l->text[l->at] : '\0'; }

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void pass_blanks(struct assay_event_list *l)
{
    while (is_blank(here(l)))
        l->at++;
}

/* The end of the event that begins at `at`: the comma or brace outside of slashes and quotes. */
static size_t event_end(const struct assay_event_list *l, size_t at, struct assay_diag *d)
{
    char quote = '\0';
    size_t slash = l->size, opened = at;
    for (; at < l->size; at++) {
        char c = l->text[at];
        if (quote) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
            opened = at;
        } else if (c == '/') {
            slash = slash == l->size ? at : l->size;
        } else if (slash == l->size && (c == ',' || c == '{' || c == '}')) {
            break;
        }
    }
    if (quote)
        fail(d, opened, "the quote is never closed", "the same quote again");
    else if (slash != l->size)
        fail(d, slash, "the slash is never closed", "a second slash behind the terms: pmu/term=value/");
    return at;
}

/* Looks ahead for what stands behind the closing brace, since it holds for all events before it. */
static int open_group(struct assay_event_list *l, struct assay_diag *d)
{
    size_t brace = l->at++, at = l->at;
    while (at < l->size && l->text[at] != '}') {
        at = event_end(l, at, d);
        if (d->code)
            return d->code;
        if (at < l->size && l->text[at] == '{')
            return fail(d, at, "a group inside a group", "a closing brace before it");
        at += at < l->size && l->text[at] == ',';
    }
    if (at == l->size)
        return fail(d, brace, "the brace is never closed", "a closing brace behind the group's last event");
    l->modifiers = l->text + at + 1;
    size_t end = ++at;
    if (at < l->size && l->text[at] == ':') {
        l->modifiers++;
        end = ++at;
        while (end < l->size && l->text[end] != ',' && !is_blank(l->text[end]))
            end++;
        if (end == at)
            return fail(d, at, "no modifiers behind the colon", "letters, such as :u");
    }
    l->modifiers_size = end - at;
    l->open = true;
    l->groups++;
    return ASSAY_OK;
}

/* Past the brace, its modifiers and the comma that follows. */
static int close_group(struct assay_event_list *l, struct assay_diag *d)
{
    l->at = (size_t)(l->modifiers - l->text) + l->modifiers_size;
    l->open = false;
    l->modifiers = "";
    l->modifiers_size = 0;
    pass_blanks(l);
    l->ended = l->at == l->size;
    if (!l->ended && here(l) != ',')
        return fail(d, l->at, "no comma behind the group", "a comma, or :modifiers before it");
    l->at += !l->ended;
    return ASSAY_OK;
}

static int take_event(struct assay_event_list *l, bool first, struct assay_event_item *i, struct assay_diag *d)
{
    size_t from = l->at, to = event_end(l, from, d), end = to;
    if (d->code)
        return d->code;
    while (end > from && is_blank(l->text[end - 1]))
        end--;
    if (end == from)
        return fail(d, from, "there is no event here", "an event's name");
    char stop = to < l->size ? l->text[to] : '\0';
    if (stop == '{' || (stop == '}' && !l->open))
        return fail(d, to, "a brace that belongs to no group", "a comma");
    *i = (struct assay_event_item){.text = l->text + from,
                                   .size = end - from,
                                   .modifiers = l->modifiers,
                                   .modifiers_size = l->modifiers_size,
                                   .group = l->open ? l->groups : 0,
                                   .first = first || !l->open};
    l->ended = to == l->size;
    l->at = to + (stop == ',');
    return stop == '}' ? close_group(l, d) : ASSAY_OK;
}

int assay_event_list_next(struct assay_event_list *l, struct assay_event_item *i, struct assay_diag *d)
{
    *d = (struct assay_diag){0};
    if (l->ended)
        return 0;
    pass_blanks(l);
    bool first = here(l) == '{' && !l->open;
    if (first && open_group(l, d) != ASSAY_OK)
        return d->code;
    pass_blanks(l);
    return take_event(l, first, i, d) == ASSAY_OK ? 1 : d->code;
}
