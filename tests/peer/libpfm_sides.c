/* SPDX-License-Identifier: MIT */
/* Calls both libraries and compares what they return and write. */
#include "libpfm_sides.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *symbol(void *library, const char *name)
{
    void *p = dlsym(library, name);
    if (!p) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return p;
}

struct side side_load(const char *path)
{
    void *l = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    struct side s;
    *(void **)&s.initialize = symbol(l, "pfm_initialize");
    *(void **)&s.strerror = symbol(l, "pfm_strerror");
    *(void **)&s.get_version = symbol(l, "pfm_get_version");
    *(void **)&s.get_pmu_info = symbol(l, "pfm_get_pmu_info");
    *(void **)&s.get_event_next = symbol(l, "pfm_get_event_next");
    *(void **)&s.find_event = symbol(l, "pfm_find_event");
    *(void **)&s.get_event_info = symbol(l, "pfm_get_event_info");
    *(void **)&s.get_os_event_encoding = symbol(l, "pfm_get_os_event_encoding");
    *(void **)&s.get_event_attr_info = symbol(l, "pfm_get_event_attr_info");
    *(void **)&s.pmu_validate = symbol(l, "pfm_pmu_validate");
    *(void **)&s.get_event_encoding = symbol(l, "pfm_get_event_encoding");
    *(void **)&s.get_perf_event_encoding = symbol(l, "pfm_get_perf_event_encoding");
    return s;
}

/* Where a comparison stands. */
struct place {
    struct sides *s;
    const char *call, *on;
};

static void same_text(const struct place *p, const char *field, const char *a, const char *b)
{
    if (!a || !b ? a != b : strcmp(a, b) != 0)
        p->s->differs(p->s->ctx, p->call, p->on, field, a ? a : "NULL", b ? b : "NULL");
}

static void same_number(const struct place *p, const char *field, uint64_t a, uint64_t b)
{
    if (a == b)
        return;
    char left[32], right[32];
    snprintf(left, sizeof left, "0x%" PRIx64, a);
    snprintf(right, sizeof right, "0x%" PRIx64, b);
    same_text(p, field, left, right);
}

/* Results: numbers of errors in decimal. True when both succeeded. */
static bool same_result(const struct place *p, int a, int b)
{
    char left[16], right[16];
    snprintf(left, sizeof left, "%d", a);
    snprintf(right, sizeof right, "%d", b);
    p->s->asked++;
    same_text(p, "result", left, right);
    return a == PFM_SUCCESS && b == PFM_SUCCESS;
}

void compare_pmu(struct sides *s, int pmu)
{
    char on[16];
    snprintf(on, sizeof on, "%d", pmu);
    struct place p = {s, "pmu_info", on};
    pfm_pmu_info_t a = {.size = sizeof a}, b = {.size = sizeof b};
    if (!same_result(&p, s->reference.get_pmu_info((pfm_pmu_t)pmu, &a), s->ours.get_pmu_info((pfm_pmu_t)pmu, &b)))
        return;
    same_text(&p, "name", a.name, b.name);
    same_number(&p, "has desc", a.desc != NULL, b.desc != NULL);
    same_number(&p, "size", a.size, b.size);
    same_number(&p, "pmu", a.pmu, b.pmu);
    same_number(&p, "type", a.type, b.type);
    same_number(&p, "nevents", (unsigned)a.nevents, (unsigned)b.nevents);
    same_number(&p, "first_event", (unsigned)a.first_event, (unsigned)b.first_event);
    same_number(&p, "max_encoding", (unsigned)a.max_encoding, (unsigned)b.max_encoding);
    same_number(&p, "num_cntrs", (unsigned)a.num_cntrs, (unsigned)b.num_cntrs);
    same_number(&p, "num_fixed_cntrs", (unsigned)a.num_fixed_cntrs, (unsigned)b.num_fixed_cntrs);
    same_number(&p, "is_present", a.is_present, b.is_present);
    same_number(&p, "is_dfl", a.is_dfl, b.is_dfl);
    same_number(&p, "reserved", 0, b.reserved_bits); /* the reference's are whatever was on the stack */
}

