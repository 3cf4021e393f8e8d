/* SPDX-License-Identifier: MIT */
/* What recording consists of besides running: the terms of intel_pt, and a perf.data written and read back. */
#include <assay/perfwrite.h>
#include <assay/record.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t parse(uint64_t config, const char *terms)
{
    struct assay_error e;
    assert_int_equal(assay_record_pt_parse(terms, &config, &e), ASSAY_OK);
    return config;
}

/* Bits from /sys/bus/event_source/devices/intel_pt/format: facts of the kernel. */
static void terms_are_the_kernels_bits(void **state)
{
    (void)state;
    assert_int_equal(parse(0, "pt,branch,tsc,mtc,mtc_period=3,psb_period=3"), 0x300e601);
    assert_int_equal(assay_record_pt_default(), 0x300e603);
    assert_int_equal(parse(0x300e603, "cyc=0"), 0x300e601);
    assert_int_equal(parse(0, "noretcomp,cyc_thresh=15,psb_period=0xf,,"), 0xf780800);
    char text[128];
    assay_record_pt_print(0x300e601, text, sizeof text);
    assert_string_equal(text, "pt,mtc,tsc,branch,mtc_period=3,psb_period=3");
}

static void bad_terms_are_located(void **state)
{
    (void)state;
    struct assay_error e;
    uint64_t config = 7;
    assert_int_equal(assay_record_pt_parse("cyc,mtc_peroid=3", &config, &e), ASSAY_E_ARGUMENT);
    assert_int_equal(e.offset, 4);
    assert_non_null(strstr(e.text, "nearest: mtc_period"));
    static const char *const bad[] = {
        "cyc_thresh=16", "cyc=2", "cyc=", "cyc=-1", "cyc=1x", "a-term-that-is-much-longer-than-any"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(assay_record_pt_parse(bad[i], &config, &e), ASSAY_E_ARGUMENT);
}

struct place {
    char folder[32], data[64], trace[64];
};

static int set_up(void **state)
{
    static struct place p;
    strcpy(p.folder, "/tmp/assay-test.XXXXXX");
    if (!mkdtemp(p.folder))
        return -1;
    snprintf(p.data, sizeof p.data, "%s/t.data", p.folder);
    snprintf(p.trace, sizeof p.trace, "%s/trace", p.folder);
    *state = &p;
    return 0;
}

static int tear_down(void **state)
{
    const struct place *p = *state;
    unlink(p->data);
    unlink(p->trace);
    return rmdir(p->folder); /* fails when something was left behind */
}

static const struct assay_perf_pt_info info = {
    .pmu_type = 8,
    .time_shift = 31,
    .time_mult = 894784853, /* 2.4 GHz */
    .cap_user_time_zero = 1,
    .tsc_bit = 0x400,
    .noretcomp_bit = 0x800,
    .mtc_bit = 0x200,
    .mtc_freq_bits = 0x3c000,
    .tsc_ctc_n = 100,
    .tsc_ctc_d = 1,
    .cyc_bit = 2,
    .max_nonturbo_ratio = 24,
    .config = 0x300e603,
    .exclude_kernel = true,
};
static const struct assay_perfwrite_who who = {100, 101, 5000};

static void write_all(struct assay_perfwrite *w, const struct place *p, size_t trace_size)
{
    static const uint8_t id[20] = {1, 2, 3, 4};
    int fd = open(p->trace, O_RDWR | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, (off_t)(100 + trace_size)), 0);
    assert_int_equal(pwrite(fd, "\x02\x82", 2, 100), 2);
    assay_perfwrite_begin(w, &info);
    assay_perfwrite_comm(w, who, "prog", true);
    assay_perfwrite_mmap(w, who,
                         &(struct assay_perfwrite_mmap){0x1000, 0x2000, 0x3000, 7, 8, 9, "/bin/prog", id, sizeof id});
    assay_perfwrite_mmap(w, who, &(struct assay_perfwrite_mmap){0x5000, 0x2000, 0, 7, 8, 9, "/bin/other", NULL, 0});
    assay_perfwrite_fork(w, who, 50, 51);
    assay_perfwrite_itrace_start(w, who);
    assay_perfwrite_aux(w, who, 0, trace_size, 1);
    assay_perfwrite_auxtrace(w, 3, 101, 0x123456789, fd, 100, trace_size);
    assay_perfwrite_exit(w, who);
    assay_perfwrite_finished_round(w);
    assay_perfwrite_feature_string(w, ASSAY_PERF_FEAT_CPUID, "GenuineIntel,6,158,10");
    assay_perfwrite_feature(w, ASSAY_PERF_FEAT_VIRTUAL, "virtual=1\n", 10);
    assay_perfwrite_code(w, who, 0x7000, (const uint8_t *)"\x90\xc3", 2, 64);
    close(fd);
}

static struct assay_perf_record next_of(struct assay_perf *f, uint32_t type)
{
    struct assay_perf_record r;
    do
        assert_int_equal(assay_perf_next(f, &r), 1);
    while (r.type != type);
    return r;
}

