/* SPDX-License-Identifier: MIT */
/* The perf.data reader on files made here: forms, byte orders, every record, compression, damage. */
#include <assay/perfdata.h>

#include "../perf_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <zstd.h>
#include <cmocka.h>

enum { /* sample_type bits (perf_event.h) */
       S_IP = 1,
       S_TID = 2,
       S_TIME = 4,
       S_ADDR = 8,
       S_ID = 64,
       S_CPU = 128,
       S_STREAM_ID = 512,
       S_IDENTIFIER = 1 << 16,
};
enum { FULL = S_IP | S_TID | S_TIME | S_CPU | S_IDENTIFIER };

static const struct pb_attr pt_attr = {
    .type = 8, .config = 0x300e601, .sample_type = FULL, .exclude_kernel = true, .id = 77};

struct opened {
    int fd;
    char path[32];
    struct assay_perf *f;
};

static struct opened open_bytes(const struct pb *b, size_t n)
{
    struct opened o;
    struct assay_error e;
    o.fd = pb_memory_file(b->p, n, o.path);
    int rc = assay_perf_open(o.path, &o.f, &e);
    if (rc != ASSAY_OK)
        fail_msg("%s", e.text);
    return o;
}

static void close_opened(struct opened *o)
{
    assert_true(assay_ledger_closes(assay_perf_ledger(o->f)));
    assay_perf_close(o->f);
    close(o->fd);
}

static struct assay_perf_record next_of(struct opened *o, uint32_t type)
{
    struct assay_perf_record r;
    int rc = assay_perf_next(o->f, &r);
    if (rc != 1)
        fail_msg("%d instead of record %u: %s", rc, type, rc < 0 ? assay_perf_diag(o->f)->what : "end");
    assert_int_equal(r.type, type);
    return r;
}

static void end_of(struct opened *o)
{
    struct assay_perf_record r;
    assert_int_equal(assay_perf_next(o->f, &r), 0);
    assert_int_equal(assay_perf_next(o->f, &r), 0);
    const struct assay_ledger *l = assay_perf_ledger(o->f);
    assert_int_equal(l->unread, 0);
}

static void fault_of(struct opened *o, int code, uint64_t offset)
{
    struct assay_perf_record r;
    assert_int_equal(assay_perf_next(o->f, &r), code);
    const struct assay_diag *d = assay_perf_diag(o->f);
    assert_int_equal(d->code, code);
    assert_int_equal(d->offset, offset);
    assert_non_null(d->what);
}

/* The sample_id of FULL: 3/4 at 5 on cpu 6. */
static void put_trailer(struct pb *b)
{
    pb_u32(b, 3);
    pb_u32(b, 4);
    pb_u64(b, 5);
    pb_u32(b, 6);
    pb_u32(b, 0);
    pb_u64(b, 77);
}

static void put_comm(struct pb *b, const char *name)
{
    size_t r = pb_begin(b, 3, 1 << 13);
    pb_u32(b, 10);
    pb_u32(b, 11);
    pb_text(b, name);
    put_trailer(b);
    pb_end(b, r);
}

static void put_mmap(struct pb *b)
{
    size_t r = pb_begin(b, 1, 2);
    pb_u32(b, 0xffffffff);
    pb_u32(b, 12);
    pb_u64(b, 0x400000);
    pb_u64(b, 0x2000);
    pb_u64(b, 0x1000);
    pb_text(b, "/bin/true");
    put_trailer(b);
    pb_end(b, r);
}

static void put_mmap2(struct pb *b, bool build_id)
{
    size_t r = pb_begin(b, 10, build_id ? 2 | 1 << 14 : 2);
    pb_u32(b, 13);
    pb_u32(b, 14);
    pb_u64(b, 0x7f0000000000);
    pb_u64(b, 0x3000);
    pb_u64(b, 0x5000);
    pb_bytes(b, "\x14\0\0\0ABCDEFGHIJKLMNOPQRST", 24);
    pb_u32(b, 5);
    pb_u32(b, 2);
    pb_text(b, "/lib/x.so");
    put_trailer(b);
    pb_end(b, r);
}

static void put_task(struct pb *b, uint32_t type)
{
    size_t r = pb_begin(b, type, 0);
    for (uint32_t i = 0; i < 4; i++)
        pb_u32(b, 20 + i);
    pb_u64(b, 99);
    put_trailer(b);
    pb_end(b, r);
}

/* A record of 64-bit words and a trailer where there is one. */
static void put_words(struct pb *b, uint32_t type, unsigned misc, unsigned n, const uint64_t *word)
{
    size_t r = pb_begin(b, type, misc);
    for (unsigned i = 0; i < n; i++)
        pb_u64(b, word[i]);
    if (type < 64)
        put_trailer(b);
    pb_end(b, r);
}
#define WORDS(...)                                                                                                     \
    sizeof((uint64_t[]){__VA_ARGS__}) / 8, (const uint64_t[]) { __VA_ARGS__ }

static void put_pair(struct pb *b, uint32_t type, unsigned misc, uint32_t x, uint32_t y)
{
    size_t r = pb_begin(b, type, misc);
    pb_u32(b, x);
    pb_u32(b, y);
    put_trailer(b);
    pb_end(b, r);
}

