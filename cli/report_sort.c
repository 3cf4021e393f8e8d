/* SPDX-License-Identifier: MIT */
/* Order and names for the forms of a report. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool report_has_cycles(const struct report *r) { return assay_profile_totals(r->profile)->counts.cycles > 0; }

double report_weight(const struct report *r, const struct assay_profile_counts *k)
{
    return report_has_cycles(r) ? k->cycles : (double)k->insns;
}

struct weighed {
    double weight;
    uint64_t insns;
    uint32_t index;
};

/* Heaviest first; equal ones by instructions, then in the order of discovery, so that the output is always the same. */
static int heavier(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->insns != y->insns)
        return x->insns < y->insns ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

static uint32_t *sort_indices(struct weighed *w, size_t n)
{
    uint32_t *index = malloc((n + 1) * sizeof *index);
    if (w && index) {
        qsort(w, n, sizeof *w, heavier);
        for (size_t i = 0; i < n; i++)
            index[i] = w[i].index;
    } else {
        free(index);
        index = NULL;
    }
    free(w);
    return index;
}

uint32_t *report_sorted_functions(const struct report *r)
{
    size_t n = assay_profile_functions(r->profile);
    struct weighed *w = malloc((n + 1) * sizeof *w);
    for (size_t i = 0; w && i < n; i++) {
        const struct assay_profile_counts *k = &assay_profile_function(r->profile, i)->self;
        w[i] = (struct weighed){report_weight(r, k), k->insns, (uint32_t)i};
    }
    return sort_indices(w, n);
}

uint32_t *report_sorted_edges(const struct report *r)
{
    size_t n = assay_profile_edges(r->profile);
    struct weighed *w = malloc((n + 1) * sizeof *w);
    for (size_t i = 0; w && i < n; i++)
        w[i] = (struct weighed){(double)assay_profile_edge(r->profile, i)->count, 0, (uint32_t)i};
    return sort_indices(w, n);
}

const char *report_binary_name(const struct report *r, uint32_t function)
{
    const struct assay_profile_function *f = assay_profile_function(r->profile, function);
    if (!f || f->dso == UINT32_MAX)
        return "[unknown]";
    const char *path = assay_dso_name(assay_pt_recording_image(r->rec), f->dso), *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *report_function_name(const struct report *r, uint32_t function, char *buf, size_t size)
{
    const struct assay_profile_function *f = assay_profile_function(r->profile, function);
    if (f && f->name)
        return f->name;
    snprintf(buf, size, "[no symbol in %s]", report_binary_name(r, function));
    return buf;
}
