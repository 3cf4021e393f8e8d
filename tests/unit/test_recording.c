/* SPDX-License-Identifier: MIT */
/* Recordings made here: streams from their pieces, tasks, losses, names, address spaces, and the flow through all of them. */
#include <assay/recording.h>

#include "../perf_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define NOBODY UINT32_MAX
enum { CODE = 0x400000, EXEC = 5, DATA_MAP = 1 << 13 };

/* ---- opening what was built ---- */

struct opened {
    int fd;
    struct assay_pt_recording *rec;
};

static struct opened open_with(const struct pb *data, const struct pb_feature *feature, size_t features, bool pipe)
{
    struct pb_file file = {data->big, &pb_pt_attr, 1, feature, features, data};
    struct pb b = pipe ? pb_make_pipe(&file) : pb_make_file(&file);
    char path[32];
    struct assay_error e;
    struct opened o = {.fd = pb_memory_file(b.p, b.n, path)};
    if (assay_pt_recording_open(path, &o.rec, &e) != ASSAY_OK)
        fail_msg("%s", e.text);
    free(b.p);
    return o;
}

static struct opened open_data(const struct pb *data) { return open_with(data, NULL, 0, false); }

static void close_opened(struct opened *o, struct pb *data)
{
    assay_pt_recording_close(o->rec);
    close(o->fd);
    free(data->p);
}

static const struct assay_pt_stream *stream(const struct opened *o, size_t n)
{
    const struct assay_pt_stream *s = assay_pt_recording_stream(o->rec, n);
    assert_non_null(s);
    return s;
}

static void task_is(const struct assay_pt_stream *s, size_t n, uint64_t time, uint32_t pid, uint32_t tid)
{
    assert_true(n < s->tasks);
    assert_int_equal(s->task[n].time, time);
    assert_int_equal(s->task[n].pid, pid);
    assert_int_equal(s->task[n].tid, tid);
}

/* ---- streams ---- */

/* Pieces of two streams interleaved, out of order, with padding, a repetition and a hole. */
static void pieces_become_streams(void **state)
{
    (void)state;
    struct pb data = {0};
    pb_pt_info(&data);
    pb_auxtrace(&data, 5, 1, NOBODY, 0, "AAAAAAAAAAAAA\0\0\0", 16); /* 13 bytes and padding */
    pb_auxtrace(&data, 2, 0, NOBODY, 0, "xxxxxxxx", 8);
    pb_auxtrace(&data, 5, 1, NOBODY, 29, "CCCCCCCC", 8); /* before its time */
    pb_auxtrace(&data, 5, 1, NOBODY, 13, "BBBBBBBBBBBBBBBB", 16);
    pb_auxtrace(&data, 5, 1, NOBODY, 21, "bBBBBBBBCCCCCCCCdddd", 20); /* 16 bytes again, 4 new */
    pb_auxtrace(&data, 5, 1, NOBODY, 100, "EEEEEEEE", 8);
    struct opened o = open_data(&data);
    assert_int_equal(assay_pt_recording_streams(o.rec), 2);
    const struct assay_pt_stream *s = stream(&o, 0);
    assert_int_equal(s->idx, 2);
    assert_int_equal(s->cpu, 0);
    assert_int_equal(s->size, 8);
    s = stream(&o, 1);
    assert_int_equal(s->idx, 5);
    assert_int_equal(s->cpu, 1);
    assert_int_equal(s->extents, 4); /* the C alone are in another */
    static const char all[] = "AAAAAAAAAAAAABBBBBBBBBBBBBBBBCCCCCCCCddddEEEEEEEE";
    char buf[64];
    for (size_t from = 0; from < sizeof all; from++)
        for (size_t n = 0; n <= 60; n += 7) {
            size_t left = sizeof all - 1 - from, want = n < left ? n : left;
            assert_int_equal(assay_pt_stream_read(o.rec, s, from, buf, n), want);
            assert_memory_equal(buf, all + from, want);
        }
    assert_int_equal(s->size, sizeof all - 1);
    assert_int_equal(assay_pt_stream_read(o.rec, s, UINT64_MAX, buf, 8), 0);
    assert_null(assay_pt_recording_stream(o.rec, 2));
    close_opened(&o, &data);
}

static void a_recording_of_other_hardware_has_no_streams(void **state)
{
    (void)state;
    struct pb data = {0};
    size_t r = pb_begin(&data, 70, 0);
    pb_u32(&data, 2); /* BTS */
    pb_zeros(&data, 44);
    pb_end(&data, r);
    pb_auxtrace(&data, 0, 0, NOBODY, 0, "xxxxxxxx", 8);
    struct opened o = open_data(&data);
    assert_int_equal(assay_pt_recording_streams(o.rec), 0);
    close_opened(&o, &data);
}

/* ---- tasks and losses ---- */

