/* SPDX-License-Identifier: MIT */
/* Help, man pages and shell completion, all from the verbs' tables. */
#include "cli.h"

#include <string.h>

static void put_option_name(struct assay_out *o, const struct cli_option *opt)
{
    if (opt->letter) {
        assay_out_char(o, '-');
        assay_out_char(o, opt->letter);
        assay_out_str(o, ", ");
    }
    assay_out_str(o, "--");
    assay_out_str(o, opt->name);
    if (opt->arg) {
        assay_out_char(o, ' ');
        assay_out_str(o, opt->arg);
    }
}

static void put_option(struct assay_out *o, const struct cli_option *opt)
{
    char buf[80];
    struct assay_out name;
    assay_out_init(&name, buf, sizeof buf - 1, NULL, NULL);
    if (!opt->letter)
        assay_out_str(&name, "    ");
    put_option_name(&name, opt);
    buf[name.len] = '\0';
    assay_out_str(o, "  ");
    assay_out_left(o, buf, 26);
    assay_out_char(o, ' ');
    assay_out_str(o, opt->help);
    assay_out_char(o, '\n');
}

void cli_help(struct assay_out *o, const struct cli_verb *v)
{
    for (size_t i = 0; i + 1 < sizeof v->examples / sizeof *v->examples && v->examples[i]; i += 2) {
        assay_out_str(o, "  ");
        assay_out_left(o, v->examples[i], 52);
        assay_out_str(o, "  # ");
        assay_out_str(o, v->examples[i + 1]);
        assay_out_char(o, '\n');
    }
    assay_out_str(o, "\nusage: assay ");
    assay_out_str(o, v->name);
    assay_out_str(o, " [options] ");
    assay_out_str(o, v->operands);
    assay_out_str(o, "\n\n");
    for (const struct cli_option *opt = v->options; opt && opt->id; opt++)
        put_option(o, opt);
    assay_out_str(o, "  -h, --help                 this text; `man assay-");
    assay_out_str(o, v->name);
    assay_out_str(o, "` says more\n");
}

void cli_help_all(struct assay_out *o)
{
    assay_out_str(
        o, "  assay record -o t.data -- gzip -kc /bin/sh >/dev/null  # run a program on (virtual) Processor Trace\n"
           "  assay report t.data                                    # its functions by cycles, with IPC\n\n"
           "usage: assay VERB [options] [FILE | -- PROGRAM ARGS]\n\n");
    for (size_t i = 0; cli_verbs[i]; i++) {
        assay_out_str(o, "  ");
        assay_out_left(o, cli_verbs[i]->name, 9);
        assay_out_str(o, cli_verbs[i]->summary);
        assay_out_char(o, '\n');
    }
    assay_out_str(o, "\n`assay VERB --help` gives two examples and the options. Exit status: 0 done, 1 a difference "
                     "found, 2 usage,\n"
                     "3 done with losses, 4 cannot (the remedy is said), 5 a bug of ours.\n");
}

/* Text for troff: a backslash and a leading dot or quote would be commands; '-' is a minus there. */
static void put_troff(struct assay_out *o, const char *s)
{
    bool line_start = true;
    for (; *s; s++) {
        if (line_start && (*s == '.' || *s == '\''))
            assay_out_str(o, "\\&");
        if (*s == '\\')
            assay_out_str(o, "\\e");
        else if (*s == '-')
            assay_out_str(o, "\\-");
        else
            assay_out_char(o, *s);
        line_start = *s == '\n';
    }
}

static void put_paragraphs(struct assay_out *o, const char *s)
{
    for (const char *p; (p = strstr(s, "\n\n")); s = p + 2) {
        char part[2048];
        size_t n = (size_t)(p - s) < sizeof part - 1 ? (size_t)(p - s) : sizeof part - 1;
        memcpy(part, s, n);
        part[n] = '\0';
        put_troff(o, part);
        assay_out_str(o, "\n.PP\n");
    }
    put_troff(o, s);
    assay_out_char(o, '\n');
}

static void man_head(struct assay_out *o, const char *suffix, const char *summary)
{
    assay_out_str(o, ".TH ASSAY");
    assay_out_str(o, suffix);
    assay_out_str(o, " 1 \"\" \"assay " ASSAY_VERSION "\" \"Assay\"\n.SH NAME\nassay");
    put_troff(o, suffix);
    assay_out_str(o, " \\- ");
    put_troff(o, summary);
    assay_out_str(o, "\n.SH SYNOPSIS\n");
}

