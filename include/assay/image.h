/* SPDX-License-Identifier: MIT */
/* What was in memory when: code bytes of processes over time, their symbols, and what x86 instructions do to control flow. */
#ifndef ASSAY_IMAGE_H
#define ASSAY_IMAGE_H

#include <assay/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- x86 classification: the one place that knows the instruction set (Zydis behind it) ---- */

enum assay_insn_kind {
    ASSAY_INSN_OTHER,   /* goes on to the next instruction */
    ASSAY_INSN_COND,    /* Jcc, LOOPcc, JRCXZ: one TNT bit */
    ASSAY_INSN_JMP,     /* direct */
    ASSAY_INSN_CALL,    /* direct */
    ASSAY_INSN_JMP_IND, /* also JMPABS, which is traced with a TIP */
    ASSAY_INSN_CALL_IND,
    ASSAY_INSN_RET, /* near */
    ASSAY_INSN_FAR, /* every far transfer: SYSCALL, SYSRET, SYSENTER, SYSEXIT, INT n, INT3, INTO, IRET, far CALL/JMP/RET,
                            VMLAUNCH, VMRESUME, UIRET, ... ; see `far` */
};

enum assay_insn_far {
    ASSAY_FAR_NONE,
    ASSAY_FAR_SYSCALL, /* SYSCALL, SYSENTER, INT n */
    ASSAY_FAR_RETURN,  /* SYSRET, SYSEXIT, IRET, UIRET */
    ASSAY_FAR_VMENTRY, /* VMLAUNCH, VMRESUME */
    ASSAY_FAR_OTHER,
};

enum assay_insn_flag { /* of instructions that trace packets bind to or that models care about */
                       ASSAY_INSN_REP_STRING =
                           1 << 0, /* REP-prefixed string instruction: iterates in place, retires once */
                       ASSAY_INSN_PTWRITE = 1 << 1,
                       ASSAY_INSN_MOV_CR3 = 1 << 2,
                       ASSAY_INSN_VMPTRLD = 1 << 3,
                       ASSAY_INSN_CALL_NEXT = 1 << 4, /* CALL with displacement 0: not pushed on the return stack */
                       ASSAY_INSN_LOAD = 1 << 5,      /* reads data memory; from assay_x86_memory() alone */
                       ASSAY_INSN_STORE = 1 << 6,
                       ASSAY_INSN_JMPABS = 1 << 7,
};

struct assay_insn {
    uint8_t size; /* bytes */
    uint8_t kind; /* enum assay_insn_kind */
    uint8_t far;  /* enum assay_insn_far, for ASSAY_INSN_FAR */
    uint8_t flags;
    uint64_t target; /* of COND, JMP, CALL (and JMPABS): absolute */
};

/* Classifies the instruction at code[0..size) that stands at address ip; mode is 16, 32 or 64.
 * Its size (> 0), or ASSAY_E_TRUNCATED, or ASSAY_E_BAD_FORMAT (no instruction). Thread safe. */
int assay_x86_classify(const uint8_t *code, size_t size, unsigned mode, uint64_t ip, struct assay_insn *out);
/* ASSAY_INSN_LOAD and ASSAY_INSN_STORE of an instruction (the stack counts as memory), or an error as above. It needs the operands,
 * which costs several times what classifying does. Thread safe. */
int assay_x86_memory(const uint8_t *code, size_t size, unsigned mode);

/* ---- images ---- */

/* All code of one recording: binaries, their mappings into processes over time, captured code without a file.
 * Filled once in any order (changes of one time apply in the order in which they were told), then sealed, read-only and shared by
 * threads. Times are in the recording's ns clock; 0 = from the beginning. After the seal the functions that fill give
 * ASSAY_E_ARGUMENT. */
struct assay_image;
struct assay_view;

int assay_image_new(struct assay_image **out, struct assay_error *e);
void assay_image_free(struct assay_image *im);

/* Maps file bytes [pgoff, pgoff+size) of `path` at addr in process pid from `time` on; replaces what was there.
 * Reading of the file is put off until code or a symbol of it is asked for; a file that is missing, or whose build id differs
 * from the given one, gives "no code" and is told by assay_image_problem(). build_id may be NULL. A host path is looked up
 * as given, then in ~/.debug/.build-id, then /usr/lib/debug/.build-id. */
int assay_image_map(struct assay_image *im, uint32_t pid, uint64_t time, uint64_t addr, uint64_t size, uint64_t pgoff,
                    const char *path, const uint8_t *build_id, unsigned build_id_size);
