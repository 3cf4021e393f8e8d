/* SPDX-License-Identifier: MIT */
/* What assay stat makes of counts: notes of two rows, means and spreads, the three forms of showing them. */
#include "../../cli/stat_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The command's other parts ask for the verbs. */
const struct cli_verb *const cli_verbs[] = {NULL};

static char shown[8192];
static struct cli_given given[4];
static const struct cli_option per_option[] = {{STAT_ALL_CPUS, 'a', "all-cpus", NULL, ""}, CLI_OPT_END};
static const struct cli_verb verb = {.name = "stat", .options = per_option};
static struct cli cli;
static struct stat_job job;
static struct stat_result result;
static char *const program[] = {(char *)(uintptr_t) "prog", (char *)(uintptr_t) "x\ny", NULL};

static int begin(void **state)
{
    (void)state;
    cli = (struct cli){.verb = &verb, .given = given, .width = 100};
    assay_out_init(&cli.out, shown, sizeof shown - 1, NULL, NULL);
    job = (struct stat_job){.argv = program, .repeat = 1};
    return 0;
}

static int end(void **state)
{
    (void)state;
    stat_list_free(&job.list);
    stat_result_free(&result);
    return 0;
}

static void list(const char *text)
{
    assert_int_equal(stat_list_add(&cli, &job.list, text), CLI_OK);
    assert_true(stat_result_init(&result, &job.list));
}

static void counted(struct stat_result *r, size_t i, uint64_t raw, uint64_t enabled, uint64_t running)
{
    r->row[i].state = STAT_COUNTED;
    r->row[i].raw = raw;
    r->row[i].value = (double)raw * (double)enabled / (double)running;
    r->row[i].enabled = enabled;
    r->row[i].running = running;
}

static const char *text(bool whole)
{
    cli.out.len = 0;
    stat_text(&cli, &job, &result, whole);
    shown[cli.out.len] = '\0';
    return shown;
}

static void has(const char *all, const char *part)
{
    if (!strstr(all, part))
        fail_msg("without \"%s\":\n%s", part, all);
}

/* ---- notes ---- */

static void note_is(size_t row, const char *expected)
{
    char buf[80];
    assert_string_equal(stat_note(&result, &result.row[row], buf, sizeof buf), expected);
}

static void notes(void **state)
{
    (void)state;
    list("instructions,cpu-cycles,branches,branch-misses,task-clock,page-faults,faults,cycles:u,instructions:u");
    result.wall_ns = 2000000;
    counted(&result, 0, 3000, 9, 9);
    counted(&result, 1, 2000, 9, 9);
    counted(&result, 2, 400, 9, 9);
    counted(&result, 3, 50, 9, 9);
    counted(&result, 4, 1000000, 9, 9); /* ns */
    counted(&result, 5, 7, 9, 9);
    counted(&result, 6, 0, 9, 9);
    counted(&result, 7, 500, 9, 9);
    counted(&result, 8, 1000, 9, 9);
    note_is(0, "1.50 IPC");
    note_is(3, "12.50 % of branches");
    note_is(4, "0.50 CPUs used");
    note_is(5, "7.00 K/s");
    note_is(6, "0.00 /s");
    note_is(8, "2.00 IPC"); /* of cycles:u, not of cycles */
    note_is(2, "400.00 K/s");
    result.row[7].state = STAT_NOT_COUNTED;
    note_is(8, "1.00 M/s");
}

static void clock_rate(void **state)
{
    (void)state;
    list("task-clock,cycles");
    counted(&result, 0, 1000, 9, 9);
    counted(&result, 1, 2500, 9, 9);
    note_is(1, "2.50 GHz");
    note_is(0, "");        /* no wall time */
    result.row[1].cpu = 3; /* another processor's */
    note_is(1, "");
}

/* What was not counted over the same time is not put together. */
static void together(void **state)
{
    (void)state;
    list("instructions,cycles,{instructions,cycles},{branches,branch-misses:u}");
    counted(&result, 0, 300, 100, 50);
    counted(&result, 1, 100, 100, 50);
    note_is(0, "");
    counted(&result, 2, 300, 100, 50);
    counted(&result, 3, 100, 100, 50);
    note_is(2, "3.00 IPC");
    counted(&result, 0, 300, 100, 100);
    note_is(0, "");
    counted(&result, 1, 100, 100, 100);
    note_is(0, "3.00 IPC");
    counted(&result, 4, 10, 5, 5);
    counted(&result, 5, 1, 5, 5);
    note_is(5, ""); /* other modifiers */
}

