/* SPDX-License-Identifier: MIT */
/* An event as members of a JSON object. */
#include "events_print.h"

static void json_put(struct assay_json *j, const char *key, const struct events *e, const struct assay_event_code *code,
                     void (*print)(const struct assay_event_table *, const struct assay_event_code *,
                                   struct assay_out *))
{
    char buf[4096];
    struct assay_out o;
    assay_out_init(&o, buf, sizeof buf, NULL, NULL);
    print(&e->table, code, &o);
    assay_json_strn(j, key, buf, o.len);
}

static void json_umasks(struct assay_json *j, const struct events *e, const struct assay_event_code *code)
{
    assay_json_array(j, "umasks");
    for (uint32_t i = 0; i < code->umasks; i++)
        assay_json_str(j, NULL, events_umask_name(e, code->umask[i]));
    assay_json_array_end(j);
    if (code->raw)
        assay_json_addr(j, "raw_umask", code->raw_umask);
    else
        assay_json_null(j, "raw_umask");
}

static void json_register(struct assay_json *j, const char *name, uint32_t msr, uint64_t value,
                          enum assay_event_register layout)
{
    assay_json_open(j, NULL);
    assay_json_str(j, "name", name);
    if (msr)
        assay_json_addr(j, "msr", msr);
    else
        assay_json_null(j, "msr");
    assay_json_addr(j, "value", value);
    events_json_fields(j, layout, value);
    assay_json_close(j);
}

static void json_registers(struct assay_json *j, const struct events *e, const struct assay_event_code *code)
{
    enum assay_event_scheme scheme = (enum assay_event_scheme)e->table.pmus[code->pmu].scheme;
    assay_json_array(j, "registers");
    if (scheme == ASSAY_EVENT_NETBURST) {
        json_register(j, "ESCR", 0, code->code[0], ASSAY_EVENT_REG_ESCR);
        json_register(j, "CCCR", 0, code->code[1], ASSAY_EVENT_REG_CCCR);
    } else if (scheme == ASSAY_EVENT_CORE) {
        json_register(j, "IA32_PERFEVTSELx", 0, code->code[0], ASSAY_EVENT_REG_PERFEVTSEL);
        if (code->codes > 1) {
            const struct assay_event_msr *r = assay_event_register_at(code->extra_msr, scheme);
            json_register(j, r ? r->name : NULL, code->extra_msr, code->code[1],
                          r ? (enum assay_event_register)r->layout : ASSAY_EVENT_REG_WHOLE);
        }
    }
    assay_json_array_end(j);
}

static void json_perf(struct assay_json *j, const struct events *e, const struct assay_event_code *code)
{
    struct assay_event_perf p;
    assay_event_to_perf(&e->table, code, &p);
    assay_json_open(j, "perf");
    assay_json_u64(j, "type", p.type);
    assay_json_addr(j, "config", p.config);
    assay_json_addr(j, "config1", p.config1);
    assay_json_addr(j, "config2", p.config2);
    assay_json_bool(j, "exclude_user", p.exclude_user);
    assay_json_bool(j, "exclude_kernel", p.exclude_kernel);
    assay_json_bool(j, "exclude_hv", p.exclude_hv);
    assay_json_bool(j, "exclude_host", p.exclude_host);
    assay_json_bool(j, "exclude_guest", p.exclude_guest);
    assay_json_bool(j, "pinned", p.pinned);
    assay_json_bool(j, "exclusive", p.exclusive);
    assay_json_bool(j, "freq", p.freq);
    assay_json_u64(j, "sample_period", p.sample_period);
    assay_json_u64(j, "precise_ip", p.precise_ip);
    json_put(j, "event", e, code, assay_event_perf_string);
    assay_json_close(j);
}

void events_json_code(struct assay_json *j, const struct events *e, const struct assay_event_code *code)
{
    static const char *const key[] = {"name",  "pmu",       "event",    "umasks",         "raw_umask", "modifiers",
                                      "codes", "registers", "counters", "fixed_counters", "perf"};
    for (size_t i = 0; !code && i < sizeof key / sizeof *key; i++)
        assay_json_null(j, key[i]);
    if (!code)
        return;
    json_put(j, "name", e, code, assay_event_name);
    assay_json_str(j, "pmu", events_pmu_name(e, code->pmu));
    assay_json_str(j, "event", events_event_name(e, code->event));
    json_umasks(j, e, code);
    assay_json_open(j, "modifiers");
    for (unsigned m = 0; m < ASSAY_EVENT_MODS; m++)
        if (code->named >> m & 1 || m == ASSAY_EVENT_MOD_U || m == ASSAY_EVENT_MOD_K)
            assay_json_u64(j, assay_event_modifier_name((enum assay_event_modifier)m), code->modifier[m]);
    assay_json_close(j);
    assay_json_array(j, "codes");
    for (unsigned i = 0; i < code->codes; i++)
        assay_json_addr(j, NULL, code->code[i]);
    assay_json_array_end(j);
    json_registers(j, e, code);
    events_json_counters(j, code->counters);
    json_perf(j, e, code);
}
