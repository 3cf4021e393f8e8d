/* SPDX-License-Identifier: MIT */
/* A program on virtual hardware, whatever it is run for: the spool, QEMU's command line and environment, the end. */
#include "run.h"

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

int run_open_file(const struct virtual_run *r, const char *name, unsigned number, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, number == (unsigned)-1 ? "%s/%s" : "%s/%s.%u", r->spool, name, number);
    return open(path, flags | O_CLOEXEC, 0600);
}

static int no_memory(struct assay_error *e) { return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory"); }

static int make_spool(struct virtual_run *r, const char *tmp, struct assay_error *e)
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
    int fd = run_open_file(r, "events", (unsigned)-1, O_WRONLY | O_CREAT);
    if (fd < 0)
        return assay_error_sys(e, errno, "%s: cannot write", r->spool);
    close(fd);
    return ASSAY_OK;
}

static int map_setup(struct virtual_run *r, struct assay_error *e)
{
    int fd = run_open_file(r, "setup", (unsigned)-1, O_RDWR | O_CREAT);
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

static void read_version(struct virtual_run *r)
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
static char *plugin_argument(const struct virtual_run *r)
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
static char **emulator_argv(const struct virtual_run *r)
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

static void run_child(const struct virtual_run *r, char **argv, const sigset_t *mask, int tell)
{
    if (mask)
        sigprocmask(SIG_SETMASK, mask, NULL);
    personality(ADDR_NO_RANDOMIZE);
    if (!strpbrk(r->plugin, " :")) /* a list's separators: then deaths are seen less exactly */
        setenv("LD_PRELOAD", r->plugin, 1);
    execv(r->emulator, argv);
    int sys = errno;
    ssize_t n = write(tell, &sys, sizeof sys);
    _exit(n == sizeof sys ? 127 : 126);
}

int run_spawn(struct virtual_run *r, const sigset_t *mask, struct assay_error *e)
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
        run_child(r, argv, mask, tell[1]);
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

static int find_all(struct virtual_run *r, char *const *argv, const char *plugin, struct assay_error *e)
{
    int ret = run_program_find(argv, &r->program, e);
    if (ret < 0)
        return ret;
    r->emulator = run_find_executable(r->program.qemu);
    if (!r->emulator)
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, UINT64_MAX, "%s is not installed (apt install qemu-user)",
                               r->program.qemu);
    r->plugin = run_find_plugin(plugin, e);
    return r->plugin ? ASSAY_OK : ASSAY_E_NOT_FOUND;
}

int run_open(struct virtual_run *r, char *const *argv, const char *plugin, const char *tmp, struct assay_error *e)
{
    int ret = find_all(r, argv, plugin, e);
    if (ret == ASSAY_OK)
        ret = make_spool(r, tmp, e);
    if (ret == ASSAY_OK)
        ret = map_setup(r, e);
    if (ret == ASSAY_OK)
        read_version(r);
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

void run_free(struct virtual_run *r)
{
    if (r->setup)
        munmap(r->setup, sizeof *r->setup);
    if (r->spool)
        remove_spool(r->spool);
    run_program_free(&r->program);
    free(r->plugin);
    free(r->emulator);
    free(r->spool);
}
