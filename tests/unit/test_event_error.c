/* SPDX-License-Identifier: MIT */
/* Every rule on event strings: the reason, the token at fault, and what the message says to do. */
#include <assay/base.h>
#include <assay/event.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum {
    STRICT = ASSAY_EVENT_STRICT,
    COMPAT = ASSAY_EVENT_LIBPFM4,
    EXT = ASSAY_EVENT_PERF_EXT,
    BARE = ASSAY_EVENT_REGISTERS,
    FINE = ASSAY_EVENT_FINE,
};

static struct assay_event_table t;

/* The token is what stands between < and >. */
struct rule {
    const char *text;
    uint8_t strict, compat; /* reasons, FINE when it is an event */
    uint8_t more;           /* further mode bits */
};

#define OF(r) ASSAY_EVENT_##r
static const struct rule rules[] = {
    /* The string */
    {"knm::ICACHE<,>HIT", OF(BAD_CHARACTER), OF(BAD_CHARACTER), 0},
    {"knm::ICACHE:HI< >T", OF(BAD_CHARACTER), OF(BAD_CHARACTER), 0},
    {"nobody::IC<,>ACHE", OF(BAD_CHARACTER), OF(BAD_CHARACTER), 0},
    {"<nobody>::ICACHE", OF(NO_PMU), OF(NO_PMU), 0},
    {"<>::ICACHE", OF(NO_PMU), OF(NO_PMU), 0},
    {"knm::<>", OF(NO_EVENT), OF(NO_EVENT), 0},
    {"knm::<ICACH>:HIT", OF(NO_EVENT), OF(NO_EVENT), 0},
    {"knm::<ICACHE=3>", OF(NO_EVENT), OF(NO_EVENT), 0},
    {"<NOTHING>:HIT", OF(NO_EVENT), OF(NO_EVENT), 0},
    {"<UNHALTED_REFERENCE_CYCLES>", OF(AMBIGUOUS), OF(AMBIGUOUS), 0},
    {"knm::ICACHE:<>", OF(EMPTY), OF(EMPTY), 0},
    {"knm::ICACHE:<>:HIT", OF(EMPTY), OF(EMPTY), 0},
    {"knm::ICACHE.<>.u", OF(EMPTY), OF(EMPTY), 0},
    {"knm::ICACHE:<=3>", OF(EMPTY), OF(EMPTY), 0},
    {"knm::ICACHE:<foo>:c=x", OF(NO_ATTRIBUTE), OF(NO_ATTRIBUTE), 0},
    {"knm::ICACHE:c=1:c=2:<foo>", OF(NO_ATTRIBUTE), OF(NO_ATTRIBUTE), 0},
    {"knm::ICACHE:<HIT=1>", OF(UMASK_VALUE), OF(UMASK_VALUE), 0},
    {"knm::ICACHE:<c>", OF(VALUE_MISSING), OF(VALUE_MISSING), 0},
    {"knm::ICACHE:<c=>", OF(VALUE_MISSING), OF(VALUE_MISSING), 0},
    {"knm::ICACHE:<c=x>:foo", OF(VALUE_BAD), OF(VALUE_BAD), 0},
    {"knm::ICACHE:<c=1=2>", OF(VALUE_BAD), OF(VALUE_BAD), 0},
    {"knm::ICACHE:<c=0x>", OF(VALUE_BAD), OF(VALUE_BAD), 0},
    {"knm::ICACHE:<c=08>", OF(VALUE_BAD), OF(VALUE_BAD), 0},
    {"knm::ICACHE:<c=18446744073709551617>", OF(VALUE_BAD), OF(VALUE_BAD), 0},
    {"knm::ICACHE:<c=-18446744073709551615>", OF(VALUE_BAD), FINE, 0},
    {"knm::ICACHE:<u=yes>", OF(VALUE_BAD), OF(VALUE_BAD), 0},
    {"knm::ICACHE:<c=256>", OF(VALUE_RANGE), OF(VALUE_RANGE), 0},
    {"knm::ICACHE:e:<c=300>", OF(VALUE_RANGE), OF(VALUE_RANGE), 0},
    {"netburst::global_power_events:<thr=16>", OF(VALUE_RANGE), OF(VALUE_RANGE), 0},
    {"knm::ICACHE:c=1:<c=2>:e", OF(SET_TWICE), OF(SET_TWICE), 0},
    {"knm::ICACHE:u:<u=0>", OF(SET_TWICE), OF(SET_TWICE), 0},
    /* Raw umasks */
    {"knm::ICACHE:HIT:<0x1>", OF(RAW_MIXED), OF(RAW_MIXED), 0},
    {"knm::BRANCH_INSTRUCTIONS_RETIRED:ANY:<0x7e>", OF(RAW_MIXED), OF(RAW_MIXED), 0}, /* an alias of ANY */
    {"knm::ICACHE:0x1:<HIT>", OF(RAW_MIXED), OF(RAW_MIXED), 0},
    {"knm::ICACHE:0x1:<0x1>", OF(RAW_MIXED), OF(RAW_MIXED), 0},
    {"knm::ICACHE:<0x1=2>", OF(VALUE_BAD), OF(VALUE_BAD), 0},
    {"knm::ICACHE:<0x1g>", OF(NO_ATTRIBUTE), OF(NO_ATTRIBUTE), 0},
    {"knm::ICACHE:<0x100>", OF(RAW_WIDTH), OF(RAW_WIDTH), 0},
    {"knm::ICACHE:<0x4>", FINE, FINE, 0}, /* what no table names */
    {"knm::UNHALTED_REFERENCE_CYCLES:<0x4>", OF(RAW_ILLEGAL), FINE, 0},
    {"netburst::TC_deliver_mode:<0x1>", OF(NO_ATTRIBUTE), OF(NO_ATTRIBUTE), 0},
    {"knm::OFFCORE_RESPONSE_0:<0x1>", OF(RAW_ILLEGAL), OF(RAW_ILLEGAL), 0},
    {"knm::OFFCORE_RESPONSE_0:<0x10000>", OF(RAW_ILLEGAL), OF(RAW_ILLEGAL), 0},
    {"knm::OFFCORE_RESPONSE_0:<0x0>", OF(RAW_ILLEGAL), OF(RAW_ILLEGAL), 0},
    {"knm::OFFCORE_RESPONSE_0:<0x10100>", OF(MSR_REFUSES), OF(MSR_REFUSES), 0},
    {"knm::OFFCORE_RESPONSE_0:<0x8000010001>", OF(RAW_WIDTH), OF(RAW_WIDTH), 0},
    {"knm::OFFCORE_RESPONSE_1:<0x4000000001>", OF(RAW_WIDTH), OF(RAW_WIDTH), 0},
    {"knm::OFFCORE_RESPONSE_0:<0x4000010001>", OF(LATENCY), OF(LATENCY), 0},
    /* Umasks beside each other */
    {"knm::ICACHE:HIT:<MISSES>:c=300", OF(NOT_TOGETHER), OF(NOT_TOGETHER), 0},
    {"knm::ICACHE:<c=300>:HIT:MISSES", OF(VALUE_RANGE), OF(VALUE_RANGE), 0},
    {"knm::BRANCH_INSTRUCTIONS_RETIRED:<JCC>", OF(NOT_TOGETHER), OF(NOT_TOGETHER), 0},
    {"knm::OFFCORE_RESPONSE_0:ANY_REQUEST:<DMND_RFO>", OF(NOT_TOGETHER), OF(NOT_TOGETHER), 0},
    {"knm::OFFCORE_RESPONSE_0:DDR:<ANY_RESPONSE>", OF(NOT_TOGETHER), OF(NOT_TOGETHER), 0},
    {"knm::OFFCORE_RESPONSE_0:OUTSTANDING:<DDR>", OF(LATENCY), OF(LATENCY), 0},
    {"knm::OFFCORE_RESPONSE_0:ANY_RESPONSE:<OUTSTANDING>", OF(LATENCY), OF(LATENCY), 0},
    {"knm::OFFCORE_RESPONSE_1:<OUTSTANDING>", OF(NO_ATTRIBUTE), OF(NO_ATTRIBUTE), 0},
    {"netburst::replay_event:L1_LD_MISS:<L2_LD_MISS>", OF(NOT_TOGETHER), OF(NOT_TOGETHER), 0},
    {"netburst::<TC_deliver_mode>:u", OF(NEEDS_UMASK), OF(NEEDS_UMASK), 0},
    /* What the offcore MSRs refuse */
    {"knm::OFFCORE_RESPONSE_0:<PARTIAL_WRITES>:DDR", OF(MSR_REFUSES), OF(MSR_REFUSES), 0},
    {"knm::OFFCORE_RESPONSE_0:DMND_RFO:<FULL_STREAMING_STORES>", OF(MSR_REFUSES), OF(MSR_REFUSES), 0},
    {"knm::OFFCORE_RESPONSE_0:<PARTIAL_STREAMING_STORES>", OF(MSR_REFUSES), OF(MSR_REFUSES), 0},
    {"knm::OFFCORE_RESPONSE_0:<STREAMING_STORES>", OF(MSR_REFUSES), OF(MSR_REFUSES), 0},
    /* Modifiers */
    {"knm::UOPS_RETIRED:<e>", OF(EDGE_CMASK), OF(EDGE_CMASK), 0},
    {"knm::UOPS_RETIRED:c=0:<e=1>", OF(EDGE_CMASK), OF(EDGE_CMASK), 0},
    {"knm::UOPS_RETIRED:<i>", OF(INVERT_CMASK), OF(INVERT_CMASK), 0},
    {"knm::PAGE_WALKS:<c=1>", OF(FIXED_MODIFIER), OF(FIXED_MODIFIER), 0},
    {"knm::PAGE_WALKS:CYCLES:<e>:c=1", OF(FIXED_MODIFIER), OF(FIXED_MODIFIER), 0},
    {"knm::PAGE_WALKS:WALKS:<c=2>", OF(FIXED_MODIFIER), OF(FIXED_MODIFIER), 0},
    {"knm::PAGE_WALKS:WALKS:<e=0>", OF(FIXED_MODIFIER), OF(FIXED_MODIFIER), 0},
    {"knm::ICACHE:<u=0>:k=0", OF(NO_PRIVILEGE), OF(NO_PRIVILEGE), 0},
    {"knm::ICACHE:<k=0>", OF(NO_PRIVILEGE), OF(NO_PRIVILEGE), 0},
    {"knm::ICACHE:<t>", OF(NO_MODIFIER), OF(NO_MODIFIER), 0},
    {"knm::UNHALTED_REFERENCE_CYCLES:<c=1>", OF(NO_MODIFIER), OF(NO_MODIFIER), 0},
    {"knm::UNHALTED_REFERENCE_CYCLES:<e>", OF(NO_MODIFIER), OF(NO_MODIFIER), 0},
    {"netburst::global_power_events:<i>", OF(NO_MODIFIER), OF(NO_MODIFIER), 0},
    /* The kernel's interface */
    {"knm::ICACHE:<mg>", OF(NO_MODIFIER), OF(NO_MODIFIER), 0},
    {"knm::INST_RETIRED:<period=5>", OF(NO_MODIFIER), OF(NO_MODIFIER), ASSAY_EVENT_PERF},
    {"knm::UOPS_RETIRED:<precise=1>", OF(NO_PEBS), OF(NO_PEBS), EXT},
    {"knm::MEM_UOPS_RETIRED:L1_MISS_LOADS:<precise=2>", OF(NO_PEBS), OF(NO_PEBS), EXT},
    {"knm::MEM_UOPS_RETIRED:0x1:<precise=2>", OF(NO_PEBS), OF(NO_PEBS), EXT},
    {"knm::MEM_UOPS_RETIRED:0x4:precise=2", FINE, FINE, EXT},
    {"knm::MEM_UOPS_RETIRED:L2_HIT_LOADS:<precise=2>:L1_MISS_LOADS", OF(NO_PEBS), OF(NO_PEBS), EXT},
    {"knm::MEM_UOPS_RETIRED:L1_MISS_LOADS:precise=0", FINE, FINE, EXT},
    {"knm::MEM_UOPS_RETIRED:<precise=2>", OF(NO_PEBS), OF(NO_PEBS), EXT},
    {"knm::INST_RETIRED:<precise=4>", OF(VALUE_RANGE), OF(VALUE_RANGE), EXT},
    {"knm::INST_RETIRED:<e>:precise=4", OF(EDGE_CMASK), OF(EDGE_CMASK), EXT},
    {"knm::INST_RETIRED:<period=0>", OF(VALUE_RANGE), OF(VALUE_RANGE), EXT},
    {"knm::INST_RETIRED:<freq=0>", OF(VALUE_RANGE), OF(VALUE_RANGE), EXT},
    {"knm::INST_RETIRED:freq=10:<period=10>", OF(EXCLUDES), OF(EXCLUDES), EXT},
    {"knm::INST_RETIRED:<cpu=2147483647>", OF(VALUE_RANGE), OF(VALUE_RANGE), EXT},
    {"knm::INST_RETIRED:<mg=0>:mh=0", OF(NO_PRIVILEGE), OF(NO_PRIVILEGE), EXT},
    {"netburst::replay_event:NBOGUS:<precise=1>", OF(KERNEL_REFUSES), OF(NO_PEBS), EXT},
    /* What only Linux refuses */
    {"netburst::b2b_cycles:<BIT2>", OF(KERNEL_REFUSES), FINE, 0},
    {"netburst::b2b_cycles:<BIT2>", OF(KERNEL_REFUSES), OF(KERNEL_REFUSES), EXT},
    {"netburst::b2b_cycles:BIT2", FINE, FINE, BARE},
    {"netburst::machine_clear:CLEAR:<SMCLEAR>", OF(KERNEL_REFUSES), FINE, 0},
    /* What the reference does not have */
    {"knm::CPU_CLK_UNHALTED:<REF>", FINE, OF(NO_ATTRIBUTE), 0},
    {"knm::<L2_PREFETCHER>:ALLOC_XQ", FINE, OF(NO_EVENT), 0},
};

