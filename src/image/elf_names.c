/* SPDX-License-Identifier: MIT */
/* Function names of an ELF file: its own symbol table, that of a separate debug file, or the dynamic one. */
#include "internal.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Elf_Scn *section_of_type(Elf *elf, unsigned type, GElf_Shdr *sh)
{
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s))
        if (gelf_getshdr(s, sh) && sh->sh_type == type)
            return s;
    return NULL;
}

/* Section headers are looked up once for each symbol, so they are gathered first. */
struct code_sections {
    struct image_range *range; /* by section index; empty for one without code */
    size_t n;
};

static struct code_sections find_code_sections(Elf *elf)
{
    struct code_sections c = {NULL, 0};
    size_t n;
    if (elf_getshdrnum(elf, &n) != 0 || n == 0 || !(c.range = calloc(n, sizeof *c.range)))
        return c;
    c.n = n;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        GElf_Shdr sh;
        size_t i = elf_ndxscn(s);
        if (i < n && gelf_getshdr(s, &sh) && (sh.sh_flags & SHF_EXECINSTR) && sh.sh_size <= UINT64_MAX - sh.sh_addr)
            c.range[i] = (struct image_range){sh.sh_addr, sh.sh_addr + sh.sh_size};
    }
    return c;
}

static unsigned bind_rank(const GElf_Sym *s)
{
    unsigned bind = GELF_ST_BIND(s->st_info);
    return bind == STB_LOCAL ? 2 : bind == STB_WEAK ? 1 : 0;
}

static void add_symbol(struct image_candidates *cs, const struct code_sections *code, const GElf_Sym *s,
                       const char *name)
{
    unsigned type = GELF_ST_TYPE(s->st_info);
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    size_t size = name ? strcspn(name, "@") : 0; /* without "@@VERSION" */
    if (size == 0 || s->st_shndx >= code->n || !(function || type == STT_NOTYPE))
        return;
    const struct image_range *r = &code->range[s->st_shndx];
    if (s->st_value < r->start || s->st_value >= r->end)
        return;
    bool sized = function && s->st_size > 0 && s->st_size <= UINT64_MAX - s->st_value;
    image_candidate_add(cs, s->st_value, sized ? s->st_value + s->st_size : r->end,
                        sized ? IMAGE_SYM_SIZED : IMAGE_SYM_LABEL, bind_rank(s), name, size);
}

/* Whether there were symbols. */
static bool collect_table(struct image_candidates *cs, Elf *elf, unsigned type)
{
    GElf_Shdr sh;
    GElf_Sym sym;
    size_t before = cs->n;
    Elf_Scn *scn = section_of_type(elf, type, &sh);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    if (!data)
        return false;
    struct code_sections code = find_code_sections(elf);
    for (int i = 0; gelf_getsym(data, i, &sym); i++)
        add_symbol(cs, &code, &sym, elf_strptr(elf, sh.sh_link, sym.st_name));
    free(code.range);
    return cs->n > before;
}

/* ---- separate debug files ---- */

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (unsigned k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Where .gnu_debuglink's name may stand, as GDB's manual says. */
static struct image_file *open_debuglink(const char *path, const char *link, const struct image_build_id *id,
                                         uint32_t crc)
{
    static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
    const char *slash = strrchr(path, '/');
    if (!slash || strchr(link, '/'))
        return NULL;
    for (unsigned i = 0; i < 3; i++) {
        char *name = NULL;
        if (asprintf(&name, i == 0 ? forms[0] : i == 1 ? forms[1] : forms[2], (int)(slash - path), path, link) < 0)
            return NULL;
        struct image_file *f = strcmp(name, path) == 0 ? NULL : image_file_open(name, id, NULL);
        free(name);
        if (f && (id->size || crc32_of(f->bytes, f->size) == crc))
            return f;
        image_file_free(f);
    }
    return NULL;
}

static struct image_file *open_debug_file(Elf *elf, const struct image_file *f)
{
    struct image_build_id id;
    struct image_file *debug = NULL;
    char path[200];
    GElf_Word crc;
    image_build_id_of(elf, &id);
    if (id.size) {
        image_build_id_path(&id, "/usr/lib/debug/.build-id", ".debug", path, sizeof path);
        debug = image_file_open(path, &id, NULL);
    }
    const char *link = debug ? NULL : dwelf_elf_gnu_debuglink(elf, &crc);
    return link ? open_debuglink(f->path, link, &id, crc) : debug;
}

static bool collect_debug_file(struct image_candidates *cs, Elf *elf, const struct image_file *f)
{
    struct image_file *debug = open_debug_file(elf, f);
    bool found = false;
    if (debug) {
        Elf *d = elf_memory((char *)(uintptr_t)debug->bytes, debug->size);
        cs->names_limit += debug->size * 4;
        found = d && collect_table(cs, d, SHT_SYMTAB);
        elf_end(d);
        image_file_free(debug);
    }
    return found;
}

/* ---- what every program has ---- */

/* Code that stripped programs keep without a symbol: the entry, .init and .fini. Names that are known are preferred: these come last,
 * as local labels. */
static void collect_fixed(struct image_candidates *cs, Elf *elf)
{
    static const struct {
        const char *section, *name;
    } fixed[] = {{".init", "_init"}, {".fini", "_fini"}};
    GElf_Ehdr h;
    GElf_Shdr sh;
    size_t names;
    if (!gelf_getehdr(elf, &h) || elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        if (!gelf_getshdr(s, &sh) || !(sh.sh_flags & SHF_EXECINSTR) || sh.sh_size > UINT64_MAX - sh.sh_addr)
            continue;
        const char *name = elf_strptr(elf, names, sh.sh_name);
        for (unsigned i = 0; name && i < 2; i++)
            if (strcmp(name, fixed[i].section) == 0)
                image_candidate_add(cs, sh.sh_addr, sh.sh_addr + sh.sh_size, IMAGE_SYM_LABEL, 2, fixed[i].name, 5);
        if (h.e_entry >= sh.sh_addr && h.e_entry - sh.sh_addr < sh.sh_size)
            image_candidate_add(cs, h.e_entry, sh.sh_addr + sh.sh_size, IMAGE_SYM_LABEL, 2, "_start", 6);
    }
}

void image_collect_elf(struct image_candidates *cs, const struct image_file *f)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)(uintptr_t)f->bytes, f->size);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        cs->names_limit = f->size * 4; /* many symbols may share one long name */
        if (!collect_table(cs, elf, SHT_SYMTAB) && !collect_debug_file(cs, elf, f))
            collect_table(cs, elf, SHT_DYNSYM);
        collect_fixed(cs, elf);
        image_collect_plt(cs, elf);
        image_collect_frames(cs, elf);
    }
    elf_end(elf);
}
