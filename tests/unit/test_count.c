/* SPDX-License-Identifier: MIT */
/* Counting on a made-up kernel: what is opened, what becomes of each refusal, what values are worth. */
#include <assay/count.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "fake_perf.h"
#include "folder.h"

enum { CYCLES = 0, INSTRUCTIONS = 1, BRANCHES = 4, HW = PERF_TYPE_HARDWARE, SW = PERF_TYPE_SOFTWARE, UNCORE = 14 };

static struct assay_sys machine;
static struct assay_count *count;
static struct assay_count_event event[8];
static size_t events;
static const pid_t task[] = {101, 102, 103};
static const int cpu[] = {0, 1, 2, 3};
static uint32_t leaf10_eax, leaf1_ecx;

static bool fake_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t reg[4])
{
    assert_int_equal(subleaf, 0);
    reg[0] = leaf == 10 ? leaf10_eax : 0;
    reg[2] = leaf == 1 ? leaf1_ecx : 0;
    reg[3] = leaf == 10 ? 3 : 0;
    return true;
}

static int begin(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    machine = (struct assay_sys){.root = root,
                                 .perf_event_open = fake_open,
                                 .read = fake_read,
                                 .ioctl = fake_ioctl,
                                 .close = fake_close,
                                 .cpuid = fake_cpuid};
    events = 0;
    count = NULL;
    leaf10_eax = 4 << 8;
    leaf1_ecx = 0;
    if (make_root() < 0)
        return -1;
    make_file("/proc/self/status", "CapEff:\t0000000000000000\n", 0600);
    make_file("/proc/sys/kernel/perf_event_paranoid", "2\n", 0600);
    make_file("/sys/bus/event_source/devices/cpu/type", "4\n", 0600);
    return 0;
}

/* Every descriptor that was opened is closed once. */
static int end(void **state)
{
    (void)state;
    assay_count_close(count);
    if (fake.opened != fake.closed || fake_nth(0)) {
        print_error("%d opened, %d closed\n", fake.opened, fake.closed);
        return -1;
    }
    return drop_root();
}

static void ask(uint32_t type, uint64_t config, uint32_t group)
{
    event[events++] = (struct assay_count_event){.type = type, .config = config, .group = group, .scale = 1};
}

static void open_on(struct assay_count_target t)
{
    struct assay_error e;
    assert_int_equal(assay_count_open(&machine, event, events, &t, &count, &e), ASSAY_OK);
}
static void open_tasks(size_t n) { open_on((struct assay_count_target){.task = task, .tasks = n, .inherit = true}); }
static void open_cpus(size_t n) { open_on((struct assay_count_target){.cpu = cpu, .cpus = n}); }

static int refuse(struct fake_refusal r)
{
    for (int i = 0; i < FAKE_REFUSALS; i++)
        if (!fake.refusal[i].error) {
            fake.refusal[i] = r;
            return i;
        }
    fail();
    return -1;
}

static struct assay_count_value read_value(size_t n)
{
    struct assay_count_value v;
    struct assay_error e;
    assert_int_equal(assay_count_read(count, &e), ASSAY_OK);
    assay_count_get(count, n, ASSAY_COUNT_ALL, &v);
    return v;
}

static struct assay_count_why why_not(size_t n, enum assay_count_state expected)
{
    struct assay_count_why why;
    struct assay_count_value v = read_value(n);
    assert_int_equal(assay_count_state(count, n, &v, &why), expected);
    assert_true((expected == ASSAY_COUNT_COUNTED) == (*why.reason == '\0'));
    assert_null(strchr(why.reason, '\n'));
    return why;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" without \"%s\"", text, part);
}

static void check_value(size_t n, uint64_t value, uint64_t enabled, uint64_t running)
{
    struct assay_count_value v = read_value(n);
    assert_int_equal(v.value, value);
    assert_int_equal(v.enabled, enabled);
    assert_int_equal(v.running, running);
}

/* ---- what is asked of the kernel ---- */

