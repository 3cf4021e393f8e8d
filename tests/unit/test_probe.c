/* SPDX-License-Identifier: MIT */
/* The probe on made-up machines: every state of every facility. */
#include <assay/probe.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "folder.h"

enum { PT_TYPE = 9 };
#define PERFMON "CapEff:\t0000004000000000\n" /* bit 38 */
#define SYSLOG  "CapEff:\t0000000400000000\n" /* bit 34 */
#define NOBODY  "Name:\tx\nCapEff:\t0000000000000000\n"

/* What the kernel answers; by default the PMUs are there and all is permitted. */
static struct {
    int pt, user, kernel; /* of perf_event_open: descriptor or -errno */
    uint32_t leaf1_ecx, leaf7_ebx, leaf14_ebx;
    const char *version, *help; /* what programs print; NULL: they fail */
} kernel;

static int fake_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    assert_int_equal(pid, 0);
    assert_int_equal(cpu, -1);
    assert_int_equal(group_fd, -1);
    assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
    if (attr->type != PT_TYPE)
        assert_int_equal(attr->type, PERF_TYPE_HARDWARE);
    int error = attr->type == PT_TYPE ? kernel.pt : attr->exclude_kernel ? kernel.user : kernel.kernel;
    return error ? error : open("/dev/null", O_RDONLY);
}

static bool fake_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t reg[4])
{
    assert_int_equal(subleaf, 0);
    reg[1] = leaf == 7 ? kernel.leaf7_ebx : leaf == 0x14 ? kernel.leaf14_ebx : 0;
    reg[2] = leaf == 1 ? kernel.leaf1_ecx : 0;
    return true;
}

static int fake_run(const char *program, const char *argument, char *output, size_t size)
{
    (void)program;
    const char *text = strcmp(argument, "--version") == 0 ? kernel.version : kernel.help;
    snprintf(output, size, "%s", text ? text : "");
    return text ? 0 : -ECHILD;
}

static struct assay_sys machine;

static int begin(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    machine = (struct assay_sys){.root = root,
                                 .path = "/usr/local/bin::/usr/bin",
                                 .machine = "x86_64",
                                 .perf_event_open = fake_event_open,
                                 .cpuid = fake_cpuid,
                                 .run = fake_run};
    if (make_root() < 0)
        return -1;
    make_file("/proc/self/status", NOBODY, 0600);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return drop_root();
}

static struct assay_probe_result ask(enum assay_probe_id id, enum assay_probe_status status)
{
    struct assay_probe_result r;
    assay_probe(&machine, id, &r);
    if (r.status != status)
        fail_msg("%s: %s (%s%s)", assay_probe_id_name(id), assay_probe_status_name(r.status), r.found, r.cause);
    /* what is not wholly there has a cause, and something that works all the same */
    assert_true((status == ASSAY_PROBE_YES) == (*r.cause == '\0'));
    assert_true((status == ASSAY_PROBE_YES) == (*r.without == '\0'));
    assert_true(status == ASSAY_PROBE_NO || *r.found);
    assert_null(strchr(r.cause, '\n'));
    return r;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" without \"%s\"", text, part);
}

/* ---- Processor Trace ---- */

static void pt_there(void **state)
{
    (void)state;
    kernel.leaf7_ebx = 1 << 25;
    kernel.leaf14_ebx = 1 << 1 | 1 << 3;
    make_file("/sys/bus/event_source/devices/intel_pt/type", "9\n", 0600);
    struct assay_probe_result r = ask(ASSAY_PROBE_PT, ASSAY_PROBE_YES);
    has(r.found, "CYC");
    has(r.found, "MTC");
    kernel.leaf14_ebx = 0;
    r = ask(ASSAY_PROBE_PT, ASSAY_PROBE_YES);
    assert_null(strstr(r.found, "CYC"));
}

