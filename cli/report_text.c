/* SPDX-License-Identifier: MIT */
/* A profile as tables for people. */
#include "report.h"
#include "table.h"
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 12 };

static void put(struct cli *c, const char *s) { assay_out_str(&c->out, s); }

/* The value of "key=" in the lines of a text, copied to buf. */
static const char *text_value(const char *text, const char *key, char *buf, size_t size)
{
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, n) == 0 && line[n] == '=') {
            size_t len = strcspn(line + n + 1, "\n");
            snprintf(buf, size, "%.*s", (int)(len < size ? len : size - 1), line + n + 1);
            return buf;
        }
    return "";
}

static void header_origin(struct cli *c, const struct report *r)
{
    char buf[64];
    const char *text = assay_pt_recording_virtual(r->rec);
    cli_sgr(c, text ? "36" : "1");
    if (text) {
        const char *model = text_value(text, "model", buf, sizeof buf);
        put(c, "virtual Processor Trace, times MODELLED");
        if (*model) {
            put(c, " (");
            assay_out_clean(&c->out, model);
            put(c, " timing)");
        }
        put(c, ", not measured");
    } else {
        put(c, "Processor Trace of real hardware");
    }
    cli_sgr(c, "0");
    put(c, "\n");
}

static double trace_ms(const struct report *r)
{
    const struct assay_profile_totals *t = assay_profile_totals(r->profile);
    const struct assay_perf_pt_info *i = assay_pt_recording_info(r->rec);
    if (!t->first_tsc || !i->time_mult)
        return 0;
    return (double)(assay_perf_tsc_to_ns(i, t->last_tsc) - assay_perf_tsc_to_ns(i, t->first_tsc)) / 1e6;
}

void report_header(struct cli *c, const struct report *r)
{
    const struct assay_profile_totals *t = assay_profile_totals(r->profile);
    size_t streams = assay_pt_recording_streams(r->rec);
    header_origin(c, r);
    if (assay_pt_recording_command(r->rec)) {
        assay_out_clean(&c->out, assay_pt_recording_command(r->rec));
        put(c, "\n");
    }
    table_number(c, streams, 0);
    put(c, streams == 1 ? " stream, " : " streams, ");
    table_number(c, t->counts.insns, 0);
    put(c, " instructions");
    if (report_has_cycles(r)) {
        put(c, ", ");
        table_number(c, (uint64_t)(t->counts.cycles + 0.5), 0);
        put(c, " cycles, IPC ");
        assay_out_fixed(&c->out, (double)t->counts.timed / t->counts.cycles, 2);
    } else {
        put(c, ", no CYC packets: cycles and IPC n/a");
    }
    if (trace_ms(r) > 0) {
        put(c, ", ");
        assay_out_fixed(&c->out, trace_ms(r), 3);
        put(c, " ms");
    }
    put(c, "\n\n");
}

static void column_heads(struct cli *c, const char *last)
{
    cli_sgr(c, "1");
    put(c, "        cycles   share ");
    assay_out_fill(&c->out, ' ', BAR);
    put(c, "    instructions    IPC       calls  ");
    put(c, last);
    cli_sgr(c, "0");
    put(c, "\n");
}

/* The columns that functions and call paths have in common. `whole` is what the share is of. */
static void put_counts(struct cli *c, const struct report *r, const struct assay_profile_counts *k, double whole)
{
    if (report_has_cycles(r))
        table_number(c, (uint64_t)(k->cycles + 0.5), 14);
    else
        assay_out_right(&c->out, "n/a", 14);
    put(c, " ");
    table_share(c, report_weight(r, k), whole);
    put(c, " ");
    cli_sgr(c, "33");
    table_bar(c, report_weight(r, k), whole, BAR);
    cli_sgr(c, "0");
    put(c, " ");
    table_number(c, k->insns, 15);
    put(c, " ");
    table_ipc(c, k->timed, k->cycles);
    put(c, " ");
    table_number(c, k->calls, 11);
    put(c, "  ");
}

static double whole_weight(const struct report *r)
{
    return report_weight(r, &assay_profile_totals(r->profile)->counts);
}

void report_functions(struct cli *c, const struct report *r)
{
    uint32_t *order = report_sorted_functions(r);
    size_t n = assay_profile_functions(r->profile), shown = n < r->top ? n : r->top;
    char buf[256];
    column_heads(c, "function  [binary]");
    struct assay_profile_counts rest = {0};
    for (size_t i = 0; order && i < n; i++) {
        const struct assay_profile_function *f = assay_profile_function(r->profile, order[i]);
        if (i >= shown) {
            rest.insns += f->self.insns;
            rest.timed += f->self.timed;
            rest.cycles += f->self.cycles;
            rest.calls += f->self.calls;
            continue;
        }
        put_counts(c, r, &f->self, whole_weight(r));
        const char *name = report_function_name(r, order[i], buf, sizeof buf);
        assay_out_clean(&c->out, name);
        if (name[0] != '[') { /* a range is named by its binary already */
            put(c, "  [");
            assay_out_clean(&c->out, report_binary_name(r, order[i]));
            put(c, "]");
        }
        put(c, "\n");
    }
    if (n > shown) {
        put_counts(c, r, &rest, whole_weight(r));
        snprintf(buf, sizeof buf, "(%zu more functions; --top 0 shows them)\n", n - shown);
        put(c, buf);
    }
    free(order);
}

