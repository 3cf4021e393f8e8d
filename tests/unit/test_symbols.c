/* SPDX-License-Identifier: MIT */
/* Symbols of a program whose addresses are known by construction (sample.c), as built, stripped, with a separate debug file and
 * damaged; and nm as a second opinion. */
#include <assay/image.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char *sample;
static char dir[] = "/tmp/assay-symbols-XXXXXX";

static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *format, ...)
{
    char command[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(command, sizeof command, format, ap);
    va_end(ap);
    return system(command);
}

static int set_up(void **state)
{
    (void)state;
    sample = getenv("ASSAY_SAMPLE");
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return run("rm -rf '%s'", dir);
}

static struct assay_image *image_of(const char *path)
{
    struct assay_image *im;
    assert_int_equal(assay_image_new(&im, NULL), ASSAY_OK);
    assert_int_equal(assay_image_map(im, 1, 0, 0x1000, 0x100000, 0, path, NULL, 0), ASSAY_OK);
    assert_int_equal(assay_image_seal(im), ASSAY_OK);
    return im;
}

static void assert_symbol(struct assay_image *im, uint64_t addr, const char *name, uint64_t start, uint64_t size)
{
    struct assay_symbol s;
    if (assay_image_symbol(im, 0, addr, &s) != ASSAY_OK)
        fail_msg("%#llx: no symbol, expected %s", (unsigned long long)addr, name);
    assert_string_equal(s.name, name);
    assert_int_equal(s.start, start);
    assert_int_equal(s.size, size);
    assert_true(s.id < assay_dso_symbols(im, 0));
}

static void assert_none(struct assay_image *im, uint64_t addr)
{
    struct assay_symbol s;
    if (assay_image_symbol(im, 0, addr, &s) != ASSAY_E_NOT_FOUND)
        fail_msg("%#llx: %s, expected none", (unsigned long long)addr, s.name);
    assert_null(s.name);
}

/* Of the names at 0x700000: no local one, no underscores, not weak, the shortest. */
static void assert_known_names(struct assay_image *im)
{
    assert_none(im, 0x6fffff);
    assert_symbol(im, 0x700000, "known_sized", 0x700000, 0x20);
    assert_symbol(im, 0x70001f, "known_sized", 0x700000, 0x20);
    assert_none(im, 0x700020);
    assert_none(im, 0x70002f);
    assert_symbol(im, 0x700030, "bare_label", 0x700030, 0x10);
    assert_symbol(im, 0x70003f, "bare_label", 0x700030, 0x10);
    assert_symbol(im, 0x70004f, "outer", 0x700040, 0x40);
    assert_symbol(im, 0x700050, "inner", 0x700050, 0x10);
    assert_symbol(im, 0x700060, "outer", 0x700040, 0x40);
    assert_symbol(im, 0x700068, "outer", 0x700040, 0x40);
    assert_symbol(im, 0x70008f, "shape::circle::area(double)", 0x700080, 0x10);
    assert_symbol(im, 0x700090, "core::fmt::write", 0x700090, 0x10);
    assert_symbol(im, 0x7000c8, "__last_function", 0x7000c0, 0x10);
    assert_none(im, 0x7000d0);
}

static void assert_frame(struct assay_image *im, const char *file, uint64_t addr, uint64_t start, uint64_t size)
{
    char name[64];
    snprintf(name, sizeof name, "[%s+0x%llx]", file, (unsigned long long)start);
    assert_symbol(im, addr, name, start, size);
}

static void names_of_the_sample(void **state)
{
    (void)state;
    if (!sample)
        skip();
    struct assay_image *im = image_of(sample);
    assert_known_names(im);
    assert_frame(im, "sample", 0x7000a0, 0x7000a0, 0x18);
    assert_frame(im, "sample", 0x7000b7, 0x7000a0, 0x18);
    assert_none(im, 0x7000b8);
    assay_image_free(im);
}

/* Dense: every id below the count is met; stable: an address keeps its id. */
static void ids_are_dense(void **state)
{
    (void)state;
    if (!sample)
        skip();
    struct assay_image *im = image_of(sample);
    struct assay_symbol s, again;
    uint32_t n = assay_dso_symbols(im, 0);
    char *met = calloc(n, 1);
    for (uint64_t a = 0x400000; a < 0x700100; a++) {
        if (assay_image_symbol(im, 0, a, &s) != ASSAY_OK)
            continue;
        assert_true(a >= s.start && a - s.start < s.size);
        assert_true(s.id < n);
        met[s.id] = 1;
        assay_image_symbol(im, 0, s.start, &again);
        assert_int_equal(again.start, s.start);
    }
    assert_null(memchr(met, 0, n));
    free(met);
    assay_image_free(im);
}

/* The stub is found by its name; what stands there must be an indirect jump. */
static bool has_stub(struct assay_image *im, const char *name)
{
    struct assay_symbol s;
    struct assay_view *v;
    bool found = false;
    assert_int_equal(assay_view_new(im, 1, &v), ASSAY_OK);
    for (uint64_t a = 0x400000; a < 0x500000 && !found; a += 4) {
        if (assay_image_symbol(im, 0, a, &s) != ASSAY_OK || strcmp(s.name, name) != 0)
            continue;
        struct assay_insn in = {0};
        uint8_t code[16];
        for (uint64_t at = 0; at < s.size && in.kind != ASSAY_INSN_JMP_IND; at += in.size) {
            size_t n = assay_view_read(v, a - 0x400000 + 0x1000 + at, code, sizeof code);
            assert_true(assay_x86_classify(code, n, 64, a + at, &in) > 0);
        }
        found = in.kind == ASSAY_INSN_JMP_IND;
    }
    assay_view_free(v);
    return found;
}

static void plt_stubs(void **state)
{
    (void)state;
    if (!sample)
        skip();
    struct assay_image *im = image_of(sample);
    assert_true(has_stub(im, "puts@plt"));
    assert_false(has_stub(im, "printf@plt"));
    assay_image_free(im);
}

static bool have(const char *tool)
{
    if (run("%s --version >/dev/null 2>&1", tool) == 0)
        return true;
    print_message("%s is not installed\n", tool);
    return false;
}

static void stripped_keeps_functions(void **state)
{
    (void)state;
    char path[64];
    if (!sample || !have("strip"))
        skip();
    snprintf(path, sizeof path, "%s/bare", dir);
    assert_int_equal(run("strip -s -o '%s' '%s'", path, sample), 0);
    struct assay_image *im = image_of(path);
    assert_frame(im, "bare", 0x700008, 0x700000, 0x20);
    assert_none(im, 0x700020);
    assert_none(im, 0x700030);
    assert_frame(im, "bare", 0x700050, 0x700040, 0x40);
    assert_frame(im, "bare", 0x70008f, 0x700080, 0x10);
    assert_none(im, 0x700090);
    assert_frame(im, "bare", 0x7000a0, 0x7000a0, 0x18);
    assert_true(has_stub(im, "puts@plt"));
    assay_image_free(im);
}

/* The entry, .init and .fini of a stripped program have no frame of that name, but everybody knows what they are. */
static void stripped_has_fixed_names(void **state)
{
    (void)state;
    char path[64];
    if (!sample || !have("strip"))
        skip();
    snprintf(path, sizeof path, "%s/bare", dir);
    assert_int_equal(run("strip -s -o '%s' '%s'", path, sample), 0);
    struct assay_image *im = image_of(path), *full = image_of(sample);
    static const char *const names[] = {"_init", "_start", "_fini"};
    for (unsigned i = 0; i < 3; i++) {
        struct assay_symbol a = {0}, b = {0};
        for (uint64_t at = 0x401000; at < 0x403000 && !(b.name && strcmp(b.name, names[i]) == 0); at++)
            assay_image_symbol(full, 0, at, &b);
        assert_non_null(b.name);
        assert_int_equal(assay_image_symbol(im, 0, b.start, &a), ASSAY_OK);
        assert_string_equal(a.name, names[i]);
        assert_int_equal(a.start, b.start);
    }
    assay_image_free(im);
    assay_image_free(full);
}

static void debug_file_gives_names(void **state)
{
    (void)state;
    char path[64];
    if (!sample || !have("strip") || !have("objcopy"))
        skip();
    snprintf(path, sizeof path, "%s/linked", dir);
    assert_int_equal(run("cd '%s' && objcopy --only-keep-debug '%s' linked.debug && strip -s -o linked '%s' && "
                         "objcopy --add-gnu-debuglink=linked.debug linked && mkdir .debug && mv linked.debug .debug",
                         dir, sample, sample),
                     0);
    struct assay_image *im = image_of(path);
    assert_known_names(im);
    assert_frame(im, "linked", 0x7000a0, 0x7000a0, 0x18);
    assay_image_free(im);
    /* one of another build is no help */
    assert_int_equal(run("objcopy --only-keep-debug /proc/%d/exe %s/.debug/linked.debug", (int)getpid(), dir), 0);
    im = image_of(path);
    assert_frame(im, "linked", 0x700008, 0x700000, 0x20);
    assay_image_free(im);
}

/* Without build ids the check sum in .gnu_debuglink decides. */
static void debug_file_without_build_id(void **state)
{
    (void)state;
    char path[64];
    if (!sample || !have("strip") || !have("objcopy"))
        skip();
    snprintf(path, sizeof path, "%s/noid", dir);
    assert_int_equal(run("exec 2>/dev/null; cd '%s' && objcopy -R .note.gnu.build-id '%s' full && objcopy "
                         "--only-keep-debug full noid.debug && "
                         "strip -s -o noid full && objcopy --add-gnu-debuglink=noid.debug noid",
                         dir, sample),
                     0);
    struct assay_image *im = image_of(path);
    assert_known_names(im);
    assay_image_free(im);
    assert_int_equal(run("printf x >> '%s/noid.debug'", dir), 0);
    im = image_of(path);
    assert_frame(im, "noid", 0x700008, 0x700000, 0x20);
    assay_image_free(im);
}

/* ---- many threads on one image ---- */

static void *read_in_thread(void *image)
{
    struct assay_view *v;
    struct assay_code c;
    struct assay_symbol s;
    uintptr_t sum = 0;
    if (assay_view_new(image, 1, &v) != ASSAY_OK)
        return NULL;
    for (uint64_t ip = 0x2000; ip < 0x2800; ip++) {
        assay_view_code(v, ip, &c);
        if (assay_image_symbol(image, c.dso, c.dso_addr, &s) == ASSAY_OK)
            sum = sum * 31 + (uintptr_t)s.name; /* the same string for all, not only an equal one */
    }
    for (uint64_t a = 0x700000; a < 0x7000d0; a++)
        if (assay_image_symbol(image, 0, a, &s) == ASSAY_OK)
            sum = sum * 31 + (uintptr_t)s.name;
    assay_view_free(v);
    return (void *)sum;
}

static void threads_may_be_first_together(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    if (!sample)
        skip();
    for (unsigned round = 0; round < 20; round++) {
        struct assay_image *im = image_of(sample);
        pthread_t thread[THREADS];
        void *result[THREADS];
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, read_in_thread, im), 0);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(thread[i], &result[i]);
        for (unsigned i = 0; i < THREADS; i++)
            assert_ptr_equal(result[i], read_in_thread(im));
        assay_image_free(im);
    }
}

