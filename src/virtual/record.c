/* SPDX-License-Identifier: MIT */
/* Starts a program on virtual hardware: the spool, QEMU's command line, its environment. */
#include "record_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_WINDOW = 4 << 20, LEAST_WINDOW = 64 << 10, PMU_TYPE = 8, TIME_SHIFT = 31 };

int record_open_spool(const struct assay_record *r, const char *name, unsigned number, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, number == (unsigned)-1 ? "%s/%s" : "%s/%s.%u", r->spool, name, number);
    return open(path, flags | O_CLOEXEC, 0600);
}

static int no_memory(struct assay_error *e) { return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory"); }

static int make_spool(struct assay_record *r, const char *tmp, struct assay_error *e)
{
    if (!tmp)
        tmp = getenv("TMPDIR");
    if (!tmp || !*tmp)
        tmp = "/tmp";
    char *made = NULL;
    if (asprintf(&made, "%s/assay-record.XXXXXX", tmp) < 0)
        return no_memory(e);
    if (!mkdtemp(made)) {
        int sys = errno;
        free(made);
        return assay_error_sys(e, sys, "%s: cannot make a temporary directory", tmp);
    }
    r->spool = realpath(made, NULL);
    free(made);
    if (!r->spool)
        return no_memory(e);
    int fd = record_open_spool(r, "events", (unsigned)-1, O_WRONLY | O_CREAT);
    if (fd < 0)
        return assay_error_sys(e, errno, "%s: cannot write", r->spool);
    close(fd);
    return ASSAY_OK;
}

static int map_setup(struct assay_record *r, struct assay_error *e)
{
    int fd = record_open_spool(r, "setup", (unsigned)-1, O_RDWR | O_CREAT);
    int sys = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof *r->setup);
    void *p = sys ? MAP_FAILED : mmap(NULL, sizeof *r->setup, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!sys && p == MAP_FAILED)
        sys = errno;
    if (fd >= 0)
        close(fd);
    if (sys)
        return assay_error_sys(e, sys, "%s: cannot write", r->spool);
    r->setup = p;
    return ASSAY_OK;
}

static uint64_t tsc_hz(const struct assay_machine_model *m)
{
    return (uint64_t)m->crystal_hz * m->tsc_ctc_n / m->tsc_ctc_d;
}

static void fill_setup(struct assay_record *r, const struct assay_record_options *o)
{
    const struct assay_machine_model *m = &o->model;
    uint64_t window = o->window ? o->window : DEFAULT_WINDOW;
    *r->setup = (struct assay_spool_setup){
        .magic = ASSAY_SPOOL_MAGIC,
        .size = sizeof *r->setup,
        .rtit_ctl = (o->config & ~UINT64_C(1)) | ASSAY_RTIT_TRACEEN | ASSAY_RTIT_USER, /* bit 0 of the config is `pt` */
        .tsc_base = tsc_hz(m), /* as if one second after power-on: no time is 0 */
        .unit = {.tsc_ctc_n = m->tsc_ctc_n,
                 .tsc_ctc_d = m->tsc_ctc_d,
                 .max_ratio = m->max_ratio,
                 .core_ratio = m->core_ratio,
                 .cyc_counter_bits = m->cyc_counter_bits,
                 .mode = r->program.mode},
        .model = *m,
        .window = (window < LEAST_WINDOW ? LEAST_WINDOW : window + 4095) / 4096 * 4096,
        .truth = o->truth || o->truth_blocks,
        .truth_blocks = o->truth_blocks,
    };
}

static void fill_pt_info(struct assay_record *r, const struct assay_record_options *o)
{
    const struct assay_machine_model *m = &o->model;
    r->pt = (struct assay_perf_pt_info){
        .present = true,
        .pmu_type = PMU_TYPE,
        .time_shift = TIME_SHIFT,
        .time_mult = (UINT64_C(1000000000) << TIME_SHIFT) / tsc_hz(m),
        .cap_user_time_zero = 1,
        .tsc_bit = ASSAY_RTIT_TSCEN,
        .noretcomp_bit = ASSAY_RTIT_DISRETC,
        .mtc_bit = ASSAY_RTIT_MTCEN,
        .mtc_freq_bits = UINT64_C(15) << ASSAY_RTIT_MTCFREQ_SHIFT,
        .tsc_ctc_n = m->tsc_ctc_n,
        .tsc_ctc_d = m->tsc_ctc_d,
        .cyc_bit = ASSAY_RTIT_CYCEN,
        .max_nonturbo_ratio = m->max_ratio,
        .config = o->config,
        .exclude_kernel = true,
    };
}

/* The combination of options is put to a unit: what raises #GP there is an error here. */
static int check_config(const struct assay_spool_setup *s, struct assay_error *e)
{
    struct assay_pt_unit u;
    assay_pt_unit_init(&u, &s->unit);
    if (assay_pt_unit_wrmsr(&u, ASSAY_MSR_RTIT_CTL, s->rtit_ctl) == ASSAY_OK)
        return ASSAY_OK;
    char terms[128];
    assay_record_pt_print(s->rtit_ctl & ~UINT64_C(1), terms, sizeof terms);
    return assay_error_set(e, ASSAY_E_ARGUMENT, UINT64_MAX, "the trace unit does not take %s", terms);
}

static void read_version(struct assay_record *r)
{
    char *command = NULL, line[160] = "";
    if (asprintf(&command, "'%s' -version 2>/dev/null", r->emulator) < 0)
        return;
    FILE *p = popen(command, "re");
    free(command);
    if (p && fgets(line, sizeof line, p)) {
        const char *v = strstr(line, "version ");
        snprintf(r->version, sizeof r->version, "QEMU %.*s", v ? (int)strcspn(v + 8, " \n(") : 0, v ? v + 8 : "");
    }
    if (p)
        pclose(p);
}