static void put_sample(struct pb *b)
{
    size_t r = pb_begin(b, 9, 2);
    pb_u64(b, 77); /* identifier, ip, tid, time, cpu */
    pb_u64(b, 0x401000);
    pb_u32(b, 30);
    pb_u32(b, 31);
    pb_u64(b, 32);
    pb_u32(b, 33);
    pb_u32(b, 0);
    pb_end(b, r);
}

static void put_auxtrace(struct pb *b, uint32_t idx, uint64_t offset, const void *trace, size_t n)
{
    size_t r = pb_begin(b, 71, 0);
    pb_u64(b, n);
    pb_u64(b, offset);
    pb_u64(b, 0xabcdef);
    pb_u32(b, idx);
    pb_u32(b, 14);
    pb_u32(b, 2);
    pb_u32(b, 0);
    pb_end(b, r);
    pb_bytes(b, trace, n);
}

static void put_text_poke(struct pb *b)
{
    size_t r = pb_begin(b, 20, 1);
    pb_u64(b, 0xffffffff81000000);
    pb_u16(b, 2);
    pb_u16(b, 5);
    pb_bytes(b, "\x66\x90\xe9\1\2\3\4", 7);
    pb_zeros(b, 5);
    put_trailer(b);
    pb_end(b, r);
}

/* shift, mult and zero of the real file in the facts */
#define SHIFT 31
#define MULT  0x6aaaaaaa
#define ZERO  0xfffffff86343cb91

static void put_pt_info(struct pb *b)
{
    size_t r = pb_begin(b, 70, 0);
    static const uint64_t word[] = {8, SHIFT, MULT, ZERO, 1, 0x400, 0x800, 3, 0, 1, 0x200, 0x3c000, 100, 2, 2, 12, 14};
    pb_u32(b, 1);
    pb_u32(b, 0);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        pb_u64(b, word[i]);
    pb_text(b, "filter main @x");
    pb_end(b, r);
}

/* One record of each kind. */
static void put_all(struct pb *b)
{
    put_pt_info(b);
    put_mmap(b);
    put_mmap2(b, false);
    put_mmap2(b, true);
    put_words(b, 2, 0, WORDS(77, 1000));
    put_comm(b, "a name");
    put_task(b, 4);
    put_task(b, 7);
    put_sample(b);
    put_words(b, 11, 0, WORDS(0x100, 0x200, 5));
    put_pair(b, 12, 0, 40, 41);
    put_words(b, 14, 1 << 13, 0, NULL);
    put_pair(b, 15, 1 << 13, 50, 51);
    put_text_poke(b);
    put_auxtrace(b, 1, 0x1000, "trace bytes, 24 of them", 24);
    put_words(b, 79, 0, WORDS(7, 8, 9));
    put_words(b, 200, 0, WORDS(1, 2)); /* a type of the future, not the kernel's */
}

static void trailer_is(const struct assay_perf_record *r)
{
    assert_true(r->has_tid && r->has_time && r->has_cpu);
    assert_int_equal(r->pid, 3);
    assert_int_equal(r->tid, 4);
    assert_int_equal(r->time, 5);
    assert_int_equal(r->cpu, 6);
    assert_int_equal(r->id, 77);
}

static void mmaps_are(struct opened *o)
{
    struct assay_perf_record r = next_of(o, ASSAY_PERF_MMAP);
    trailer_is(&r);
    assert_int_equal(r.misc, 2);
    assert_int_equal(r.mmap.pid, 0xffffffff);
    assert_int_equal(r.mmap.tid, 12);
    assert_int_equal(r.mmap.addr, 0x400000);
    assert_int_equal(r.mmap.len, 0x2000);
    assert_int_equal(r.mmap.pgoff, 0x1000);
    assert_string_equal(r.mmap.filename, "/bin/true");
    assert_int_equal(r.mmap.build_id_size, 0);
    for (int with = 0; with < 2; with++) {
        r = next_of(o, ASSAY_PERF_MMAP2);
        trailer_is(&r);
        assert_int_equal(r.mmap.pid, 13);
        assert_int_equal(r.mmap.addr, 0x7f0000000000);
        assert_int_equal(r.mmap.prot, 5);
        assert_int_equal(r.mmap.flags, 2);
        assert_string_equal(r.mmap.filename, "/lib/x.so");
        assert_int_equal(r.mmap.build_id_size, with ? 20 : 0);
        if (with)
            assert_memory_equal(r.mmap.build_id, "ABCDEFGHIJKLMNOPQRST", 20);
    }
}

static void tasks_are(struct opened *o)
{
    struct assay_perf_record r = next_of(o, ASSAY_PERF_LOST);
    assert_int_equal(r.lost.id, 77);
    assert_int_equal(r.lost.lost, 1000);
    r = next_of(o, ASSAY_PERF_COMM);
    trailer_is(&r);
    assert_int_equal(r.comm.pid, 10);
    assert_int_equal(r.comm.tid, 11);
    assert_true(r.comm.exec);
    assert_string_equal(r.comm.comm, "a name");
    for (int fork = 0; fork < 2; fork++) {
        r = next_of(o, fork ? ASSAY_PERF_FORK : ASSAY_PERF_EXIT);
        trailer_is(&r);
        assert_int_equal(r.task.pid, 20);
        assert_int_equal(r.task.ppid, 21);
        assert_int_equal(r.task.tid, 22);
        assert_int_equal(r.task.ptid, 23);
        assert_int_equal(r.task.time, 99);
    }
    r = next_of(o, ASSAY_PERF_SAMPLE);
    assert_int_equal(r.id, 77);
    assert_int_equal(r.pid, 30);
    assert_int_equal(r.tid, 31);
    assert_int_equal(r.time, 32);
    assert_int_equal(r.cpu, 33);
}

