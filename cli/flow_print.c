/* SPDX-License-Identifier: MIT */
/* assay flow: instructions, blocks and events, one a line. The lines of a run are made once and copied each time it runs. */
#include "flow_print.h"
#include "trace.h"

#include "base/table.h"

#include <stdlib.h>
#include <string.h>

struct flow_text { /* of a run, in the pool */
    size_t at, size;
};

static const char *const event_names[ASSAY_FLOW_EVENTS] = {
    [ASSAY_FLOW_ENABLED] = "enabled",
    [ASSAY_FLOW_DISABLED] = "disabled",
    [ASSAY_FLOW_ASYNC] = "async",
    [ASSAY_FLOW_PARTIAL] = "partial",
    [ASSAY_FLOW_TIME] = "time",
    [ASSAY_FLOW_MODE] = "mode",
    [ASSAY_FLOW_TSX] = "tsx",
    [ASSAY_FLOW_PAGING] = "paging",
    [ASSAY_FLOW_VMCS] = "vmcs",
    [ASSAY_FLOW_FREQUENCY] = "frequency",
    [ASSAY_FLOW_PTWRITE] = "ptwrite",
    [ASSAY_FLOW_POWER] = "power",
    [ASSAY_FLOW_INTERRUPT] = "interrupt",
    [ASSAY_FLOW_EVENT_DATA] = "event-data",
    [ASSAY_FLOW_PEBS] = "pebs",
    [ASSAY_FLOW_TRIGGER] = "trigger",
    [ASSAY_FLOW_MAINTENANCE] = "maintenance",
    [ASSAY_FLOW_STOP] = "stop",
    [ASSAY_FLOW_OVERFLOW] = "overflow",
    [ASSAY_FLOW_GAP] = "gap",
    [ASSAY_FLOW_TASK] = "task",
    [ASSAY_FLOW_RESTART] = "restart",
};

const char *flow_event_name(unsigned type) { return event_names[type]; }

const char *flow_symbol(struct flow_print *p, const struct assay_flow_block *b, uint64_t ip, uint64_t *offset)
{
    struct assay_symbol s;
    *offset = 0;
    if (b->dso == UINT32_MAX || assay_image_symbol(p->image, b->dso, b->dso_addr + (ip - b->ip), &s) < 0)
        return NULL;
    *offset = b->dso_addr + (ip - b->ip) - s.start;
    return s.name;
}

static void put_place(struct flow_print *p, struct assay_out *o, const struct assay_flow_block *b, uint64_t ip)
{
    uint64_t offset;
    const char *name = flow_symbol(p, b, ip, &offset);
    if (!name)
        return;
    assay_out_str(o, "  ");
    assay_out_clean(o, name);
    if (offset) {
        assay_out_str(o, "+0x");
        assay_out_hex(o, offset);
    }
}

static void json_text(struct assay_json *j, const char *key, const char *v)
{
    if (v)
        assay_json_str(j, key, v);
    else
        assay_json_null(j, key);
}

static void json_count(struct assay_json *j, const char *key, bool there, uint64_t v)
{
    if (there)
        assay_json_u64(j, key, v);
    else
        assay_json_null(j, key);
}

static void json_addr(struct assay_json *j, const char *key, bool there, uint64_t v)
{
    if (there)
        assay_json_addr(j, key, v);
    else
        assay_json_null(j, key);
}

static void json_place(struct flow_print *p, struct assay_json *j, const struct assay_flow_block *b, uint64_t ip)
{
    uint64_t offset;
    const char *name = flow_symbol(p, b, ip, &offset);
    json_text(j, "symbol", name);
    json_count(j, "symbol_offset", name != NULL, offset);
    json_text(j, "dso", b->dso != UINT32_MAX ? assay_dso_name(p->image, b->dso) : NULL);
}

static void put_insn(struct flow_print *p, struct assay_out *o, const struct assay_flow_block *b, uint64_t ip)
{
    if (p->cli->json) {
        struct assay_json j;
        assay_json_init(&j, o);
        assay_json_open(&j, NULL);
        assay_json_u64(&j, "stream", p->stream);
        assay_json_addr(&j, "ip", ip);
        json_place(p, &j, b, ip);
        assay_json_close(&j);
        return;
    }
    assay_out_hex0(o, ip, 12);
    put_place(p, o, b, ip);
    assay_out_char(o, '\n');
}

