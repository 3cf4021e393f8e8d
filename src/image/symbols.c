/* SPDX-License-Identifier: MIT */
/* Symbol tables: candidates of all sources become sorted segments, each of one function. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char *__cxa_demangle(const char *mangled, char *buf, size_t *size,
                            int *status); /* of the C++ run-time library */

struct symbol {
    uint64_t start, end;
    const char *raw;       /* NULL: named by its place */
    _Atomic(char *) shown; /* made on first need; NULL until then */
};

/* Where functions overlap, the one that starts last has the address; so one function may own several segments. */
struct segment {
    uint64_t start, end;
    size_t symbol;
};

struct image_symbols {
    size_t symbols, segments;
    struct symbol *symbol;
    uint64_t *start; /* of the segments: the array that is searched */
    struct segment *segment;
    char *names;
    char *place; /* "libfoo.so": what ranges without a name are named by */
};

/* ---- candidates ---- */

static bool add_name(struct image_candidates *cs, const char *name, size_t size, size_t *at)
{
    if (cs->names_cap - cs->names_n <= size) {
        size_t cap = cs->names_cap * 2 + size + 4096;
        char *grown = realloc(cs->names, cap);
        if (!grown)
            return false;
        cs->names = grown;
        cs->names_cap = cap;
    }
    *at = cs->names_n;
    memcpy(cs->names + *at, name, size);
    cs->names[*at + size] = '\0';
    cs->names_n += size + 1;
    return true;
}

void image_candidate_add(struct image_candidates *cs, uint64_t start, uint64_t end, enum image_source source,
                         unsigned bind, const char *name, size_t name_size)
{
    struct image_candidate c = {.start = start, .end = end, .source = (uint8_t)source, .bind = (uint8_t)bind};
    if (end <= start || (name && cs->names_limit && cs->names_n + name_size > cs->names_limit))
        return;
    struct image_candidate *grown = image_grow(cs->c, cs->n, &cs->cap, sizeof *grown);
    if (grown)
        cs->c = grown;
    if (!grown || (name && !add_name(cs, name, name_size, &c.name))) {
        cs->failed = true;
        return;
    }
    cs->c[cs->n++] = c;
}

static int compare_candidates(const void *va, const void *vb, void *names);

static void sort_candidates(struct image_candidates *cs)
{
    if (cs->n)
        qsort_r(cs->c, cs->n, sizeof *cs->c, compare_candidates, cs->names);
    cs->sorted = cs->n;
}

const char *image_candidate_name(struct image_candidates *cs, uint64_t start)
{
    if (cs->sorted == 0)
        sort_candidates(cs);
    size_t low = 0, high = cs->sorted;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (cs->c[mid].start < start)
            low = mid + 1;
        else
            high = mid;
    }
    bool found = low < cs->sorted && cs->c[low].start == start && cs->c[low].source != IMAGE_SYM_RANGE;
    return found ? cs->names + cs->c[low].name : NULL;
}

void image_candidates_free(struct image_candidates *cs)
{
    free(cs->c);
    free(cs->names);
    *cs = (struct image_candidates){0};
}

/* ---- which name of several ---- */

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static size_t underscores(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 ? 0 : strspn(name, "_"); /* those of C++ names are no sign of anything */
}

/* Names of one address, best first: what others may use before what is local, then as a person would write it. */
static int compare_names(const struct image_candidate *a, const struct image_candidate *b, const char *names)
{
    const char *an = names + a->name, *bn = names + b->name;
    int c = (a->bind == 2) - (b->bind == 2);
    if (c == 0)
        c = compare_u64(underscores(an), underscores(bn));
    if (c == 0)
        c = compare_u64(a->bind, b->bind);
    if (c == 0)
        c = compare_u64(strlen(an), strlen(bn));
    return c ? c : strcmp(an, bn);
}

static int compare_candidates(const void *va, const void *vb, void *names)
{
    const struct image_candidate *a = va, *b = vb;
    int c = compare_u64(a->start, b->start);
    if (c == 0)
        c = (int)a->source - (int)b->source;
    if (c == 0 && a->source != IMAGE_SYM_RANGE)
        c = compare_names(a, b, names);
    return c ? c : compare_u64(b->end, a->end);
}