static void tasks_of_cpus_by_time(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        struct pb data = {.big = form & 1};
        pb_pt_info(&data);
        pb_auxtrace(&data, 0, 0, NOBODY, 0, "xxxxxxxx", 8);
        pb_auxtrace(&data, 1, 1, NOBODY, 0, "xxxxxxxx", 8);
        pb_switch_wide(&data, (struct pb_who){10, 11, 1, 500}, true, 20, 21);
        pb_switch_wide(&data, (struct pb_who){20, 21, 1, 501}, false, 10, 11); /* says the same */
        pb_itrace_start(&data, (struct pb_who){10, 11, 1, 100});               /* comes late */
        pb_switch(&data, (struct pb_who){30, 31, 0, 200}, false);
        pb_switch(&data, (struct pb_who){30, 31, 0, 300}, true); /* to whom is not told */
        pb_switch(&data, (struct pb_who){30, 32, 0, 400}, false);
        pb_switch_wide(&data, (struct pb_who){20, 21, 1, 600}, true, 0, 0);
        struct opened o = open_with(&data, NULL, 0, form & 2);
        const struct assay_pt_stream *s = stream(&o, 0);
        assert_int_equal(s->tasks, 2);
        task_is(s, 0, 0, 30, 31);
        task_is(s, 1, 400, 30, 32);
        s = stream(&o, 1);
        assert_int_equal(s->tasks, 3);
        task_is(s, 0, 0, 10, 11);
        task_is(s, 1, 500, 20, 21);
        task_is(s, 2, 600, 0, 0);
        close_opened(&o, &data);
    }
}

/* A stream of a thread belongs to it; its process is what any record said of the thread. */
static void tasks_of_threads(void **state)
{
    (void)state;
    struct pb data = {0};
    pb_pt_info(&data);
    pb_fork(&data, (struct pb_who){7, 7, 0, 10}, 7, 8, 0);
    pb_auxtrace(&data, 0, NOBODY, 8, 0, "xxxxxxxx", 8);
    pb_auxtrace(&data, 1, NOBODY, 9, 0, "xxxxxxxx", 8);
    pb_itrace_start(&data, (struct pb_who){6, 6, 0, 20});
    struct opened o = open_data(&data);
    assert_int_equal(stream(&o, 0)->tasks, 1);
    task_is(stream(&o, 0), 0, 0, 7, 8);
    task_is(stream(&o, 1), 0, 0, 9, 9);
    close_opened(&o, &data);
}

static void no_task_is_known(void **state)
{
    (void)state;
    struct pb data = {0};
    pb_pt_info(&data);
    pb_auxtrace(&data, 0, 3, NOBODY, 0, "xxxxxxxx", 8);
    struct opened o = open_data(&data);
    assert_int_equal(stream(&o, 0)->tasks, 1);
    task_is(stream(&o, 0), 0, 0, NOBODY, NOBODY);
    close_opened(&o, &data);
}

/* Records whose sample_id has no cpu find it through the id. */
static void the_id_index_tells_the_cpu(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct pb data = {.big = big};
        struct pb_attr attr = {.type = 8, .config = 0x401, .sample_type = 2 | 4 | 1 << 16, .id = 77};
        pb_pt_info(&data);
        size_t r = pb_begin(&data, 69, 0);
        static const uint64_t index[] = {2, 76, 0, 4, 1, 77, 1, 5, 1};
        for (size_t i = 0; i < 9; i++)
            pb_u64(&data, index[i]);
        pb_end(&data, r);
        pb_auxtrace(&data, 1, 5, NOBODY, 0, "xxxxxxxx", 8);
        r = pb_begin(&data, 12, 0);
        pb_u32(&data, 40);
        pb_u32(&data, 41);
        pb_u64(&data, 0); /* sample_id: tid, time, identifier */
        pb_u64(&data, 9);
        pb_u64(&data, 77);
        pb_end(&data, r);
        struct pb_file file = {big, &attr, 1, NULL, 0, &data};
        struct pb b = pb_make_file(&file);
        char path[32];
        struct opened o = {.fd = pb_memory_file(b.p, b.n, path)};
        assert_int_equal(assay_pt_recording_open(path, &o.rec, NULL), ASSAY_OK);
        task_is(stream(&o, 0), 0, 0, 40, 41);
        free(b.p);
        close_opened(&o, &data);
    }
}

