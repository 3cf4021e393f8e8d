/* SPDX-License-Identifier: MIT */
/* The perf.data reader on real recordings: records as `perf report --stats` counts them, the same trace from every form. */
#include <assay/perfdata.h>

#include "../perf_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const char file_form[] = "pt/quipper/perf.data.intel_pt-4.14";
static const char pipe_form[] = "pt/quipper/perf.data.piped.intel_pt-4.14";
static const char load_latency[] = "ds/skx-load-latency.perf.data";

/* The path of a shared sample; skips the test when it is not there. */
static const char *sample(const char *name)
{
    static char path[4096];
    const char *shared = getenv("ASSAY_SHARED");
    snprintf(path, sizeof path, "%s/data/%s", shared ? shared : "", name);
    if (!shared || access(path, R_OK) < 0) {
        print_message("no sample data (ASSAY_SHARED), skipped\n");
        skip();
    }
    return path;
}

static struct assay_perf *open_path(const char *path)
{
    struct assay_perf *f;
    struct assay_error e;
    if (assay_perf_open(path, &f, &e) != ASSAY_OK)
        fail_msg("%s", e.text);
    return f;
}

/* Reads all records without a fault; every byte is decoded. */
static struct assay_perf *read_all(const char *path)
{
    struct assay_perf *f = open_path(path);
    struct assay_perf_record r;
    int rc;
    while ((rc = assay_perf_next(f, &r)) > 0)
        ;
    assert_int_equal(rc, 0);
    const struct assay_ledger *l = assay_perf_ledger(f);
    assert_true(assay_ledger_closes(l));
    assert_int_equal(l->decoded, l->in);
    return f;
}

struct perf_name {
    const char *name;
    uint32_t type;
};
static const struct perf_name perf_names[] = {
    {"MMAP", 1},
    {"LOST", 2},
    {"COMM", 3},
    {"EXIT", 4},
    {"FORK", 7},
    {"SAMPLE", 9},
    {"MMAP2", 10},
    {"AUX", 11},
    {"ITRACE_START", 12},
    {"SWITCH_CPU_WIDE", 15},
    {"FINISHED_ROUND", 68},
    {"ID_INDEX", 69},
    {"AUXTRACE_INFO", 70},
    {"AUXTRACE", 71},
    {"THREAD_MAP", 73},
    {"CPU_MAP", 74},
    {"EVENT_UPDATE", 78},
    {"TIME_CONV", 79},
    {"COMPRESSED", 81},
    {"FINISHED_INIT", 82},
    {"KSYMBOL", 17},
    {"BPF_EVENT", 18},
    {"CGROUP", 19},
};

static uint32_t type_of(const char *name)
{
    for (size_t i = 0; i < sizeof perf_names / sizeof *perf_names; i++)
        if (strcmp(perf_names[i].name, name) == 0)
            return perf_names[i].type;
    fail_msg("perf names a record %s", name);
    return 0;
}

/* Compares counts with perf's own, line by line: "   MMAP events:   56  (21.8%)". The second list, of samples by event, begins
 * after "Aggregated" is over and repeats SAMPLE: only the first line of a type counts. */
static void counts_are_those_of_perf(const char *path)
{
    char command[4300], line[512], name[64];
    snprintf(command, sizeof command, "perf report -D --stats -i '%s' 2>/dev/null", path);
    struct assay_perf *f = read_all(path);
    FILE *p = popen(command, "r");
    unsigned long long n, total = 0;
    unsigned compared = 0;
    bool seen[128] = {false};
    while (fgets(line, sizeof line, p)) {
        if (sscanf(line, " TOTAL events: %llu", &n) == 1) {
            total = n;
        } else if (total && sscanf(line, " %63[A-Z0-9_] events: %llu", name, &n) == 2 && !seen[type_of(name)]) {
            seen[type_of(name)] = true;
            assert_int_equal(assay_perf_count(f, type_of(name)), n);
            compared++;
        }
    }
    assay_perf_close(f);
    pclose(p);
    if (!compared) {
        print_message("no perf here, skipped\n");
        skip();
    }
    assert_true(compared > 5);
}

