/* SPDX-License-Identifier: MIT */
/* Address spaces over time: every kind of change by hand, and long random histories against a model that keeps every byte. */
#include <assay/image.h>

#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/assay-image-XXXXXX";
static char path_a[64], path_b[64], path_gone[64];
#define FILE_SIZE 0x4000

/* Not repeating within a page, different for a and b. */
static uint8_t byte_of(char file, uint64_t offset)
{
    return (uint8_t)(offset * 7 + (offset >> 8) * 13 + (uint8_t)file);
}

static void write_file(const char *path, char file)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (unsigned i = 0; i < FILE_SIZE; i++)
        fputc(byte_of(file, i), f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(path_a, sizeof path_a, "%s/a", dir);
    snprintf(path_b, sizeof path_b, "%s/b", dir);
    snprintf(path_gone, sizeof path_gone, "%s/gone", dir);
    write_file(path_a, 'a');
    write_file(path_b, 'b');
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static struct assay_image *new_image(void)
{
    struct assay_image *im;
    assert_int_equal(assay_image_new(&im, NULL), ASSAY_OK);
    return im;
}

static void map(struct assay_image *im, uint32_t pid, uint64_t time, uint64_t addr, uint64_t size, uint64_t pgoff,
                const char *path)
{
    assert_int_equal(assay_image_map(im, pid, time, addr, size, pgoff, path, NULL, 0), ASSAY_OK);
}

static struct assay_view *view_of(struct assay_image *im, uint32_t pid)
{
    struct assay_view *v;
    assert_int_equal(assay_image_seal(im), ASSAY_OK);
    assert_int_equal(assay_view_new(im, pid, &v), ASSAY_OK);
    return v;
}

static void end(struct assay_image *im, struct assay_view *v)
{
    assay_view_free(v);
    assay_image_free(im);
}

/* ip has the byte of `file` at `offset`, and `size` bytes follow in one piece. */
static void assert_code(struct assay_view *v, uint64_t ip, char file, uint64_t offset, size_t size)
{
    struct assay_code c;
    assert_int_equal(assay_view_code(v, ip, &c), ASSAY_OK);
    assert_int_equal(c.size, size);
    assert_int_equal(c.bytes[0], byte_of(file, offset));
    assert_int_equal(c.bytes[size - 1], byte_of(file, offset + size - 1));
    assert_int_equal(c.dso_addr, offset); /* no ELF file: offsets are its addresses */
    assert_int_equal(c.mode, 0);
}

static void assert_none(struct assay_view *v, uint64_t ip)
{
    struct assay_code c;
    assert_int_equal(assay_view_code(v, ip, &c), ASSAY_E_NO_CODE);
}

static void assert_advance(struct assay_view *v, uint64_t time, unsigned n, uint64_t low, uint64_t high)
{
    uint64_t l, h;
    assert_int_equal(assay_view_advance(v, time, &l, &h), n);
    assert_int_equal(l, low);
    assert_int_equal(h, high);
}

static void offsets_and_ends(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    map(im, 1, 0, 0x10000, 0x1000, 0x2000, path_a);
    map(im, 1, 0, 0x20000, 0x3000, 0x3000, path_b); /* the file ends at 0x4000 */
    map(im, 1, 0, 0x30000, 0, 0, path_b);
    struct assay_view *v = view_of(im, 1);
    assert_code(v, 0x10000, 'a', 0x2000, 0x1000);
    assert_code(v, 0x10ffe, 'a', 0x2ffe, 2);
    assert_code(v, 0x20010, 'b', 0x3010, 0xff0);
    assert_none(v, 0x21000);
    assert_none(v, 0xffff);
    assert_none(v, 0x11000);
    assert_none(v, 0x30000);
    assert_null(assay_image_problem(im, 0));
    assert_int_equal(assay_dso_count(im), 2);
    assert_string_equal(assay_dso_name(im, 1), path_b);
    assert_null(assay_dso_name(im, 2));
    end(im, v);
}

static void other_processes_have_nothing(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    map(im, 5, 0, 0x10000, 0x1000, 0, path_a);
    struct assay_view *v = view_of(im, 6);
    assert_none(v, 0x10000);
    end(im, v);
}

static void replaced_in_time(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    map(im, 1, 100, 0x2000, 0x2000, 0, path_b); /* told first, happens second */
    map(im, 1, 0, 0x1000, 0x2000, 0, path_a);
    map(im, 1, 200, 0x1800, 0x100, 0x800, path_a); /* what is there already */
    map(im, 1, 300, 0x2800, 0x100, 0x900, path_b); /* the same file elsewhere */
    struct assay_view *v = view_of(im, 1);
    assert_code(v, 0x2000, 'a', 0x1000, 0x1000);
    assert_code(v, 0x3500, 'b', 0x1500, 0xb00); /* seen before its time */
    assert_advance(v, 99, 0, 0, 0);
    assert_code(v, 0x2000, 'a', 0x1000, 0x1000);
    assert_advance(v, 100, 1, 0x2000, 0x3000);
    assert_code(v, 0x1000, 'a', 0, 0x1000);
    assert_code(v, 0x2000, 'b', 0, 0x2000);
    assert_advance(v, 250, 0, 0, 0);
    assert_advance(v, UINT64_MAX, 1, 0x2800, 0x2900);
    assert_code(v, 0x2800, 'b', 0x900, 0x100);
    assert_code(v, 0x2900, 'b', 0x900, 0x1700);
    end(im, v);
}

static void forward_look_stops_at_what_is_mapped(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    map(im, 1, 0, 0x2000, 0x1000, 0, path_a);
    map(im, 1, 10, 0x1000, 0x3000, 0, path_b);
    map(im, 1, 20, 0x1000, 0x3000, 0, path_a);
    struct assay_view *v = view_of(im, 1);
    assert_code(v, 0x1000, 'b', 0, 0x1000); /* the first that comes, up to what is there now */
    assert_code(v, 0x3000, 'b', 0x2000, 0x1000);
    end(im, v);
}

static void unmap_splits(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    map(im, 1, 0, 0x1000, 0x3000, 0, path_a);
    assert_int_equal(assay_image_unmap(im, 1, 5, 0x2000, 0x1000), ASSAY_OK);
    assert_int_equal(assay_image_unmap(im, 1, 6, 0x8000, 0x1000), ASSAY_OK);
    struct assay_view *v = view_of(im, 1);
    assert_advance(v, 6, 1, 0x2000, 0x3000);
    assert_code(v, 0x1000, 'a', 0, 0x1000);
    assert_none(v, 0x2000);
    assert_code(v, 0x3000, 'a', 0x2000, 0x1000);
    end(im, v);
}

static void exec_empties(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    map(im, 1, 0, 0x1000, 0x1000, 0, path_a);
    assert_int_equal(assay_image_exec(im, 50, 1), ASSAY_OK);
    map(im, 1, 50, 0x9000, 0x1000, 0, path_b);
    struct assay_view *v = view_of(im, 1);
    assert_code(v, 0x9000, 'b', 0, 0x1000);
    assert_advance(v, 50, 1, 0x1000, 0x2000);
    assert_none(v, 0x1000);
    assert_code(v, 0x9000, 'b', 0, 0x1000);
    end(im, v);
}

static void fork_copies_as_of_its_time(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    map(im, 1, 1, 0x7000, 0x1000, 0, path_a);
    assert_int_equal(assay_image_exec(im, 2, 1), ASSAY_OK);
    map(im, 1, 3, 0x1000, 0x1000, 0, path_a);
    assert_int_equal(assay_image_fork(im, 10, 1, 2), ASSAY_OK);
    map(im, 1, 11, 0x1000, 0x1000, 0x1000, path_b); /* after the fork: the parent's alone */
    map(im, 2, 12, 0x2000, 0x1000, 0, path_b);
    assert_int_equal(assay_image_fork(im, 20, 2, 3), ASSAY_OK);
    assert_int_equal(assay_image_fork(im, 20, 3, 3), ASSAY_OK); /* a thread */
    map(im, 3, 21, 0x1000, 0x1000, 0x2000, path_b);
    struct assay_view *v = view_of(im, 3);
    assert_code(v, 0x1000, 'a', 0, 0x1000); /* before it exists: what it will start with */
    assert_code(v, 0x2000, 'b', 0, 0x1000);
    assert_none(v, 0x7000);
    assert_advance(v, 20, 0, 0, 0);
    assert_code(v, 0x1000, 'a', 0, 0x1000);
    assert_code(v, 0x2000, 'b', 0, 0x1000);
    assert_none(v, 0x7000);
    assert_advance(v, 30, 1, 0x1000, 0x2000);
    assert_code(v, 0x1000, 'b', 0x2000, 0x1000);
    end(im, v);
}

static void forks_of_each_other_end(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    map(im, 1, 0, 0x1000, 0x1000, 0, path_a);
    for (unsigned t = 1; t < 100; t++)
        assert_int_equal(assay_image_fork(im, t, 1 + t % 2, 2 - t % 2), ASSAY_OK);
    struct assay_view *v = view_of(im, 2);
    uint64_t low, high;
    assay_view_advance(v, 1000, &low, &high);
    assert_none(v, 0x1000); /* at t = 1 process 1 becomes a copy of the empty process 2 */
    end(im, v);
}

/* ---- captured code ---- */

static void patch_of_a_file(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    uint8_t same[16], patched[16], got[16];
    for (unsigned i = 0; i < 16; i++)
        same[i] = patched[i] = byte_of('a', 0x100 + i);
    patched[4] ^= 1;
    patched[7] ^= 1;
    map(im, 1, 0, 0x1000, 0x1000, 0, path_a);
    assert_int_equal(assay_image_code(im, 1, 10, 0x1100, same, 16, NULL), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 20, 0x1100, patched, 16, NULL), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 30, 0x1106, patched + 6, 4, NULL), ASSAY_OK); /* nothing new */
    assert_int_equal(assay_image_code(im, 1, 40, 0x1100, same, 16, NULL), ASSAY_OK);
    struct assay_view *v = view_of(im, 1);
    assert_advance(v, 10, 0, 0, 0);
    assert_code(v, 0x1000, 'a', 0, 0x1000);
    assert_advance(v, 20, 1, 0x1104, 0x1108);
    struct assay_code c;
    assert_int_equal(assay_view_code(v, 0x1104, &c), ASSAY_OK);
    assert_memory_equal(c.bytes, patched + 4, 4);
    assert_string_equal(assay_dso_name(im, c.dso), path_a);
    assert_int_equal(c.dso_addr, 0x104);
    assert_code(v, 0x1000, 'a', 0, 0x100);
    assert_int_equal(assay_view_read(v, 0x10fe, got, 16), 16);
    assert_int_equal(got[1], byte_of('a', 0xff));
    assert_memory_equal(got + 2, patched, 14);
    assert_advance(v, 30, 0, 0, 0);
    assert_advance(v, 40, 1, 0x1104, 0x1108);
    assert_code(v, 0x1110, 'a', 0x110, 0xef0);
    end(im, v);
}

