/* SPDX-License-Identifier: MIT */
/* libpfm.so.4: what the environment says, and that nothing else of the machine is asked. */
#include "rig.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { ICACHE = 371 << 21 | 10, CYCLES = 51 << 21 };

/* Initialises anew with these variables; NULL: unset. */
static void begin(const char *force, const char *inactive, const char *disabled)
{
    static const char *const name[] = {"LIBPFM_FORCE_PMU", "LIBPFM_ENCODE_INACTIVE", "LIBPFM_DISABLED_PMUS"};
    const char *value[] = {force, inactive, disabled};
    for (int i = 0; i < 3; i++)
        if (value[i])
            setenv(name[i], value[i], 1);
        else
            unsetenv(name[i]);
    pfm_terminate();
    assert_int_equal(pfm_find_event("ICACHE"), PFM_ERR_NOINIT);
    assert_int_equal(pfm_initialize(), PFM_SUCCESS);
}

static void assert_finds(const char *text, int idx)
{
    int found = pfm_find_event(text);
    if (found != idx)
        print_error("%s: %#x\n", text, (unsigned)found);
    assert_int_equal(found, idx);
}

static bool is_present(pfm_pmu_t pmu)
{
    pfm_pmu_info_t p = {.size = sizeof p};
    assert_int_equal(pfm_get_pmu_info(pmu, &p), PFM_SUCCESS);
    return p.is_present;
}

static void test_force(void **state)
{
    (void)state;
    begin("KNM", NULL, NULL);
    assert_finds("ICACHE", ICACHE);
    assert_finds("knm::ICACHE", ICACHE);
    assert_finds("perf::CYCLES", PFM_ERR_NOTFOUND);
    assert_finds("knl::ICACHE", PFM_ERR_NOTFOUND);
    assert_true(is_present(PFM_PMU_INTEL_KNM) && !is_present(PFM_PMU_INTEL_KNL) && !is_present(PFM_PMU_PERF_EVENT));
    begin("knmx", NULL, NULL);
    assert_finds("knm::ICACHE", PFM_ERR_NOTFOUND);
    begin("net", NULL, NULL);
    assert_true(is_present(PFM_PMU_INTEL_NETBURST) && !is_present(PFM_PMU_INTEL_NETBURST_P));
}

static void test_inactive_and_disabled(void **state)
{
    (void)state;
    begin(NULL, NULL, NULL);
    assert_finds("perf::CYCLES", CYCLES);
    assert_finds("page-faults", CYCLES + 28);
    begin("perf", "1", NULL);
    assert_finds("knm::ICACHE", ICACHE);
    assert_finds("ICACHE", PFM_ERR_NOTFOUND);
    begin("perf", "0", NULL);
    assert_finds("knm::ICACHE", PFM_ERR_NOTFOUND);
    begin(NULL, NULL, "knm,perf");
    assert_finds("perf::CYCLES", PFM_ERR_NOTFOUND);
    assert_false(is_present(PFM_PMU_PERF_EVENT));
    assert_int_equal(pfm_get_event_next(CYCLES), -1);
}

/* What a child writes to stderr when it encodes. */
static void said(const char *text, char *line, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        rig_raw(text);
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], line, size - 1);
    line[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void test_verbose(void **state)
{
    (void)state;
    char line[600];
    begin("knm", NULL, NULL);
    said("knm::ICACHE:HITS", line, sizeof line);
    assert_string_equal(line, "");
    setenv("LIBPFM_VERBOSE", "1", 1);
    begin("knm", NULL, NULL);
    said("knm::ICACHE:HITS", line, sizeof line);
    assert_non_null(strstr(line, "HITS"));
    assert_non_null(strstr(line, "did you mean HIT?"));
    said("knl::ICACHE", line, sizeof line);
    assert_non_null(strstr(line, "LIBPFM_ENCODE_INACTIVE=1"));
    unsetenv("LIBPFM_VERBOSE");
}

/* In the strictest mode every system call but read, write and exit ends the process. */
static void test_no_file_is_read(void **state)
{
    (void)state;
    setenv("LIBPFM_PROC_CPUINFO", "/nonexistent", 1);
    begin(NULL, "1", NULL);
    uint64_t codes[2] = {0};
    pfm_pmu_encode_arg_t arg = {.codes = codes, .size = sizeof arg, .count = 2};
    pid_t child = fork();
    if (child == 0) {
        pfm_terminate();
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            syscall(SYS_exit, 77);
        bool good = pfm_initialize() == PFM_SUCCESS;
        good = good && pfm_get_os_event_encoding("knm::OFFCORE_RESPONSE_0", BOTH, PFM_OS_NONE, &arg) == PFM_SUCCESS;
        syscall(SYS_exit, good && codes[1] == 0x18000 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* no seccomp here */
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_force), cmocka_unit_test(test_inactive_and_disabled),
                                       cmocka_unit_test(test_verbose), cmocka_unit_test(test_no_file_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