static void program(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    event[0].config1 = 11;
    event[0].config2 = 12;
    event[0].exclude_user = event[0].exclude_guest = event[0].pinned = true;
    open_on((struct assay_count_target){.task = task, .tasks = 1, .inherit = true, .on_exec = true});
    const struct perf_event_attr *a = &fake_nth(0)->attr;
    assert_int_equal(fake_nth(0)->pid, 101);
    assert_int_equal(fake_nth(0)->cpu, -1);
    assert_true(a->disabled && a->enable_on_exec && a->inherit && a->exclude_user && a->exclude_guest && a->pinned);
    assert_false(a->exclude_kernel || a->exclude_host || a->exclusive || a->sample_period);
    assert_int_equal(a->config1, 11);
    assert_int_equal(a->config2, 12);
    assert_int_equal(a->read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING),
                     PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
    fake_count(CYCLES, 500, 90, 90);
    check_value(0, 500, 90, 90);
    why_not(0, ASSAY_COUNT_COUNTED);
}

static void processors(void **state)
{
    (void)state;
    struct assay_count_value v;
    ask(SW, 0, 0);
    open_cpus(3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fake_nth(i)->cpu, i);
        assert_int_equal(fake_nth(i)->pid, -1);
        assert_false(fake_nth(i)->attr.inherit);
        fake_nth(i)->value = 10u << i;
        fake_nth(i)->enabled = fake_nth(i)->running = 7;
    }
    check_value(0, 70, 21, 21);
    assay_count_get(count, 0, 1, &v);
    assert_int_equal(v.value, 20);
}

static void starting_and_stopping(void **state)
{
    struct assay_error e;
    (void)state;
    ask(HW, CYCLES, 1);
    ask(HW, BRANCHES, 1);
    ask(SW, 2, 0);
    open_tasks(2);
    for (int t = 0; t < 2; t++) {
        assert_false(fake_nth(3 * t)->on);
        assert_true(fake_nth(3 * t + 1)->on); /* a member follows its leader */
        assert_false(fake_nth(3 * t + 2)->on);
    }
    assert_int_equal(assay_count_enable(count, &e), ASSAY_OK);
    for (int i = 0; i < 6; i++)
        assert_true(fake_nth(i)->on);
    assert_int_equal(assay_count_disable(count, &e), ASSAY_OK);
    assert_true(fake_nth(1)->on && fake_nth(4)->on);
    assert_false(fake_nth(0)->on || fake_nth(2)->on || fake_nth(3)->on || fake_nth(5)->on);
    fake.ioctl_error = ENOTTY;
    assert_int_equal(assay_count_enable(count, &e), ASSAY_E_SYSTEM);
    assert_int_equal(e.sys, ENOTTY);
}

static void groups(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    ask(HW, INSTRUCTIONS, 1);
    ask(SW, 2, 0);
    ask(HW, BRANCHES, 2);
    open_tasks(1);
    assert_int_equal(fake_nth(1)->lead, fake_nth(0) - fake.event);
    assert_int_equal(fake_nth(3)->lead, fake_nth(3) - fake.event);
    fake_count(CYCLES, 100, 50, 50);
    fake_count(INSTRUCTIONS, 250, 1, 1); /* the group's times are the leader's */
    fake_count(2, 9, 60, 60);
    fake_count(BRANCHES, 20, 70, 35);
    fake.reversed = true; /* matched by id, not by place */
    check_value(0, 100, 50, 50);
    check_value(1, 250, 50, 50);
    check_value(2, 9, 60, 60);
    check_value(3, 20, 70, 35);
    assert_true(assay_count_in_group(count, 0) && assay_count_in_group(count, 3));
    assert_false(assay_count_in_group(count, 2));
}

static void nothing(void **state)
{
    struct assay_error e;
    struct assay_count_target none = {.task = task};
    (void)state;
    assert_int_equal(assay_count_open(&machine, event, 1, &none, &count, &e), ASSAY_E_ARGUMENT);
    none.tasks = 1;
    assert_int_equal(assay_count_open(&machine, event, 0, &none, &count, &e), ASSAY_E_ARGUMENT);
    assert_null(count);
}

/* ---- what values are worth ---- */

static void extended(void **state)
{
    (void)state;
    const struct assay_count_value quarter = {300, 1000, 250}, whole = {300, 1000, 1000}, never = {0, 1000, 0};
    const struct assay_count_value large = {UINT64_C(1) << 62, 1000, 500};
    assert_true(assay_count_extended(&quarter) == 1200.0);
    assert_true(assay_count_extended(&whole) == 300.0);
    assert_true(assay_count_extended(&never) == 0.0);
    assert_true(assay_count_extended(&large) == 9223372036854775808.0);
}