static void assert_symbol(struct assay_image *im, struct assay_view *v, uint64_t ip, const char *name)
{
    struct assay_code c;
    struct assay_symbol s;
    assert_int_equal(assay_view_code(v, ip, &c), ASSAY_OK);
    assert_int_equal(c.dso_addr, ip);
    assert_int_equal(assay_image_symbol(im, c.dso, c.dso_addr, &s), ASSAY_OK);
    assert_string_equal(s.name, name);
}

static void functions_without_a_file(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    uint8_t bytes[64];
    memset(bytes, 0x90, sizeof bytes);
    assert_int_equal(assay_image_code(im, 1, 10, 0x50000, bytes, 32, "first"), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 11, 0x50020, bytes, 32, "second"), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 12, 0x50000, bytes, 32, "first"), ASSAY_OK); /* told again */
    assert_int_equal(assay_image_code(im, 1, 13, 0x50010, bytes, 32, "third"), ASSAY_OK); /* in the place of both */
    assert_int_equal(assay_image_code(im, 1, 14, 0x7f000, bytes, 64, "[vdso]"), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 2, 10, 0x50000, bytes, 32, "other"), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 15, 0x60000, bytes, 32, NULL), ASSAY_OK);
    assert_int_equal(assay_image_code(im, 1, 16, 0x60010, bytes, 32, NULL), ASSAY_OK);
    struct assay_view *v = view_of(im, 1), *other;
    assert_symbol(im, v, 0x5001f, "first"); /* all still to come */
    assert_advance(v, 12, 0, 0, 0);
    assert_symbol(im, v, 0x5001f, "first");
    assert_symbol(im, v, 0x50020, "second");
    assert_advance(v, 13, 1, 0x50010, 0x50030); /* the bytes are the same, the function is not */
    assert_symbol(im, v, 0x5000f, "first");
    assert_symbol(im, v, 0x50010, "third");
    assert_symbol(im, v, 0x5002f, "third");
    assert_symbol(im, v, 0x50030, "second");
    assert_advance(v, 20, 0, 0, 0);
    assert_symbol(im, v, 0x7f010, "[vdso+0x7f000]");
    assert_symbol(im, v, 0x60008, "[jit+0x60000]");
    assert_symbol(im, v, 0x6002f, "[jit+0x60000]");
    assert_none(v, 0x60030);
    assert_int_equal(assay_view_new(im, 2, &other), ASSAY_OK);
    assert_symbol(im, other, 0x50010, "other");
    assay_view_free(other);
    end(im, v);
}

