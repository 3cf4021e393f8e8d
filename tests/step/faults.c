/* SPDX-License-Identifier: MIT */
/* Faults in the middle of blocks: a handler that repairs the page and goes on, one that goes on elsewhere, a string instruction that
 * faults on its way, an instruction that does not exist, a division, a jump to where nothing is, a signal to oneself. */
#include "freestanding.h"

enum { SYS_MPROTECT = 10, SYS_SIGACTION = 13, SYS_GETPID = 39, SYS_KILL = 62, SYS_GETTID = 186, SYS_TKILL = 200 };
enum { SIG_ILL = 4, SIG_FPE = 8, SIG_USR1 = 10, SIG_SEGV = 11 };
enum { RIP = 16 }; /* index in the registers of the context */

struct action {
    void (*handler)(int, long *, long *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};
static char page[3 * 4096] __attribute__((aligned(4096)));
static volatile int repair, seen;
extern char after_bad[], after_ud2[], after_div[], after_call[];
static char *volatile go_to;

__attribute__((naked)) static void restore(void) { __asm__("mov $15, %eax\n\tsyscall"); }

/* context: uc_flags, uc_link, stack (3), then the registers. */
static void on_fault(int sig, long *info, long *context)
{
    (void)info;
    seen += sig;
    if (sig == SIG_SEGV && repair)
        sys3(SYS_MPROTECT, (long)page, sizeof page, 3);
    else if (sig != SIG_USR1)
        context[5 + RIP] = (long)go_to;
}

static void handle(int sig)
{
    struct action a = {on_fault, 0x04000004, restore, 0}; /* restorer, siginfo */
    long r = SYS_SIGACTION;
    register long size __asm__("r10") = sizeof a.mask;
    __asm__ volatile("syscall" : "+a"(r) : "D"(sig), "S"(&a), "d"(0), "r"(size) : "rcx", "r11", "memory");
}

static void repaired_stores(void)
{
    sys3(SYS_MPROTECT, (long)page, sizeof page, 0);
    repair = 1;
    for (int i = 0; i < 8; i++) {
        seen += i;
        page[i * 100] = (char)i;
        seen -= i;
    }
    sys3(SYS_MPROTECT, (long)page + 4096, 4096, 0);
    char *to = page;
    long n = sizeof page;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(1) : "memory");
    repair = 0;
}

static void skipped_faults(void)
{
    go_to = after_bad;
    __asm__ volatile("mov $1, %%eax\n inc %%eax\n mov 8, %%eax\n inc %%eax\n jmp 1f\n nop\n"
                     "after_bad: 1: nop" ::
                         : "eax", "cc");
    go_to = after_ud2;
    __asm__ volatile("mov $2, %%eax\n ud2\n inc %%eax\nafter_ud2: nop" ::: "eax", "cc");
    go_to = after_div;
    __asm__ volatile("mov $3, %%eax\n xor %%edx, %%edx\n xor %%ecx, %%ecx\n div %%ecx\nafter_div: nop" ::
                         : "eax", "ecx", "edx", "cc");
    go_to = after_call;
    __asm__ volatile("mov $0x1000, %%eax\n sub $128, %%rsp\n call *%%rax\nafter_call: add $136, %%rsp" ::: "rax", "cc");
}

void _start(void);
__attribute__((force_align_arg_pointer)) void _start(void)
{
    static const int sig[] = {SIG_ILL, SIG_FPE, SIG_USR1, SIG_SEGV};
    for (int i = 0; i < 4; i++)
        handle(sig[i]);
    for (int i = 0; i < 3; i++) {
        repaired_stores();
        skipped_faults();
        sys3(SYS_KILL, sys3(SYS_GETPID, 0, 0, 0), SIG_USR1, 0);
    }
    leave(seen & 63);
}
