/* SPDX-License-Identifier: MIT */
/* A machine model as an option's value. */
#ifndef ASSAY_CLI_MODEL_H
#define ASSAY_CLI_MODEL_H

#include "cli.h"

#include <assay/machine.h>

/* The model that an option names, built in or a file; "cache" when it was not given. CLI_OK, or the exit status after a message. */
int cli_model(struct cli *c, int id, struct assay_machine_model *m);

#endif