static void never_scheduled(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    open_tasks(1);
    fake_count(CYCLES, 0, 1000, 0);
    struct assay_count_why why = why_not(0, ASSAY_COUNT_NOT_COUNTED);
    has(why.reason, "waited");
    has(why.reason, "4 general and 3 fixed");
    has(why.remedy, "fewer events");
    make_file("/proc/sys/kernel/nmi_watchdog", "1\n", 0600);
    has(why_not(0, ASSAY_COUNT_NOT_COUNTED).remedy, "nmi_watchdog=0");
}

static void group_never_scheduled(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    ask(HW, BRANCHES, 1);
    open_tasks(1);
    fake_count(CYCLES, 0, 1000, 0);
    struct assay_count_why why = why_not(1, ASSAY_COUNT_NOT_COUNTED);
    has(why.reason, "group");
    has(why.remedy, ":W");
}

static void never_enabled(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    open_tasks(1);
    has(why_not(0, ASSAY_COUNT_NOT_COUNTED).reason, "nothing ran");
}

/* The kernel reads the end of file from a pinned event that it could not keep on the PMU. */
static void pinned_lost_its_place(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    ask(HW, INSTRUCTIONS, 1);
    ask(HW, BRANCHES, 1);
    open_tasks(1);
    fake_count(CYCLES, 5, 10, 10);
    check_value(0, 5, 10, 10);
    fake.end_of_file = true;
    for (size_t i = 0; i < 3; i++)
        has(why_not(i, ASSAY_COUNT_NOT_COUNTED).reason, "pinned");
}

/* ---- refusals ---- */

