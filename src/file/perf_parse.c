/* SPDX-License-Identifier: MIT */
/* Record bodies to fields. */
#include "perf_priv.h"

#include <string.h>

enum {
    MISC_COMM_EXEC = 1 << 13,
    MISC_SWITCH_OUT = 1 << 13,
    MISC_MMAP_BUILD_ID = 1 << 14,
    TRAILER_FIELDS = PERF_S_TID | PERF_S_TIME | PERF_S_ID | PERF_S_STREAM_ID | PERF_S_CPU | PERF_S_IDENTIFIER,
};

/* Bytes of each body that are always there. Kernel records (type < 64) may have a sample_id at their end. */
static const int16_t fixed_bytes[] = {
#define FIXED(type, bytes) [type] = bytes + 1 /* 0 stays for the unknown ones */
    FIXED(ASSAY_PERF_MMAP, 32),
    FIXED(ASSAY_PERF_LOST, 16),
    FIXED(ASSAY_PERF_COMM, 8),
    FIXED(ASSAY_PERF_EXIT, 24),
    FIXED(5 /* THROTTLE */, 24),
    FIXED(6 /* UNTHROTTLE */, 24),
    FIXED(ASSAY_PERF_FORK, 24),
    FIXED(8 /* READ */, 8),
    FIXED(ASSAY_PERF_SAMPLE, 0),
    FIXED(ASSAY_PERF_MMAP2, 64),
    FIXED(ASSAY_PERF_AUX, 24),
    FIXED(ASSAY_PERF_ITRACE_START, 8),
    FIXED(ASSAY_PERF_LOST_SAMPLES, 8),
    FIXED(ASSAY_PERF_SWITCH, 0),
    FIXED(ASSAY_PERF_SWITCH_CPU_WIDE, 8),
    FIXED(ASSAY_PERF_NAMESPACES, 16),
    FIXED(ASSAY_PERF_KSYMBOL, 16),
    FIXED(ASSAY_PERF_BPF_EVENT, 16),
    FIXED(ASSAY_PERF_CGROUP, 8),
    FIXED(ASSAY_PERF_TEXT_POKE, 12),
    FIXED(ASSAY_PERF_AUX_OUTPUT_HW_ID, 8),
    FIXED(ASSAY_PERF_HEADER_ATTR, 64),
    FIXED(ASSAY_PERF_HEADER_EVENT_TYPE, 8),
    FIXED(ASSAY_PERF_HEADER_TRACING_DATA, 4),
    FIXED(ASSAY_PERF_HEADER_BUILD_ID, 28),
    FIXED(ASSAY_PERF_FINISHED_ROUND, 0),
    FIXED(ASSAY_PERF_ID_INDEX, 8),
    FIXED(ASSAY_PERF_AUXTRACE_INFO, 8),
    FIXED(ASSAY_PERF_AUXTRACE, 40),
    FIXED(ASSAY_PERF_AUXTRACE_ERROR, 32),
    FIXED(ASSAY_PERF_THREAD_MAP, 8),
    FIXED(ASSAY_PERF_CPU_MAP, 2),
    FIXED(ASSAY_PERF_STAT_CONFIG, 8),
    FIXED(76 /* STAT */, 16),
    FIXED(77 /* STAT_ROUND */, 16),
    FIXED(ASSAY_PERF_EVENT_UPDATE, 16),
    FIXED(ASSAY_PERF_TIME_CONV, 24),
    FIXED(ASSAY_PERF_HEADER_FEATURE, 8),
    FIXED(ASSAY_PERF_COMPRESSED, 0),
    FIXED(ASSAY_PERF_FINISHED_INIT, 0),
    FIXED(PERF_COMPRESSED2, 8),
#undef FIXED
};

struct perf_type_info assay_pf_type(uint32_t type)
{
    if (type >= sizeof fixed_bytes / sizeof *fixed_bytes || fixed_bytes[type] == 0)
        return (struct perf_type_info){.known = false, .kernel = type < ASSAY_PERF_HEADER_ATTR};
    return (struct perf_type_info){true, type < ASSAY_PERF_HEADER_ATTR, (uint16_t)(fixed_bytes[type] - 1)};
}

uint64_t assay_pf_trailing(bool big, uint32_t type, const uint8_t *body, uint32_t size)
{
    if (type == ASSAY_PERF_AUXTRACE && size >= 40)
        return perf_load(big, body, 8);
    if (type == ASSAY_PERF_HEADER_TRACING_DATA && size >= 4)
        return perf_load(big, body, 4);
    return 0;
}

static int body_fault(struct assay_perf *f, const struct assay_perf_record *r, const char *what, const char *expected)
{
    return assay_pf_fault(f, ASSAY_E_BAD_FORMAT, r->offset, what, expected);
}