/* One candidate an address and kind (named, or a range); the kept one reaches as far as the farthest with a size. */
static void drop_aliases(struct image_candidates *cs)
{
    size_t kept = 0;
    for (size_t i = 0; i < cs->n; i++) {
        const struct image_candidate *c = &cs->c[i];
        struct image_candidate *last = kept ? &cs->c[kept - 1] : NULL;
        bool same =
            last && last->start == c->start && (last->source == IMAGE_SYM_RANGE) == (c->source == IMAGE_SYM_RANGE);
        if (!same)
            cs->c[kept++] = *c;
        else if (c->source != IMAGE_SYM_LABEL && c->end > last->end)
            last->end = c->end;
    }
    cs->n = kept;
}

/* A label inside a function with a size is no function. One outside reaches to the next start, or to where its range ends. */
static void settle_labels(struct image_candidates *cs)
{
    uint64_t covered = 0, range_end = 0;
    size_t kept = 0;
    for (size_t i = 0; i < cs->n; i++) {
        struct image_candidate c = cs->c[i];
        if (c.source == IMAGE_SYM_LABEL) {
            if (c.start < covered)
                continue;
            bool own_range = i + 1 < cs->n && cs->c[i + 1].start == c.start; /* only a range can follow at one start */
            size_t next = i + 1 + own_range;
            uint64_t end = own_range ? cs->c[i + 1].end : range_end > c.start ? range_end : c.end;
            if (end < c.end)
                c.end = end;
            if (next < cs->n && cs->c[next].start < c.end)
                c.end = cs->c[next].start;
        } else if (c.source == IMAGE_SYM_RANGE) {
            range_end = c.end > range_end ? c.end : range_end;
        } else if (c.end > covered) {
            covered = c.end;
        }
        cs->c[kept++] = c;
    }
    cs->n = kept;
}

/* ---- segments ---- */

struct segments {
    struct segment *s;
    size_t n, cap;
    bool failed;
};

static void add_segment(struct segments *out, uint64_t start, uint64_t end, size_t symbol)
{
    if (start >= end)
        return;
    struct segment *grown = image_grow(out->s, out->n, &out->cap, sizeof *grown);
    if (!grown) {
        out->failed = true;
        return;
    }
    out->s = grown;
    out->s[out->n++] = (struct segment){start, end, symbol};
}

/* Closes open functions that end at or before `until`, the innermost first; the position reached. */
static uint64_t close_open(struct segments *out, const struct image_candidate *c, const size_t *open, size_t *depth,
                           uint64_t at, uint64_t until)
{
    while (*depth > 0 && c[open[*depth - 1]].end <= until) {
        size_t top = open[--*depth];
        add_segment(out, at, c[top].end, top);
        at = c[top].end > at ? c[top].end : at;
    }
    return at;
}

/* The named functions, each address to the one that starts last. */
static void flatten_named(struct segments *out, const struct image_candidates *cs, size_t *open)
{
    const struct image_candidate *c = cs->c;
    size_t depth = 0;
    uint64_t at = 0;
    for (size_t i = 0; i < cs->n; i++) {
        if (c[i].source == IMAGE_SYM_RANGE)
            continue;
        at = close_open(out, c, open, &depth, at, c[i].start);
        if (depth > 0)
            add_segment(out, at, c[i].start, open[depth - 1]);
        at = c[i].start;
        open[depth++] = i;
    }
    close_open(out, c, open, &depth, at, UINT64_MAX);
}

/* Ranges get what is left between the first `named` segments. */
static void fill_gaps(struct segments *out, size_t named, const struct image_candidates *cs)
{
    uint64_t at = 0;
    size_t s = 0;
    for (size_t i = 0; i < cs->n; i++) {
        const struct image_candidate *c = &cs->c[i];
        if (c->source != IMAGE_SYM_RANGE)
            continue;
        at = c->start > at ? c->start : at;
        while (s < named && out->s[s].end <= at)
            s++;
        for (; s < named && out->s[s].start < c->end && at < c->end; at = out->s[s].end, s += out->s[s].end <= c->end)
            add_segment(out, at, out->s[s].start, i);
        add_segment(out, at, c->end, i);
        at = c->end > at ? c->end : at;
    }
}

static int compare_segments(const void *va, const void *vb)
{
    const struct segment *a = va, *b = vb;
    return compare_u64(a->start, b->start);
}

static struct segments make_segments(const struct image_candidates *cs)
{
    struct segments out = {0};
    size_t *open = malloc((cs->n + 1) * sizeof *open);
    if (!open) {
        out.failed = true;
        return out;
    }
    flatten_named(&out, cs, open);
    fill_gaps(&out, out.n, cs);
    free(open);
    if (out.n)
        qsort(out.s, out.n, sizeof *out.s, compare_segments);
    return out;
}

/* ---- the table ---- */

