/* SPDX-License-Identifier: MIT */
/* assay encode --compat libpfm4: an event as the reference library's check_events shows it. */
#include "encode.h"
#include "events_print.h"

/* In the order of the reference. */
static const uint8_t order[] = {ASSAY_EVENT_MOD_K, ASSAY_EVENT_MOD_U,   ASSAY_EVENT_MOD_E, ASSAY_EVENT_MOD_CMPL,
                                ASSAY_EVENT_MOD_I, ASSAY_EVENT_MOD_THR, ASSAY_EVENT_MOD_C, ASSAY_EVENT_MOD_T};

void encode_compat_name(struct assay_out *o, const struct encode *x, const struct assay_event_code *code)
{
    uint32_t has = x->events.table.events[code->event].modifiers;
    assay_event_whole_name(&x->events.table, code, o);
    for (unsigned i = 0; i < sizeof order; i++)
        if (has >> order[i] & 1) {
            assay_out_char(o, ':');
            assay_out_str(o, assay_event_modifier_name((enum assay_event_modifier)order[i]));
            assay_out_char(o, '=');
            assay_out_dec(o, code->modifier[order[i]]);
        }
}

void encode_compat(struct cli *c, const struct encode *x, const char *text, const struct assay_event_code *code)
{
    const struct assay_event_pmu *p = &x->events.table.pmus[code->pmu];
    struct assay_out *o = &c->out;
    assay_out_str(o, "Requested Event: ");
    assay_out_clean(o, text);
    assay_out_str(o, "\nActual    Event: ");
    encode_compat_name(o, x, code);
    assay_out_str(o, "\nPMU            : ");
    assay_out_str(o, assay_event_str(&x->events.table, p->desc));
    assay_out_str(o, "\nIDX            : ");
    assay_out_dec(o, (uint64_t)p->id << 21 | (code->event - p->first_event));
    assay_out_str(o, "\nCodes          :");
    for (unsigned i = 0; i < code->codes; i++) {
        assay_out_char(o, ' ');
        events_put_hex(o, code->code[i]);
    }
    assay_out_char(o, '\n');
}
