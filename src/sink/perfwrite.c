/* SPDX-License-Identifier: MIT */
/* perf.data with Processor Trace: header, records, trace, feature sections. */
#include <assay/perfwrite.h>

#include <assay/cursor.h>

#include "perfwrite_file.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 104, ATTR = 112, IDS = 8, FEATURES = 256, EVENTS = 2 };
enum { SAMPLE_IP = 1, SAMPLE_TID = 2, SAMPLE_TIME = 4, SAMPLE_IDENTIFIER = 1 << 16 };
enum { MISC_USER = 2, MISC_COMM_EXEC = 1 << 13, MISC_MMAP_BUILD_ID = 1 << 14, MISC_BUILD_ID_SIZE = 1 << 15 };
static const uint64_t pt_id = 1, dummy_id = 2;

struct feature {
    bool given;
    struct bytes bytes;
};
struct assay_perfwrite {
    struct file file;
    struct bytes record; /* the one being made */
    struct feature feature[FEATURES];
    struct assay_perf_pt_info pt;
    struct bytes index; /* AUXTRACE: file offset, size */
    uint64_t data;      /* where the data section begins */
};

int assay_perfwrite_open(const char *path, bool replace, struct assay_perfwrite **out, struct assay_error *e)
{
    *out = NULL;
    struct assay_perfwrite *w = calloc(1, sizeof *w);
    if (!w)
        return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
    int r = file_open(&w->file, path, replace, e);
    if (r < 0) {
        assay_perfwrite_free(w);
        return r;
    }
    *out = w;
    return ASSAY_OK;
}

void assay_perfwrite_free(struct assay_perfwrite *w)
{
    if (!w)
        return;
    file_free(&w->file);
    for (unsigned i = 0; i < FEATURES; i++)
        free(w->feature[i].bytes.data);
    free(w->record.data);
    free(w->index.data);
    free(w);
}

/* ---- events ---- */

enum attr_flag {
    FLAG_EXCLUDE_KERNEL = 1 << 5,
    FLAG_EXCLUDE_USER = 1 << 4,
    FLAG_EXCLUDE_HV = 1 << 6,
    FLAG_MMAP = 1 << 8,
    FLAG_COMM = 1 << 9,
    FLAG_TASK = 1 << 13,
    FLAG_SAMPLE_ID_ALL = 1 << 18,
    FLAG_MMAP2 = 1 << 23,
    FLAG_COMM_EXEC = 1 << 24,
};

static void put_attr(struct bytes *b, uint32_t type, uint64_t config, uint64_t flags)
{
    size_t start = b->size;
    bytes_le(b, type, 4);
    bytes_le(b, ATTR, 4);
    bytes_le(b, config, 8);
    bytes_le(b, 1, 8); /* sample_period */
    bytes_le(b, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_IDENTIFIER, 8);
    bytes_le(b, 4, 8); /* read_format: ID */
    bytes_le(b, flags | FLAG_SAMPLE_ID_ALL, 8);
    bytes_zero(b, ATTR - (b->size - start));
}

static void put_pt_attr(struct bytes *b, const struct assay_perf_pt_info *pt)
{
    put_attr(b, (uint32_t)pt->pmu_type, pt->config,
             (pt->exclude_kernel ? FLAG_EXCLUDE_KERNEL : 0u) | (pt->exclude_user ? FLAG_EXCLUDE_USER : 0u) |
                 FLAG_EXCLUDE_HV);
}

static void put_dummy_attr(struct bytes *b)
{
    enum { TYPE_SOFTWARE = 1, COUNT_SW_DUMMY = 9 };
    put_attr(b, TYPE_SOFTWARE, COUNT_SW_DUMMY,
             FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HV | FLAG_MMAP | FLAG_COMM | FLAG_TASK | FLAG_MMAP2 | FLAG_COMM_EXEC);
}

/* ---- records ---- */

static struct bytes *begin_record(struct assay_perfwrite *w, uint32_t type, uint16_t misc)
{
    struct bytes *b = &w->record;
    b->size = 0;
    bytes_le(b, type, 4);
    bytes_le(b, misc, 2);
    bytes_le(b, 0, 2);
    return b;
}

static void end_record(struct assay_perfwrite *w)
{
    struct bytes *b = &w->record;
    if (!b->failed)
        assay_store_le(b->data + 6, b->size, 2);
    else if (w->file.error.code == 0)
        assay_error_set(&w->file.error, ASSAY_E_MEMORY, UINT64_MAX, "out of memory");
    file_put(&w->file, b->data, b->size);
}

