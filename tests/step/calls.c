/* SPDX-License-Identifier: MIT */
/* Calls of every kind: deep recursion (past the 64 entries of a return stack), indirect calls, a switch table, longjmp-like. */
#include "freestanding.h"

static volatile unsigned sink;

__attribute__((noinline)) static unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__attribute__((noinline)) static unsigned deep(unsigned n) { return n == 0 ? sink : deep(n - 1) + 1; }

typedef unsigned op(unsigned);
__attribute__((noinline)) static unsigned twice(unsigned x) { return x * 2; }
__attribute__((noinline)) static unsigned next(unsigned x) { return x + 1; }
__attribute__((noinline)) static unsigned half(unsigned x) { return x / 2; }
static op *volatile const ops[] = {twice, next, half};

__attribute__((noinline)) static unsigned choose(unsigned x)
{
    switch (x % 7) {
    case 0:
        return x + 3;
    case 1:
        return x * 5;
    case 2:
        return x ^ 0x55;
    case 3:
        return x >> 1;
    case 4:
        return ~x;
    case 5:
        return x - 9;
    default:
        return x | 1;
    }
}

static void *escape[5];
__attribute__((noinline)) static void jump_out(unsigned n)
{
    if (n == 0)
        __builtin_longjmp(escape, 1);
    jump_out(n - 1);
    sink++;
}

void _start(void);
__attribute__((force_align_arg_pointer)) void _start(void)
{
    unsigned x = ackermann(2, 9) + deep(300);
    for (unsigned i = 0; i < 500; i++)
        x = choose(ops[x % 3](x));
    if (__builtin_setjmp(escape) == 0)
        jump_out(40);
    sys3(39, 0, 0, 0); /* getpid: a system call in the middle */
    sink = x;
    leave((int)(x & 1));
}