void compare_event(struct sides *s, int idx, pfm_os_t os)
{
    pfm_event_info_t a = {.size = sizeof a}, b = {.size = sizeof b};
    int left = s->reference.get_event_info(idx, os, &a), right = s->ours.get_event_info(idx, os, &b);
    char on[160];
    snprintf(on, sizeof on, "%s (%#x, layer %d)", a.name ? a.name : "?", idx, os);
    struct place p = {s, "event_info", on};
    if (!same_result(&p, left, right))
        return;
    same_text(&p, "name", a.name, b.name);
    same_text(&p, "equiv", a.equiv, b.equiv);
    same_number(&p, "has desc", a.desc != NULL, b.desc != NULL);
    same_number(&p, "size", a.size, b.size);
    same_number(&p, "code", a.code, b.code);
    same_number(&p, "pmu", a.pmu, b.pmu);
    same_number(&p, "dtype", a.dtype, b.dtype);
    same_number(&p, "idx", (unsigned)a.idx, (unsigned)b.idx);
    same_number(&p, "nattrs", (unsigned)a.nattrs, (unsigned)b.nattrs);
    same_number(&p, "is_precise", a.is_precise, b.is_precise);
    same_number(&p, "is_speculative", a.is_speculative, b.is_speculative);
    same_number(&p, "support_hw_smpl", a.support_hw_smpl, b.support_hw_smpl);
    same_number(&p, "reserved", a.reserved_bits | (unsigned)a.reserved, b.reserved_bits | (unsigned)b.reserved);
    same_number(&p, "next", (unsigned)s->reference.get_event_next(idx), (unsigned)s->ours.get_event_next(idx));
}

void compare_attribute(struct sides *s, int idx, int attribute, pfm_os_t os)
{
    pfm_event_attr_info_t a = {.size = sizeof a}, b = {.size = sizeof b};
    pfm_event_info_t e = {.size = sizeof e};
    s->reference.get_event_info(idx, os, &e);
    int left = s->reference.get_event_attr_info(idx, attribute, os, &a);
    int right = s->ours.get_event_attr_info(idx, attribute, os, &b);
    char on[320];
    snprintf(on, sizeof on, "%s:%s (%#x, layer %d)", e.name ? e.name : "?", a.name ? a.name : "?", idx, os);
    struct place p = {s, "attr_info", on};
    if (!same_result(&p, left, right))
        return;
    same_text(&p, "name", a.name, b.name);
    same_text(&p, "equiv", a.equiv, b.equiv);
    same_number(&p, "has desc", a.desc != NULL, b.desc != NULL);
    same_number(&p, "size", a.size, b.size);
    same_number(&p, "code", a.code, b.code);
    same_number(&p, "type", a.type, b.type);
    same_number(&p, "idx", (unsigned)a.idx, (unsigned)b.idx);
    same_number(&p, "ctrl", a.ctrl, b.ctrl);
    same_number(&p, "is_dfl", a.is_dfl, b.is_dfl);
    same_number(&p, "is_precise", a.is_precise, b.is_precise);
    same_number(&p, "is_speculative", a.is_speculative, b.is_speculative);
    same_number(&p, "support_hw_smpl", a.support_hw_smpl, b.support_hw_smpl);
    same_number(&p, "reserved", a.reserved_bits, b.reserved_bits);
    same_number(&p, "dfl_val64", a.dfl_val64, b.dfl_val64);
}

/* With an array and a name, then again with what the library allocates and without a name. */
static void compare_registers(struct sides *s, const char *text, int plm)
{
    struct place p = {s, "registers", text};
    uint64_t left[4] = {0}, right[4] = {0}; /* a third value is ours alone and only counted */
    char *name_a = NULL, *name_b = NULL;
    pfm_pmu_encode_arg_t a = {left, &name_a, sizeof a, 4, -7}, b = {right, &name_b, sizeof b, 4, -7};
    if (same_result(&p, s->reference.get_os_event_encoding(text, plm, PFM_OS_NONE, &a),
                    s->ours.get_os_event_encoding(text, plm, PFM_OS_NONE, &b))) {
        same_number(&p, "count", (unsigned)a.count, (unsigned)b.count);
        same_number(&p, "code 0", left[0], right[0]);
        same_number(&p, "code 1", left[1], right[1]);
        same_number(&p, "idx", (unsigned)a.idx, (unsigned)b.idx);
        same_text(&p, "name", name_a, name_b);
    }
    free(name_a);
    free(name_b);
}

static void compare_older(struct sides *s, const char *text, int plm)
{
    struct place p = {s, "event_encoding", text};
    uint64_t *left = NULL, *right = NULL;
    int n = 0, m = 0, i = -7, j = -7;
    if (same_result(&p, s->reference.get_event_encoding(text, plm, NULL, &i, &left, &n),
                    s->ours.get_event_encoding(text, plm, NULL, &j, &right, &m))) {
        same_number(&p, "count", (unsigned)n, (unsigned)m);
        same_number(&p, "idx", (unsigned)i, (unsigned)j);
        for (int k = 0; k < n && k < m; k++)
            same_number(&p, k ? "code 1" : "code 0", left[k], right[k]);
    }
    free(left);
    free(right);
}

