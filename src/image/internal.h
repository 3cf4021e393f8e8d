/* SPDX-License-Identifier: MIT */
/* Shared inside src/image only: what an image is made of. */
#ifndef ASSAY_IMAGE_INTERNAL_H
#define ASSAY_IMAGE_INTERNAL_H

#include <assay/image.h>

#include <libelf.h>
#include <stdatomic.h>

/* ---- x86.c, x86_common.c ---- */

#define IMAGE_X86_LONGEST 15 /* bytes of an instruction */
/* The whole truth: assay_x86_classify() without the quick way. */
int image_x86_by_zydis(const uint8_t *code, size_t size, unsigned mode, uint64_t ip, struct assay_insn *out);
/* Classifies a common instruction of 64-bit code; 0 when it is not sure. `code` has IMAGE_X86_LONGEST bytes. */
int image_x86_common(const uint8_t *code, uint64_t ip, struct assay_insn *out);

/* ---- pool.c: memory that lives as long as its owner ---- */

struct image_pool {
    struct image_chunk *head;
};
void *image_pool_alloc(struct image_pool *p, size_t size);                 /* NULL when there is no memory */
char *image_pool_string(struct image_pool *p, const char *s, size_t size); /* a copy, NUL terminated */
void image_pool_free(struct image_pool *p);

/* Room for one more element in a growing array; NULL when there is no memory (the old array stays). */
void *image_grow(void *array, size_t n, size_t *cap, size_t element);

/* ---- dso.c: where code bytes come from ---- */

#define IMAGE_BUILD_ID_MAX 32

struct image_build_id {
    uint8_t size; /* 0: not known */
    uint8_t bytes[IMAGE_BUILD_ID_MAX];
};

struct image_load { /* a PT_LOAD header */
    uint64_t vaddr, offset, size;
    bool exec;
};

/* A binary as found on this machine. Made once, never changed. */
struct image_file {
    const uint8_t *bytes; /* mapped read-only; NULL when there is no such file */
    size_t size;
    char *path;    /* where it was found */
    char *problem; /* why there are no bytes */
    uint8_t mode;  /* 64, 32, 0 when not known */
    struct image_load *load;
    size_t loads;
};

struct image_dso {
    const char *name;
    struct image_build_id build_id;
    bool captured; /* code without a file: captures [first, first + captures) of the image */
    uint32_t pid;  /* of captured code */
    uint32_t
        layer; /* of captured code: pieces that lay at the same address at different times are in different layers */
    size_t first, captures;
    _Atomic(struct image_file *) file;       /* made on first need, by whoever is first */
    _Atomic(struct image_symbols *) symbols; /* likewise */
    atomic_bool asked;                       /* its code was asked for, so that its problem matters */
};

bool image_is_file_name(const char *name); /* not "[vdso]", "//anon" ... */
/* Never NULL except when memory is short. */
const struct image_file *image_dso_file(struct image_dso *d);
void image_file_free(struct image_file *f);
/* The ELF virtual address of a file offset; the offset itself where no header says. */
uint64_t image_file_vaddr(const struct image_file *f, uint64_t offset);
/* Maps `path`, which must have the build id unless that is NULL or unknown. NULL: the reason is in *problem, when not NULL. */
struct image_file *image_file_open(const char *path, const struct image_build_id *id, char **problem);
void image_build_id_of(Elf *elf, struct image_build_id *out);
/* Formats ROOT/xx/yyyy...SUFFIX. */
void image_build_id_path(const struct image_build_id *id, const char *root, const char *suffix, char *buf, size_t size);

/* ---- image.c: the history ---- */

struct image_capture {
    uint64_t addr, end;
    const uint8_t *bytes;
    const char *symbol; /* NULL when it has no name of its own */
    const char *dso_name;
    uint32_t pid, dso;
    size_t order;
};

enum image_change_type { IMAGE_MAP, IMAGE_UNMAP, IMAGE_CODE, IMAGE_FORK, IMAGE_EXEC };

struct image_change {
    uint64_t time;
    uint64_t addr, end; /* end: one past the last byte; the topmost byte of the address space cannot be mapped */
    uint64_t offset;    /* MAP: in the file */
    size_t order;       /* in which changes of one time were told */
    const struct image_capture *capture;
    uint32_t pid, parent, dso;
    uint8_t type;
};

struct image_space { /* the changes of one process, in order of time */
    uint32_t pid;
    size_t first, end;
};

struct image_range {
    uint64_t start, end;
};

struct assay_image {
    struct image_pool pool;
    struct image_dso **dso;
    size_t dsos, dso_cap;
    uint32_t *dso_slot; /* hash of names: index + 1 */
    size_t dso_slots;
    struct image_change *change;
    size_t changes, change_cap;
    struct image_capture **capture;
    size_t captures, capture_cap;
    struct image_space *space;
    size_t spaces;
    struct image_range *covered; /* every address that any process ever has something at */
    size_t covers;
    bool sealed;
};