static void every_refusal(void **state)
{
    static const struct {
        int error;
        const char *reason, *remedy;
    } is[] = {
        {EACCES, "perf_event_paranoid is 2, the kernel's part needs 1", "perf_event_paranoid=1"},
        {EPERM, "perf_event_paranoid is 2", "event:u"},
        {ENOENT, "this processor does not count it", ""},
        {ENODEV, "this processor does not count it", ""},
        {EOPNOTSUPP, "the PMU cannot do what was asked", "modifiers"},
        {EINVAL, "no such code", "-a"},
        {EMFILE, "too many open files", "ulimit"},
        {ENFILE, "whole system", "file-max"},
        {EBUSY, "taken", "ended"},
        {E2BIG, "too old", ""},
        {ENOSYS, "seccomp", "--cap-add"},
        {ENOMEM, "Cannot allocate memory", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        memset(fake.refusal, 0, sizeof fake.refusal);
        events = 0;
        ask(SW, 1, 0);
        ask(HW, CYCLES, 0);
        refuse((struct fake_refusal){.error = is[i].error, .type = HW, .config = CYCLES});
        open_tasks(2);
        fake_count(1, 8, 20, 20);
        struct assay_count_why why = why_not(1, ASSAY_COUNT_NOT_SUPPORTED);
        has(why.reason, is[i].reason);
        has(why.remedy, is[i].remedy);
        check_value(0, 16, 40, 40); /* the other goes on */
        assay_count_close(count);
        count = NULL;
    }
}

static void no_core_pmu(void **state)
{
    (void)state;
    assert_int_equal(drop_root(), 0);
    assert_int_equal(make_root(), 0);
    make_file("/proc/sys/kernel/perf_event_paranoid", "1\n", 0600);
    ask(HW, CYCLES, 0);
    refuse((struct fake_refusal){.error = ENOENT, .type = HW, .config = CYCLES});
    open_tasks(1);
    has(why_not(0, ASSAY_COUNT_NOT_SUPPORTED).reason, "does not know this processor");
    assay_count_close(count);
    leaf1_ecx = 1u << 31;
    open_tasks(1);
    struct assay_count_why why = why_not(0, ASSAY_COUNT_NOT_SUPPORTED);
    has(why.reason, "virtual machine");
    has(why.remedy, "pmu=on");
    has(why.remedy, "--virtual");
}

static void permission_for_processors_and_tracepoints(void **state)
{
    (void)state;
    ask(PERF_TYPE_TRACEPOINT, 300, 0);
    ask(HW, CYCLES, 0);
    refuse((struct fake_refusal){.error = EACCES, .any = true});
    open_cpus(2);
    has(why_not(0, ASSAY_COUNT_NOT_SUPPORTED).reason, "tracepoints need -1");
    has(why_not(1, ASSAY_COUNT_NOT_SUPPORTED).remedy, "perf_event_paranoid=0");
    assay_count_close(count);
    make_file("/proc/sys/kernel/perf_event_paranoid", "-1\n", 0600);
    open_cpus(2);
    has(why_not(1, ASSAY_COUNT_NOT_SUPPORTED).reason, "container");
}

/* What was not asked for by name is left out, and that is told. */
static void user_mode_alone(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    ask(HW, INSTRUCTIONS, 0);
    event[1].exclude_user = event[1].privilege = true; /* :k */
    ask(SW, PERF_COUNT_SW_CONTEXT_SWITCHES, 0);        /* there are none in user mode */
    ask(PERF_TYPE_TRACEPOINT, 300, 0);
    refuse((struct fake_refusal){.error = EACCES, .any = true, .with_kernel = true});
    open_tasks(1);
    assert_true(assay_count_user_only(count, 0));
    assert_true(fake_nth(0)->attr.exclude_kernel && fake_nth(0)->attr.exclude_hv);
    fake_count(CYCLES, 4, 5, 5);
    check_value(0, 4, 5, 5);
    for (size_t i = 1; i < 4; i++) {
        assert_false(assay_count_user_only(count, i));
        has(why_not(i, ASSAY_COUNT_NOT_SUPPORTED).reason, "perf_event_paranoid is 2");
    }
}

static void permission_hides_another_reason(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    refuse((struct fake_refusal){.error = EACCES, .any = true, .with_kernel = true});
    refuse((struct fake_refusal){.error = ENOENT, .any = true});
    open_tasks(1);
    has(why_not(0, ASSAY_COUNT_NOT_SUPPORTED).reason, "does not count it");
}

static void switches_in_user_mode(void **state)
{
    (void)state;
    ask(SW, PERF_COUNT_SW_CONTEXT_SWITCHES, 0);
    event[0].exclude_kernel = event[0].privilege = true;
    open_tasks(1);
    has(why_not(0, ASSAY_COUNT_NOT_SUPPORTED).reason, "in the kernel");
}

static void package(void **state)
{
    (void)state;
    ask(UNCORE, 0x304, 0);
    event[0].package = true;
    strcpy(event[0].pmu, "uncore_imc_0");
    strcpy(event[0].cpus, "0,2");
    refuse((struct fake_refusal){.error = EINVAL, .type = UNCORE, .config = 0x304, .pid = 101});
    open_tasks(1);
    struct assay_count_why why = why_not(0, ASSAY_COUNT_NOT_SUPPORTED);
    has(why.reason, "uncore_imc_0 counts a whole package");
    has(why.remedy, "-a");
    assay_count_close(count);
    open_cpus(4); /* of four processors two count */
    assert_int_equal(fake_nth(0)->cpu, 0);
    assert_int_equal(fake_nth(1)->cpu, 2);
    assert_null(fake_nth(2));
    assert_true(assay_count_has(count, 0, 0) && !assay_count_has(count, 0, 1) && assay_count_has(count, 0, 2));
    fake_count(0x304, 5, 6, 6);
    check_value(0, 10, 12, 12);
    assay_count_close(count);
    open_on((struct assay_count_target){.cpu = cpu + 3, .cpus = 1});
    has(why_not(0, ASSAY_COUNT_NOT_COUNTED).reason, "none of the chosen processors");
}

static void why_invalid(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    event[0].precise = 2;
    ask(9, 0, 0);
    event[1].exclude_kernel = event[1].privilege = true;
    strcpy(event[1].pmu, "msr");
    refuse((struct fake_refusal){.error = EINVAL, .any = true});
    open_tasks(1);
    has(why_not(0, ASSAY_COUNT_NOT_SUPPORTED).reason, "sampling");
    has(why_not(1, ASSAY_COUNT_NOT_SUPPORTED).reason, "msr cannot tell user and kernel");
}

/* ---- older kernels ---- */

static void smaller_attr(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    fake.attr_size = PERF_ATTR_SIZE_VER1;
    open_tasks(1);
    assert_int_equal(fake_nth(0)->attr.size, PERF_ATTR_SIZE_VER1);
    fake_count(CYCLES, 3, 4, 4);
    check_value(0, 3, 4, 4);
}

static void no_lost_samples(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    ask(HW, INSTRUCTIONS, 1);
    ask(HW, BRANCHES, 1);
    refuse((struct fake_refusal){.error = EINVAL, .any = true, .format = PERF_FORMAT_LOST});
    open_tasks(1);
    fake_count(CYCLES, 3, 4, 4);
    fake_count(INSTRUCTIONS, 5, 6, 6);
    fake_count(BRANCHES, 7, 6, 6);
    check_value(0, 3, 4, 4);
    check_value(1, 5, 6, 6);
    check_value(2, 7, 6, 6);
    assert_true(fake_nth(2)->attr.read_format & PERF_FORMAT_GROUP);
}

static void no_inherited_groups(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    ask(HW, BRANCHES, 1);
    refuse((struct fake_refusal){.error = EINVAL, .any = true, .format = PERF_FORMAT_GROUP, .inherit = true});
    refuse((struct fake_refusal){.error = EINVAL, .any = true, .format = PERF_FORMAT_LOST});
    open_tasks(1);
    assert_int_equal(fake_nth(1)->lead, fake_nth(0) - fake.event); /* a group all the same, read one by one */
    fake_count(CYCLES, 3, 4, 4);
    fake_count(BRANCHES, 7, 4, 4);
    check_value(0, 3, 4, 4);
    check_value(1, 7, 4, 4);
}

static void invalid_for_good(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    ask(HW, BRANCHES, 0);
    refuse((struct fake_refusal){.error = EINVAL, .type = HW, .config = CYCLES});
    open_tasks(1);
    why_not(0, ASSAY_COUNT_NOT_SUPPORTED);
    assert_true(fake_nth(0)->attr.read_format & PERF_FORMAT_LOST); /* an invalid event spoils nothing for the others */
}

/* ---- groups that do not fit ---- */

static void too_large(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    ask(SW, 2, 1);
    ask(HW, INSTRUCTIONS, 1);
    ask(HW, BRANCHES, 1);
    fake.counters = 2;
    open_tasks(1);
    struct assay_count_why why = why_not(3, ASSAY_COUNT_NOT_SUPPORTED);
    has(why.reason, "a group of 4 does not fit");
    has(why.reason, "4 general and 3 fixed");
    has(why.remedy, ":W");
    fake_count(CYCLES, 1, 9, 9);
    fake_count(INSTRUCTIONS, 2, 9, 9);
    check_value(0, 1, 9, 9); /* those before it count together */
    check_value(2, 2, 9, 9);
}

static void one_register_two_values(void **state)
{
    (void)state;
    ask(PERF_TYPE_RAW, 0x1b7, 1);
    ask(PERF_TYPE_RAW, 0x1b7, 1);
    event[0].msr = event[1].msr = 0x1a6;
    event[0].config1 = 0x10001;
    event[1].config1 = 0x10002;
    refuse((struct fake_refusal){.error = EINVAL, .type = PERF_TYPE_RAW, .config = 0x1b7, .grouped = true});
    open_tasks(1);
    has(why_not(1, ASSAY_COUNT_NOT_SUPPORTED).reason, "needs MSR 0x1a6");
    assay_count_close(count);
    event[1].config1 = 0x10001; /* one value serves both */
    open_tasks(1);
    has(why_not(1, ASSAY_COUNT_NOT_SUPPORTED).reason, "a group of 2 does not fit");
}

static void weak(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    ask(HW, INSTRUCTIONS, 1);
    ask(HW, BRANCHES, 1);
    ask(HW, 5, 2);
    for (size_t i = 0; i < 3; i++)
        event[i].weak = true;
    fake.counters = 2;
    open_tasks(1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(fake_nth(i)->lead, fake_nth(i) - fake.event);
    for (size_t i = 0; i < 3; i++)
        assert_false(assay_count_in_group(count, i));
    assert_true(assay_count_in_group(count, 3));
    fake_count(CYCLES, 1, 9, 9);
    fake_count(BRANCHES, 3, 9, 8);
    check_value(0, 1, 9, 9);
    check_value(2, 3, 9, 8);
}

static void two_pmus_in_a_group(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    strcpy(event[0].pmu, "hardware");
    ask(UNCORE, 1, 1);
    strcpy(event[1].pmu, "uncore_imc_0");
    refuse((struct fake_refusal){.error = EINVAL, .type = UNCORE, .config = 1, .grouped = true});
    open_cpus(1);
    has(why_not(1, ASSAY_COUNT_NOT_SUPPORTED).reason, "hardware and uncore_imc_0 are two");
}

static void leader_refused(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    ask(HW, INSTRUCTIONS, 1);
    ask(HW, BRANCHES, 1);
    refuse((struct fake_refusal){.error = ENOENT, .type = HW, .config = CYCLES});
    open_tasks(2);
    assert_int_equal(fake_nth(1)->lead, fake_nth(0) - fake.event);
    assert_true(fake_nth(0)->attr.disabled && !fake_nth(1)->attr.disabled);
    fake_count(INSTRUCTIONS, 10, 5, 5);
    fake_count(BRANCHES, 2, 5, 5);
    check_value(1, 20, 10, 10);
    check_value(2, 4, 10, 10);
    why_not(0, ASSAY_COUNT_NOT_SUPPORTED);
}

/* ---- targets that fail ---- */

static void threads_that_end(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    ask(HW, BRANCHES, 1);
    int r = refuse((struct fake_refusal){.error = ESRCH, .any = true, .pid = 102});
    open_tasks(3);
    fake_count(CYCLES, 10, 5, 5);
    fake_count(BRANCHES, 1, 5, 5);
    check_value(0, 20, 10, 10);
    check_value(1, 2, 10, 10);
    assay_count_close(count);
    fake.refusal[r].pid = 0;
    open_tasks(3);
    has(why_not(0, ASSAY_COUNT_NOT_COUNTED).reason, "had ended");
}

/* An event is counted on all processors or on none: a part would pass for the whole. */
static void one_processor_refuses(void **state)
{
    (void)state;
    ask(HW, CYCLES, 1);
    ask(HW, BRANCHES, 1);
    refuse((struct fake_refusal){.error = ENODEV, .type = HW, .config = CYCLES, .cpu = 3 + 1});
    open_cpus(4);
    why_not(0, ASSAY_COUNT_NOT_SUPPORTED);
    fake_count(BRANCHES, 1, 5, 5);
    check_value(1, 4, 20, 20);
    for (int i = 0; i < 4; i++)
        assert_int_equal(fake_nth(i)->lead, fake_nth(i) - fake.event);
}

static void files_run_out(void **state)
{
    (void)state;
    ask(HW, CYCLES, 0);
    ask(HW, BRANCHES, 0);
    refuse((struct fake_refusal){.error = EMFILE, .type = HW, .config = BRANCHES, .after = 2});
    open_cpus(4);
    has(why_not(1, ASSAY_COUNT_NOT_SUPPORTED).reason, "too many open files");
    fake_count(CYCLES, 1, 5, 5);
    check_value(0, 4, 20, 20);
}

/* ---- reading ---- */

static void interrupted_calls(void **state)
{
    struct assay_error e;
    (void)state;
    ask(HW, CYCLES, 0);
    fake.interrupts = 3;
    open_tasks(1);
    fake_count(CYCLES, 10, 5, 5);
    fake.interrupts = 2;
    check_value(0, 10, 5, 5);
    fake.interrupts = 2;
    assert_int_equal(assay_count_enable(count, &e), ASSAY_OK);
    assert_int_equal(fake.interrupts, 0);
}

static void short_reads(void **state)
{
    struct assay_error e;
    (void)state;
    for (uint32_t group = 0; group < 2; group++) {
        events = 0;
        ask(HW, CYCLES, group);
        open_tasks(1);
        fake.read_less = 8;
        assert_int_equal(assay_count_read(count, &e), ASSAY_E_TRUNCATED);
        fake.read_less = 0;
        fake.read_error = EIO;
        assert_int_equal(assay_count_read(count, &e), ASSAY_E_SYSTEM);
        assert_int_equal(e.sys, EIO);
        fake.read_error = 0;
        assert_int_equal(assay_count_read(count, &e), ASSAY_OK);
        assay_count_close(count);
    }
    count = NULL;
}

/* ---- what is counted on ---- */

static void lists_of_processors(void **state)
{
    static const char *const wrong[] = {"", "x", "1,", "3-1", "1-", "-1", "1;2", "99999999", "0-65536", " 1"};
    int *list;
    size_t n;
    struct assay_error e;
    (void)state;
    assert_int_equal(assay_count_cpus("8,0-2,1,4-4\n", &list, &n, &e), ASSAY_OK);
    const int expected[] = {0, 1, 2, 4, 8};
    assert_int_equal(n, 5);
    assert_memory_equal(list, expected, sizeof expected);
    free(list);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(assay_count_cpus(wrong[i], &list, &n, &e), ASSAY_E_ARGUMENT);
        assert_null(list);
    }
    make_file("/sys/devices/system/cpu/online", "0-1,3\n", 0600);
    assert_int_equal(assay_count_online(&machine, &list, &n, &e), ASSAY_OK);
    assert_int_equal(n, 3);
    assert_int_equal(list[2], 3);
    free(list);
}

static void threads_of_a_process(void **state)
{
    pid_t *list;
    size_t n;
    struct assay_error e;
    (void)state;
    make_file("/proc/77/task/77/stat", "", 0600);
    make_file("/proc/77/task/80/stat", "", 0600);
    assert_int_equal(assay_count_threads(&machine, 77, &list, &n, &e), ASSAY_OK);
    assert_int_equal(n, 2);
    assert_int_equal(list[0] + list[1], 157);
    free(list);
    assert_int_equal(assay_count_threads(&machine, 78, &list, &n, &e), ASSAY_E_NOT_FOUND);
}

/* ---- programs ---- */

static int run(const char *name, const char *word, struct assay_error *e, int *status)
{
    char *argv[] = {(char *)(uintptr_t)name, (char *)(uintptr_t) "-c", (char *)(uintptr_t)word, NULL};
    struct assay_count_program p;
    assert_int_equal(assay_count_prepare(argv, &p, e), ASSAY_OK);
    assert_int_equal(waitpid(p.pid, status, WNOHANG), 0); /* it waits */
    int r = assay_count_start(&p, argv, e);
    if (r == ASSAY_OK)
        assert_int_equal(waitpid(p.pid, status, 0), p.pid);
    return r;
}

static void programs(void **state)
{
    struct assay_error e;
    int status;
    (void)state;
    assert_int_equal(run("sh", "exit 7", &e, &status), ASSAY_OK);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_int_equal(run("sh", "kill -9 $$", &e, &status), ASSAY_OK);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == 9);
    assert_int_equal(run("/nonexistent/program", "", &e, &status), ASSAY_E_NOT_FOUND);
    assert_int_equal(run("/etc/passwd", "", &e, &status), ASSAY_E_SYSTEM);
    assert_int_equal(e.sys, EACCES);
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1); /* nothing is left behind */
    assert_int_equal(errno, ECHILD);
}