static void man_exit_status(struct assay_out *o)
{
    assay_out_str(
        o, ".SH EXIT STATUS\n0 done; 1 a difference found; 2 usage; 3 done with losses, which are said on standard "
           "error; 4 cannot, with the remedy on standard error; 5 a bug of ours.\n");
}

static void man_command(struct assay_out *o)
{
    man_head(o, "", "what hardware is doing: events to registers, raw bytes to answers");
    assay_out_str(o, ".B assay\n.I VERB\n[options] [FILE | \\-\\- PROGRAM ARGS]\n.SH VERBS\n");
    for (size_t i = 0; cli_verbs[i]; i++) {
        assay_out_str(o, ".TP\n.BR assay\\-");
        put_troff(o, cli_verbs[i]->name);
        assay_out_str(o, " (1)\n");
        put_troff(o, cli_verbs[i]->summary);
        assay_out_char(o, '\n');
    }
    man_exit_status(o);
}

void cli_man(struct assay_out *o, const struct cli_verb *v)
{
    if (!v) {
        man_command(o);
        return;
    }
    char suffix[32] = "-";
    strncat(suffix, v->name, sizeof suffix - 2);
    man_head(o, suffix, v->summary);
    assay_out_str(o, ".B assay ");
    put_troff(o, v->name);
    assay_out_str(o, "\n[options] ");
    put_troff(o, v->operands);
    assay_out_str(o, "\n.SH DESCRIPTION\n");
    put_paragraphs(o, v->about);
    assay_out_str(o, ".SH OPTIONS\n");
    for (const struct cli_option *opt = v->options; opt && opt->id; opt++) {
        char buf[80];
        struct assay_out name;
        assay_out_init(&name, buf, sizeof buf - 1, NULL, NULL);
        put_option_name(&name, opt);
        buf[name.len] = '\0';
        assay_out_str(o, ".TP\n.B ");
        put_troff(o, buf);
        assay_out_char(o, '\n');
        put_troff(o, opt->help);
        assay_out_char(o, '\n');
    }
    assay_out_str(o, ".SH EXAMPLES\n");
    for (size_t i = 0; i + 1 < sizeof v->examples / sizeof *v->examples && v->examples[i]; i += 2) {
        assay_out_str(o, ".TP\n.B ");
        put_troff(o, v->examples[i]);
        assay_out_char(o, '\n');
        put_troff(o, v->examples[i + 1]);
        assay_out_char(o, '\n');
    }
    man_exit_status(o);
    assay_out_str(o, ".SH SEE ALSO\n.BR assay (1)\n");
}

/* Names of events have colons, at which bash breaks words: the word is taken from the line, and what stands before its
 * last colon is cut from the answers. */
static const char complete_events[] =
    "_assay_events() {\n  local word=${COMP_LINE:0:COMP_POINT}; word=${word##* }\n"
    "  COMPREPLY=($(compgen -W \"$(\"${COMP_WORDS[0]}\" list --names 2>/dev/null)\" -- \"$word\"))\n"
    "  local before=${word%\"${word##*:}\"}\n  COMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n  compopt -o nospace\n}\n";

void cli_completion(struct assay_out *o)
{
    assay_out_str(o, complete_events);
    assay_out_str(o, "_assay() {\n  local cur=${COMP_WORDS[COMP_CWORD]}\n  local words= events=\n"
                     "  if [ \"$COMP_CWORD\" -eq 1 ]; then words='");
    for (size_t i = 0; cli_verbs[i]; i++) {
        assay_out_str(o, cli_verbs[i]->name);
        assay_out_char(o, ' ');
    }
    assay_out_str(o, "--help --version'\n  else case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; cli_verbs[i]; i++) {
        assay_out_str(o, "    ");
        assay_out_str(o, cli_verbs[i]->name);
        assay_out_str(o, cli_verbs[i]->events ? ") events=1 words='" : ") words='");
        for (const struct cli_option *opt = cli_verbs[i]->options; opt && opt->id; opt++) {
            assay_out_str(o, "--");
            assay_out_str(o, opt->name);
            assay_out_char(o, ' ');
        }
        assay_out_str(o, "--help' ;;\n");
    }
    assay_out_str(o, "  esac; fi\n  case $cur in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                     "    *) if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                     "       elif [ -n \"$events\" ]; then _assay_events\n"
                     "       else COMPREPLY=($(compgen -f -- \"$cur\")); fi ;;\n  esac\n}\n"
                     "complete -o filenames -F _assay assay\n");
}
