/* SPDX-License-Identifier: MIT */
/* Events as perf writes them, back to codes: cpu/event=.../, r1b7, fields of struct perf_event_attr. */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

enum { EN_INT = 0x500000, USR = 0x10000, OS = 0x20000, RAW = 4, TYPE = 3 };

/* Terms of Linux's core PMUs (/sys/bus/event_source/devices/cpu/format) and of the attribute itself. */
static const struct term {
    const char name[12];
    uint8_t config, lsb, width;
} terms[] = {
    {"type", TYPE, 0, 32},  {"config", 0, 0, 64}, {"config1", 1, 0, 64},     {"config2", 2, 0, 64},
    {"event", 0, 0, 8},     {"umask", 0, 8, 8},   {"edge", 0, 18, 1},        {"pc", 0, 19, 1},
    {"any", 0, 21, 1},      {"inv", 0, 23, 1},    {"cmask", 0, 24, 8},       {"in_tx", 0, 32, 1},
    {"in_tx_cp", 0, 33, 1}, {"eq", 0, 36, 1},     {"offcore_rsp", 1, 0, 64}, {"ldlat", 1, 0, 16},
    {"frontend", 1, 0, 24}, {"cccr", 0, 0, 32},   {"escr", 0, 32, 31},       {"ht", 0, 63, 1},
};
enum { TERMS = sizeof terms / sizeof *terms };

bool explain_number(const char *s, size_t n, uint64_t *v)
{
    bool hex = n > 2 && s[0] == '0' && (s[1] | 32) == 'x';
    size_t i = hex ? 2 : 0;
    uint64_t value = 0;
    for (size_t k = i; k < n; k++)
        hex = hex || ((s[k] | 32) >= 'a' && (s[k] | 32) <= 'f');
    for (; i < n; i++) {
        char ch = (char)(s[i] | 32);
        unsigned digit = s[i] >= '0' && s[i] <= '9' ? (unsigned)(s[i] - '0')
                         : ch >= 'a' && ch <= 'f'   ? (unsigned)(ch - 'a' + 10)
                                                    : 99;
        uint64_t base = hex ? 16 : 10;
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *v = value;
    return n > 0;
}

static const struct term *find_term(const char *s, size_t n)
{
    for (unsigned i = 0; i < TERMS; i++)
        if (strlen(terms[i].name) == n && memcmp(terms[i].name, s, n) == 0)
            return &terms[i];
    return NULL;
}

/* Puts one "name=value" or "name" into its place; the whole text is for the message. */
static int read_term(struct cli *c, const char *text, const char *s, size_t n, uint64_t *config)
{
    const char *equals = memchr(s, '=', n);
    size_t name = equals ? (size_t)(equals - s) : n;
    const struct term *t = find_term(s, name);
    uint64_t v = 1;
    if (!t)
        return cli_fail(c, CLI_USAGE,
                        "%s, column %d: no term %.*s; known are event, umask, cmask, inv, edge, any, offcore_rsp, "
                        "ldlat, frontend, escr, cccr, type, config, config1, config2",
                        text, (int)(s - text) + 1, (int)name, s);
    if (equals && !explain_number(equals + 1, n - name - 1, &v))
        return cli_fail(c, CLI_USAGE, "%s, column %d: not a number", text, (int)(equals + 1 - text) + 1);
    if (t->name[0] == 'u' && v > 0xff && v <= 0xffff) /* the second byte of a umask has its own place */
        config[0] |= v >> 8 << 40;
    else if (t->width < 64 && v >> t->width)
        return cli_fail(c, CLI_USAGE, "%s, column %d: %s has %d bits", text, (int)(s - text) + 1, t->name, t->width);
    config[t->config] |= (t->width == 8 ? v & 0xff : v) << t->lsb;
    return CLI_OK;
}

/* Terms between commas in s[0..n). */
static int read_terms(struct cli *c, const char *text, const char *s, size_t n, uint64_t *config)
{
    for (const char *end = s + n; s < end;) {
        const char *comma = memchr(s, ',', (size_t)(end - s));
        size_t size = comma ? (size_t)(comma - s) : (size_t)(end - s);
        int status = read_term(c, text, s, size, config);
        if (status != CLI_OK)
            return status;
        s += size + 1;
    }
    return CLI_OK;
}

/* u and k behind the event; p, h, G, H ... change no register of the PMU. */
static uint64_t privilege(const char *modifiers)
{
    uint64_t v = (strchr(modifiers, 'u') ? USR : 0) | (strchr(modifiers, 'k') ? OS : 0);
    return v ? v | EN_INT : 0;
}

static void set_codes(struct explain_codes *x, const uint64_t *config)
{
    bool raw = config[TYPE] == RAW;
    *x = (struct explain_codes){.code = {config[0], raw ? config[1] : config[TYPE]}, .n = !raw || config[1] ? 2 : 1};
    x->schemes = raw ? 1u << ASSAY_EVENT_CORE | 1u << ASSAY_EVENT_NETBURST : 1u << ASSAY_EVENT_SOFTWARE;
}

int explain_perf_attr(struct cli *c, const char *text, struct explain_codes *x)
{
    uint64_t config[4] = {[TYPE] = RAW};
    if (strncmp(text, "type=", 5) == 0 || strstr(text, ",type="))
        config[TYPE] = 0;
    int status = read_terms(c, text, text, strlen(text), config);
    set_codes(x, config);
    return status;
}

bool explain_perf_string(struct cli *c, const char *text, struct explain_codes *x, int *status)
{
    uint64_t config[4] = {[TYPE] = RAW};
    const char *slash = strchr(text, '/'), *end = slash ? strchr(slash + 1, '/') : NULL;
    size_t hex = text[0] == 'r' ? strcspn(text + 1, ":") : 0;
    *status = CLI_OK;
    if (slash) {
        size_t n = end ? (size_t)(end - slash) - 1 : strlen(slash + 1);
        *status = end ? read_terms(c, text, slash + 1, n, config)
                      : cli_fail(c, CLI_USAGE, "%s: the second / is missing", text);
    } else if (hex && text[1 + strspn(text + 1, "0123456789abcdefABCDEF")] == text[1 + hex] && hex <= 16) {
        config[0] = strtoull(text + 1, NULL, 16);
    } else {
        return false;
    }
    config[0] |= privilege(slash ? (end ? end + 1 : "") : text + 1 + hex);
    set_codes(x, config);
    return true;
}
