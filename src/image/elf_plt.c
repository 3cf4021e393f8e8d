/* SPDX-License-Identifier: MIT */
/* Names of PLT stubs: a stub jumps through a slot of the GOT, and a relocation says whose address the slot gets. */
#include "internal.h"

#include <assay/cursor.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    uint64_t addr;   /* of the GOT entry */
    uint64_t addend; /* for a slot without a name */
    const char *name;
};

struct slots {
    struct slot *slot;
    size_t n, cap;
    uint64_t got; /* _GLOBAL_OFFSET_TABLE_, which i386 stubs address from */
};

static bool is_slot_type(unsigned machine, unsigned type)
{
    /* JUMP_SLOT and GLOB_DAT have the same numbers in both. */
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
           type == (machine == EM_386 ? (unsigned)R_386_IRELATIVE : (unsigned)R_X86_64_IRELATIVE);
}

static const char *symbol_name(Elf *elf, Elf_Data *symbols, size_t strings, uint64_t index)
{
    GElf_Sym s;
    if (!symbols || index == 0 || index > INT32_MAX || !gelf_getsym(symbols, (int)index, &s))
        return NULL;
    return elf_strptr(elf, strings, s.st_name);
}

static void read_relocations(struct slots *out, Elf *elf, unsigned machine, Elf_Scn *scn, const GElf_Shdr *sh)
{
    GElf_Shdr symsh = {0};
    Elf_Scn *symscn = elf_getscn(elf, sh->sh_link);
    Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
    if (symscn && gelf_getshdr(symscn, &symsh) && (symsh.sh_type == SHT_DYNSYM || symsh.sh_type == SHT_SYMTAB))
        symbols = elf_getdata(symscn, NULL);
    for (int i = 0; data; i++) {
        GElf_Rela a = {0};
        GElf_Rel r;
        if (sh->sh_type == SHT_RELA ? !gelf_getrela(data, i, &a) : !gelf_getrel(data, i, &r))
            break;
        if (sh->sh_type == SHT_REL)
            a = (GElf_Rela){.r_offset = r.r_offset, .r_info = r.r_info};
        if (!is_slot_type(machine, (unsigned)GELF_R_TYPE(a.r_info)))
            continue;
        struct slot *grown = image_grow(out->slot, out->n, &out->cap, sizeof *grown);
        if (!grown)
            return;
        out->slot = grown;
        out->slot[out->n++] = (struct slot){a.r_offset, (uint64_t)a.r_addend,
                                            symbol_name(elf, symbols, symsh.sh_link, GELF_R_SYM(a.r_info))};
    }
}

static int compare_slots(const void *va, const void *vb)
{
    const struct slot *a = va, *b = vb;
    return (a->addr > b->addr) - (a->addr < b->addr);
}

static const struct slot *find_slot(const struct slots *s, uint64_t addr)
{
    struct slot key = {.addr = addr};
    return s->n ? bsearch(&key, s->slot, s->n, sizeof key, compare_slots) : NULL;
}

/* The slot that the stub at `at` jumps through: FF 25 is jmp *disp32, from the next address in 64-bit code and absolute in 32-bit
 * code, FF A3 is jmp *disp32(%ebx). */
static const struct slot *slot_of_stub(const struct slots *s, unsigned machine, const uint8_t *p, size_t size,
                                       uint64_t at)
{
    for (size_t i = 0; i + 6 <= size; i++) {
        uint64_t disp = p[i] == 0xff ? assay_load_le(p + i + 2, 4) : 0;
        if (p[i] != 0xff)
            continue;
        if (p[i + 1] == 0x25 && machine == EM_X86_64)
            return find_slot(s, at + i + 6 + (uint64_t)(int64_t)(int32_t)disp);
        if (p[i + 1] == 0x25)
            return find_slot(s, disp);
        if (p[i + 1] == 0xa3 && machine == EM_386)
            return find_slot(s, (s->got + disp) & 0xffffffff);
    }
    return NULL;
}

/* A slot that a resolver fills (IRELATIVE) is named by the resolver, whose address is the addend. */
static void add_stub(struct image_candidates *cs, const struct slot *slot, uint64_t at, uint64_t size)
{
    char name[1024];
    const char *of = slot->name && slot->name[0] ? slot->name : image_candidate_name(cs, slot->addend);
    int n = of ? snprintf(name, sizeof name, "%.*s@plt", (int)sizeof name - 5, of)
               : snprintf(name, sizeof name, "*0x%llx@plt", (unsigned long long)slot->addend);
    if (n > 0)
        image_candidate_add(cs, at, at + size, IMAGE_SYM_PLT, 0, name, strlen(name));
}

static void name_stubs(struct image_candidates *cs, const struct slots *s, unsigned machine, Elf_Scn *scn,
                       const GElf_Shdr *sh, const char *section)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t step = sh->sh_entsize == 8 || sh->sh_entsize == 16 ? (size_t)sh->sh_entsize
                  : strcmp(section, ".plt.got") == 0          ? 8
                                                              : 16;
    if (!data || !data->d_buf || sh->sh_size > UINT64_MAX - sh->sh_addr)
        return;
    for (size_t i = 0; i + step <= data->d_size; i += step) {
        const struct slot *slot = slot_of_stub(s, machine, (const uint8_t *)data->d_buf + i, step, sh->sh_addr + i);
        if (slot)
            add_stub(cs, slot, sh->sh_addr + i, step);
    }
}

void image_collect_plt(struct image_candidates *cs, Elf *elf)
{
    GElf_Ehdr h;
    GElf_Shdr sh;
    size_t names;
    struct slots s = {0};
    if (!gelf_getehdr(elf, &h) || elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
        if (name && (strcmp(name, ".got.plt") == 0 || (strcmp(name, ".got") == 0 && s.got == 0)))
            s.got = sh.sh_addr;
        if (name && (sh.sh_type == SHT_RELA || sh.sh_type == SHT_REL))
            read_relocations(&s, elf, h.e_machine, scn, &sh);
    }
    if (s.n)
        qsort(s.slot, s.n, sizeof *s.slot, compare_slots);
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); s.n && scn; scn = elf_nextscn(elf, scn)) {
        const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
        if (name && strncmp(name, ".plt", 4) == 0 && (sh.sh_flags & SHF_EXECINSTR))
            name_stubs(cs, &s, h.e_machine, scn, &sh, name);
    }
    free(s.slot);
}