static void losses_go_to_their_stream(void **state)
{
    (void)state;
    struct pb data = {0};
    pb_pt_info(&data);
    pb_auxtrace(&data, 0, 0, NOBODY, 0, "xxxxxxxxxxxxxxxx", 16);
    pb_auxtrace(&data, 1, NOBODY, 9, 0, "xxxxxxxx", 8);
    size_t lost = pb_begin(&data, 2, 0);
    pb_u64(&data, 1);
    pb_u64(&data, 42);
    pb_finish(&data, lost, (struct pb_who){1, 1, 0, 30});
    pb_aux(&data, (struct pb_who){1, 1, 0, 30}, 8, 8, 1); /* full: what is behind is lost */
    pb_aux(&data, (struct pb_who){1, 1, 0, 20}, 0, 8, 4); /* with gaps */
    pb_aux(&data, (struct pb_who){1, 1, 0, 25}, 0, 8, 2); /* a snapshot is no loss */
    pb_aux(&data, (struct pb_who){1, 1, 0, 26}, 0, 8, 0);
    pb_aux(&data, (struct pb_who){9, 9, 6, 40}, 0, 8, 8);   /* collision, on the thread's stream */
    pb_aux(&data, (struct pb_who){99, 99, 6, 50}, 0, 8, 1); /* of a stream that is not there */
    struct opened o = open_data(&data);
    const struct assay_pt_stream *s = stream(&o, 0);
    assert_int_equal(s->losts, 2);
    assert_int_equal(s->lost[0].offset, 0);
    assert_int_equal(s->lost[0].flags, 4);
    assert_int_equal(s->lost[0].time, 20);
    assert_int_equal(s->lost[1].offset, 16);
    assert_int_equal(s->lost[1].flags, 1);
    assert_int_equal(stream(&o, 1)->losts, 1);
    assert_int_equal(stream(&o, 1)->lost[0].flags, 8);
    assert_int_equal(assay_pt_recording_dropped(o.rec), 42);
    close_opened(&o, &data);
}

static void names_of_threads_over_time(void **state)
{
    (void)state;
    struct pb data = {0};
    pb_comm(&data, (struct pb_who){5, 5, 0, 300}, "later", true);
    pb_fork(&data, (struct pb_who){5, 5, 0, 200}, 6, 6, 0);
    pb_comm(&data, (struct pb_who){5, 5, 0, 100}, "first", false);
    pb_fork(&data, (struct pb_who){6, 6, 0, 250}, 6, 7, 0);
    pb_fork(&data, (struct pb_who){50, 50, 0, 260}, 51, 51, 0);
    struct opened o = open_data(&data);
    assert_string_equal(assay_pt_recording_comm(o.rec, 5, 299), "first");
    assert_string_equal(assay_pt_recording_comm(o.rec, 5, 300), "later");
    assert_string_equal(assay_pt_recording_comm(o.rec, 5, UINT64_MAX), "later");
    assert_string_equal(assay_pt_recording_comm(o.rec, 5, 1), "first"); /* nothing earlier is known */
    assert_string_equal(assay_pt_recording_comm(o.rec, 6, 400), "first");
    assert_string_equal(assay_pt_recording_comm(o.rec, 7, 400), "first");
    assert_string_equal(assay_pt_recording_comm(o.rec, 51, 400), "");
    assert_string_equal(assay_pt_recording_comm(o.rec, 8, 400), "");
    close_opened(&o, &data);
}

static void what_the_header_says(void **state)
{
    (void)state;
    struct pb data = {0}, cpuid = {0};
    pb_pt_info(&data);
    pb_u32(&cpuid, 24);
    pb_text(&cpuid, "GenuineIntel,6,158,10");
    struct pb_feature feature[] = {{ASSAY_PERF_FEAT_HOSTNAME, cpuid.p, cpuid.n},
                                   {ASSAY_PERF_FEAT_CPUID, cpuid.p, cpuid.n},
                                   {ASSAY_PERF_FEAT_VIRTUAL, "virtual=1\n", 10}};
    struct opened o = open_with(&data, feature, 3, false);
    unsigned family, model, stepping;
    assay_pt_recording_cpu(o.rec, &family, &model, &stepping);
    assert_int_equal(family, 6);
    assert_int_equal(model, 158);
    assert_int_equal(stepping, 10);
    assert_string_equal(assay_pt_recording_virtual(o.rec), "virtual=1\n");
    assert_int_equal(assay_pt_recording_info(o.rec)->config, 0x401);
    close_opened(&o, &data);
    free(cpuid.p);
    struct pb none = {0};
    pb_pt_info(&none);
    o = open_data(&none);
    assay_pt_recording_cpu(o.rec, &family, &model, &stepping);
    assert_int_equal(family | model | stepping, 0);
    assert_null(assay_pt_recording_virtual(o.rec));
    close_opened(&o, &none);
}

/* ---- address spaces ---- */

static uint8_t byte_at(const struct opened *o, uint32_t pid, uint64_t time, uint64_t ip)
{
    struct assay_view *v;
    struct assay_code code;
    uint64_t low, high;
    assert_int_equal(assay_view_new(assay_pt_recording_image(o->rec), pid, &v), ASSAY_OK);
    assay_view_advance(v, time, &low, &high);
    uint8_t byte = assay_view_code(v, ip, &code) == ASSAY_OK ? code.bytes[0] : 0;
    assay_view_free(v);
    return byte;
}

