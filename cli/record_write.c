/* SPDX-License-Identifier: MIT */
/* A finished run on virtual hardware as perf.data. */
#include "record_write.h"

#include <assay/text.h>

#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void write_event(struct assay_perfwrite *w, const struct assay_record *r, const struct assay_record_event *v)
{
    struct assay_perfwrite_who who = {v->pid, v->tid, v->time};
    switch (v->kind) {
    case ASSAY_RECORD_MMAP:
        assay_perfwrite_mmap(w, who,
                             &(struct assay_perfwrite_mmap){.addr = v->mmap.addr,
                                                            .len = v->mmap.len,
                                                            .pgoff = v->mmap.pgoff,
                                                            .inode = v->mmap.inode,
                                                            .major = v->mmap.major,
                                                            .minor = v->mmap.minor,
                                                            .path = v->mmap.path,
                                                            .build_id = v->mmap.build_id,
                                                            .build_id_size = v->mmap.build_id_size});
        break;
    case ASSAY_RECORD_CODE:
        assay_perfwrite_code(w, who, v->code.addr, v->code.bytes, v->code.size, assay_record_mode(r));
        break;
    case ASSAY_RECORD_COMM:
        assay_perfwrite_comm(w, who, v->comm.name, v->comm.exec);
        break;
    case ASSAY_RECORD_FORK:
        assay_perfwrite_fork(w, who, v->fork.ppid, v->fork.ptid);
        break;
    case ASSAY_RECORD_EXIT:
        assay_perfwrite_exit(w, who);
        break;
    case ASSAY_RECORD_START:
        assay_perfwrite_itrace_start(w, who);
        break;
    case ASSAY_RECORD_EXEC: /* perf.data has no word for a process that leaves the trace */
        break;
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void write_events(struct assay_perfwrite *w, const struct assay_record *r, char *const *command)
{
    char name[16];
    if (assay_record_streams(r) == 0)
        return;
    const struct assay_record_stream *first = assay_record_stream(r, 0);
    snprintf(name, sizeof name, "%s", base_name(command[0]));
    assay_perfwrite_comm(w, (struct assay_perfwrite_who){first->pid, first->tid, first->start}, name, true);
    for (size_t i = 0; i < assay_record_events(r); i++)
        write_event(w, r, assay_record_event(r, i));
}

static int write_streams(struct assay_perfwrite *w, const struct assay_record *r, struct assay_error *e)
{
    for (size_t i = 0; i < assay_record_streams(r); i++) {
        const struct assay_record_stream *s = assay_record_stream(r, i);
        uint64_t offset;
        int fd = assay_record_stream_open(r, i, &offset, e);
        if (fd < 0)
            return fd;
        assay_perfwrite_aux(w, (struct assay_perfwrite_who){s->pid, s->tid, s->end}, 0, s->size, s->lost > 0);
        assay_perfwrite_auxtrace(w, s->idx, s->tid, s->end_tsc, fd, offset, s->size);
        close(fd);
    }
    return ASSAY_OK;
}

static void describe_cpu(const struct assay_record *r, char *text, size_t size)
{
    snprintf(text, size, ASSAY_PERF_VIRTUAL_CPU ", modelled (%s, timing %s)", assay_record_machine(r),
             assay_record_model(r)->name);
}

static void write_cpu(struct assay_perfwrite *w, const struct assay_record *r)
{
    char text[160];
    const struct assay_machine_model *m = assay_record_model(r);
    describe_cpu(r, text, sizeof text);
    assay_perfwrite_feature_string(w, ASSAY_PERF_FEAT_CPUDESC, text);
    snprintf(text, sizeof text, "GenuineIntel,%u,%u,%u", m->family, m->cpu_model, m->stepping);
    assay_perfwrite_feature_string(w, ASSAY_PERF_FEAT_CPUID, text);
}

static void write_host(struct assay_perfwrite *w, const struct assay_record *r)
{
    struct utsname u;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const uint8_t n = (uint8_t)(cpus > 0 && cpus < 256 ? cpus : 1);
    if (uname(&u) == 0) {
        assay_perfwrite_feature_string(w, ASSAY_PERF_FEAT_HOSTNAME, u.nodename);
        assay_perfwrite_feature_string(w, ASSAY_PERF_FEAT_OSRELEASE, u.release);
    }
    assay_perfwrite_feature_string(w, ASSAY_PERF_FEAT_VERSION, "assay " ASSAY_VERSION);
    assay_perfwrite_feature_string(w, ASSAY_PERF_FEAT_ARCH, assay_record_mode(r) == 64 ? "x86_64" : "i686");
    assay_perfwrite_feature(w, ASSAY_PERF_FEAT_NRCPUS, (const uint8_t[8]){n, 0, 0, 0, n}, 8);
}

static int write_text(void *ctx, const char *data, size_t size)
{
    assay_perfwrite_feature(ctx, ASSAY_PERF_FEAT_VIRTUAL, data, size);
    return 0;
}

static void put_line(struct assay_out *o, const char *key, const char *value)
{
    assay_out_str(o, key);
    assay_out_char(o, '=');
    assay_out_str(o, value);
    assay_out_char(o, '\n');
}

/* Lines of key=value; the model's own text comes last, each line with the prefix "model.". */
static void write_virtual(struct assay_perfwrite *w, const struct assay_record *r)
{
    char buf[256], doubts[160], text[8192];
    struct assay_out o, model;
    assay_out_init(&o, buf, sizeof buf, write_text, w);
    put_line(&o, "virtual", "1");
    put_line(&o, "machine", assay_record_machine(r));
    put_line(&o, "model", assay_record_model(r)->name);
    put_line(&o, "timing", assay_record_model(r)->flat ? "flat" : "modelled");
    assay_record_pt_print(assay_record_pt_info(r)->config, text, sizeof text);
    put_line(&o, "pt", text);
    put_line(&o, "program", assay_record_program(r));
    put_line(&o, "exact", assay_record_doubts(r, doubts, sizeof doubts) ? doubts : "yes");
    assay_out_init(&model, text, sizeof text - 1, NULL, NULL);
    assay_machine_print(assay_record_model(r), &model);
    text[model.len] = '\0';
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        assay_out_str(&o, "model.");
        assay_out_bytes(&o, line, (size_t)(end - line));
        assay_out_char(&o, '\n');
        end += *end == '\n';
    }
    assay_out_flush(&o);
}

int record_write_perf(const struct assay_record *r, char *const *command, struct assay_perfwrite *w,
                      struct assay_error *e)
{
    char cpu[160];
    assay_perfwrite_begin(w, assay_record_pt_info(r));
    describe_cpu(r, cpu, sizeof cpu);
    assay_perfwrite_feature_record(w, ASSAY_PERF_FEAT_CPUDESC, cpu);
    write_events(w, r, command);
    int ret = write_streams(w, r, e);
    assay_perfwrite_finished_round(w);
    assay_perfwrite_feature_strings(w, ASSAY_PERF_FEAT_CMDLINE, command);
    write_cpu(w, r);
    write_host(w, r);
    write_virtual(w, r);
    return ret;
}

static bool print_block(void *ctx, uint64_t ip, uint32_t insns)
{
    return fprintf(ctx, "block 0x%" PRIx64 " %" PRIu32 "\n", ip, insns) > 0;
}

int record_write_truth(const struct assay_record *r, const char *path, bool blocks, struct assay_error *e)
{
    int ret = ASSAY_OK;
    FILE *f = fopen(path, "we");
    if (!f)
        return assay_error_sys(e, errno, "%s: cannot create", path);
    for (size_t i = 0; i < assay_record_streams(r) && ret == ASSAY_OK; i++) {
        const struct assay_record_stream *s = assay_record_stream(r, i);
        fprintf(f, "stream %" PRIu32 " pid %" PRIu32 " tid %" PRIu32 " insns %" PRIu64 " chk 0x%016" PRIx64 "\n",
                s->idx, s->pid, s->tid, s->insns, s->chk);
        if (blocks)
            ret = assay_record_stream_blocks(r, i, print_block, f, e);
    }
    bool bad = ferror(f);
    if (fclose(f) != 0 || bad)
        return assay_error_sys(e, errno, "%s: cannot write", path);
    return ret;
}
