/* SPDX-License-Identifier: MIT */
/* Rows of loaded PMUs while their number is not known, and the table that is made of them. */
#include "event_json_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- strings ---- */

/* The texts are shown on terminals, which control characters could move the cursor of, or worse. */
static void clean(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            *s = ' ';
}

int ej_pool_add(struct assay_event_json *j, const char *s, uint32_t *offset, struct assay_error *e)
{
    *offset = 0;
    size_t n = s ? strlen(s) : 0;
    if (n == 0)
        return ASSAY_OK;
    /* Texts are shorter than their files, which together have less than 2^28 bytes. */
    while (j->pool_cap - j->pool_size < n + 1) {
        uint32_t cap = j->pool_cap ? j->pool_cap * 2 : 1 << 16;
        char *pool = realloc(j->pool, cap);
        if (!pool)
            return ej_memory(e);
        j->pool = pool;
        j->pool_cap = cap;
    }
    *offset = j->pool_size;
    memcpy(j->pool + j->pool_size, s, n + 1);
    clean(j->pool + j->pool_size);
    j->pool_size += (uint32_t)n + 1;
    return ASSAY_OK;
}

/* ---- PMUs ---- */

struct ej_pmu *ej_pmu_find(struct assay_event_json *j, const char *name)
{
    for (uint32_t i = 0; i < j->pmu_n; i++)
        if (strcmp(j->pmus[i].name, name) == 0)
            return &j->pmus[i];
    return NULL;
}

/* Linux has a PMU for each kind of core of a hybrid; others are its "cpu". */
static const char *kernel_pmu(const char *name)
{
    static const struct {
        const char *tail, *kernel;
    } kinds[] = {
        {"-core", "cpu_core"}, {"cove", "cpu_core"}, {"_atom", "cpu_lowpower"},
        {"-atom", "cpu_atom"}, {"mont", "cpu_atom"},
    };
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t m = strlen(kinds[i].tail);
        if (strchr(name, '-') && n > m && strcmp(name + n - m, kinds[i].tail) == 0)
            return kinds[i].kernel;
    }
    return NULL;
}

int ej_pmu_get(struct assay_event_json *j, const char *name, struct ej_pmu **out, struct assay_error *e)
{
    struct ej_pmu *p = *out = ej_pmu_find(j, name);
    if (p)
        return ASSAY_OK;
    if (!j->pmus && !(j->pmus = calloc(ASSAY_EVENT_JSON_MOST_PMUS, sizeof *j->pmus)))
        return ej_memory(e);
    if (j->pmu_n == ASSAY_EVENT_JSON_MOST_PMUS)
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, UINT64_MAX, "more than %d PMUs", ASSAY_EVENT_JSON_MOST_PMUS);
    *out = p = &j->pmus[j->pmu_n];
    snprintf(p->name, sizeof p->name, "%s", name);
    int rc = ej_pool_add(j, kernel_pmu(name), &p->kernel_pmu, e);
    j->pmu_n += rc == ASSAY_OK;
    return rc;
}

bool ej_pmu_model(struct ej_pmu *p, uint32_t model)
{
    for (uint32_t i = 0; i < p->models; i++)
        if (p->model[i] == model)
            return true;
    if (p->models == EJ_MODELS)
        return false;
    p->model[p->models++] = model;
    return true;
}

/* ---- events by name ---- */

static const char *name_of(const struct assay_event_json *j, const struct ej_pmu *p, uint32_t row)
{
    return j->pool + p->rows[row].name;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        bool letter = (*a | 0x20) >= 'a' && (*a | 0x20) <= 'z';
        if (*a != *b && !(letter && (*a ^ *b) == 0x20))
            return false;
    }
    return *a == *b;
}

/* The slot of a name: that which holds it, or the empty one where it goes. */
static uint16_t *find_slot(const struct assay_event_json *j, const struct ej_pmu *p, const char *name)
{
    uint32_t at = assay_event_hash(0, name, strlen(name)) & p->slot_mask;
    while (p->slots[at] && !same_name(name_of(j, p, p->slots[at] - 1u), name))
        at = (at + 1) & p->slot_mask;
    return &p->slots[at];
}

