/* SPDX-License-Identifier: MIT */
/* jitdump files built by hand in both byte orders: every record, every prefix, every damaged field. */
#include <assay/image.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct file {
    uint8_t bytes[4096];
    size_t size;
    bool big;
};

static void put(struct file *f, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        f->bytes[f->size + i] = (uint8_t)(v >> 8 * (f->big ? n - 1 - i : i));
    f->size += n;
}

static void put_at(struct file *f, size_t at, uint64_t v, unsigned n)
{
    size_t size = f->size;
    f->size = at;
    put(f, v, n);
    f->size = size;
}

static void header(struct file *f, bool big, uint64_t flags)
{
    *f = (struct file){.big = big};
    put(f, 0x4a695444, 4); /* magic */
    put(f, 1, 4);          /* version */
    put(f, 40, 4);         /* size of this header */
    put(f, 62, 4);         /* EM_X86_64 */
    put(f, 0, 4);
    put(f, 77, 4); /* pid */
    put(f, 5, 8);  /* time */
    put(f, flags, 8);
}

static void load(struct file *f, uint64_t time, uint64_t addr, uint64_t index, const char *name, const char *code)
{
    size_t name_size = strlen(name) + 1, code_size = strlen(code);
    put(f, 0, 4);
    put(f, 16 + 40 + name_size + code_size, 4);
    put(f, time, 8);
    put(f, 77, 4); /* pid */
    put(f, 78, 4); /* tid */
    put(f, addr, 8);
    put(f, addr, 8);
    put(f, code_size, 8);
    put(f, index, 8);
    memcpy(f->bytes + f->size, name, name_size);
    memcpy(f->bytes + f->size + name_size, code, code_size);
    f->size += name_size + code_size;
}

static void move(struct file *f, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
    put(f, 1, 4);
    put(f, 16 + 48, 4);
    put(f, time, 8);
    put(f, 77, 4);
    put(f, 78, 4);
    put(f, to, 8);
    put(f, from, 8);
    put(f, to, 8);
    put(f, size, 8);
    put(f, index, 8);
}

static void other(struct file *f, unsigned id, unsigned body)
{
    put(f, id, 4);
    put(f, 16 + body, 4);
    put(f, 9, 8);
    memset(f->bytes + f->size, 0xee, body);
    f->size += body;
}

/* Reads from memory of exactly that size, so that a sanitizer sees a read past the end. */
static int read_file(struct assay_image *im, const struct file *f, size_t size, struct assay_error *e)
{
    uint8_t *exact = malloc(size + 1);
    memcpy(exact + 1, f->bytes, size);
    *e = (struct assay_error){0};
    int s = assay_image_jitdump(im, exact + 1, size, e);
    free(exact);
    assert_int_equal(e->code, s);
    return s;
}

static struct assay_image *new_image(void)
{
    struct assay_image *im;
    assert_int_equal(assay_image_new(&im, NULL), ASSAY_OK);
    return im;
}

static struct assay_view *view_of(struct assay_image *im)
{
    struct assay_view *v;
    assert_int_equal(assay_image_seal(im), ASSAY_OK);
    assert_int_equal(assay_view_new(im, 77, &v), ASSAY_OK);
    return v;
}

static void assert_function(struct assay_image *im, struct assay_view *v, uint64_t ip, const char *code,
                            const char *name)
{
    struct assay_code c;
    struct assay_symbol s;
    assert_int_equal(assay_view_code(v, ip, &c), ASSAY_OK);
    assert_int_equal(c.size, strlen(code));
    assert_memory_equal(c.bytes, code, c.size);
    assert_int_equal(assay_image_symbol(im, c.dso, c.dso_addr, &s), ASSAY_OK);
    assert_string_equal(s.name, name);
    assert_int_equal(s.start, ip);
    assert_int_equal(s.size, strlen(code));
}

static void assert_none(struct assay_view *v, uint64_t ip)
{
    struct assay_code c;
    assert_int_equal(assay_view_code(v, ip, &c), ASSAY_E_NO_CODE);
}

