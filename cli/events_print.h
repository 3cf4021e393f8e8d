/* SPDX-License-Identifier: MIT */
/* Parts of events as text and JSON, for every verb that shows them. */
#ifndef ASSAY_CLI_EVENTS_PRINT_H
#define ASSAY_CLI_EVENTS_PRINT_H

#include "events.h"

/* The three colours: names that can be typed, values of registers, what is wrong. */
#define EVENTS_NAME  "36"
#define EVENTS_VALUE "33"
#define EVENTS_WRONG "31"

void events_put_hex(struct assay_out *o, uint64_t v);                   /* "0x1b7" */
void events_put_hex0(struct assay_out *o, uint64_t v, unsigned digits); /* "0x01b7" */
/* Counters by number, fixed ones with an f: "0-3 f1". A mask as in struct assay_event_row. */
void events_put_counters(struct assay_out *o, uint64_t counters);
/* Modifiers by name, for a mask: "u k e i c". */
void events_put_modifiers(struct assay_out *o, uint32_t modifiers);
/* What a register's value says: fields that are not 0, "event 0xb7, umask 0x01, usr". */
void events_put_fields(struct assay_out *o, enum assay_event_register layout, uint64_t value);
/* "request", "supplier and snoop" ... of an offcore event's umasks, NULL when the groups of the event have no names. */
const char *events_group_title(const struct assay_event_row *event, unsigned group);

/* Lines of a table: "  label", after which the cursor stands in the column of the values ... */
enum { EVENTS_MEANING = 54 };
void events_put_label(struct cli *c, const char *label);
/* ... "  NAME (0x1a6)   0x80800001", after which it stands in the column EVENTS_MEANING. */
void events_put_register(struct cli *c, const char *name, uint32_t msr, uint64_t value);
/* The same with the fields that are not 0, as a whole line. */
void events_put_value(struct cli *c, const char *name, enum assay_event_register layout, uint64_t value);
/* The registers of an event; slot: where it counts (NetBurst: which ESCR and CCCR), or NULL. */
void events_put_code(struct cli *c, const struct events *e, const struct assay_event_code *code,
                     const struct assay_event_slot *slot);
/* What the event counts, in the words of its umasks when they are few. */
void events_put_what(struct assay_out *o, const struct events *e, const struct assay_event_code *code);

/* Arrays of a JSON object: "counters" and "fixed_counters", names of modifiers, fields of a register. */
void events_json_counters(struct assay_json *j, uint64_t counters);
void events_json_modifiers(struct assay_json *j, const char *key, uint32_t modifiers);
void events_json_fields(struct assay_json *j, enum assay_event_register layout, uint64_t value);
/* An event as members of the open object: name, pmu, event, umasks ..., or all of them null where code is NULL. */
void events_json_code(struct assay_json *j, const struct events *e, const struct assay_event_code *code);
/* The string s, which outside is no UTF-8 or holds control characters, and its error, as members of the open object. */
void events_json_error(struct assay_json *j, const struct events *e, const char *text,
                       const struct assay_event_error *x);
/* On stderr: what is wrong, the string, and a line with ^~~~ below the token. Returns CLI_USAGE. */
int events_fail(struct cli *c, const struct events *e, const char *text, const struct assay_event_error *x);

#endif