/* Half of the slots stay empty. */
static int grow_slots(struct assay_event_json *j, struct ej_pmu *p, struct assay_error *e)
{
    if (p->slots && p->n * 2 <= p->slot_mask)
        return ASSAY_OK;
    uint32_t size = p->slots ? (p->slot_mask + 1) * 2 : 256;
    uint16_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return ej_memory(e);
    free(p->slots);
    p->slots = slots;
    p->slot_mask = size - 1;
    for (uint32_t i = 0; i < p->n; i++)
        *find_slot(j, p, name_of(j, p, i)) = (uint16_t)(i + 1);
    return ASSAY_OK;
}

static int grow_rows(struct ej_pmu *p, struct assay_error *e)
{
    if (p->n < p->cap)
        return ASSAY_OK;
    uint32_t cap = p->cap ? p->cap * 2 : 256;
    struct assay_event_row *rows = realloc(p->rows, cap * sizeof *rows);
    if (rows)
        p->rows = rows;
    struct assay_event_facts *facts = rows ? realloc(p->facts, cap * sizeof *facts) : NULL;
    if (!facts)
        return ej_memory(e);
    p->facts = facts;
    p->cap = cap;
    return ASSAY_OK;
}

int ej_pmu_add(struct assay_event_json *j, struct ej_pmu *p, const struct assay_event_row *row,
               const struct assay_event_facts *facts, struct assay_error *e)
{
    int rc = grow_rows(p, e);
    if (rc == ASSAY_OK)
        rc = grow_slots(j, p, e);
    if (rc < 0)
        return rc;
    uint16_t *slot = find_slot(j, p, j->pool + row->name);
    if (*slot)
        return 0;
    p->rows[p->n] = *row;
    p->facts[p->n] = *facts;
    *slot = (uint16_t)++p->n;
    return 1;
}

/* ---- the table ---- */

static uint64_t counters_of(const struct ej_pmu *p)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < p->n; i++)
        all |= p->rows[i].counters;
    return all;
}

static uint8_t highest(uint32_t mask)
{
    uint8_t n = 0;
    for (; mask; mask >>= 1)
        n++;
    return n;
}

/* Counters of old cores that write precise records, where the file says so; 0 where fixed ones do, too. */
static uint32_t precise_of(const struct ej_pmu *p)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->facts[i].pebs)
            all |= p->facts[i].pebs_counters;
    return all >> 32 ? 0 : (uint32_t)all;
}

/* Files that say nothing of counters are of cores with four, as all since Nehalem have. */
static void finish_rows(struct ej_pmu *p, struct assay_event_pmu *out)
{
    uint64_t all = counters_of(p), general = (uint32_t)all ? (uint32_t)all : 0xf;
    out->generic = highest((uint32_t)general);
    out->fixed = highest((uint32_t)(all >> 32));
    out->registers = 1;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->rows[i].counters == 0)
            p->rows[i].counters = general;
        if (p->rows[i].extra_msr)
            out->registers = 2;
    }
}

static void finish_pmu(struct assay_event_json *j, struct ej_pmu *p, struct assay_event_pmu *out)
{
    struct assay_event_table *t = &j->table;
    *out = (struct assay_event_pmu){
        .desc = p->desc,
        .first_event = t->event_count,
        .events = p->n,
        .listed = p->n,
        .first_slot = t->slot_count,
        .slot_mask = p->slot_mask,
        .first_model = t->model_count,
        .models = p->models,
        .scheme = ASSAY_EVENT_CORE,
        .flat = 1,
        .perf_type = 4, /* PERF_TYPE_RAW */
        .precise = precise_of(p),
        .kernel_pmu = p->kernel_pmu,
    };
    finish_rows(p, out);
    memcpy((struct assay_event_row *)t->events + t->event_count, p->rows, p->n * sizeof *p->rows);
    memcpy(j->facts + (t->event_count - j->base_events), p->facts, p->n * sizeof *p->facts);
    memcpy((uint16_t *)t->slots + t->slot_count, p->slots, (p->slot_mask + 1) * sizeof *p->slots);
    memcpy((uint32_t *)t->models + t->model_count, p->model, p->models * sizeof *p->model);
    t->event_count += p->n;
    t->slot_count += p->slot_mask + 1;
    t->model_count += p->models;
}

