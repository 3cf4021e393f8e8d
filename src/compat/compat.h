/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: what its files share. The only state is one word that pfm_initialize writes, so there are no locks. */
#ifndef ASSAY_COMPAT_COMPAT_H
#define ASSAY_COMPAT_COMPAT_H

#include <assay/event.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#define PFM_API __attribute__((visibility("default")))

/* The word: what was found at pfm_initialize. PMU sets have bit n for row n of the table. */
enum {
    COMPAT_READY = 1 << 0,
    COMPAT_INACTIVE = 1 << 1, /* LIBPFM_ENCODE_INACTIVE */
    COMPAT_VERBOSE = 1 << 2,
    COMPAT_DEBUG = 1 << 3,
    COMPAT_STDOUT = 1 << 4,
    COMPAT_PRESENT_SHIFT = 8,
    COMPAT_DISABLED_SHIFT = 16,
    COMPAT_PMUS = 8, /* most that the word has room for */
};
uint32_t compat_word(void);
static inline bool compat_present(uint32_t word, uint32_t pmu) { return word >> COMPAT_PRESENT_SHIFT >> pmu & 1; }
static inline bool compat_disabled(uint32_t word, uint32_t pmu) { return word >> COMPAT_DISABLED_SHIFT >> pmu & 1; }

/* idx of an event, as programs see it: the PMU's number and the event's place among those of the reference library. */
enum { COMPAT_IDX_SHIFT = 21 };
int compat_idx(const struct assay_event_table *t, uint32_t pmu, uint32_t event);
/* Back: row of the event and of its PMU; false when there is none. */
bool compat_event(const struct assay_event_table *t, int idx, uint32_t *pmu, uint32_t *event);
/* Row of a PMU by its number, ASSAY_EVENT_NONE. */
uint32_t compat_pmu(const struct assay_event_table *t, unsigned id);

/* Modifiers of an event in one layer, in the order of their attributes (COMPAT_LISTED) or of the full name. */
struct compat_modifier {
    uint8_t id;   /* enum assay_event_modifier */
    uint8_t code; /* what pfm_event_attr_info_t has as code */
    uint8_t ctrl; /* pfm_attr_ctrl_t */
};
enum compat_order { COMPAT_LISTED, COMPAT_NAMED };
/* Goes through them: the PMU's, then the kernel's. Sets of places in a list. */
struct compat_walk {
    const struct compat_modifier *list;
    uint32_t own, kernel;
};
void compat_walk(const struct assay_event_pmu *p, const struct assay_event_row *e, pfm_os_t os, enum compat_order order,
                 struct compat_walk *w);
const struct compat_modifier *compat_walk_next(struct compat_walk *w); /* NULL at the end */
/* The number of attributes: umasks of the reference library, then the modifiers above. */
int compat_attributes(const struct assay_event_pmu *p, const struct assay_event_row *e, pfm_os_t os);

/* Bytes of a caller's structure that may be written: `given` is its size field, `abi0` the least, `known` what this
 * library knows. 0 when it is too small or has something beyond what is known. */
static inline size_t compat_struct(const void *s, size_t given, size_t abi0, size_t known)
{
    size_t size = given ? given : abi0;
    if (size < abi0)
        return 0;
    for (size_t i = known; i < size; i++)
        if (((const unsigned char *)s)[i])
            return 0;
    return size < known ? size : known;
}

/* An event string to registers. PFM_SUCCESS or an error. */
int compat_read(const struct assay_event_table *t, const char *text, int plm, pfm_os_t os, struct assay_event_code *c);
int compat_error(const struct assay_event_error *e);
/* With LIBPFM_VERBOSE or LIBPFM_DEBUG: why a string was refused. */
void compat_say_error(const struct assay_event_table *t, const char *text, const struct assay_event_error *e);

/* The event's full name in malloc'ed memory, NULL without memory. attr: what was encoded, NULL at the layer of
 * registers. */
char *compat_name(const struct assay_event_table *t, const struct assay_event_code *c, pfm_os_t os,
                  const struct perf_event_attr *attr);

/* Register values. NetBurst replay events have a third, which the reference library leaves out: MSR_PEBS_ENABLE, and
 * in the upper half MSR_PEBS_MATRIX_VERT. */
enum { COMPAT_NETBURST_CODES = 3 };
unsigned compat_codes(const struct assay_event_table *t, const struct assay_event_code *c,
                      uint64_t code[COMPAT_NETBURST_CODES]);

int compat_encode_perf(const struct assay_event_table *t, const struct assay_event_code *c, int plm, pfm_os_t os,
                       pfm_perf_encode_arg_t *arg);

#endif
