/* SPDX-License-Identifier: MIT */
/* A recording's start and end: what the plugin is told, and what perf.data says of the machine. */
#include "record_inside.h"

#include <stdlib.h>

enum { DEFAULT_WINDOW = 4 << 20, LEAST_WINDOW = 64 << 10, PMU_TYPE = 8, TIME_SHIFT = 31 };

static uint64_t tsc_hz(const struct assay_machine_model *m)
{
    return (uint64_t)m->crystal_hz * m->tsc_ctc_n / m->tsc_ctc_d;
}

static void fill_setup(struct assay_record *r, const struct assay_record_options *o)
{
    const struct assay_machine_model *m = &o->model;
    uint64_t window = o->window ? o->window : DEFAULT_WINDOW;
    *r->run.setup = (struct assay_spool_setup){
        .magic = ASSAY_SPOOL_MAGIC,
        .size = sizeof *r->run.setup,
        .rtit_ctl = (o->config & ~UINT64_C(1)) | ASSAY_RTIT_TRACEEN | ASSAY_RTIT_USER, /* bit 0 of the config is `pt` */
        .tsc_base = tsc_hz(m), /* as if one second after power-on: no time is 0 */
        .unit = {.tsc_ctc_n = m->tsc_ctc_n,
                 .tsc_ctc_d = m->tsc_ctc_d,
                 .max_ratio = m->max_ratio,
                 .core_ratio = m->core_ratio,
                 .cyc_counter_bits = m->cyc_counter_bits,
                 .mode = r->run.program.mode},
        .model = *m,
        .window = (window < LEAST_WINDOW ? LEAST_WINDOW : window + 4095) / 4096 * 4096,
        .truth = o->truth || o->truth_blocks,
        .truth_blocks = o->truth_blocks,
    };
}

static void fill_pt_info(struct assay_record *r, const struct assay_record_options *o)
{
    const struct assay_machine_model *m = &o->model;
    r->pt = (struct assay_perf_pt_info){
        .present = true,
        .pmu_type = PMU_TYPE,
        .time_shift = TIME_SHIFT,
        .time_mult = (UINT64_C(1000000000) << TIME_SHIFT) / tsc_hz(m),
        .cap_user_time_zero = 1,
        .tsc_bit = ASSAY_RTIT_TSCEN,
        .noretcomp_bit = ASSAY_RTIT_DISRETC,
        .mtc_bit = ASSAY_RTIT_MTCEN,
        .mtc_freq_bits = UINT64_C(15) << ASSAY_RTIT_MTCFREQ_SHIFT,
        .tsc_ctc_n = m->tsc_ctc_n,
        .tsc_ctc_d = m->tsc_ctc_d,
        .cyc_bit = ASSAY_RTIT_CYCEN,
        .max_nonturbo_ratio = m->max_ratio,
        .config = o->config,
        .exclude_kernel = true,
    };
}

/* The combination of options is put to a unit: what raises #GP there is an error here. */
static int check_config(const struct assay_spool_setup *s, struct assay_error *e)
{
    struct assay_pt_unit u;
    assay_pt_unit_init(&u, &s->unit);
    if (assay_pt_unit_wrmsr(&u, ASSAY_MSR_RTIT_CTL, s->rtit_ctl) == ASSAY_OK)
        return ASSAY_OK;
    char terms[128];
    assay_record_pt_print(s->rtit_ctl & ~UINT64_C(1), terms, sizeof terms);
    return assay_error_set(e, ASSAY_E_ARGUMENT, UINT64_MAX, "the trace unit does not take %s", terms);
}

int assay_record_start(const struct assay_record_options *o, struct assay_record **out, struct assay_error *e)
{
    *out = NULL;
    struct assay_record *r = calloc(1, sizeof *r);
    if (!r)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
    int ret = run_open(&r->run, o->argv, o->plugin, o->tmp, e);
    if (ret == ASSAY_OK) {
        fill_setup(r, o);
        fill_pt_info(r, o);
        ret = check_config(r->run.setup, e);
    }
    if (ret == ASSAY_OK)
        ret = run_spawn(&r->run, NULL, e);
    if (ret < 0)
        assay_record_free(r);
    else
        *out = r;
    return ret;
}

void assay_record_free(struct assay_record *r)
{
    if (!r)
        return;
    run_free(&r->run);
    for (size_t i = 0; i < r->build_ids; i++)
        free(r->build_id[i].id);
    free(r->build_id);
    free(r->event);
    free(r->stream);
    free(r->raw);
    free(r);
}

pid_t assay_record_pid(const struct assay_record *r) { return r->run.pid; }
const struct assay_perf_pt_info *assay_record_pt_info(const struct assay_record *r) { return &r->pt; }
const struct assay_machine_model *assay_record_model(const struct assay_record *r) { return &r->run.setup->model; }
unsigned assay_record_mode(const struct assay_record *r) { return r->run.program.mode; }
const char *assay_record_program(const struct assay_record *r) { return r->run.program.file; }
const char *assay_record_machine(const struct assay_record *r) { return r->run.version; }
unsigned assay_record_doubts(const struct assay_record *r, char *why, size_t size)
{
    return run_doubts(&r->run, why, size);
}
