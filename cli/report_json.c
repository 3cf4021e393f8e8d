/* SPDX-License-Identifier: MIT */
/* A profile as JSON lines and as CSV. */
#include "report.h"
#include "table.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

static void put_counts(struct assay_json *j, const struct report *r, const struct assay_profile_counts *k)
{
    bool cycles = report_has_cycles(r);
    assay_json_u64(j, "instructions", k->insns);
    if (cycles)
        assay_json_fixed(j, "cycles", k->cycles, 1);
    else
        assay_json_null(j, "cycles");
    assay_json_u64(j, "timed_instructions", k->timed);
    if (cycles && k->cycles > 0)
        assay_json_fixed(j, "ipc", (double)k->timed / k->cycles, 4);
    else
        assay_json_null(j, "ipc");
}

static void put_summary(struct assay_json *j, const struct report *r)
{
    const struct assay_profile_totals *t = assay_profile_totals(r->profile);
    assay_json_open(j, NULL);
    assay_json_str(j, "record", "summary");
    assay_json_bool(j, "virtual", assay_pt_recording_virtual(r->rec) != NULL);
    assay_json_str(j, "command", assay_pt_recording_command(r->rec));
    assay_json_u64(j, "streams", assay_pt_recording_streams(r->rec));
    put_counts(j, r, &t->counts);
    assay_json_fixed(j, "cycles_outside", t->outside_cycles, 1);
    assay_json_u64(j, "first_tsc", t->first_tsc);
    assay_json_u64(j, "last_tsc", t->last_tsc);
    assay_json_u64(j, "bytes", r->ledger.in);
    assay_json_u64(j, "bytes_decoded", r->ledger.decoded);
    assay_json_u64(j, "bytes_skipped", assay_ledger_skipped(&r->ledger));
    assay_json_u64(j, "bytes_unread", r->ledger.unread);
    assay_json_u64(j, "gaps", t->gaps);
    assay_json_u64(j, "overflows", t->overflows);
    assay_json_close(j);
}

static void put_gaps(struct assay_json *j, const struct report *r)
{
    const struct assay_profile_totals *t = assay_profile_totals(r->profile);
    for (size_t i = 0; i < ASSAY_PROFILE_GAPS && t->gap[i].count; i++) {
        assay_json_open(j, NULL);
        assay_json_str(j, "record", "gap");
        assay_json_str(j, "what", t->gap[i].what);
        assay_json_u64(j, "count", t->gap[i].count);
        assay_json_u64(j, "bytes", t->gap[i].bytes);
        assay_json_u64(j, "first_offset", t->gap[i].offset);
        if (t->gap[i].ip)
            assay_json_addr(j, "first_ip", t->gap[i].ip);
        else
            assay_json_null(j, "first_ip");
        assay_json_close(j);
    }
}

static void put_name(struct assay_json *j, const struct report *r, const char *key, uint32_t function)
{
    const struct assay_profile_function *f = assay_profile_function(r->profile, function);
    assay_json_str(j, key, f ? f->name : NULL);
}

static void put_functions(struct assay_json *j, const struct report *r)
{
    uint32_t *order = report_sorted_functions(r);
    size_t n = assay_profile_functions(r->profile);
    for (size_t i = 0; order && i < n && i < r->top; i++) {
        const struct assay_profile_function *f = assay_profile_function(r->profile, order[i]);
        assay_json_open(j, NULL);
        assay_json_str(j, "record", "function");
        assay_json_str(j, "symbol", f->name);
        assay_json_str(j, "dso",
                       f->dso == UINT32_MAX ? NULL : assay_dso_name(assay_pt_recording_image(r->rec), f->dso));
        assay_json_addr(j, "start", f->start);
        assay_json_u64(j, "size", f->size);
        put_counts(j, r, &f->self);
        assay_json_u64(j, "calls", f->self.calls);
        assay_json_close(j);
    }
    free(order);
}

static void put_nodes(struct assay_json *j, const struct report *r)
{
    for (size_t i = 1; i < assay_profile_nodes(r->profile); i++) {
        const struct assay_profile_node *node = assay_profile_node(r->profile, i);
        assay_json_open(j, NULL);
        assay_json_str(j, "record", "node");
        assay_json_u64(j, "id", i);
        assay_json_u64(j, "parent", node->parent);
        put_name(j, r, "symbol", node->function);
        assay_json_u64(j, "calls", node->self.calls);
        assay_json_open(j, "self");
        put_counts(j, r, &node->self);
        assay_json_close(j);
        assay_json_open(j, "total");
        put_counts(j, r, &node->total);
        assay_json_close(j);
        assay_json_close(j);
    }
}

static void put_edges(struct assay_json *j, const struct report *r)
{
    uint32_t *order = report_sorted_edges(r);
    size_t n = assay_profile_edges(r->profile);
    for (size_t i = 0; order && i < n && i < r->top; i++) {
        const struct assay_profile_edge *e = assay_profile_edge(r->profile, order[i]);
        assay_json_open(j, NULL);
        assay_json_str(j, "record", "edge");
        assay_json_addr(j, "from", e->from);
        assay_json_addr(j, "to", e->to);
        put_name(j, r, "from_symbol", e->from_function);
        put_name(j, r, "to_symbol", e->to_function);
        assay_json_str(j, "branch", trace_branch_name(e->kind));
        assay_json_bool(j, "taken", e->taken);
        assay_json_u64(j, "count", e->count);
        assay_json_close(j);
    }
    free(order);
}

void report_json(struct cli *c, const struct report *r)
{
    struct assay_json j;
    assay_json_init(&j, &c->out);
    put_summary(&j, r);
    put_gaps(&j, r);
    put_functions(&j, r);
    put_nodes(&j, r);
    put_edges(&j, r);
}

void report_csv(struct cli *c, const struct report *r)
{
    struct assay_out *o = &c->out;
    uint32_t *order = report_sorted_functions(r);
    size_t n = assay_profile_functions(r->profile);
    assay_out_str(o, "symbol,dso,start,size,instructions,timed_instructions,cycles,calls\n");
    for (size_t i = 0; order && i < n && i < r->top; i++) {
        const struct assay_profile_function *f = assay_profile_function(r->profile, order[i]);
        table_csv(c, f->name);
        assay_out_char(o, ',');
        table_csv(c, f->dso == UINT32_MAX ? "" : assay_dso_name(assay_pt_recording_image(r->rec), f->dso));
        assay_out_str(o, ",0x");
        assay_out_hex(o, f->start);
        const uint64_t number[] = {f->size, f->self.insns, f->self.timed};
        for (size_t k = 0; k < 3; k++) {
            assay_out_char(o, ',');
            assay_out_dec(o, number[k]);
        }
        assay_out_char(o, ',');
        if (report_has_cycles(r))
            assay_out_fixed(o, f->self.cycles, 1);
        assay_out_char(o, ',');
        assay_out_dec(o, f->self.calls);
        assay_out_char(o, '\n');
    }
    free(order);
}
