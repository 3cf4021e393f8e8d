/* SPDX-License-Identifier: MIT */
/* The verbs. A new one is a file cmd_x.c, a line here, and a line in meson.build. */
#include "cli.h"

extern const struct cli_verb cmd_doctor;
extern const struct cli_verb cmd_dump;
extern const struct cli_verb cmd_encode;
extern const struct cli_verb cmd_explain;
extern const struct cli_verb cmd_flow;
extern const struct cli_verb cmd_help;
extern const struct cli_verb cmd_list;
extern const struct cli_verb cmd_record;
extern const struct cli_verb cmd_report;
extern const struct cli_verb cmd_stat;

const struct cli_verb *const cli_verbs[] = {
    &cmd_doctor, &cmd_list,   &cmd_encode, &cmd_explain, &cmd_stat, &cmd_dump,
    &cmd_record, &cmd_report, &cmd_flow,   &cmd_help,    NULL,
};