static void no_division_by_nothing(void **state)
{
    (void)state;
    list("instructions,cycles");
    counted(&result, 0, 300, 9, 9);
    counted(&result, 1, 0, 9, 9);
    note_is(0, "");
    result.row[1].state = STAT_NOT_SUPPORTED;
    note_is(0, "");
    note_is(1, "");
}

/* ---- several runs ---- */

static void add_run(uint64_t value, bool there, uint64_t wall)
{
    struct stat_result one;
    assert_true(stat_result_init(&one, &job.list));
    if (there)
        counted(&one, 0, value, 10, 10);
    one.wall_ns = wall;
    one.user_ns = 2 * wall;
    stat_result_add(&result, &one);
    stat_result_free(&one);
}

static bool near(double a, double b) { return a > b - 1e-9 && a < b + 1e-9; }

/* 2 4 4 4 5 5 7 9: mean 5, squares 32, s2 = 32/7, standard error sqrt(4/7) = 0.7559289460, which is 15.118578920 %
 * of 5. */
static void spread(void **state)
{
    static const uint64_t more[] = {4, 4, 4, 5, 5, 7, 9};
    (void)state;
    list("page-faults");
    counted(&result, 0, 2, 10, 10);
    result.wall_ns = 100;
    result.user_ns = 200;
    for (size_t i = 0; i < 7; i++)
        add_run(more[i], true, 100);
    stat_result_finish(&result);
    assert_int_equal(result.runs, 8);
    assert_int_equal(result.row[0].raw, 40);
    assert_int_equal(result.row[0].enabled, 80);
    assert_true(near(result.row[0].value, 5));
    assert_true(near(result.row[0].spread, 15.118578920369088));
    assert_true(near(result.wall_spread, 0));
    assert_int_equal(result.wall_ns, 100);
    assert_int_equal(result.user_ns, 200);
    has(text(true), "mean of 8 runs");
    has(shown, "5.0        page-faults");
    has(shown, "+- 15.12 %");
}

static void runs_without_a_count(void **state)
{
    (void)state;
    list("page-faults");
    add_run(10, true, 100);
    add_run(20, true, 100);
    stat_result_finish(&result);
    assert_int_equal(result.row[0].runs, 2);
    assert_true(near(result.row[0].value, 15)); /* the first run is no 0 */
    assert_true(near(result.row[0].spread, 100.0 * 5 / 15));
    has(text(true), "in 2 of the runs");
}

static void one_run(void **state)
{
    (void)state;
    list("page-faults");
    counted(&result, 0, 0, 10, 10);
    stat_result_finish(&result);
    assert_true(result.row[0].spread < 0 && result.wall_spread < 0);
}

/* ---- the table ---- */

static void table(void **state)
{
    (void)state;
    list("task-clock,{cycles,instructions}:u,page-faults,energy");
    counted(&result, 0, 1234567, 10, 10);
    result.row[0].scale = 1e-6;
    result.row[0].unit = "ms";
    counted(&result, 1, 1000, 1000, 250);
    counted(&result, 2, 1234567, 1000, 250);
    result.row[3].state = STAT_NOT_COUNTED;
    strcpy(result.row[3].reason, "never had its turn");
    strcpy(result.row[3].remedy, "count less");
    result.row[4] = result.row[3];
    result.row[4].event = job.list.event[4];
    result.wall_ns = 1500000000;
    result.ended = true;
    result.status = 3 << 8;
    result.user_ns = 250000000;
    assert_string_equal(text(true), "prog x?y: exit status 3\n"
                                    "\n"
                                    "              1.23 ms     task-clock            0.00 CPUs used\n"
                                    "              4000        cycles:u                                      extended, "
                                    "counted 25.00 % of the time\n"
                                    "           4938268        instructions:u        1234.57 IPC             extended, "
                                    "counted 25.00 % of the time\n"
                                    "       not counted        page-faults\n"
                                    "       not counted        energy\n"
                                    "\n"
                                    "          1.500000 s elapsed  0.250000 s user  0.000000 s system\n"
                                    "\n"
                                    "not counted: page-faults, energy: never had its turn\n"
                                    "  remedy: count less\n");
    job.big_num = true;
    has(text(true), "     4,938,268        instructions:u");
    result.status = 9;
    has(text(true), "prog x?y: killed by signal 9 (Killed)\n");
    result.model = "cache";
    has(text(true), "modelled, not measured: counters of the machine model cache, user mode alone\n");
    has(shown, "system, of the emulator\n");
    result.interrupted = true;
    has(text(true), "(Killed), interrupted\n");
}

