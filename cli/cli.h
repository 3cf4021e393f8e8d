/* SPDX-License-Identifier: MIT */
/* What every verb of the command shares: its option table, its output, its exit status. */
#ifndef ASSAY_CLI_H
#define ASSAY_CLI_H

#include <assay/base.h>
#include <assay/text.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_DIFFERENCE = 1, /* a comparison found a difference */
    CLI_USAGE = 2,
    CLI_LOSSES = 3, /* done, but something was lost; said on stderr */
    CLI_CANNOT = 4, /* with the remedy on stderr */
    CLI_BUG = 5,
};

struct cli_option {
    int id;      /* > 0, the verb's own enum; CLI_OPT_END ends the table */
    char letter; /* short form, 0 for none */
    const char *name;
    const char *arg; /* what the value is called ("FILE"), NULL for a flag */
    const char *help;
};
#define CLI_OPT_END                                                                                                    \
    {                                                                                                                  \
        0, 0, 0, 0, 0                                                                                                  \
    }
/* Ids of options that mean the same everywhere, kept clear of the verbs' own. */
enum { CLI_OPT_HELP = 1000, CLI_OPT_JSON, CLI_OPT_CSV, CLI_OPT_OUTPUT, CLI_OPT_COLOR, CLI_OPT_JOBS };
#define CLI_OPTION_JSON                                                                                                \
    {                                                                                                                  \
        CLI_OPT_JSON, 0, "json", NULL, "one JSON object a line (docs/json.md)"                                         \
    }
#define CLI_OPTION_COLOR                                                                                               \
    {                                                                                                                  \
        CLI_OPT_COLOR, 0, "color", "WHEN", "auto (default), always or never; NO_COLOR is honoured"                     \
    }
#define CLI_OPTION_JOBS                                                                                                \
    {                                                                                                                  \
        CLI_OPT_JOBS, 'j', "jobs", "N", "worker threads; 0 (default) = one a processor"                                \
    }

struct cli;
struct cli_verb {
    const char *name;
    const char *summary;     /* after the name, one line, no full stop */
    const char *operands;    /* "FILE", "[OPTIONS] -- PROGRAM [ARGS]" */
    const char *examples[6]; /* command, what it does, command, ...; NULL ends */
    const char *about;       /* paragraphs of the man page, separated by empty lines */
    const struct cli_option *options;
    bool program;              /* the first operand ends the options (it is a program with arguments of its own) */
    bool events;               /* operands are names of events, for completion */
    int (*run)(struct cli *c); /* enum cli_exit */
};

struct cli_given {
    const struct cli_option *option;
    const char *value; /* NULL for a flag */
};
struct cli {
    const struct cli_verb *verb;
    struct assay_out out; /* stdout; flushed by main, whose failure is an exit status */
    bool color;           /* stdout takes escape sequences */
    bool json;            /* --json was given */
    unsigned width;       /* columns: COLUMNS, the terminal's, or 100 */
    char **operand;
    int operands;
    struct cli_given *given; /* in the order given */
    int givens;
};

/* The last value of an option, "" for a flag that was given, NULL when it was not. */
const char *cli_value(const struct cli *c, int id);
bool cli_flag(const struct cli *c, int id);
/* Prints "assay VERB: text" on stderr and returns the exit status. */
int cli_fail(const struct cli *c, int exit_status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for a library error: the exit status follows from the family of its code. */
int cli_fail_error(const struct cli *c, const struct assay_error *e);
/* A note on stderr that is no failure. */
void cli_note(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The value of an option as an unsigned number (decimal, 0x hex; suffixes K, M, G are powers of 1024 where `sizes`).
 * 0, or CLI_USAGE after a message that names the option. Leaves *v alone when the option was not given. */
int cli_number(const struct cli *c, int id, bool sizes, uint64_t *v);
/* Exactly n operands, or CLI_USAGE after a message. */
int cli_need_operands(const struct cli *c, int n);
/* Says on stderr what a ledger lost, when it lost something: CLI_LOSSES, else CLI_OK. */
int cli_report_ledger(const struct cli *c, const struct assay_ledger *l);
/* What empties an assay_out into a descriptor, whose number ctx points to: 0 or an errno value. */
int cli_write_all(void *fd, const char *data, size_t size);
/* "\033[...m" or "" by c->color: SGR parameters such as "1" bold, "31" red. */
void cli_sgr(struct cli *c, const char *parameters);

/* Progress on stderr, on a terminal only, after half a second. */
struct cli_progress {
    const char *what;
    uint64_t total, start_ns, last_ns;
    bool on, shown;
};
void cli_progress_begin(struct cli_progress *p, const char *what, uint64_t total);
void cli_progress_at(struct cli_progress *p, uint64_t done);
void cli_progress_end(struct cli_progress *p);

/* options.c: reads argv (after the verb) into c; CLI_OK or CLI_USAGE after a message. c->given is to be freed. */
int cli_parse(struct cli *c, int argc, char **argv);
int cli_unknown_verb(const char *word);

/* All verbs, in the order of help; NULL ends. */
extern const struct cli_verb *const cli_verbs[];
const struct cli_verb *cli_find_verb(const char *name);

/* help.c: what the tables say, as help text, man page and completion. */
void cli_help(struct assay_out *o, const struct cli_verb *v);
void cli_help_all(struct assay_out *o);
void cli_man(struct assay_out *o, const struct cli_verb *v); /* NULL: the page of the command */
void cli_completion(struct assay_out *o);

#endif
