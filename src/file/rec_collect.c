/* SPDX-License-Identifier: MIT */
/* One pass over the records of a recording: what its streams, its image and its names are made of. */
#include "rec_priv.h"

#include <assay/cursor.h>

#include <string.h>

enum {
    MISC_CPUMODE = 7,
    MODE_GUEST_KERNEL = 4,
    MODE_GUEST_USER = 5,
    MISC_MMAP_DATA = 1 << 13,
    MISC_FORK_EXEC = 1 << 13, /* made up by perf for a process that was there: its maps follow */
    PROT_CODE = 4,
    AUX_TRUNCATED = 1, /* flags of AUX */
    AUX_OVERWRITE = 2,
};

struct collector {
    struct assay_perf *f;
    struct rec_collected *c;
    struct rec_texts **texts;
};

uint32_t assay_rec_find(const struct table_map *m, uint64_t key, uint32_t otherwise)
{
    uint32_t v = table_map_find(m, key);
    return v ? v - 1 : otherwise;
}

static int put(struct table_map *m, uint64_t key, uint32_t value)
{
    uint32_t *v = value != REC_NOBODY ? table_map_at(m, key) : NULL;
    if (v)
        *v = value + 1;
    return v || value == REC_NOBODY ? ASSAY_OK : ASSAY_E_MEMORY;
}

static uint32_t cpu_of(struct collector *k, const struct assay_perf_record *r)
{
    return r->has_cpu ? r->cpu : assay_rec_find(&k->c->cpu_of_id, r->id, REC_NOBODY);
}

/* ---- streams ---- */

static int take_auxtrace(struct collector *k, const struct assay_perf_record *r)
{
    struct rec_collected *c = k->c;
    if (!table_grow(&c->piece, &c->piece_room, c->pieces + 1, sizeof *c->piece))
        return ASSAY_E_MEMORY;
    c->piece[c->pieces++] = (struct rec_piece){
        .idx = r->auxtrace.idx,
        .cpu = r->auxtrace.cpu,
        .tid = r->auxtrace.tid,
        .extent = {r->auxtrace.data, r->auxtrace.size, r->auxtrace.offset, r->auxtrace.reference},
    };
    return ASSAY_OK;
}

/* TRUNCATED: what came after the piece was lost. The other flags say that something within it was. */
static int take_aux(struct collector *k, const struct assay_perf_record *r)
{
    struct rec_collected *c = k->c;
    if ((r->aux.flags & ~(uint64_t)AUX_OVERWRITE) == 0)
        return ASSAY_OK;
    if (!table_grow(&c->loss, &c->loss_room, c->losses + 1, sizeof *c->loss))
        return ASSAY_E_MEMORY;
    uint64_t at = r->aux.aux_offset + (r->aux.flags & AUX_TRUNCATED ? r->aux.aux_size : 0);
    c->loss[c->losses++] = (struct rec_loss){
        .lost = {at, r->aux.flags, r->time}, .cpu = cpu_of(k, r), .tid = r->has_tid ? r->tid : REC_NOBODY};
    return ASSAY_OK;
}

static int add_mark(struct collector *k, const struct assay_perf_record *r, uint32_t pid, uint32_t tid)
{
    struct rec_collected *c = k->c;
    if (!table_grow(&c->mark, &c->mark_room, c->marks + 1, sizeof *c->mark))
        return ASSAY_E_MEMORY;
    c->mark[c->marks] = (struct rec_mark){r->time, cpu_of(k, r), pid, tid, (uint32_t)c->marks};
    c->marks++;
    return tid == 0 ? ASSAY_OK : put(&c->pid_of_tid, tid, pid);
}

/* Going in names itself; going out names the next where the record is of the whole cpu. A task of a recording that follows
 * tasks goes out without a successor: nothing is traced until the next goes in. */
static int take_switch(struct collector *k, const struct assay_perf_record *r)
{
    if (!r->context_switch.out)
        return r->has_tid ? add_mark(k, r, r->pid, r->tid) : ASSAY_OK;
    if (!r->context_switch.wide)
        return ASSAY_OK;
    return add_mark(k, r, r->context_switch.next_prev_pid, r->context_switch.next_prev_tid);
}

/* u64 number, then so many of u64 id, idx, cpu, tid. */
static int take_id_index(struct collector *k, const struct assay_perf_record *r)
{
    bool big = assay_perf_big_endian(k->f);
    struct assay_rd rd = assay_rd_of(r->body, r->size);
    uint64_t n = big ? assay_rd_be64(&rd) : assay_rd_le64(&rd);
    for (; n > 0 && assay_rd_left(&rd) >= 32; n--) {
        const uint8_t *p = assay_rd_bytes(&rd, 32);
        uint64_t id = big ? assay_load_be(p, 8) : assay_load_le(p, 8);
        uint64_t cpu = big ? assay_load_be(p + 16, 8) : assay_load_le(p + 16, 8);
        int rc = put(&k->c->cpu_of_id, id, (uint32_t)cpu);
        if (rc < 0)
            return rc;
    }
    return ASSAY_OK;
}

/* ---- address spaces ---- */

static struct rec_change *add_change(struct collector *k, uint8_t kind, uint64_t time, uint32_t pid)
{
    struct rec_collected *c = k->c;
    if (!table_grow(&c->change, &c->change_room, c->changes + 1, sizeof *c->change))
        return NULL;
    struct rec_change *change = &c->change[c->changes++];
    *change = (struct rec_change){.kind = kind, .time = time, .pid = pid};
    return change;
}

