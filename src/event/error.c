/* SPDX-License-Identifier: MIT */
/* What is wrong with an event string: where, what, and what to do. */
#include <assay/base.h>

#include <limits.h>
#include <string.h>

#include "event/encode.h"

enum { LONGEST = 63, SHOWN = 80 };

/* Directives in the texts: %t the token, %n the named part of it before any =, %p PMU, %q the other PMU, %e event, %u umask,
 * %o the other umask, %m modifier, %r what it takes, %x value in hex, %d value, %l the umasks or modifiers to choose from,
 * %s "; did you mean ...?". */
static const struct {
    const char name[40], text[120];
} reasons[ASSAY_EVENT_REASONS] = {
    [ASSAY_EVENT_FINE] = {"no error", "nothing is wrong"},
    [ASSAY_EVENT_BAD_CHARACTER] = {"illegal character",
                                   "'%t' cannot be in an event's name; give each event by itself, without blanks"},
    [ASSAY_EVENT_NO_PMU] = {"no such PMU", "no PMU '%t'%s"},
    [ASSAY_EVENT_NO_EVENT] = {"no such event", "no event '%t'%s"},
    [ASSAY_EVENT_AMBIGUOUS] = {"ambiguous event", "'%n' is one thing on %p and another on %q; write %p::%n or %q::%n"},
    [ASSAY_EVENT_NO_ATTRIBUTE] = {"no such umask or modifier", "no umask or modifier '%n' of %p::%e%s"},
    [ASSAY_EVENT_EMPTY] = {"nothing after a delimiter", "nothing stands here; leave out the delimiter before it"},
    [ASSAY_EVENT_UMASK_VALUE] = {"a umask with a value", "'%t': a umask takes no value; write %n"},
    [ASSAY_EVENT_VALUE_MISSING] = {"a value is missing", "'%t': %m takes %r; write %m=VALUE"},
    [ASSAY_EVENT_VALUE_BAD] = {"not a value", "'%t': %m takes %r"},
    [ASSAY_EVENT_VALUE_RANGE] = {"value out of range", "'%t': %m takes %r"},
    [ASSAY_EVENT_SET_TWICE] = {"a modifier with two values",
                               "'%t' sets a modifier that has another value before; keep one"},
    [ASSAY_EVENT_TOO_MANY] = {"too many attributes", "'%t' is one too many; an event takes 64 umasks and 64 modifiers"},
    [ASSAY_EVENT_RAW_MIXED] = {"raw and named umasks",
                               "'%t': a raw umask stands alone; leave out either it or the others"},
    [ASSAY_EVENT_RAW_WIDTH] = {"raw umask too wide", "'%t': the umask of %p::%e has no bits %x; leave them out"},
    [ASSAY_EVENT_RAW_ILLEGAL] = {"raw umask that counts nothing", ""},
    [ASSAY_EVENT_NOT_TOGETHER] = {"umasks that exclude each other", "%u and %o cannot be together; choose one"},
    [ASSAY_EVENT_LATENCY] = {"average latency mode", ""},
    [ASSAY_EVENT_NEEDS_UMASK] = {"a umask is missing", "%p::%e needs a umask; choose of %l"},
    [ASSAY_EVENT_FIXED_MODIFIER] = {"modifier set by the umask", ""},
    [ASSAY_EVENT_EDGE_CMASK] = {"edge without counter mask", "'%t' needs a counter mask of 1 or more; add c=1"},
    [ASSAY_EVENT_INVERT_CMASK] = {"invert without counter mask",
                                  "'%t' inverts a comparison with c, which is 0; add c=1"},
    [ASSAY_EVENT_NO_PRIVILEGE] = {"no privilege level is left", ""},
    [ASSAY_EVENT_NO_MODIFIER] = {"no such modifier here", ""},
    [ASSAY_EVENT_NO_PEBS] = {"no PEBS", ""},
    [ASSAY_EVENT_MSR_REFUSES] = {"the MSR refuses it", ""},
    [ASSAY_EVENT_KERNEL_REFUSES] = {"Linux refuses it",
                                    "'%t': Linux refuses it; only code that writes the registers itself can use it"},
    [ASSAY_EVENT_EXCLUDES] = {"modifiers that exclude each other",
                              "'%t': period and freq exclude each other; keep one"},
};

const char *assay_event_reason_name(enum assay_event_reason r)
{
    return (unsigned)r < ASSAY_EVENT_REASONS ? reasons[r].name : "";
}