static void pt_not_permitted(void **state)
{
    (void)state;
    kernel.leaf7_ebx = 1 << 25;
    kernel.pt = -EACCES;
    make_file("/sys/bus/event_source/devices/intel_pt/type", "9\n", 0600);
    make_file("/proc/sys/kernel/perf_event_paranoid", "4\n", 0600);
    struct assay_probe_result r = ask(ASSAY_PROBE_PT, ASSAY_PROBE_LIMITED);
    has(r.cause, "perf_event_paranoid is 4");
    assert_string_equal(r.remedy, "sudo sysctl kernel.perf_event_paranoid=2");
    make_file("/proc/sys/kernel/perf_event_paranoid", "2\n", 0600); /* it is not this that forbids */
    has(ask(ASSAY_PROBE_PT, ASSAY_PROBE_LIMITED).remedy, "seccomp");
    kernel.pt = -EBUSY;
    has(ask(ASSAY_PROBE_PT, ASSAY_PROBE_LIMITED).cause, "busy");
}

static void pt_in_the_processor_alone(void **state)
{
    (void)state;
    kernel.leaf7_ebx = 1 << 25;
    has(ask(ASSAY_PROBE_PT, ASSAY_PROBE_NO).cause, "kernel has no intel_pt");
    kernel.leaf1_ecx = 1u << 31;
    struct assay_probe_result r = ask(ASSAY_PROBE_PT, ASSAY_PROBE_NO);
    has(r.cause, "virtual machine");
    has(r.remedy, "pt_mode=1");
}

static void pt_not_there(void **state)
{
    (void)state;
    struct assay_probe_result r = ask(ASSAY_PROBE_PT, ASSAY_PROBE_NO);
    has(r.cause, "this processor has none");
    has(r.without, "virtual Processor Trace");
    kernel.leaf1_ecx = 1u << 31;
    has(ask(ASSAY_PROBE_PT, ASSAY_PROBE_NO).cause, "virtual machine");
    kernel.leaf1_ecx = 0;
    machine.machine = "aarch64";
    has(ask(ASSAY_PROBE_PT, ASSAY_PROBE_NO).cause, "only Intel");
}

/* ---- counters and who may use them ---- */

static void counters(void **state)
{
    (void)state;
    has(ask(ASSAY_PROBE_COUNTERS, ASSAY_PROBE_YES).found, "kernel");
    kernel.kernel = -EACCES;
    has(ask(ASSAY_PROBE_COUNTERS, ASSAY_PROBE_LIMITED).remedy, "perf_event_paranoid=1");
    kernel.user = kernel.kernel = -ENOENT;
    has(ask(ASSAY_PROBE_COUNTERS, ASSAY_PROBE_NO).cause, "does not know this processor");
    kernel.leaf1_ecx = 1u << 31;
    has(ask(ASSAY_PROBE_COUNTERS, ASSAY_PROBE_NO).remedy, "pmu=on");
    kernel.user = kernel.kernel = -ENOSYS;
    has(ask(ASSAY_PROBE_COUNTERS, ASSAY_PROBE_NO).cause, "seccomp");
    kernel.user = kernel.kernel = -EACCES;
    make_file("/proc/sys/kernel/perf_event_paranoid", "3\n", 0600);
    has(ask(ASSAY_PROBE_COUNTERS, ASSAY_PROBE_NO).remedy, "perf_event_paranoid=2");
}

static void paranoid(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        enum assay_probe_status status;
        const char *remedy;
    } want[] = {{"-1\n", ASSAY_PROBE_YES, ""},
                {"0\n", ASSAY_PROBE_YES, ""},
                {"1\n", ASSAY_PROBE_LIMITED, "sudo sysctl kernel.perf_event_paranoid=0"},
                {"2\n", ASSAY_PROBE_LIMITED, "sudo sysctl kernel.perf_event_paranoid=0"},
                {"3\n", ASSAY_PROBE_NO, "sudo sysctl kernel.perf_event_paranoid=2"},
                {"4\n", ASSAY_PROBE_NO, "sudo sysctl kernel.perf_event_paranoid=2"}};
    has(ask(ASSAY_PROBE_PARANOID, ASSAY_PROBE_NO).cause, "no perf events");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        make_file("/proc/self/status", NOBODY, 0600);
        make_file("/proc/sys/kernel/perf_event_paranoid", want[i].value, 0600);
        struct assay_probe_result r = ask(ASSAY_PROBE_PARANOID, want[i].status);
        assert_string_equal(r.remedy, want[i].remedy);
        assert_int_equal(atoi(r.found), atoi(want[i].value));
        make_file("/proc/self/status", PERFMON, 0600);
        ask(ASSAY_PROBE_PARANOID, ASSAY_PROBE_YES);
    }
}