/* A file whose pages are full of A, B, C and D. */
static int four_pages(char *path)
{
    static char pages[4 * 4096];
    for (unsigned i = 0; i < 4; i++)
        memset(pages + i * 4096, 'A' + (int)i, 4096);
    return pb_memory_file(pages, sizeof pages, path);
}

static void address_spaces_by_time(void **state)
{
    (void)state;
    struct pb data = {0};
    char path[32];
    int fd = four_pages(path);
    pb_mmap2(&data, (struct pb_who){5, 5, 0, 0}, 2, CODE, 4096, 0, EXEC, path);
    pb_mmap2(&data, (struct pb_who){5, 5, 0, 300}, 2, CODE, 4096, 8192, EXEC, path); /* told before: */
    pb_mmap2(&data, (struct pb_who){5, 5, 0, 100}, 2, CODE, 4096, 4096, EXEC, path);
    pb_mmap2(&data, (struct pb_who){5, 5, 0, 150}, 2, CODE + 4096, 4096, 0, 1, path); /* not code */
    pb_mmap2(&data, (struct pb_who){5, 5, 0, 160}, 4, CODE, 4096, 12288, EXEC, path); /* of a guest */
    pb_fork(&data, (struct pb_who){5, 5, 0, 200}, 6, 6, 0);
    pb_fork(&data, (struct pb_who){5, 5, 0, 200}, 8, 8, DATA_MAP); /* made up by perf: no copy */
    pb_fork(&data, (struct pb_who){5, 5, 0, 200}, 5, 9, 0);        /* a thread */
    pb_comm(&data, (struct pb_who){5, 5, 0, 400}, "new", true);
    pb_mmap2(&data, (struct pb_who){5, 5, 0, 410}, 2, CODE + 8192, 4096, 12288, EXEC, path);
    struct opened o = open_data(&data);
    assert_int_equal(byte_at(&o, 5, 50, CODE), 'A');
    assert_int_equal(byte_at(&o, 5, 250, CODE), 'B');
    assert_int_equal(byte_at(&o, 5, 350, CODE), 'C');
    assert_int_equal(byte_at(&o, 5, 420, CODE), 0);
    assert_int_equal(byte_at(&o, 5, 420, CODE + 8192), 'D');
    assert_int_equal(byte_at(&o, 5, 250, CODE + 4096), 0);
    assert_int_equal(byte_at(&o, 6, 500, CODE), 'B');
    assert_int_equal(byte_at(&o, 8, 500, CODE), 0);
    close_opened(&o, &data);
    close(fd);
}

/* MMAP of old kernels has no protection: what is not marked as data is code. */
static void maps_of_the_first_kind(void **state)
{
    (void)state;
    struct pb data = {0};
    char path[32];
    int fd = four_pages(path);
    for (unsigned i = 0; i < 2; i++) {
        size_t r = pb_begin(&data, 1, i ? DATA_MAP | 2 : 2);
        pb_u32(&data, 5);
        pb_u32(&data, 5);
        pb_u64(&data, CODE + i * 4096);
        pb_u64(&data, 4096);
        pb_u64(&data, 4096);
        pb_text(&data, path);
        pb_finish(&data, r, (struct pb_who){5, 5, 0, 0});
    }
    struct opened o = open_data(&data);
    assert_int_equal(byte_at(&o, 5, 1, CODE), 'B');
    assert_int_equal(byte_at(&o, 5, 1, CODE + 4096), 0);
    close_opened(&o, &data);
    close(fd);
}

/* A build id that the header keeps apart is that of the map: this program has another. */
static void build_ids_of_the_header(void **state)
{
    (void)state;
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    for (int form = 0; form < 6; form++) {
        struct pb data = {.big = form & 1}, list = {.big = form & 1};
        bool as_record = form / 2 == 2, pipe = form / 2 != 0;
        struct pb *to = as_record ? &data : &list;
        pb_mmap2(&data, (struct pb_who){5, 5, 0, 0}, 2, CODE, 4096, 0, EXEC, self);
        size_t r = pb_begin(to, 67, 2);
        pb_u32(to, NOBODY);
        pb_bytes(to, "01234567890123456789\0\0\0", 24);
        pb_text(to, self);
        pb_end(to, r);
        struct pb_feature feature[] = {{ASSAY_PERF_FEAT_BUILD_ID, list.p, list.n},
                                       {ASSAY_PERF_FEAT_HOSTNAME, "\0\0\0", 4}};
        struct opened o = open_with(&data, feature, as_record ? 0 : 2, pipe);
        assert_int_equal(byte_at(&o, 5, 1, CODE), 0);
        const char *problem = assay_image_problem(assay_pt_recording_image(o.rec), 0);
        assert_non_null(problem);
        assert_non_null(strstr(problem, "build id"));
        close_opened(&o, &data);
        free(list.p);
    }
}

