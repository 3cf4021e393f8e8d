/* SPDX-License-Identifier: MIT */
/* Modifiers behind an event's name, as perf has them: u k h I G H p P D e W. */
#include "count.h"

#include <string.h>

static const char letters[] = "ukhIGHpPDeWS";

bool count_are_modifiers(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr(letters, s[i]))
            return false;
    return n > 0;
}

static bool has(const struct count_span *l, char c) { return memchr(l->text, c, l->size) != NULL; }

static int check(const struct count_span *l, struct assay_error *e)
{
    for (size_t i = 0; i < l->size; i++) {
        char c = l->text[i];
        if (c < ' ' || !strchr(letters, c))
            return assay_error_set(
                e, ASSAY_E_ARGUMENT, l->at + i,
                "no modifier %c; there are u k h (user, kernel, hypervisor), I (not idle), G H (guest, "
                "host), p (precise), D (pinned), e (exclusive), W (weak group)",
                c < ' ' ? '?' : c);
        if (c == 'S')
            return assay_error_set(e, ASSAY_E_ARGUMENT, l->at + i,
                                   "S is for sampling; nothing is sampled when counting");
        if (c != 'p' && memchr(l->text, c, i))
            return assay_error_set(e, ASSAY_E_ARGUMENT, l->at + i, "modifier %c stands twice", c);
    }
    return ASSAY_OK;
}

static int precise_of(const struct count_span *l, uint8_t *precise, struct assay_error *e)
{
    unsigned n = has(l, 'P') ? 3 : 0;
    for (size_t i = 0; i < l->size; i++)
        n += l->text[i] == 'p';
    if (n > 3)
        return assay_error_set(e, ASSAY_E_ARGUMENT, l->at, "at most ppp");
    *precise = n ? (uint8_t)n : *precise;
    return ASSAY_OK;
}

/* What is named is counted, what is not named beside it is not. */
int count_modifiers(struct count_span l, struct assay_count_event *event, struct assay_error *e)
{
    if (check(&l, e) < 0 || precise_of(&l, &event->precise, e) < 0)
        return ASSAY_E_ARGUMENT;
    if (has(&l, 'u') || has(&l, 'k') || has(&l, 'h')) {
        event->exclude_user = !has(&l, 'u');
        event->exclude_kernel = !has(&l, 'k');
        event->exclude_hv = !has(&l, 'h');
        event->privilege = true;
    }
    if (has(&l, 'G') || has(&l, 'H')) {
        event->exclude_host = !has(&l, 'H');
        event->exclude_guest = !has(&l, 'G');
    }
    event->exclude_idle |= has(&l, 'I');
    event->pinned |= has(&l, 'D');
    event->exclusive |= has(&l, 'e');
    event->weak |= has(&l, 'W');
    return ASSAY_OK;
}