static void file_form_as_perf_counts(void **state)
{
    (void)state;
    counts_are_those_of_perf(sample(file_form));
}

static void load_latency_as_perf_counts(void **state)
{
    (void)state;
    counts_are_those_of_perf(sample(load_latency));
}

/* A recording of this machine's perf, compressed. */
static void compressed_as_perf_counts(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-test-XXXXXX", command[200];
    int fd = mkstemp(path);
    snprintf(command, sizeof command,
             "perf record -z -F 20000 -e cpu-clock -o %s -- ls -lR /usr/share/doc >/dev/null 2>&1", path);
    int status = system(command);
    if (status == 0)
        counts_are_those_of_perf(path);
    close(fd);
    unlink(path);
    if (status != 0) {
        print_message("perf cannot record here, skipped\n");
        skip();
    }
}

/* What `perf report --header-only` and `perf script -D` of perf 6.1 say of the file. */
static void what_perf_says_of_the_file_form(void **state)
{
    (void)state;
    struct assay_perf *f = read_all(sample(file_form));
    assert_string_equal(assay_perf_feature_string(f, ASSAY_PERF_FEAT_CPUID), "GenuineIntel,6,78,3");
    assert_string_equal(assay_perf_feature_string(f, ASSAY_PERF_FEAT_HOSTNAME), "localhost");
    assert_int_equal(assay_perf_events(f), 4);
    const struct assay_perf_pt_info *i = assay_perf_pt(f);
    assert_int_equal(i->config, 0x300e601);
    assert_int_equal(i->pmu_type, 6);
    assert_false(i->exclude_kernel);
    assert_int_equal(i->tsc_ctc_n, 100);
    assert_int_equal(i->tsc_ctc_d, 2);
    assert_int_equal(i->max_nonturbo_ratio, 12);
    assay_perf_close(f);
}

/* Records with what perf prints before them: CPU, time, offset. */
static void times_and_cpus_as_perf_prints_them(void **state)
{
    (void)state;
    static const struct {
        uint64_t offset;
        uint32_t type, cpu;
        uint64_t time;
    } want[] = {
        {0x2850, ASSAY_PERF_ITRACE_START, 0, 641257926901}, {0x2940, ASSAY_PERF_AUX, 0, 641258037956},
        {0x2980, ASSAY_PERF_EXIT, 0, 641258039091},         {0x6560, ASSAY_PERF_ITRACE_START, 3, 641256844131},
        {0x6590, ASSAY_PERF_COMM, 3, 641256847598},         {0x66c8, ASSAY_PERF_MMAP2, 3, 641256901179},
        {0x74d8, ASSAY_PERF_AUX, 3, 641257914974},
    };
    struct assay_perf *f = open_path(sample(file_form));
    struct assay_perf_record r;
    size_t at = 0;
    while (assay_perf_next(f, &r) == 1) {
        if (at == sizeof want / sizeof *want || r.offset != want[at].offset)
            continue;
        assert_int_equal(r.type, want[at].type);
        assert_int_equal(r.cpu, want[at].cpu);
        assert_int_equal(r.time, want[at].time);
        assert_int_equal(r.tid, 3174);
        at++;
    }
    assert_int_equal(at, sizeof want / sizeof *want);
    assay_perf_close(f);
}

/* The pipe form of the other sample, which perf 6.1 fails to read ("bad event header size"): 4 events, two streams. */
static void the_piped_sample(void **state)
{
    (void)state;
    struct assay_perf *f = read_all(sample(pipe_form));
    assert_int_equal(assay_perf_events(f), 4);
    assert_int_equal(assay_perf_count(f, ASSAY_PERF_HEADER_ATTR), 4);
    assert_int_equal(assay_perf_count(f, ASSAY_PERF_AUXTRACE), 2);
    assert_int_equal(assay_perf_count(f, ASSAY_PERF_COMM), 3);
    assert_int_equal(assay_perf_count(f, ASSAY_PERF_EXIT), 1);
    assert_string_equal(assay_perf_feature_string(f, ASSAY_PERF_FEAT_CPUID), "GenuineIntel,6,78,3");
    assert_int_equal(assay_perf_pt(f)->config, 0x300e601);
    assay_perf_close(f);
}