/* Room for n elements that begins with a copy of those of the base. */
static void *copy_of(const void *base, size_t n_base, size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (p && n_base)
        memcpy(p, base, n_base * size);
    return p;
}

static int make_arrays(struct assay_event_json *j, struct assay_error *e)
{
    const struct assay_event_table *b = &j->base;
    uint32_t events = 0, slots = 0, models = 0;
    for (uint32_t i = 0; i < j->pmu_n; i++) {
        events += j->pmus[i].n;
        slots += j->pmus[i].slot_mask + 1;
        models += j->pmus[i].models;
    }
    struct assay_event_table *t = &j->table;
    *t = *b;
    t->pool = j->pool;
    t->pool_size = j->pool_size;
    t->pmus = copy_of(b->pmus, b->pmu_count, b->pmu_count + j->pmu_n, sizeof *t->pmus);
    t->events = copy_of(b->events, b->event_count, b->event_count + events, sizeof *t->events);
    t->slots = copy_of(b->slots, b->slot_count, b->slot_count + slots, sizeof *t->slots);
    t->models = copy_of(b->models, b->model_count, b->model_count + models, sizeof *t->models);
    j->facts = calloc(events ? events : 1, sizeof *j->facts);
    return t->pmus && t->events && t->slots && t->models && j->facts ? ASSAY_OK : ej_memory(e);
}

static bool name_taken(const struct assay_event_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->pmu_count; i++)
        if (same_name(assay_event_str(t, t->pmus[i].name), name))
            return true;
    return false;
}

/* "knl" of a file is "knl-json" beside the PMU that is built in. */
static int add_name(struct assay_event_json *j, const struct ej_pmu *p, uint32_t *offset, struct assay_error *e)
{
    char name[EJ_PMU_NAME + 8];
    snprintf(name, sizeof name, "%s%s", p->name, name_taken(&j->base, p->name) ? "-json" : "");
    return ej_pool_add(j, name, offset, e);
}

/* Of two PMUs that have a model, the later one is found: of a hybrid, that is to be the big cores'. */
static void sort_hybrids(struct assay_event_json *j)
{
    for (uint32_t i = 0; i < j->pmu_n; i++) {
        char atom[EJ_PMU_NAME];
        size_t n = strlen(j->pmus[i].name);
        if (n < 5 || strcmp(j->pmus[i].name + n - 5, "-core") != 0)
            continue;
        snprintf(atom, sizeof atom, "%.*s-atom", (int)n - 5, j->pmus[i].name);
        struct ej_pmu *other = ej_pmu_find(j, atom);
        if (other && other > &j->pmus[i]) {
            struct ej_pmu keep = j->pmus[i];
            j->pmus[i] = *other;
            *other = keep;
        }
    }
}

static void free_pmus(struct assay_event_json *j)
{
    for (uint32_t i = 0; i < j->pmu_n; i++) {
        free(j->pmus[i].rows);
        free(j->pmus[i].facts);
        free(j->pmus[i].slots);
    }
    free(j->pmus);
    j->pmus = NULL;
    j->pmu_n = 0;
}

int ej_table_finish(struct assay_event_json *j, struct assay_error *e)
{
    uint32_t name[ASSAY_EVENT_JSON_MOST_PMUS], first = j->base.pmu_count;
    sort_hybrids(j);
    for (uint32_t i = 0; i < j->pmu_n; i++) {
        int rc = add_name(j, &j->pmus[i], &name[i], e);
        if (rc == ASSAY_OK && !j->pmus[i].desc)
            rc = ej_pool_add(j, "events of files without a header", &j->pmus[i].desc, e);
        if (rc < 0)
            return rc;
    }
    int rc = make_arrays(j, e);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < j->pmu_n; i++) {
        struct assay_event_pmu *out = (struct assay_event_pmu *)j->table.pmus + first + i;
        finish_pmu(j, &j->pmus[i], out);
        out->name = name[i];
    }
    j->table.pmu_count = first + j->pmu_n;
    free_pmus(j);
    return ASSAY_OK;
}

/* What the table's arrays are made of is this object's own. */
void ej_table_free(struct assay_event_json *j)
{
    free_pmus(j);
    free(j->pool);
    free((void *)j->table.pmus);
    free((void *)j->table.events);
    free((void *)j->table.slots);
    free((void *)j->table.models);
    free(j->facts);
}