static const char *const layer[] = {"registers", "perf", "perf_ext"};

static void compare_attr(const struct place *p, const struct perf_event_attr *a, const struct perf_event_attr *b)
{
    same_number(p, "type", a->type, b->type);
    same_number(p, "config", a->config, b->config);
    same_number(p, "config1", a->config1, b->config1);
    same_number(p, "sample_period", a->sample_period, b->sample_period);
    same_number(p, "freq", a->freq, b->freq);
    same_number(p, "exclude_user", a->exclude_user, b->exclude_user);
    same_number(p, "exclude_kernel", a->exclude_kernel, b->exclude_kernel);
    same_number(p, "exclude_hv", a->exclude_hv, b->exclude_hv);
    same_number(p, "exclude_host", a->exclude_host, b->exclude_host);
    same_number(p, "exclude_guest", a->exclude_guest, b->exclude_guest);
    same_number(p, "precise_ip", a->precise_ip, b->precise_ip);
    same_number(p, "pinned", a->pinned, b->pinned);
    same_number(p, "exclusive", a->exclusive, b->exclusive);
    /* What is left has to be as it was: the fields above are put aside first. */
    struct perf_event_attr left = *a, right = *b;
    left.type = right.type, left.config = right.config, left.config1 = right.config1;
    left.sample_period = right.sample_period, left.freq = right.freq;
    left.exclude_user = right.exclude_user, left.exclude_kernel = right.exclude_kernel,
    left.exclude_hv = right.exclude_hv;
    left.exclude_host = right.exclude_host, left.exclude_guest = right.exclude_guest;
    left.precise_ip = right.precise_ip, left.pinned = right.pinned, left.exclusive = right.exclusive;
    same_number(p, "the rest", 0, memcmp(&left, &right, sizeof left) != 0);
}

/* fill: what the caller had in every byte of the structure. */
static void compare_perf(struct sides *s, const char *text, int plm, pfm_os_t os, unsigned char fill)
{
    struct place p = {s, layer[os], text};
    struct perf_event_attr left, right;
    memset(&left, fill, sizeof left);
    left.size = sizeof left;
    right = left;
    char *name_a = NULL, *name_b = NULL;
    pfm_perf_encode_arg_t a = {.attr = &left, .fstr = &name_a, .size = sizeof a, .idx = -7, .cpu = -7, .flags = -7};
    pfm_perf_encode_arg_t b = {.attr = &right, .fstr = &name_b, .size = sizeof b, .idx = -7, .cpu = -7, .flags = -7};
    if (same_result(&p, s->reference.get_os_event_encoding(text, plm, os, &a),
                    s->ours.get_os_event_encoding(text, plm, os, &b))) {
        compare_attr(&p, &left, &right);
        same_number(&p, "idx", (unsigned)a.idx, (unsigned)b.idx);
        same_number(&p, "cpu", (unsigned)a.cpu, (unsigned)b.cpu);
        same_number(&p, "flags", (unsigned)a.flags, (unsigned)b.flags);
        same_text(&p, "name", name_a, name_b);
    }
    free(name_a);
    free(name_b);
}

static void compare_older_perf(struct sides *s, const char *text, int plm)
{
    struct place p = {s, "perf_event_encoding", text};
    struct perf_event_attr left = {.size = sizeof left}, right = {.size = sizeof right};
    int i = -7, j = -7;
    if (same_result(&p, s->reference.get_perf_event_encoding(text, plm, &left, NULL, &i),
                    s->ours.get_perf_event_encoding(text, plm, &right, NULL, &j))) {
        compare_attr(&p, &left, &right);
        same_number(&p, "idx", (unsigned)i, (unsigned)j);
    }
}

void compare_string(struct sides *s, const char *text, int plm)
{
    struct place p = {s, "find_event", text};
    int a = s->reference.find_event(text), b = s->ours.find_event(text);
    if (a < 0 || b < 0)
        same_result(&p, a, b);
    else
        same_number(&p, "idx", (unsigned)a, (unsigned)b);
    compare_registers(s, text, plm);
    compare_older(s, text, plm);
    compare_perf(s, text, plm, PFM_OS_PERF_EVENT, 0);
    compare_perf(s, text, plm, PFM_OS_PERF_EVENT, 0xff);
    compare_perf(s, text, plm, PFM_OS_PERF_EVENT_EXT, 0);
    compare_perf(s, text, plm, PFM_OS_PERF_EVENT_EXT, 0xff);
    compare_older_perf(s, text, plm);
}

