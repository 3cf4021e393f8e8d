/* SPDX-License-Identifier: MIT */
/* Where results go: standard output is the program's when one is run, so theirs is standard error then, or a file. */
#include "stat_print.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int stat_output_open(struct cli *c, struct stat_output *o, bool program)
{
    o->path = cli_value(c, CLI_OPT_OUTPUT);
    o->fd = program ? STDERR_FILENO : STDOUT_FILENO;
    o->before = c->out;
    if (o->path && strcmp(o->path, "-") == 0)
        o->fd = STDOUT_FILENO;
    else if (o->path && (o->fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
        return cli_fail(c, CLI_CANNOT, "%s: %s", o->path, strerror(errno));
    if (!cli_value(c, CLI_OPT_COLOR))
        c->color = c->color && isatty(o->fd);
    assay_out_init(&c->out, c->out.buf, c->out.cap, cli_write_all, &o->fd);
    return CLI_OK;
}

int stat_output_close(struct cli *c, struct stat_output *o)
{
    int failed = assay_out_flush(&c->out);
    if (o->fd > STDERR_FILENO && close(o->fd) < 0 && !failed)
        failed = errno;
    c->out = o->before;
    if (!failed)
        return CLI_OK;
    return cli_fail(c, CLI_CANNOT, "%s: %s", o->path ? o->path : "the result", strerror(failed));
}
