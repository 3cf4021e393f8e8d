/* SPDX-License-Identifier: MIT */
/* The fields of one event as the files write them: strings, numbers, lists of numbers, sets of counters. */
#include "event_json_priv.h"

#include <string.h>

/* Event strings are read with names up to 159 characters. */
enum { MOST_NAME = 150 };

enum kind { STRING, LIST, NUMBER, COUNTERS, KNOWN };

/* Every key that the files hold. What is only KNOWN says nothing of how to program a core, or is of other units. */
static const struct key {
    const char *name;
    uint8_t kind, slot;
    uint64_t most; /* of a number */
} keys[] = {
    {"EventName", STRING, EJ_NAME, 0},
    {"EventCode", LIST, EJ_CODE, 0xff},
    {"UMask", LIST, EJ_UMASK, 0xffff}, /* Linux's files: the extension in bits 15:8 */
    {"UMaskExt", NUMBER, EJ_UMASK_EXT, 0xff},
    {"BriefDescription", STRING, EJ_BRIEF, 0},
    {"PublicDescription", STRING, EJ_LONG, 0},
    {"Counter", COUNTERS, EJ_COUNTER, 0},
    {"CounterHTOff", COUNTERS, EJ_COUNTER_HT_OFF, 0},
    {"PEBScounters", COUNTERS, EJ_COUNTER_PEBS, 0},
    {"PDISTCounter", COUNTERS, EJ_COUNTER_PDIST, 0},
    {"SampleAfterValue", NUMBER, EJ_SAMPLE, UINT64_MAX},
    {"MSRIndex", LIST, EJ_MSR, UINT32_MAX},
    {"MSRValue", NUMBER, EJ_MSR_VALUE, UINT64_MAX},
    {"CounterMask", NUMBER, EJ_CMASK, 0xff},
    {"Invert", NUMBER, EJ_INVERT, 1},
    {"EdgeDetect", NUMBER, EJ_EDGE, 1},
    {"AnyThread", NUMBER, EJ_ANY, 1},
    {"Equal", NUMBER, EJ_EQUAL, 1},
    {"PEBS", NUMBER, EJ_PEBS, 3},
    {"Precise", NUMBER, EJ_PRECISE, 2},
    {"TakenAlone", NUMBER, EJ_ALONE, 1},
    {"Data_LA", NUMBER, EJ_ADDRESS, 1},
    {"Deprecated", NUMBER, EJ_DEPRECATED, 1},
    {"Errata", STRING, EJ_ERRATA, 0},
    {"Unit", STRING, EJ_UNIT, 0},
    {"CollectPEBSRecord", KNOWN, 0, 0},
    {"Compat", KNOWN, 0, 0},
    {"CounterType", KNOWN, 0, 0},
    {"CountersNumFixed", KNOWN, 0, 0},
    {"CountersNumGeneric", KNOWN, 0, 0},
    {"DefaultMetricgroupName", KNOWN, 0, 0},
    {"ELLC", KNOWN, 0, 0},
    {"Experimental", KNOWN, 0, 0},
    {"FCMask", KNOWN, 0, 0},
    {"L1_Hit_Indication", KNOWN, 0, 0},
    {"MetricConstraint", KNOWN, 0, 0},
    {"MetricExpr", KNOWN, 0, 0},
    {"MetricGroup", KNOWN, 0, 0},
    {"MetricName", KNOWN, 0, 0},
    {"MetricThreshold", KNOWN, 0, 0},
    {"MetricgroupNoGroup", KNOWN, 0, 0},
    {"Offcore", KNOWN, 0, 0},
    {"Offmodule", KNOWN, 0, 0},
    {"PDIR_COUNTER", KNOWN, 0, 0},
    {"PRECISE_STORE", KNOWN, 0, 0},
    {"PerPkg", KNOWN, 0, 0},
    {"PortMask", KNOWN, 0, 0},
    {"ProgrammingRestriction", KNOWN, 0, 0},
    {"RetirementLatencyMax", KNOWN, 0, 0},
    {"RetirementLatencyMean", KNOWN, 0, 0},
    {"RetirementLatencyMin", KNOWN, 0, 0},
    {"ScaleUnit", KNOWN, 0, 0},
    {"Speculative", KNOWN, 0, 0},
};

/* ---- values ---- */

static const char *skip_blanks(const char *s) { return s + strspn(s, " \t"); }

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* "0x1f" or "31" with blanks around it; what follows, or NULL. */
static const char *read_number(const char *s, uint64_t *v)
{
    s = skip_blanks(s);
    unsigned base = 10;
    if (s[0] == '0' && (s[1] | 0x20) == 'x') {
        base = 16;
        s += 2;
    }
    const char *begin = s;
    *v = 0;
    for (unsigned d; (d = digit_of(*s)) < base; s++) {
        if (*v > (UINT64_MAX - d) / base)
            return NULL;
        *v = *v * base + d;
    }
    return s == begin ? NULL : skip_blanks(s);
}

/* Numbers with commas between them: how many, or 0 when it is something else. */
static unsigned read_list(const char *s, uint64_t *v, unsigned most)
{
    unsigned n = 0;
    for (;;) {
        if (n == most || !(s = read_number(s, &v[n])))
            return 0;
        n++;
        if (*s == '\0')
            return n;
        if (*s++ != ',')
            return 0;
    }
}

