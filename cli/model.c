/* SPDX-License-Identifier: MIT */
/* A machine model as an option's value. */
#include "model.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *option_name(const struct cli *c, int id)
{
    for (int i = 0; i < c->givens; i++)
        if (c->given[i].option->id == id)
            return c->given[i].option->name;
    return "";
}

int cli_model(struct cli *c, int id, struct assay_machine_model *m)
{
    struct assay_error e = {0};
    char text[65536];
    const char *value = cli_value(c, id), *name = option_name(c, id);
    if (assay_machine_builtin(value ? value : "cache", m) == ASSAY_OK)
        return CLI_OK;
    int fd = open(value, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cli_fail(c, errno == ENOENT ? CLI_USAGE : CLI_CANNOT,
                        "--%s %s: neither a model (flat, cache) nor a file that can be read: %s", name, value,
                        strerror(errno));
    ssize_t n = read(fd, text, sizeof text);
    int sys = errno;
    close(fd);
    if (n < 0)
        return cli_fail(c, CLI_CANNOT, "--%s %s: %s", name, value, strerror(sys));
    if (assay_machine_parse(text, (size_t)n, m, &e) < 0)
        return cli_fail(c, CLI_USAGE, "--%s %s: %s", name, value, e.text);
    return CLI_OK;
}
