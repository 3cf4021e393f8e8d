/* SPDX-License-Identifier: MIT */
/* Reads the command line by the verb's option table. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option help_option = {CLI_OPT_HELP, 'h', "help", NULL, "this text"};

static const struct cli_option *find_option(const struct cli_verb *v, const char *name, size_t n)
{
    for (const struct cli_option *o = v->options; o && o->id; o++)
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0)
            return o;
    return n == 4 && memcmp(name, "help", 4) == 0 ? &help_option : NULL;
}

static const struct cli_option *find_letter(const struct cli_verb *v, char letter)
{
    for (const struct cli_option *o = v->options; o && o->id; o++)
        if (o->letter == letter)
            return o;
    return letter == 'h' ? &help_option : NULL;
}

static int unknown_option(const struct cli *c, const char *word, size_t n)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), word);
    const struct cli_option *best = NULL;
    unsigned least = 4;
    for (const struct cli_option *o = c->verb->options; o && o->id; o++) {
        unsigned d = assay_edit_distance(name, o->name);
        if (d < least) {
            least = d;
            best = o;
        }
    }
    if (best)
        return cli_fail(c, CLI_USAGE, "no option --%s; did you mean --%s?", name, best->name);
    return cli_fail(c, CLI_USAGE, "no option --%s; see `assay %s --help`", name, c->verb->name);
}

static void add_given(struct cli *c, const struct cli_option *o, const char *value)
{
    c->given[c->givens++] = (struct cli_given){o, value};
}

/* "--name", "--name=value", "--name value": how many words it took, or 0 after a message. */
static int read_long(struct cli *c, char **argv, int left)
{
    const char *name = argv[0] + 2, *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    const struct cli_option *o = find_option(c->verb, name, n);
    if (!o) {
        unknown_option(c, name, n);
        return 0;
    }
    if (!o->arg && equals) {
        cli_fail(c, CLI_USAGE, "--%s takes no value", o->name);
        return 0;
    }
    if (!o->arg || equals) {
        add_given(c, o, equals ? equals + 1 : "");
        return 1;
    }
    if (left < 2) {
        cli_fail(c, CLI_USAGE, "--%s needs a value: --%s %s", o->name, o->name, o->arg);
        return 0;
    }
    add_given(c, o, argv[1]);
    return 2;
}

/* "-abc", "-oVALUE", "-o VALUE". */
static int read_short(struct cli *c, char **argv, int left)
{
    for (const char *p = argv[0] + 1; *p; p++) {
        const struct cli_option *o = find_letter(c->verb, *p);
        if (!o) {
            cli_fail(c, CLI_USAGE, "no option -%c; see `assay %s --help`", *p, c->verb->name);
            return 0;
        }
        if (!o->arg) {
            add_given(c, o, "");
        } else if (p[1]) {
            add_given(c, o, p + 1);
            return 1;
        } else if (left < 2) {
            cli_fail(c, CLI_USAGE, "-%c needs a value: -%c %s", *p, *p, o->arg);
            return 0;
        } else {
            add_given(c, o, argv[1]);
            return 2;
        }
    }
    return 1;
}

/* Options given: at most one for each character of the line. */
static size_t most_options(int argc, char **argv)
{
    size_t n = 1;
    for (int i = 0; i < argc; i++)
        n += strlen(argv[i]);
    return n;
}

int cli_parse(struct cli *c, int argc, char **argv)
{
    c->given = calloc(most_options(argc, argv), sizeof *c->given);
    if (!c->given)
        return cli_fail(c, CLI_CANNOT, "out of memory");
    c->operand = argv; /* operands are moved to the front as they are met */
    for (int i = 0; i < argc;) {
        const char *w = argv[i];
        bool ends = strcmp(w, "--") == 0;
        if (ends || (c->verb->program && w[0] != '-')) {
            for (i += ends ? 1 : 0; i < argc; i++)
                c->operand[c->operands++] = argv[i];
            break;
        }
        if (w[0] != '-' || w[1] == '\0') {
            c->operand[c->operands++] = argv[i++];
            continue;
        }
        int took = w[1] == '-' ? read_long(c, argv + i, argc - i) : read_short(c, argv + i, argc - i);
        if (took == 0)
            return CLI_USAGE;
        i += took;
    }
    return CLI_OK;
}

const char *cli_value(const struct cli *c, int id)
{
    for (int i = c->givens; i-- > 0;)
        if (c->given[i].option->id == id)
            return c->given[i].value;
    return NULL;
}

bool cli_flag(const struct cli *c, int id) { return cli_value(c, id) != NULL; }

int cli_number(const struct cli *c, int id, bool sizes, uint64_t *v)
{
    const char *name = "", *s = NULL;
    for (int i = 0; i < c->givens; i++)
        if (c->given[i].option->id == id) {
            name = c->given[i].option->name;
            s = c->given[i].value;
        }
    if (!s)
        return CLI_OK;
    char *end;
    uint64_t n = strtoull(s, &end, s[0] == '0' && (s[1] | 32) == 'x' ? 16 : 10);
    const char *unit = *end ? strchr("KMGkmg", *end) : NULL;
    unsigned shift = sizes && unit && end[1] == '\0' ? (unsigned)(1 + (unit - "KMGkmg") % 3) * 10 : 0;
    if (end == s || s[0] == '-' || (*end && !shift) || (shift && n >> (64 - shift)))
        return cli_fail(c, CLI_USAGE, "--%s %s: not a number%s", name, s, sizes ? " (1000, 0x3e8, 64K, 16M, 1G)" : "");
    *v = n << shift;
    return CLI_OK;
}

int cli_need_operands(const struct cli *c, int n)
{
    if (c->operands == n)
        return CLI_OK;
    if (c->operands < n)
        return cli_fail(c, CLI_USAGE, "an operand is missing; usage: assay %s [options] %s", c->verb->name,
                        c->verb->operands);
    return cli_fail(c, CLI_USAGE, "one operand too many: %s", c->operand[n]);
}

const struct cli_verb *cli_find_verb(const char *name)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        if (strcmp(cli_verbs[i]->name, name) == 0)
            return cli_verbs[i];
    return NULL;
}

int cli_unknown_verb(const char *word)
{
    const char *best = NULL;
    unsigned least = 3;
    for (size_t i = 0; cli_verbs[i]; i++) {
        unsigned d = assay_edit_distance(word, cli_verbs[i]->name);
        if (d < least) {
            least = d;
            best = cli_verbs[i]->name;
        }
    }
    fprintf(stderr, "assay: no verb %s", word);
    if (best)
        fprintf(stderr, "; did you mean `assay %s`?\n", best);
    else
        fprintf(stderr, "; `assay --help` lists them\n");
    return CLI_USAGE;
}
