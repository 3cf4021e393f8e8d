/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: eight threads initialise and use it at once. Run under ThreadSanitizer by `make check`. */
#include "rig.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 200 };

static pthread_barrier_t barrier;

static void *use(void *failures)
{
    unsigned *failed = failures;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        pfm_event_attr_info_t a = {.size = sizeof a};
        *failed += pfm_initialize() != PFM_SUCCESS;
        struct rig_raw r = rig_raw("knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u");
        *failed += r.result != PFM_SUCCESS || r.code[0] != 0x5101b7 || r.code[1] != 0x80800001;
        *failed += pfm_find_event("ICACHE") != (371 << 21 | 10);
        *failed +=
            pfm_get_event_attr_info(371 << 21 | 10, 0, PFM_OS_NONE, &a) != PFM_SUCCESS || strcmp(a.name, "HIT") != 0;
        free(r.name);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    unsigned failed[THREADS] = {0};
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, use, &failed[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(failed[i], 0);
    }
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    setenv("LIBPFM_FORCE_PMU", "knm", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