static void embedded_jitdump(void **state)
{
    (void)state;
    struct pb data = {0}, jit = {0};
    pb_pt_info(&data);
    pb_u32(&jit, 0x4a695444);
    pb_u32(&jit, 1);
    pb_u32(&jit, 40);
    pb_u32(&jit, 62);
    pb_zeros(&jit, 24);
    pb_u32(&jit, 0); /* JIT_CODE_LOAD */
    pb_u32(&jit, 16 + 40 + 5 + 3);
    pb_u64(&jit, 100);
    pb_u32(&jit, 5);
    pb_u32(&jit, 5);
    pb_u64(&jit, CODE);
    pb_u64(&jit, CODE);
    pb_u64(&jit, 3);
    pb_u64(&jit, 1);
    pb_bytes(&jit, "name\0JIT", 8);
    struct pb_feature feature[] = {{ASSAY_PERF_FEAT_HOSTNAME, "\0\0\0", 4}, {ASSAY_PERF_FEAT_JITDUMP, jit.p, jit.n}};
    struct opened o = open_with(&data, feature, 2, false);
    assert_int_equal(byte_at(&o, 5, 200, CODE), 'J');
    close_opened(&o, &data);
    free(jit.p);
}

/* ---- flow ---- */

/* je +0; jmp *rax: two instructions a round. The second has two NOPs in front: four. */
static const char code_a[] = "\x74\x00\xff\xe0", code_b[] = "\x90\x90\x74\x00\xff\xe0";

static void put_psb(struct pb *t, uint64_t tsc)
{
    for (int i = 0; i < 8; i++)
        pb_bytes(t, "\x02\x82", 2);
    pb_bytes(t, "\x19", 1);
    pb_num(t, tsc, 7);
    pb_bytes(t, "\x02\x23", 2);
}

static void put_tsc(struct pb *t, uint64_t tsc)
{
    pb_bytes(t, "\x19", 1);
    pb_num(t, tsc, 7);
}

/* TIP.PGE to the code, TNT taken, TIP.PGD: the code once. */
static void put_round(struct pb *t)
{
    pb_bytes(t, "\xd1", 1);
    pb_u64(t, CODE);
    pb_bytes(t, "\x06\x01", 2);
}

static void pad(struct pb *t, size_t multiple) { pb_zeros(t, (multiple - t->n % multiple) % multiple); }

struct heard {
    struct assay_flow_digest digest;
    uint64_t task[8], insns_at_task[8], gap[8];
    const char *what[8];
    unsigned tasks, gaps;
    int answer;
};

static void hear_event(struct heard *h, const struct assay_flow_event *e)
{
    if (e->type == ASSAY_FLOW_TASK && h->tasks < 8) {
        h->insns_at_task[h->tasks] = h->digest.insns;
        h->task[h->tasks++] = e->value;
    }
    if (e->type == ASSAY_FLOW_GAP && h->gaps < 8) {
        h->what[h->gaps] = e->what;
        h->gap[h->gaps++] = e->value;
    }
}

/* Item by item, so that the instructions before an event are known. */
static int hear(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    struct heard *h = ctx;
    for (size_t i = 0; i < b->items_n; i++) {
        struct assay_flow_batch one = {b->items + i, 1, b->events, b->events_n};
        assay_flow_digest_add(&h->digest, f, &one);
        if (ASSAY_FLOW_IS_EVENT(b->items[i]))
            hear_event(h, &b->events[ASSAY_FLOW_INDEX(b->items[i])]);
    }
    return h->answer;
}

static struct heard flow_of(const struct opened *o, size_t n, uint64_t skipped)
{
    struct heard h = {0};
    struct assay_ledger l;
    struct assay_error e;
    assert_int_equal(assay_pt_recording_flow(o->rec, stream(o, n), hear, &h, &l, &e), ASSAY_OK);
    assert_true(assay_ledger_closes(&l));
    assert_int_equal(assay_ledger_skipped(&l), skipped);
    return h;
}

/* Two processes with different code at one address take turns on a cpu: the code that runs is that of the task. The first
 * then becomes another program, the code of the second. */
