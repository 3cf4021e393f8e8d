/* SPDX-License-Identifier: MIT */
/* Functions of stripped programs: each FDE of .eh_frame covers one. Layout: LSB Core, "Exception Frames". */
#include "internal.h"

#include <assay/cursor.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <string.h>

/* Size and sign of an encoded pointer's value; 0 for those that no FDE has (LEB128). */
static unsigned value_size(unsigned encoding, unsigned address_size)
{
    switch (encoding & 7) {
    case DW_EH_PE_absptr:
        return address_size;
    case DW_EH_PE_udata2:
        return 2;
    case DW_EH_PE_udata4:
        return 4;
    case DW_EH_PE_udata8:
        return 8;
    default:
        return 0;
    }
}

static uint64_t read_value(struct assay_rd *r, unsigned encoding, unsigned size)
{
    uint64_t v = assay_rd_le(r, size);
    if ((encoding & DW_EH_PE_signed) && size < 8 && (v >> (size * 8 - 1)))
        v |= UINT64_MAX << size * 8;
    return v;
}

/* The pointer encoding of the FDEs of a CIE, from its augmentation; DW_EH_PE_omit when it cannot be told. */
static unsigned fde_encoding(const Dwarf_CIE *cie, unsigned address_size)
{
    const char *a = cie->augmentation;
    struct assay_rd r = assay_rd_of(cie->augmentation_data, cie->augmentation_data ? cie->augmentation_data_size : 0);
    if (a[0] == '\0')
        return DW_EH_PE_absptr;
    if (a[0] != 'z')
        return DW_EH_PE_omit;
    while (*++a) {
        unsigned encoding = *a == 'R' || *a == 'L' || *a == 'P' ? assay_rd_u8(&r) : 0;
        if (*a == 'R')
            return r.over ? DW_EH_PE_omit : encoding;
        if (*a == 'P')
            assay_rd_bytes(&r, value_size(encoding, address_size));
    }
    return DW_EH_PE_absptr;
}

struct frames {
    struct image_candidates *cs;
    const unsigned char *ident;
    Elf_Data *data;
    uint64_t addr; /* of the section */
    unsigned address_size;
    Dwarf_Off cie; /* the one that `encoding` is of */
    unsigned encoding;
};

static void use_cie(struct frames *f, Dwarf_Off offset)
{
    Dwarf_Off next;
    Dwarf_CFI_Entry e;
    if (f->cie == offset)
        return;
    f->cie = offset;
    f->encoding = DW_EH_PE_omit;
    if (offset < f->data->d_size && dwarf_next_cfi(f->ident, f->data, true, offset, &next, &e) == 0 &&
        dwarf_cfi_cie_p(&e))
        f->encoding = fde_encoding(&e.cie, f->address_size);
}

static void add_fde(struct frames *f, const Dwarf_FDE *fde)
{
    use_cie(f, fde->CIE_pointer);
    unsigned size = f->encoding == DW_EH_PE_omit ? 0 : value_size(f->encoding, f->address_size);
    unsigned relative = f->encoding & 0x70;
    if (size == 0 || (relative != DW_EH_PE_absptr && relative != DW_EH_PE_pcrel))
        return;
    struct assay_rd r = assay_rd_of(fde->start, (size_t)(fde->end - fde->start));
    uint64_t start = read_value(&r, f->encoding, size);
    uint64_t length = read_value(&r, f->encoding & 7, size);
    if (relative == DW_EH_PE_pcrel)
        start += f->addr + (uint64_t)(fde->start - (const uint8_t *)f->data->d_buf);
    if (f->address_size == 4)
        start &= 0xffffffff;
    if (!r.over && start != 0 && length <= UINT64_MAX - start)
        image_candidate_add(f->cs, start, start + length, IMAGE_SYM_RANGE, 0, NULL, 0);
}

static void walk_section(struct frames *f)
{
    Dwarf_Off next = 0;
    Dwarf_CFI_Entry e;
    for (Dwarf_Off at = 0; at < f->data->d_size; at = next) {
        int s = dwarf_next_cfi(f->ident, f->data, true, at, &next, &e);
        if (s > 0 || next <= at || next == (Dwarf_Off)-1)
            break;
        if (s == 0 && !dwarf_cfi_cie_p(&e))
            add_fde(f, &e.fde);
    }
}

void image_collect_frames(struct image_candidates *cs, Elf *elf)
{
    GElf_Shdr sh;
    size_t names;
    const char *ident = elf_getident(elf, NULL);
    if (!ident || elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
        Elf_Data *data =
            name && strcmp(name, ".eh_frame") == 0 && sh.sh_type != SHT_NOBITS ? elf_getdata(scn, NULL) : NULL;
        if (!data || !data->d_buf)
            continue;
        struct frames f = {cs,           (const unsigned char *)ident,          data,
                           sh.sh_addr,   ident[EI_CLASS] == ELFCLASS32 ? 4 : 8, (Dwarf_Off)-1,
                           DW_EH_PE_omit};
        walk_section(&f);
    }
}
