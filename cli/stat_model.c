/* SPDX-License-Identifier: MIT */
/* Events of a list on the machine model: what they are counted as, and their counts. */
#include "stat_model.h"

#include <assay/core_unit.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1024, RAW_BITS = 32 };

/* ---- names ---- */

/* The last word behind a colon when it is several privilege letters at once: its length, else 0. */
static size_t joined_letters(const char *text, size_t n)
{
    size_t word = 0;
    while (word < n && text[n - 1 - word] != ':')
        word++;
    if (word == n || word < 2 || strspn(text + n - word, "ukh") < word)
        return 0;
    return word;
}

/* The event with its group's modifiers; of "uk" each letter for itself, as the tables have them. */
static bool whole_text(const struct assay_event_item *item, char text[TEXT])
{
    size_t joined = joined_letters(item->text, item->size), n = item->size - joined;
    if (item->size + item->modifiers_size * 2 + joined + 1 >= TEXT)
        return false;
    memcpy(text, item->text, n);
    for (size_t i = 0; i < joined; i++) {
        if (i)
            text[n++] = ':';
        text[n++] = item->text[item->size - joined + i];
    }
    for (size_t i = 0; i < item->modifiers_size; i++) {
        text[n++] = ':';
        text[n++] = item->modifiers[i];
    }
    text[n] = '\0';
    return true;
}

static int refuse(struct model_event *v, const char *reason)
{
    snprintf(v->reason, sizeof v->reason, "%s", reason);
    return CLI_OK;
}

static int bad_name(struct cli *c, const struct assay_event_table *t, const char *text,
                    const struct assay_event_error *e)
{
    char why[400];
    struct assay_out o;
    assay_out_init(&o, why, sizeof why - 1, NULL, NULL);
    assay_event_error_print(t, text, e, &o);
    why[o.len] = '\0';
    return cli_fail(c, CLI_USAGE, "-e %s, %s", text, why);
}

/* rHEX, as perf has it: select and umask, and what else stands in the register besides u and k. */
static bool is_raw(const char *text, uint64_t *code)
{
    char *end;
    if (*text != 'r' || !strchr("0123456789abcdefABCDEF", text[1]) || !text[1])
        return false;
    *code = strtoull(text + 1, &end, 16);
    return !*end || strcmp(end, ":u") == 0;
}

/* ---- what the model makes of them ---- */

static void suggest(struct model_event *v, const struct assay_machine_model *m)
{
    const char *lacks = v->event.quantities ? assay_machine_event_lacks(&v->event, m) : NULL;
    if (lacks) {
        snprintf(v->reason, sizeof v->reason, "the machine model %s has no %s", m->name, lacks);
        snprintf(v->remedy, sizeof v->remedy,
                 m->flat ? "--machine cache" : "--machine FILE with a model that has one (docs/formats/machine.md)");
    } else if (!v->event.quantities) {
        snprintf(v->reason, sizeof v->reason, "%s", v->event.note);
        if (*v->event.nearest)
            snprintf(v->remedy, sizeof v->remedy, "take %s, the nearest that is modelled", v->event.nearest);
    }
}

static void look_up(const struct assay_event_table *t, struct model_event *v)
{
    const struct assay_event_code *code = &v->code;
    unsigned scheme = t->pmus[code->pmu].scheme;
    if (scheme == ASSAY_EVENT_SOFTWARE) {
        struct assay_event_perf p;
        assay_event_to_perf(t, code, &p);
        assay_machine_event_perf(p.type, p.config, &v->event);
    } else if (scheme == ASSAY_EVENT_CORE) {
        v->core = true;
        assay_machine_event_core(code->code[0], code->codes > 1 ? code->code[1] : 0, &v->event);
    } else {
        v->event = (struct assay_machine_event){
            .nearest = "", .note = "the virtual core has the counters of Knights Mill, not those of NetBurst"};
    }
}

