/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: event strings to register values, and the door to all layers. */
#include "compat.h"

#include <stdlib.h>
#include <string.h>

/* What NetBurst's replay mechanism needs besides ESCR and CCCR: the row of the metric that a umask stands for. */
static const struct assay_event_metric *metric_of(const struct assay_event_table *t, uint32_t umask)
{
    for (uint32_t i = 0; i < t->metric_count; i++)
        if (t->metrics[i].umask == umask)
            return &t->metrics[i];
    return NULL;
}

unsigned compat_codes(const struct assay_event_table *t, const struct assay_event_code *c,
                      uint64_t code[COMPAT_NETBURST_CODES])
{
    unsigned n = c->codes;
    memcpy(code, c->code, n * sizeof *code);
    for (uint32_t i = 0; i < c->umasks; i++) {
        bool virtual_one = t->umasks[c->umask[i]].flags & ASSAY_EVENT_VIRTUAL;
        const struct assay_event_metric *m = virtual_one ? metric_of(t, c->umask[i]) : NULL;
        if (m)
            code[n++] = (uint64_t)m->matrix_vert << 32 | m->pebs_enable;
    }
    return n;
}

/* The caller's array, or a new one. Nothing of the caller's is freed or written on an error. */
static uint64_t *place_for(unsigned n, const pfm_pmu_encode_arg_t *arg, int *error)
{
    *error = PFM_SUCCESS;
    if (!arg->codes) {
        uint64_t *codes = malloc(n * sizeof *codes);
        if (!codes)
            *error = PFM_ERR_NOMEM;
        return codes;
    }
    if (arg->count < (int)n)
        *error = PFM_ERR_TOOSMALL;
    return arg->codes;
}

static int encode_registers(const struct assay_event_table *t, const struct assay_event_code *c,
                            pfm_pmu_encode_arg_t *arg)
{
    uint64_t code[COMPAT_NETBURST_CODES];
    unsigned n = compat_codes(t, c, code);
    int error;
    uint64_t *codes = place_for(n, arg, &error);
    if (error)
        return error;
    if (arg->fstr) {
        char *name = compat_name(t, c, PFM_OS_NONE, NULL);
        if (!name && codes != arg->codes)
            free(codes);
        if (!name)
            return PFM_ERR_NOMEM;
        *arg->fstr = name;
    }
    memcpy(codes, code, n * sizeof *codes);
    arg->codes = codes;
    arg->count = (int)n;
    arg->idx = compat_idx(t, c->pmu, c->event);
    return PFM_SUCCESS;
}

static bool is_sound(const void *args, pfm_os_t os)
{
    if (os == PFM_OS_NONE) {
        const pfm_pmu_encode_arg_t *a = args;
        return compat_struct(a, a->size, PFM_RAW_ENCODE_ABI0, sizeof *a) > 0;
    }
    const pfm_perf_encode_arg_t *a = args;
    return compat_struct(a, a->size, PFM_PERF_ENCODE_ABI0, sizeof *a) > 0 && a->attr;
}

PFM_API pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
    if (!(compat_word() & COMPAT_READY))
        return PFM_ERR_NOINIT;
    if (!str || !args)
        return PFM_ERR_INVAL;
    if ((unsigned)os >= PFM_OS_MAX)
        return PFM_ERR_NOTSUPP;
    if (!is_sound(args, os))
        return PFM_ERR_INVAL;
    struct assay_event_table t;
    assay_event_builtin(&t);
    struct assay_event_code c;
    int r = compat_read(&t, str, dfl_plm, os, &c);
    if (r != PFM_SUCCESS)
        return r;
    return os == PFM_OS_NONE ? encode_registers(&t, &c, args) : compat_encode_perf(&t, &c, dfl_plm, os, args);
}

PFM_API pfm_err_t pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx, uint64_t **codes,
                                         int *count)
{
    if (!(compat_word() & COMPAT_READY))
        return PFM_ERR_NOINIT;
    if (!codes || !count)
        return PFM_ERR_INVAL;
    pfm_pmu_encode_arg_t arg = {.codes = *codes, .fstr = fstr, .size = sizeof arg, .count = *count};
    int r = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_NONE, &arg);
    if (r != PFM_SUCCESS)
        return r;
    if (idx)
        *idx = arg.idx;
    *codes = arg.codes;
    *count = arg.count;
    return PFM_SUCCESS;
}

PFM_API pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm, struct perf_event_attr *output, char **fstr,
                                              int *idx)
{
    if (!(compat_word() & COMPAT_READY))
        return PFM_ERR_NOINIT;
    pfm_perf_encode_arg_t arg = {.attr = output, .fstr = fstr, .size = sizeof arg};
    int r = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_PERF_EVENT_EXT, &arg);
    if (r == PFM_SUCCESS && idx)
        *idx = arg.idx;
    return r;
}
