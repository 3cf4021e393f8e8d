/* SPDX-License-Identifier: MIT */
/* Event strings that are nearly right: made from the table's own words, then damaged; each in a mode and on a PMU by chance.
 * The same numbers give the same strings. usage: mutate_events [STRINGS [SEED]] */
#include "../prop/event_check.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 1024 };

static uint64_t state;

static uint32_t chance(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state * 0x9e3779b97f4a7c15u >> 32) % below);
}

struct string {
    char text[LONGEST];
    size_t size;
};

static void put(struct string *s, const char *word)
{
    for (; *word && s->size < LONGEST; word++)
        s->text[s->size++] = *word >= 'A' && *word <= 'Z' && chance(40) == 0 ? (char)(*word | 0x20) : *word;
}

static void put_number(struct string *s)
{
    static const char *const format[] = {"%llu", "0x%llx", "0%llo", "+%llu", "-%llu", "0X%llX"};
    char word[32];
    unsigned long long value = chance(3) ? chance(20) : chance(2) ? chance(400) : state >> chance(64);
    snprintf(word, sizeof word, format[chance(3) ? 0 : chance(6)], value);
    put(s, word);
}

/* Mostly one that the event has. */
static void put_modifier(struct string *s, const struct assay_event_row *e)
{
    static const char *const booleans[] = {"1", "0", "y", "n", "T", "F", "", "2", "yes"};
    enum assay_event_modifier m;
    do
        m = (enum assay_event_modifier)chance(ASSAY_EVENT_MODS);
    while (!(e->modifiers >> m & 1) && chance(10));
    put(s, assay_event_modifier_name(m));
    if (assay_event_modifier_boolean(m) ? chance(3) > 0 : chance(20) == 0)
        return;
    put(s, "=");
    if (assay_event_modifier_boolean(m))
        put(s, booleans[chance(sizeof booleans / sizeof booleans[0])]);
    else
        put_number(s);
}

static void put_raw(struct string *s)
{
    char word[32];
    snprintf(word, sizeof word, "0x%llx", (unsigned long long)(state >> chance(64)));
    put(s, word);
}

static void put_attribute(const struct assay_event_table *t, struct string *s, const struct assay_event_row *e)
{
    put(s, chance(8) ? ":" : ".");
    unsigned kind = chance(10);
    if (kind < 6 && e->umasks)
        put(s, assay_event_str(t, t->umasks[e->first_umask + chance(e->umasks)].name));
    else if (kind < 9)
        put_modifier(s, e);
    else if (chance(2))
        put_raw(s);
    else
        put(s, assay_event_str(t, t->umasks[chance(t->umask_count)].name));
}

static void make(const struct assay_event_table *t, struct string *s)
{
    const struct assay_event_pmu *pmu = &t->pmus[chance(t->pmu_count)];
    const struct assay_event_row *e = &t->events[pmu->first_event + chance(pmu->events)];
    s->size = 0;
    if (chance(3)) {
        put(s, assay_event_str(t, pmu->name));
        put(s, "::");
    }
    if (e->alias != ASSAY_EVENT_NONE && chance(2))
        e = &t->events[e->alias];
    put(s, assay_event_str(t, e->name));
    unsigned attributes = chance(50) ? chance(5) : chance(120);
    for (unsigned i = 0; i < attributes; i++)
        put_attribute(t, s, e);
}

static void damage(struct string *s)
{
    static const char alphabet[] = ":.=,0x u1\n\t_";
    size_t at = s->size ? chance((uint32_t)s->size) : 0;
    switch (chance(6)) {
    case 0: /* another byte */
        if (s->size)
            s->text[at] = (char)chance(256);
        break;
    case 1: /* one less */
        if (s->size)
            memmove(s->text + at, s->text + at + 1, --s->size - at);
        break;
    case 2: /* one more */
        if (s->size < LONGEST) {
            memmove(s->text + at + 1, s->text + at, s->size++ - at);
            s->text[at] = alphabet[chance(sizeof alphabet - 1)];
        }
        break;
    case 3: /* a bit */
        if (s->size)
            s->text[at] = (char)(s->text[at] ^ 1 << chance(8));
        break;
    case 4: /* the end off */
        s->size = at;
        break;
    default: /* a piece again */
        if (s->size * 2 - at <= LONGEST) {
            memmove(s->text + s->size, s->text + at, s->size - at);
            s->size += s->size - at;
        }
        break;
    }
}

int main(int argc, char **argv)
{
    uint64_t strings = argc > 1 ? strtoull(argv[1], NULL, 0) : 300000, events = 0;
    state = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) * 2 + 1;
    struct assay_event_table t;
    struct string s;
    assay_event_builtin(&t);
    for (uint64_t i = 0; i < strings; i++) {
        make(&t, &s);
        for (unsigned n = chance(2) * chance(4); n > 0; n--)
            damage(&s);
        bool ok;
        uint32_t pmu = chance(2) ? ASSAY_EVENT_NONE : chance(t.pmu_count);
        char *exact = malloc(s.size ? s.size : 1); /* to the byte, so that a sanitizer sees a read behind the end */
        if (!exact)
            return 1;
        memcpy(exact, s.text, s.size);
        unsigned mode = event_modes[chance(EVENT_MODES)], plm = chance(4);
        const char *complaint = event_check(&t, exact, s.size, mode, plm, pmu, chance(2), &ok);
        free(exact);
        if (complaint) {
            fprintf(stderr, "string %llu: %s: %.*s\n", (unsigned long long)i, complaint, (int)s.size, s.text);
            return 1;
        }
        events += ok;
    }
    printf("%llu strings, %llu of them events\n", (unsigned long long)strings, (unsigned long long)events);
    return 0;
}