static void symbol_of_bare_capture_begins_where_it_does(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    struct assay_code c;
    struct assay_symbol s;
    assert_int_equal(assay_image_code(im, 1, 0, 0x100, (const uint8_t *)"\x90\xc3", 2, ""), ASSAY_OK);
    struct assay_view *v = view_of(im, 1);
    assert_int_equal(assay_view_code(v, 0x101, &c), ASSAY_OK);
    assert_string_equal(assay_dso_name(im, c.dso), "[jit]");
    assert_int_equal(assay_image_symbol(im, c.dso, 0x101, &s), ASSAY_OK);
    assert_int_equal(s.start, 0x100);
    assert_int_equal(s.size, 2);
    assert_int_equal(s.id, 0);
    assert_int_equal(assay_dso_symbols(im, c.dso), 1);
    assert_int_equal(assay_image_symbol(im, c.dso, 0x102, &s), ASSAY_E_NOT_FOUND);
    assert_null(s.name);
    end(im, v);
}

static void from_the_beginning_code_lies_over_files(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    uint8_t b = (uint8_t)~byte_of('a', 0x10);
    assert_int_equal(assay_image_code(im, 1, 0, 0x1010, &b, 1, "f"), ASSAY_OK);
    map(im, 1, 0, 0x1000, 0x1000, 0, path_a);
    map(im, 1, 5, 0x1000, 0x1000, 0, path_a); /* mapped anew: the capture is gone */
    struct assay_view *v = view_of(im, 1);
    assert_symbol(im, v, 0x1010, "f");
    assert_advance(v, 5, 1, 0x1010, 0x1011);
    assert_code(v, 0x1010, 'a', 0x10, 0xff0);
    end(im, v);
}

