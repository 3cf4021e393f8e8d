/* SPDX-License-Identifier: MIT */
/* The terms of Linux's intel_pt PMU (its sysfs format folder) to attr.config and back. */
#include <assay/record.h>

#include <assay/text.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct term {
    const char *name;
    unsigned shift, bits;
} terms_of_pmu[] = {
    {"pt", 0, 1},          {"cyc", 1, 1},         {"fup_on_ptw", 5, 1},  {"mtc", 9, 1},
    {"tsc", 10, 1},        {"noretcomp", 11, 1},  {"ptw", 12, 1},        {"branch", 13, 1},
    {"mtc_period", 14, 4}, {"cyc_thresh", 19, 4}, {"psb_period", 24, 4},
};
enum { TERMS = sizeof terms_of_pmu / sizeof terms_of_pmu[0], WORD = 32 };

static uint64_t mask_of(const struct term *t) { return (UINT64_C(1) << t->bits) - 1; }

static const struct term *find_term(const char *name)
{
    for (size_t i = 0; i < TERMS; i++)
        if (strcmp(terms_of_pmu[i].name, name) == 0)
            return &terms_of_pmu[i];
    return NULL;
}

static int unknown_term(const char *name, size_t column, struct assay_error *e)
{
    const struct term *best = &terms_of_pmu[0];
    for (size_t i = 1; i < TERMS; i++)
        if (assay_edit_distance(name, terms_of_pmu[i].name) < assay_edit_distance(name, best->name))
            best = &terms_of_pmu[i];
    return assay_error_set(e, ASSAY_E_ARGUMENT, column, "intel_pt has no term \"%s\"; nearest: %s", name, best->name);
}

/* name or name=number; the word ends before `n` bytes. */
static int parse_term(const char *word, size_t n, size_t column, uint64_t *config, struct assay_error *e)
{
    char text[WORD];
    if (n >= sizeof text)
        return assay_error_set(e, ASSAY_E_ARGUMENT, column, "\"%.*s\" is no term of intel_pt", (int)n, word);
    memcpy(text, word, n);
    text[n] = '\0';
    char *value = strchr(text, '=');
    if (value)
        *value++ = '\0';
    const struct term *t = find_term(text);
    if (!t)
        return unknown_term(text, column, e);
    char *end = value;
    unsigned long v = value ? strtoul(value, &end, 0) : 1;
    if (value && (end == value || *end || *value == '-' || v > mask_of(t)))
        return assay_error_set(e, ASSAY_E_ARGUMENT, column, "%s takes a number from 0 to %u, not \"%s\"", t->name,
                               (unsigned)mask_of(t), value);
    *config = (*config & ~(mask_of(t) << t->shift)) | (uint64_t)v << t->shift;
    return ASSAY_OK;
}

int assay_record_pt_parse(const char *terms, uint64_t *config, struct assay_error *e)
{
    for (size_t at = 0; terms[at];) {
        size_t n = strcspn(terms + at, ",");
        int r = n ? parse_term(terms + at, n, at, config, e) : ASSAY_OK;
        if (r < 0)
            return r;
        at += n + (terms[at + n] == ',');
    }
    return ASSAY_OK;
}

uint64_t assay_record_pt_default(void)
{
    uint64_t config = 0;
    assay_record_pt_parse("pt,cyc,mtc,tsc,branch,mtc_period=3,psb_period=3", &config, NULL);
    return config;
}

void assay_record_pt_print(uint64_t config, char *buf, size_t size)
{
    size_t at = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < TERMS && at < size; i++) {
        const struct term *t = &terms_of_pmu[i];
        uint64_t v = config >> t->shift & mask_of(t);
        if (v == 0)
            continue;
        int n = t->bits == 1 ? snprintf(buf + at, size - at, "%s%s", at ? "," : "", t->name)
                             : snprintf(buf + at, size - at, "%s%s=%u", at ? "," : "", t->name, (unsigned)v);
        at += (size_t)n;
    }
}