/* A comma separates the plugin's arguments; doubled it stands for itself. */
static char *plugin_argument(const struct assay_record *r)
{
    char *arg = malloc(2 * (strlen(r->plugin) + strlen(r->spool)) + 16), *at = arg;
    const char *part[] = {r->plugin, ",spool=", r->spool};
    for (int i = 0; arg && i < 3; i++)
        for (const char *c = part[i]; *c; c++) {
            if (*c == ',' && i != 1)
                *at++ = ',';
            *at++ = *c;
        }
    if (arg)
        *at = '\0';
    return arg;
}

/* QEMU's arguments before those of the program. The plugin is also preloaded, so that it sees how QEMU dies; the guest gets the
 * user's own LD_PRELOAD. */
static char **emulator_argv(const struct assay_record *r)
{
    size_t n = 0, args = 0;
    while (r->program.argv[args])
        args++;
    char **argv = calloc(args + 12, sizeof *argv), *own = NULL;
    const char *preload = getenv("LD_PRELOAD");
    if (!argv || (preload && asprintf(&own, "LD_PRELOAD=%s", preload) < 0))
        return NULL;
    const char *const head[] = {r->emulator,
                                "-seed",
                                "1",
                                "-plugin",
                                plugin_argument(r),
                                own ? "-E" : "-U",
                                own ? own : "LD_PRELOAD",
                                "-0",
                                r->program.argv[0],
                                r->program.file};
    for (; n < sizeof head / sizeof head[0]; n++)
        argv[n] = (char *)(uintptr_t)head[n];
    for (size_t i = 1; i < args; i++)
        argv[n++] = r->program.argv[i];
    return argv;
}

static void run_child(const struct assay_record *r, char **argv, int tell)
{
    personality(ADDR_NO_RANDOMIZE);
    if (!strpbrk(r->plugin, " :")) /* a list's separators: then deaths are seen less exactly */
        setenv("LD_PRELOAD", r->plugin, 1);
    execv(r->emulator, argv);
    int sys = errno;
    ssize_t n = write(tell, &sys, sizeof sys);
    _exit(n == sizeof sys ? 127 : 126);
}

static int spawn(struct assay_record *r, struct assay_error *e)
{
    int tell[2], sys = 0;
    char **argv = emulator_argv(r);
    if (!argv)
        return no_memory(e);
    if (pipe2(tell, O_CLOEXEC) != 0) {
        free(argv);
        return assay_error_sys(e, errno, "pipe");
    }
    r->pid = fork();
    if (r->pid == 0)
        run_child(r, argv, tell[1]);
    sys = r->pid < 0 ? errno : 0;
    close(tell[1]);
    if (r->pid > 0 && read(tell[0], &sys, sizeof sys) != (ssize_t)sizeof sys)
        sys = 0;
    close(tell[0]);
    free(argv[4]);
    if (argv[5][1] == 'E')
        free(argv[6]);
    free(argv);
    if (!sys)
        return ASSAY_OK;
    if (r->pid > 0)
        waitpid(r->pid, NULL, 0);
    return assay_error_sys(e, sys, "%s", r->emulator);
}

static int find_all(struct assay_record *r, const struct assay_record_options *o, struct assay_error *e)
{
    int ret = record_program_find(o->argv, &r->program, e);
    if (ret < 0)
        return ret;
    r->emulator = record_find_executable(r->program.qemu);
    if (!r->emulator)
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, UINT64_MAX, "%s is not installed (apt install qemu-user)",
                               r->program.qemu);
    r->plugin = record_find_plugin(o->plugin, e);
    return r->plugin ? ASSAY_OK : ASSAY_E_NOT_FOUND;
}

int assay_record_start(const struct assay_record_options *o, struct assay_record **out, struct assay_error *e)
{
    *out = NULL;
    struct assay_record *r = calloc(1, sizeof *r);
    if (!r)
        return no_memory(e);
    int ret = find_all(r, o, e);
    if (ret == ASSAY_OK)
        ret = make_spool(r, o->tmp, e);
    if (ret == ASSAY_OK)
        ret = map_setup(r, e);
    if (ret == ASSAY_OK) {
        fill_setup(r, o);
        fill_pt_info(r, o);
        ret = check_config(r->setup, e);
    }
    if (ret == ASSAY_OK) {
        read_version(r);
        ret = spawn(r, e);
    }
    if (ret < 0)
        assay_record_free(r);
    else
        *out = r;
    return ret;
}

static void remove_spool(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *f; d && (f = readdir(d));)
        if (f->d_name[0] != '.')
            unlinkat(dirfd(d), f->d_name, 0);
    if (d)
        closedir(d);
    rmdir(path);
}

void assay_record_free(struct assay_record *r)
{
    if (!r)
        return;
    if (r->setup)
        munmap(r->setup, sizeof *r->setup);
    if (r->spool)
        remove_spool(r->spool);
    record_program_free(&r->program);
    for (size_t i = 0; i < r->build_ids; i++)
        free(r->build_id[i].id);
    free(r->build_id);
    free(r->plugin);
    free(r->emulator);
    free(r->spool);
    free(r->event);
    free(r->stream);
    free(r->raw);
    free(r);
}

pid_t assay_record_pid(const struct assay_record *r) { return r->pid; }
const struct assay_perf_pt_info *assay_record_pt_info(const struct assay_record *r) { return &r->pt; }
const struct assay_machine_model *assay_record_model(const struct assay_record *r) { return &r->setup->model; }
unsigned assay_record_mode(const struct assay_record *r) { return r->program.mode; }
const char *assay_record_program(const struct assay_record *r) { return r->program.file; }
const char *assay_record_machine(const struct assay_record *r) { return r->version; }