static void captured_code_in_a_mapping_without_a_file(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    uint8_t b[2] = {0x90, 0xc3};
    map(im, 1, 0, 0x1000, 0x1000, 0, "//anon");
    assert_int_equal(assay_image_code(im, 1, 10, 0x1010, b, 2, "f"), ASSAY_OK);
    struct assay_view *v = view_of(im, 1);
    assert_symbol(im, v, 0x1010, "f"); /* a little before its time */
    assert_null(assay_image_problem(im, 0));
    assert_advance(v, 10, 0, 0, 0);
    assert_symbol(im, v, 0x1010, "f");
    assert_none(v, 0x1012);
    assert_string_equal(assay_image_problem(im, 0), "//anon: this code is in no file");
    assert_null(assay_image_problem(im, 1));
    end(im, v);
}

/* ---- files that are not there ---- */

static void missing_file_is_one_problem(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    char expected[128];
    map(im, 1, 0, 0x1000, 0x1000, 0, path_gone);
    map(im, 1, 0, 0x3000, 0x1000, 0, path_gone);
    map(im, 1, 0, 0x5000, 0x1000, 0, dir);
    struct assay_view *v = view_of(im, 1);
    assert_null(assay_image_problem(im, 0)); /* nobody asked yet */
    assert_none(v, 0x1000);
    assert_none(v, 0x3000);
    snprintf(expected, sizeof expected, "%s: No such file or directory", path_gone);
    assert_string_equal(assay_image_problem(im, 0), expected);
    assert_null(assay_image_problem(im, 1));
    assert_none(v, 0x5000);
    snprintf(expected, sizeof expected, "%s: not a file with code", dir);
    assert_string_equal(assay_image_problem(im, 1), expected);
    assert_int_equal(assay_dso_symbols(im, 0), 0);
    end(im, v);
}