/* ---- nm as a second opinion ---- */

static size_t compare_with_nm(const char *path, const char *options)
{
    char line[4096], type;
    unsigned long long start, size;
    size_t n = 0;
    struct assay_image *im = image_of(path);
    snprintf(line, sizeof line, "nm -S %s '%s' 2>/dev/null", options, path);
    FILE *p = popen(line, "r");
    while (p && fgets(line, sizeof line, p)) {
        struct assay_symbol s;
        if (sscanf(line, "%llx %llx %c", &start, &size, &type) != 3 || !strchr("tTwWi", type) || size == 0)
            continue;
        if (assay_image_symbol(im, 0, start, &s) != ASSAY_OK || s.start != start || s.size < size)
            fail_msg("%s", line);
        n++;
    }
    if (p)
        pclose(p);
    assay_image_free(im);
    return n;
}

static void nm_agrees(void **state)
{
    (void)state;
    char self[512];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0 || !have("nm"))
        skip();
    self[n] = '\0';
    assert_true(compare_with_nm(self, "--defined-only") > 20);
    print_message("%zu symbols of libc agree\n",
                  compare_with_nm("/lib/x86_64-linux-gnu/libc.so.6", "-D --defined-only"));
}

/* ---- damage ---- */

static void read_everything(const char *path)
{
    struct assay_image *im = image_of(path);
    struct assay_view *v;
    struct assay_code c;
    struct assay_symbol s;
    assert_int_equal(assay_view_new(im, 1, &v), ASSAY_OK);
    for (uint64_t ip = 0x1000; ip < 0x6000; ip += 0x333)
        if (assay_view_code(v, ip, &c) == ASSAY_OK)
            assay_image_symbol(im, c.dso, c.dso_addr, &s);
    for (uint64_t a = 0x700000; a < 0x7000d0; a += 8)
        assay_image_symbol(im, 0, a, &s);
    assay_view_free(v);
    assay_image_free(im);
}