/* sample_id: TID, TIME, IDENTIFIER. */
static void end_record_of(struct assay_perfwrite *w, struct assay_perfwrite_who who, uint64_t id)
{
    struct bytes *b = &w->record;
    bytes_le(b, who.pid, 4);
    bytes_le(b, who.tid, 4);
    bytes_le(b, who.time, 8);
    bytes_le(b, id, 8);
    end_record(w);
}

static void put_auxtrace_info(struct assay_perfwrite *w)
{
    enum { AUXTRACE_INTEL_PT = 1 };
    const struct assay_perf_pt_info *pt = &w->pt;
    const uint64_t priv[] = {pt->pmu_type,
                             pt->time_shift,
                             pt->time_mult,
                             pt->time_zero,
                             pt->cap_user_time_zero,
                             pt->tsc_bit,
                             pt->noretcomp_bit,
                             pt->have_sched_switch,
                             pt->snapshot_mode,
                             pt->per_cpu_mmaps,
                             pt->mtc_bit,
                             pt->mtc_freq_bits,
                             pt->tsc_ctc_n,
                             pt->tsc_ctc_d,
                             pt->cyc_bit,
                             pt->max_nonturbo_ratio,
                             0 /* filter string */,
                             0 /* event trace */};
    struct bytes *b = begin_record(w, ASSAY_PERF_AUXTRACE_INFO, 0);
    bytes_le(b, AUXTRACE_INTEL_PT, 4);
    bytes_le(b, 0, 4);
    for (size_t i = 0; i < sizeof priv / sizeof priv[0]; i++)
        bytes_le(b, priv[i], 8);
    end_record(w);
}

static void put_time_conv(struct assay_perfwrite *w)
{
    struct bytes *b = begin_record(w, ASSAY_PERF_TIME_CONV, 0);
    bytes_le(b, w->pt.time_shift, 8);
    bytes_le(b, w->pt.time_mult, 8);
    bytes_le(b, w->pt.time_zero, 8);
    end_record(w);
}

void assay_perfwrite_begin(struct assay_perfwrite *w, const struct assay_perf_pt_info *pt)
{
    w->pt = *pt;
    struct bytes b = {0};
    uint64_t ids = HEADER;
    bytes_zero(&b, HEADER);
    bytes_le(&b, pt_id, IDS);
    bytes_le(&b, dummy_id, IDS);
    put_pt_attr(&b, pt);
    bytes_le(&b, ids, 8);
    bytes_le(&b, IDS, 8);
    put_dummy_attr(&b);
    bytes_le(&b, ids + IDS, 8);
    bytes_le(&b, IDS, 8);
    file_put(&w->file, b.data, b.size);
    free(b.data);
    w->data = w->file.at;
    put_time_conv(w);
    put_auxtrace_info(w);
}

void assay_perfwrite_mmap(struct assay_perfwrite *w, struct assay_perfwrite_who who,
                          const struct assay_perfwrite_mmap *m)
{
    enum { PROT_RX = 5, MAP_PRIVATE_ = 2, BUILD_ID_MAX = 20 };
    bool id = m->build_id && m->build_id_size > 0 && m->build_id_size <= BUILD_ID_MAX;
    struct bytes *b = begin_record(w, ASSAY_PERF_MMAP2, (uint16_t)(MISC_USER | (id ? MISC_MMAP_BUILD_ID : 0)));
    bytes_le(b, who.pid, 4);
    bytes_le(b, who.tid, 4);
    bytes_le(b, m->addr, 8);
    bytes_le(b, m->len, 8);
    bytes_le(b, m->pgoff, 8);
    if (id) {
        bytes_le(b, m->build_id_size, 4); /* one byte, three reserved */
        bytes_put(b, m->build_id, m->build_id_size);
        bytes_zero(b, BUILD_ID_MAX - m->build_id_size);
    } else {
        bytes_le(b, m->major, 4);
        bytes_le(b, m->minor, 4);
        bytes_le(b, m->inode, 8);
        bytes_le(b, 0, 8);
    }
    bytes_le(b, PROT_RX, 4);
    bytes_le(b, MAP_PRIVATE_, 4);
    bytes_text(b, m->path, 8);
    end_record_of(w, who, dummy_id);
}

void assay_perfwrite_comm(struct assay_perfwrite *w, struct assay_perfwrite_who who, const char *name, bool exec)
{
    struct bytes *b = begin_record(w, ASSAY_PERF_COMM, exec ? MISC_COMM_EXEC : 0);
    bytes_le(b, who.pid, 4);
    bytes_le(b, who.tid, 4);
    bytes_text(b, name, 8);
    end_record_of(w, who, dummy_id);
}

