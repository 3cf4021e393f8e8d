/* SPDX-License-Identifier: MIT */
/* The perf.data reader: opening, and one record after the other. */
#include "perf_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int assay_pf_fault(struct assay_perf *f, int code, uint64_t offset, const char *what, const char *expected)
{
    f->diag = (struct assay_diag){.code = code, .offset = offset, .what = what, .expected = expected};
    return code;
}

/* ---- opening ---- */

/* perf record --kcore and --threads make a directory; *file gets the name of the data file in it. */
static int find_data_file(const char *path, char *file, size_t size, struct assay_error *e)
{
    struct stat st;
    snprintf(file, size, "%s", path);
    if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return ASSAY_OK;
    snprintf(file, size, "%s/data.0", path);
    if (access(file, F_OK) == 0)
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, UINT64_MAX,
                               "%s: recorded with --threads, one file a thread; record without it", path);
    snprintf(file, size, "%s/data", path);
    if (access(file, F_OK) < 0)
        return assay_error_set(e, ASSAY_E_NOT_RECOGNISED, UINT64_MAX,
                               "%s: a directory, and not one of perf record (no data in it)", path);
    return ASSAY_OK;
}

static int open_file(struct assay_perf *f, const char *path, struct assay_error *e)
{
    char file[PATH_MAX];
    int rc = find_data_file(path, file, sizeof file, e);
    if (rc < 0)
        return rc;
    rc = assay_source_open(file, &f->src, e);
    if (rc < 0)
        return rc;
    f->window = malloc(PERF_WINDOW);
    if (!f->window)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "%s: no memory", path);
    return assay_pf_read_header(f, strcmp(path, "-") == 0 ? "standard input" : file, e);
}

int assay_perf_open(const char *path, struct assay_perf **out, struct assay_error *e)
{
    struct assay_perf *f = calloc(1, sizeof *f);
    if (!f)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "%s: no memory", path);
    f->src.fd = -1;
    int rc = open_file(f, path, e);
    if (rc < 0) {
        assay_perf_close(f);
        return rc;
    }
    *out = f;
    return ASSAY_OK;
}

void assay_perf_close(struct assay_perf *f)
{
    if (!f)
        return;
    assay_source_close(&f->src);
    assay_pf_free_events(&f->events);
    assay_pf_free_features(f);
    assay_pf_inflate_free(&f->inflate);
    free(f->window);
    free(f);
}

bool assay_perf_big_endian(const struct assay_perf *f) { return f->big; }
const struct assay_diag *assay_perf_diag(const struct assay_perf *f) { return &f->diag; }
const struct assay_ledger *assay_perf_ledger(const struct assay_perf *f) { return &f->ledger; }
uint64_t assay_perf_count(const struct assay_perf *f, uint32_t type) { return type < PERF_TYPES ? f->count[type] : 0; }

int64_t assay_perf_read(const struct assay_perf *f, uint64_t position, void *buf, size_t size)
{
    return assay_source_read(&f->src, position, buf, size);
}

/* ---- records ---- */

static void account(struct assay_perf *f, uint64_t bytes, uint64_t *kind)
{
    f->ledger.unread -= bytes;
    *kind += bytes;
}

/* The input fails: what is left stays unread. */
static int read_failed(struct assay_perf *f)
{
    uint64_t at = f->pos;
    f->pos = f->end;
    f->end_fault = NULL;
    return assay_pf_fault(f, ASSAY_E_SYSTEM, at, "the file cannot be read here", NULL);
}

/* The first place from `at` on, in steps, where sound records begin, or the end of the data. */
static int64_t find_sound(struct assay_perf *f, uint64_t at, unsigned step)
{
    while (at < f->end) {
        const uint8_t *p;
        int64_t n = assay_pf_peek(f, at, PERF_WINDOW, &p);
        if (n <= 0)
            return n < 0 ? n : (int64_t)f->end;
        struct perf_span s = {f->big, f->open_ended, p, (size_t)n, f->end - at};
        /* judged with plenty in view, except at the end */
        size_t limit = s.n == s.left ? s.n : (s.n / 2) & ~(size_t)7;
        size_t found = assay_pf_find_sound(&s, limit ? limit : s.n, step);
        at += found;
        if (found < limit)
            return (int64_t)at;
    }
    return (int64_t)f->end;
}

/* Reports the damage at f->pos and goes to the next sound record, or to the end. */
static int resync(struct assay_perf *f, bool cut, const char *what, const char *expected)
{
    uint64_t from = f->pos;
    int64_t to = find_sound(f, f->data + ((from + 8 - f->data) & ~UINT64_C(7)), 8);
    if (to == (int64_t)f->end && f->unaligned)
        to = find_sound(f, from + 1, 1);
    if (to < 0)
        return read_failed(f);
    f->pos = (uint64_t)to;
    bool truncated = cut && f->pos == f->end && f->open_ended;
    account(f, f->pos - from, &f->ledger.skipped[truncated ? ASSAY_SKIP_TRUNCATED : ASSAY_SKIP_DAMAGED]);
    if (!truncated)
        return assay_pf_fault(f, ASSAY_E_BAD_FORMAT, from, what, expected);
    f->end_fault = NULL;
    return assay_pf_fault(f, ASSAY_E_TRUNCATED, from, "the file ends inside a record", NULL);
}

/* Nothing follows: what is left to say. */
static int end_of_data(struct assay_perf *f)
{
    int rc = assay_pf_inflate_end(f);
    const char *fault = f->end_fault;
    if (rc < 0 || !fault)
        return rc;
    f->end_fault = NULL;
    return assay_pf_fault(f, ASSAY_E_TRUNCATED, f->end, fault, NULL);
}