/* Without -e what is not there is told at the end alone. */
static void defaults(void **state)
{
    (void)state;
    list("cycles,page-faults");
    job.list.defaults = true;
    counted(&result, 1, 5, 9, 9);
    result.row[0].state = STAT_NOT_SUPPORTED;
    strcpy(result.row[0].reason, "no counters");
    assert_string_equal(text(true), "prog x?y\n\n"
                                    "                 5        page-faults\n\n"
                                    "          0.000000 s elapsed\n\n"
                                    "not supported: cycles: no counters\n");
}

static void interval(void **state)
{
    (void)state;
    list("page-faults");
    counted(&result, 0, 5, 9, 9);
    result.row[0].cpu = 2;
    result.at_ns = 250000000;
    assert_string_equal(text(false), "at 0.250000 s\nCPU2                    5        page-faults\n");
}

static void target(void **state)
{
    (void)state;
    list("page-faults");
    given[0] = (struct cli_given){per_option, ""};
    cli.givens = 1;
    has(text(true), "prog x?y, on all processors\n");
    job.argv = NULL;
    assert_memory_equal(text(true), "all processors\n", 15);
}

/* ---- JSON and CSV ---- */

static const char *json(bool whole)
{
    cli.out.len = 0;
    stat_json(&cli, &job, &result, whole);
    shown[cli.out.len] = '\0';
    return shown;
}

static void json_objects(void **state)
{
    (void)state;
    list("{page-faults}:u,energy");
    counted(&result, 0, UINT64_C(9007199254740993), 9, 9); /* 2^53 + 1: exact, as text */
    counted(&result, 1, 1000, 100, 50);
    result.row[1].scale = 0.5;
    result.row[1].unit = "Joules";
    result.ended = true;
    result.status = 6;
    result.wall_ns = 1000000;
    assert_string_equal(
        json(true),
        "{\"record\":\"counter\",\"at\":null,\"event\":\"page-faults:u\",\"group\":1,\"cpu\":null,\"state\":"
        "\"counted\","
        "\"value\":\"9007199254740993\",\"unit\":null,\"raw\":\"9007199254740993\",\"enabled\":9,\"running\":9,"
        "\"spread\":null,\"note\":null,\"reason\":null,\"remedy\":null,\"model\":null,\"about\":null}\n"
        "{\"record\":\"counter\",\"at\":null,\"event\":\"energy\",\"group\":null,\"cpu\":null,\"state\":\"counted\","
        "\"value\":1000.000000000,\"unit\":\"Joules\",\"raw\":1000,\"enabled\":100,\"running\":50,\"spread\":null,"
        "\"note\":null,\"reason\":null,\"remedy\":null,\"model\":null,\"about\":null}\n"
        "{\"record\":\"summary\",\"program\":[\"prog\",\"x\\ny\"],\"exit\":null,\"signal\":6,\"interrupted\":false,"
        "\"runs\":1,\"elapsed\":0.001000000,\"spread\":null,\"user\":0.000000000,\"system\":0.000000000,"
        "\"model\":null}\n");
    result.row[0].state = STAT_NOT_COUNTED;
    result.row[0].raw = 0;
    has(json(false),
        "\"state\":\"not counted\",\"value\":null,\"unit\":null,\"raw\":null,\"enabled\":9,"); /* never 0 */
    result.row[0].state = STAT_NOT_SUPPORTED;
    has(json(false), "\"raw\":null,\"enabled\":null,\"running\":null,");
    assert_null(strstr(shown, "summary"));
    counted(&result, 0, 10, 100, 50);
    has(json(false), "\"value\":20,"); /* extended */
}

static void csv_lines(void **state)
{
    (void)state;
    list("page-faults,b");
    counted(&result, 0, 7, 9, 9);
    result.at_ns = 1500000000;
    result.row[1].state = STAT_NOT_SUPPORTED;
    result.row[1].cpu = 1;
    strcpy(result.row[1].reason, "a \"word\", or two");
    result.model = "flat";
    stat_csv_heading(&cli);
    stat_csv(&cli, &result);
    shown[cli.out.len] = '\0';
    assert_string_equal(
        shown, "event,state,value,unit,group,cpu,at,raw,enabled,running,spread,model,reason,remedy,about\n"
               "\"page-faults\",\"counted\",7,\"\",,,1.500000000,7,9,9,,\"flat\",\"\",\"\",\"\"\n"
               "\"b\",\"not supported\",,\"\",,1,1.500000000,,,,,\"flat\",\"a \"\"word\"\", or two\",\"\",\"\"\n");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(notes),     CASE(clock_rate),
        CASE(together),  CASE(no_division_by_nothing),
        CASE(spread),    CASE(runs_without_a_count),
        CASE(one_run),   CASE(table),
        CASE(defaults),  CASE(interval),
        CASE(target),    CASE(json_objects),
        CASE(csv_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