static void read_tid(struct perf_rd *rd, struct assay_perf_record *r)
{
    r->has_tid = true;
    r->pid = perf_rd32(rd);
    r->tid = perf_rd32(rd);
}

static void read_cpu(struct perf_rd *rd, struct assay_perf_record *r)
{
    r->has_cpu = true;
    r->cpu = perf_rd32(rd);
    perf_rd32(rd);
}

static void read_time(struct perf_rd *rd, struct assay_perf_record *r)
{
    r->has_time = true;
    r->time = perf_rd64(rd);
}

/* The sample_id at the end of a kernel record that is no sample. *size shrinks to what is before it. */
static int parse_trailer(struct assay_perf *f, struct assay_perf_record *r, uint32_t fixed, uint32_t *size)
{
    const struct perf_attr *a = assay_pf_event_of_other(f, r->body, r->size);
    uint64_t st = a && a->sample_id_all ? a->sample_type & TRAILER_FIELDS : 0;
    uint32_t bytes = 8 * (uint32_t)__builtin_popcountll(st);
    if (r->size - fixed < bytes)
        return body_fault(f, r, "record is too small for its sample_id", NULL);
    *size = r->size - bytes;
    struct perf_rd rd = {assay_rd_of(r->body + *size, bytes), f->big};
    if (st & PERF_S_TID)
        read_tid(&rd, r);
    if (st & PERF_S_TIME)
        read_time(&rd, r);
    if (st & PERF_S_ID)
        r->id = perf_rd64(&rd);
    if (st & PERF_S_STREAM_ID)
        perf_rd64(&rd);
    if (st & PERF_S_CPU)
        read_cpu(&rd, r);
    if (st & PERF_S_IDENTIFIER)
        r->id = perf_rd64(&rd);
    return ASSAY_OK;
}

static int parse_sample(struct assay_perf *f, struct assay_perf_record *r)
{
    const struct perf_attr *a = assay_pf_event_of_sample(f, r->body, r->size);
    if (!a)
        return ASSAY_OK;
    struct perf_rd rd = {assay_rd_of(r->body, r->size), f->big};
    uint64_t st = a->sample_type;
    if (st & PERF_S_IDENTIFIER)
        r->id = perf_rd64(&rd);
    if (st & PERF_S_IP)
        perf_rd64(&rd);
    if (st & PERF_S_TID)
        read_tid(&rd, r);
    if (st & PERF_S_TIME)
        read_time(&rd, r);
    if (st & PERF_S_ADDR)
        perf_rd64(&rd);
    if (st & PERF_S_ID)
        r->id = perf_rd64(&rd);
    if (st & PERF_S_STREAM_ID)
        perf_rd64(&rd);
    if (st & PERF_S_CPU)
        read_cpu(&rd, r);
    return rd.r.over ? body_fault(f, r, "sample is too small for its sample_type", NULL) : ASSAY_OK;
}

/* The text from the cursor on; it must end inside the body. */
static int parse_text(struct assay_perf *f, struct assay_perf_record *r, struct perf_rd *rd, const char **text)
{
    size_t left = assay_rd_left(&rd->r);
    if (!memchr(rd->r.at, '\0', left))
        return body_fault(f, r, "text has no end inside the record", "a NUL byte");
    *text = (const char *)rd->r.at;
    return ASSAY_OK;
}

static void parse_mmap_inode(struct perf_rd *rd, struct assay_perf_record *r)
{
    const uint8_t *p = assay_rd_bytes(&rd->r, 24);
    if (!p || !(r->misc & MISC_MMAP_BUILD_ID))
        return;
    unsigned n = p[0] <= sizeof r->mmap.build_id ? p[0] : (unsigned)sizeof r->mmap.build_id;
    r->mmap.build_id_size = (uint8_t)n;
    memcpy(r->mmap.build_id, p + 4, n);
}

static int parse_mmap(struct assay_perf *f, struct assay_perf_record *r, struct perf_rd *rd)
{
    r->mmap.pid = perf_rd32(rd);
    r->mmap.tid = perf_rd32(rd);
    r->mmap.addr = perf_rd64(rd);
    r->mmap.len = perf_rd64(rd);
    r->mmap.pgoff = perf_rd64(rd);
    if (r->type == ASSAY_PERF_MMAP2) {
        parse_mmap_inode(rd, r);
        r->mmap.prot = perf_rd32(rd);
        r->mmap.flags = perf_rd32(rd);
    }
    return parse_text(f, r, rd, &r->mmap.filename);
}

static int parse_comm(struct assay_perf *f, struct assay_perf_record *r, struct perf_rd *rd)
{
    r->comm.pid = perf_rd32(rd);
    r->comm.tid = perf_rd32(rd);
    r->comm.exec = r->misc & MISC_COMM_EXEC;
    return parse_text(f, r, rd, &r->comm.comm);
}