static void trace_records_are(struct opened *o)
{
    struct assay_perf_record r = next_of(o, ASSAY_PERF_AUX);
    trailer_is(&r);
    assert_int_equal(r.aux.aux_offset, 0x100);
    assert_int_equal(r.aux.aux_size, 0x200);
    assert_int_equal(r.aux.flags, 5);
    r = next_of(o, ASSAY_PERF_ITRACE_START);
    assert_int_equal(r.itrace_start.pid, 40);
    assert_int_equal(r.itrace_start.tid, 41);
    r = next_of(o, ASSAY_PERF_SWITCH);
    trailer_is(&r);
    assert_true(r.context_switch.out && !r.context_switch.wide);
    r = next_of(o, ASSAY_PERF_SWITCH_CPU_WIDE);
    assert_true(r.context_switch.out && r.context_switch.wide);
    assert_int_equal(r.context_switch.next_prev_pid, 50);
    assert_int_equal(r.context_switch.next_prev_tid, 51);
    r = next_of(o, ASSAY_PERF_TEXT_POKE);
    trailer_is(&r);
    assert_true(r.text_poke.addr == 0xffffffff81000000);
    assert_int_equal(r.text_poke.old_len, 2);
    assert_int_equal(r.text_poke.new_len, 5);
    assert_memory_equal(r.text_poke.old_bytes, "\x66\x90", 2);
    assert_memory_equal(r.text_poke.new_bytes, "\xe9\1\2\3\4", 5);
    r = next_of(o, ASSAY_PERF_AUXTRACE);
    assert_int_equal(r.auxtrace.size, 24);
    assert_int_equal(r.auxtrace.offset, 0x1000);
    assert_int_equal(r.auxtrace.reference, 0xabcdef);
    assert_int_equal(r.auxtrace.idx, 1);
    assert_int_equal(r.auxtrace.tid, 14);
    assert_int_equal(r.auxtrace.cpu, 2);
    char buf[64];
    assert_int_equal(assay_perf_read(o->f, r.auxtrace.data, buf, 24), 24);
    assert_string_equal(buf, "trace bytes, 24 of them");
}

static void pt_info_is(struct opened *o)
{
    next_of(o, ASSAY_PERF_AUXTRACE_INFO);
    const struct assay_perf_pt_info *i = assay_perf_pt(o->f);
    assert_true(i->present && i->exclude_kernel && !i->exclude_user);
    assert_int_equal(i->pmu_type, 8);
    assert_int_equal(i->time_mult, MULT);
    assert_int_equal(i->mtc_freq_bits, 0x3c000);
    assert_int_equal(i->tsc_ctc_n, 100);
    assert_int_equal(i->tsc_ctc_d, 2);
    assert_int_equal(i->max_nonturbo_ratio, 12);
    assert_int_equal(i->config, 0x300e601);
    assert_string_equal(i->filter, "filter main @x");
}

static void all_is(struct opened *o, bool big, bool pipe)
{
    assert_int_equal(assay_perf_big_endian(o->f), big);
    if (pipe)
        next_of(o, ASSAY_PERF_HEADER_ATTR);
    pt_info_is(o);
    mmaps_are(o);
    tasks_are(o);
    trace_records_are(o);
    struct assay_perf_record r = next_of(o, ASSAY_PERF_TIME_CONV);
    assert_int_equal(r.time_conv.shift, 7);
    assert_int_equal(r.time_conv.mult, 8);
    assert_int_equal(r.time_conv.zero, 9);
    assert_int_equal(assay_perf_pt(o->f)->time_mult, MULT); /* the trace's own conversion wins */
    r = next_of(o, 200);
    assert_int_equal(r.size, 16);
    assert_int_equal(r.body[big ? 7 : 0], 1);
    assert_int_equal(assay_perf_count(o->f, 0), 1);
    assert_int_equal(assay_perf_count(o->f, ASSAY_PERF_MMAP2), 2);
}

static struct pb make(const struct pb_attr *attr, size_t attrs, const struct pb *data, bool pipe)
{
    struct pb_file f = {.big = data->big, .attr = attr, .attrs = attrs, .data = data};
    return pipe ? pb_make_pipe(&f) : pb_make_file(&f);
}

static void every_record_in_every_form(void **state)
{
    (void)state;
    for (int form = 0; form < 8; form++) {
        struct pb data = {.big = form & 1};
        bool pipe = form & 2;
        struct pb_attr attr = pt_attr;
        attr.size = form & 4 ? 512 : 0; /* from a perf of the future */
        put_all(&data);
        struct pb b = make(&attr, 1, &data, pipe);
        struct opened o = open_bytes(&b, b.n);
        all_is(&o, data.big, pipe);
        end_of(&o);
        assert_int_equal(assay_perf_ledger(o.f)->decoded, b.n);
        size_t size = 0;
        assert_int_equal(assay_perf_events(o.f), 1);
        assert_non_null(assay_perf_event_attr(o.f, 0, &size));
        assert_int_equal(size, form & 4 ? 512 : 112);
        assert_null(assay_perf_event_attr(o.f, 1, &size));
        close_opened(&o);
        free(data.p);
        free(b.p);
    }
}

