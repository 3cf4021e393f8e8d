/* SPDX-License-Identifier: MIT */
/* assay flow --calls: functions as they are entered and left, indented by depth, with the instructions and cycles of each. */
#include "flow_print.h"

#include "base/table.h"

struct flow_frame {
    const char *name;
    uint64_t ip, return_ip;
    uint64_t insns, cycles; /* counts of the stream when it was entered */
};

enum { INDENT_MOST = 60, MOST_FRAMES = 1 << 20 };

/* Cycles are known at the exact places of the trace: a call that saw none of them took fewer than there are between two. */
static bool cycles_known(const struct flow_print *p, const struct flow_frame *fr) { return p->cycles != fr->cycles; }

static void put_line(struct flow_print *p, size_t depth, bool entered, const struct flow_frame *fr)
{
    struct assay_out *o = &p->cli->out;
    if (entered)
        assay_out_fill(o, ' ', 24);
    else
        assay_out_dec_right(o, p->insns_n - fr->insns, 12);
    if (!entered && cycles_known(p, fr))
        assay_out_dec_right(o, p->cycles - fr->cycles, 12);
    else if (!entered)
        assay_out_right(o, "-", 12);
    assay_out_fill(o, ' ', 2 + 2 * (depth < INDENT_MOST ? depth : INDENT_MOST));
    assay_out_str(o, entered ? "> " : "< ");
    if (fr->name) {
        assay_out_clean(o, fr->name);
    } else {
        assay_out_str(o, "0x");
        assay_out_hex(o, fr->ip);
    }
    assay_out_char(o, '\n');
}

static void json_line(struct flow_print *p, size_t depth, const char *event, const struct flow_frame *fr)
{
    struct assay_json j;
    assay_json_init(&j, &p->cli->out);
    assay_json_open(&j, NULL);
    assay_json_u64(&j, "stream", p->stream);
    assay_json_str(&j, "call", event);
    assay_json_u64(&j, "depth", depth);
    assay_json_addr(&j, "ip", fr->ip);
    if (fr->name)
        assay_json_str(&j, "symbol", fr->name);
    else
        assay_json_null(&j, "symbol");
    assay_json_u64(&j, "instructions", p->insns_n - fr->insns);
    if (cycles_known(p, fr))
        assay_json_u64(&j, "cycles", p->cycles - fr->cycles);
    else
        assay_json_null(&j, "cycles");
    if (p->tsc)
        assay_json_u64(&j, "tsc", p->tsc);
    else
        assay_json_null(&j, "tsc");
    assay_json_close(&j);
}

static void tell(struct flow_print *p, size_t depth, bool enter, const struct flow_frame *fr)
{
    if (p->cli->json)
        json_line(p, depth, enter ? "enter" : "leave", fr);
    else
        put_line(p, depth, enter, fr);
}

static void enter(struct flow_print *p, const struct assay_flow_block *b)
{
    uint64_t offset;
    p->entered = false;
    if (!p->frames)
        return;
    struct flow_frame *fr = &p->frame[p->frames - 1];
    fr->ip = b->ip;
    fr->name = flow_symbol(p, b, b->ip, &offset);
    tell(p, p->frames - 1, true, fr);
}

static void call(struct flow_print *p, uint64_t return_ip)
{
    if (p->frames == MOST_FRAMES) /* no program is that deep: returns were lost */
        flow_calls_end(p);
    if (!table_grow(&p->frame, &p->frames_room, p->frames + 1, sizeof *p->frame)) {
        p->failed = true;
        return;
    }
    p->frame[p->frames++] = (struct flow_frame){.return_ip = return_ip, .insns = p->insns_n, .cycles = p->cycles};
    p->entered = true;
}

static void leave(struct flow_print *p)
{
    if (!p->frames)
        return;
    p->frames--;
    tell(p, p->frames, false, &p->frame[p->frames]);
}

/* After a return: frames that were not returned from one by one (longjmp, exceptions) end here too. */
static void arrive(struct flow_print *p, uint64_t ip)
{
    for (size_t i = p->frames; i > 0 && i + 64 > p->frames; i--)
        if (p->frame[i - 1].return_ip == ip) {
            while (p->frames >= i)
                leave(p);
            return;
        }
}

void flow_calls_run(struct flow_print *p, struct assay_flow *f, uint32_t id, uint32_t insns)
{
    const struct assay_flow_run *run = assay_flow_run_at(f, id);
    for (uint32_t i = 0; i < run->blocks && insns; i++) {
        const struct assay_flow_block *b = assay_flow_block_at(f, run->first_block + i);
        uint32_t n = insns < b->insns ? insns : b->insns;
        if (p->returned)
            arrive(p, b->ip);
        if (p->entered || !p->frames) {
            if (!p->frames)
                call(p, 0);
            enter(p, b);
        }
        p->returned = false;
        p->insns_n += n;
        insns -= n;
        bool whole = n == b->insns;
        if (whole && (b->kind == ASSAY_INSN_CALL || b->kind == ASSAY_INSN_CALL_IND) &&
            !(b->flags & ASSAY_INSN_CALL_NEXT))
            call(p, b->end);
        p->returned = whole && b->kind == ASSAY_INSN_RET;
    }
}

void flow_calls_event(struct flow_print *p, const struct assay_flow_event *e)
{
    p->tsc = e->tsc;
    if (e->type == ASSAY_FLOW_GAP || e->type == ASSAY_FLOW_OVERFLOW || e->type == ASSAY_FLOW_TASK)
        flow_calls_end(p);
}

void flow_calls_end(struct flow_print *p)
{
    if (p->entered) { /* called, but nothing of it was seen */
        p->entered = false;
        p->frames--;
    }
    while (p->frames)
        leave(p);
    p->returned = false;
}