static void put_task(struct assay_perfwrite *w, uint32_t type, struct assay_perfwrite_who who, uint32_t ppid,
                     uint32_t ptid)
{
    struct bytes *b = begin_record(w, type, 0);
    bytes_le(b, who.pid, 4);
    bytes_le(b, ppid, 4);
    bytes_le(b, who.tid, 4);
    bytes_le(b, ptid, 4);
    bytes_le(b, who.time, 8);
    end_record_of(w, who, dummy_id);
}

void assay_perfwrite_fork(struct assay_perfwrite *w, struct assay_perfwrite_who who, uint32_t ppid, uint32_t ptid)
{
    put_task(w, ASSAY_PERF_FORK, who, ppid, ptid);
}

void assay_perfwrite_exit(struct assay_perfwrite *w, struct assay_perfwrite_who who)
{
    put_task(w, ASSAY_PERF_EXIT, who, who.pid, who.tid);
}

void assay_perfwrite_itrace_start(struct assay_perfwrite *w, struct assay_perfwrite_who who)
{
    struct bytes *b = begin_record(w, ASSAY_PERF_ITRACE_START, 0);
    bytes_le(b, who.pid, 4);
    bytes_le(b, who.tid, 4);
    end_record_of(w, who, pt_id);
}

void assay_perfwrite_aux(struct assay_perfwrite *w, struct assay_perfwrite_who who, uint64_t offset, uint64_t size,
                         uint64_t flags)
{
    struct bytes *b = begin_record(w, ASSAY_PERF_AUX, 0);
    bytes_le(b, offset, 8);
    bytes_le(b, size, 8);
    bytes_le(b, flags, 8);
    end_record_of(w, who, pt_id);
}

void assay_perfwrite_finished_round(struct assay_perfwrite *w)
{
    begin_record(w, ASSAY_PERF_FINISHED_ROUND, 0);
    end_record(w);
}

/* One record however long: perf on 64-bit hosts does not put together a packet that two records share. */
void assay_perfwrite_auxtrace(struct assay_perfwrite *w, uint32_t idx, uint32_t tid, uint64_t reference, int fd,
                              uint64_t fd_offset, uint64_t size)
{
    if (size == 0)
        return;
    struct bytes *b = begin_record(w, ASSAY_PERF_AUXTRACE, 0);
    bytes_le(&w->index, w->file.at, 8);
    bytes_le(b, (size + 7) / 8 * 8, 8);
    bytes_le(b, 0, 8); /* offset */
    bytes_le(b, reference, 8);
    bytes_le(b, idx, 4);
    bytes_le(b, tid, 4);
    bytes_le(b, UINT32_MAX, 4); /* cpu */
    bytes_le(b, 0, 4);
    bytes_le(&w->index, b->size, 8);
    end_record(w);
    file_copy(&w->file, fd, fd_offset, size);
    file_put(&w->file, (const uint8_t[8]){0}, (8 - size % 8) % 8); /* PAD packets */
}

/* ---- features ---- */

static struct bytes *feature_of(struct assay_perfwrite *w, unsigned feature)
{
    w->feature[feature].given = true;
    return &w->feature[feature].bytes;
}

void assay_perfwrite_feature(struct assay_perfwrite *w, unsigned feature, const void *bytes, size_t size)
{
    bytes_put(feature_of(w, feature), bytes, size);
}

static void put_string(struct bytes *b, const char *s)
{
    enum { ALIGN = 64 };
    bytes_le(b, (strlen(s) + ALIGN) / ALIGN * ALIGN, 4);
    bytes_text(b, s, ALIGN);
}

void assay_perfwrite_feature_string(struct assay_perfwrite *w, unsigned feature, const char *s)
{
    put_string(feature_of(w, feature), s);
}

void assay_perfwrite_feature_record(struct assay_perfwrite *w, unsigned feature, const char *s)
{
    struct bytes *b = begin_record(w, ASSAY_PERF_HEADER_FEATURE, 0);
    bytes_le(b, feature, 8);
    put_string(b, s);
    end_record(w);
}

void assay_perfwrite_feature_strings(struct assay_perfwrite *w, unsigned feature, char *const *s)
{
    struct bytes *b = feature_of(w, feature);
    uint32_t n = 0;
    while (s[n])
        n++;
    bytes_le(b, n, 4);
    for (; *s; s++)
        put_string(b, *s);
}

