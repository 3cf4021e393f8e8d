/* SPDX-License-Identifier: MIT */
/* Finds what is to be run: the program as a shell finds it, a script's interpreter, the emulator for its kind, the plugin. */
#include "run.h"

#include <assay/cursor.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SCRIPTS = 4, HEAD = 256 };

static int no_memory(struct assay_error *e) { return assay_error_set(e, ASSAY_E_MEMORY, UINT64_MAX, "out of memory"); }

static bool is_program(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
    return S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *run_find_executable(const char *name)
{
    if (strchr(name, '/'))
        return is_program(name) ? strdup(name) : NULL;
    const char *dirs = getenv("PATH");
    if (!dirs)
        dirs = "/usr/local/bin:/usr/bin:/bin";
    while (*dirs) {
        size_t n = strcspn(dirs, ":");
        char *path = NULL;
        if (asprintf(&path, "%.*s%s%s", (int)n, dirs, n ? "/" : "./", name) < 0)
            return NULL;
        if (is_program(path))
            return path;
        free(path);
        dirs += n + (dirs[n] == ':');
    }
    errno = ENOENT;
    return NULL;
}

/* Puts the interpreter's words before the script's: argv becomes `interpreter [word] script args...`. */
static int interpret(struct run_program *p, char *line, struct assay_error *e)
{
    line[strcspn(line, "\n")] = '\0';
    line += strspn(line, " \t");
    size_t n = strcspn(line, " \t");
    char *word = line + n;
    if (*word)
        *word++ = '\0';
    word += strspn(word, " \t");
    for (size_t end = strlen(word); end > 0 && strchr(" \t", word[end - 1]); end--)
        word[end - 1] = '\0';
    if (!*line)
        return assay_error_set(e, ASSAY_E_ARGUMENT, UINT64_MAX, "%s: its #! names no interpreter", p->file);
    size_t args = 0, extra = *word ? 2 : 1;
    while (p->argv[args])
        args++;
    char **argv = calloc(args + extra + 1, sizeof *argv), *file = strdup(line);
    if (!argv || !file || !(argv[0] = strdup(line)) || (extra == 2 && !(argv[1] = strdup(word)))) {
        free(argv);
        free(file);
        return no_memory(e);
    }
    free(p->argv[0]);
    p->argv[0] = p->file; /* the script itself */
    memcpy(argv + extra, p->argv, args * sizeof *argv);
    free(p->argv);
    p->argv = argv;
    p->file = file;
    return ASSAY_OK;
}

static int by_class(struct run_program *p, const uint8_t *head, struct assay_error *e)
{
    unsigned machine = (unsigned)assay_load_le(head + 18, 2);
    if (head[EI_CLASS] == ELFCLASS64 && machine == EM_X86_64) {
        p->mode = 64;
        p->qemu = "qemu-x86_64";
    } else if (head[EI_CLASS] == ELFCLASS32 && machine == EM_386) {
        p->mode = 32;
        p->qemu = "qemu-i386";
    } else {
        return assay_error_set(e, ASSAY_E_UNSUPPORTED, UINT64_MAX, "%s: an ELF program for machine %u, not for x86",
                               p->file, head[EI_DATA] == ELFDATA2MSB ? (unsigned)assay_load_be(head + 18, 2) : machine);
    }
    return ASSAY_OK;
}

/* One step: 1 when the file is an ELF program, 0 when it was a script and the interpreter is to be looked at. */
static int look_at(struct run_program *p, struct assay_error *e)
{
    uint8_t head[HEAD + 1] = {0};
    int fd = open(p->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return assay_error_sys(e, errno, "%s: cannot read", p->file);
    ssize_t n = read(fd, head, HEAD);
    close(fd);
    if (n >= 20 && memcmp(head, ELFMAG, SELFMAG) == 0) {
        int r = by_class(p, head, e);
        return r < 0 ? r : 1;
    }
    if (n > 2 && memcmp(head, "#!", 2) == 0)
        return interpret(p, (char *)head + 2, e);
    return assay_error_set(e, ASSAY_E_UNSUPPORTED, UINT64_MAX, "%s: neither an ELF program nor a script with #!",
                           p->file);
}

static char **copy_argv(char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        if (!(copy[i] = strdup(argv[i])))
            return NULL;
    return copy;
}

int run_program_find(char *const *argv, struct run_program *p, struct assay_error *e)
{
    *p = (struct run_program){.file = run_find_executable(argv[0])};
    if (!p->file)
        return errno == ENOENT ? assay_error_set(e, ASSAY_E_NOT_FOUND, UINT64_MAX, "%s: program not found", argv[0])
                               : assay_error_sys(e, errno, "%s: cannot be run", argv[0]);
    p->argv = copy_argv(argv);
    int r = p->argv ? 0 : no_memory(e);
    for (int i = 0; r == 0; i++)
        r = i < MAX_SCRIPTS
                ? look_at(p, e)
                : assay_error_set(e, ASSAY_E_UNSUPPORTED, UINT64_MAX, "%s: interpreters of interpreters", argv[0]);
    if (r < 0)
        run_program_free(p);
    return r < 0 ? r : ASSAY_OK;
}

void run_program_free(struct run_program *p)
{
    free(p->file);
    for (char **a = p->argv; a && *a; a++)
        free(*a);
    free(p->argv);
    *p = (struct run_program){0};
}

char *run_find_plugin(const char *given, struct assay_error *e)
{
    static const char name[] = "assay-qemu.so";
    char self[4096], path[sizeof self + 64];
    if (!given)
        given = getenv("ASSAY_QEMU_PLUGIN");
    if (given) {
        char *real = realpath(given, NULL);
        if (!real)
            assay_error_sys(e, errno, "%s: cannot find the QEMU plugin", given);
        return real;
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    /* in the build folder; beside the command as `make install` puts it, wherever that was moved to; where it was put */
    static const char *const place[] = {"../src/virtual/plugin", "../" ASSAY_PLUGIN_UNDER, NULL};
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        if (place[i])
            snprintf(path, sizeof path, "%s/%s/%s", self, place[i], name);
        else
            snprintf(path, sizeof path, "%s/%s", ASSAY_PLUGIN_DIR, name);
        char *real = realpath(path, NULL);
        if (real)
            return real;
    }
    assay_error_set(e, ASSAY_E_NOT_FOUND, UINT64_MAX, "the QEMU plugin %s is neither beside the command nor in %s",
                    name, ASSAY_PLUGIN_DIR);
    return NULL;
}