/* Makes the pipe form of a file: its events as records, its data section as it is. */
static struct pb piped(const char *path)
{
    struct pb b = {0};
    struct assay_perf *f = open_path(path);
    pb_bytes(&b, "PERFILE2", 8);
    pb_u64(&b, 16);
    uint8_t header[104];
    assert_int_equal(assay_perf_read(f, 0, header, sizeof header), sizeof header);
    uint64_t at[7];
    memcpy(at, header + 16,
           sizeof at); /* attr_size, attrs, data: the samples are of this machine's byte order or skipped */
    for (size_t i = 0; i < assay_perf_events(f); i++) {
        size_t size;
        const uint8_t *attr = assay_perf_event_attr(f, i, &size);
        uint64_t ids[2];
        assay_perf_read(f, at[1] + at[0] * (i + 1) - 16, ids, 16);
        uint8_t *bytes = malloc(ids[1]);
        assay_perf_read(f, ids[0], bytes, ids[1]);
        size_t r = pb_begin(&b, 64, 0);
        pb_bytes(&b, attr, size);
        pb_bytes(&b, bytes, ids[1]);
        pb_end(&b, r);
        free(bytes);
    }
    uint8_t *data = malloc(at[4]);
    assert_int_equal(assay_perf_read(f, at[3], data, at[4]), at[4]);
    pb_bytes(&b, data, at[4]);
    free(data);
    assay_perf_close(f);
    return b;
}

/* The next AUXTRACE of each file: the same bytes. */
static bool same_trace(struct assay_perf *a, struct assay_perf *b)
{
    struct assay_perf_record x, y;
    int more;
    while ((more = assay_perf_next(a, &x)) == 1 && x.type != ASSAY_PERF_AUXTRACE)
        ;
    while (assay_perf_next(b, &y) == 1 && y.type != ASSAY_PERF_AUXTRACE)
        ;
    if (!more)
        return false;
    assert_int_equal(x.auxtrace.idx, y.auxtrace.idx);
    assert_int_equal(x.auxtrace.size, y.auxtrace.size);
    uint8_t *p = malloc(x.auxtrace.size), *q = malloc(x.auxtrace.size);
    assert_int_equal(assay_perf_read(a, x.auxtrace.data, p, x.auxtrace.size), x.auxtrace.size);
    assert_int_equal(assay_perf_read(b, y.auxtrace.data, q, x.auxtrace.size), x.auxtrace.size);
    assert_memory_equal(p, q, x.auxtrace.size);
    free(p);
    free(q);
    return true;
}

static void both_forms_give_the_same_trace(void **state)
{
    (void)state;
    const char *path = sample(file_form);
    if (*(const uint8_t *)&(const uint16_t){1} == 0)
        skip();
    struct pb b = piped(path);
    char piped_path[32];
    int fd = pb_memory_file(b.p, b.n, piped_path);
    struct assay_perf *f = open_path(path), *g = open_path(piped_path);
    unsigned n = 0;
    while (same_trace(f, g))
        n++;
    assert_int_equal(n, 2);
    for (uint32_t type = 1; type < 64; type++)
        assert_int_equal(assay_perf_count(f, type), assay_perf_count(g, type));
    assert_int_equal(assay_perf_pt(f)->config, assay_perf_pt(g)->config);
    assay_perf_close(f);
    assay_perf_close(g);
    close(fd);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_form_as_perf_counts),           cmocka_unit_test(load_latency_as_perf_counts),
        cmocka_unit_test(compressed_as_perf_counts),          cmocka_unit_test(what_perf_says_of_the_file_form),
        cmocka_unit_test(times_and_cpus_as_perf_prints_them), cmocka_unit_test(the_piped_sample),
        cmocka_unit_test(both_forms_give_the_same_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