/* Takes the marks out; where they were. */
static size_t unmark(const char *marked, char *text, size_t *column, size_t *size)
{
    size_t n = 0;
    *column = *size = 0;
    for (; *marked; marked++) {
        if (*marked == '<')
            *column = n;
        else if (*marked == '>')
            *size = n - *column;
        else
            text[n++] = *marked;
    }
    text[n] = '\0';
    return n;
}

static void check_rule(const struct rule *r, unsigned mode, unsigned reason)
{
    char text[256];
    size_t column, size, n = unmark(r->text, text, &column, &size);
    struct assay_event_code c;
    struct assay_event_error e = {.reason = ASSAY_EVENT_FINE};
    int status = assay_event_encode(&t, text, n, mode, 3, ASSAY_EVENT_NONE, &c, &e);
    if (reason == FINE) {
        if (status != ASSAY_OK)
            fail_msg("%s in mode %#x: %s", text, mode, assay_event_reason_name((enum assay_event_reason)e.reason));
        return;
    }
    if (status == ASSAY_OK)
        fail_msg("%s is an event in mode %#x", text, mode);
    if (e.reason != reason || e.column != column || e.size != size)
        fail_msg("%s in mode %#x: %s at %u, %u characters", text, mode,
                 assay_event_reason_name((enum assay_event_reason)e.reason), e.column, e.size);
    bool absent = reason == OF(NO_PMU) || reason == OF(NO_EVENT) || reason == OF(NO_ATTRIBUTE);
    assert_int_equal(status, absent ? ASSAY_E_NOT_FOUND : ASSAY_E_ARGUMENT);
    assert_int_equal(status, e.code);
    /* Without anybody to tell it is an error all the same. */
    assert_int_equal(assay_event_encode(&t, text, n, mode, 3, ASSAY_EVENT_NONE, &c, NULL), status);
}