static void put_block(struct flow_print *p, struct assay_out *o, const struct assay_flow_block *b, uint32_t insns,
                      bool whole)
{
    const char *kind = whole ? trace_branch_name(b->kind) : "cut";
    if (p->cli->json) {
        struct assay_json j;
        assay_json_init(&j, o);
        assay_json_open(&j, NULL);
        assay_json_u64(&j, "stream", p->stream);
        assay_json_addr(&j, "ip", b->ip);
        assay_json_addr(&j, "end", b->end);
        assay_json_u64(&j, "instructions", insns);
        assay_json_str(&j, "branch", kind);
        json_place(p, &j, b, b->ip);
        assay_json_close(&j);
        return;
    }
    assay_out_hex0(o, b->ip, 12);
    assay_out_str(o, "..");
    assay_out_hex0(o, b->end, 12);
    assay_out_dec_right(o, insns, 5);
    assay_out_str(o, "  ");
    assay_out_str(o, kind);
    uint64_t offset;
    if (flow_symbol(p, b, b->ip, &offset))
        assay_out_fill(o, ' ', 13 - strlen(kind));
    put_place(p, o, b, b->ip);
    assay_out_char(o, '\n');
}

/* The first n instructions of a run. */
static void put_run(struct flow_print *p, struct assay_out *o, struct assay_flow *f, uint32_t id, uint32_t n)
{
    const struct assay_flow_run *run = assay_flow_run_at(f, id);
    for (uint32_t i = 0; i < run->blocks && n; i++) {
        const struct assay_flow_block *b = assay_flow_block_at(f, run->first_block + i);
        const uint8_t *size = assay_flow_sizes(f, b);
        uint32_t insns = n < b->insns ? n : b->insns;
        n -= insns;
        if (p->blocks)
            put_block(p, o, b, insns, insns == b->insns);
        uint64_t ip = b->ip;
        for (uint32_t k = 0; k < insns && p->insns; k++) {
            put_insn(p, o, b, ip);
            ip += size[k];
        }
    }
}

static int grow_pool(void *ctx, const char *data, size_t size)
{
    struct flow_print *p = ctx;
    if (!table_grow(&p->pool, &p->pool_room, p->pool_n + size, 1)) {
        p->failed = true;
        return 1;
    }
    memcpy(p->pool + p->pool_n, data, size);
    p->pool_n += size;
    return 0;
}

static void show_run(struct flow_print *p, struct assay_flow *f, uint32_t id)
{
    if (!table_grow(&p->text, &p->texts_room, id + (size_t)1, sizeof *p->text)) {
        p->failed = true;
        return;
    }
    struct flow_text *t = &p->text[id];
    if (!t->size) {
        char buf[4096];
        struct assay_out o;
        assay_out_init(&o, buf, sizeof buf, grow_pool, p);
        t->at = p->pool_n;
        put_run(p, &o, f, id, UINT32_MAX);
        assay_out_flush(&o);
        t->size = p->pool_n - t->at;
    }
    assay_out_bytes(&p->cli->out, p->pool + t->at, t->size);
}

/* ---- events */

static void json_event(struct flow_print *p, const struct assay_flow_event *e)
{
    struct assay_json j;
    assay_json_init(&j, &p->cli->out);
    assay_json_open(&j, NULL);
    assay_json_u64(&j, "stream", p->stream);
    assay_json_str(&j, "event", event_names[e->type]);
    assay_json_u64(&j, "offset", e->offset);
    bool gap = e->type == ASSAY_FLOW_GAP;
    json_count(&j, "tsc", e->tsc != 0, e->tsc);
    assay_json_bool(&j, "exact", e->exact);
    json_addr(&j, "ip", e->has_ip, e->ip);
    json_addr(&j, "to", e->to != 0, e->to);
    json_count(&j, "instructions", e->type == ASSAY_FLOW_PARTIAL, e->insns);
    assay_json_addr(&j, "value", e->value);
    json_text(&j, "error", gap ? assay_status_name(e->code) : NULL);
    json_text(&j, "what", gap ? e->what : NULL);
    json_text(&j, "expected", gap ? e->expected : NULL);
    assay_json_close(&j);
}

static void put_hex(struct assay_out *o, const char *label, uint64_t v)
{
    assay_out_str(o, label);
    assay_out_hex(o, v);
}

