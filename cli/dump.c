/* SPDX-License-Identifier: MIT */
/* assay dump: prints a stream of packets through a window of bounded size. */
#include "dump.h"

#include <string.h>

static bool shown(const struct dump_filter *f, const struct assay_pt_packet *p)
{
    if (p->type == ASSAY_PT_GAP)
        return p->offset < f->to && p->offset + p->gap.bytes > f->from;
    return p->offset >= f->from && p->offset < f->to && !f->hide[p->type];
}

static void show(struct dump *d, const struct assay_pt_packet *p)
{
    struct cli *c = d->cli;
    if (c->json) {
        struct assay_json j;
        assay_json_init(&j, &c->out);
        assay_json_open(&j, NULL);
        if (d->stream >= 0)
            assay_json_u64(&j, "stream", (uint64_t)d->stream);
        assay_pt_json_members(p, &j);
        assay_json_close(&j);
        return;
    }
    bool gap = p->type == ASSAY_PT_GAP;
    if (gap)
        cli_sgr(c, "31");
    assay_pt_print(p, &c->out);
    if (gap)
        cli_sgr(c, "0");
    assay_out_char(&c->out, '\n');
}

/* Everything in the window; false when no more is wanted. */
static bool show_window(struct dump *d, struct assay_pt_decoder *pt)
{
    struct assay_pt_packet p[128];
    for (size_t n; (n = assay_pt_decoder_batch(pt, p, sizeof p / sizeof *p)) > 0;)
        for (size_t i = 0; i < n; i++) {
            if (p[i].offset >= d->filter.to)
                return false;
            if (shown(&d->filter, &p[i]))
                show(d, &p[i]);
        }
    return !d->cli->out.failed;
}

/* Moves what is left to the front of the window and fills it up. */
static int64_t fill(struct dump *d, const struct dump_source *source, const uint8_t *left, size_t size,
                    struct assay_error *e)
{
    memmove(d->window, left, size);
    return source->read(source->ctx, d->window + size, d->window_size - size, e);
}

/* The ledger of a piece that was not wanted to its end holds only what was looked at. */
static void count(struct dump *d, struct assay_pt_decoder *pt, bool all)
{
    struct assay_ledger l = *assay_pt_decoder_ledger(pt);
    if (!all) {
        l.in -= l.unread;
        l.unread = 0;
    }
    assay_ledger_add(&d->ledger, &l);
}

int dump_packets(struct dump *d, const struct dump_source *source, uint64_t base, size_t have, struct assay_error *e)
{
    struct assay_pt_decoder pt;
    assay_pt_decoder_init(&pt, d->window, have, base, false);
    pt.more = true;
    bool wanted = true;
    int64_t n = 1;
    while (n > 0 && (wanted = show_window(d, &pt))) {
        size_t left = (size_t)(pt.end - pt.at);
        n = fill(d, source, pt.at, left, e);
        assay_pt_decoder_refill(&pt, d->window, left + (n > 0 ? (size_t)n : 0));
        cli_progress_at(&d->progress, assay_pt_decoder_pos(&pt));
    }
    pt.more = false;
    if (wanted)
        wanted = show_window(d, &pt);
    count(d, &pt, wanted);
    return n < 0 ? e->code : !wanted;
}