static void tasks_and_execs_choose_the_code(void **state)
{
    (void)state;
    struct pb data = {0}, t = {0};
    char a[32], b[32];
    int fds[] = {pb_memory_file(code_a, 4, a), pb_memory_file(code_b, 6, b)};
    put_psb(&t, 100);
    put_round(&t); /* 1: 2 instructions */
    put_tsc(&t, 1000);
    put_round(&t); /* 2: 4 */
    put_round(&t); /* 2: 4 */
    put_tsc(&t, 2000);
    put_round(&t); /* 1: 2 */
    put_tsc(&t, 3000);
    put_round(&t); /* 1, another program: 4 */
    pad(&t, 8);
    pb_pt_info(&data);
    pb_mmap2(&data, (struct pb_who){1, 1, 0, 0}, 2, CODE, 4, 0, EXEC, a);
    pb_mmap2(&data, (struct pb_who){2, 2, 0, 0}, 2, CODE, 6, 0, EXEC, b);
    pb_comm(&data, (struct pb_who){1, 1, 0, 2500}, "new", true);
    pb_mmap2(&data, (struct pb_who){1, 1, 0, 2600}, 2, CODE, 6, 0, EXEC, b);
    pb_itrace_start(&data, (struct pb_who){1, 1, 0, 50});
    pb_switch_wide(&data, (struct pb_who){1, 1, 0, 900}, true, 2, 3);
    pb_switch_wide(&data, (struct pb_who){2, 3, 0, 1900}, true, 1, 1);
    pb_auxtrace(&data, 0, 0, NOBODY, 0, t.p, t.n);
    struct opened o = open_data(&data);
    struct heard h = flow_of(&o, 0, 0);
    assert_int_equal(h.gaps, 0);
    assert_int_equal(h.digest.insns, 2 + 4 + 4 + 2 + 4);
    assert_int_equal(h.tasks, 3);
    static const uint64_t task[] = {1ull << 32 | 1, 2ull << 32 | 3, 1ull << 32 | 1}, insns[] = {0, 2, 10};
    for (int i = 0; i < 3; i++) {
        assert_true(h.task[i] == task[i]);
        assert_int_equal(h.insns_at_task[i], insns[i]);
    }
    close_opened(&o, &data);
    free(t.p);
    close(fds[0]);
    close(fds[1]);
}

/* A trace without times: all that happened to the address space has happened. */
static void a_trace_without_times(void **state)
{
    (void)state;
    struct pb data = {0}, t = {0};
    char a[32], b[32];
    int fds[] = {pb_memory_file(code_a, 4, a), pb_memory_file(code_b, 6, b)};
    put_psb(&t, 100);
    put_round(&t);
    pad(&t, 8);
    pb_pt_info(&data);
    pb_store(&data, data.p + 16 + 5 * 8, 0x800, 8); /* the event's config has no such TSC bit */
    pb_mmap2(&data, (struct pb_who){1, 1, 0, 10}, 2, CODE, 4, 0, EXEC, a);
    pb_mmap2(&data, (struct pb_who){1, 1, 0, 2600}, 2, CODE, 6, 0, EXEC, b);
    pb_auxtrace(&data, 0, NOBODY, 1, 0, t.p, t.n);
    struct opened o = open_data(&data);
    assert_int_equal(flow_of(&o, 0, 0).digest.insns, 4);
    close_opened(&o, &data);
    free(t.p);
    close(fds[0]);
    close(fds[1]);
}

/* Many rounds over several windows, in pieces of sizes that cut packets, with the repetition of a snapshot and data that the
 * kernel lost or perf did not write: each is a gap, decoding goes on at the next PSB. */
static void windows_pieces_and_losses(void **state)
{
    (void)state;
    enum { ROUNDS = 60000, PERIOD = 100, LOST_FROM = 30001, LOST_BYTES = 1000 };
    struct pb data = {0}, t = {0};
    char a[32];
    int fd = pb_memory_file(code_a, 4, a);
    uint64_t full = 0, rounds = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % PERIOD == 0)
            put_psb(&t, 100 + i);
        if (i == 10 * PERIOD + 50)
            full = t.n; /* up to here: 1050 rounds, then 50 lost ones to the next PSB */
        for (int k = 0; k < 10; k++)
            put_round(&t);
    }
    uint64_t hole = t.n / 2 / 8 * 8, first = 0x12345;
    rounds = (uint64_t)ROUNDS * 10;
    pb_pt_info(&data);
    pb_mmap2(&data, (struct pb_who){1, 1, 0, 0}, 2, CODE, 4, 0, EXEC, a);
    pb_aux(&data, (struct pb_who){1, 1, 0, 9}, 0, full, 1);
    uint8_t padded[0x12345 + 3] = {0}; /* the first piece, padded to 8 as perf does */
    memcpy(padded, t.p, first);
    pb_auxtrace(&data, 0, NOBODY, 1, 0, padded, sizeof padded);
    pb_auxtrace(&data, 0, NOBODY, 1, first - 1000, t.p + first - 1000, hole - first + 1000); /* 1000 bytes again */
    pb_auxtrace(&data, 0, NOBODY, 1, hole + LOST_BYTES, t.p + hole + LOST_BYTES, t.n - hole - LOST_BYTES);
    struct opened o = open_data(&data);
    const struct assay_pt_stream *s = stream(&o, 0);
    assert_int_equal(s->size, t.n - LOST_BYTES);
    assert_true(s->size > 2 * (2 << 20));
    struct heard h = {0};
    struct assay_ledger l;
    assert_int_equal(assay_pt_recording_flow(o.rec, s, hear, &h, &l, NULL), ASSAY_OK);
    assert_true(assay_ledger_closes(&l));
    uint64_t again = 1000 + 3 - 7; /* the last 7 bytes may be padding, and are read from the second piece */
    assert_int_equal(l.in, s->size + again);
    assert_int_equal(l.skipped[ASSAY_SKIP_OVERLAP], again);
    assert_int_equal(h.gaps, 2);
    assert_string_equal(h.what[0], "the AUX buffer was full");
    assert_true(h.gap[1] >= LOST_BYTES);
    uint64_t period_rounds = PERIOD * 10;
    assert_true(h.digest.insns < rounds * 2 && h.digest.insns >= (rounds - 3 * period_rounds) * 2);
    assert_int_equal(h.digest.insns % 2, 0);
    close_opened(&o, &data);
    free(t.p);
    close(fd);
}

