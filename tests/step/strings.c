/* SPDX-License-Identifier: MIT */
/* String instructions with REP of count 0, 1 and many, LOOP, JRCXZ, and a jump to the next instruction. */
#include "freestanding.h"

static char from[4096], to[4096];

static void move(const char *s, char *d, unsigned long n)
{
    __asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
}

static unsigned long scan(const char *s, char c, unsigned long n)
{
    __asm__ volatile("repne scasb" : "+D"(s), "+c"(n) : "a"(c) : "memory", "cc");
    return n;
}

static unsigned long count(unsigned long n)
{
    unsigned long r = 0;
    __asm__ volatile("jrcxz 2f\n1: inc %0\n loop 1b\n2:" : "+r"(r), "+c"(n) : : "cc");
    return r;
}

static unsigned odd_jumps(unsigned x)
{
    __asm__ volatile("test $1, %0\n jz 1f\n1: jmp 2f\n2: test $2, %0\n jnz 3f\n3: nop" : : "r"(x) : "cc");
    return x;
}

void _start(void);
__attribute__((force_align_arg_pointer)) void _start(void)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < sizeof from; i++)
        from[i] = (char)(i * 7);
    for (unsigned long n = 0; n < 40; n += 1 + n / 4) {
        move(from, to, n);
        move(from + n, to + n, n * 50);
        sum += scan(to, (char)(n * 7), sizeof to) + count(n) + odd_jumps((unsigned)n);
    }
    leave((int)(sum & 1));
}