int assay_event_fail(struct event_request *r, enum assay_event_reason reason, size_t at)
{
    size_t end = event_token_end(r->text, at, r->size);
    bool absent = reason == ASSAY_EVENT_NO_PMU || reason == ASSAY_EVENT_NO_EVENT || reason == ASSAY_EVENT_NO_ATTRIBUTE;
    *r->e = (struct assay_event_error){
        .code = absent ? ASSAY_E_NOT_FOUND : ASSAY_E_ARGUMENT,
        .reason = (uint8_t)reason,
        .modifier = ASSAY_EVENT_MODS,
        .listed = event_is_libpfm4(r),
        .column = (uint32_t)at,
        .size = (uint32_t)(end - at),
        .pmu = r->pmu ? r->c->pmu : ASSAY_EVENT_NONE,
        .event = r->pmu ? r->c->event : ASSAY_EVENT_NONE,
        .umask = ASSAY_EVENT_NONE,
        .other_umask = ASSAY_EVENT_NONE,
    };
    return r->e->code;
}

int assay_event_fail_umask(struct event_request *r, enum assay_event_reason reason, unsigned umask, unsigned other)
{
    int status = assay_event_fail(r, reason, r->umask_at[umask]);
    r->e->umask = r->event->first_umask + umask;
    r->e->other_umask = r->event->first_umask + other;
    return status;
}

int assay_event_fail_modifier(struct event_request *r, enum assay_event_reason reason, enum assay_event_modifier m)
{
    int status = assay_event_fail(r, reason, r->modifier_at[m]);
    r->e->modifier = (uint8_t)m;
    r->e->value = r->c->modifier[m];
    return status;
}

/* Upper case, terminated; false when it does not fit. */
static bool fold_name(char *to, const char *s, size_t n)
{
    if (n > LONGEST)
        return false;
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(s[i] >= 'a' && s[i] <= 'z' ? s[i] - 0x20 : s[i] ? s[i] : ' ');
    to[n] = '\0';
    return true;
}

/* The search for the name next to a word. A name that only goes on where the word stops is next to it. */
struct nearest {
    char word[LONGEST + 1];
    size_t size;
    unsigned distance;
    const char *name;
};

/* Two letters in the other order, the commonest slip of all. */
static bool is_swapped(const char *a, const char *b, size_t size)
{
    size_t i = 0;
    while (i < size && a[i] == b[i])
        i++;
    return i + 1 < size && a[i] == b[i + 1] && a[i + 1] == b[i] && memcmp(a + i + 2, b + i + 2, size - i - 2) == 0;
}

static void consider(struct nearest *best, const char *name)
{
    char folded[LONGEST + 1];
    size_t size = strlen(name), apart = size > best->size ? size - best->size : best->size - size;
    if (!fold_name(folded, name, size))
        return;
    bool begins = best->size >= 3 && size > best->size && memcmp(folded, best->word, best->size) == 0;
    bool near = begins || (apart == 0 && is_swapped(folded, best->word, size));
    unsigned d = near ? 1 : apart < best->distance ? assay_edit_distance(best->word, folded) : UINT_MAX;
    if (d < best->distance) {
        best->distance = d;
        best->name = name;
    }
}

static void consider_events(struct nearest *best, const struct assay_event_table *t, uint32_t pmu, bool listed)
{
    const struct assay_event_pmu *p = &t->pmus[pmu];
    for (uint32_t i = 0; i < (listed ? p->listed : p->events); i++)
        consider(best, assay_event_str(t, t->events[p->first_event + i].name));
}

static void consider_attributes(struct nearest *best, const struct assay_event_table *t, uint32_t event, bool listed)
{
    const struct assay_event_row *row = &t->events[event];
    for (uint32_t i = 0; i < (listed ? row->listed : row->umasks); i++)
        consider(best, assay_event_str(t, t->umasks[row->first_umask + i].name));
    for (unsigned m = 0; m < ASSAY_EVENT_MODS; m++)
        if (row->modifiers & EVENT_BIT(m) || m >= ASSAY_EVENT_MOD_PRECISE)
            consider(best, assay_event_modifier_name((enum assay_event_modifier)m));
}

/* The part of the token that is a name. */
static size_t name_size(const char *text, const struct assay_event_error *e)
{
    size_t n = 0;
    while (n < e->size && text[e->column + n] != '=')
        n++;
    return n;
}

/* libpfm_intel_knm(3) calls the counter mask m in one place. */
static bool is_counter_mask(const struct assay_event_row *row, const char *word)
{
    return word[0] == 'M' && word[1] == '\0' && row->modifiers & EVENT_BIT(ASSAY_EVENT_MOD_C);
}