/* Symbols are the candidates that own a segment, numbered by address. */
static int number_symbols(struct image_symbols *t, const struct image_candidates *cs)
{
    size_t *id = malloc((cs->n + 1) * sizeof *id);
    t->symbol = calloc(cs->n + 1, sizeof *t->symbol);
    if (!id || !t->symbol) {
        free(id);
        return ASSAY_E_MEMORY;
    }
    for (size_t i = 0; i < cs->n; i++)
        id[i] = SIZE_MAX;
    for (size_t i = 0; i < t->segments; i++)
        id[t->segment[i].symbol] = 0;
    for (size_t i = 0; i < cs->n; i++) {
        const struct image_candidate *c = &cs->c[i];
        if (id[i] == SIZE_MAX)
            continue;
        id[i] = t->symbols;
        struct symbol *s = &t->symbol[t->symbols++];
        s->start = c->start;
        s->end = c->end;
        s->raw = c->source == IMAGE_SYM_RANGE ? NULL : t->names + c->name;
    }
    for (size_t i = 0; i < t->segments; i++) {
        t->segment[i].symbol = id[t->segment[i].symbol];
        t->start[i] = t->segment[i].start;
    }
    free(id);
    return ASSAY_OK;
}

/* "/usr/lib/libfoo.so" and "[jit]" as they stand before "+0x12". */
static char *place_of(const char *dso_name)
{
    const char *slash = strrchr(dso_name, '/');
    const char *base = slash ? slash + 1 : dso_name;
    size_t n = strlen(base);
    return base[0] == '[' && n > 2 ? strndup(base + 1, n - 2) : strdup(base);
}

struct image_symbols *image_symbols_build(struct image_candidates *cs, const char *dso_name)
{
    struct image_symbols *t = calloc(1, sizeof *t);
    if (!t || cs->failed) {
        free(t);
        return NULL;
    }
    sort_candidates(cs);
    drop_aliases(cs);
    settle_labels(cs);
    struct segments g = make_segments(cs);
    t->segment = g.s;
    t->segments = g.n;
    t->names = cs->names;
    cs->names = NULL;
    t->start = malloc((g.n + 1) * sizeof *t->start);
    t->place = place_of(dso_name);
    if (g.failed || !t->start || !t->place || number_symbols(t, cs) != ASSAY_OK) {
        image_symbols_free(t);
        return NULL;
    }
    return t;
}

void image_symbols_free(struct image_symbols *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->symbols; i++)
        free(atomic_load(&t->symbol[i].shown));
    free(t->symbol);
    free(t->start);
    free(t->segment);
    free(t->names);
    free(t->place);
    free(t);
}

/* ---- names as shown ---- */

/* Rust's older names end in a hash: "core::fmt::write::h0123456789abcdef". */
static void drop_rust_hash(char *name)
{
    size_t n = strlen(name);
    if (n > 19 && strncmp(name + n - 19, "::h", 3) == 0 && strspn(name + n - 16, "0123456789abcdef") == 16)
        name[n - 19] = '\0';
}

