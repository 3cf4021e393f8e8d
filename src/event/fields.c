/* SPDX-License-Identifier: MIT */
/* Registers by name and number, and their fields: tools/compile_registers.py makes the rows from data/event/. */
#include <assay/event.h>

struct field_range {
    uint16_t first, count;
};

#include "event/register_data.h"

enum { REGISTERS = sizeof registers / sizeof registers[0] };

const struct assay_event_field *assay_event_fields(enum assay_event_register r, unsigned *n)
{
    *n = field_ranges[r].count;
    return field_rows + field_ranges[r].first;
}

const char *assay_event_field_desc(const struct assay_event_field *f) { return field_pool + f->desc; }

static bool same_letter(char a, char b)
{
    return (a >= 'a' && a <= 'z' ? a - 32 : a) == (b >= 'a' && b <= 'z' ? b - 32 : b);
}

static bool same_name(const char *name, const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && name[i] && same_letter(name[i], text[i]))
        i++;
    return i == n && !name[i];
}

/* With or without IA32_ or MSR_. */
static bool is_called(const struct assay_event_msr *r, const char *text, size_t n)
{
    return same_name(r->name, text, n) || same_name(r->name + (r->name[0] == 'I' ? 5 : 4), text, n);
}

static unsigned digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (unsigned)((c | 0x20) - 'a' + 10) : 16;
}

/* Decimal, or hexadecimal after 0x; false when it is neither or beyond 32 bits. */
static bool read_number(const char *s, size_t n, uint32_t *v)
{
    unsigned base = n > 2 && s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10;
    uint64_t sum = 0;
    for (size_t i = base == 16 ? 2 : 0; i < n; i++) {
        if (digit(s[i]) >= base)
            return false;
        sum = sum * base + digit(s[i]);
        if (sum > UINT32_MAX)
            return false;
    }
    *v = (uint32_t)sum;
    return n > 0;
}

/* Rows are sorted by number, the one of today's processors first. */
const struct assay_event_msr *assay_event_find_register(const char *text, size_t n, unsigned schemes)
{
    uint32_t number;
    bool by_number = read_number(text, n, &number);
    for (const struct assay_event_msr *r = registers; r < registers + REGISTERS; r++)
        if ((!schemes || r->schemes & schemes) && (by_number ? r->number == number : is_called(r, text, n)))
            return r;
    return NULL;
}

const struct assay_event_msr *assay_event_register_at(uint32_t number, enum assay_event_scheme scheme)
{
    for (const struct assay_event_msr *r = registers; r < registers + REGISTERS; r++)
        if (r->number == number && r->schemes & 1u << scheme)
            return r;
    return NULL;
}
