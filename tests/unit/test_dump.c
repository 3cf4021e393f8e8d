/* SPDX-License-Identifier: MIT */
/* assay dump of a perf.data whose trace has holes: pieces that follow each other are one, a hole is a loss. */
#include "../../cli/dump.h"
#include "../perf_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* The command's other parts ask for the verbs. */
const struct cli_verb *const cli_verbs[] = {NULL};

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"

static void put_piece(struct pb *b, uint32_t idx, uint64_t offset, const char *trace, size_t n)
{
    size_t r = pb_begin(b, 71, 0);
    pb_u64(b, n);
    pb_u64(b, offset);
    pb_u64(b, 0);
    pb_u32(b, idx);
    pb_u32(b, 50);
    pb_u32(b, idx);
    pb_u32(b, 0);
    pb_end(b, r);
    pb_bytes(b, trace, n);
}

static void put_full(struct pb *b, uint64_t offset)
{
    size_t r = pb_begin(b, 11, 0);
    pb_u64(b, offset);
    pb_u64(b, 0);
    pb_u64(b, 1);
    pb_u32(b, 3); /* sample_id: the CPU and 4 bytes without meaning, the identifier */
    pb_u32(b, 0);
    pb_u64(b, 77);
    pb_end(b, r);
}

static int dump(const struct pb *data, bool json, const uint64_t *stream, char *text, size_t size)
{
    static const struct pb_attr attr = {.type = 8, .sample_type = 1 << 16 | 128, .id = 77};
    struct pb file = pb_make_file(&(struct pb_file){.attr = &attr, .attrs = 1, .data = data});
    char path[32];
    uint8_t window[64]; /* the smallest that is of use: every packet crosses it */
    int fd = pb_memory_file(file.p, file.n, path);
    struct cli_verb verb = {.name = "dump"};
    struct cli c = {.verb = &verb, .json = json};
    struct dump d = {.cli = &c, .window = window, .window_size = sizeof window, .filter.to = UINT64_MAX};
    assay_out_init(&c.out, text, size - 1, NULL, NULL);
    int status = dump_perf(&d, path, stream);
    text[c.out.len] = '\0';
    close(fd);
    free(file.p);
    return status;
}

static struct pb make_data(bool hole, bool full)
{
    struct pb b = {0};
    size_t r = pb_begin(&b, 70, 0);
    pb_u32(&b, 1);
    pb_u32(&b, 0);
    pb_u64(&b, 8);
    pb_end(&b, r);
    if (full)
        put_full(&b, 24);
    put_piece(&b, 3, 0, PSB "\x04\x59\x01\x04\x59\x02\x04\x59", 24);
    put_piece(&b, 3, hole ? 64 : 24, full || hole ? PSB "\x02\x23\0\0\0\0\0\0" : "\x03\0\0\0\0\0\0\0",
              full || hole ? 24 : 8);
    put_piece(&b, 5, 0, PSB "\x02\x23\x02\x23\x02\x23\x02\x23", 24);
    return b;
}

static void pieces_in_a_row_are_one(void **state)
{
    (void)state;
    char text[4096];
    uint64_t first = 0;
    struct pb b = make_data(false, false);
    assert_int_equal(dump(&b, false, &first, text, sizeof text), CLI_OK);
    assert_memory_equal(text, "stream 0: cpu 3, thread 50, 32 bytes\n00000000  PSB\n", 51);
    assert_non_null(
        strstr(text, "\n00000016  TNT       branches=N count=1\n00000017  MTC       ctc=3\n00000019  PAD\n"));
    assert_null(strstr(text, "lost"));
    assert_int_equal(dump(&b, false, NULL, text, sizeof text), CLI_OK);
    assert_non_null(strstr(text, "stream 1: cpu 5, thread 50, 24 bytes\n00000000  PSB\n00000010  PSBEND\n"));
    free(b.p);
}

static void a_hole_is_told(void **state)
{
    (void)state;
    char text[4096];
    struct pb b = make_data(true, false);
    assert_int_equal(dump(&b, false, NULL, text, sizeof text), CLI_LOSSES);
    assert_non_null(strstr(text, "00000017  gap       1 bytes passed over: the input ends inside a packet\n"
                                 "00000018  lost      40 bytes: a piece of the AUX data is not in the file\n"
                                 "00000018  PSB\n"));
    assert_int_equal(dump(&b, true, NULL, text, sizeof text), CLI_LOSSES);
    assert_non_null(strstr(text, "{\"stream\":0,\"offset\":24,\"size\":0,\"packet\":\"lost\",\"bytes\":40,"));
    assert_non_null(strstr(text, "{\"stream\":1,\"offset\":16,\"size\":2,\"packet\":\"PSBEND\"}\n"));
    free(b.p);
}

static void a_full_buffer_is_told(void **state)
{
    (void)state;
    char text[4096];
    struct pb b = make_data(false, true);
    assert_int_equal(dump(&b, false, NULL, text, sizeof text), CLI_LOSSES);
    assert_non_null(strstr(text, "00000018  lost      the AUX buffer was full\n00000018  PSB\n"));
    free(b.p);
}

static void a_stream_that_is_not_there_is_a_wrong_use(void **state)
{
    (void)state;
    char text[4096];
    uint64_t none = 2;
    struct pb b = make_data(false, false);
    assert_int_equal(dump(&b, false, &none, text, sizeof text), CLI_USAGE);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_in_a_row_are_one),
        cmocka_unit_test(a_hole_is_told),
        cmocka_unit_test(a_full_buffer_is_told),
        cmocka_unit_test(a_stream_that_is_not_there_is_a_wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