/* Frames the record at f->pos: type, misc, size, body. */
static int frame(struct assay_perf *f, struct assay_perf_record *r)
{
    const uint8_t *p = NULL;
    int64_t n = assay_pf_peek(f, f->pos, PERF_HEADER, &p);
    if (n <= 0)
        return n < 0 ? read_failed(f) : end_of_data(f);
    if (n < PERF_HEADER)
        return resync(f, true, "bytes at the end that are no record", NULL);
    uint32_t type = (uint32_t)perf_load(f->big, p, 4), size = (uint32_t)perf_load(f->big, p + 6, 2);
    if (!assay_pf_plausible(type, size))
        return resync(f, false, size < PERF_HEADER ? "record size is less than its header" : "no record type",
                      "a type and a size of at least 8");
    n = assay_pf_peek(f, f->pos, size, &p);
    if (n < 0)
        return read_failed(f);
    if (n < size)
        return resync(f, true, "record reaches past the end of the data", NULL);
    r->offset = f->pos;
    r->type = type;
    r->misc = (uint16_t)perf_load(f->big, p + 4, 2);
    r->body = p + PERF_HEADER;
    r->size = size - PERF_HEADER;
    return 1;
}

/* Steps over a framed record and what trails it; *cut gets the trailing bytes that the file does not have. */
static int step_over(struct assay_perf *f, const struct assay_perf_record *r, uint64_t *cut)
{
    uint64_t trailing = assay_pf_trailing(f->big, r->type, r->body, r->size);
    uint64_t left = f->end - f->pos - PERF_HEADER - r->size;
    *cut = trailing > left ? trailing - left : 0;
    if (*cut > 0 && !f->open_ended)
        return resync(f, false, "trace data reaches past the end of the data", NULL);
    f->pos += PERF_HEADER + r->size + (trailing - *cut);
    if (trailing % 8 != 0 || r->size % 8 != 0)
        f->unaligned = true;
    return 1;
}

static bool is_compressed(uint32_t type) { return type == ASSAY_PERF_COMPRESSED || type == PERF_COMPRESSED2; }

/* What the reader itself learns from records. */
static int learn(struct assay_perf *f, const struct assay_perf_record *r)
{
    switch (r->type) {
    case ASSAY_PERF_HEADER_ATTR: {
        int rc = assay_pf_add_attr_record(f, r->body, r->size);
        assay_pf_find_pt_event(f);
        return rc == ASSAY_E_BAD_FORMAT ? assay_pf_fault(f, rc, r->offset, "event is larger than its record", NULL)
                                        : rc;
    }
    case ASSAY_PERF_HEADER_FEATURE:
        return assay_pf_add_feature_record(f, r->body, r->size);
    case ASSAY_PERF_AUXTRACE_INFO:
        assay_pf_take_auxtrace_info(f, r->body, r->size);
        return ASSAY_OK;
    case ASSAY_PERF_TIME_CONV:
        assay_pf_take_time_conv(f, r->time_conv.shift, r->time_conv.mult, r->time_conv.zero);
        return ASSAY_OK;
    default:
        return ASSAY_OK;
    }
}

static void count(struct assay_perf *f, uint32_t type) { f->count[assay_pf_type(type).known ? type : 0]++; }

/* Parses and counts; 1, or < 0. */
static int finish(struct assay_perf *f, struct assay_perf_record *r)
{
    int rc = assay_pf_parse(f, r);
    if (rc == ASSAY_OK)
        rc = learn(f, r);
    if (rc == ASSAY_E_MEMORY)
        assay_pf_fault(f, rc, r->offset, "no memory", NULL);
    if (rc < 0)
        return rc;
    count(f, r->type);
    return 1;
}

/* The next record of the file itself: 1, 0 at the end, or < 0. */
static int next_in_file(struct assay_perf *f, struct assay_perf_record *r)
{
    uint64_t cut = 0, from = f->pos;
    int got = frame(f, r);
    if (got > 0)
        got = step_over(f, r, &cut);
    if (got <= 0)
        return got;
    if (is_compressed(r->type) && r->size >= assay_pf_type(r->type).fixed)
        return 1; /* accounted for when it is used up */
    got = finish(f, r);
    account(f, f->pos - from, got < 0 ? &f->ledger.skipped[ASSAY_SKIP_DAMAGED] : &f->ledger.decoded);
    if (got > 0 && cut > 0) {
        f->pending = true;
        f->end_fault = NULL;
        assay_pf_fault(f, ASSAY_E_TRUNCATED, from, "the file ends inside trace data", NULL);
        if (r->type == ASSAY_PERF_AUXTRACE)
            r->auxtrace.size -= cut;
    }
    return got;
}

int assay_perf_next(struct assay_perf *f, struct assay_perf_record *r)
{
    if (f->pending) {
        f->pending = false;
        return f->diag.code;
    }
    for (;;) {
        memset(r, 0, sizeof *r);
        int got = f->inflate.out ? assay_pf_inflate_next(f, r) : 0;
        if (got > 0) {
            got = finish(f, r);
            if (got < 0 && f->inflate.size > 0) {
                f->inflate.bad = true;
                f->inflate.reason = ASSAY_SKIP_DAMAGED;
            }
            return got;
        }
        if (got == 0)
            got = next_in_file(f, r);
        if (got <= 0 || !is_compressed(r->type))
            return got;
        count(f, r->type);
        got = assay_pf_inflate_begin(f, r);
        if (got < 0)
            return got;
    }
}
