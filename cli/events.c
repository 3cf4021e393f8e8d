/* SPDX-License-Identifier: MIT */
/* Event tables for the verbs: which there are, and which PMU is meant. */
#include "events.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

bool events_this_cpu(struct events_cpu *cpu)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_INTEL_ebx || d != signature_INTEL_edx ||
        c != signature_INTEL_ecx || !__get_cpuid(1, &a, &b, &c, &d))
        return false;
    unsigned family = a >> 8 & 15, model = a >> 4 & 15;
    if (family == 6 || family == 15)
        model += (a >> 16 & 15) << 4;
    *cpu = (struct events_cpu){family == 15 ? family + (a >> 20 & 255) : family, model, a & 15};
    return true;
}
#else
bool events_this_cpu(struct events_cpu *cpu)
{
    (void)cpu;
    return false;
}
#endif

const char *events_pmu_name(const struct events *e, uint32_t pmu)
{
    return assay_event_str(&e->table, e->table.pmus[pmu].name);
}

const char *events_event_name(const struct events *e, uint32_t event)
{
    return assay_event_str(&e->table, e->table.events[event].name);
}

const char *events_umask_name(const struct events *e, uint32_t umask)
{
    return assay_event_str(&e->table, e->table.umasks[umask].name);
}

static const char *nearest_pmu(const struct events *e, const char *name)
{
    const char *best = NULL;
    unsigned least = 3;
    for (uint32_t i = 0; i < e->table.pmu_count; i++) {
        unsigned d = assay_edit_distance(name, events_pmu_name(e, i));
        if (d < least) {
            least = d;
            best = events_pmu_name(e, i);
        }
    }
    return best;
}

int events_find_pmu(struct cli *c, const struct events *e, const char *name, uint32_t *pmu)
{
    *pmu = assay_event_find_pmu(&e->table, name, strlen(name));
    if (*pmu != ASSAY_EVENT_NONE)
        return CLI_OK;
    const char *meant = nearest_pmu(e, name);
    if (meant)
        return cli_fail(c, CLI_USAGE, "no PMU %s; did you mean %s?", name, meant);
    return cli_fail(c, CLI_USAGE, "no PMU %s; `assay list` shows them", name);
}

/* "6/133/0", "6/133" or "this". */
static int read_cpu(struct cli *c, const char *given, struct events_cpu *cpu)
{
    char end;
    *cpu = (struct events_cpu){0};
    if (strcmp(given, "this") == 0)
        return events_this_cpu(cpu) ? CLI_OK
                                    : cli_fail(c, CLI_CANNOT, "--cpu this: not an Intel processor; name a PMU");
    int n = sscanf(given, "%u/%u/%u%c", &cpu->family, &cpu->model, &cpu->stepping, &end);
    if ((n == 2 && given[strspn(given, "0123456789/")] == '\0') || n == 3)
        return CLI_OK;
    return cli_fail(c, CLI_USAGE, "--cpu %s: not FAMILY/MODEL/STEPPING (6/133/0) or `this`", given);
}

static int find_cpu(struct cli *c, struct events *e, const char *given)
{
    struct events_cpu cpu;
    int status = read_cpu(c, given, &cpu);
    if (status != CLI_OK)
        return status;
    e->pmu = assay_event_find_model(&e->table, cpu.family, cpu.model, cpu.stepping);
    if (e->pmu != ASSAY_EVENT_NONE)
        return CLI_OK;
    return cli_fail(c, CLI_CANNOT, "no table for processor %u/%u/%u; --pmu ix86arch is what all Intel cores have",
                    cpu.family, cpu.model, cpu.stepping);
}

/* What a file has wrong is passed over with a word: the rest of it is of use. */
static void tell_warnings(const struct cli *c, const struct assay_event_json *loaded)
{
    enum { TOLD = 3 };
    uint32_t n = assay_event_json_sums(loaded)->warnings;
    for (uint32_t i = 0; i < n && i < TOLD; i++)
        cli_note(c, "%s", assay_event_json_warning(loaded, i));
    if (n > TOLD)
        cli_note(c, "%u more of that kind", n - TOLD);
}

static int load(struct cli *c, struct events *e, const char *path)
{
    struct assay_event_table builtin = e->table;
    struct assay_error error = {0};
    if (assay_event_json_load(path, &builtin, &e->loaded, &error) < 0)
        return cli_fail_error(c, &error);
    e->table = *assay_event_json_table(e->loaded);
    tell_warnings(c, e->loaded);
    return CLI_OK;
}

void events_close(struct events *e) { assay_event_json_free(e->loaded); }

int events_open(struct cli *c, struct events *e)
{
    const char *pmu = cli_value(c, EVENTS_PMU), *cpu = cli_value(c, EVENTS_CPU);
    const char *given = cli_value(c, EVENTS_FILE), *path = given ? given : getenv("ASSAY_EVENTS");
    assay_event_builtin(&e->table);
    e->pmu = ASSAY_EVENT_NONE;
    e->loaded = NULL;
    int status = path && *path ? load(c, e, path) : CLI_OK;
    if (status != CLI_OK)
        return status;
    if (pmu && cpu)
        return cli_fail(c, CLI_USAGE, "--pmu and --cpu: one of them says it");
    if (pmu)
        return events_find_pmu(c, e, pmu, &e->pmu);
    return cpu ? find_cpu(c, e, cpu) : CLI_OK;
}