/* A recording that crashed: its header has no data size, the file ends with the data. */
static void a_recording_that_was_not_finished(void **state)
{
    (void)state;
    struct pb data = {0};
    put_all(&data);
    struct pb b = make(&pt_attr, 1, &data, false);
    pb_store(&b, b.p + 48, 0, 8);
    pb_store(&b, b.p + 72, 0xffffffff, 8); /* features that were to come */
    struct opened o = open_bytes(&b, b.n);
    all_is(&o, false, false);
    fault_of(&o, ASSAY_E_TRUNCATED, b.n);
    end_of(&o);
    assert_null(assay_perf_feature_string(o.f, ASSAY_PERF_FEAT_CPUID));
    close_opened(&o);
    free(data.p);
    free(b.p);
}

static void a_recording_without_records(void **state)
{
    (void)state;
    struct pb data = {0};
    struct pb_feature feature = {255, "model=x\n", 8};
    struct pb_file f = {.attr = &pt_attr, .attrs = 1, .data = &data, .feature = &feature, .features = 1};
    struct pb b = pb_make_file(&f);
    struct opened o = open_bytes(&b, b.n);
    end_of(&o);
    assert_string_equal(assay_perf_feature_string(o.f, 255), "model=x\n");
    close_opened(&o);
    free(b.p);
}

/* Two events whose sample_ids differ in length: the id at the end tells which it is. */
static void the_id_finds_the_layout(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        bool identifier = form & 2;
        uint64_t id = identifier ? S_IDENTIFIER : S_ID;
        struct pb_attr attr[] = {{.type = 1, .sample_type = id | S_TIME | S_CPU, .id = 5},
                                 {.type = 8, .sample_type = id | S_TID | S_TIME | S_CPU | S_IP, .id = 6}};
        struct pb data = {.big = form & 1};
        for (uint64_t event = 5; event <= 6; event++) {
            size_t r = pb_begin(&data, ASSAY_PERF_SWITCH, 0);
            if (event == 6)
                pb_u64(&data, 0); /* tid 0/0 */
            pb_u64(&data, 1000 + event);
            if (!identifier)
                pb_u64(&data, event);
            pb_u32(&data, (uint32_t)event * 2);
            pb_u32(&data, 0);
            if (identifier)
                pb_u64(&data, event);
            pb_end(&data, r);
        }
        struct pb b = make(attr, 2, &data, false);
        struct opened o = open_bytes(&b, b.n);
        for (uint64_t event = 5; event <= 6; event++) {
            struct assay_perf_record r = next_of(&o, ASSAY_PERF_SWITCH);
            assert_int_equal(r.id, event);
            assert_int_equal(r.time, 1000 + event);
            assert_int_equal(r.cpu, event * 2);
            assert_int_equal(r.has_tid, event == 6);
        }
        end_of(&o);
        close_opened(&o);
        free(data.p);
        free(b.p);
    }
}

/* Samples of two layouts, found by the identifier at their front or the id behind ip, tid and time. */
static void samples_of_two_layouts(void **state)
{
    (void)state;
    struct pb_attr attr[] = {{.type = 1, .sample_type = S_IP | S_TID | S_TIME | S_ID | S_CPU, .id = 5},
                             {.type = 8, .sample_type = S_IP | S_TID | S_TIME | S_ID | S_STREAM_ID | S_CPU, .id = 6}};
    struct pb data = {0};
    for (uint32_t event = 5; event <= 6; event++) {
        size_t r = pb_begin(&data, ASSAY_PERF_SAMPLE, 0);
        pb_u64(&data, 1);
        pb_u32(&data, 2);
        pb_u32(&data, 3);
        pb_u64(&data, 4);
        pb_u64(&data, event);
        if (event == 6)
            pb_u64(&data, 6);
        pb_u32(&data, event * 3);
        pb_u32(&data, 0);
        pb_end(&data, r);
    }
    struct pb b = make(attr, 2, &data, true);
    struct opened o = open_bytes(&b, b.n);
    next_of(&o, ASSAY_PERF_HEADER_ATTR);
    next_of(&o, ASSAY_PERF_HEADER_ATTR);
    for (uint32_t event = 5; event <= 6; event++) {
        struct assay_perf_record r = next_of(&o, ASSAY_PERF_SAMPLE);
        assert_int_equal(r.id, event);
        assert_int_equal(r.tid, 3);
        assert_int_equal(r.time, 4);
        assert_int_equal(r.cpu, event * 3);
    }
    end_of(&o);
    close_opened(&o);
    free(data.p);
    free(b.p);
}

/* ---- compression ---- */

/* `data` as COMPRESSED records of one zstd stream, each made of `piece` bytes: records straddle them. */
static struct pb compress(const struct pb *data, size_t piece, uint32_t type)
{
    struct pb b = {.big = data->big};
    ZSTD_CStream *z = ZSTD_createCStream();
    ZSTD_initCStream(z, 1);
    static char out[65000];
    for (size_t at = 0; at < data->n; at += piece) {
        ZSTD_inBuffer in = {data->p + at, data->n - at < piece ? data->n - at : piece, 0};
        ZSTD_outBuffer o = {out, sizeof out, 0};
        ZSTD_compressStream(z, &o, &in);
        assert_int_equal(ZSTD_flushStream(z, &o), 0);
        size_t r = pb_begin(&b, type, 0);
        if (type == 83)
            pb_u64(&b, o.pos);
        pb_bytes(&b, out, o.pos);
        if (type == 83)
            pb_zeros(&b, (8 - o.pos % 8) % 8);
        pb_end(&b, r);
    }
    ZSTD_freeCStream(z);
    return b;
}