static void every_rule_names_the_token(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        check_rule(&rules[i], STRICT | rules[i].more, rules[i].strict);
        check_rule(&rules[i], COMPAT | rules[i].more, rules[i].compat);
    }
}

/* The reference takes what is before the first :: for a PMU, wherever it stands. */
static void double_colon_further_on(void **state)
{
    (void)state;
    static const struct rule strict = {"knm::ICACHE:HIT:<>:u", OF(EMPTY), OF(EMPTY), 0},
                             late = {"ICACHE:HIT:<>:u", OF(EMPTY), 0, 0},
                             compat = {"<ICACHE:HIT>::u", 0, OF(NO_PMU), 0};
    check_rule(&strict, STRICT, strict.strict);
    check_rule(&strict, COMPAT, strict.compat);
    check_rule(&late, STRICT, late.strict);
    check_rule(&compat, COMPAT, compat.compat);
}

static void nothing_named_and_no_default(void **state)
{
    (void)state;
    struct assay_event_code c;
    struct assay_event_error e;
    assert_int_equal(assay_event_encode(&t, "knm::ICACHE", 11, STRICT, 0, ASSAY_EVENT_NONE, &c, &e), ASSAY_E_ARGUMENT);
    assert_int_equal(e.reason, ASSAY_EVENT_NO_PRIVILEGE);
    assert_int_equal(e.column, 5);
}