/* "0,1,2,3", "Fixed counter 1", "33", "NA": bit n is general counter n, bit 32 + n fixed counter n. */
static bool read_counters(const char *s, uint64_t *mask)
{
    static const char fixed[] = "Fixed counter ";
    *mask = 0;
    s = skip_blanks(s);
    if (*s == '\0' || strcmp(s, "NA") == 0 || strcmp(s, "null") == 0)
        return true;
    for (;;) {
        bool is_fixed = strncmp(s, fixed, sizeof fixed - 1) == 0;
        uint64_t n;
        s = read_number(is_fixed ? s + sizeof fixed - 1 : s, &n);
        if (!s || n > (is_fixed ? 31 : 63))
            return false;
        *mask |= 1ull << (is_fixed ? n + 32 : n);
        if (*s == '\0')
            return true;
        if (*s++ != ',')
            return false;
        s = skip_blanks(s);
    }
}

/* ---- one key ---- */

/* Numbers are strings in the files; plain ones are as good. False for what is neither. */
static bool value_string(const json_t *value, char number[24], const char **s)
{
    if (json_is_string(value)) {
        *s = json_string_value(value);
        return true;
    }
    if (!json_is_boolean(value) && !(json_is_integer(value) && json_integer_value(value) >= 0))
        return false;
    uint64_t v = json_is_integer(value) ? (uint64_t)json_integer_value(value) : json_is_true(value);
    char *at = number + 23;
    *at = '\0';
    do {
        *--at = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    *s = at;
    return true;
}

static bool read_key(const struct key *k, const json_t *value, const char *s, struct ej_fields *f)
{
    switch (k->kind) {
    case STRING:
        if (json_is_string(value))
            f->string[k->slot] = s;
        return json_is_string(value);
    case LIST:
        f->listed[k->slot] = read_list(s, f->list[k->slot], EJ_LISTED);
        for (unsigned i = 0; i < f->listed[k->slot]; i++)
            if (f->list[k->slot][i] > k->most)
                return false;
        return f->listed[k->slot] > 0;
    case NUMBER:
        f->numbered[k->slot] = read_list(s, &f->number[k->slot], 1) == 1;
        return f->numbered[k->slot] && f->number[k->slot] <= k->most;
    default:
        return read_counters(s, &f->counters[k->slot]);
    }
}

static const char *const kind_expected[] = {"a string", "one to four numbers", "a number", "counters"};

/* 1 good, 0 bad with a warning. */
static int read_value(struct ej_text *t, size_t at, const struct key *k, const json_t *value, struct ej_fields *f)
{
    char number[24];
    const char *s = "";
    if (json_is_null(value) || (value_string(value, number, &s) && read_key(k, value, s, f)))
        return 1;
    const char *name = f->string[EJ_NAME] ? f->string[EJ_NAME] : "event without a name";
    int rc = k->most && k->most < UINT32_MAX
                 ? ej_warn(t, ej_scan_key(t, at, k->name), "%.80s: %s is '%.40s', expected %s up to %#llx: left out",
                           name, k->name, s, kind_expected[k->kind], (unsigned long long)k->most)
                 : ej_warn(t, ej_scan_key(t, at, k->name), "%.80s: %s is '%.40s', expected %s: left out", name, k->name,
                           s, kind_expected[k->kind]);
    t->j->sums.bad++;
    return rc;
}

/* ---- the whole element ---- */

static bool is_known(const char *name)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].name, name) == 0)
            return true;
    return false;
}

/* Each is counted; the first of the files is told of. */
static int count_unknown(struct ej_text *t, json_t *element, size_t at)
{
    const char *name;
    json_t *value;
    json_object_foreach(element, name, value)
    {
        if (is_known(name))
            continue;
        if (t->j->sums.unknown_keys++ > 0)
            continue;
        int rc = ej_warn(t, ej_scan_key(t, at, name), "unknown key '%.60s' was passed over", name);
        if (rc < 0)
            return rc;
    }
    return ASSAY_OK;
}

static int leave_out(struct ej_text *t, size_t at, const char *why)
{
    t->j->sums.bad++;
    return ej_warn(t, at, "%s: left out", why);
}

/* Characters that event strings give a meaning to, and those that no name needs. */
static bool is_name(const char *s)
{
    size_t n = strlen(s);
    if (n == 0 || n > MOST_NAME)
        return false;
    for (; *s; s++)
        if (*s <= ' ' || *s >= 0x7f || strchr(",:=/{}\"'\\", *s))
            return false;
    return true;
}

int ej_fields_read(struct ej_text *t, json_t *element, size_t at, struct ej_fields *f)
{
    *f = (struct ej_fields){0};
    if (!json_is_object(element))
        return leave_out(t, at, "an element that is no object");
    size_t found = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(element, keys[i].name);
        found += value != NULL;
        if (!value || keys[i].kind == KNOWN)
            continue;
        int rc = read_value(t, at, &keys[i], value, f);
        if (rc <= 0)
            return rc;
    }
    if (found < json_object_size(element)) {
        int rc = count_unknown(t, element, at);
        if (rc < 0)
            return rc;
    }
    if (!f->string[EJ_NAME]) {
        /* Metrics and the counts of counters stand between Linux's events. */
        bool other = json_object_get(element, "MetricName") || json_object_get(element, "CountersNumGeneric");
        t->j->sums.other += other;
        return other ? 0 : leave_out(t, at, "an event without \"EventName\"");
    }
    if (!is_name(f->string[EJ_NAME]))
        return leave_out(t, ej_scan_key(t, at, "EventName"), "a name that no event string could hold");
    return 1;
}