static void kptr(void **state)
{
    (void)state;
    has(ask(ASSAY_PROBE_KPTR, ASSAY_PROBE_NO).cause, "cannot be read");
    make_file("/proc/sys/kernel/kptr_restrict", "0\n", 0600);
    ask(ASSAY_PROBE_KPTR, ASSAY_PROBE_YES);
    make_file("/proc/sys/kernel/kptr_restrict", "1\n", 0600);
    has(ask(ASSAY_PROBE_KPTR, ASSAY_PROBE_LIMITED).remedy, "kptr_restrict=0");
    make_file("/proc/self/status", SYSLOG, 0600);
    ask(ASSAY_PROBE_KPTR, ASSAY_PROBE_YES);
    make_file("/proc/sys/kernel/kptr_restrict", "2\n", 0600);
    has(ask(ASSAY_PROBE_KPTR, ASSAY_PROBE_LIMITED).cause, "everybody");
}

/* ---- the rest ---- */

static void i915(void **state)
{
    (void)state;
    has(ask(ASSAY_PROBE_I915, ASSAY_PROBE_NO).cause, "/dev/dri");
    make_file("/dev/dri/card0", "", 0600);
    has(ask(ASSAY_PROBE_I915, ASSAY_PROBE_NO).cause, "not i915");
    make_file("/proc/sys/dev/i915/perf_stream_paranoid", "1\n", 0600);
    assert_string_equal(ask(ASSAY_PROBE_I915, ASSAY_PROBE_LIMITED).remedy,
                        "sudo sysctl dev.i915.perf_stream_paranoid=0");
    make_file("/proc/self/status", PERFMON, 0600);
    ask(ASSAY_PROBE_I915, ASSAY_PROBE_YES);
    make_file("/proc/self/status", NOBODY, 0600);
    make_file("/proc/sys/dev/i915/perf_stream_paranoid", "0\n", 0600);
    ask(ASSAY_PROBE_I915, ASSAY_PROBE_YES);
}

static void cpum_cf(void **state)
{
    (void)state;
    has(ask(ASSAY_PROBE_CPUM_CF, ASSAY_PROBE_NO).cause, "no IBM Z");
    machine.machine = "s390x";
    has(ask(ASSAY_PROBE_CPUM_CF, ASSAY_PROBE_NO).remedy, "activation profile");
    make_file("/sys/bus/event_source/devices/cpum_cf/type", "8\n", 0600);
    has(ask(ASSAY_PROBE_CPUM_CF, ASSAY_PROBE_LIMITED).cause, "/dev/hwctr is not there");
    make_file("/dev/hwctr", "", 0600);
    has(ask(ASSAY_PROBE_CPUM_CF, ASSAY_PROBE_LIMITED).cause, "CAP_PERFMON");
    make_file("/proc/self/status", PERFMON, 0600);
    ask(ASSAY_PROBE_CPUM_CF, ASSAY_PROBE_YES);
}

