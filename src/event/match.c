/* SPDX-License-Identifier: MIT */
/* How well the words of a query fit an event: in its names, then in what is said of it. */
#include <assay/event.h>

enum { LONGEST = 63, MISSPELT_FROM = 5 };

/* How a word stands in a text, worst first. */
enum fit { NOT, MISSPELT, INSIDE, BEGINS, IS_WORD, IS_ALL, FITS };
static const uint8_t name_points[FITS] = {0, 3, 6, 8, 10, 12};
static const uint8_t desc_points[FITS] = {0, 1, 2, 4, 5, 5};

struct word {
    char text[LONGEST + 1]; /* folded */
    size_t size, stem;      /* bytes; those without the ending of a plural */
};

/* Letters of one case; - and _ are one, for names are spelt with either. */
static char fold(char c) { return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c == '-' ? '_' : c); }

static bool is_part(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

static bool ends(const struct word *w, const char *with)
{
    size_t n = strlen(with);
    return w->size > n && memcmp(w->text + w->size - n, with, n) == 0;
}

static size_t stem_size(const struct word *w)
{
    if (ends(w, "sses") || ends(w, "ches") || ends(w, "shes") || ends(w, "xes"))
        return w->size - 2;
    return w->size - (w->size > 3 && ends(w, "s") && !ends(w, "ss"));
}

static bool is_gap(char c) { return c != '\0' && strchr(" \t\n:.,", c) != NULL; }

/* The next word of *query, which is moved behind it; false at the end. */
static bool next_word(const char **query, struct word *w)
{
    const char *q = *query;
    while (is_gap(*q))
        q++;
    w->size = 0;
    for (; *q && !is_gap(*q); q++)
        if (w->size < LONGEST)
            w->text[w->size++] = fold(*q);
    w->text[w->size] = '\0';
    w->stem = stem_size(w);
    *query = q;
    return w->size > 0;
}

static bool starts(const char *text, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fold(text[i]) != word[i])
            return false;
    return true;
}

static bool is_misspelt(const struct word *w, const char *part, size_t n)
{
    unsigned allowed = w->size >= 7 ? 2 : 1;
    char copy[LONGEST + 1];
    if (w->size < MISSPELT_FROM || n < MISSPELT_FROM - 1 || n + allowed < w->size || w->size + allowed < n ||
        n > LONGEST)
        return false;
    for (size_t i = 0; i < n; i++)
        copy[i] = fold(part[i]);
    copy[n] = '\0';
    return assay_edit_distance(w->text, copy) <= allowed;
}

static enum fit fit_of_part(const struct word *w, const char *part, size_t n)
{
    if (starts(part, w->text, w->size))
        return n == w->size ? IS_WORD : BEGINS;
    if (starts(part, w->text, w->stem))
        return BEGINS;
    return is_misspelt(w, part, n) ? MISSPELT : NOT;
}

static enum fit fit_of(const struct word *w, const char *text)
{
    enum fit best = NOT;
    if (starts(text, w->text, w->size + 1)) /* with the end */
        return IS_ALL;
    for (const char *s = text; *s; s++) {
        bool begins = is_part(*s) && (s == text || !is_part(s[-1]));
        size_t n = 0;
        while (begins && is_part(s[n]))
            n++;
        enum fit f = begins ? fit_of_part(w, s, n) : w->size > 2 && starts(s, w->text, w->size) ? INSIDE : NOT;
        best = f > best ? f : best;
    }
    return best;
}

static unsigned points(const struct word *w, const char *name, const char *desc)
{
    unsigned in_name = name_points[fit_of(w, name)], in_desc = desc_points[fit_of(w, desc)];
    return in_name > in_desc ? in_name : in_desc;
}

/* A umask has to say more than its event does, or every umask would be found with the event. */
unsigned assay_event_match(const struct assay_event_table *t, uint32_t event, uint32_t umask, const char *query)
{
    const struct assay_event_row *e = &t->events[event];
    const struct assay_event_umask *u = umask == ASSAY_EVENT_NONE ? NULL : &t->umasks[umask];
    bool alias = u ? u->alias != ASSAY_EVENT_NONE : e->alias != ASSAY_EVENT_NONE, says_more = u == NULL;
    unsigned sum = 0;
    struct word w;
    while (next_word(&query, &w)) {
        unsigned of_event = points(&w, assay_event_str(t, e->name), assay_event_str(t, e->desc));
        unsigned of_umask = u ? points(&w, assay_event_str(t, u->name), assay_event_str(t, u->desc)) : 0;
        unsigned best = of_event > of_umask ? of_event : of_umask;
        if (best == 0)
            return 0;
        says_more |= of_umask > of_event;
        sum += best;
    }
    return says_more ? 2 * sum + 1 + !alias : 0;
}
