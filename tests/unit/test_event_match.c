/* SPDX-License-Identifier: MIT */
/* Searching events by words: which are found at all, and which stand before others. */
#include <assay/event.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct assay_event_table t;

/* The points of "EVENT" or "EVENT:UMASK" of Knights Mill. */
static unsigned points(const char *name, const char *query)
{
    size_t n = strcspn(name, ":");
    uint32_t pmu = assay_event_find_pmu(&t, "knm", 3), umask = ASSAY_EVENT_NONE,
             event = assay_event_find(&t, pmu, name, n);
    assert_int_not_equal(event, ASSAY_EVENT_NONE);
    if (name[n]) {
        umask = assay_event_find_umask(&t, event, name + n + 1, strlen(name + n + 1));
        assert_int_not_equal(umask, ASSAY_EVENT_NONE);
    }
    return assay_event_match(&t, event, umask, query);
}

static void names_in_either_case_and_cut_anywhere(void **state)
{
    (void)state;
    assert_true(points("OFFCORE_RESPONSE_0:DDR_NEAR", "offcore near") > 0);
    assert_true(points("OFFCORE_RESPONSE_0:DDR_NEAR", " NEAR,  OffCore:response.ddr ") > 0);
    assert_true(points("OFFCORE_RESPONSE_0:DDR_NEAR", "ddr-near") > 0);
    assert_true(points("OFFCORE_RESPONSE_0:DDR_NEAR", "respon ddr") > 0);
    assert_true(points("MACHINE_CLEARS:MEMORY_ORDERING", "dering") > 0);
    assert_int_equal(points("MACHINE_CLEARS:MEMORY_ORDERING", "ng"), 0); /* two letters inside a word are chance */
}

static void every_word_has_to_match(void **state)
{
    (void)state;
    assert_int_equal(points("OFFCORE_RESPONSE_0:DDR_NEAR", "offcore near zebra"), 0);
    assert_int_equal(points("OFFCORE_RESPONSE_0:DDR_FAR", "offcore near"), 0);
    assert_int_equal(points("ICACHE", "offcore"), 0);
}

/* "offcore" finds the two events, and not all their umasks. */
static void a_umask_has_to_say_more_than_its_event(void **state)
{
    (void)state;
    assert_true(points("OFFCORE_RESPONSE_0", "offcore") > 0);
    assert_int_equal(points("OFFCORE_RESPONSE_0:DDR_NEAR", "offcore"), 0);
    assert_int_equal(points("OFFCORE_RESPONSE_0", "offcore near"), 0);
}

static void better_places_stand_first(void **state)
{
    (void)state;
    assert_true(points("ICACHE", "icache") >
                points("FETCH_STALL:ICACHE_FILL_PENDING_CYCLES", "icache"));     /* all of it */
    assert_true(points("LLC_MISSES", "miss") > points("BACLEARS", "predictor")); /* name, text */
    assert_true(points("OFFCORE_RESPONSE_0:DDR", "ddr") >
                points("OFFCORE_RESPONSE_0:DDR_NEAR", "ddr"));                                 /* all, a word */
    assert_true(points("LLC_MISSES", "misses") > points("LAST_LEVEL_CACHE_MISSES", "misses")); /* alias */
    assert_true(points("OFFCORE_RESPONSE_0:DDR_NEAR", "near") >
                points("OFFCORE_RESPONSE_0:DDR_NEAR", "nea")); /* whole word */
}

static void descriptions_are_read(void **state)
{
    (void)state;
    assert_true(points("CYCLES_DIV_BUSY:ALL", "divider") > 0);
    assert_true(points("MACHINE_CLEARS:SMC", "self-modifying code") > 0);
    assert_true(points("RS_FULL_STALL:MEC", "stall memory") >
                0); /* one word in the event's name, one in the umask's text */
}

static void plurals(void **state)
{
    (void)state;
    assert_true(points("PAGE_WALKS", "page walk") > 0);
    assert_true(points("MEM_UOPS_RETIRED:LD_DCU_MISS", "dcu misses") > 0);
    assert_true(points("BR_INST_RETIRED:FAR_BRANCH", "far branches") > 0);
}

static void misspelt_words_still_count(void **state)
{
    (void)state;
    unsigned right = points("OFFCORE_RESPONSE_0:DDR_NEAR", "offcore near");
    assert_true(points("OFFCORE_RESPONSE_0:DDR_NEAR", "offocre near") > 0); /* two letters of seven */
    assert_true(points("OFFCORE_RESPONSE_0:DDR_NEAR", "offocre near") < right);
    assert_true(points("ICACHE", "icahe") > 0);                                 /* one of five */
    assert_int_equal(points("ICACHE", "ihahe"), 0);                             /* two of five */
    assert_int_equal(points("OFFCORE_RESPONSE_0:DDR_NEAR", "offcore naer"), 0); /* too short to guess */
}

static void strange_queries(void **state)
{
    (void)state;
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_true(points("ICACHE", "") > 0 && points("ICACHE", " :,.") > 0); /* nothing is asked for */
    assert_int_equal(points("ICACHE:HIT", ""), 0);
    assert_int_equal(points("ICACHE", longest), 0);
    assert_int_equal(points("ICACHE", "\xff\xfe\x01"), 0);
    assert_int_equal(points("ICACHE", "---"), 0);
}

int main(void)
{
    assay_event_builtin(&t);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_either_case_and_cut_anywhere),
        cmocka_unit_test(every_word_has_to_match),
        cmocka_unit_test(a_umask_has_to_say_more_than_its_event),
        cmocka_unit_test(better_places_stand_first),
        cmocka_unit_test(descriptions_are_read),
        cmocka_unit_test(plurals),
        cmocka_unit_test(misspelt_words_still_count),
        cmocka_unit_test(strange_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