static void whole_file(struct file *f, bool big)
{
    header(f, big, 0);
    load(f, 10, 0x1000, 1, "one", "ABCD");
    other(f, 2, 24); /* debug info */
    load(f, 11, 0x2000, 2, "two", "EFGHIJ");
    other(f, 4, 8); /* unwinding info */
    move(f, 20, 0x1000, 0x3000, 4, 1);
    other(f, 99, 3); /* of a newer writer */
    load(f, 30, 0x1000, 3, "three", "KL");
    other(f, 3, 0); /* close */
}

static void records(bool big)
{
    struct file f;
    struct assay_error e;
    uint64_t low, high;
    whole_file(&f, big);
    struct assay_image *im = new_image();
    assert_int_equal(read_file(im, &f, f.size, &e), ASSAY_OK);
    struct assay_view *v = view_of(im);
    assert_int_equal(assay_view_advance(v, 11, &low, &high), 0);
    assert_function(im, v, 0x1000, "ABCD", "one");
    assert_function(im, v, 0x2000, "EFGHIJ", "two");
    assert_function(im, v, 0x3000, "ABCD", "one"); /* to come */
    assert_int_equal(assay_view_advance(v, 20, &low, &high), 1);
    assert_int_equal(low, 0x1000);
    assert_int_equal(high, 0x1004);
    assert_function(im, v, 0x3000, "ABCD", "one");
    assert_function(im, v, 0x1000, "KL", "three"); /* to come */
    assert_none(v, 0x1002);
    assert_int_equal(assay_view_advance(v, 30, &low, &high), 0);
    assert_function(im, v, 0x1000, "KL", "three");
    assay_view_free(v);
    assay_image_free(im);
}

static void little_endian(void **state)
{
    (void)state;
    records(false);
}

static void big_endian(void **state)
{
    (void)state;
    records(true);
}

/* Counter values say nothing of the recording's clock: the code is there from the beginning. */
static void counter_times(void **state)
{
    (void)state;
    struct file f;
    struct assay_error e;
    header(&f, false, 1);
    load(&f, 123456789, 0x1000, 1, "one", "ABCD");
    struct assay_image *im = new_image();
    assert_int_equal(assay_image_exec(im, 5, 77), ASSAY_OK);
    assert_int_equal(read_file(im, &f, f.size, &e), ASSAY_OK);
    struct assay_view *v = view_of(im);
    assert_function(im, v, 0x1000, "ABCD", "one");
    uint64_t low, high;
    assert_int_equal(assay_view_advance(v, 5, &low, &high), 1); /* it was there before the exec, and not after it */
    assay_view_free(v);
    assay_image_free(im);
}

static bool is_record_end(const size_t *ends, size_t n)
{
    for (; *ends; ends++)
        if (*ends == n)
            return true;
    return false;
}

/* Whole records are read, the error names the place of the one that is cut. */
static void every_prefix(void **state)
{
    (void)state;
    struct file f;
    struct assay_error e;
    whole_file(&f, false);
    /* header 40; load 16 + 40 + 4 + 4; debug 40; load 66; unwinding 24; move 64; newer 19; load 16 + 40 + 6 + 2; close 16 */
    static const size_t ends[] = {40, 104, 144, 210, 234, 298, 317, 381, 397, 0};
    assert_int_equal(f.size, 397);
    for (size_t n = 0; n <= f.size; n++) {
        struct assay_image *im = new_image();
        int s = read_file(im, &f, n, &e);
        size_t record = 0;
        for (const size_t *end = ends; *end && *end <= n; end++)
            record = *end;
        assert_int_equal(s, is_record_end(ends, n) ? ASSAY_OK : ASSAY_E_TRUNCATED);
        if (s != ASSAY_OK)
            assert_int_equal(e.offset, record);
        struct assay_view *v = view_of(im);
        if (n >= 104)
            assert_function(im, v, 0x1000, "ABCD", "one");
        else
            assert_none(v, 0x1000);
        assay_view_free(v);
        assay_image_free(im);
    }
}

struct damage {
    const char *what;
    size_t at;
    uint64_t value;
    unsigned size;
    int status;
    uint64_t offset;
    bool two; /* the record behind it is still read */
};

