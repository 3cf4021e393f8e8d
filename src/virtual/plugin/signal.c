/* SPDX-License-Identifier: MIT */
/* Signals: where exactly the program was interrupted. QEMU does not say, but the frame that it pushes for the handler does;
 * and for a signal that kills, QEMU's own registers at the moment it kills itself. */
#include "plugin.h"
#include "qemu_api.h"

#include <assay/cursor.h>

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HANDLERS = 256, SIGNALS = 65 };
static uint64_t handler[HANDLERS];
static unsigned handlers;
static bool with_info[SIGNALS]; /* the frame holds a siginfo */

bool signal_is_handler(uint64_t ip)
{
    for (unsigned i = 0; i < handlers; i++)
        if (handler[i] == ip)
            return true;
    return false;
}

/* t's system call was rt_sigaction or (32 bit) sigaction, and it was done. */
void signal_action(const struct thread *t, bool rt)
{
    enum { SA_INFO = 4 };
    unsigned word = process.guest->mode / 8;
    uint8_t act[32] = {0};
    if (t->arg[1] == 0 || t->arg[0] >= SIGNALS || !guest_read(t->arg[1], act, 3u * word))
        return;
    uint64_t ip = assay_load_le(act, word), flags = assay_load_le(act + (rt ? 1 : 2) * word, word);
    pthread_mutex_lock(&process.lock);
    with_info[t->arg[0]] = flags & SA_INFO;
    if (ip > 1 && !signal_is_handler(ip) && handlers < HANDLERS) {
        handler[handlers++] = ip;
        translate_mark_handler(ip);
    }
    pthread_mutex_unlock(&process.lock);
}

struct frame {
    struct regs saved;
    unsigned sig;
    int code; /* si_code, 0 when there is none */
};

/* struct rt_sigframe, 64 bit: return address, ucontext, siginfo. ucontext: flags, link, stack (24 bytes), then r8..r15, rdi, rsi,
 * rbp, rbx, rdx, rax, rcx, rsp, rip. The handler gets RDI signal, RSI siginfo, RDX ucontext. */
static bool frame64(const struct regs *r, struct frame *f)
{
    enum {
        UC = 8,
        DI = UC + 104,
        SI = UC + 112,
        DX = UC + 136,
        AX = UC + 144,
        CX = UC + 152,
        SP = UC + 160,
        IP = UC + 168
    };
    uint8_t raw[UC + 176], info[12];
    if (r->dx != r->sp + UC || r->di == 0 || r->di >= SIGNALS || !guest_read(r->sp, raw, sizeof raw))
        return false;
    f->sig = (unsigned)r->di;
    f->code = with_info[f->sig] && guest_read(r->si, info, sizeof info) ? (int)assay_load_le(info + 8, 4) : 0;
    f->saved = (struct regs){.ip = assay_load_le(raw + IP, 8),
                             .sp = assay_load_le(raw + SP, 8),
                             .ax = assay_load_le(raw + AX, 8),
                             .cx = assay_load_le(raw + CX, 8),
                             .dx = assay_load_le(raw + DX, 8),
                             .si = assay_load_le(raw + SI, 8),
                             .di = assay_load_le(raw + DI, 8)};
    return true;
}

/* The sigcontext of 32 bit: gs, fs, es, ds, edi, esi, ebp, esp, ebx, edx, ecx, eax, trapno, err, eip, cs, eflags, esp, ss. */
static bool context32(uint64_t at, struct regs *r)
{
    enum { DI = 16, SI = 20, SP = 28, DX = 36, CX = 40, AX = 44, IP = 56, CS = 60, SP_AGAIN = 68, SS = 72, SIZE = 76 };
    uint8_t raw[SIZE];
    if (!guest_read(at, raw, sizeof raw))
        return false;
    *r = (struct regs){.ip = assay_load_le(raw + IP, 4),
                       .sp = assay_load_le(raw + SP, 4),
                       .ax = assay_load_le(raw + AX, 4),
                       .cx = assay_load_le(raw + CX, 4),
                       .dx = assay_load_le(raw + DX, 4),
                       .si = assay_load_le(raw + SI, 4),
                       .di = assay_load_le(raw + DI, 4)};
    return assay_load_le(raw + SP_AGAIN, 4) == r->sp && assay_load_le(raw + SS, 2) == assay_load_le(raw + CS, 2) + 8;
}