static void put_event_desc(struct assay_perfwrite *w)
{
    struct bytes *b = feature_of(w, ASSAY_PERF_FEAT_EVENT_DESC);
    bytes_le(b, EVENTS, 4);
    bytes_le(b, ATTR, 4);
    put_pt_attr(b, &w->pt);
    bytes_le(b, 1, 4);
    put_string(b, "intel_pt//");
    bytes_le(b, pt_id, 8);
    put_dummy_attr(b);
    bytes_le(b, 1, 4);
    put_string(b, "dummy:u");
    bytes_le(b, dummy_id, 8);
}

static void put_pmu_mappings(struct assay_perfwrite *w)
{
    struct bytes *b = feature_of(w, ASSAY_PERF_FEAT_PMU_MAPPINGS);
    bytes_le(b, 2, 4);
    bytes_le(b, 1, 4);
    put_string(b, "software");
    bytes_le(b, w->pt.pmu_type, 4);
    put_string(b, "intel_pt");
}

static void put_aux_index(struct assay_perfwrite *w)
{
    struct bytes *b = feature_of(w, ASSAY_PERF_FEAT_AUXTRACE);
    bytes_le(b, w->index.size / 16, 8);
    bytes_put(b, w->index.data, w->index.size);
}

void assay_perfwrite_code(struct assay_perfwrite *w, struct assay_perfwrite_who who, uint64_t addr,
                          const uint8_t *bytes, size_t size, unsigned mode)
{
    enum { MAGIC = 0x4a695444, VERSION = 1, DUMP_HEADER = 40, LOAD_HEADER = 56, NAME = 1, EM_386 = 3, EM_X86_64 = 62 };
    struct bytes *b = feature_of(w, ASSAY_PERF_FEAT_JITDUMP);
    if (b->size == 0) {
        bytes_le(b, MAGIC, 4);
        bytes_le(b, VERSION, 4);
        bytes_le(b, DUMP_HEADER, 4);
        bytes_le(b, mode == 32 ? EM_386 : EM_X86_64, 4);
        bytes_le(b, 0, 4);
        bytes_le(b, who.pid, 4);
        bytes_le(b, who.time, 8);
        bytes_le(b, 0, 8);
    }
    bytes_le(b, 0, 4); /* JIT_CODE_LOAD */
    bytes_le(b, LOAD_HEADER + NAME + size, 4);
    bytes_le(b, who.time, 8);
    bytes_le(b, who.pid, 4);
    bytes_le(b, who.tid, 4);
    bytes_le(b, addr, 8);
    bytes_le(b, addr, 8);
    bytes_le(b, size, 8);
    bytes_le(b, b->size, 8); /* code_index: any unique number */
    bytes_zero(b, NAME);     /* no name */
    bytes_put(b, bytes, size);
}

/* The table of sections, then the sections, in the order of their bits. */
static void put_features(struct assay_perfwrite *w, uint64_t bits[FEATURES / 64])
{
    uint64_t count = 0;
    for (unsigned i = 0; i < FEATURES; i++)
        count += w->feature[i].given;
    uint64_t at = w->file.at + count * 16;
    struct bytes table = {0};
    for (unsigned i = 0; i < FEATURES; i++)
        if (w->feature[i].given) {
            bits[i / 64] |= UINT64_C(1) << i % 64;
            bytes_le(&table, at, 8);
            bytes_le(&table, w->feature[i].bytes.size, 8);
            at += w->feature[i].bytes.size;
        }
    file_put(&w->file, table.data, table.size);
    free(table.data);
    for (unsigned i = 0; i < FEATURES; i++)
        file_put(&w->file, w->feature[i].bytes.data, w->feature[i].bytes.size);
}

static void put_header(struct assay_perfwrite *w, uint64_t data_size, const uint64_t bits[FEATURES / 64])
{
    struct bytes b = {0};
    bytes_put(&b, "PERFILE2", 8);
    bytes_le(&b, HEADER, 8);
    bytes_le(&b, ATTR + 16, 8);
    bytes_le(&b, HEADER + EVENTS * IDS, 8);
    bytes_le(&b, EVENTS * (ATTR + 16), 8);
    bytes_le(&b, w->data, 8);
    bytes_le(&b, data_size, 8);
    bytes_zero(&b, 16); /* event types */
    for (unsigned i = 0; i < FEATURES / 64; i++)
        bytes_le(&b, bits[i], 8);
    file_put_at(&w->file, 0, b.data, b.size);
    free(b.data);
}

int assay_perfwrite_finish(struct assay_perfwrite *w, struct assay_error *e)
{
    uint64_t bits[FEATURES / 64] = {0}, data_size = w->file.at - w->data;
    put_event_desc(w);
    put_pmu_mappings(w);
    put_aux_index(w);
    put_features(w, bits);
    put_header(w, data_size, bits);
    return file_finish(&w->file, e);
}