static struct pb many_comms(bool big, unsigned n)
{
    struct pb data = {.big = big};
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%u", i);
        put_comm(&data, name);
    }
    return data;
}

static void comms_are(struct opened *o, unsigned from, unsigned n)
{
    for (unsigned i = from; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%u", i);
        struct assay_perf_record r = next_of(o, ASSAY_PERF_COMM);
        assert_string_equal(r.comm.comm, name);
        assert_int_equal(r.cpu, 6);
    }
}

static void compressed_records(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 7, 61, 1000, 1 << 20};
    for (int form = 0; form < 8; form++)
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            struct pb data = many_comms(form & 1, 300);
            struct pb z = compress(&data, pieces[i], form & 4 ? 83 : 81);
            struct pb b = make(&pt_attr, 1, &z, form & 2);
            struct opened o = open_bytes(&b, b.n);
            if (form & 2)
                next_of(&o, ASSAY_PERF_HEADER_ATTR);
            comms_are(&o, 0, 300);
            end_of(&o);
            assert_int_equal(assay_perf_ledger(o.f)->decoded, b.n);
            assert_int_equal(assay_perf_count(o.f, form & 4 ? 83 : 81), (data.n + pieces[i] - 1) / pieces[i]);
            close_opened(&o);
            free(data.p);
            free(z.p);
            free(b.p);
        }
}

/* A small piece that becomes megabytes: taken in small bites, all of it records, however the bites fall. */
static void a_compressed_bomb(void **state)
{
    (void)state;
    for (unsigned n = 4; n < 400; n = n * 5 / 4) {
        struct pb data = {0};
        for (unsigned i = 0; i < n; i++) {
            size_t r = pb_begin(&data, 200, 0);
            pb_zeros(&data, 65528 - 8 * (n % 7) - 8);
            pb_end(&data, r);
        }
        struct pb z = compress(&data, data.n, 81);
        struct pb b = make(&pt_attr, 1, &z, false);
        struct opened o = open_bytes(&b, b.n);
        for (unsigned i = 0; i < n; i++)
            next_of(&o, 200);
        end_of(&o);
        close_opened(&o);
        free(data.p);
        free(z.p);
        free(b.p);
    }
}

/* Each piece holds one record: of a file that ends anywhere, the whole pieces are read, and nothing is made up. */
static void compressed_and_truncated(void **state)
{
    (void)state;
    struct pb data = many_comms(false, 30);
    struct pb z = compress(&data, data.n / 30, 81);
    struct pb b = make(&pt_attr, 1, &z, true);
    size_t start = b.n - z.n;
    for (size_t n = start; n < b.n; n++) {
        unsigned whole = 0;
        for (size_t at = 0; at + 8 <= n - start; whole++) {
            at += (size_t)z.p[at + 6] | (size_t)z.p[at + 7] << 8;
            if (at > n - start)
                break;
        }
        struct opened o = open_bytes(&b, n);
        next_of(&o, ASSAY_PERF_HEADER_ATTR);
        comms_are(&o, 0, whole);
        struct assay_perf_record r;
        int rc = assay_perf_next(o.f, &r);
        assert_true(rc == 0 || rc == ASSAY_E_TRUNCATED);
        end_of(&o);
        close_opened(&o);
    }
    free(data.p);
    free(z.p);
    free(b.p);
}

/* A broken piece is told once; what follows of the stream is lost and counted; a new stream decodes again. */
static void a_broken_zstd_stream(void **state)
{
    (void)state;
    struct pb data = many_comms(false, 300), again = many_comms(false, 20);
    struct pb z = compress(&data, 5000, 81), z2 = compress(&again, 1000, 81);
    size_t first = (size_t)z.p[6] | (size_t)z.p[7] << 8;
    memset(z.p + first + 8, 0xff, 16); /* the second piece */
    pb_bytes(&z, z2.p, z2.n);
    struct pb b = make(&pt_attr, 1, &z, false);
    size_t start = b.n - z.n;
    struct opened o = open_bytes(&b, b.n);
    unsigned whole = 5000 / (8 + 8 + 8 + 32);
    comms_are(&o, 0, 89); /* "c0".."c88" of 56 bytes fit the first piece */
    assert_int_equal(whole, 89);
    fault_of(&o, ASSAY_E_BAD_FORMAT, start + first);
    comms_are(&o, 0, 20);
    end_of(&o);
    assert_int_equal(assay_perf_ledger(o.f)->skipped[ASSAY_SKIP_DAMAGED], z.n - z2.n - first);
    close_opened(&o);
    free(data.p);
    free(again.p);
    free(z.p);
    free(z2.p);
    free(b.p);
}

