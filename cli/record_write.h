/* SPDX-License-Identifier: MIT */
/* What assay record makes of a finished run: a perf.data, and the truth for tests. */
#ifndef ASSAY_CLI_RECORD_WRITE_H
#define ASSAY_CLI_RECORD_WRITE_H

#include <assay/perfwrite.h>
#include <assay/record.h>

/* Everything of the run into w, without finishing it. command is the recorded program's name and arguments. */
int record_write_perf(const struct assay_record *r, char *const *command, struct assay_perfwrite *w,
                      struct assay_error *e);
/* docs/formats/truth.md */
int record_write_truth(const struct assay_record *r, const char *path, bool blocks, struct assay_error *e);

#endif
