/* SPDX-License-Identifier: MIT */
/* What tables for people share: grouped numbers, percentages, bars. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

void table_number(struct cli *c, uint64_t v, size_t width)
{
    char buf[32], *end = buf + sizeof buf - 1, *p = end;
    *p = '\0';
    for (unsigned digits = 0; v || digits == 0; v /= 10, digits++) {
        if (digits && digits % 3 == 0)
            *--p = ',';
        *--p = (char)('0' + v % 10);
    }
    assay_out_right(&c->out, p, width);
}

/* v with decimals, right-aligned in width columns, then the unit. */
static void put_fixed(struct cli *c, double v, unsigned decimals, size_t width, const char *unit)
{
    char buf[40];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf - 1, NULL, NULL);
    assay_out_fixed(&o, v, decimals);
    assay_out_str(&o, unit);
    buf[o.len] = '\0';
    assay_out_right(&c->out, buf, width);
}

void table_share(struct cli *c, double part, double whole)
{
    if (whole > 0)
        put_fixed(c, 100 * part / whole, 1, 7, " %");
    else
        assay_out_right(&c->out, "n/a", 7);
}

void table_ipc(struct cli *c, uint64_t insns, double cycles)
{
    if (cycles > 0)
        put_fixed(c, (double)insns / cycles, 2, 6, "");
    else
        assay_out_right(&c->out, "n/a", 6);
}

static bool locale_is_utf8(void)
{
    const char *l = getenv("LC_ALL");
    if (!l || !*l)
        l = getenv("LC_CTYPE");
    if (!l || !*l)
        l = getenv("LANG");
    return l && (strstr(l, "UTF-8") || strstr(l, "utf8") || strstr(l, "utf-8"));
}

void table_bar(struct cli *c, double part, double whole, size_t width)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    bool fine = locale_is_utf8();
    double share = whole > 0 ? part / whole : 0;
    size_t units = (size_t)(share * (double)width * 8 + 0.5);
    units = units > width * 8 ? width * 8 : units;
    size_t full = fine ? units / 8 : (units + 4) / 8;
    for (size_t i = 0; i < full; i++)
        assay_out_str(&c->out, fine ? "█" : "#");
    size_t used = full;
    if (fine && units % 8) {
        assay_out_str(&c->out, eighth[units % 8]);
        used++;
    }
    assay_out_fill(&c->out, ' ', width - used);
}

void table_wrapped(struct cli *c, const char *text, size_t indent)
{
    size_t room = c->width > indent + 30 ? c->width - indent : 30, at = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (at > 0 && at + 1 + n > room) {
            assay_out_char(&c->out, '\n');
            assay_out_fill(&c->out, ' ', indent);
            at = 0;
        } else if (at > 0) {
            assay_out_char(&c->out, ' ');
            at++;
        }
        assay_out_bytes(&c->out, text, n);
        at += n;
        text += n + (text[n] == ' ');
    }
}

void table_csv(struct cli *c, const char *s)
{
    assay_out_char(&c->out, '"');
    for (; s && *s; s++) {
        if (*s == '"')
            assay_out_char(&c->out, '"');
        assay_out_char(&c->out, *s);
    }
    assay_out_char(&c->out, '"');
}