static int encode_many(const char *head, const char *attribute, unsigned times, struct assay_event_error *e)
{
    char text[4096];
    struct assay_event_code c;
    size_t n = (size_t)snprintf(text, sizeof text, "%s", head);
    for (unsigned i = 0; i < times; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ":%s", attribute);
    return assay_event_encode(&t, text, n, COMPAT, 3, ASSAY_EVENT_NONE, &c, e);
}

static void sixty_four_of_a_kind(void **state)
{
    (void)state;
    struct assay_event_error e;
    assert_int_equal(encode_many("knm::ICACHE", "u", 64, &e), ASSAY_OK);
    assert_int_equal(encode_many("knm::ICACHE", "u", 65, &e), ASSAY_E_ARGUMENT);
    assert_int_equal(e.reason, ASSAY_EVENT_TOO_MANY);
    assert_int_equal(e.column, 12 + 2 * 64);
    assert_int_equal(encode_many("knm::OFFCORE_RESPONSE_0", "ANY_READ", 64, &e), ASSAY_OK);
    assert_int_equal(encode_many("knm::OFFCORE_RESPONSE_0", "ANY_READ", 65, &e), ASSAY_E_ARGUMENT);
    assert_int_equal(e.reason, ASSAY_EVENT_TOO_MANY);
    assert_int_equal(e.column, 24 + 9 * 64);
}

