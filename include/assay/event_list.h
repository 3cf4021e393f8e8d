/* SPDX-License-Identifier: MIT */
/* A list of events as people write it: "cycles,instructions", "{a,b}:u", "cpu/event=0xc0,umask=1/k". Splits only;
 * what the names mean is asked elsewhere. Pure: no allocation, no I/O, no state; thread safe. */
#ifndef ASSAY_EVENT_LIST_H
#define ASSAY_EVENT_LIST_H

#include <assay/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One event. The spans point into the list's text. */
struct assay_event_item {
    const char *text; /* with its own modifiers, without those of its group: "cpu/event=0xc0/u" */
    size_t size;
    const char *modifiers; /* of its group, "" outside of groups and where it has none */
    size_t modifiers_size;
    uint32_t group; /* 0: alone; else the number of its braces, from 1 */
    bool first;     /* of its group, or alone */
};

struct assay_event_list {
    const char *text;
    size_t size, at;
    uint32_t groups; /* braces opened up to here; a second list goes on counting from those of the first */
    bool open;       /* inside braces */
    bool ended;
    const char *modifiers;
    size_t modifiers_size;
};

/* text, n bytes, outlives the list. `groups`: braces in earlier lists, 0 for the first. */
void assay_event_list_init(struct assay_event_list *l, const char *text, size_t n, uint32_t groups);
/* 1 and *i, 0 at the end, or ASSAY_E_ARGUMENT with *d: offset is the byte in the text, what and expected say the
 * rest. Commas between two slashes or two quotes belong to the event; blanks around events do not. */
int assay_event_list_next(struct assay_event_list *l, struct assay_event_item *i, struct assay_diag *d);

#ifdef __cplusplus
}
#endif
#endif