/* The index of the DSO of that name, made when it is new, or a negative status. */
int64_t image_dso_add(struct assay_image *im, const struct image_dso *like);
/* The code of `from` lies at `to` from `time` on, and no longer where it was. */
int image_code_move(struct assay_image *im, uint64_t time, const struct image_capture *from, uint64_t to);
const struct image_space *image_space_of(const struct assay_image *im, uint32_t pid);
/* captures.c: gives every capture its DSO and sorts captures by (dso, address). */
int image_layer_captures(struct assay_image *im);

/* ---- overlay.c: captured bytes over an address space, by page ---- */

#define IMAGE_OWNER_BELOW UINT32_MAX /* the bytes patch whatever file is mapped there, and belong to it */

struct image_extent {
    uint16_t start, end;
    uint32_t owner; /* DSO */
};
struct image_page {
    uint64_t base;
    struct image_extent *extent; /* sorted, apart */
    size_t extents, extent_cap;
    uint8_t bytes[4096];
};
struct image_overlay {
    struct image_page **page; /* sorted */
    size_t pages, cap;
};
struct image_hit {
    const uint8_t *bytes;
    size_t size;
    uint32_t owner;
};
void image_overlay_free(struct image_overlay *o);
bool image_overlay_find(const struct image_overlay *o, uint64_t addr, struct image_hit *hit);
uint64_t image_overlay_next(const struct image_overlay *o, uint64_t addr); /* first captured byte from addr on */
int image_overlay_write(struct image_overlay *o, uint64_t addr, const uint8_t *bytes, size_t size, uint32_t owner);
void image_overlay_clear(struct image_overlay *o, uint64_t start, uint64_t end);

/* ---- pieces.c: the file mappings of an address space at one time ---- */

struct image_piece {
    uint64_t start, end;
    uint64_t offset; /* of start, in the file */
    uint32_t dso;
};
struct image_pieces {
    struct image_piece *piece; /* sorted, apart */
    size_t n, cap;
};
size_t image_pieces_lower(const struct image_pieces *ps, uint64_t addr); /* the first piece that ends after addr */
const struct image_piece *image_pieces_find(const struct image_pieces *ps, uint64_t addr);
int image_pieces_clear(struct image_pieces *ps, uint64_t start, uint64_t end);
int image_pieces_put(struct image_pieces *ps, struct image_piece p); /* in place of what was there */

/* ---- view.c: an address space that moves in time; lookup.c: what it says of an address ---- */

struct assay_view {
    struct assay_image *im;
    uint32_t pid;
    size_t next, end; /* changes to come */
    struct image_pieces pieces;
    struct image_overlay overlay;
    size_t last_piece;                /* of the last answer */
    uint64_t fork_work, forward_work; /* changes looked at, see FORK_WORK and FORWARD_WORK */
    bool failed;                      /* memory was short: the space is not complete */
};
/* Bytes that a file mapping gives at ip, not looking at captured code. */
bool image_piece_code(struct assay_image *im, const struct image_piece *p, uint64_t ip, struct assay_code *out);

/* ---- symbols.c: from candidates to a table ---- */

enum image_source { /* in the order in which names are believed */
                    IMAGE_SYM_SIZED,
                    IMAGE_SYM_PLT,
                    IMAGE_SYM_LABEL, /* a name without a size: `end` is as far as it can reach */
                    IMAGE_SYM_RANGE, /* a function without a name */
};

struct image_candidate {
    uint64_t start, end;
    size_t name; /* in names; unused for ranges */
    uint8_t source;
    uint8_t bind; /* 0 global, 1 weak, 2 local */
};
struct image_candidates {
    struct image_candidate *c;
    size_t n, cap;
    char *names;
    size_t names_n, names_cap, names_limit; /* 0: none */
    size_t sorted;                          /* the first so many are sorted */
    bool failed;                            /* memory was short */
};
void image_candidate_add(struct image_candidates *cs, uint64_t start, uint64_t end, enum image_source source,
                         unsigned bind, const char *name, size_t name_size);
/* The best name of what starts there, among what there was at the first call; NULL for none. Good until a candidate is added. */
const char *image_candidate_name(struct image_candidates *cs, uint64_t start);
void image_candidates_free(struct image_candidates *cs);

struct image_symbols;
struct image_symbols *image_symbols_build(struct image_candidates *cs, const char *dso_name); /* takes the names */
void image_symbols_free(struct image_symbols *s);

/* elf_names.c, elf_plt.c, elf_frames.c: candidates from an ELF file */
void image_collect_elf(struct image_candidates *cs, const struct image_file *f);
void image_collect_plt(struct image_candidates *cs, Elf *elf);
void image_collect_frames(struct image_candidates *cs, Elf *elf);

#endif