/* Text that is not terminated, with a zero byte, and of a length past 16 bits. */
static void any_bytes_of_any_length(void **state)
{
    (void)state;
    static char text[200000];
    struct assay_event_code c;
    struct assay_event_error e;
    assert_int_equal(assay_event_encode(&t, "knm::ICACHE:HITS", 15, STRICT, 3, ASSAY_EVENT_NONE, &c, &e), ASSAY_OK);
    assert_int_equal(assay_event_encode(&t, "knm::ICACHE\0:HIT", 16, STRICT, 3, ASSAY_EVENT_NONE, &c, &e),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(e.reason, ASSAY_EVENT_BAD_CHARACTER);
    assert_int_equal(e.column, 11);
    memset(text, 'A', sizeof text);
    memcpy(text, "knm::ICACHE:", 12);
    text[100000] = ':';
    assert_int_equal(assay_event_encode(&t, text, sizeof text, STRICT, 3, ASSAY_EVENT_NONE, &c, &e), ASSAY_E_NOT_FOUND);
    assert_int_equal(e.column, 12);
    assert_int_equal(e.size, 100000 - 12);
    assert_int_equal(assay_event_encode(&t, NULL, 0, STRICT, 3, ASSAY_EVENT_NONE, &c, &e), ASSAY_E_NOT_FOUND);
}

static const struct {
    const char *text, *message, *meant;
    unsigned mode;
} messages[] = {
    {"knm::OFFCORE_RESPONSE_0:DDR_NER",
     "column 25: no umask or modifier 'DDR_NER' of knm::OFFCORE_RESPONSE_0; did you mean DDR_NEAR?", "DDR_NEAR",
     STRICT},
    {"knm::OFFCORE_RESP:u", "column 6: no event 'OFFCORE_RESP'; did you mean OFFCORE_RESPONSE_0?", "OFFCORE_RESPONSE_0",
     STRICT},
    {"kmn::ICACHE", "column 1: no PMU 'kmn'; did you mean knm?", "knm", STRICT},
    {"knm::CPU_CLK_UNHALTED:RFE", "column 23: no umask or modifier 'RFE' of knm::CPU_CLK_UNHALTED; did you mean REF?",
     "REF", STRICT},
    {"knm::CPU_CLK_UNHALTED:RFE",
     "column 23: no umask or modifier 'RFE' of knm::CPU_CLK_UNHALTED; assay list shows what there is", NULL, COMPAT},
    {"knm::L2_PREFETCHE", "column 6: no event 'L2_PREFETCHE'; assay list shows what there is", NULL, COMPAT},
    {"kmm::ICACHE", "column 1: no PMU 'kmm'; did you mean knm?", "knm", STRICT},
    {"knm::icashe", "column 6: no event 'icashe'; did you mean ICACHE?", "ICACHE", STRICT},
    {"knm::INST_RETIRED:precize=2",
     "column 19: no umask or modifier 'precize' of knm::INST_RETIRED; did you mean precise?", "precise", EXT},
    {"knm::ICACHE:zzz\n", "column 16: '?' cannot be in an event's name; give each event by itself, without blanks",
     NULL, STRICT},
    {"knm::ICACHE:c=300", "column 13: 'c=300': c takes a number from 0 to 255", NULL, STRICT},
    {"knm::PAGE_WALKS:c=1", "column 17: 'c=1': CYCLES sets c to 0 itself; leave it out or take another umask", NULL,
     STRICT},
    {"knm::OFFCORE_RESPONSE_0:PARTIAL_WRITES",
     "column 25: 'PARTIAL_WRITES': this event's MSR refuses the bits 0x100; the other offcore event takes them", NULL,
     STRICT},
    {"knm::ICACHE:t", "column 13: knm::ICACHE does not take 't'; it takes u k e i c", NULL, STRICT},
    {"UNHALTED_REFERENCE_CYCLES",
     "column 1: 'UNHALTED_REFERENCE_CYCLES' is one thing on knm and another on ix86arch; write "
     "knm::UNHALTED_REFERENCE_CYCLES or "
     "ix86arch::UNHALTED_REFERENCE_CYCLES",
     NULL, STRICT},
    {"knm.ICACHE.HIT", "column 1: no event 'knm'; a PMU stands before two colons: knm::EVENT", NULL, STRICT},
    {"knm:ICACHE", "column 1: no event 'knm'; a PMU stands before two colons: knm::EVENT", NULL, STRICT},
    {"knm", "column 1: no event 'knm'; a PMU stands before two colons: knm::EVENT", NULL, STRICT},
    {"knm::ICACHE:e:m=1", "column 15: no umask or modifier 'm' of knm::ICACHE; did you mean c?", "c", STRICT},
    {"netburst::ITLB_reference", "column 11: netburst::ITLB_reference needs a umask; choose of HIT, MISS, HIT_UC", NULL,
     STRICT},
};

static void messages_name_the_token_and_the_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        const char *text = messages[i].text;
        char said[500];
        struct assay_event_code c;
        struct assay_event_error e;
        struct assay_out o;
        assert_int_not_equal(assay_event_encode(&t, text, strlen(text), messages[i].mode, 3, ASSAY_EVENT_NONE, &c, &e),
                             ASSAY_OK);
        assay_out_init(&o, said, sizeof said - 1, NULL, NULL);
        assay_event_error_print(&t, text, &e, &o);
        said[o.len] = '\0';
        assert_string_equal(said, messages[i].message);
        const char *meant = assay_event_error_meant(&t, text, &e);
        assert_int_equal(meant != NULL, messages[i].meant != NULL);
        if (meant)
            assert_string_equal(meant, messages[i].meant);
    }
}

static void reasons_and_modifiers_have_words(void **state)
{
    (void)state;
    for (unsigned r = 0; r < ASSAY_EVENT_REASONS; r++)
        assert_true(assay_event_reason_name((enum assay_event_reason)r)[0]);
    for (unsigned m = 0; m < ASSAY_EVENT_MODS; m++)
        assert_true(assay_event_modifier_name((enum assay_event_modifier)m)[0] &&
                    assay_event_modifier_desc((enum assay_event_modifier)m)[0]);
    assert_string_equal(assay_event_modifier_name(ASSAY_EVENT_MOD_THR), "thr");
    assert_false(assay_event_modifier_boolean(ASSAY_EVENT_MOD_THR));
    assert_true(assay_event_modifier_boolean(ASSAY_EVENT_MOD_CMPL));
}

int main(void)
{
    assay_event_builtin(&t);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_names_the_token),       cmocka_unit_test(double_colon_further_on),
        cmocka_unit_test(nothing_named_and_no_default),     cmocka_unit_test(sixty_four_of_a_kind),
        cmocka_unit_test(any_bytes_of_any_length),          cmocka_unit_test(messages_name_the_token_and_the_remedy),
        cmocka_unit_test(reasons_and_modifiers_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