static void compressed_data_that_ends_inside_a_record(void **state)
{
    (void)state;
    struct pb data = many_comms(false, 10);
    data.n -= 3;
    struct pb z = compress(&data, 100, 81);
    struct pb b = make(&pt_attr, 1, &z, false);
    struct opened o = open_bytes(&b, b.n);
    comms_are(&o, 0, 9);
    struct assay_perf_record r;
    assert_int_equal(assay_perf_next(o.f, &r), ASSAY_E_TRUNCATED);
    end_of(&o);
    assert_true(assay_perf_ledger(o.f)->skipped[ASSAY_SKIP_TRUNCATED] > 0);
    close_opened(&o);
    free(data.p);
    free(z.p);
    free(b.p);
}

/* ---- damage ---- */

/* Damages the size of the third of six comms; the second fault says where, the fourth comm comes next. */
static void bad_sizes_are_located_and_passed(void **state)
{
    (void)state;
    static const unsigned sizes[] = {0, 7, 0xffff};
    for (int form = 0; form < 4; form++)
        for (int i = 0; i < 3; i++) {
            bool pipe = form & 2;
            struct pb data = many_comms(form & 1, 6);
            size_t one = data.n / 6;
            pb_store(&data, data.p + 2 * one + 6, sizes[i], 2);
            struct pb b = make(&pt_attr, 1, &data, pipe);
            size_t start = b.n - data.n;
            struct opened o = open_bytes(&b, b.n);
            if (pipe)
                next_of(&o, ASSAY_PERF_HEADER_ATTR);
            comms_are(&o, 0, 2);
            fault_of(&o, ASSAY_E_BAD_FORMAT, start + 2 * one);
            comms_are(&o, 3, 6);
            end_of(&o);
            assert_int_equal(assay_perf_ledger(o.f)->skipped[ASSAY_SKIP_DAMAGED], one);
            close_opened(&o);
            free(data.p);
            free(b.p);
        }
}

/* Compressed records have odd sizes: what follows them is found at any offset. */
static void damage_at_an_odd_offset(void **state)
{
    (void)state;
    struct pb one = many_comms(false, 1), data = compress(&one, one.n, 81);
    assert_true(data.n % 8 != 0);
    size_t start = data.n;
    put_comm(&data, "damaged");
    put_comm(&data, "c1");
    put_comm(&data, "c2");
    pb_store(&data, data.p + start + 6, 0, 2);
    struct pb b = make(&pt_attr, 1, &data, false);
    struct opened o = open_bytes(&b, b.n);
    comms_are(&o, 0, 1);
    fault_of(&o, ASSAY_E_BAD_FORMAT, b.n - data.n + start);
    comms_are(&o, 1, 3);
    end_of(&o);
    close_opened(&o);
    free(one.p);
    free(data.p);
    free(b.p);
}

/* A record that is framed but holds nonsense is told and skipped alone. */
static void a_text_without_end(void **state)
{
    (void)state;
    struct pb data = {0};
    put_comm(&data, "one");
    put_comm(&data, "two");
    memset(data.p + 16, 'x', 8);
    struct pb b = make(&pt_attr, 1, &data, false);
    struct opened o = open_bytes(&b, b.n);
    fault_of(&o, ASSAY_E_BAD_FORMAT, b.n - data.n);
    assert_string_equal(next_of(&o, ASSAY_PERF_COMM).comm.comm, "two");
    end_of(&o);
    assert_int_equal(assay_perf_ledger(o.f)->skipped[ASSAY_SKIP_DAMAGED], data.n / 2);
    close_opened(&o);
    free(data.p);
    free(b.p);
}

static void a_trace_that_the_file_does_not_hold(void **state)
{
    (void)state;
    struct pb data = {0};
    put_auxtrace(&data, 0, 0, "0123456789abcdef", 16);
    put_comm(&data, "after");
    pb_store(&data, data.p + 8, UINT64_MAX - 7, 8);
    for (int pipe = 0; pipe < 2; pipe++) {
        struct pb b = make(&pt_attr, 1, &data, pipe);
        size_t start = b.n - data.n;
        struct opened o = open_bytes(&b, b.n);
        if (pipe) { /* where the data ends is not known: what there is belongs to the trace */
            next_of(&o, ASSAY_PERF_HEADER_ATTR);
            assert_int_equal(next_of(&o, ASSAY_PERF_AUXTRACE).auxtrace.size, data.n - 48);
            fault_of(&o, ASSAY_E_TRUNCATED, start);
        } else {
            fault_of(&o, ASSAY_E_BAD_FORMAT, start);
            assert_string_equal(next_of(&o, ASSAY_PERF_COMM).comm.comm, "after");
        }
        end_of(&o);
        close_opened(&o);
        free(b.p);
    }
    free(data.p);
}

/* Reads everything; the ledger must close and the calls must be few. */
static unsigned drain(struct opened *o, size_t limit, unsigned *faults)
{
    struct assay_perf_record r;
    unsigned records = 0;
    *faults = 0;
    for (int rc; (rc = assay_perf_next(o->f, &r)) != 0;) {
        records += rc > 0;
        *faults += rc < 0;
        assert_true(records + *faults <= limit);
        assert_true(assay_ledger_closes(assay_perf_ledger(o->f)));
    }
    assert_int_equal(assay_perf_ledger(o->f)->unread, 0);
    return records;
}

/* Whole records in data[0, n). AUXTRACE counts from its first body byte on. */
static unsigned whole_records(const struct pb *data, size_t n)
{
    unsigned count = 0;
    for (size_t at = 0; at + 8 <= n; count++) {
        size_t size = (size_t)data->p[at + 6] | (size_t)data->p[at + 7] << 8;
        if (at + size > n)
            break;
        at += size + (data->p[at] == 71 ? 24 : 0);
    }
    return count;
}

