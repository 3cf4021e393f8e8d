/* SPDX-License-Identifier: MIT */
/* One event string on its way to register values. The steps, in order: parse.c finds PMU and event and cuts the rest into
 * tokens, attribute.c takes each, select.c judges the umasks, judge.c the modifiers, legal.c what would go to the registers,
 * and compose.c puts them together. */
#ifndef ASSAY_EVENT_ENCODE_H
#define ASSAY_EVENT_ENCODE_H

#include <assay/event.h>

#include "event/compose.h"

/* Places are byte offsets into the text; those of umasks and modifiers mean something only where the bit is set. */
struct event_request {
    const struct assay_event_table *t;
    const char *text;
    size_t size;
    unsigned mode, plm;
    const struct assay_event_pmu *pmu;
    const struct assay_event_row *event; /* an alias is replaced by its target */
    struct assay_event_code *c;
    struct assay_event_error *e;
    size_t event_at, event_end;
    size_t twice_at; /* SIZE_MAX: no modifier had two values */
    size_t raw_at;
    unsigned umask_tokens, modifier_tokens;
    uint32_t allowed; /* modifiers that this event has in this mode */
    uint32_t fixed;   /* modifiers that umasks or the event set */
    uint64_t umasks;  /* bit i: umask i of the event */
    uint64_t preset;  /* the one that the event's name stands for */
    uint32_t flags;   /* those of its umasks, ORed */
    uint32_t umask_at[ASSAY_EVENT_MAX_UMASKS];
    uint32_t modifier_at[ASSAY_EVENT_MODS];
};

#define EVENT_BIT(m) (1u << (m))

/* Modifiers of the kernel's interface: libpfm's PERF_EVENT layer has two, its EXT layer all. */
enum {
    EVENT_PRIVILEGE = EVENT_BIT(ASSAY_EVENT_MOD_U) | EVENT_BIT(ASSAY_EVENT_MOD_K) | EVENT_BIT(ASSAY_EVENT_MOD_H),
    EVENT_GUESTS = EVENT_BIT(ASSAY_EVENT_MOD_MG) | EVENT_BIT(ASSAY_EVENT_MOD_MH),
    EVENT_KERNEL_ONLY = EVENT_BIT(ASSAY_EVENT_MOD_PRECISE) | EVENT_BIT(ASSAY_EVENT_MOD_PERIOD) |
                        EVENT_BIT(ASSAY_EVENT_MOD_FREQ) | EVENT_BIT(ASSAY_EVENT_MOD_EXCL) |
                        EVENT_BIT(ASSAY_EVENT_MOD_PINNED) | EVENT_BIT(ASSAY_EVENT_MOD_CPU),
};

static inline bool event_is_libpfm4(const struct event_request *r) { return (r->mode & ASSAY_EVENT_LIBPFM4) != 0; }

/* Whether what only Linux refuses is refused: libpfm's raw layer knows nothing of Linux. */
static inline bool event_is_linux(const struct event_request *r)
{
    unsigned layers = ASSAY_EVENT_PERF | ASSAY_EVENT_PERF_EXT;
    return !(r->mode & ASSAY_EVENT_REGISTERS) && (!event_is_libpfm4(r) || (r->mode & layers));
}

/* The lowest bit of the counter mask in IA32_PERFEVTSELx. */
enum { EVENT_CMASK_AT = 24 };

/* A table of loaded events alone has no umasks at all, and NULL for them. */
static inline const struct assay_event_umask *event_umasks(const struct event_request *r)
{
    return r->event->umasks ? r->t->umasks + r->event->first_umask : NULL;
}

/* Bytes that end a name: 1 the delimiters of attributes, 2 the sign before a value. */
enum { EVENT_DELIMITER = 1, EVENT_EQUALS = 2 };
extern const uint8_t assay_event_stop[256];

/* Where the name or value at `at` ends: at : . = or the end. */
static inline size_t event_name_end(const char *text, size_t at, size_t size)
{
    while (at < size && !assay_event_stop[(unsigned char)text[at]])
        at++;
    return at;
}

/* Where the attribute ends: at : . or the end. */
static inline size_t event_token_end(const char *text, size_t at, size_t size)
{
    while (at < size && assay_event_stop[(unsigned char)text[at]] != EVENT_DELIMITER)
        at++;
    return at;
}

/* Fills the error with the token that begins at `at` and returns its code. */
int assay_event_fail(struct event_request *r, enum assay_event_reason reason, size_t at);
int assay_event_fail_umask(struct event_request *r, enum assay_event_reason reason, unsigned umask, unsigned other);
int assay_event_fail_modifier(struct event_request *r, enum assay_event_reason reason, enum assay_event_modifier m);

/* The modifiers that r's event has: of the hardware, and of the layers that mode asks for. */
uint32_t assay_event_allowed(const struct event_request *r);
/* The modifier of that name, ASSAY_EVENT_MODS when there is none. */
enum assay_event_modifier assay_event_modifier_find(const char *name, size_t size);

/* The attributes from `at`, where a delimiter stands, or the end. */
int assay_event_attributes(struct event_request *r, size_t at);
/* One attribute, at [at, end) up to its =. Moves *end behind its value. */
int assay_event_attribute(struct event_request *r, size_t at, size_t *end);
/* Puts umask i in; `at` is the place that names it. */
void assay_event_take_umask(struct event_request *r, unsigned i, size_t at);
/* r->event and what follows from it: from the row that was named. */
void assay_event_begin(struct event_request *r, uint32_t pmu, uint32_t event, size_t at, size_t end);
/* Everything behind the attributes. */
int assay_event_finish(struct event_request *r);

int assay_event_select_umasks(struct event_request *r);
int assay_event_judge_modifiers(struct event_request *r);
int assay_event_judge_registers(struct event_request *r);
int assay_event_judge_kernel(struct event_request *r);

#endif
