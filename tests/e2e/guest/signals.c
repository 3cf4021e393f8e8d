/* SPDX-License-Identifier: MIT */
/* Signals in every way that leaves a block: faults in its middle that a handler leaves by siglongjmp or repairs, a timer on an
 * alternate stack, signals that come together, a handler that is interrupted, a division by zero. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf back;
static char *repaired;
static volatile int ticks, nested, faults;

static void leap(int sig)
{
    faults++;
    siglongjmp(back, sig);
}

static void repair(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    faults++;
    mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
}

static void tick(int sig)
{
    (void)sig;
    ticks++;
}

static void inner(int sig)
{
    (void)sig;
    nested++;
}

static void outer(int sig)
{
    (void)sig;
    nested++;
    raise(SIGUSR2);
    nested++;
}

static void handle(int sig, void (*f)(int), int flags)
{
    struct sigaction a = {.sa_handler = f, .sa_flags = flags};
    sigaction(sig, &a, NULL);
}

static int leap_out_of_a_fault(int i)
{
    volatile int before = i, after = 0;
    volatile int *bad = (volatile int *)(uintptr_t)(8 * i);
    if (sigsetjmp(back, 1) == 0) {
        before += 1;
        after = *bad; /* in the middle of a block */
        after += before;
    }
    return before + after;
}

static int divide(volatile int a, volatile int b)
{
    if (sigsetjmp(back, 1))
        return -1;
    return a / b;
}

static void repair_pages(void)
{
    struct sigaction a = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &a, NULL);
    repaired = mmap(NULL, 16 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 8; i++)
        repaired[i * 4096] = (char)i; /* faults, then goes on with the same store */
    memset(repaired + 8 * 4096, 1, 8 * 4096); /* a string instruction may fault on each page */
    __asm__ volatile("cld; rep stosb" : : "D"(repaired), "c"(16 * 4096), "a"(2) : "memory");
}

static void wait_for_ticks(void)
{
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    sigaltstack(&alternate, NULL);
    handle(SIGALRM, tick, SA_ONSTACK | SA_RESTART);
    setitimer(ITIMER_REAL, &every, NULL);
    volatile unsigned sum = 0;
    while (ticks < 20) /* small blocks that jump to themselves */
        for (int i = 0; i < 1000; i++)
            sum += (unsigned)i;
    setitimer(ITIMER_REAL, &never, NULL);
}

static void come_together(void)
{
    sigset_t both, old;
    handle(SIGUSR1, outer, 0);
    handle(SIGUSR2, inner, 0);
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    sigprocmask(SIG_BLOCK, &both, &old);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    sigprocmask(SIG_SETMASK, &old, NULL); /* both are delivered here */
    kill(getpid(), SIGUSR1);
}

int main(void)
{
    int sum = 0;
    handle(SIGSEGV, leap, 0);
    handle(SIGFPE, leap, 0);
    handle(SIGILL, leap, 0);
    handle(SIGTRAP, inner, 0);
    for (int i = 1; i < 50; i++)
        sum += leap_out_of_a_fault(i);
    sum += divide(7, 0);
    if (sigsetjmp(back, 1) == 0)
        __asm__ volatile("ud2");
    __asm__ volatile("int3");
    if (sigsetjmp(back, 1) == 0)
        ((void (*)(void))(uintptr_t)0x1000)(); /* no code there */
    repair_pages();
    wait_for_ticks();
    come_together();
    printf("%d faults, ticks %s, %d nested, sum %d\n", faults, ticks >= 20 ? "yes" : "no", nested, sum);
    return 0;
}
