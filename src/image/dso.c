/* SPDX-License-Identifier: MIT */
/* Finds and maps the file that a binary's code comes from, and checks that it is the recorded one. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <elfutils/libdwelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u

__attribute__((format(printf, 1, 2))) static char *text(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        s = NULL;
    va_end(ap);
    return s;
}

bool image_is_file_name(const char *name)
{
    return name[0] != '\0' && name[0] != '[' && strncmp(name, "//", 2) != 0 && strncmp(name, "anon_inode:", 11) != 0;
}

/* Recorders pad short ids with zeros. */
static bool same_build_id(const struct image_build_id *a, const struct image_build_id *b)
{
    return a->size != 0 && b->size != 0 && memcmp(a->bytes, b->bytes, IMAGE_BUILD_ID_MAX) == 0;
}

void image_build_id_of(Elf *elf, struct image_build_id *out)
{
    const void *bytes;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
    *out = (struct image_build_id){0};
    if (size > 0 && size <= IMAGE_BUILD_ID_MAX) {
        out->size = (uint8_t)size;
        memcpy(out->bytes, bytes, (size_t)size);
    }
}

void image_build_id_path(const struct image_build_id *id, const char *root, const char *suffix, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s/%02x/", root, id->bytes[0]);
    for (unsigned i = 1; i < id->size && n > 0 && (size_t)n < size; i++)
        n += snprintf(buf + n, size - (size_t)n, "%02x", id->bytes[i]);
    if (n > 0 && (size_t)n < size)
        snprintf(buf + n, size - (size_t)n, "%s", suffix);
}

static unsigned mode_of(const GElf_Ehdr *h)
{
    if (h->e_machine == EM_X86_64)
        return 64; /* the x32 ABI too: ELFCLASS32, 64-bit code */
    return h->e_machine == EM_386 ? 32 : 0;
}

static void read_loads(struct image_file *f, Elf *elf)
{
    size_t n;
    if (elf_getphdrnum(elf, &n) != 0 || n == 0 || n > f->size / sizeof(Elf32_Phdr))
        return;
    f->load = calloc(n, sizeof *f->load);
    for (size_t i = 0; f->load && i < n; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
            continue;
        f->load[f->loads++] = (struct image_load){p.p_vaddr, p.p_offset, p.p_filesz, p.p_flags & PF_X};
    }
}

/* A file that is no sound ELF stays readable as raw bytes. */
static void read_elf(struct image_file *f, struct image_build_id *id)
{
    *id = (struct image_build_id){0};
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)(uintptr_t)f->bytes, f->size);
    GElf_Ehdr h;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &h)) {
        f->mode = (uint8_t)mode_of(&h);
        read_loads(f, elf);
        image_build_id_of(elf, id);
    }
    elf_end(elf);
}

/* Opens a regular file; -1 and errno, which is 0 for anything else. Devices are not opened: that could block or change them. */
static int open_regular(const char *path, size_t *size)
{
    struct stat st;
    errno = 0;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)) {
        close(fd);
        return -1;
    }
    *size = fd >= 0 ? (size_t)st.st_size : 0;
    return fd;
}

static struct image_file *map_file(const char *path, char **problem)
{
    struct image_file *f = calloc(1, sizeof *f);
    size_t size = 0;
    void *at = MAP_FAILED;
    int fd = f && (f->path = strdup(path)) ? open_regular(path, &size) : -1;
    if (fd >= 0)
        at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
        *problem = text("%s: %s", path, errno ? strerror(errno) : "not a file with code");
        image_file_free(f);
        f = NULL;
    } else {
        f->bytes = at;
        f->size = size;
    }
    if (fd >= 0)
        close(fd);
    return f;
}

struct image_file *image_file_open(const char *path, const struct image_build_id *id, char **problem)
{
    char *why = NULL;
    struct image_build_id found;
    struct image_file *f = map_file(path, &why);
    if (f) {
        read_elf(f, &found);
        if (id && id->size != 0 && !same_build_id(id, &found)) {
            why = text("%s: %s", path,
                       found.size ? "build id differs from the recorded one" : "has no build id, one was recorded");
            image_file_free(f);
            f = NULL;
        }
    }
    if (problem && !*problem)
        *problem = why;
    else
        free(why);
    return f;
}

static struct image_file *open_by_build_id(const struct image_build_id *id)
{
    char root[1024], path[1200];
    static const char *const suffixes[] = {"/elf", "/vdso"};
    const char *home = getenv("HOME");
    struct image_file *f = NULL;
    if (id->size == 0)
        return NULL;
    for (unsigned i = 0; !f && home && i < 2; i++) {
        snprintf(root, sizeof root, "%s/.debug/.build-id", home);
        image_build_id_path(id, root, suffixes[i], path, sizeof path);
        f = image_file_open(path, id, NULL);
    }
    if (!f) {
        image_build_id_path(id, "/usr/lib/debug/.build-id", "", path, sizeof path);
        f = image_file_open(path, id, NULL);
    }
    return f;
}

/* "/usr/bin/x (deleted)": another file may have taken the name, so only a build id tells that this is the one. */
static struct image_file *open_deleted(const char *name, const struct image_build_id *id)
{
    static const char mark[] = " (deleted)";
    size_t n = strlen(name), m = sizeof mark - 1;
    if (id->size == 0 || n <= m || strcmp(name + n - m, mark) != 0)
        return NULL;
    char *path = strndup(name, n - m);
    struct image_file *f = path ? image_file_open(path, id, NULL) : NULL;
    free(path);
    return f;
}

static struct image_file *find_file(const struct image_dso *d)
{
    char *problem = NULL;
    struct image_file *f = NULL;
    if (!d->captured && image_is_file_name(d->name)) {
        f = image_file_open(d->name, &d->build_id, &problem);
        if (!f)
            f = open_deleted(d->name, &d->build_id);
    }
    if (!f && !d->captured)
        f = open_by_build_id(&d->build_id);
    if (!f && (f = calloc(1, sizeof *f))) {
        f->problem = problem ? problem : text("%s: this code is in no file", d->name);
        problem = NULL;
    }
    free(problem);
    return f;
}

const struct image_file *image_dso_file(struct image_dso *d)
{
    struct image_file *f = atomic_load_explicit(&d->file, memory_order_acquire);
    if (f)
        return f;
    struct image_file *made = find_file(d);
    if (!made)
        return NULL;
    if (atomic_compare_exchange_strong_explicit(&d->file, &f, made, memory_order_acq_rel, memory_order_acquire))
        return made;
    image_file_free(made); /* another thread was quicker */
    return f;
}

void image_file_free(struct image_file *f)
{
    if (!f)
        return;
    if (f->bytes)
        munmap((void *)(uintptr_t)f->bytes, f->size);
    free(f->path);
    free(f->problem);
    free(f->load);
    free(f);
}

/* The first page of a segment is mapped from its start, so code before p_offset belongs to it when nothing else has it. */
uint64_t image_file_vaddr(const struct image_file *f, uint64_t offset)
{
    for (unsigned pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < f->loads; i++) {
            const struct image_load *l = &f->load[i];
            uint64_t low = pass < 2 ? l->offset : l->offset - l->offset % PAGE;
            if ((pass > 0 || l->exec) && offset >= low && offset - low < l->size + (l->offset - low))
                return l->vaddr + (offset - l->offset);
        }
    }
    return offset;
}