/* Only code is of interest: MMAP2 tells the protection, MMAP that it is not data. Guests are other machines. */
static bool is_code(const struct assay_perf_record *r)
{
    unsigned mode = r->misc & MISC_CPUMODE;
    if (mode == MODE_GUEST_KERNEL || mode == MODE_GUEST_USER || r->mmap.len == 0)
        return false;
    return r->type == ASSAY_PERF_MMAP2 ? r->mmap.prot & PROT_CODE : !(r->misc & MISC_MMAP_DATA);
}

static int take_mmap(struct collector *k, const struct assay_perf_record *r)
{
    if (!is_code(r))
        return ASSAY_OK;
    struct rec_change *m = add_change(k, REC_MAP, r->time, r->mmap.pid);
    const char *path = assay_rec_text(k->texts, r->mmap.filename, strlen(r->mmap.filename));
    if (!m || !path)
        return ASSAY_E_MEMORY;
    m->addr = r->mmap.addr;
    m->size = r->mmap.len;
    m->pgoff = r->mmap.pgoff;
    m->path = path;
    m->build_id_size = r->mmap.build_id_size;
    memcpy(m->build_id, r->mmap.build_id, sizeof m->build_id);
    return ASSAY_OK;
}

static struct rec_comm *add_comm(struct collector *k, uint64_t time, uint32_t tid)
{
    struct rec_collected *c = k->c;
    if (!table_grow(&c->comm, &c->comm_room, c->comms + 1, sizeof *c->comm))
        return NULL;
    struct rec_comm *comm = &c->comm[c->comms];
    *comm = (struct rec_comm){.time = time, .tid = tid, .seq = (uint32_t)c->comms};
    c->comms++;
    return comm;
}

static int take_comm(struct collector *k, const struct assay_perf_record *r)
{
    struct rec_comm *comm = add_comm(k, r->time, r->comm.tid);
    if (!comm)
        return ASSAY_E_MEMORY;
    comm->name = assay_rec_text(k->texts, r->comm.comm, strlen(r->comm.comm));
    if (!comm->name || (r->comm.exec && !add_change(k, REC_EXEC, r->time, r->comm.pid)))
        return ASSAY_E_MEMORY;
    return put(&k->c->pid_of_tid, r->comm.tid, r->comm.pid);
}

static int take_fork(struct collector *k, const struct assay_perf_record *r)
{
    struct rec_comm *comm = add_comm(k, r->time, r->task.tid);
    if (!comm)
        return ASSAY_E_MEMORY;
    comm->parent = r->task.ptid;
    if (r->task.pid != r->task.ppid && !(r->misc & MISC_FORK_EXEC)) {
        struct rec_change *fork = add_change(k, REC_FORK, r->time, r->task.pid);
        if (!fork)
            return ASSAY_E_MEMORY;
        fork->parent = r->task.ppid;
    }
    return put(&k->c->pid_of_tid, r->task.tid, r->task.pid);
}

/* ---- all of them ---- */

static int take_record(struct collector *k, const struct assay_perf_record *r)
{
    switch (r->type) {
    case ASSAY_PERF_AUXTRACE:
        return take_auxtrace(k, r);
    case ASSAY_PERF_AUX:
        return take_aux(k, r);
    case ASSAY_PERF_ITRACE_START:
        return add_mark(k, r, r->itrace_start.pid, r->itrace_start.tid);
    case ASSAY_PERF_SWITCH:
    case ASSAY_PERF_SWITCH_CPU_WIDE:
        return take_switch(k, r);
    case ASSAY_PERF_LOST:
        k->c->dropped += r->lost.lost;
        return ASSAY_OK;
    case ASSAY_PERF_ID_INDEX:
        return take_id_index(k, r);
    case ASSAY_PERF_MMAP:
    case ASSAY_PERF_MMAP2:
        return take_mmap(k, r);
    case ASSAY_PERF_COMM:
        return take_comm(k, r);
    case ASSAY_PERF_FORK:
        return take_fork(k, r);
    case ASSAY_PERF_HEADER_BUILD_ID:
        return assay_rec_add_build_id(k->c, k->texts, r->misc, r->body, r->size);
    default:
        return ASSAY_OK;
    }
}

static void note_fault(struct rec_collected *c, const struct assay_diag *d)
{
    if (c->faults < ASSAY_RECORDING_FAULTS)
        c->fault[c->faults] = *d;
    c->faults++;
}

int assay_rec_collect(struct assay_perf *f, struct rec_collected *c, struct rec_texts **texts)
{
    struct collector k = {f, c, texts};
    struct assay_perf_record r;
    int rc;
    while ((rc = assay_perf_next(f, &r)) != 0) {
        if (rc > 0)
            rc = take_record(&k, &r);
        if (rc < 0 && !assay_is_data_error(rc))
            return rc;
        if (rc < 0) /* reading goes on */
            note_fault(c, assay_perf_diag(f));
    }
    size_t n = 0;
    const uint8_t *list = assay_perf_feature(f, ASSAY_PERF_FEAT_BUILD_ID, &n);
    rc = list ? assay_rec_add_build_ids(c, texts, assay_perf_big_endian(f), list, n) : ASSAY_OK;
    assay_rec_sort_build_ids(c);
    return rc;
}

void assay_rec_collected_free(struct rec_collected *c)
{
    free(c->piece);
    free(c->mark);
    free(c->loss);
    free(c->change);
    free(c->comm);
    free(c->build_id);
    table_map_free(&c->cpu_of_id);
    table_map_free(&c->pid_of_tid);
}
