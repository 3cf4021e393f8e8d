/* SPDX-License-Identifier: MIT */
/* Machine models as text: one table of keys parses, checks and prints them. */
#include <assay/machine.h>

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "virtual/machine_models.h"

enum value_kind { VALUE_U32, VALUE_FLAG, VALUE_NAME };
struct key {
    const char *name;
    size_t offset; /* in struct assay_machine_model */
    enum value_kind kind;
    uint32_t min, max;
};

#define AT(member) offsetof(struct assay_machine_model, member)
#define CACHE(name, member)                                                                                            \
    {name ".bytes", AT(member.bytes), VALUE_U32, 0, 1u << 30}, {name ".ways", AT(member.ways), VALUE_U32, 1, 64},      \
        {name ".line", AT(member.line), VALUE_U32, 8, 4096},                                                           \
    {                                                                                                                  \
        name ".latency", AT(member.latency), VALUE_U32, 0, 100000                                                      \
    }

static const struct key keys[] = {
    {"name", AT(name), VALUE_NAME, 0, 0},
    {"flat", AT(flat), VALUE_FLAG, 0, 1},
    {"issue_width", AT(issue_width), VALUE_U32, 1, 16},
    CACHE("l1i", l1i),
    CACHE("l1d", level[0]),
    CACHE("l2", level[1]),
    CACHE("llc", level[2]),
    {"memory_latency", AT(memory_latency), VALUE_U32, 0, 100000},
    {"predictor_bits", AT(predictor_bits), VALUE_U32, 0, 20},
    {"predictor_history", AT(predictor_history), VALUE_U32, 0, 20},
    {"branch_penalty", AT(branch_penalty), VALUE_U32, 0, 1000},
    {"btb_bits", AT(btb_bits), VALUE_U32, 0, 20},
    {"return_stack", AT(return_stack), VALUE_U32, 0, 64},
    {"syscall_cycles", AT(syscall_cycles), VALUE_U32, 0, 1000000},
    {"tsc_ctc_n", AT(tsc_ctc_n), VALUE_U32, 1, 100000},
    {"tsc_ctc_d", AT(tsc_ctc_d), VALUE_U32, 1, 100000},
    {"crystal_hz", AT(crystal_hz), VALUE_U32, 1, UINT32_MAX},
    {"max_ratio", AT(max_ratio), VALUE_U32, 1, 255},
    {"core_ratio", AT(core_ratio), VALUE_U32, 1, 255},
    {"cyc_counter_bits", AT(cyc_counter_bits), VALUE_U32, 8, 32},
    {"family", AT(family), VALUE_U32, 0, 270},
    {"cpu_model", AT(cpu_model), VALUE_U32, 0, 255},
    {"stepping", AT(stepping), VALUE_U32, 0, 15},
};
enum { KEYS = sizeof keys / sizeof keys[0], NO_KEY = -1 };

_Static_assert(sizeof(unsigned) == sizeof(uint32_t), "numbers of the model are read and written as 32 bits");

static void *field(struct assay_machine_model *m, int k) { return (char *)m + keys[k].offset; }

static uint32_t number_of(const struct assay_machine_model *m, int k)
{
    uint32_t v;
    memcpy(&v, (const char *)m + keys[k].offset, sizeof v);
    return v;
}

/* A piece of the text, and where it stands. */
struct word {
    const char *at;
    size_t len;
};

struct parser {
    const char *text;
    struct assay_machine_model model;
    struct assay_error *e;
    size_t line_begin; /* offset */
    unsigned line;
    size_t set_at[KEYS]; /* offset + 1 of the key's value, 0 when the text does not set it */
    unsigned set_line[KEYS];
    unsigned set_column[KEYS];
    bool any;
};

static struct word trim(struct word w)
{
    while (w.len && isspace((unsigned char)w.at[0])) {
        w.at++;
        w.len--;
    }
    while (w.len && isspace((unsigned char)w.at[w.len - 1]))
        w.len--;
    return w;
}

static unsigned column(const struct parser *p, const char *at)
{
    return (unsigned)((size_t)(at - p->text) - p->line_begin) + 1;
}

static int fail(const struct parser *p, const char *at, const char *text)
{
    return assay_error_set(p->e, ASSAY_E_BAD_FORMAT, (uint64_t)(at - p->text), "line %u, column %u: %s", p->line,
                           column(p, at), text);
}

/* The word for a message: short, printable. */
static const char *shown(struct word w, char buf[40])
{
    size_t n = w.len < 32 ? w.len : 32;
    for (size_t i = 0; i < n; i++)
        buf[i] = isprint((unsigned char)w.at[i]) ? w.at[i] : '?';
    strcpy(buf + n, n < w.len ? "..." : "");
    return buf;
}

