/* SPDX-License-Identifier: MIT */
/* Rows of a table by name and by processor. */
#include <assay/event.h>

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The bits in which eight bytes differ, the case of letters aside; and some bit where a byte of b is 0. */
static uint64_t difference(uint64_t a, uint64_t b)
{
    uint64_t x = (a | EACH(0x20)) & EACH(0x7f);
    uint64_t letter = (x + EACH(0x80 - 'a')) & ~(x + EACH(0x7f - 'z')) & ~a & EACH(0x80);
    uint64_t zero = (b - EACH(1)) & ~b & EACH(0x80);
    return ((a ^ b) & ~(letter >> 2)) | zero;
}

/* Whether the n bytes of name are the whole of the string, without regard to case. */
static bool is_name(const struct assay_event_table *t, uint32_t string, const char *name, size_t n)
{
    const char *s = t->pool + string;
    uint64_t differ = 0, rest = n < 4 ? EACH('_') << 24 : 0; /* in place of what is not read */
    if (n >= t->pool_size - string || s[n] != '\0')
        return false;
    if (n < 8)
        return difference(assay_event_load_short(s, n) | rest, assay_event_load_short(name, n) | rest) == 0;
    for (size_t i = 0; i < n; i += 8) {
        size_t at = i + 8 <= n ? i : n - 8; /* the last eight overlap those before */
        differ |= difference(assay_event_load(s + at, 8), assay_event_load(name + at, 8));
    }
    return differ == 0;
}

uint32_t assay_event_find_pmu(const struct assay_event_table *t, const char *name, size_t n)
{
    for (uint32_t i = 0; i < t->pmu_count; i++)
        if (is_name(t, t->pmus[i].name, name, n))
            return i;
    return ASSAY_EVENT_NONE;
}

uint32_t assay_event_find(const struct assay_event_table *t, uint32_t pmu, const char *name, size_t n)
{
    const struct assay_event_pmu *p = &t->pmus[pmu];
    const uint16_t *slots = t->slots + p->first_slot;
    const struct assay_event_row *rows = t->events + p->first_event;
    if (p->events == 0)
        return ASSAY_EVENT_NONE;
    for (uint32_t at = assay_event_hash(p->seed, name, n) & p->slot_mask; slots[at]; at = (at + 1) & p->slot_mask)
        if (is_name(t, rows[slots[at] - 1].name, name, n))
            return p->first_event + slots[at] - 1;
    return ASSAY_EVENT_NONE;
}

uint32_t assay_event_find_umask(const struct assay_event_table *t, uint32_t event, const char *name, size_t n)
{
    const struct assay_event_row *e = &t->events[event];
    const uint16_t *slots = t->slots + e->first_slot;
    const struct assay_event_umask *rows = t->umasks + e->first_umask;
    if (e->umasks == 0)
        return ASSAY_EVENT_NONE;
    for (uint32_t at = assay_event_hash(e->seed, name, n) & e->slot_mask; slots[at]; at = (at + 1) & e->slot_mask)
        if (is_name(t, rows[slots[at] - 1].name, name, n))
            return e->first_umask + slots[at] - 1;
    return ASSAY_EVENT_NONE;
}

/* A PMU's models are sorted by nothing in particular; of those with the model, the one with the highest stepping not above. */
uint32_t assay_event_find_model(const struct assay_event_table *t, unsigned family, unsigned model, unsigned stepping)
{
    uint32_t key = (uint32_t)(family << 16 | model << 4), best = ASSAY_EVENT_NONE, best_stepping = 0;
    for (uint32_t i = 0; i < t->pmu_count; i++)
        for (uint32_t j = 0; j < t->pmus[i].models; j++) {
            uint32_t m = t->models[t->pmus[i].first_model + j], low = m & 15;
            if ((m & ~15u) == key && low <= stepping && (best == ASSAY_EVENT_NONE || low >= best_stepping)) {
                best = i;
                best_stepping = low;
            }
        }
    return best;
}