/* A name that several PMUs have is meant for the one that is modelled. */
static int encode(const struct assay_event_table *t, const char *text, struct assay_event_code *code,
                  struct assay_event_error *e)
{
    uint32_t any = ASSAY_EVENT_NONE, knm = assay_event_find_pmu(t, "knm", strlen("knm"));
    int ret = assay_event_encode(t, text, strlen(text), ASSAY_EVENT_STRICT, ASSAY_EVENT_USER, any, code, e);
    if (ret < 0 && e->reason == ASSAY_EVENT_AMBIGUOUS)
        ret = assay_event_encode(t, text, strlen(text), ASSAY_EVENT_STRICT, ASSAY_EVENT_USER, knm, code, e);
    return ret;
}

int model_event_read(struct cli *c, const struct assay_event_item *item, const struct assay_machine_model *m,
                     struct model_event *v)
{
    char text[TEXT];
    struct assay_event_table t;
    struct assay_event_error e;
    *v = (struct model_event){.event = {.nearest = "", .note = ""}};
    if (!whole_text(item, text))
        return cli_fail(c, CLI_USAGE, "-e: an event of more than %d characters", TEXT);
    if (strchr(text, '/'))
        return refuse(v, "pmu/terms/ are those of this machine's PMUs; the model has none of them");
    if (is_raw(text, &v->code.code[0])) {
        v->core = true;
        v->user_only = !strchr(text, ':');
        v->code.counters = 1;
        assay_machine_event_core(v->code.code[0], 0, &v->event);
        suggest(v, m);
        return CLI_OK;
    }
    assay_event_builtin(&t);
    if (encode(&t, text, &v->code, &e) < 0)
        return bad_name(c, &t, text, &e);
    look_up(&t, v);
    v->user_only = !(v->code.named >> ASSAY_EVENT_MOD_U & 1);
    if (v->code.modifier[ASSAY_EVENT_MOD_K] || v->code.modifier[ASSAY_EVENT_MOD_H]) {
        snprintf(v->remedy, sizeof v->remedy, "take user mode, :u");
        return refuse(v, "the kernel is not modelled: system calls run in the host's");
    }
    suggest(v, m);
    return CLI_OK;
}

/* ---- counts ---- */

static unsigned lowest_bit(uint64_t v)
{
    unsigned n = 0;
    while (!(v >> n & 1))
        n++;
    return n;
}

/* The counter is programmed as hardware's would be, and everything then happens at once. */
static uint64_t count_in_unit(const struct model_event *v, const uint64_t *tally)
{
    static const uint64_t nothing[ASSAY_MACHINE_QUANTITIES];
    enum { FIXED_USER = 2, WIDTH = 63 };
    struct assay_core_unit u;
    uint64_t value = 0;
    unsigned counter = lowest_bit(v->code.counters);
    assay_core_unit_init(&u, &(struct assay_core_unit_config){.general = 1, .width = WIDTH}, nothing);
    if (counter >= ASSAY_PERF_GLOBAL_FIXED) {
        assay_core_unit_wrmsr(&u, ASSAY_MSR_FIXED_CTR_CTRL,
                              (uint64_t)FIXED_USER << 4 * (counter - ASSAY_PERF_GLOBAL_FIXED));
        assay_core_unit_wrmsr(&u, ASSAY_MSR_PERF_GLOBAL_CTRL, UINT64_C(1) << counter);
        u.tally = tally;
        assay_core_unit_rdmsr(&u, ASSAY_MSR_FIXED_CTR0 + counter - ASSAY_PERF_GLOBAL_FIXED, &value);
        return value;
    }
    if (v->code.codes > 1)
        assay_core_unit_wrmsr(&u, v->code.extra_msr, v->code.code[1]);
    assay_core_unit_wrmsr(&u, ASSAY_MSR_PERFEVTSEL0, v->code.code[0] | ASSAY_PERFEVTSEL_USR | ASSAY_PERFEVTSEL_EN);
    u.tally = tally;
    assay_core_unit_rdmsr(&u, ASSAY_MSR_PMC0, &value);
    return value;
}

uint64_t model_event_count(const struct model_event *v, const uint64_t *tally)
{
    return v->core ? count_in_unit(v, tally) : assay_machine_event_sum(tally, v->event.quantities);
}
