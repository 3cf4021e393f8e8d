/* SPDX-License-Identifier: MIT */
/* Counting on the machine model. */
#include "stat.h"

int stat_virtual(struct cli *c, const struct stat_job *job, struct stat_result *r)
{
    (void)job;
    (void)r;
    return cli_fail(c, CLI_CANNOT, "counting on a machine model is not there yet");
}