/* The sample is linked with this build id. */
static const uint8_t sample_id[] = {0xa5, 0x5a, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06};

static int map_sample(const char *path, const uint8_t *id, unsigned id_size, struct assay_image **im, char *problem)
{
    struct assay_view *v;
    struct assay_code c;
    *im = new_image();
    assert_int_equal(assay_image_map(*im, 1, 0, 0x1000, 0x1000, 0, path, id, id_size), ASSAY_OK);
    v = view_of(*im, 1);
    int s = assay_view_code(v, 0x1000, &c);
    if (s == ASSAY_OK)
        assert_memory_equal(c.bytes, "\177ELF", 4);
    const char *p = assay_image_problem(*im, 0);
    strcpy(problem, p ? p + strlen(path) : "");
    end(*im, v);
    return s;
}

static void build_ids_are_compared(void **state)
{
    (void)state;
    const char *sample = getenv("ASSAY_SAMPLE");
    struct assay_image *im;
    char problem[256];
    uint8_t id[20] = {0};
    if (!sample)
        skip();
    memcpy(id, sample_id, sizeof sample_id);
    assert_int_equal(map_sample(sample, NULL, 0, &im, problem), ASSAY_OK);
    assert_int_equal(map_sample(sample, id, 8, &im, problem), ASSAY_OK);
    assert_int_equal(map_sample(sample, id, 20, &im, problem), ASSAY_OK); /* padded as in a perf.data header */
    assert_string_equal(problem, "");
    id[19] = 1;
    assert_int_equal(map_sample(sample, id, 20, &im, problem), ASSAY_E_NO_CODE);
    assert_string_equal(problem, ": build id differs from the recorded one");
    assert_int_equal(map_sample(sample, id, 7, &im, problem), ASSAY_E_NO_CODE);
    assert_int_equal(map_sample(path_a, id, 8, &im, problem), ASSAY_E_NO_CODE);
    assert_string_equal(problem, ": has no build id, one was recorded");
}

