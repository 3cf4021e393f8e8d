/* SPDX-License-Identifier: MIT */
/* assay help: the verbs, and their man pages and completion as files for the build. */
#include "cli.h"

#include <string.h>

enum { OPT_MAN = 1, OPT_COMPLETION };

static int run(struct cli *c)
{
    if (cli_flag(c, OPT_COMPLETION)) {
        cli_completion(&c->out);
        return CLI_OK;
    }
    if (c->operands == 0) {
        if (cli_flag(c, OPT_MAN))
            cli_man(&c->out, NULL);
        else
            cli_help_all(&c->out);
        return CLI_OK;
    }
    const struct cli_verb *v = cli_find_verb(c->operand[0]);
    if (!v)
        return cli_unknown_verb(c->operand[0]);
    if (cli_flag(c, OPT_MAN))
        cli_man(&c->out, v);
    else
        cli_help(&c->out, v);
    return CLI_OK;
}

static const struct cli_option options[] = {
    {OPT_MAN, 0, "man", NULL, "the man page in troff: assay help --man report | man -l -"},
    {OPT_COMPLETION, 0, "completion", NULL, "the completion script for bash: source <(assay help --completion)"},
    CLI_OPT_END,
};

const struct cli_verb cmd_help = {
    .name = "help",
    .summary = "the verbs, one verb's options, its man page, shell completion",
    .operands = "[VERB]",
    .examples = {"assay help report", "examples and options of one verb", "assay help --man report | man -l -",
                 "its man page"},
    .about = "Prints help. Without a verb it lists the verbs. Man pages and completion are written from the same "
             "tables that "
             "read the command line, so they cannot disagree with it.",
    .options = options,
    .run = run,
};
