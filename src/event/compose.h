/* SPDX-License-Identifier: MIT */
/* From rows and modifier values to register values; what encoding ends with and explaining is checked against. */
#ifndef ASSAY_EVENT_COMPOSE_H
#define ASSAY_EVENT_COMPOSE_H

#include <assay/event.h>

enum {
    EVENT_USR = 1 << 16,
    EVENT_OS = 1 << 17,
    EVENT_EDGE = 1 << 18,
    EVENT_INT = 1 << 20,
    EVENT_ANY = 1 << 21,
    EVENT_EN = 1 << 22,
    EVENT_INV = 1 << 23,

    CCCR_ENABLE = 1 << 12,
    CCCR_SELECT_AT = 13,
    CCCR_ANY_THREAD = 3 << 16,
    CCCR_COMPARE = 1 << 18,
    CCCR_COMPLEMENT = 1 << 19,
    CCCR_THRESHOLD_AT = 20,
    CCCR_EDGE = 1 << 24,
    CCCR_OVF_PMI_T0 = 1 << 26,

    ESCR_T1 = 3, /* usr, os of logical processor 1; those of 0 are two bits higher */
    ESCR_TAG_ENABLE = 1 << 4,
    ESCR_TAG_AT = 5,
    ESCR_MASK_AT = 9,
    ESCR_SELECT_AT = 25,
};

/* Fills codes, code, extra_msr and counters of c from its rows, raw umask and modifiers (those that umasks set included). */
void assay_event_compose(const struct assay_event_table *t, struct assay_event_code *c);

#endif