static bool word_is(struct word w, const char *s) { return strlen(s) == w.len && !memcmp(w.at, s, w.len); }

static int find_key(struct word w)
{
    for (int k = 0; k < KEYS; k++)
        if (word_is(w, keys[k].name))
            return k;
    return NO_KEY;
}

static int unknown_key(const struct parser *p, struct word w)
{
    char word[40], text[160];
    shown(w, word);
    unsigned best = UINT_MAX;
    const char *nearest = "";
    for (int k = 0; k < KEYS; k++) {
        unsigned d = assay_edit_distance(word, keys[k].name);
        if (d < best) {
            best = d;
            nearest = keys[k].name;
        }
    }
    if (best <= 1 + w.len / 3)
        snprintf(text, sizeof text, "unknown key '%s'; did you mean '%s'?", word, nearest);
    else
        snprintf(text, sizeof text, "unknown key '%s'", word);
    return fail(p, w.at, text);
}

/* Decimal with an optional K or M (1024, 1024^2). false: no such number, or over 64 bits. */
static bool read_number(struct word w, uint64_t *out)
{
    unsigned shift = 0;
    if (w.len && (w.at[w.len - 1] == 'K' || w.at[w.len - 1] == 'M'))
        shift = w.at[--w.len] == 'K' ? 10 : 20;
    uint64_t v = 0;
    if (!w.len || w.len > 12)
        return false;
    for (size_t i = 0; i < w.len; i++) {
        if (!isdigit((unsigned char)w.at[i]))
            return false;
        v = v * 10 + (uint64_t)(w.at[i] - '0');
    }
    *out = v << shift;
    return true;
}

static int set_number(struct parser *p, int k, struct word w)
{
    char text[160], word[40];
    uint64_t v;
    if (!read_number(w, &v)) {
        snprintf(text, sizeof text, "'%s' is not a number (digits, then K or M for 1024 or 1024 x 1024)",
                 shown(w, word));
        return fail(p, w.at, text);
    }
    if (v < keys[k].min || v > keys[k].max) {
        snprintf(text, sizeof text, "%s is %u to %u, not %s", keys[k].name, (unsigned)keys[k].min,
                 (unsigned)keys[k].max, shown(w, word));
        return fail(p, w.at, text);
    }
    uint32_t v32 = (uint32_t)v;
    memcpy(field(&p->model, k), &v32, sizeof v32);
    return ASSAY_OK;
}

static int set_flag(struct parser *p, int k, struct word w)
{
    bool yes = word_is(w, "yes");
    if (!yes && !word_is(w, "no"))
        return fail(p, w.at, "this is 'yes' or 'no'");
    memcpy(field(&p->model, k), &yes, sizeof yes);
    return ASSAY_OK;
}

static int set_name(struct parser *p, int k, struct word w)
{
    if (w.len >= sizeof p->model.name)
        return fail(p, w.at, "a name has at most 31 characters");
    for (size_t i = 0; i < w.len; i++)
        if (!isalnum((unsigned char)w.at[i]) && !strchr("-_.", w.at[i]))
            return fail(p, w.at + i, "a name is letters, digits, '-', '_' and '.'");
    char *name = field(&p->model, k);
    memset(name, 0, sizeof p->model.name);
    memcpy(name, w.at, w.len);
    return ASSAY_OK;
}

static int set_base(struct parser *p, struct word key, struct word value)
{
    char word[40], text[160];
    if (p->any)
        return fail(p, key.at, "'base' has to be the first key");
    if (assay_machine_builtin(shown(value, word), &p->model) == ASSAY_OK)
        return ASSAY_OK;
    snprintf(text, sizeof text, "there is no built-in model '%s'; there are 'flat' and 'cache'", word);
    return fail(p, value.at, text);
}

static int set_key(struct parser *p, int k, struct word key, struct word value)
{
    char text[160];
    if (p->set_at[k]) {
        snprintf(text, sizeof text, "'%s' is set in line %u already", keys[k].name, p->set_line[k]);
        return fail(p, key.at, text);
    }
    p->set_at[k] = (size_t)(value.at - p->text) + 1;
    p->set_line[k] = p->line;
    p->set_column[k] = column(p, value.at);
    switch (keys[k].kind) {
    case VALUE_FLAG:
        return set_flag(p, k, value);
    case VALUE_NAME:
        return set_name(p, k, value);
    default:
        return set_number(p, k, value);
    }
}