static void check_records(struct assay_perf *f)
{
    struct assay_perf_record r = next_of(f, ASSAY_PERF_TIME_CONV);
    assert_int_equal(r.time_conv.mult, 894784853);
    r = next_of(f, ASSAY_PERF_COMM);
    assert_true(r.comm.exec && r.has_time && r.time == 5000);
    assert_string_equal(r.comm.comm, "prog");
    r = next_of(f, ASSAY_PERF_MMAP2);
    assert_true(r.mmap.addr == 0x1000 && r.mmap.len == 0x2000 && r.mmap.pgoff == 0x3000 && r.mmap.pid == 100);
    assert_string_equal(r.mmap.filename, "/bin/prog");
    assert_int_equal(r.mmap.build_id_size, 20);
    r = next_of(f, ASSAY_PERF_MMAP2);
    assert_int_equal(r.mmap.build_id_size, 0);
    r = next_of(f, ASSAY_PERF_FORK);
    assert_true(r.task.pid == 100 && r.task.ppid == 50 && r.task.tid == 101 && r.task.ptid == 51 &&
                r.task.time == 5000);
    r = next_of(f, ASSAY_PERF_ITRACE_START);
    assert_int_equal(r.itrace_start.tid, 101);
    r = next_of(f, ASSAY_PERF_AUX);
    assert_int_equal(r.aux.flags, 1);
}

/* The writer and the reader share no code; perf reads the same files in the peer tests. */
static void what_is_written_is_read(void **state)
{
    const struct place *p = *state;
    enum { SIZE = (33 << 20) + 5 }; /* one record, padded: perf does not join a packet that two records share */
    struct assay_perfwrite *w;
    struct assay_perf *f;
    struct assay_error e;
    size_t size;
    uint8_t byte[2];
    assert_int_equal(assay_perfwrite_open(p->data, false, &w, &e), ASSAY_OK);
    write_all(w, p, SIZE);
    assert_int_equal(access(p->data, F_OK), -1); /* the name comes last */
    assert_int_equal(assay_perfwrite_finish(w, &e), ASSAY_OK);
    assay_perfwrite_free(w);
    assert_int_equal(assay_perf_open(p->data, &f, &e), ASSAY_OK);
    check_records(f);
    struct assay_perf_record r = next_of(f, ASSAY_PERF_AUXTRACE);
    assert_true(r.auxtrace.size == (33 << 20) + 8 && r.auxtrace.offset == 0 && r.auxtrace.idx == 3);
    assert_true(r.auxtrace.tid == 101 && r.auxtrace.cpu == UINT32_MAX && r.auxtrace.reference == 0x123456789);
    assert_int_equal(assay_perf_read(f, r.auxtrace.data, byte, 2), 2);
    assert_true(byte[0] == 0x02 && byte[1] == 0x82);
    assert_int_equal(assay_perf_next(f, &r), 1);
    assert_int_equal(r.type, ASSAY_PERF_EXIT);
    assert_int_equal(assay_perf_pt(f)->config, 0x300e603);
    assert_int_equal(assay_perf_pt(f)->max_nonturbo_ratio, 24);
    assert_string_equal(assay_perf_feature_string(f, ASSAY_PERF_FEAT_CPUID), "GenuineIntel,6,158,10");
    assert_memory_equal(assay_perf_feature(f, ASSAY_PERF_FEAT_VIRTUAL, &size), "virtual=1\n", 10);
    assert_int_equal(size, 10);
    assert_non_null(assay_perf_feature(f, ASSAY_PERF_FEAT_JITDUMP, &size));
    assert_int_equal(size, 40 + 56 + 1 + 2);
    assay_perf_close(f);
}

static void nothing_is_lost_that_was_there(void **state)
{
    const struct place *p = *state;
    struct assay_perfwrite *w;
    struct assay_error e;
    char text[8] = "";
    int fd = open(p->data, O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(fd, "keep", 4), 4);
    assert_int_equal(assay_perfwrite_open(p->data, false, &w, &e), ASSAY_E_EXISTS);
    assert_int_equal(assay_perfwrite_open(p->data, true, &w, &e), ASSAY_OK);
    write_all(w, p, 100);
    assay_perfwrite_free(w); /* without finish */
    assert_int_equal(pread(fd, text, sizeof text, 0), 4);
    assert_string_equal(text, "keep");
    close(fd);
}

static void a_name_taken_meanwhile_is_respected(void **state)
{
    const struct place *p = *state;
    struct assay_perfwrite *w;
    struct assay_error e;
    assert_int_equal(assay_perfwrite_open(p->data, false, &w, &e), ASSAY_OK);
    write_all(w, p, 100);
    int fd = open(p->data, O_RDWR | O_CREAT, 0600);
    assert_int_equal(assay_perfwrite_finish(w, &e), ASSAY_E_EXISTS);
    assay_perfwrite_free(w);
    assert_int_equal(lseek(fd, 0, SEEK_END), 0);
    close(fd);
}

static void a_full_disk_is_told(void **state)
{
    const struct place *p = *state;
    struct assay_perfwrite *w;
    struct assay_error e;
    if (assay_perfwrite_open("/dev/full", false, &w, &e) != ASSAY_OK)
        skip();
    write_all(w, p, 100);
    assert_int_equal(assay_perfwrite_finish(w, &e), ASSAY_E_SYSTEM);
    assert_non_null(strstr(e.text, "/dev/full"));
    assay_perfwrite_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_the_kernels_bits),
        cmocka_unit_test(bad_terms_are_located),
        cmocka_unit_test_setup_teardown(what_is_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_lost_that_was_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_taken_meanwhile_is_respected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