/* 32 bit, with siginfo: return address, signal, pointers to siginfo and ucontext, which EDX and ECX hold too; the sigcontext is
 * at ucontext + 20. Without: return address, signal, sigcontext. */
static bool frame32(const struct regs *r, struct frame *f)
{
    uint8_t head[16], info[12];
    if (!guest_read(r->sp, head, sizeof head))
        return false;
    uint64_t sig = assay_load_le(head + 4, 4), info_at = assay_load_le(head + 8, 4), uc = assay_load_le(head + 12, 4);
    bool rt = r->ax == sig && r->dx == info_at && r->cx == uc;
    if (sig == 0 || sig >= SIGNALS || !context32(rt ? uc + 20 : r->sp + 8, &f->saved))
        return false;
    f->sig = (unsigned)sig;
    f->code = rt && guest_read(info_at, info, sizeof info) ? (int)assay_load_le(info + 8, 4) : 0;
    return true;
}

static bool read_frame(const struct regs *r, struct frame *f)
{
    return process.guest->mode == 64 ? frame64(r, f) : frame32(r, f);
}

static bool is_fault(unsigned sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP;
}

/* Raised by the instruction itself, as far as the frame tells: a siginfo says who sent it (0 and below: somebody). */
static bool is_own_fault(const struct frame *f) { return is_fault(f->sig) && (!with_info[f->sig] || f->code > 0); }

/* Follows frames from a handler that is about to start down to the code that was interrupted: signals that come together are
 * stacked before the first of them runs. */
static bool find_interrupted(const struct thread *t, struct regs *r, bool *fault)
{
    bool found = false;
    struct frame f;
    for (int depth = 0; depth < SIGNALS && signal_is_handler(r->ip) && read_frame(r, &f); depth++) {
        if (found && t->prev->start == r->ip) /* this one has run */
            break;
        *r = f.saved;
        *fault = is_own_fault(&f);
        found = true;
    }
    return found;
}

/* t was interrupted with `ip` as the next instruction; a fault at ip means that the block before may have got no further. */
static void interrupt_at(struct thread *t, uint64_t ip, bool fault)
{
    if (!(fault && exec_retire_part(t, ip)))
        exec_retire(t, ip);
    if (t->s.unit.enabled)
        assay_pt_unit_async_leave(&t->s.unit, ip);
}

void signal_arrive(struct thread *t, const struct block *b)
{
    struct regs r;
    bool fault = false;
    if (t->prev->kind == BLOCK_OUTSIDE || !regs_read(t, &r))
        return;
    r.ip = b->start;
    if (find_interrupted(t, &r, &fault))
        interrupt_at(t, r.ip, fault);
}

/* QEMU kills itself with the signal that the guest dies of. By then the guest's registers are those of the fault. */
static void finish_dying(struct thread *t, int sig)
{
    struct regs r;
    bool fault = is_fault((unsigned)sig);
    if (t->prev->kind != BLOCK_OUTSIDE && regs_read(t, &r)) {
        find_interrupted(t, &r, &fault);
        interrupt_at(t, r.ip, fault);
    }
    for (unsigned vcpu = 0; vcpu < THREADS; vcpu++)
        if (thread_of[vcpu] == t) {
            thread_end(t, vcpu);
            break;
        }
}

/* Preloaded, this stands before the C library's. The guest's own kill() does not come here: QEMU makes that call itself. */
QEMU_EXPORT int kill(pid_t pid, int sig)
{
    if (thread_here && pid == getpid() && sig != 0 && sig != SIGSTOP && sig != SIGCONT)
        finish_dying(thread_here, sig);
    long r = syscall(SYS_kill, pid, sig);
    return (int)r;
}