static uint8_t *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void store(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite(bytes, 1, size, f);
    fclose(f);
}

/* Raw bytes are still code, by offset; there are only no symbols. */
static void damaged_header_leaves_raw_bytes(void **state)
{
    (void)state;
    char path[64];
    size_t size;
    if (!sample)
        skip();
    uint8_t *bytes = load(sample, &size);
    snprintf(path, sizeof path, "%s/raw", dir);
    bytes[0] = 0;
    store(path, bytes, size);
    struct assay_image *im = image_of(path);
    struct assay_view *v;
    struct assay_code c;
    assert_int_equal(assay_view_new(im, 1, &v), ASSAY_OK);
    assert_int_equal(assay_view_code(v, 0x1010, &c), ASSAY_OK);
    assert_int_equal(c.dso_addr, 0x10);
    assert_int_equal(c.mode, 0);
    assert_memory_equal(c.bytes, bytes + 0x10, 16);
    assert_int_equal(assay_dso_symbols(im, 0), 0);
    assay_view_free(v);
    assay_image_free(im);
    free(bytes);
}

static void elf_addresses(void **state)
{
    (void)state;
    if (!sample)
        skip();
    struct assay_image *im = image_of(sample);
    struct assay_view *v;
    struct assay_code c;
    assert_int_equal(assay_view_new(im, 1, &v), ASSAY_OK);
    assert_int_equal(assay_view_code(v, 0x2000, &c),
                     ASSAY_OK); /* file offset 0x1000: the second segment of any small program */
    assert_int_equal(c.dso_addr, 0x401000);
    assert_int_equal(c.mode, 64);
    assay_view_free(v);
    assay_image_free(im);
}