static void build_id_cache_is_searched(void **state)
{
    (void)state;
    const char *sample = getenv("ASSAY_SAMPLE");
    struct assay_image *im;
    char problem[256], command[512], deleted[512];
    if (!sample)
        skip();
    setenv("HOME", dir, 1);
    assert_int_equal(map_sample(path_gone, sample_id, 8, &im, problem), ASSAY_E_NO_CODE);
    assert_string_equal(problem, ": No such file or directory");
    snprintf(deleted, sizeof deleted, "%s (deleted)", sample);
    assert_int_equal(map_sample(deleted, sample_id, 8, &im, problem), ASSAY_OK);
    assert_int_equal(map_sample(deleted, NULL, 0, &im, problem), ASSAY_E_NO_CODE);
    snprintf(command, sizeof command, "d='%s'/.debug/.build-id/a5/5a010203040506; mkdir -p $d && cp '%s' $d/elf", dir,
             sample);
    assert_int_equal(system(command), 0);
    assert_int_equal(map_sample(path_gone, sample_id, 8, &im, problem), ASSAY_OK);
    assert_int_equal(map_sample("[vdso]", sample_id, 8, &im, problem), ASSAY_OK);
    assert_string_equal(problem, "");
}

/* ---- use ---- */

static void wrong_use_is_refused(void **state)
{
    (void)state;
    struct assay_image *im = new_image();
    struct assay_view *v;
    struct assay_symbol s;
    uint8_t id[64] = {0};
    assert_int_equal(assay_view_new(im, 1, &v), ASSAY_E_ARGUMENT);
    assert_null(v);
    assert_int_equal(assay_image_map(im, 1, 0, 0, 1, 0, path_a, id, 64), ASSAY_E_ARGUMENT);
    map(im, 1, 0, UINT64_MAX - 0x10, 0x1000, 0, path_a);      /* past the end of memory: cut */
    map(im, 1, 0, 0x1000, 0x1000, UINT64_MAX - 0x10, path_a); /* past the end of any file */
    v = view_of(im, 1);
    assert_code(v, UINT64_MAX - 0x10, 'a', 0, 0x10);
    assert_none(v, 0x1000);
    assert_none(v, 0x1800);
    assert_int_equal(assay_image_map(im, 1, 0, 0, 1, 0, path_a, NULL, 0), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_image_code(im, 1, 0, 0, id, 1, NULL), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_image_fork(im, 0, 1, 2), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_image_symbol(im, 99, 0, &s), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay_image_seal(im), ASSAY_OK);
    end(im, v);
}

/* ---- random histories ---- */

#define BASE  0x10f00u /* so that the space spans three pages of captured code */
#define SPACE 0x1400u
#define PIDS  3u

struct cell { /* one byte of a process */
    bool there;
    uint8_t byte;
    uint8_t owner; /* 0: not a named function; else which name */
    uint8_t path;
    uint32_t delta; /* offset - address: another mapping of a file may bring the same byte by chance */
};
struct model {
    struct cell at[PIDS][SPACE];
};
struct step {
    uint64_t time;
    unsigned type, pid, parent, addr, size, path, offset, name;
    uint8_t fill;
};
static const char *const names[] = {"", "alpha", "beta", "gamma"};

static uint64_t random_state;
static unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 20) % n;
}

static void apply_bytes(struct cell *c, const struct step *s)
{
    for (unsigned i = s->addr; i < s->addr + s->size; i++) {
        if (s->type == 0) {
            c[i] = (struct cell){true, byte_of(s->path ? 'b' : 'a', s->offset + i - s->addr), 0, (uint8_t)s->path,
                                 s->offset - s->addr};
        } else if (s->type == 1) {
            c[i] = (struct cell){0};
        } else {
            bool patch = s->name == 0 && c[i].there;
            c[i] = (struct cell){true, s->fill, patch ? c[i].owner : (uint8_t)s->name, patch ? c[i].path : 0,
                                 patch ? c[i].delta : 0};
        }
    }
}

static void apply(struct model *m, const struct step *s)
{
    if (s->type < 4)
        apply_bytes(m->at[s->pid], s);
    else if (s->type == 4)
        memset(m->at[s->pid], 0, sizeof m->at[0]);
    else if (s->pid != s->parent)
        memcpy(m->at[s->pid], m->at[s->parent], sizeof m->at[0]);
}

