/* SPDX-License-Identifier: MIT */
/* The build id of an ELF file. */
#include "record_inside.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t *find_in_notes(Elf_Data *data, unsigned *size)
{
    GElf_Nhdr note;
    size_t name, desc;
    for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0;) {
        const char *bytes = data->d_buf;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof ELF_NOTE_GNU || note.n_descsz == 0 ||
            memcmp(bytes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0)
            continue;
        uint8_t *id = malloc(note.n_descsz);
        if (id)
            memcpy(id, bytes + desc, note.n_descsz);
        *size = note.n_descsz;
        return id;
    }
    return NULL;
}

uint8_t *record_build_id(const char *path, unsigned *size)
{
    uint8_t *id = NULL;
    size_t headers = 0;
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_getphdrnum(elf, &headers) == 0)
        for (size_t i = 0; i < headers && !id; i++) {
            GElf_Phdr h;
            if (gelf_getphdr(elf, (int)i, &h) && h.p_type == PT_NOTE)
                id = find_in_notes(elf_getdata_rawchunk(elf, (int64_t)h.p_offset, h.p_filesz,
                                                        h.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
                                   size);
        }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return id;
}