const char *assay_event_error_meant(const struct assay_event_table *t, const char *text,
                                    const struct assay_event_error *e)
{
    struct nearest best = {.size = name_size(text, e)};
    best.distance = (unsigned)(best.size > 11 ? 4 : best.size / 3 + 1);
    if (best.size == 0 || !fold_name(best.word, text + e->column, best.size))
        return NULL;
    if (e->reason == ASSAY_EVENT_NO_PMU)
        for (uint32_t i = 0; i < t->pmu_count; i++)
            consider(&best, assay_event_str(t, t->pmus[i].name));
    if (e->reason == ASSAY_EVENT_NO_EVENT)
        for (uint32_t i = 0; i < t->pmu_count; i++)
            if (e->pmu == ASSAY_EVENT_NONE || e->pmu == i)
                consider_events(&best, t, i, e->listed);
    if (e->reason == ASSAY_EVENT_NO_ATTRIBUTE && e->event != ASSAY_EVENT_NONE) {
        if (is_counter_mask(&t->events[e->event], best.word))
            return assay_event_modifier_name(ASSAY_EVENT_MOD_C);
        consider_attributes(&best, t, e->event, e->listed);
    }
    return best.name;
}

/* One error on its way to a line of text. */
struct complaint {
    const struct assay_event_table *t;
    const char *text;
    const struct assay_event_error *e;
    struct assay_out *o;
};

/* The token may be anything: what is not plain text becomes '?', and a long one is cut. */
static void put_token(const struct complaint *w, size_t size)
{
    for (size_t i = 0; i < size && i < SHOWN; i++) {
        unsigned char ch = (unsigned char)w->text[w->e->column + i];
        assay_out_char(w->o, ch < 0x20 || ch >= 0x7f ? '?' : (char)ch);
    }
    if (size > SHOWN)
        assay_out_str(w->o, "...");
}

static void put_umask(const struct complaint *w, uint32_t umask)
{
    assay_out_str(w->o, umask == ASSAY_EVENT_NONE ? "it" : assay_event_str(w->t, w->t->umasks[umask].name));
}

static void put_range(const struct complaint *w)
{
    static const struct {
        uint8_t modifier;
        char text[28];
    } ranges[] = {{ASSAY_EVENT_MOD_C, "a number from 0 to 255"},
                  {ASSAY_EVENT_MOD_THR, "a number from 0 to 15"},
                  {ASSAY_EVENT_MOD_PRECISE, "a number from 0 to 3"},
                  {ASSAY_EVENT_MOD_PERIOD, "a number from 1"},
                  {ASSAY_EVENT_MOD_FREQ, "a number from 1"},
                  {ASSAY_EVENT_MOD_CPU, "the number of a CPU"},
                  {ASSAY_EVENT_MODS, "no value"}};
    const char *text = "1 or 0 (y or n, t or f)";
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (ranges[i].modifier == w->e->modifier)
            text = ranges[i].text;
    assay_out_str(w->o, text);
}

/* What could stand there instead. */
static void put_choice(const struct complaint *w)
{
    const struct assay_event_row *row = &w->t->events[w->e->event];
    unsigned n = 0;
    if (w->e->reason == ASSAY_EVENT_NO_MODIFIER) {
        for (unsigned m = 0; m < ASSAY_EVENT_MODS; m++)
            if (row->modifiers & EVENT_BIT(m)) {
                assay_out_str(w->o, n++ ? " " : "");
                assay_out_str(w->o, assay_event_modifier_name((enum assay_event_modifier)m));
            }
        return;
    }
    for (uint32_t i = 0; i < row->umasks; i++)
        if (!(w->t->umasks[row->first_umask + i].flags & ASSAY_EVENT_TAG)) {
            assay_out_str(w->o, n++ ? ", " : "");
            assay_out_str(w->o, assay_event_str(w->t, w->t->umasks[row->first_umask + i].name));
        }
}

/* A PMU's name where an event's should stand. */
static bool is_pmu(const struct complaint *w)
{
    const struct assay_event_error *e = w->e;
    return e->reason == ASSAY_EVENT_NO_EVENT && e->column == 0 &&
           assay_event_find_pmu(w->t, w->text, name_size(w->text, e)) != ASSAY_EVENT_NONE;
}

static void put_meant(const struct complaint *w)
{
    const char *meant = assay_event_error_meant(w->t, w->text, w->e);
    if (is_pmu(w)) {
        assay_out_str(w->o, "; a PMU stands before two colons: ");
        put_token(w, name_size(w->text, w->e));
        assay_out_str(w->o, "::EVENT");
        return;
    }
    assay_out_str(w->o, meant ? "; did you mean " : "; assay list shows what there is");
    assay_out_str(w->o, meant ? meant : "");
    assay_out_str(w->o, meant ? "?" : "");
}