static void damaged_fields(void **state)
{
    (void)state;
    /* the first load is at 40: its size at 44, address at 72, code size at 80, name at 96; the second at 104; a move at 170 */
    static const struct damage damages[] = {
        {"magic", 0, 0x4a695445, 4, ASSAY_E_NOT_RECOGNISED, 0, false},
        {"header size", 8, 39, 4, ASSAY_E_BAD_FORMAT, 0, false},
        {"header size", 8, 4000, 4, ASSAY_E_TRUNCATED, 0, false},
        {"record size 0", 44, 0, 4, ASSAY_E_BAD_FORMAT, 40, false},
        {"record size 15", 44, 15, 4, ASSAY_E_BAD_FORMAT, 40, false},
        {"record size past the end", 44, 0xffffffff, 4, ASSAY_E_TRUNCATED, 40, false},
        {"code size", 80, 5, 8, ASSAY_E_BAD_FORMAT, 40, true},
        {"code size", 80, UINT64_MAX, 8, ASSAY_E_BAD_FORMAT, 40, true},
        {"code address", 72, UINT64_MAX - 2, 8, ASSAY_E_BAD_FORMAT, 40, true},
        {"name and code without a NUL", 96, 0x4141414141414141, 8, ASSAY_E_BAD_FORMAT, 40, true},
        {"moved index", 170 + 56, 9, 8, ASSAY_E_BAD_FORMAT, 170, true},
        {"moved to", 170 + 40, UINT64_MAX, 8, ASSAY_E_BAD_FORMAT, 170, true},
        {"move record size", 170 + 4, 63, 4, ASSAY_E_BAD_FORMAT, 170, true},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        for (unsigned big = 0; big < 2; big++) {
            const struct damage *d = &damages[i];
            struct file f;
            struct assay_error e;
            header(&f, big, 0);
            load(&f, 10, 0x1000, 1, "one", "ABCD");
            load(&f, 11, 0x2000, 2, "two", "EFGHIJ");
            move(&f, 12, 0x1000, 0x3000, 4, 1);
            put_at(&f, d->at, d->value, d->size);
            struct assay_image *im = new_image();
            int s = read_file(im, &f, f.size, &e);
            if (s != d->status || e.offset != d->offset)
                fail_msg("%s: %d at %llu: %s", d->what, s, (unsigned long long)e.offset, e.text);
            struct assay_view *v = view_of(im);
            if (d->two)
                assert_function(im, v, 0x2000, "EFGHIJ", "two");
            else
                assert_none(v, 0x2000);
            assay_view_free(v);
            assay_image_free(im);
        }
    }
}

/* Many moves: each index is followed on its own. */
static void many_functions(void **state)
{
    (void)state;
    struct file f;
    struct assay_error e;
    struct assay_image *im = new_image();
    for (unsigned i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        header(&f, i % 2, 0);
        for (unsigned k = 0; k < 40; k++) { /* 64 slots at first: the table grows */
            load(&f, i + 1, 0x100000 + i * 0x1000 + k * 16, k * 0x100000000ull, name, "AB");
        }
        move(&f, i + 2, 0x100000 + i * 0x1000, 0x900000 + i * 0x1000, 2, 39 * 0x100000000ull);
        assert_int_equal(read_file(im, &f, f.size, &e), ASSAY_OK);
    }
    struct assay_view *v = view_of(im);
    uint64_t low, high;
    assay_view_advance(v, 1000, &low, &high);
    assert_function(im, v, 0x900000 + 123 * 0x1000, "AB", "f123");
    assert_function(im, v, 0x100000 + 299 * 0x1000 + 38 * 16, "AB", "f299");
    assert_none(v, 0x100000 + 299 * 0x1000 + 39 * 16);
    assay_view_free(v);
    assay_image_free(im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_endian), cmocka_unit_test(big_endian),     cmocka_unit_test(counter_times),
        cmocka_unit_test(every_prefix),  cmocka_unit_test(damaged_fields), cmocka_unit_test(many_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