static void truncation_at_every_byte(void **state)
{
    (void)state;
    struct pb data = {0};
    put_all(&data);
    for (int pipe = 0; pipe < 2; pipe++) {
        struct pb b = make(&pt_attr, 1, &data, pipe);
        size_t start = b.n - data.n;
        for (size_t n = pipe ? 16 : 104; n < b.n; n++) {
            struct opened o = open_bytes(&b, n);
            unsigned faults, records = drain(&o, 1000, &faults);
            if (n >= start)
                assert_int_equal(records, whole_records(&data, n - start) + (unsigned)pipe);
            assert_true(pipe || faults > 0);
            close_opened(&o);
        }
        free(b.p);
    }
    free(data.p);
}

static void headers_cut_short_are_refused(void **state)
{
    (void)state;
    struct pb data = {0};
    put_all(&data);
    struct pb b = make(&pt_attr, 1, &data, false);
    for (size_t n = 1; n < 104; n++) {
        char path[32];
        struct assay_error e;
        struct assay_perf *f;
        int fd = pb_memory_file(b.p, n, path);
        assert_int_equal(assay_perf_open(path, &f, &e), n < 8    ? ASSAY_E_NOT_RECOGNISED
                                                        : n < 72 ? ASSAY_E_TRUNCATED
                                                                 : ASSAY_E_BAD_FORMAT);
        close(fd);
    }
    free(data.p);
    free(b.p);
}

static void flipped_bits(void **state)
{
    (void)state;
    struct pb plain = {0};
    put_all(&plain);
    struct pb z = compress(&plain, 100, 81);
    for (int form = 0; form < 4; form++) {
        struct pb b = make(&pt_attr, 1, form & 1 ? &z : &plain, form & 2);
        for (size_t bit = 0; bit < b.n * 8; bit++) {
            b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
            char path[32];
            struct assay_error e;
            struct opened o = {.fd = pb_memory_file(b.p, b.n, path)};
            if (assay_perf_open(path, &o.f, &e) == ASSAY_OK) {
                unsigned faults;
                drain(&o, 1 << 20, &faults); /* flipped zstd data may grow */
                assay_perf_close(o.f);
            }
            close(o.fd);
            b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(b.p);
    }
    free(plain.p);
    free(z.p);
}

/* ---- features, names, time ---- */

static void features_by_bit(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        struct pb data = {.big = form & 1}, cpuid = {.big = form & 1};
        put_comm(&data, "x");
        pb_u32(&cpuid, 64);
        pb_text(&cpuid, "GenuineIntel,6,78,3");
        pb_zeros(&cpuid, 68 - cpuid.n);
        struct pb_feature feature[] = {{ASSAY_PERF_FEAT_HOSTNAME, cpuid.p, cpuid.n},
                                       {ASSAY_PERF_FEAT_CPUID, cpuid.p, cpuid.n},
                                       {ASSAY_PERF_FEAT_JITDUMP, "jit bytes", 9},
                                       {ASSAY_PERF_FEAT_VIRTUAL, "model=flat\n", 11}};
        struct pb_file f = {data.big, &pt_attr, 1, feature, 4, &data};
        struct pb b = form & 2 ? pb_make_pipe(&f) : pb_make_file(&f);
        if (form == 1) /* as a 32-bit big-endian perf would write: words of 4 bytes */
            for (uint8_t *p = b.p + 72; p < b.p + 104; p += 8)
                for (int i = 0; i < 4; i++) {
                    uint8_t swap = p[i];
                    p[i] = p[i + 4];
                    p[i + 4] = swap;
                }
        struct opened o = open_bytes(&b, b.n);
        unsigned faults;
        drain(&o, 100, &faults);
        assert_int_equal(faults, 0);
        size_t size;
        assert_string_equal(assay_perf_feature_string(o.f, ASSAY_PERF_FEAT_CPUID), "GenuineIntel,6,78,3");
        const uint8_t *jit = assay_perf_feature(o.f, ASSAY_PERF_FEAT_JITDUMP, &size);
        assert_memory_equal(jit, "jit bytes", 9);
        assert_string_equal(assay_perf_feature_string(o.f, ASSAY_PERF_FEAT_VIRTUAL), "model=flat\n");
        assert_null(assay_perf_feature(o.f, ASSAY_PERF_FEAT_CMDLINE, &size));
        assert_null(assay_perf_feature(o.f, 256, &size));
        close_opened(&o);
        free(data.p);
        free(cpuid.p);
        free(b.p);
    }
}

static void refused(const void *bytes, size_t n, const char *word)
{
    char path[32];
    struct assay_error e;
    struct assay_perf *f;
    int fd = pb_memory_file(bytes, n, path);
    assert_int_equal(assay_perf_open(path, &f, &e), ASSAY_E_NOT_RECOGNISED);
    if (!strstr(e.text, word))
        fail_msg("\"%s\" without \"%s\"", e.text, word);
    assert_null(strchr(e.text, '\n'));
    close(fd);
}

