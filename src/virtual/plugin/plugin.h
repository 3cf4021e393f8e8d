/* SPDX-License-Identifier: MIT */
/* The QEMU user-mode plugin that drives the virtual trace unit: what its files share.
 *
 * QEMU calls at the start of each translated block. What the block before did is known only then: where this one starts
 * says which way the branch went. So each call retires the block before and remembers this one. */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include "../spool.h"

#include <pthread.h>
#include <sys/types.h>

/* What ends a block, by what retiring it does. */
enum block_kind {
    BLOCK_COND, /* goes on at `target` or at `other` */
    BLOCK_NEXT, /* goes on at `target`, which is `other` too: a direct jump, or no branch at all */
    BLOCK_CALL, /* direct */
    BLOCK_RET,
    BLOCK_JMP_IND,
    BLOCK_CALL_IND,
    BLOCK_REP, /* a repeated string instruction: comes back to itself until it retires */
    BLOCK_FAR,
    BLOCK_OUTSIDE, /* no block: the thread is not in user code */
    BLOCK_UNBORN,  /* no block: the thread has no stream yet */
};

enum block_flag {
    BLOCK_HANDLER = 1 << 0, /* a signal handler starts here */
    BLOCK_SHORT = 1 << 1, /* one instruction that nothing ended: QEMU repeats an instruction that it had to break off */
    BLOCK_REPLACED = 1 << 2, /* the code here was something else before */
};

/* One translated block. Never freed: threads remember the block they are in. */
struct block {
    uint64_t start;
    uint64_t born; /* no thread runs it at an earlier cycle; UINT64_MAX: look closer each time */
    uint64_t target, other;
    uint64_t next; /* after its last instruction */
    uint32_t insns, bytes;
    uint8_t kind;      /* enum block_kind */
    uint8_t insn_kind; /* of the last instruction, enum assay_insn_kind */
    uint8_t flags;     /* enum block_flag */
    uint8_t last_size;
    uint8_t
        quantity; /* enum assay_machine_quantity of what ends it; of COND the one for not taken, the other follows it */
    uint64_t since;         /* the true `born` */
    uint64_t factor, chain; /* digest after the block = before * factor + chain */
    uint64_t hash;          /* of the code bytes */
    struct block *more;     /* in the table of blocks */
    uint8_t size[];         /* of each instruction */
};

struct regs {
    uint64_t ip, sp, ax, cx, dx, si, di;
};

/* A guest thread's life. It lies in the stream's mapped file, its head for the recorder, the rest for us. */
struct thread {
    struct assay_spool_stream s;
    const struct block *prev; /* runs now: retires when the next one starts */
    const void *env;          /* QEMU's registers of this thread, NULL when not found */
    struct assay_machine_core *core;
    uint8_t *window; /* the mapped part of the stream, or scratch memory */
    size_t window_size;
    bool jumped; /* the clock was moved: say the time when the trace goes on */
    int64_t call;
    uint64_t arg[6]; /* of the system call that it is in */
    struct assay_spool_block *log;
    uint32_t logged;
    const void *access;  /* counting: the instruction of the last access in this block, NULL for none, */
    uint64_t access_end; /* where that ended */
    bool access_store;
};
_Static_assert(sizeof(struct thread) <= ASSAY_SPOOL_DATA, "the thread must fit before the trace");

/* System call numbers by guest; -1 where there is none. */
struct guest {
    const char *name; /* QEMU's target */
    unsigned mode;
    int exit, exit_group, execve, execveat, rt_sigaction, sigaction, mmap, mmap2, munmap, mremap, prctl;
};

struct process {
    char spool[4096];
    struct assay_spool_setup *setup;
    const struct guest *guest;
    uint64_t guest_base;
    uint32_t pid;
    pthread_mutex_t lock; /* the tables of code.c, translate.c, signal.c */
    uint32_t parent;      /* pid of the process that forked this one, 0 for the first */
};
extern struct process process;

enum { THREADS = 1 << 16 };
extern struct thread *thread_of[THREADS]; /* by vcpu; `unborn` where none runs */
extern struct thread unborn;
extern const struct block outside;
extern __thread struct thread *thread_here;

/* thread.c */
struct thread *thread_start(const void *env, uint64_t ip);
void thread_end(struct thread *t, unsigned vcpu);
uint64_t clock_furthest(void);
void clock_publish(const struct thread *t);
void thread_log(struct thread *t, uint64_t ip, uint32_t insns);
int threads_init(void);

/* exec.c */
typedef void exec_fn(unsigned vcpu, void *block);
exec_fn *exec_callback(void);
/* Retires the block that t is in, after which `next` is to run. */
void exec_retire(struct thread *t, uint64_t next);
/* Retires its instructions before `ip` only; false when no instruction of it starts there. */
bool exec_retire_part(struct thread *t, uint64_t ip);

/* access.c */
typedef void access_fn(unsigned vcpu, uint32_t info, uint64_t vaddr, void *insn);
/* NULL: data accesses make no difference to this run. The last argument tells instructions of a block apart. */
access_fn *access_callback(void);

/* signal.c */
void signal_action(const struct thread *t, bool rt);
bool signal_is_handler(uint64_t ip);
/* b starts a handler: if a signal brought t there, shows where it was interrupted, and t is outside. */
void signal_arrive(struct thread *t, const struct block *b);

/* translate.c */
void translate_block(uint64_t id, void *tb);
void translate_mark_handler(uint64_t ip);

/* code.c */
struct code_age {
    uint64_t since;
    bool replaced;
};
/* Makes sure that the recorder knows the bytes of [ip, ip + size) as of now. */
struct code_age code_note(uint64_t ip, const uint8_t *bytes, size_t size);
void code_dropped(uint64_t addr, uint64_t size);

/* event.c */
void event_put(uint32_t type, uint32_t tid, uint64_t cycles, const void *head, size_t head_size, const void *tail,
               size_t tail_size);
void event_failed(int sys);
int spool_open(const char *name, unsigned number, int flags);

/* syscall.c */
extern const struct guest guests[];
void syscall_enter(uint64_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                   uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void syscall_leave(uint64_t id, unsigned vcpu, int64_t num, int64_t ret);

/* memory.c */
bool guest_read(uint64_t addr, void *to, size_t size);
bool host_read(const void *from, void *to, size_t size);
bool regs_read(const struct thread *t, struct regs *r);

#endif