static void a_program_that_is_dropped(void **state)
{
    char file[64];
    char *argv[] = {(char *)(uintptr_t) "touch", file, NULL};
    struct assay_count_program p;
    struct assay_error e;
    (void)state;
    snprintf(file, sizeof file, "%s/touched", root);
    assert_int_equal(assay_count_prepare(argv, &p, &e), ASSAY_OK);
    assay_count_drop(&p);
    assert_int_not_equal(access(file, F_OK), 0);
    assert_int_equal(assay_count_prepare(argv, &p, &e), ASSAY_OK);
    kill(p.pid, SIGKILL); /* someone else's signal while it waits: no SIGPIPE for us */
    assert_int_equal(waitpid(p.pid, NULL, 0), p.pid);
    assert_int_equal(assay_count_start(&p, argv, &e), ASSAY_OK);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(program),
        CASE(processors),
        CASE(starting_and_stopping),
        CASE(groups),
        CASE(nothing),
        CASE(extended),
        CASE(never_scheduled),
        CASE(group_never_scheduled),
        CASE(never_enabled),
        CASE(pinned_lost_its_place),
        CASE(every_refusal),
        CASE(no_core_pmu),
        CASE(permission_for_processors_and_tracepoints),
        CASE(user_mode_alone),
        CASE(permission_hides_another_reason),
        CASE(switches_in_user_mode),
        CASE(package),
        CASE(why_invalid),
        CASE(smaller_attr),
        CASE(no_lost_samples),
        CASE(no_inherited_groups),
        CASE(invalid_for_good),
        CASE(too_large),
        CASE(one_register_two_values),
        CASE(weak),
        CASE(two_pmus_in_a_group),
        CASE(leader_refused),
        CASE(threads_that_end),
        CASE(one_processor_refuses),
        CASE(files_run_out),
        CASE(interrupted_calls),
        CASE(short_reads),
        CASE(lists_of_processors),
        CASE(threads_of_a_process),
        CASE(programs),
        CASE(a_program_that_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