static struct step random_step(uint64_t *time)
{
    unsigned r = random_below(40);
    struct step s = {.time = *time += random_below(3), .pid = random_below(PIDS), .parent = random_below(PIDS)};
    s.type = r < 12 ? 0 : r < 16 ? 1 : r < 37 ? 2 : r < 38 ? 4 : 5;
    s.addr = random_below(SPACE);
    s.size = 1 + random_below(random_below(2) ? 24 : SPACE);
    if (s.size > SPACE - s.addr)
        s.size = SPACE - s.addr;
    s.path = random_below(2);
    s.offset = random_below(8) * 0x100;
    s.name = random_below(4);
    s.fill = (uint8_t)random_below(3);
    return s;
}

static void tell(struct assay_image *im, const struct step *s)
{
    uint8_t bytes[SPACE];
    if (s->type == 0)
        map(im, s->pid, s->time, BASE + s->addr, s->size, s->offset, s->path ? path_b : path_a);
    else if (s->type == 1)
        assert_int_equal(assay_image_unmap(im, s->pid, s->time, BASE + s->addr, s->size), ASSAY_OK);
    else if (s->type == 4)
        assert_int_equal(assay_image_exec(im, s->time, s->pid), ASSAY_OK);
    else if (s->type == 5)
        assert_int_equal(assay_image_fork(im, s->time, s->parent, s->pid), ASSAY_OK);
    memset(bytes, s->fill, sizeof bytes);
    if (s->type == 2)
        assert_int_equal(assay_image_code(im, s->pid, s->time, BASE + s->addr, bytes, s->size, names[s->name]),
                         ASSAY_OK);
}

/* What the view says of every address is what the model has, and every change was told. */
static void compare(struct assay_image *im, struct assay_view *v, const struct cell *was, const struct cell *is,
                    unsigned touched, uint64_t low, uint64_t high)
{
    for (unsigned i = 0; i < SPACE; i++) {
        uint64_t ip = BASE + i;
        struct assay_code c;
        struct assay_symbol s;
        int found = assay_view_code(v, ip, &c);
        if (is[i].there && (found != ASSAY_OK || c.bytes[0] != is[i].byte))
            fail_msg("%#llx: status %d", (unsigned long long)ip, found);
        if (is[i].there && is[i].owner) {
            assert_int_equal(assay_image_symbol(im, c.dso, c.dso_addr, &s), ASSAY_OK);
            assert_string_equal(s.name, names[is[i].owner]);
        }
        if (was[i].there && memcmp(&was[i], &is[i], sizeof was[i]) != 0 && !(touched && ip >= low && ip < high))
            fail_msg("%#llx: a change that was not told", (unsigned long long)ip);
        for (unsigned k = 1; i % 61 == 0 && found == ASSAY_OK && k < c.size && i + k < SPACE && is[i].there; k++)
            if (!is[i + k].there || is[i + k].byte != c.bytes[k])
                fail_msg("%#llx: %u bytes on", (unsigned long long)ip, k);
    }
}

/* Where nothing is, the view shows what the first later moment has that has something. */
static void compare_future(struct assay_view *v, const struct model *now, const struct step *later, size_t n,
                           unsigned pid)
{
    static struct model m;
    static uint16_t expected[SPACE];
    m = *now;
    for (unsigned i = 0; i < SPACE; i++)
        expected[i] = m.at[pid][i].there ? m.at[pid][i].byte : 0x100;
    for (size_t k = 0; k < n; k++) {
        apply(&m, &later[k]);
        for (unsigned i = 0; i < SPACE && later[k].pid == pid; i++)
            if (expected[i] == 0x100 && m.at[pid][i].there)
                expected[i] = m.at[pid][i].byte;
    }
    for (unsigned i = 0; i < SPACE; i++) {
        struct assay_code c;
        int s = assay_view_code(v, BASE + i, &c);
        if (s != (expected[i] == 0x100 ? ASSAY_E_NO_CODE : ASSAY_OK) || (s == ASSAY_OK && c.bytes[0] != expected[i]))
            fail_msg("%#x: status %d, expected %#x", BASE + i, s, expected[i]);
    }
}