static int parse_line(struct parser *p, struct word line)
{
    const char *comment = memchr(line.at, '#', line.len);
    if (comment)
        line.len = (size_t)(comment - line.at);
    line = trim(line);
    if (!line.len)
        return ASSAY_OK;
    const char *equals = memchr(line.at, '=', line.len);
    if (!equals)
        return fail(p, line.at + line.len, "expected '=' and a value");
    struct word key = trim((struct word){line.at, (size_t)(equals - line.at)});
    struct word value = trim((struct word){equals + 1, (size_t)(line.at + line.len - equals) - 1});
    if (!key.len)
        return fail(p, equals, "expected a key before '='");
    int k = find_key(key);
    if (k == NO_KEY && !word_is(key, "base"))
        return unknown_key(p, key);
    if (!value.len)
        return fail(p, equals + 1, "expected a value");
    int err = k == NO_KEY ? set_base(p, key, value) : set_key(p, k, key, value);
    p->any = true;
    return err;
}

static bool power_of_two(uint32_t v) { return v && !(v & (v - 1)); }

/* What no single key can know. Reported where the text last set one of the cache's numbers. */
static int check_cache(const struct parser *p, const struct assay_machine_cache *c, const char *name)
{
    const char *wrong = NULL;
    if (!power_of_two(c->line))
        wrong = "the line is not a power of two";
    else if (c->bytes % (c->ways * c->line) || (c->bytes && !power_of_two(c->bytes / (c->ways * c->line))))
        wrong = "bytes / (ways x line) is not a power of two";
    if (!wrong)
        return ASSAY_OK;
    int at = 0;
    for (int k = 0; k < KEYS; k++)
        if (!strncmp(keys[k].name, name, strlen(name)) && keys[k].name[strlen(name)] == '.' &&
            p->set_at[k] > p->set_at[at])
            at = k;
    return assay_error_set(p->e, ASSAY_E_BAD_FORMAT, p->set_at[at] ? p->set_at[at] - 1 : 0,
                           "line %u, column %u: %s: %s", p->set_line[at], p->set_column[at], name, wrong);
}

static int check(const struct parser *p)
{
    static const char *const name[ASSAY_MACHINE_LEVELS] = {"l1d", "l2", "llc"};
    int err = check_cache(p, &p->model.l1i, "l1i");
    for (int i = 0; !err && i < ASSAY_MACHINE_LEVELS; i++)
        err = check_cache(p, &p->model.level[i], name[i]);
    return err;
}

static int parse(struct parser *p, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(p->text + at, '\n', size - at);
        size_t end = newline ? (size_t)(newline - p->text) : size;
        p->line_begin = at;
        p->line++;
        int err = parse_line(p, (struct word){p->text + at, end - at});
        if (err)
            return err;
        at = end + 1;
    }
    return check(p);
}

int assay_machine_builtin(const char *name, struct assay_machine_model *out)
{
    for (unsigned i = 0; i < assay_machine_builtin_count; i++) {
        const struct machine_builtin *b = &assay_machine_builtins[i];
        if (strcmp(b->name, name))
            continue;
        struct parser p = {.text = b->text};
        int err = parse(&p, strlen(b->text));
        *out = p.model;
        return err;
    }
    return ASSAY_E_NOT_FOUND;
}

int assay_machine_parse(const char *text, size_t size, struct assay_machine_model *out, struct assay_error *e)
{
    struct parser p = {.text = text, .e = e};
    int err = assay_machine_builtin("cache", &p.model);
    if (!err)
        err = parse(&p, size);
    if (!err)
        *out = p.model;
    return err;
}

unsigned assay_machine_parts(const struct assay_machine_model *m)
{
    if (m->flat)
        return 0;
    return (m->l1i.bytes ? ASSAY_MACHINE_PART_L1I : 0u) | (m->level[0].bytes ? ASSAY_MACHINE_PART_L1D : 0u) |
           (m->level[1].bytes ? ASSAY_MACHINE_PART_L2 : 0u) | (m->level[2].bytes ? ASSAY_MACHINE_PART_LLC : 0u) |
           (m->predictor_bits ? ASSAY_MACHINE_PART_PREDICTOR : 0u) | (m->btb_bits ? ASSAY_MACHINE_PART_TARGETS : 0u) |
           (m->return_stack ? ASSAY_MACHINE_PART_RETURNS : 0u);
}

static void print_value(const struct assay_machine_model *m, int k, struct assay_out *o)
{
    switch (keys[k].kind) {
    case VALUE_FLAG:
        assay_out_str(o, m->flat ? "yes" : "no");
        break;
    case VALUE_NAME:
        assay_out_str(o, m->name);
        break;
    default:
        assay_out_dec(o, number_of(m, k));
    }
}

void assay_machine_print(const struct assay_machine_model *m, struct assay_out *o)
{
    for (int k = 0; k < KEYS; k++) {
        assay_out_str(o, keys[k].name);
        assay_out_str(o, " = ");
        print_value(m, k, o);
        assay_out_char(o, '\n');
    }
}