static int parse_task(struct assay_perf *f, struct assay_perf_record *r, struct perf_rd *rd)
{
    (void)f;
    r->task.pid = perf_rd32(rd);
    r->task.ppid = perf_rd32(rd);
    r->task.tid = perf_rd32(rd);
    r->task.ptid = perf_rd32(rd);
    r->task.time = perf_rd64(rd);
    if (!r->has_time) {
        r->has_time = true;
        r->time = r->task.time;
    }
    return ASSAY_OK;
}

static int parse_text_poke(struct assay_perf *f, struct assay_perf_record *r, struct perf_rd *rd)
{
    r->text_poke.addr = perf_rd64(rd);
    r->text_poke.old_len = (uint16_t)perf_rd(rd, 2);
    r->text_poke.new_len = (uint16_t)perf_rd(rd, 2);
    r->text_poke.old_bytes = assay_rd_bytes(&rd->r, r->text_poke.old_len);
    r->text_poke.new_bytes = assay_rd_bytes(&rd->r, r->text_poke.new_len);
    return rd->r.over ? body_fault(f, r, "text_poke is too small for its code bytes", NULL) : ASSAY_OK;
}

static void parse_auxtrace(struct assay_perf_record *r, struct perf_rd *rd)
{
    r->auxtrace.size = perf_rd64(rd);
    r->auxtrace.offset = perf_rd64(rd);
    r->auxtrace.reference = perf_rd64(rd);
    r->auxtrace.idx = perf_rd32(rd);
    r->auxtrace.tid = perf_rd32(rd);
    r->auxtrace.cpu = perf_rd32(rd);
    r->auxtrace.data = r->offset + PERF_HEADER + r->size;
}

/* The fields of records that have nothing but numbers. */
static int parse_numbers(struct assay_perf *f, struct assay_perf_record *r, struct perf_rd *rd)
{
    (void)f;
    switch (r->type) {
    case ASSAY_PERF_LOST:
        r->lost.id = perf_rd64(rd);
        r->lost.lost = perf_rd64(rd);
        break;
    case ASSAY_PERF_LOST_SAMPLES:
        r->lost.lost = perf_rd64(rd);
        break;
    case ASSAY_PERF_AUX:
        r->aux.aux_offset = perf_rd64(rd);
        r->aux.aux_size = perf_rd64(rd);
        r->aux.flags = perf_rd64(rd);
        break;
    case ASSAY_PERF_ITRACE_START:
        r->itrace_start.pid = perf_rd32(rd);
        r->itrace_start.tid = perf_rd32(rd);
        break;
    case ASSAY_PERF_SWITCH:
    case ASSAY_PERF_SWITCH_CPU_WIDE:
        r->context_switch.out = r->misc & MISC_SWITCH_OUT;
        r->context_switch.wide = r->type == ASSAY_PERF_SWITCH_CPU_WIDE;
        r->context_switch.next_prev_pid = r->context_switch.wide ? perf_rd32(rd) : 0;
        r->context_switch.next_prev_tid = r->context_switch.wide ? perf_rd32(rd) : 0;
        break;
    case ASSAY_PERF_AUXTRACE:
        parse_auxtrace(r, rd);
        break;
    case ASSAY_PERF_TIME_CONV:
        r->time_conv.shift = perf_rd64(rd);
        r->time_conv.mult = perf_rd64(rd);
        r->time_conv.zero = perf_rd64(rd);
        break;
    default:
        break;
    }
    return ASSAY_OK;
}

static int parse_body(struct assay_perf *f, struct assay_perf_record *r, struct perf_rd *rd)
{
    switch (r->type) {
    case ASSAY_PERF_MMAP:
    case ASSAY_PERF_MMAP2:
        return parse_mmap(f, r, rd);
    case ASSAY_PERF_COMM:
        return parse_comm(f, r, rd);
    case ASSAY_PERF_EXIT:
    case ASSAY_PERF_FORK:
        return parse_task(f, r, rd);
    case ASSAY_PERF_TEXT_POKE:
        return parse_text_poke(f, r, rd);
    default:
        return parse_numbers(f, r, rd);
    }
}

int assay_pf_parse(struct assay_perf *f, struct assay_perf_record *r)
{
    struct perf_type_info info = assay_pf_type(r->type);
    if (!info.known)
        return ASSAY_OK;
    if (r->size < info.fixed)
        return body_fault(f, r, "record is too small for its type", NULL);
    if (r->type == ASSAY_PERF_SAMPLE)
        return parse_sample(f, r);
    uint32_t size = r->size;
    if (info.kernel) {
        int rc = parse_trailer(f, r, info.fixed, &size);
        if (rc < 0)
            return rc;
    }
    struct perf_rd rd = {assay_rd_of(r->body, size), f->big};
    return parse_body(f, r, &rd);
}