/* References to what stands earlier in a mangled name: each may double what comes out. */
static unsigned references(const char *raw)
{
    unsigned n = 0;
    for (; *raw; raw++)
        n += (*raw == 'S' || *raw == 'T') && raw[1 + strspn(raw + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '_';
    return n;
}

/* NULL when it is no name of C++ or Rust, or one that was made to be endless: a few hundred bytes can stand for gigabytes. Of the
 * names of LLVM, one in a thousand refers so often, and none comes out at such a length. */
static char *demangle(const char *raw)
{
    enum { MOST_REFERENCES = 24, MOST_GROWTH = 64 };
    int status;
    char *name = references(raw) <= MOST_REFERENCES ? __cxa_demangle(raw, NULL, NULL, &status) : NULL;
    if (name && strlen(name) > (strlen(raw) + 16) * MOST_GROWTH) {
        free(name);
        name = NULL;
    }
    if (name)
        drop_rust_hash(name);
    return name;
}

static char *demangle_stub(const char *raw, size_t function_size)
{
    char *function = strndup(raw, function_size), *plain = function ? demangle(function) : NULL, *name = NULL;
    if (plain && asprintf(&name, "%s%s", plain, raw + function_size) < 0)
        name = NULL;
    free(function);
    free(plain);
    return name;
}

static char *make_name(const struct image_symbols *t, const struct symbol *s)
{
    char *name = NULL;
    if (!s->raw)
        return asprintf(&name, "[%s+0x%llx]", t->place, (unsigned long long)s->start) < 0 ? NULL : name;
    size_t n = strlen(s->raw);
    name = n > 4 && strcmp(s->raw + n - 4, "@plt") == 0 ? demangle_stub(s->raw, n - 4) : demangle(s->raw);
    return name ? name : strdup(s->raw);
}

static bool is_plain(const struct symbol *s) { return s->raw && strncmp(s->raw, "_Z", 2) != 0; }

static const char *shown_name(const struct image_symbols *t, struct symbol *s)
{
    if (is_plain(s))
        return s->raw;
    char *shown = atomic_load_explicit(&s->shown, memory_order_acquire);
    if (shown)
        return shown;
    char *made = make_name(t, s);
    if (!made)
        return s->raw ? s->raw : t->place;
    if (atomic_compare_exchange_strong_explicit(&s->shown, &shown, made, memory_order_acq_rel, memory_order_acquire))
        return made;
    free(made); /* another thread was quicker */
    return shown;
}

/* ---- reading ---- */

static void collect_captures(struct image_candidates *cs, const struct assay_image *im, const struct image_dso *d)
{
    uint64_t start = 0, end = 0;
    for (size_t i = d->first; i < d->first + d->captures; i++) {
        const struct image_capture *c = im->capture[i];
        if (c->symbol) {
            image_candidate_add(cs, c->addr, c->end, IMAGE_SYM_SIZED, 0, c->symbol, strlen(c->symbol));
        } else if (c->addr <= end) { /* pieces that touch are one range */
            end = c->end > end ? c->end : end;
        } else {
            image_candidate_add(cs, start, end, IMAGE_SYM_RANGE, 0, NULL, 0);
            start = c->addr;
            end = c->end;
        }
    }
    image_candidate_add(cs, start, end, IMAGE_SYM_RANGE, 0, NULL, 0);
}

static struct image_symbols *read_symbols(const struct assay_image *im, struct image_dso *d)
{
    struct image_candidates cs = {0};
    const struct image_file *f = d->captured ? NULL : image_dso_file(d);
    if (d->captured)
        collect_captures(&cs, im, d);
    else if (f && f->bytes)
        image_collect_elf(&cs, f);
    struct image_symbols *t = image_symbols_build(&cs, d->name);
    image_candidates_free(&cs);
    return t;
}

static struct image_symbols *symbols_of(const struct assay_image *im, uint32_t dso)
{
    if (dso >= im->dsos)
        return NULL;
    struct image_dso *d = im->dso[dso];
    struct image_symbols *t = atomic_load_explicit(&d->symbols, memory_order_acquire);
    if (t)
        return t;
    struct image_symbols *made = read_symbols(im, d);
    if (!made)
        return NULL;
    if (atomic_compare_exchange_strong_explicit(&d->symbols, &t, made, memory_order_acq_rel, memory_order_acquire))
        return made;
    image_symbols_free(made);
    return t;
}

/* The last segment that starts at or before addr; -1 when there is none. The halving has no branch to mispredict. */
static ptrdiff_t find_segment(const struct image_symbols *t, uint64_t addr)
{
    const uint64_t *at = t->start;
    for (size_t n = t->segments; n > 1; n -= n / 2)
        at += at[n / 2] <= addr ? n / 2 : 0;
    return t->segments && *at <= addr ? at - t->start : -1;
}

int assay_image_symbol(struct assay_image *im, uint32_t dso, uint64_t dso_addr, struct assay_symbol *out)
{
    struct image_symbols *t = symbols_of(im, dso);
    ptrdiff_t i = t ? find_segment(t, dso_addr) : -1;
    *out = (struct assay_symbol){0};
    if (i < 0 || dso_addr >= t->segment[i].end)
        return ASSAY_E_NOT_FOUND;
    size_t id = t->segment[i].symbol;
    struct symbol *s = &t->symbol[id];
    *out = (struct assay_symbol){shown_name(t, s), s->start, s->end - s->start, (uint32_t)id};
    return ASSAY_OK;
}

uint32_t assay_dso_symbols(struct assay_image *im, uint32_t dso)
{
    const struct image_symbols *t = symbols_of(im, dso);
    return t ? (uint32_t)t->symbols : 0;
}

int assay_image_load_symbols(struct assay_image *im)
{
    for (uint32_t i = 0; i < im->dsos; i++)
        if ((im->dso[i]->captured || atomic_load(&im->dso[i]->asked)) && !symbols_of(im, i))
            return ASSAY_E_MEMORY;
    return ASSAY_OK;
}