static void the_callback_stops_the_decode(void **state)
{
    (void)state;
    struct pb data = {0}, t = {0};
    char a[32];
    int fd = pb_memory_file(code_a, 4, a);
    put_psb(&t, 100);
    put_round(&t);
    pad(&t, 8);
    pb_pt_info(&data);
    pb_mmap2(&data, (struct pb_who){1, 1, 0, 0}, 2, CODE, 4, 0, EXEC, a);
    pb_auxtrace(&data, 0, NOBODY, 1, 0, t.p, t.n);
    struct opened o = open_data(&data);
    struct heard h = {.answer = 42};
    struct assay_ledger l;
    assert_int_equal(assay_pt_recording_flow(o.rec, stream(&o, 0), hear, &h, &l, NULL), 42);
    close_opened(&o, &data);
    free(t.p);
    close(fd);
}

/* ---- raw traces ---- */

static void a_raw_trace(void **state)
{
    (void)state;
    struct pb t = {0};
    char code[32], trace[32], bytes[100] = {0};
    memcpy(bytes + 50, code_b, 6);
    put_psb(&t, 100);
    put_round(&t);
    int fds[] = {pb_memory_file(bytes, sizeof bytes, code), pb_memory_file(t.p, t.n, trace)};
    struct assay_raw_image image = {code, CODE, 50, 0};
    struct assay_raw_options options = {.image = &image, .images = 1, .family = 6, .model = 158, .stepping = 10};
    struct opened o = {.fd = -1};
    struct assay_error e;
    assert_int_equal(assay_pt_recording_open_raw(trace, &options, &o.rec, &e), ASSAY_OK);
    assert_null(assay_pt_recording_file(o.rec));
    assert_int_equal(stream(&o, 0)->size, t.n);
    task_is(stream(&o, 0), 0, 0, 0, 0);
    unsigned family, model, stepping;
    assay_pt_recording_cpu(o.rec, &family, &model, &stepping);
    assert_int_equal(model, 158);
    assert_int_equal(flow_of(&o, 0, 0).digest.insns, 4);
    assay_pt_recording_close(o.rec);

    image.offset = 100;
    assert_int_equal(assay_pt_recording_open_raw(trace, &options, &o.rec, &e), ASSAY_E_ARGUMENT);
    image = (struct assay_raw_image){code, CODE, 50, 51};
    assert_int_equal(assay_pt_recording_open_raw(trace, &options, &o.rec, &e), ASSAY_E_ARGUMENT);
    image = (struct assay_raw_image){"/nonexistent", CODE, 0, 0};
    assert_int_equal(assay_pt_recording_open_raw(trace, &options, &o.rec, &e), ASSAY_E_SYSTEM);
    assert_non_null(strstr(e.text, "/nonexistent"));
    assert_int_equal(assay_pt_recording_open_raw("/nonexistent", &options, &o.rec, &e), ASSAY_E_SYSTEM);
    close(fds[0]);
    close(fds[1]);
    free(t.p);
}

/* ---- damage ---- */

static int ignore(void *ctx, struct assay_flow *f, const struct assay_flow_batch *b)
{
    (void)ctx;
    (void)f;
    (void)b;
    return 0;
}

static void survives(const uint8_t *p, size_t n)
{
    char path[32];
    struct assay_pt_recording *rec;
    int fd = pb_memory_file(p, n, path);
    if (assay_pt_recording_open(path, &rec, NULL) == ASSAY_OK) {
        for (size_t i = 0; i < assay_pt_recording_streams(rec); i++) {
            struct assay_ledger l;
            assay_pt_recording_flow(rec, assay_pt_recording_stream(rec, i), ignore, NULL, &l, NULL);
            assert_true(assay_ledger_closes(&l));
        }
        assay_pt_recording_close(rec);
    }
    close(fd);
}