/* Children of a node, heaviest first. */
static size_t sorted_children(const struct report *r, const struct assay_profile_node *node, uint32_t *child,
                              size_t room)
{
    size_t n = 0;
    for (uint32_t i = node->first_child; i && n < room; i = assay_profile_node(r->profile, i)->next_sibling) {
        size_t at = n++;
        double w = report_weight(r, &assay_profile_node(r->profile, i)->total);
        for (; at > 0 && report_weight(r, &assay_profile_node(r->profile, child[at - 1])->total) < w; at--)
            child[at] = child[at - 1];
        child[at] = i;
    }
    return n;
}

struct tree_print {
    size_t lines, left_out;
};

/* Depth-first, heaviest first; small paths are counted, not shown. Recursion is as deep as the shown tree. */
static void put_node(struct cli *c, const struct report *r, uint32_t index, unsigned depth, struct tree_print *t)
{
    enum { MOST_CHILDREN = 64, MOST_DEPTH = 200 };
    const struct assay_profile_node *node = assay_profile_node(r->profile, index);
    uint32_t child[MOST_CHILDREN];
    char buf[256];
    if (index) {
        struct assay_profile_counts k = node->total;
        k.calls = node->self.calls;
        put_counts(c, r, &k, whole_weight(r));
        assay_out_fill(&c->out, ' ', (size_t)2 * (depth - 1));
        assay_out_clean(&c->out, report_function_name(r, node->function, buf, sizeof buf));
        put(c, "\n");
        t->lines++;
    }
    size_t n = sorted_children(r, node, child, MOST_CHILDREN);
    for (size_t i = 0; i < n; i++) {
        double w = report_weight(r, &assay_profile_node(r->profile, child[i])->total);
        if (depth >= MOST_DEPTH || t->lines >= r->top || w * 1000 < whole_weight(r) * r->min_permille)
            t->left_out++;
        else
            put_node(c, r, child[i], depth + 1, t);
    }
}

static void put_left_out(struct cli *c, uint64_t n, const char *what)
{
    char buf[160];
    snprintf(buf, sizeof buf, "(%" PRIu64 " %s)\n", n, what);
    if (n)
        put(c, buf);
}

void report_tree(struct cli *c, const struct report *r)
{
    struct tree_print t = {0};
    char buf[128];
    column_heads(c, "call path (counts with all it called)");
    if (assay_profile_nodes(r->profile))
        put_node(c, r, 0, 0, &t);
    if (t.left_out) {
        snprintf(buf, sizeof buf,
                 "(%zu branches of the tree below %u.%u %% or past %zu lines left out: --min, --top)\n", t.left_out,
                 r->min_permille / 10, r->min_permille % 10, r->top);
        put(c, buf);
    }
    put_left_out(c, assay_profile_totals(r->profile)->folded,
                 "entries into further call paths are counted with their callers: the tree is full");
}

static void put_place(struct cli *c, const struct report *r, uint32_t function, uint64_t ip)
{
    char buf[256];
    put(c, "0x");
    assay_out_hex0(&c->out, ip, 12);
    put(c, " ");
    assay_out_clean(&c->out, report_function_name(r, function, buf, sizeof buf));
}

void report_edges(struct cli *c, const struct report *r)
{
    uint32_t *order = report_sorted_edges(r);
    size_t n = assay_profile_edges(r->profile);
    cli_sgr(c, "1");
    put(c, "           count  branch         from -> to\n");
    cli_sgr(c, "0");
    for (size_t i = 0; order && i < n && i < r->top; i++) {
        const struct assay_profile_edge *e = assay_profile_edge(r->profile, order[i]);
        table_number(c, e->count, 16);
        put(c, "  ");
        const char *kind = trace_branch_name(e->kind);
        assay_out_left(&c->out, e->kind == ASSAY_INSN_COND ? (e->taken ? "taken" : "not taken") : kind, 15);
        put_place(c, r, e->from_function, e->from);
        put(c, " -> ");
        put_place(c, r, e->to_function, e->to);
        put(c, "\n");
    }
    free(order);
    put_left_out(c, assay_profile_totals(r->profile)->edges_left_out,
                 "branches along further edges are left out: the table is full");
}

static void put_gaps(struct cli *c, const struct assay_profile_totals *t)
{
    char buf[256];
    for (size_t i = 0; i < ASSAY_PROFILE_GAPS && t->gap[i].count; i++) {
        const struct assay_profile_gap *g = &t->gap[i];
        snprintf(buf, sizeof buf, "  %" PRIu64 " x %s, %" PRIu64 " bytes; the first at offset 0x%" PRIx64, g->count,
                 g->what, g->bytes, g->offset);
        put(c, buf);
        if (g->ip) {
            put(c, ", address 0x");
            assay_out_hex(&c->out, g->ip);
        }
        put(c, "\n");
    }
}

void report_footer(struct cli *c, const struct report *r)
{
    const struct assay_profile_totals *t = assay_profile_totals(r->profile);
    char buf[256];
    put(c, "\n");
    if (t->outside_cycles > 0) {
        table_number(c, (uint64_t)(t->outside_cycles + 0.5), 0);
        put(c, " cycles passed while tracing was off (system calls) and belong to no function\n");
    }
    uint64_t lost = assay_ledger_skipped(&r->ledger) + r->ledger.unread;
    if (lost || t->gaps || t->overflows) {
        cli_sgr(c, "31");
        snprintf(buf, sizeof buf,
                 "losses: %" PRIu64 " of %" PRIu64 " trace bytes not decoded, %" PRIu64 " gaps, %" PRIu64
                 " overflows\n",
                 lost, r->ledger.in, t->gaps, t->overflows);
        put(c, buf);
        put_gaps(c, t);
        cli_sgr(c, "0");
    } else {
        snprintf(buf, sizeof buf, "losses: none (%" PRIu64 " trace bytes, all decoded)\n", r->ledger.in);
        put(c, buf);
    }
}