/* Every structure with a size from 0 to beyond, followed by zeros or by something. */
static void compare_sizes(struct sides *s, int idx, const char *text, size_t size, unsigned char after)
{
    char on[32];
    snprintf(on, sizeof on, "size %zu, then %u", size, after);
    struct place p = {s, "sizes", on};
    union {
        pfm_pmu_info_t pmu;
        pfm_event_info_t event;
        pfm_event_attr_info_t attr;
        pfm_pmu_encode_arg_t raw;
        pfm_perf_encode_arg_t perf;
        unsigned char byte[160];
    } a, b;
    uint64_t codes[4];
    struct perf_event_attr attr = {.size = sizeof attr};
#define TRY(member, known, CALL)                                                                                       \
    for (int side = 0; side < 2; side++) {                                                                             \
        memset(&a, 0, sizeof a);                                                                                       \
        memset(a.byte + (known), after, sizeof a - (known));                                                           \
        a.member.size = size;                                                                                          \
        const struct side *l = side ? &s->ours : &s->reference;                                                        \
        int r = (CALL);                                                                                                \
        if (side && same_result(&p, result, r))                                                                        \
            same_number(&p, #member, 0, memcmp(a.byte + (known), b.byte + (known), sizeof a - (known)) != 0);          \
        result = r;                                                                                                    \
        b = a;                                                                                                         \
    }
    int result = 0;
    TRY(pmu, sizeof a.pmu, l->get_pmu_info((pfm_pmu_t)(idx >> 21), &a.pmu))
    TRY(event, sizeof a.event, l->get_event_info(idx, PFM_OS_NONE, &a.event))
    TRY(attr, sizeof a.attr, l->get_event_attr_info(idx, 0, PFM_OS_NONE, &a.attr))
    TRY(raw, sizeof a.raw,
        (a.raw.codes = codes, a.raw.count = 4, l->get_os_event_encoding(text, PFM_PLM3, PFM_OS_NONE, &a)))
    TRY(perf, sizeof a.perf, (a.perf.attr = &attr, l->get_os_event_encoding(text, PFM_PLM3, PFM_OS_PERF_EVENT, &a)))
#undef TRY
}

void compare_arguments(struct sides *s, int idx, const char *text)
{
    for (size_t size = 0; size <= 96; size++) {
        compare_sizes(s, idx, text, size, 0);
        compare_sizes(s, idx, text, size, 1);
    }
    struct place p = {s, "arguments", "NULL or out of range"};
    const struct side *a = &s->reference, *b = &s->ours;
    same_result(&p, a->get_pmu_info((pfm_pmu_t)(idx >> 21), NULL), b->get_pmu_info((pfm_pmu_t)(idx >> 21), NULL));
    same_result(&p, a->get_event_info(idx, PFM_OS_NONE, NULL), b->get_event_info(idx, PFM_OS_NONE, NULL));
    same_result(&p, a->get_event_attr_info(idx, 0, PFM_OS_NONE, NULL),
                b->get_event_attr_info(idx, 0, PFM_OS_NONE, NULL));
    same_result(&p, a->find_event(NULL), b->find_event(NULL));
    for (int os = -1; os <= PFM_OS_MAX; os++)
        same_result(&p, a->get_os_event_encoding(text, PFM_PLM3, (pfm_os_t)os, NULL),
                    b->get_os_event_encoding(text, PFM_PLM3, (pfm_os_t)os, NULL));
    same_result(&p, a->get_event_encoding(text, PFM_PLM3, NULL, NULL, NULL, NULL),
                b->get_event_encoding(text, PFM_PLM3, NULL, NULL, NULL, NULL));
    same_result(&p, a->get_perf_event_encoding(text, PFM_PLM3, NULL, NULL, NULL),
                b->get_perf_event_encoding(text, PFM_PLM3, NULL, NULL, NULL));
    same_result(&p, a->pmu_validate((pfm_pmu_t)(idx >> 21), NULL), b->pmu_validate((pfm_pmu_t)(idx >> 21), NULL));
    for (int code = -20; code < 3; code++)
        same_text(&p, "strerror", a->strerror(code), b->strerror(code));
    same_result(&p, a->get_version(), b->get_version());
}
