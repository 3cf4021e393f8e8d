/* SPDX-License-Identifier: MIT */
/* Counting on this machine. */
#include "stat.h"

int stat_live(struct cli *c, const struct stat_job *job, struct stat_result *r)
{
    (void)job;
    (void)r;
    return cli_fail(c, CLI_CANNOT, "counting on this machine is not there yet");
}