static void qemu(void **state)
{
    (void)state;
    kernel.version = "qemu-x86_64 version 7.2.22 (Debian 1:7.2)\nCopyright\n";
    kernel.help = "-singlestep\n-plugin  [file=]<file>\n";
    struct assay_probe_result r = ask(ASSAY_PROBE_QEMU, ASSAY_PROBE_NO);
    has(r.cause, "qemu-x86_64, qemu-i386, qemu-s390x not installed");
    assert_string_equal(r.remedy, "sudo apt install qemu-user");
    make_file("/usr/bin/qemu-x86_64", "", 0600); /* not a program */
    ask(ASSAY_PROBE_QEMU, ASSAY_PROBE_NO);
    make_file("/usr/local/bin/qemu-x86_64", "", 0700);
    r = ask(ASSAY_PROBE_QEMU, ASSAY_PROBE_LIMITED);
    has(r.found, "qemu-x86_64 7.2.22, with plugins");
    has(r.cause, "qemu-i386, qemu-s390x not installed");
    make_file("/usr/bin/qemu-i386", "", 0700);
    make_file("/usr/bin/qemu-s390x", "", 0700);
    assert_string_equal(ask(ASSAY_PROBE_QEMU, ASSAY_PROBE_YES).remedy, "");
    kernel.help = "-singlestep\n";
    has(ask(ASSAY_PROBE_QEMU, ASSAY_PROBE_NO).cause, "without plugins");
}

static void perf(void **state)
{
    (void)state;
    has(ask(ASSAY_PROBE_PERF, ASSAY_PROBE_NO).remedy, "linux-perf");
    make_file("/usr/bin/perf", "", 0700);
    has(ask(ASSAY_PROBE_PERF, ASSAY_PROBE_LIMITED).cause, "does not run");
    kernel.version = "perf version 6.1.90\n";
    assert_string_equal(ask(ASSAY_PROBE_PERF, ASSAY_PROBE_YES).found, "perf 6.1.90");
}

/* ---- the real ways of asking ---- */

static void programs_are_run(void **state)
{
    (void)state;
    machine.run = NULL;
    make_file("/usr/bin/perf", "#!/bin/sh\necho perf version 1.2.3 && echo $1 >&2\n", 0700);
    assert_string_equal(ask(ASSAY_PROBE_PERF, ASSAY_PROBE_YES).found, "perf 1.2.3");
    make_file("/usr/bin/perf", "#!/bin/sh\necho perf version 1.2.3; exit 1\n", 0700);
    ask(ASSAY_PROBE_PERF, ASSAY_PROBE_LIMITED);
    make_file("/usr/bin/perf", "#!/bin/sh\necho perf version 4.5; yes | head -c 300000\n", 0700);
    assert_string_equal(ask(ASSAY_PROBE_PERF, ASSAY_PROBE_YES).found, "perf 4.5");
}

/* Whatever this machine is, and another: an answer to everything, and no descriptor left open. */
static void all_of_this_machine(void **state)
{
    (void)state;
    int before = dup(0);
    for (int id = 0; id < ASSAY_PROBES; id++) {
        struct assay_probe_result r;
        assay_probe(&machine, (enum assay_probe_id)id, &r);
        assay_probe(NULL, (enum assay_probe_id)id, &r);
        assert_true(*r.found || *r.cause);
    }
    int after = dup(0);
    assert_int_equal(after, before + 1);
    close(before);
    close(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pt_there, begin, end),
        cmocka_unit_test_setup_teardown(pt_not_permitted, begin, end),
        cmocka_unit_test_setup_teardown(pt_in_the_processor_alone, begin, end),
        cmocka_unit_test_setup_teardown(pt_not_there, begin, end),
        cmocka_unit_test_setup_teardown(counters, begin, end),
        cmocka_unit_test_setup_teardown(paranoid, begin, end),
        cmocka_unit_test_setup_teardown(kptr, begin, end),
        cmocka_unit_test_setup_teardown(i915, begin, end),
        cmocka_unit_test_setup_teardown(cpum_cf, begin, end),
        cmocka_unit_test_setup_teardown(qemu, begin, end),
        cmocka_unit_test_setup_teardown(perf, begin, end),
        cmocka_unit_test_setup_teardown(programs_are_run, begin, end),
        cmocka_unit_test_setup_teardown(all_of_this_machine, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
