/* SPDX-License-Identifier: MIT */
/* The fewest umask names that make a register's bits. */
#ifndef ASSAY_EVENT_COVER_H
#define ASSAY_EVENT_COVER_H

#include <assay/event.h>

/* What the umasks and modifiers of one event have to amount to. */
struct event_goal {
    uint64_t bits;                    /* as assay_event_umask_bits() has them */
    uint64_t value[ASSAY_EVENT_MODS]; /* modifiers' fields */
    uint64_t base[ASSAY_EVENT_MODS];  /* what the event has in them by itself */
};

/* A umask's bits in one number: the umask or the second register; NetBurst: mask 15:0, tags 19:16, replay metrics from 32. */
uint64_t assay_event_umask_bits(const struct assay_event_table *t, uint32_t pmu, uint32_t umask);

/* Sets umask, umasks, modifier and named of c (pmu and event are set; u and k are left alone). *free_modifiers: those that no
 * umask and not the event sets. False when no legal set of names has these bits. */
bool assay_event_cover(const struct assay_event_table *t, const struct event_goal *g, struct assay_event_code *c,
                       unsigned *free_modifiers);
/* The modifiers alone, as if there were no umasks. */
bool assay_event_cover_modifiers(const struct assay_event_table *t, const struct event_goal *g,
                                 struct assay_event_code *c, unsigned *free_modifiers);

#endif
