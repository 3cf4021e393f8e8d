/* SPDX-License-Identifier: MIT */
/* Events to what the machine model counts. */
#include <assay/machine_event.h>

#include "virtual/machine_events.h"

enum { CODE = 0xffff, OFFCORE_0 = 0x01b7, OFFCORE_1 = 0x02b7, PERF_TYPE_SOFTWARE = 1, PERF_TYPE_RAW = 4 };
#define PER_CYCLE (UINT64_C(1) << 18 | UINT64_C(1) << 23 | UINT64_C(0xff) << 24) /* E, INV, CMASK */
#define REQUESTS  UINT64_C(0xffff)

static const struct machine_event_row *find_row(enum machine_event_space space, uint64_t code)
{
    for (unsigned i = 0; i < assay_machine_event_row_count; i++)
        if (assay_machine_event_rows[i].space == space && assay_machine_event_rows[i].code == code)
            return &assay_machine_event_rows[i];
    return NULL;
}

static int refuse(struct assay_machine_event *out, const char *note)
{
    out->quantities = 0;
    out->note = note;
    return ASSAY_E_UNSUPPORTED;
}

static int look_up(enum machine_event_space space, uint64_t code, struct assay_machine_event *out)
{
    const struct machine_event_row *r = find_row(space, code);
    *out = (struct assay_machine_event){.nearest = "", .note = ""};
    if (!r)
        return refuse(out, "the machine model knows nothing like it");
    out->quantities = r->quantities;
    out->parts = r->parts;
    out->name = r->name;
    out->nearest = r->nearest;
    out->note = r->note;
    return r->quantities ? ASSAY_OK : ASSAY_E_UNSUPPORTED;
}

/* What any of the requests is and one of the responses is. */
static int look_up_offcore(uint64_t response, struct assay_machine_event *out)
{
    struct assay_machine_event part;
    uint64_t requests = 0;
    int ret = look_up(MACHINE_EVENT_RESPONSE, response & ~REQUESTS, out);
    out->nearest = "OFFCORE_RESPONSE_0:ANY_RESPONSE";
    if (ret < 0)
        return refuse(out, "the model knows no such answer: it has one memory, and no other tiles");
    for (unsigned bit = 0; bit < 16; bit++) {
        if (!(response >> bit & 1))
            continue;
        if (look_up(MACHINE_EVENT_REQUEST, UINT64_C(1) << bit, &part) < 0)
            return refuse(out,
                          "the model makes no such requests: it has no prefetcher, and all of its memory is cached");
        requests |= part.quantities;
        out->note = part.note;
    }
    out->quantities &= requests;
    out->name = "OFFCORE_RESPONSE";
    return out->quantities ? ASSAY_OK : refuse(out, "no request is chosen");
}

int assay_machine_event_core(uint64_t perfevtsel, uint64_t response, struct assay_machine_event *out)
{
    uint64_t code = perfevtsel & CODE;
    int ret =
        code == OFFCORE_0 || code == OFFCORE_1 ? look_up_offcore(response, out) : look_up(MACHINE_EVENT_KNM, code, out);
    if (ret == ASSAY_OK && perfevtsel & PER_CYCLE) {
        out->nearest = out->name;
        return refuse(out, "c, i and e ask what happened in each cycle; the model knows the cycles of whole blocks");
    }
    return ret;
}

int assay_machine_event_fixed(unsigned counter, struct assay_machine_event *out)
{
    return look_up(MACHINE_EVENT_FIXED, counter, out);
}

int assay_machine_event_perf(uint32_t type, uint64_t config, struct assay_machine_event *out)
{
    if (type == PERF_TYPE_RAW)
        return assay_machine_event_core(config, 0, out);
    int ret = look_up(MACHINE_EVENT_PERF, (uint64_t)type << 32 | config, out);
    if (type == PERF_TYPE_SOFTWARE)
        return refuse(out, "an event of the kernel, which would count the emulator's doings");
    return ret;
}

const char *assay_machine_event_lacks(const struct assay_machine_event *v, const struct assay_machine_model *m)
{
    static const char *const name[] = {"l1i", "l1d", "l2", "llc", "predictor", "btb", "return stack"};
    unsigned lacking = v->parts & ~assay_machine_parts(m);
    for (unsigned i = 0; i < sizeof name / sizeof name[0]; i++)
        if (lacking >> i & 1)
            return name[i];
    return NULL;
}

uint64_t assay_machine_event_sum(const uint64_t *tally, uint64_t quantities)
{
    uint64_t sum = 0;
    for (unsigned q = 0; q < ASSAY_MACHINE_QUANTITIES; q++)
        if (quantities >> q & 1)
            sum += tally[q];
    return sum;
}