static void put_pmu(const struct complaint *w, uint64_t pmu)
{
    assay_out_str(w->o, pmu < w->t->pmu_count ? assay_event_str(w->t, w->t->pmus[pmu].name) : "?");
}

/* The name of a row, or of the modifier. */
static void put_row(const struct complaint *w, char directive)
{
    const struct assay_event_error *e = w->e;
    switch (directive) {
    case 'p':
        put_pmu(w, e->pmu);
        break;
    case 'q':
        put_pmu(w, e->value);
        break;
    case 'e':
        assay_out_str(w->o,
                      e->event == ASSAY_EVENT_NONE ? "the event" : assay_event_str(w->t, w->t->events[e->event].name));
        break;
    case 'u':
        put_umask(w, e->umask);
        break;
    case 'o':
        put_umask(w, e->other_umask);
        break;
    default:
        assay_out_str(w->o, e->modifier < ASSAY_EVENT_MODS
                                ? assay_event_modifier_name((enum assay_event_modifier)e->modifier)
                                : "it");
        break;
    }
}

static void put_directive(const struct complaint *w, char directive)
{
    switch (directive) {
    case 't':
        put_token(w, w->e->size);
        break;
    case 'n':
        put_token(w, name_size(w->text, w->e));
        break;
    case 'r':
        put_range(w);
        break;
    case 'x':
        assay_out_str(w->o, "0x");
        assay_out_hex(w->o, w->e->value);
        break;
    case 'd':
        assay_out_dec(w->o, w->e->value);
        break;
    case 'l':
        put_choice(w);
        break;
    case 's':
        put_meant(w);
        break;
    default:
        put_row(w, directive);
        break;
    }
}

/* Reasons that are told in more than one way. */
static const char *text_of(const struct complaint *w)
{
    const struct assay_event_error *e = w->e;
    const struct assay_event_row *row = e->event == ASSAY_EVENT_NONE ? NULL : &w->t->events[e->event];
    switch (e->reason) {
    case ASSAY_EVENT_RAW_ILLEGAL:
        return e->value ? "'%t': a fixed counter alone counts %p::%e, by this code and no other; leave out the bits %x"
                        : "'%t' has no request or no response and would count nothing; add the missing bits";
    case ASSAY_EVENT_LATENCY:
        return e->umask == ASSAY_EVENT_NONE
                   ? "'%t': for average latency only requests stand beside the bit of outstanding ones; leave out %x"
                   : "%u and %o cannot be together: for average latency only requests stand beside OUTSTANDING";
    case ASSAY_EVENT_FIXED_MODIFIER:
        return e->umask == ASSAY_EVENT_NONE ? "'%t': %e sets %m to %d itself; leave it out"
                                            : "'%t': %u sets %m to %d itself; leave it out or take another umask";
    case ASSAY_EVENT_NO_PEBS:
        return e->umask == ASSAY_EVENT_NONE ? "'%t': PEBS cannot sample %e; leave out precise"
                                            : "'%t': PEBS cannot sample %e:%u; leave out precise or take another umask";
    case ASSAY_EVENT_NO_MODIFIER:
        return e->modifier >= ASSAY_EVENT_MOD_PRECISE
                   ? "'%t': %m is for the kernel's interface, no part of the registers; leave it out"
                   : "%p::%e does not take '%m'; it takes %l";
    case ASSAY_EVENT_NO_PRIVILEGE:
        return e->modifier == ASSAY_EVENT_MOD_MG ? "'%t': neither host nor guests are left to count in; add mh"
               : e->modifier < ASSAY_EVENT_MODS  ? "'%t' leaves no privilege level to count in; add u or k"
                                                 : "no privilege level is left to count in; add u or k";
    case ASSAY_EVENT_MSR_REFUSES:
        return row && !(e->value & ~row->extra_alt_ok)
                   ? "'%t': this event's MSR refuses the bits %x; the other offcore event takes them"
                   : "'%t': the event's MSR refuses the bits %x; leave them out";
    default:
        return e->reason < ASSAY_EVENT_REASONS ? reasons[e->reason].text : "";
    }
}

void assay_event_error_print(const struct assay_event_table *t, const char *text, const struct assay_event_error *e,
                             struct assay_out *o)
{
    struct complaint w = {.t = t, .text = text, .e = e, .o = o};
    assay_out_str(o, "column ");
    assay_out_dec(o, (uint64_t)e->column + 1);
    assay_out_str(o, ": ");
    for (const char *s = text_of(&w); *s; s++) {
        if (*s != '%')
            assay_out_char(o, *s);
        else
            put_directive(&w, *++s);
    }
}
