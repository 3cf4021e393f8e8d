/* SPDX-License-Identifier: MIT */
/* What assay record writes, read back. */
#include <assay/perfdata.h>
#include <assay/perfwrite.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

/* perf on 64-bit hosts takes the bytes of a packet from one AUXTRACE record only: a stream of any length is one. */
static void a_stream_is_one_record(void **state)
{
    (void)state;
    enum { SIZE = (33 << 20) + 5 };
    char path[] = "/tmp/assay-perfwrite-XXXXXX";
    close(mkstemp(path));
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, SIZE), 0);
    struct assay_perfwrite *w;
    struct assay_error e = {0};
    assert_int_equal(assay_perfwrite_open(path, true, &w, &e), ASSAY_OK);
    assay_perfwrite_begin(w, &(struct assay_perf_pt_info){0});
    assay_perfwrite_auxtrace(w, 0, 7, 0, fd, 0, SIZE);
    assert_int_equal(assay_perfwrite_finish(w, &e), ASSAY_OK);
    assay_perfwrite_free(w);
    close(fd);

    struct assay_perf *f;
    struct assay_perf_record r;
    int records = 0;
    assert_int_equal(assay_perf_open(path, &f, &e), ASSAY_OK);
    while (assay_perf_next(f, &r) > 0)
        if (r.type == ASSAY_PERF_AUXTRACE) {
            records++;
            assert_int_equal(r.auxtrace.size, (SIZE + 7) / 8 * 8);
            assert_int_equal(r.auxtrace.offset, 0);
        }
    assert_int_equal(records, 1);
    assay_perf_close(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stream_is_one_record)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
