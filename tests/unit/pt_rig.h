/* SPDX-License-Identifier: MIT */
/* For tests: a trace unit with memory behind it, driven by hand, and what it wrote since the last look. */
#ifndef ASSAY_TESTS_PT_RIG_H
#define ASSAY_TESTS_PT_RIG_H

#include <assay/pt_unit.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pt_words.h"

#define BRANCHES       (ASSAY_RTIT_TRACEEN | ASSAY_RTIT_USER | ASSAY_RTIT_BRANCHEN)
#define FIELD(name, v) ((uint64_t)(v) << ASSAY_RTIT_##name##_SHIFT)

struct rig {
    struct assay_pt_unit u;
    struct assay_pt_decoder d;
    uint8_t memory[1 << 20];
    size_t seen;
};

static inline void power_on(struct rig *r, const struct assay_pt_unit_config *config)
{
    assay_pt_unit_init(&r->u, config);
    assay_pt_unit_output(&r->u, r->memory, sizeof r->memory);
    assay_pt_decoder_init(&r->d, r->memory, 0, 0, true);
    r->seen = 0;
}

static inline void write_ctl(struct rig *r, uint64_t ctl)
{
    assert_int_equal(assay_pt_unit_wrmsr(&r->u, ASSAY_MSR_RTIT_CTL, ctl), ASSAY_OK);
}

/* The packets written since the last look. */
static inline void expect(struct rig *r, const char *words)
{
    char all[8192] = "", buf[80];
    size_t now = assay_pt_unit_written(&r->u), n = 0;
    assay_pt_decoder_refill(&r->d, r->memory + r->seen, now - r->seen);
    struct assay_pt_packet p;
    while (assay_pt_decoder_next(&r->d, &p) == 1) {
        const char *word = pt_word(&p, buf, sizeof buf);
        assert_non_null(word);
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? " " : "", word);
        assert_true(n < sizeof all);
    }
    r->seen = now;
    assert_string_equal(all, words);
}

/* On, and inside at 0x401000; the packets of that are checked once, in starts(). */
static inline void begin(struct rig *r, uint64_t ctl, const struct assay_pt_unit_config *config)
{
    power_on(r, config);
    write_ctl(r, BRANCHES | ctl);
    assay_pt_unit_enter(&r->u, 0x401000);
    r->seen = assay_pt_unit_written(&r->u);
    assay_pt_decoder_init(&r->d, r->memory + r->seen, 0, r->seen, true);
    r->d.last_ip = 0x401000;
    r->d.have_last_ip = true;
}

static inline void jump_at(struct rig *r, uint64_t cycle)
{
    r->u.cycles = cycle;
    assay_pt_unit_indirect(&r->u, 0x401000);
}

static inline void conds_at(struct rig *r, uint64_t cycle, const char *taken)
{
    r->u.cycles = cycle;
    for (; *taken; taken++)
        assay_pt_unit_cond(&r->u, *taken == 'T', 0x401000);
}

static inline struct rig *rig(void)
{
    static struct rig r;
    return &r;
}

#endif