static void other_files_are_named(void **state)
{
    (void)state;
    refused("", 0, "empty");
    refused("\x7f"
            "ELF\2\1\1",
            7, "ELF");
    refused("\x1f\x8b\x08\0\0", 5, "gzip");
    refused("hello, world\n", 13, "text");
    refused("\0\0\0\0\0\0\0\0\0", 9, "zero bytes");
    refused("PERFFILE\x68\0\0\0\0\0\0\0", 16, "first format");
    refused("\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", 16, "--as pt");
    struct assay_error e;
    struct assay_perf *f;
    assert_int_equal(assay_perf_open("/nonexistent", &f, &e), ASSAY_E_SYSTEM);
    assert_int_equal(e.sys, 2); /* ENOENT */
}

static void directories(void **state)
{
    (void)state;
    char dir[] = "/tmp/assay-test-XXXXXX", file[64];
    struct assay_error e;
    struct assay_perf *f;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(assay_perf_open(dir, &f, &e), ASSAY_E_NOT_RECOGNISED);
    struct pb data = many_comms(false, 1);
    struct pb b = make(&pt_attr, 1, &data, false);
    snprintf(file, sizeof file, "%s/data", dir);
    int fd = open(file, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, b.p, b.n), b.n);
    close(fd);
    assert_int_equal(assay_perf_open(dir, &f, &e), ASSAY_OK);
    struct assay_perf_record r;
    assert_int_equal(assay_perf_next(f, &r), 1);
    assay_perf_close(f);
    unlink(file);
    rmdir(dir);
    free(data.p);
    free(b.p);
}

/* Both forms through a pipe on stdin, larger than a pipe's buffer. */
static void standard_input(void **state)
{
    (void)state;
    for (int pipe_form = 0; pipe_form < 2; pipe_form++) {
        struct pb data = many_comms(false, 3000);
        struct pb b = make(&pt_attr, 1, &data, pipe_form);
        int ends[2], saved = dup(0);
        assert_int_equal(pipe(ends), 0);
        if (fork() == 0) {
            close(ends[0]);
            _exit(write(ends[1], b.p, b.n) != (ssize_t)b.n);
        }
        close(ends[1]);
        dup2(ends[0], 0);
        struct opened o = {.fd = ends[0]};
        struct assay_error e;
        assert_int_equal(assay_perf_open("-", &o.f, &e), ASSAY_OK);
        dup2(saved, 0);
        close(saved);
        if (pipe_form)
            next_of(&o, ASSAY_PERF_HEADER_ATTR);
        comms_are(&o, 0, 3000);
        end_of(&o);
        close_opened(&o);
        free(data.p);
        free(b.p);
    }
}

/* zero + (tsc * mult >> shift) with integers of any size, computed apart; 641258053621 lies 14.5 us after the last record
 * of that recording, as the time at which the trace was read should. */
static void time_of_the_real_file(void **state)
{
    (void)state;
    struct assay_perf_pt_info i = {.time_shift = SHIFT, .time_mult = MULT, .time_zero = ZERO};
    assert_true(assay_perf_tsc_to_ns(&i, 0) == ZERO);
    assert_true(assay_perf_tsc_to_ns(&i, 0xbc4cd519a6) == UINT64_C(641258053621));
    assert_true(assay_perf_tsc_to_ns(&i, 0xbc4cd584c2) == UINT64_C(641258076471));
    assert_true(assay_perf_tsc_to_ns(&i, 0x7fffffff) == UINT64_C(0xfffffff8cdee763a));
    assert_true(assay_perf_tsc_to_ns(&i, 0xffffffffffffff) == UINT64_C(60047962314886032));
    assert_true(assay_perf_ns_to_tsc(&i, UINT64_C(641258053621)) == 0xbc4cd519a5);
    assert_true(assay_perf_ns_to_tsc(&i, UINT64_C(60047962314886032)) == 0xfffffffffffffe);
    struct assay_perf_pt_info large = {.time_shift = 45, .time_mult = 0x10123456789, .time_zero = 123456789};
    assert_true(assay_perf_tsc_to_ns(&large, 0xffffffffffffff) == UINT64_C(2261807936312596));
    assert_true(assay_perf_tsc_to_ns(&large, 0x3456789abcdef1) == UINT64_C(462414165196198));
    struct assay_perf_pt_info nonsense = {.time_shift = 64, .time_mult = 0, .time_zero = 7};
    assert_true(assay_perf_tsc_to_ns(&nonsense, 12345) == 7);
    assert_true(assay_perf_ns_to_tsc(&nonsense, 12345) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_in_every_form),
        cmocka_unit_test(a_recording_that_was_not_finished),
        cmocka_unit_test(a_recording_without_records),
        cmocka_unit_test(the_id_finds_the_layout),
        cmocka_unit_test(samples_of_two_layouts),
        cmocka_unit_test(compressed_records),
        cmocka_unit_test(a_compressed_bomb),
        cmocka_unit_test(compressed_and_truncated),
        cmocka_unit_test(a_broken_zstd_stream),
        cmocka_unit_test(compressed_data_that_ends_inside_a_record),
        cmocka_unit_test(bad_sizes_are_located_and_passed),
        cmocka_unit_test(damage_at_an_odd_offset),
        cmocka_unit_test(a_text_without_end),
        cmocka_unit_test(a_trace_that_the_file_does_not_hold),
        cmocka_unit_test(truncation_at_every_byte),
        cmocka_unit_test(headers_cut_short_are_refused),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(features_by_bit),
        cmocka_unit_test(other_files_are_named),
        cmocka_unit_test(directories),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(time_of_the_real_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
