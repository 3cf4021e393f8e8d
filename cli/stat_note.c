/* SPDX-License-Identifier: MIT */
/* What two counters say together: instructions per cycle, misses in percent, a clock in GHz, a rate. */
#include "stat.h"

#include <string.h>

/* value(of) / value(over) * factor, and the words behind it. */
static const struct {
    const char *of, *over;
    double factor;
    const char *words;
} formula[] = {
    {"instructions", "cycles", 1, " IPC"},
    {"cycles", "task-clock", 1, " GHz"}, /* the clock is in nanoseconds */
    {"branch-misses", "branches", 100, " % of branches"},
    {"cache-misses", "cache-references", 100, " % of references"},
    {"L1-dcache-load-misses", "L1-dcache-loads", 100, " % of L1 loads"},
    {"L1-icache-load-misses", "L1-icache-loads", 100, " % of L1 fetches"},
    {"LLC-load-misses", "LLC-loads", 100, " % of LLC loads"},
    {"dTLB-load-misses", "dTLB-loads", 100, " % of dTLB loads"},
    {"iTLB-load-misses", "iTLB-loads", 100, " % of iTLB fetches"},
    {"stalled-cycles-frontend", "cycles", 100, " % of cycles"},
    {"stalled-cycles-backend", "cycles", 100, " % of cycles"},
};
static const char *const synonym[][2] = {
    {"cpu-cycles", "cycles"},   {"branch-instructions", "branches"}, {"faults", "page-faults"},
    {"cs", "context-switches"}, {"migrations", "cpu-migrations"},
};
static const char *const rated[] = {"page-faults",    "minor-faults", "major-faults", "context-switches",
                                    "cpu-migrations", "instructions", "branches",     "cycles"};

/* The event without modifiers, by its first name. */
static bool is_event(const struct stat_row *row, const char *name)
{
    const char *colon = memchr(row->event.text, ':', row->event.size);
    size_t n = colon ? (size_t)(colon - row->event.text) : row->event.size;
    if (strlen(name) == n && memcmp(name, row->event.text, n) == 0)
        return true;
    for (size_t i = 0; i < sizeof synonym / sizeof *synonym; i++)
        if (strlen(synonym[i][0]) == n && memcmp(synonym[i][0], row->event.text, n) == 0)
            return strcmp(synonym[i][1], name) == 0;
    return false;
}

static bool same_span(const char *a, size_t an, const char *b, size_t bn)
{
    return an == bn && (an == 0 || memcmp(a, b, an) == 0);
}

static bool same_modifiers(const struct stat_row *a, const struct stat_row *b)
{
    const char *at = memchr(a->event.text, ':', a->event.size), *bt = memchr(b->event.text, ':', b->event.size);
    size_t an = at ? a->event.size - (size_t)(at - a->event.text) : 0;
    size_t bn = bt ? b->event.size - (size_t)(bt - b->event.text) : 0;
    return same_span(at, an, bt, bn) &&
           same_span(a->event.modifiers, a->event.modifiers_size, b->event.modifiers, b->event.modifiers_size);
}

/* Both at the same time: scheduled as one group, or all the time. */
static bool together(const struct stat_row *a, const struct stat_row *b)
{
    if (a->state != STAT_COUNTED || b->state != STAT_COUNTED || a->cpu != b->cpu)
        return false;
    return (a->event.group && a->event.group == b->event.group) ||
           (a->running == a->enabled && b->running == b->enabled);
}

static bool is_clock(const struct stat_row *row) { return is_event(row, "task-clock") || is_event(row, "cpu-clock"); }

/* The clock counts the same whatever the modifiers of the other are. */
static const struct stat_row *partner(const struct stat_result *r, const struct stat_row *row, const char *name)
{
    for (size_t i = 0; i < r->rows; i++)
        if (is_event(&r->row[i], name) && together(row, &r->row[i]) && r->row[i].value > 0 &&
            (is_clock(&r->row[i]) || same_modifiers(row, &r->row[i])))
            return &r->row[i];
    return NULL;
}

static void put(char *buf, size_t size, double v, unsigned decimals, const char *words)
{
    struct assay_out o;
    assay_out_init(&o, buf, size - 1, NULL, NULL);
    assay_out_fixed(&o, v, decimals);
    assay_out_str(&o, words);
    buf[o.len] = '\0';
}

static void put_rate(char *buf, size_t size, double v)
{
    if (v >= 1e9)
        put(buf, size, v / 1e9, 2, " G/s");
    else if (v >= 1e6)
        put(buf, size, v / 1e6, 2, " M/s");
    else if (v >= 1e3)
        put(buf, size, v / 1e3, 2, " K/s");
    else
        put(buf, size, v, 2, " /s");
}

static void note_rate(const struct stat_result *r, const struct stat_row *row, char *buf, size_t size)
{
    const struct stat_row *clock = partner(r, row, "task-clock");
    for (size_t i = 0; clock && i < sizeof rated / sizeof *rated; i++)
        if (is_event(row, rated[i]))
            put_rate(buf, size, row->value * 1e9 / clock->value);
}

const char *stat_note(const struct stat_result *r, const struct stat_row *row, char *buf, size_t size)
{
    *buf = '\0';
    if (row->state != STAT_COUNTED)
        return buf;
    if (is_clock(row) && r->wall_ns && row->cpu < 0) {
        put(buf, size, row->value / (double)r->wall_ns, 2, " CPUs used");
        return buf;
    }
    for (size_t i = 0; i < sizeof formula / sizeof *formula; i++) {
        const struct stat_row *over = is_event(row, formula[i].of) ? partner(r, row, formula[i].over) : NULL;
        if (over) {
            put(buf, size, row->value / over->value * formula[i].factor, 2, formula[i].words);
            return buf;
        }
    }
    note_rate(r, row, buf, size);
    return buf;
}
