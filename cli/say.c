/* SPDX-License-Identifier: MIT */
/* What the command says, and how it is written: failures, notes, losses, progress. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int cli_write_all(void *fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(*(int *)fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

static void say(const struct cli *c, const char *fmt, va_list ap)
{
    fprintf(stderr, "assay %s: ", c->verb->name);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

int cli_fail(const struct cli *c, int exit_status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(c, fmt, ap);
    va_end(ap);
    return exit_status;
}

void cli_note(const struct cli *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(c, fmt, ap);
    va_end(ap);
}

int cli_fail_error(const struct cli *c, const struct assay_error *e)
{
    int status = e->code <= -100 && e->code > -200 && e->code != ASSAY_E_UNSUPPORTED && e->code != ASSAY_E_NOT_FOUND
                     ? CLI_USAGE
                     : CLI_CANNOT;
    return cli_fail(c, status, "%s", e->text[0] ? e->text : assay_status_name(e->code));
}

int cli_report_ledger(const struct cli *c, const struct assay_ledger *l)
{
    uint64_t lost = assay_ledger_skipped(l) + l->unread;
    if (!assay_ledger_closes(l))
        return cli_fail(c, CLI_BUG,
                        "the byte ledger does not close (in %" PRIu64 ", decoded %" PRIu64 "); please report", l->in,
                        l->decoded);
    if (lost == 0)
        return CLI_OK;
    fprintf(stderr, "assay %s: losses: of %" PRIu64 " bytes %" PRIu64 " decoded", c->verb->name, l->in, l->decoded);
    for (int i = 0; i < ASSAY_SKIP_REASONS; i++)
        if (l->skipped[i])
            fprintf(stderr, ", %" PRIu64 " %s", l->skipped[i], assay_skip_name((enum assay_skip)i));
    if (l->unread)
        fprintf(stderr, ", %" PRIu64 " unread", l->unread);
    fputc('\n', stderr);
    return CLI_LOSSES;
}

void cli_sgr(struct cli *c, const char *parameters)
{
    if (!c->color)
        return;
    assay_out_str(&c->out, "\033[");
    assay_out_str(&c->out, parameters);
    assay_out_char(&c->out, 'm');
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void cli_progress_begin(struct cli_progress *p, const char *what, uint64_t total)
{
    *p = (struct cli_progress){.what = what, .total = total, .on = total > 0 && isatty(STDERR_FILENO)};
    if (p->on)
        p->start_ns = p->last_ns = now_ns();
}

void cli_progress_at(struct cli_progress *p, uint64_t done)
{
    if (!p->on)
        return;
    uint64_t now = now_ns(), elapsed = now - p->start_ns;
    if (elapsed < 500000000u || now - p->last_ns < 100000000u || done == 0 || done > p->total)
        return;
    p->last_ns = now;
    p->shown = true;
    double left = (double)elapsed / 1e9 * (double)(p->total - done) / (double)done;
    fprintf(stderr, "\r%s %3u %%, %.0f s left \033[K", p->what, (unsigned)(100.0 * (double)done / (double)p->total),
            left);
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->on = p->shown = false;
}