static void put_event(struct flow_print *p, const struct assay_flow_event *e)
{
    struct assay_out *o = &p->cli->out;
    cli_sgr(p->cli, e->type == ASSAY_FLOW_GAP ? "31" : "2");
    assay_out_str(o, "# ");
    assay_out_str(o, event_names[e->type]);
    if (e->has_ip)
        put_hex(o, " at 0x", e->ip);
    if (e->to)
        put_hex(o, " to 0x", e->to);
    if (e->type == ASSAY_FLOW_GAP) {
        assay_out_str(o, ": ");
        assay_out_str(o, e->what);
        if (e->expected) {
            assay_out_str(o, "; expected ");
            assay_out_str(o, e->expected);
        }
        assay_out_str(o, "; ");
        assay_out_dec(o, e->value);
        assay_out_str(o, " bytes passed over");
    } else if (e->value && e->type != ASSAY_FLOW_DISABLED) {
        put_hex(o, " value 0x", e->value);
    }
    if (e->tsc) {
        assay_out_str(o, " tsc ");
        assay_out_dec(o, e->tsc);
    }
    put_hex(o, " offset 0x", e->offset);
    cli_sgr(p->cli, "0");
    assay_out_char(o, '\n');
}

static void show_event(struct flow_print *p, struct assay_flow *f, const struct assay_flow_event *e)
{
    trace_note_gap(&p->gaps, e);
    if (e->type == ASSAY_FLOW_PARTIAL && (p->insns || p->blocks))
        put_run(p, &p->cli->out, f, e->run, e->insns);
    if (e->type == ASSAY_FLOW_PARTIAL && p->calls)
        flow_calls_run(p, f, e->run, e->insns);
    if (p->calls)
        flow_calls_event(p, e);
    bool shown = e->type == ASSAY_FLOW_GAP || e->type == ASSAY_FLOW_OVERFLOW || p->events;
    if (shown && p->cli->json)
        json_event(p, e);
    else if (shown)
        put_event(p, e);
}

int flow_print_batch(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct flow_print *p = ctx;
    for (size_t i = 0; i < b->items_n; i++) {
        uint32_t item = b->items[i];
        if (ASSAY_FLOW_IS_EVENT(item))
            show_event(p, f, &b->events[ASSAY_FLOW_INDEX(item)]);
        else if (ASSAY_FLOW_IS_CYCLES(item))
            p->cycles += ASSAY_FLOW_INDEX(item);
        else if (p->calls)
            flow_calls_run(p, f, item, UINT32_MAX);
        else if (p->insns || p->blocks)
            show_run(p, f, item);
    }
    return p->failed ? ASSAY_E_MEMORY : p->cli->out.failed ? ASSAY_E_SYSTEM : 0;
}

static void json_stream(struct flow_print *p, const struct assay_pt_stream *s)
{
    struct assay_json j;
    bool has_tid = s->tid != UINT32_MAX;
    assay_json_init(&j, &p->cli->out);
    assay_json_open(&j, NULL);
    assay_json_u64(&j, "stream", p->stream);
    assay_json_str(&j, "event", "stream");
    json_count(&j, "cpu", s->cpu != UINT32_MAX, s->cpu);
    json_count(&j, "tid", has_tid, s->tid);
    json_text(&j, "command", has_tid ? assay_pt_recording_comm(p->rec, s->tid, UINT64_MAX) : NULL);
    assay_json_bool(&j, "virtual", assay_pt_recording_virtual(p->rec) != NULL);
    assay_json_close(&j);
}

static void put_stream(struct flow_print *p, const struct assay_pt_stream *s)
{
    struct assay_out *o = &p->cli->out;
    assay_out_str(o, "# stream ");
    assay_out_dec(o, p->stream);
    if (s->cpu != UINT32_MAX) {
        assay_out_str(o, " cpu ");
        assay_out_dec(o, s->cpu);
    }
    if (s->tid != UINT32_MAX && s->tid) {
        assay_out_str(o, " tid ");
        assay_out_dec(o, s->tid);
        assay_out_char(o, ' ');
        assay_out_clean(o, assay_pt_recording_comm(p->rec, s->tid, UINT64_MAX));
    }
    if (assay_pt_recording_virtual(p->rec))
        assay_out_str(o, " (virtual: time and cycles are modelled)");
    assay_out_str(o, p->calls ? "\n#instructions      cycles\n" : "\n");
}

void flow_print_stream(struct flow_print *p, size_t stream)
{
    const struct assay_pt_stream *s = assay_pt_recording_stream(p->rec, stream);
    p->stream = stream;
    if (p->text)
        memset(p->text, 0, p->texts_room * sizeof *p->text); /* run ids begin anew */
    p->pool_n = 0;
    p->insns_n = p->cycles = 0;
    if (p->cli->json)
        json_stream(p, s);
    else
        put_stream(p, s);
}

void flow_print_end(struct flow_print *p)
{
    if (p->calls)
        flow_calls_end(p);
}

void flow_print_drop(struct flow_print *p)
{
    free(p->text);
    free(p->pool);
    free(p->frame);
}