int assay_image_unmap(struct assay_image *im, uint32_t pid, uint64_t time, uint64_t addr, uint64_t size);
/* Code that is in no file (JIT, vdso, patched text). The bytes are copied. Lies over file mappings. `name` is that of a function; one
 * in brackets ("[vdso]") is the DSO that the code belongs to, else that is "[jit]". Code without a name (NULL) patches what lies
 * there and belongs to it; where nothing does, it is named by its place. */
int assay_image_code(struct assay_image *im, uint32_t pid, uint64_t time, uint64_t addr, const uint8_t *bytes,
                     size_t size, const char *name);
/* The child gets a copy of the parent's address space as of `time`. A fork into oneself (a thread) changes nothing. */
int assay_image_fork(struct assay_image *im, uint64_t time, uint32_t parent, uint32_t child);
/* The address space is emptied (mappings that the new program makes follow as maps). */
int assay_image_exec(struct assay_image *im, uint64_t time, uint32_t pid);
/* Sorts the history. After it the image is read-only. */
int assay_image_seal(struct assay_image *im);
/* The n-th problem met with a binary whose code was asked for ("/usr/bin/x: build id differs from the recorded one"), NULL past the
 * last; one for a binary. */
const char *assay_image_problem(struct assay_image *im, size_t n);

/* The address space of one process as one reader moves through time. One thread; many views of one image may exist.
 * `pid` must be one that the image knows, or any for an empty space. The image must be sealed. */
int assay_view_new(struct assay_image *im, uint32_t pid, struct assay_view **out);
void assay_view_free(struct assay_view *v);
/* Goes to `time` (never back). Returns how many changes replaced or removed code that could have been read before: > 0 says
 * that caches of code in [*low, *high) must be dropped; additions to free space count 0. */
unsigned assay_view_advance(struct assay_view *v, uint64_t time, uint64_t *low, uint64_t *high);

/* Where code bytes come from: stable ids for as long as the image lives; the bytes until the view moves on. */
struct assay_code {
    const uint8_t *bytes; /* from the asked address on */
    size_t size;          /* contiguous bytes available, > 0 */
    uint32_t dso;         /* index for assay_dso_name() and assay_image_symbol() */
    uint64_t dso_addr;    /* in the DSO's own terms (ELF virtual address; for captured code the run-time address) */
    uint8_t mode;         /* 64 or 32 by the ELF class; 0 when not known */
};
/* ASSAY_OK, or ASSAY_E_NO_CODE. When nothing is mapped at the present time but the first mapping there comes later, that one
 * is given (clocks of threads differ by little). An instruction may straddle two pieces: see assay_view_read. */
int assay_view_code(struct assay_view *v, uint64_t ip, struct assay_code *out);
/* Copies up to n (<= 16) code bytes from ip on, across pieces; the number copied. */
size_t assay_view_read(struct assay_view *v, uint64_t ip, uint8_t *buf, size_t n);

struct assay_symbol {
    const char
        *name; /* demangled; "[stripped+0x1234]"-like names for ranges known only from .eh_frame; owned by the image */
    uint64_t start; /* in the DSO's own terms */
    uint64_t size;
    uint32_t id; /* stable and dense within the DSO, for counting by symbol */
};
/* The function that holds dso_addr. ASSAY_OK, or ASSAY_E_NOT_FOUND (name NULL). Symbols are read on first use, once, into
 * sorted arrays: .symtab, else that of a debug file (by build id or .gnu_debuglink), else .dynsym; .eh_frame ranges fill what
 * names do not cover; PLT stubs are "name@plt". Thread safe: where two threads read the same table first, one result is kept. */
int assay_image_symbol(struct assay_image *im, uint32_t dso, uint64_t dso_addr, struct assay_symbol *out);
/* Reads now the symbols of every binary that code was asked of. Not needed; it puts the time where the caller wants it. */
int assay_image_load_symbols(struct assay_image *im);
/* Path, "[jit]", "[vdso]" ...; NULL past the last. "[jit]" may come several times: once a process, and again for functions that
 * took the place of others. */
const char *assay_dso_name(const struct assay_image *im, uint32_t dso);
size_t assay_dso_count(const struct assay_image *im);
uint32_t assay_dso_symbols(struct assay_image *im, uint32_t dso); /* number of symbol ids */

/* ---- jitdump (tools/perf/Documentation/jitdump-specification.txt) ---- */
/* Adds every JIT_CODE_LOAD (MOVE, CLOSE understood) of a jitdump image in memory, either byte order. Timestamps are taken as the
 * recording's ns clock; in a file with raw counter values all code is there from the beginning. A damaged record is passed over;
 * the first error is returned, what was sound is kept. */
int assay_image_jitdump(struct assay_image *im, const uint8_t *data, size_t size, struct assay_error *e);

#ifdef __cplusplus
}
#endif
#endif
