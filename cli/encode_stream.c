/* SPDX-License-Identifier: MIT */
/* assay encode --stdin: a string a line, an answer a line, as fast as they come. */
#include "encode.h"
#include "events_print.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1 << 16 }; /* a line; no event's name is nearly as long */

struct stream {
    struct cli *c;
    const struct encode *x;
    bool csv;
    bool wrong;   /* a line was */
    bool passing; /* over the rest of a line that is too long */
};

static void put_wrong(struct stream *s, const char *text, const struct assay_event_error *e)
{
    struct assay_out *o = &s->c->out;
    assay_out_str(o, "error\t");
    assay_event_error_print(&s->x->events.table, text, e, o);
    assay_out_char(o, '\n');
}

/* A line without its end; text[n] is 0. */
static void answer(struct stream *s, char *text, size_t n)
{
    struct assay_event_code code;
    struct assay_event_error e;
    if (n > 0 && text[n - 1] == '\r')
        text[--n] = '\0';
    int bad = assay_event_encode(&s->x->events.table, text, n, s->x->mode, s->x->plm, s->x->events.pmu, &code, &e);
    s->wrong = s->wrong || bad;
    if (s->c->json) {
        encode_json_event(s->c, s->x, text, &code, bad ? &e : NULL);
    } else if (s->csv) {
        encode_csv_event(s->c, s->x, text, &code, bad ? &e : NULL);
    } else if (bad) {
        put_wrong(s, text, &e);
    } else {
        encode_line(&s->c->out, s->x, &code);
        assay_out_char(&s->c->out, '\n');
    }
}

/* Whole lines of buf[0..n); what is left behind the last one is moved to the front. Returns its size. */
static size_t take_lines(struct stream *s, char *buf, size_t n)
{
    size_t at = 0;
    for (char *end; (end = memchr(buf + at, '\n', n - at)); at = (size_t)(end - buf) + 1) {
        *end = '\0';
        if (!s->passing)
            answer(s, buf + at, (size_t)(end - buf) - at);
        s->passing = false;
    }
    if (at == 0 && n == LONGEST) {
        if (!s->passing) {
            buf[n] = '\0';
            answer(s, buf, n);
        }
        s->passing = true;
        return 0;
    }
    memmove(buf, buf + at, n - at);
    return n - at;
}

int encode_stream(struct cli *c, const struct encode *x)
{
    static char buf[LONGEST + 1];
    struct stream s = {.c = c, .x = x, .csv = cli_flag(c, CLI_OPT_CSV)};
    size_t n = 0;
    ssize_t got;
    if (s.csv)
        encode_csv_head(c);
    while ((got = read(STDIN_FILENO, buf + n, LONGEST - n)) != 0 && !c->out.failed) {
        if (got < 0 && errno != EINTR)
            return cli_fail(c, CLI_CANNOT, "standard input: %s", strerror(errno));
        n = take_lines(&s, buf, n + (got > 0 ? (size_t)got : 0));
        assay_out_flush(&c->out); /* somebody may wait for the answer before asking on */
    }
    buf[n] = '\0';
    if (n > 0 && !s.passing)
        answer(&s, buf, n);
    return s.wrong ? CLI_USAGE : CLI_OK;
}
