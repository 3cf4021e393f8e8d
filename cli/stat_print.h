/* SPDX-License-Identifier: MIT */
/* The insides of showing counts: where they go, and one file for each form. */
#ifndef ASSAY_CLI_STAT_PRINT_H
#define ASSAY_CLI_STAT_PRINT_H

#include "stat.h"

/* Leads c->out to where results belong and back. */
struct stat_output {
    const char *path; /* -o; NULL: none */
    int fd;
    struct assay_out before;
};
int stat_output_open(struct cli *c, struct stat_output *o, bool program);
int stat_output_close(struct cli *c, struct stat_output *o);

/* The event as it was written, with its group's modifiers. */
void stat_put_name(struct assay_out *o, const struct stat_row *row);
/* Counted for a part of the time only: the value is extended. */
bool stat_partly(const struct stat_row *row);
/* It had its times, whether or not it was counted. */
bool stat_was_opened(const struct stat_row *row);
/* The value is the raw count: of one run, in no other unit, counted all the time. */
bool stat_is_exact(const struct stat_result *r, const struct stat_row *row);
/* Decimals of the value in forms for programs. */
unsigned stat_decimals(const struct stat_result *r, const struct stat_row *row);
const char *stat_state_name(enum stat_state state); /* "counted": constant */

/* Each form: the rows, and with `whole` also what is said once, at the end. */
void stat_text(struct cli *c, const struct stat_job *job, const struct stat_result *r, bool whole);
void stat_json(struct cli *c, const struct stat_job *job, const struct stat_result *r, bool whole);
void stat_csv_heading(struct cli *c);
void stat_csv(struct cli *c, const struct stat_result *r);

#endif
