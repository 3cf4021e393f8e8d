/* SPDX-License-Identifier: MIT */
/* assay encode: events of the command line, and how they are shown. */
#ifndef ASSAY_CLI_ENCODE_H
#define ASSAY_CLI_ENCODE_H

#include "events.h"

/* What of an event is printed, where not everything is: one line, for scripts. */
enum encode_print { ENCODE_ALL, ENCODE_CODES, ENCODE_CONFIG, ENCODE_PERF, ENCODE_NAME };

struct encode {
    struct events events;
    unsigned mode, plm; /* of assay_event_encode() */
    bool compat;        /* --compat libpfm4 */
    bool writes;
    unsigned write_flags; /* of assay_event_writes() */
    enum encode_print print;
};

/* The events of the command line, encoded; one alone is a group too. */
struct encode_group {
    const char *const *text; /* as given; NULL with `latency` */
    struct assay_event_code *code;
    struct assay_event_slot *slot;
    struct assay_event_group_error error; /* .conflict: ASSAY_EVENT_FITS when slot[] is filled */
    unsigned n;
    bool latency; /* the pair of average-latency mode */
};

/* The most writes of a group. */
enum { ENCODE_WRITES = 5 * ASSAY_EVENT_MAX_COUNTERS + 4 };

/* encode_text.c: everything, for people. */
void encode_text(struct cli *c, const struct encode *x, const struct encode_group *g);
/* encode_record.c: one object each, then one for the group when there are several. */
void encode_json(struct cli *c, const struct encode *x, const struct encode_group *g);
/* The object of one event; `error` instead of all else when it is not NULL. */
void encode_json_event(struct cli *c, const struct encode *x, const char *text, const struct assay_event_code *code,
                       const struct assay_event_error *error);
void encode_csv_head(struct cli *c);
void encode_csv_event(struct cli *c, const struct encode *x, const char *text, const struct assay_event_code *code,
                      const struct assay_event_error *error);
/* encode_line.c: what x->print says, without newline. */
void encode_line(struct assay_out *o, const struct encode *x, const struct assay_event_code *code);
/* encode_compat.c: as the reference library spells an event, and as its check_events prints it. */
void encode_compat_name(struct assay_out *o, const struct encode *x, const struct assay_event_code *code);
void encode_compat(struct cli *c, const struct encode *x, const char *text, const struct assay_event_code *code);
/* encode_stream.c: a string a line from stdin, an answer a line. CLI_USAGE when one was wrong. */
int encode_stream(struct cli *c, const struct encode *x);

#endif
