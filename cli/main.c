/* SPDX-License-Identifier: MIT */
/* The assay command: finds the verb, reads its options, runs it. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* COLUMNS, when it is exported, is what the user wants; else the terminal's; else 100. */
static unsigned terminal_width(void)
{
    struct winsize w;
    const char *columns = getenv("COLUMNS");
    unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;
    if (n >= 40 && n <= 1000)
        return (unsigned)n;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 40 ? w.ws_col : 100;
}

static int setup_output(struct cli *c)
{
    const char *when = cli_value(c, CLI_OPT_COLOR);
    const char *no_color = getenv("NO_COLOR");
    if (when && strcmp(when, "auto") != 0 && strcmp(when, "always") != 0 && strcmp(when, "never") != 0)
        return cli_fail(c, CLI_USAGE, "--color %s: not one of auto, always, never", when);
    if (when && strcmp(when, "auto") != 0)
        c->color = strcmp(when, "always") == 0;
    else
        c->color = isatty(STDOUT_FILENO) && !(no_color && *no_color);
    c->json = cli_flag(c, CLI_OPT_JSON);
    c->width = terminal_width();
    return CLI_OK;
}

static int run_verb(struct cli *c, int argc, char **argv)
{
    static int fd = STDOUT_FILENO;
    static char buf[1 << 16];
    assay_out_init(&c->out, buf, sizeof buf, cli_write_all, &fd);
    int status = cli_parse(c, argc, argv);
    if (status == CLI_OK && cli_flag(c, CLI_OPT_HELP))
        cli_help(&c->out, c->verb);
    else if (status == CLI_OK && (status = setup_output(c)) == CLI_OK)
        status = c->verb->run(c);
    int failed = assay_out_flush(&c->out);
    if (failed)
        status = cli_fail(c, CLI_CANNOT, "standard output: %s", strerror(failed));
    free(c->given);
    return status;
}

static int show_help(struct assay_out *o)
{
    cli_help_all(o);
    return assay_out_flush(o) ? CLI_CANNOT : CLI_OK;
}

int main(int argc, char **argv)
{
    static int out_fd = STDOUT_FILENO, err_fd = STDERR_FILENO;
    char buf[4096];
    struct assay_out o;
    if (argc < 2) {
        assay_out_init(&o, buf, sizeof buf, cli_write_all, &err_fd);
        show_help(&o);
        return CLI_USAGE;
    }
    assay_out_init(&o, buf, sizeof buf, cli_write_all, &out_fd);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return show_help(&o);
    if (strcmp(argv[1], "--version") == 0) {
        assay_out_str(&o, "assay " ASSAY_VERSION "\n");
        return assay_out_flush(&o) ? CLI_CANNOT : CLI_OK;
    }
    struct cli c = {.verb = cli_find_verb(argv[1])};
    if (!c.verb)
        return cli_unknown_verb(argv[1]);
    return run_verb(&c, argc - 2, argv + 2);
}