static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    char path[64];
    size_t size;
    if (!sample)
        skip();
    uint8_t *bytes = load(sample, &size);
    uint64_t x = 0x2545f4914f6cdd1d;
    snprintf(path, sizeof path, "%s/damaged", dir);
    for (size_t n = 0; n < size; n += n < 0x400 ? 7 : 97) {
        store(path, bytes, n);
        read_everything(path);
    }
    for (unsigned i = 0; i < 600; i++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, bytes, size);
        for (unsigned k = 0; k < 1 + i % 24; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            copy[(x >> 24) % (i % 3 ? size : 0x400)] ^= (uint8_t)(1 << (x & 7));
        }
        store(path, copy, size);
        read_everything(path);
        free(copy);
    }
    free(bytes);
}

/* f(A<int, int>, A<that, that>, ...), 35 times: some 400 bytes that stand for 2^35 times as much. It stays as it is. */
static void a_name_without_end_stays_mangled(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[1024] = "_Z1f1AIiiE";
    size_t n = strlen(name);
    for (unsigned i = 0; i < 35; i++)
        n += (size_t)snprintf(name + n, sizeof name - n, "S_IS%c_S%c_E", digits[i], digits[i]);
    struct assay_image *im;
    assert_int_equal(assay_image_new(&im, NULL), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 0, 0x1000, (const uint8_t *)"\xc3", 1, name), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 0, 0x2000, (const uint8_t *)"\xc3", 1, "_Z1f1AIiiES_IS0_S0_E"), ASSAY_OK);
    assert_int_equal(assay_image_seal(im), ASSAY_OK);
    assert_symbol(im, 0x1000, name, 0x1000, 1);
    assert_symbol(im, 0x2000, "f(A<int, int>, A<A<int, int>, A<int, int> >)", 0x2000, 1);
    assay_image_free(im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_sample),
        cmocka_unit_test(ids_are_dense),
        cmocka_unit_test(plt_stubs),
        cmocka_unit_test(stripped_keeps_functions),
        cmocka_unit_test(stripped_has_fixed_names),
        cmocka_unit_test(debug_file_gives_names),
        cmocka_unit_test(debug_file_without_build_id),
        cmocka_unit_test(threads_may_be_first_together),
        cmocka_unit_test(nm_agrees),
        cmocka_unit_test(damaged_header_leaves_raw_bytes),
        cmocka_unit_test(elf_addresses),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(a_name_without_end_stays_mangled),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
