/* SPDX-License-Identifier: MIT */
/* What names mean on made-up machines: sysfs PMUs with their formats, raw codes, tracepoints, tables, modifiers;
 * and what is said of names that mean nothing. The formats are those of Linux's own PMUs. */
#include <assay/count.h>
#include <assay/event_json.h>

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "folder.h"

enum { KNIGHTS_MILL = 0x80650, SKYLAKE = 0x506e3, SKYLAKE_SERVER = 0x50654, ALDER_LAKE = 0x90672 };

static struct assay_sys machine;
static struct assay_event_table table;
static uint32_t signature; /* CPUID leaf 1 EAX; 0: no Intel processor */

static bool fake_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t reg[4])
{
    (void)subleaf;
    if (leaf == 0 && signature)
        memcpy(&reg[1], "GenuntelineI", 12); /* EBX, ECX, EDX */
    reg[0] = leaf == 1 ? signature : 0;
    return true;
}

#define PMU "/sys/bus/event_source/devices/"
static const struct {
    const char *name, *text;
} files[] = {
    /* an Intel core of 2019 and later */
    {PMU "cpu/type", "4\n"},
    {PMU "cpu/format/event", "config:0-7\n"},
    {PMU "cpu/format/umask", "config:8-15,40-47\n"},
    {PMU "cpu/format/edge", "config:18\n"},
    {PMU "cpu/format/inv", "config:23\n"},
    {PMU "cpu/format/cmask", "config:24-31\n"},
    {PMU "cpu/format/offcore_rsp", "config1:0-63\n"},
    {PMU "cpu/format/ldlat", "config1:0-15\n"},
    {PMU "cpu/format/frontend", "config1:0-23\n"},
    {PMU "cpu/events/cpu-cycles", "event=0x3c\n"},
    {PMU "cpu/events/instructions", "event=0xc0\n"},
    {PMU "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
    {PMU "cpu/events/open", "event=0x1,umask=?\n"},
    /* a memory controller */
    {PMU "uncore_imc_0/type", "14\n"},
    {PMU "uncore_imc_0/cpumask", "0,28\n"},
    {PMU "uncore_imc_0/format/event", "config:0-7\n"},
    {PMU "uncore_imc_0/format/umask", "config:8-15\n"},
    {PMU "uncore_imc_0/format/thresh", "config:24-31\n"},
    {PMU "uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03\n"},
    {PMU "uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5\n"},
    {PMU "uncore_imc_0/events/cas_count_read.unit", "MiB\n"},
    /* energy */
    {PMU "power/type", "20\n"},
    {PMU "power/cpumask", "0\n"},
    {PMU "power/format/event", "config:0-7\n"},
    {PMU "power/events/energy-pkg", "event=0x02\n"},
    {PMU "power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n"},
    {PMU "power/events/energy-pkg.unit", "Joules\n"},
    {PMU "msr/type", "9\n"},
    {PMU "msr/format/event", "config:0-63\n"},
    {PMU "msr/events/tsc", "event=0x00\n"},
    {PMU "msr/events/smi", "event=0x04\n"},
    /* one kind of core of a hybrid processor */
    {PMU "cpu_atom/type", "10\n"},
    {PMU "cpu_atom/cpus", "8-15\n"},
    {PMU "cpu_atom/format/event", "config:0-7\n"},
    /* damaged */
    {PMU "bad/type", "4\n"},
    {PMU "bad/format/a", "config\n"},
    {PMU "bad/format/b", "config9:0-7\n"},
    {PMU "bad/format/c", "config:7-0\n"},
    {PMU "bad/format/d", "config:0-64\n"},
    {PMU "bad/format/e", "config:0-7,\n"},
    {PMU "bad/format/f", "\n"},
    {PMU "bad/format/g", "config:x\n"},
    {PMU "bad/events/h", "nothing=1\n"},
    {PMU "bad/events/i", "h\n"},
    {PMU "bad/events/loop", "loop\n"},
    {PMU "bad/events/good", "config=1\n"},
    {PMU "bad/events/twice", "good\n"},
    {PMU "typeless/type", "x\n"},
    {"/sys/kernel/tracing/events/sched/sched_switch/id", "317\n"},
    {"/sys/kernel/tracing/events/sched/sched_wakeup/id", "319\n"},
    {"/sys/kernel/tracing/events/sched/odd/format", "\n"},
};

static int begin(void **state)
{
    (void)state;
    signature = SKYLAKE;
    machine = (struct assay_sys){.root = root, .cpuid = fake_cpuid};
    assay_event_builtin(&table);
    if (make_root() < 0)
        return -1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        make_file(files[i].name, files[i].text, 0600);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return drop_root();
}

static int resolve(const char *list, struct assay_count_event *event, struct assay_error *e)
{
    struct assay_event_list l;
    struct assay_event_item item;
    struct assay_diag d;
    assay_event_list_init(&l, list, strlen(list), 0);
    assert_int_equal(assay_event_list_next(&l, &item, &d), 1);
    return assay_count_resolve(&machine, &table, &item, event, e);
}

static struct assay_count_event means(const char *name, uint32_t type, uint64_t config, uint64_t config1)
{
    struct assay_count_event event;
    struct assay_error e;
    if (resolve(name, &event, &e) < 0)
        fail_msg("%s: %s", name, e.text);
    if (event.type != type || event.config != config || event.config1 != config1)
        fail_msg("%s: type %u config %llx config1 %llx", name, event.type, (unsigned long long)event.config,
                 (unsigned long long)event.config1);
    return event;
}

static void wrong(const char *name, int code, unsigned column, const char *part)
{
    struct assay_count_event event;
    struct assay_error e;
    int r = resolve(name, &event, &e);
    if (r != code || e.offset != column || !strstr(e.text, part))
        fail_msg("%s: %d at %llu: %s", name, r, (unsigned long long)e.offset, r < 0 ? e.text : "fine");
}

/* ---- sysfs ---- */

static void terms(void **state)
{
    (void)state;
    means("cpu/event=0x3c/", 4, 0x3c, 0);
    means("cpu/event=60/", 4, 0x3c, 0);
    means("cpu/event=0xb7,umask=0x1,offcore_rsp=0x3f80400001/", 4, 0x1b7, 0x3f80400001);
    means("cpu/event=0xd1,umask=0x20,cmask=2,inv,edge/", 4, 0x28420d1, 0);
    means("cpu/event=0xd1,umask=0x20,inv=0/", 4, 0x20d1, 0);
    means("cpu/umask=0x1234/", 4, UINT64_C(0x12) << 40 | 0x3400, 0); /* low bits at 8-15, high ones at 40-47 */
    means("cpu/config=0x5301c0,config1=7/", 4, 0x5301c0, 7);
    means("cpu/config=0xffff,event=0x3c/", 4, 0xff3c, 0); /* terms go on from what is there */
    means("msr/event=0xffffffffffffffff/", 9, UINT64_MAX, 0);
    means("msr//", 9, 0, 0);
    struct assay_count_event v = means("cpu/config2=0x10/", 4, 0, 0);
    assert_int_equal(v.config2, 0x10);
    assert_true(v.scale == 1 && !*v.unit && !v.package && !*v.cpus && !v.privilege);
}

static void named_events(void **state)
{
    (void)state;
    means("cpu/cpu-cycles/", 4, 0x3c, 0);
    means("cpu/mem-loads/", 4, 0x1cd, 3);
    means("cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30); /* a term behind the event has the last word */
    means("msr/smi/", 9, 4, 0);
    struct assay_count_event v = means("uncore_imc_0/cas_count_read/", 14, 0x304, 0);
    assert_true(v.scale == 6.103515625e-5 && v.package);
    assert_string_equal(v.unit, "MiB");
    assert_string_equal(v.cpus, "0,28");
    assert_string_equal(v.pmu, "uncore_imc_0");
    v = means("power/energy-pkg/", 20, 2, 0);
    assert_true(v.scale == 2.3283064365386962890625e-10);
    assert_string_equal(v.unit, "Joules");
    v = means("cpu_atom/event=1/", 10, 1, 0);
    assert_true(!v.package);
    assert_string_equal(v.cpus, "8-15");
}

static void given_names(void **state)
{
    (void)state;
    assert_string_equal(means("msr/tsc,name=clock/", 9, 0, 0).name, "clock");
    assert_string_equal(means("msr/name='a, b/c',event=4/u", 9, 4, 0).name, "a, b/c");
    wrong("msr/tsc,name=/", ASSAY_E_ARGUMENT, 13, "1 to 63 characters");
}

static void wrong_terms(void **state)
{
    (void)state;
    wrong("msr/tsk/", ASSAY_E_NOT_FOUND, 4, "did you mean tsc");
    wrong("cpu/event=1,umsk=2/", ASSAY_E_NOT_FOUND, 12, "did you mean umask");
    wrong("cpu/event=1,confg1=2/", ASSAY_E_NOT_FOUND, 12, "did you mean config1");
    wrong("cpu/cpu-cycle/", ASSAY_E_NOT_FOUND, 4, "did you mean cpu-cycles");
    wrong("cpu/cpu-cycles=1/", ASSAY_E_NOT_FOUND, 4, "neither a term nor an event");
    wrong("cpu/event=256/", ASSAY_E_ARGUMENT, 4, "0x100: cpu/event/ has 8 bits");
    wrong("cpu/umask=0x10000/", ASSAY_E_ARGUMENT, 4, "16 bits");
    wrong("cpu/edge=2/", ASSAY_E_ARGUMENT, 4, "1 bits");
    wrong("cpu/event=/", ASSAY_E_ARGUMENT, 10, "no number");
    wrong("cpu/event=0x/", ASSAY_E_ARGUMENT, 10, "no number");
    wrong("cpu/event=1x/", ASSAY_E_ARGUMENT, 10, "no number");
    wrong("cpu/event=-1/", ASSAY_E_ARGUMENT, 10, "no number");
    wrong("msr/event=18446744073709551616/", ASSAY_E_ARGUMENT, 10, "64 bits");
    wrong("cpu/event=1,/", ASSAY_E_ARGUMENT, 12, "a term is missing");
    wrong("cpu/,event=1/", ASSAY_E_ARGUMENT, 4, "a term is missing");
    wrong("cpu/..type/", ASSAY_E_ARGUMENT, 4, "no term");
    wrong("cpu/open/", ASSAY_E_ARGUMENT, 4, "leaves a value open");
    wrong("mrs/tsc/", ASSAY_E_NOT_FOUND, 0, "did you mean msr");
    wrong("xyz/tsc/", ASSAY_E_NOT_FOUND, 0, "no PMU xyz; ls");
    wrong("uncore_imc/cas_count_read/", ASSAY_E_NOT_FOUND, 0, "did you mean uncore_imc_0");
    wrong("..//", ASSAY_E_ARGUMENT, 0, "no name of a PMU");
    wrong("/tsc/", ASSAY_E_ARGUMENT, 0, "no name of a PMU");
}

static void damaged_files(void **state)
{
    (void)state;
    for (const char *term = "abcdefg"; *term; term++) {
        char name[16];
        snprintf(name, sizeof name, "bad/%c=1/", *term);
        wrong(name, ASSAY_E_UNSUPPORTED, 4, "format of");
    }
    wrong("bad/h/", ASSAY_E_UNSUPPORTED, 4, "event bad/h/ is not understood");
    wrong("bad/i/", ASSAY_E_UNSUPPORTED, 4, "event bad/i/ is not understood");
    wrong("bad/loop/", ASSAY_E_UNSUPPORTED, 4, "event bad/loop/ is not understood");
    means("bad/good/", 4, 1, 0);
    wrong("bad/twice/", ASSAY_E_UNSUPPORTED, 4, "event bad/twice/ is not understood"); /* terms, not events */
    wrong("typeless/a/", ASSAY_E_UNSUPPORTED, 0, "no number");
}

/* ---- modifiers ---- */

static void modifiers(void **state)
{
    (void)state;
    struct assay_count_event v = means("cpu/event=1/u", 4, 1, 0);
    assert_true(!v.exclude_user && v.exclude_kernel && v.exclude_hv && v.privilege);
    v = means("cpu/event=1/:k", 4, 1, 0);
    assert_true(v.exclude_user && !v.exclude_kernel && v.exclude_hv);
    v = means("r1c0:ukh", 4, 0x1c0, 0);
    assert_true(!v.exclude_user && !v.exclude_kernel && !v.exclude_hv && v.privilege);
    v = means("page-faults", 1, 2, 0);
    assert_true(!v.exclude_user && !v.exclude_kernel && !v.exclude_hv && !v.exclude_host && !v.exclude_guest);
    assert_false(v.privilege || v.exclude_idle || v.pinned || v.exclusive || v.weak || v.precise);
    v = means("cycles:GppIDe", 0, 0, 0);
    assert_true(v.exclude_host && !v.exclude_guest && v.precise == 2 && v.exclude_idle && v.pinned && v.exclusive);
    v = means("cycles:HP", 0, 0, 0);
    assert_true(!v.exclude_host && v.exclude_guest && v.precise == 3);
    v = means("{cycles:u,instructions}:uW", 0, 0, 0);
    assert_true(v.exclude_kernel && v.weak && v.group == 1);
    wrong("cpu/event=1/ux", ASSAY_E_ARGUMENT, 13, "no modifier x");
    wrong("r1:uu", ASSAY_E_ARGUMENT, 4, "stands twice");
    wrong("r1:upppp", ASSAY_E_ARGUMENT, 3, "at most ppp");
    wrong("r1:S", ASSAY_E_ARGUMENT, 3, "sampling");
    wrong("{r1,r2}:q", ASSAY_E_ARGUMENT, 7, "no modifier q");
    wrong("r1:", ASSAY_E_ARGUMENT, 2, "no modifiers");
}

/* ---- raw codes and tracepoints ---- */

static void raw_codes(void **state)
{
    (void)state;
    means("r1c0", PERF_TYPE_RAW, 0x1c0, 0);
    means("rFFFFFFFFFFFFFFFF:k", PERF_TYPE_RAW, UINT64_MAX, 0);
    wrong("rFFFFFFFFFFFFFFFF1", ASSAY_E_NOT_FOUND, 0, "no event");
    wrong("r", ASSAY_E_NOT_FOUND, 0, "no event");
}

static void tracepoints(void **state)
{
    (void)state;
    means("sched:sched_switch", PERF_TYPE_TRACEPOINT, 317, 0);
    assert_true(means("sched:sched_wakeup:k", PERF_TYPE_TRACEPOINT, 319, 0).exclude_user);
    wrong("sched:sched_swich", ASSAY_E_NOT_FOUND, 6, "did you mean sched_switch");
    wrong("sched:", ASSAY_E_NOT_FOUND, 6, "no tracepoint");
    wrong("sched:..", ASSAY_E_NOT_FOUND, 6, "no tracepoint");
    wrong("sched:odd", ASSAY_E_UNSUPPORTED, 6, "run as root");
    wrong("sched:sched_switch:x", ASSAY_E_ARGUMENT, 19, "no modifier x");
}

static void tracefs_that_nobody_may_read(void **state)
{
    (void)state;
    char folder[64];
    snprintf(folder, sizeof folder, "%s/sys/kernel", root);
    char elsewhere[64];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", root);
    assert_int_equal(rename(folder, elsewhere), 0);
    wrong("sched:sched_switch", ASSAY_E_UNSUPPORTED, 0, "if it is a tracepoint");
    wrong("cycels:u", ASSAY_E_NOT_FOUND, 0, "cycles");
}

/* ---- the tables ---- */

static void generic_names(void **state)
{
    (void)state;
    means("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);
    means("branch-misses:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 0);
    means("L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000, 0);
    means("LLC-stores", PERF_TYPE_HW_CACHE, 0x102, 0);
    struct assay_count_event v = means("task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0);
    assert_true(v.scale == 1e-6);
    assert_string_equal(v.unit, "ms");
    assert_false(means("perf::page-faults:u", PERF_TYPE_SOFTWARE, 2, 0).exclude_user);
    assert_true(means("perf::page-faults:u", PERF_TYPE_SOFTWARE, 2, 0).exclude_kernel);
    wrong("cycels", ASSAY_E_NOT_FOUND, 0, "did you mean cycles");
    wrong("nothing-like-it", ASSAY_E_NOT_FOUND, 0, "no event");
    wrong("nopmu::cycles", ASSAY_E_NOT_FOUND, 0, "no PMU");
}

/* What the core's PMU in sysfs names is known without the PMU's name. */
static void core_names_of_sysfs(void **state)
{
    (void)state;
    means("mem-loads", 4, 0x1cd, 3);
    assert_true(means("mem-loads:u", 4, 0x1cd, 3).exclude_kernel);
    means("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0); /* the generic name first */
    wrong("open:u", ASSAY_E_ARGUMENT, 0, "leaves a value open");
}

static void own_events(void **state)
{
    (void)state;
    signature = KNIGHTS_MILL;
    means("ICACHE:HIT", 4, 0x180, 0);
    means("ICACHE.HIT:u", 4, 0x180, 0);
    means("knm::ICACHE:MISSES:k", 4, 0x280, 0);
    assert_true(means("ICACHE:HIT:uDp", 4, 0x180, 0).pinned); /* perf's letters behind the table's own words */
    assert_int_equal(means("knm::OFFCORE_RESPONSE_0:DMND_DATA_RD:DDR_NEAR:u", 4, 0x1b7, 0x80800001).msr, 0x1a6);
    means("ix86arch::INSTRUCTION_RETIRED", 4, 0xc0, 0);
    wrong("knm::ICACHE:HITT", ASSAY_E_NOT_FOUND, 12, "did you mean HIT");
    wrong("netburst::TC_DELIVER_MODE:DD", ASSAY_E_UNSUPPORTED, 0, "would count something else");
}

static void events_of_others(void **state)
{
    (void)state;
    wrong("knm::ICACHE:HIT", ASSAY_E_UNSUPPORTED, 0, "this processor is no Intel Knights Mill");
    wrong("ICACHE:HIT", ASSAY_E_NOT_FOUND, 0, "no event");
    means("UNHALTED_CORE_CYCLES", 4, 0x3c, 0); /* what every Intel core has */
    signature = 0;
    wrong("UNHALTED_CORE_CYCLES", ASSAY_E_NOT_FOUND, 0, "no event");
    wrong("ix86arch::INSTRUCTION_RETIRED", ASSAY_E_UNSUPPORTED, 0, "this processor is no");
    means("cycles", PERF_TYPE_HARDWARE, 0, 0);
}

/* Events of Intel's files: both kinds of cores of a hybrid have a type of their own, and files without processors are
 * taken for this one's. */
static void events_of_files(void **state)
{
    (void)state;
    char path[4096];
    struct assay_event_json *hybrid, *alone;
    const char *data = getenv("ASSAY_DATA");
    struct assay_event_table builtin = table;
    snprintf(path, sizeof path, "%s/events", data ? data : "tests/data");
    assert_int_equal(assay_event_json_load(path, &builtin, &hybrid, NULL), ASSAY_OK);
    table = *assay_event_json_table(hybrid);
    signature = ALDER_LAKE;
    make_file(PMU "cpu_core/type", "4\n", 0600);
    make_file(PMU "cpu_core/cpus", "0-7\n", 0600);
    means("adl-core::INST_RETIRED.NOP", 4, 0x2c0, 0);
    means("INST_RETIRED.NOP:u", 4, 0x2c0, 0);
    means("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_16", 10, 0x5d0, 0x10); /* the other kind of core has it alone */
    struct assay_count_event atom = means("adl-atom::MEM_UOPS_RETIRED.LOAD_LATENCY_GT_16", 10, 0x5d0, 0x10);
    assert_string_equal(atom.pmu, "cpu_atom");
    assert_string_equal(atom.cpus, "8-15");
    wrong("skx::SQ_MISC.SPLIT_LOCK", ASSAY_E_UNSUPPORTED, 0, "this processor is no skx");
    signature = SKYLAKE_SERVER;
    means("skx::SQ_MISC.SPLIT_LOCK", 4, 0x10f4, 0);
    wrong("clx::INST_RETIRED.ANY_P", ASSAY_E_UNSUPPORTED, 0, "this processor is no clx"); /* another stepping */
    signature = KNIGHTS_MILL;
    means("knl-json::RECYCLEQ.LD_BLOCK_ST_FORWARD", 4, 0x103, 0);
    means("knm::ICACHE:HIT", 4, 0x180, 0);
    snprintf(path, sizeof path, "%s/events/linux/plainlake/pipeline.json", data ? data : "tests/data");
    assert_int_equal(assay_event_json_load(path, &builtin, &alone, NULL), ASSAY_OK);
    table = *assay_event_json_table(alone);
    means("pipeline::BR_INST_RETIRED.ALL_BRANCHES", 4, 0xc4, 0);
    assert_true(means("BR_INST_RETIRED.ALL_BRANCHES:u", 4, 0xc4, 0).exclude_kernel);
    wrong("NO_SUCH.EVENT", ASSAY_E_NOT_FOUND, 0, "no event");
    table = builtin;
    assay_event_json_free(alone);
    assay_event_json_free(hybrid);
}

static void too_long(void **state)
{
    static char name[2000];
    (void)state;
    memset(name, 'a', sizeof name - 1);
    wrong(name, ASSAY_E_ARGUMENT, 0, "more than 511 characters");
    name[500] = '\0';
    wrong(name, ASSAY_E_NOT_FOUND, 0, "no event");
    memcpy(name + 400, "/a/", 4);
    wrong(name, ASSAY_E_ARGUMENT, 0, "no name of a PMU");
    memcpy(name, "sched:", 6);
    name[400] = '\0';
    wrong(name, ASSAY_E_NOT_FOUND, 6, "no tracepoint");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(terms),
        CASE(named_events),
        CASE(given_names),
        CASE(wrong_terms),
        CASE(damaged_files),
        CASE(modifiers),
        CASE(raw_codes),
        CASE(tracepoints),
        CASE(tracefs_that_nobody_may_read),
        CASE(generic_names),
        CASE(core_names_of_sysfs),
        CASE(own_events),
        CASE(events_of_others),
        CASE(events_of_files),
        CASE(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