static void random_history(uint64_t seed)
{
    enum { STEPS = 60 };
    static struct model m, before;
    struct step step[STEPS];
    uint64_t time = 1, low, high;
    random_state = seed * 0x9e3779b97f4a7c15 + 1;
    struct assay_image *im = new_image();
    for (unsigned i = 0; i < STEPS; i++) {
        step[i] = random_step(&time);
        tell(im, &step[i]);
    }
    for (unsigned pid = 0; pid < PIDS; pid++) {
        struct assay_view *v = view_of(im, pid);
        memset(&m, 0, sizeof m);
        compare_future(v, &m, step, STEPS, pid);
        for (unsigned i = 0, next; i < STEPS; i = next) {
            before = m;
            for (next = i; next < STEPS && step[next].time == step[i].time; next++)
                apply(&m, &step[next]);
            unsigned touched = assay_view_advance(v, step[i].time, &low, &high);
            compare(im, v, before.at[pid], m.at[pid], touched, low, high);
            if (i % 16 == 0)
                compare_future(v, &m, step + next, STEPS - next, pid);
        }
        assay_view_free(v);
    }
    assay_image_free(im);
}

static void random_histories(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        random_history(seed);
}

/* What a made-up recording may say: more mappings than any process has, and a process that is forked as often. Without bounds each of
 * these takes minutes. */
static void endless_histories_are_bounded(void **state)
{
    (void)state;
    enum { MANY = 70000, KEPT = 1000, FIRST = 0x70000000 };
    struct assay_image *im = new_image();
    struct assay_view *v;
    struct assay_code code;
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(assay_image_map(im, 1, 0, FIRST - i * UINT64_C(0x1000), 0x10, 0, path_a, NULL, 0), ASSAY_OK);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(assay_image_fork(im, 0, 1, 2), ASSAY_OK);
    assert_int_equal(assay_image_seal(im), ASSAY_OK);
    assert_int_equal(assay_view_new(im, 1, &v), ASSAY_OK);
    assert_int_equal(assay_view_code(v, FIRST, &code), ASSAY_OK);
    assert_int_equal(assay_view_code(v, FIRST - KEPT * UINT64_C(0x1000), &code), ASSAY_OK);
    assert_true(assay_view_code(v, FIRST - (MANY - 1) * UINT64_C(0x1000), &code) < 0);
    assay_view_free(v);
    assert_int_equal(assay_view_new(im, 2, &v), ASSAY_OK);
    assert_int_equal(assay_view_code(v, FIRST, &code), ASSAY_OK);
    assay_view_free(v);
    assay_image_free(im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_and_ends),
        cmocka_unit_test(other_processes_have_nothing),
        cmocka_unit_test(replaced_in_time),
        cmocka_unit_test(forward_look_stops_at_what_is_mapped),
        cmocka_unit_test(unmap_splits),
        cmocka_unit_test(exec_empties),
        cmocka_unit_test(fork_copies_as_of_its_time),
        cmocka_unit_test(forks_of_each_other_end),
        cmocka_unit_test(patch_of_a_file),
        cmocka_unit_test(functions_without_a_file),
        cmocka_unit_test(symbol_of_bare_capture_begins_where_it_does),
        cmocka_unit_test(from_the_beginning_code_lies_over_files),
        cmocka_unit_test(captured_code_in_a_mapping_without_a_file),
        cmocka_unit_test(missing_file_is_one_problem),
        cmocka_unit_test(build_ids_are_compared),
        cmocka_unit_test(build_id_cache_is_searched),
        cmocka_unit_test(wrong_use_is_refused),
        cmocka_unit_test(random_histories),
        cmocka_unit_test(endless_histories_are_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