static void truncated_and_flipped(void **state)
{
    (void)state;
    struct pb data = {0}, t = {0};
    char a[32];
    int fd = pb_memory_file(code_a, 4, a);
    put_psb(&t, 100);
    put_round(&t);
    put_tsc(&t, 1000);
    put_round(&t);
    pad(&t, 8);
    pb_pt_info(&data);
    pb_mmap2(&data, (struct pb_who){1, 1, 0, 0}, 2, CODE, 4, 0, EXEC, a);
    pb_fork(&data, (struct pb_who){1, 1, 0, 20}, 2, 2, 0);
    pb_comm(&data, (struct pb_who){2, 2, 0, 30}, "new", true);
    pb_switch_wide(&data, (struct pb_who){1, 1, 0, 900}, true, 2, 2);
    pb_auxtrace(&data, 0, 0, NOBODY, 0, t.p, t.n);
    pb_aux(&data, (struct pb_who){1, 1, 0, 2000}, 0, t.n, 1);
    pb_auxtrace(&data, 0, 0, NOBODY, t.n, t.p, t.n);
    struct pb_file file = {false, &pb_pt_attr, 1, NULL, 0, &data};
    struct pb b = pb_make_pipe(&file);
    for (size_t n = 1; n < b.n; n++)
        survives(b.p, n);
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        survives(b.p, b.n);
        b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(b.p);
    free(data.p);
    free(t.p);
    close(fd);
}

/* ---- real recordings ---- */

/* Sizes and threads as perf script -D prints them; every byte of both streams is in the ledger. */
static void the_real_file(void **state)
{
    (void)state;
    char path[4096];
    const char *shared = getenv("ASSAY_SHARED");
    snprintf(path, sizeof path, "%s/data/pt/quipper/perf.data.intel_pt-4.14", shared ? shared : "");
    if (!shared || access(path, R_OK) < 0) {
        print_message("no sample data (ASSAY_SHARED), skipped\n");
        skip();
    }
    struct opened o = {.fd = -1};
    struct assay_error e;
    assert_int_equal(assay_pt_recording_open(path, &o.rec, &e), ASSAY_OK);
    assert_int_equal(assay_pt_recording_streams(o.rec), 2);
    static const struct {
        uint32_t idx, cpu;
        uint64_t size, reference;
    } want[] = {{0, 0, 0x2fd0, 0xbc4cd519a6}, {3, 3, 0x21a00, 0xbc4cd584c2}};
    for (size_t i = 0; i < 2; i++) {
        const struct assay_pt_stream *s = stream(&o, i);
        assert_int_equal(s->idx, want[i].idx);
        assert_int_equal(s->cpu, want[i].cpu);
        assert_int_equal(s->tid, 3174);
        assert_int_equal(s->size, want[i].size);
        assert_int_equal(s->extent->reference, want[i].reference);
        assert_int_equal(s->losts, 0);
        for (size_t k = 1; k < s->tasks; k++)
            assert_true(s->task[k].time >= s->task[k - 1].time);
        struct assay_ledger l;
        assert_int_equal(assay_pt_recording_flow(o.rec, s, ignore, NULL, &l, &e), ASSAY_OK);
        assert_true(assay_ledger_closes(&l));
        assert_int_equal(l.in, s->size);
    }
    assert_string_equal(assay_pt_recording_comm(o.rec, 3174, 641256847597), "perf");
    assert_string_equal(assay_pt_recording_comm(o.rec, 3174, 641256847598), "echo");
    assay_pt_recording_close(o.rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_become_streams),
        cmocka_unit_test(a_recording_of_other_hardware_has_no_streams),
        cmocka_unit_test(tasks_of_cpus_by_time),
        cmocka_unit_test(tasks_of_threads),
        cmocka_unit_test(no_task_is_known),
        cmocka_unit_test(the_id_index_tells_the_cpu),
        cmocka_unit_test(losses_go_to_their_stream),
        cmocka_unit_test(names_of_threads_over_time),
        cmocka_unit_test(what_the_header_says),
        cmocka_unit_test(address_spaces_by_time),
        cmocka_unit_test(maps_of_the_first_kind),
        cmocka_unit_test(build_ids_of_the_header),
        cmocka_unit_test(embedded_jitdump),
        cmocka_unit_test(tasks_and_execs_choose_the_code),
        cmocka_unit_test(a_trace_without_times),
        cmocka_unit_test(windows_pieces_and_losses),
        cmocka_unit_test(the_callback_stops_the_decode),
        cmocka_unit_test(a_raw_trace),
        cmocka_unit_test(truncated_and_flipped),
        cmocka_unit_test(the_real_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
