/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: error codes, and the sentence that the interface has no room for. */
#include "compat.h"

#include <string.h>
#include <unistd.h>

PFM_API const char *pfm_strerror(int code)
{
    /* Position independent: the words follow one another. The wording is the interface's, programs print it. */
    static const char words[] =
        "success\0not supported\0invalid parameters\0pfmlib not initialized\0event not found\0"
        "invalid combination of model specific features\0invalid or missing unit mask\0out of memory\0"
        "invalid event attribute\0invalid event attribute value\0attribute value already set\0"
        "too many parameters\0parameter is too small";
    if (code > PFM_SUCCESS || code < PFM_ERR_TOOSMALL)
        return "unknown error code";
    const char *w = words;
    for (; code < 0; code++)
        w += strlen(w) + 1;
    return w;
}

int compat_error(const struct assay_event_error *e)
{
    static const int8_t code[ASSAY_EVENT_REASONS] = {
        [ASSAY_EVENT_BAD_CHARACTER] = PFM_ERR_INVAL,     [ASSAY_EVENT_NO_PMU] = PFM_ERR_NOTFOUND,
        [ASSAY_EVENT_NO_EVENT] = PFM_ERR_NOTFOUND,       [ASSAY_EVENT_AMBIGUOUS] = PFM_ERR_NOTFOUND,
        [ASSAY_EVENT_NO_ATTRIBUTE] = PFM_ERR_ATTR,       [ASSAY_EVENT_EMPTY] = PFM_ERR_ATTR,
        [ASSAY_EVENT_UMASK_VALUE] = PFM_ERR_ATTR,        [ASSAY_EVENT_VALUE_MISSING] = PFM_ERR_ATTR_VAL,
        [ASSAY_EVENT_VALUE_BAD] = PFM_ERR_ATTR_VAL,      [ASSAY_EVENT_VALUE_RANGE] = PFM_ERR_ATTR_VAL,
        [ASSAY_EVENT_SET_TWICE] = PFM_ERR_ATTR_SET,      [ASSAY_EVENT_TOO_MANY] = PFM_ERR_TOOMANY,
        [ASSAY_EVENT_RAW_MIXED] = PFM_ERR_ATTR,          [ASSAY_EVENT_RAW_WIDTH] = PFM_ERR_ATTR,
        [ASSAY_EVENT_RAW_ILLEGAL] = PFM_ERR_ATTR,        [ASSAY_EVENT_NOT_TOGETHER] = PFM_ERR_FEATCOMB,
        [ASSAY_EVENT_LATENCY] = PFM_ERR_FEATCOMB,        [ASSAY_EVENT_NEEDS_UMASK] = PFM_ERR_ATTR,
        [ASSAY_EVENT_FIXED_MODIFIER] = PFM_ERR_ATTR_SET, [ASSAY_EVENT_EDGE_CMASK] = PFM_ERR_ATTR,
        [ASSAY_EVENT_INVERT_CMASK] = PFM_ERR_ATTR,       [ASSAY_EVENT_NO_PRIVILEGE] = PFM_ERR_FEATCOMB,
        [ASSAY_EVENT_NO_MODIFIER] = PFM_ERR_ATTR,        [ASSAY_EVENT_NO_PEBS] = PFM_ERR_ATTR,
        [ASSAY_EVENT_MSR_REFUSES] = PFM_ERR_UMASK,       [ASSAY_EVENT_KERNEL_REFUSES] = PFM_ERR_UMASK,
        [ASSAY_EVENT_EXCLUDES] = PFM_ERR_ATTR_VAL,
    };
    if (e->reason == ASSAY_EVENT_MSR_REFUSES && e->umask == ASSAY_EVENT_NONE)
        return PFM_ERR_ATTR; /* of a raw umask */
    return e->reason < ASSAY_EVENT_REASONS && code[e->reason] ? code[e->reason] : PFM_ERR_INVAL;
}

void compat_say_error(const struct assay_event_table *t, const char *text, const struct assay_event_error *e)
{
    uint32_t word = compat_word();
    if (!(word & (COMPAT_VERBOSE | COMPAT_DEBUG)))
        return;
    char line[512];
    struct assay_out o;
    assay_out_init(&o, line, sizeof line - 1, NULL, NULL);
    assay_out_str(&o, "libpfm: ");
    assay_out_clean(&o, text);
    assay_out_str(&o, ": ");
    if (e->reason == ASSAY_EVENT_NO_PMU && e->pmu != ASSAY_EVENT_NONE)
        assay_out_str(&o, "this PMU is not here; with LIBPFM_ENCODE_INACTIVE=1 its events are encoded all the same");
    else
        assay_event_error_print(t, text, e, &o);
    line[o.len++] = '\n';
    if (write(word & COMPAT_STDOUT ? STDOUT_FILENO : STDERR_FILENO, line, o.len) < 0)
        return; /* nobody reads it */
}
