/* SPDX-License-Identifier: MIT */
/* Facts of event tables as words and numbers, for all forms of a listing. */
#include "list.h"

#include <string.h>

/* By bit: the word for people (NULL: other columns say it), and for records. */
static const struct {
    const char *word, *name;
} flag_words[] = {
    {"PEBS", "pebs"},
    {NULL, "fixed_only"},
    {NULL, "offcore"},
    {NULL, "extra"},
    {"deprecated", "deprecated"},
    {"single", "no_combine"},
    {"default", "default"},
    {NULL, "overrides"},
    {"requests only", "alone"},
    {"at retirement", "at_retirement"},
    {NULL, "virtual"},
    {NULL, "tag"},
    {"not on Linux", "no_kernel"},
    {"both threads", "shared"},
};
enum { FLAGS = sizeof flag_words / sizeof *flag_words };

void list_put_flags(struct assay_out *o, uint32_t flags, const char *separator)
{
    const char *before = "";
    for (unsigned i = 0; i < FLAGS; i++)
        if (flags >> i & 1 && flag_words[i].word) {
            assay_out_str(o, before);
            assay_out_str(o, flag_words[i].word);
            before = separator;
        }
}

const char *list_flag_name(uint32_t flags)
{
    unsigned i = 0;
    while (i + 1 < FLAGS && !(flags >> i & 1))
        i++;
    return flag_words[i].name;
}

uint64_t list_umask_code(const struct assay_event_row *event, const struct assay_event_umask *u)
{
    if (event->perf_type != 4 || event->flags & ASSAY_EVENT_OFFCORE)
        return event->config | u->value;
    return event->config | u->value << 8 | (uint64_t)u->fixed_edge << 18 | (uint64_t)u->fixed_invert << 23 |
           (uint64_t)u->fixed_cmask << 24;
}

void list_put_model(struct assay_out *o, uint32_t model)
{
    assay_out_dec(o, model >> 16);
    assay_out_char(o, '/');
    assay_out_dec(o, model >> 4 & 0xfff);
    if (model & 15) {
        assay_out_char(o, '/');
        assay_out_dec(o, model & 15);
    }
}

unsigned list_codes(const struct events *e, const struct list_hit *h, uint64_t code[2])
{
    char name[256];
    struct assay_out o;
    struct assay_event_code c;
    struct assay_event_perf p;
    assay_out_init(&o, name, sizeof name, NULL, NULL);
    assay_out_str(&o, events_event_name(e, h->event));
    if (h->umask != ASSAY_EVENT_NONE) {
        assay_out_char(&o, ':');
        assay_out_str(&o, events_umask_name(e, h->umask));
    }
    const struct assay_event_row *row = &e->table.events[h->event];
    if (assay_event_encode(&e->table, name, o.len, ASSAY_EVENT_REGISTERS, ASSAY_EVENT_USER, h->pmu, &c, NULL) !=
        ASSAY_OK) {
        code[0] = h->umask == ASSAY_EVENT_NONE ? row->config : list_umask_code(row, &e->table.umasks[h->umask]);
        return 1;
    }
    assay_event_to_perf(&e->table, &c, &p);
    code[0] = p.config;
    code[1] = p.config1;
    return c.extra_msr ? 2 : 1;
}

uint32_t list_this_pmu(const struct events *e)
{
    struct events_cpu cpu;
    if (!events_this_cpu(&cpu))
        return ASSAY_EVENT_NONE;
    return assay_event_find_model(&e->table, cpu.family, cpu.model, cpu.stepping);
}
