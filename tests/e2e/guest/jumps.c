/* SPDX-License-Identifier: MIT */
/* longjmp out of depth, recursion deeper than the return stack, tail calls, computed goto, function pointers, string
 * instructions of every length. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf back;

static int __attribute__((noinline)) deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1) * 1; }

static void __attribute__((noinline)) dive(int n)
{
    if (n == 0)
        longjmp(back, 1);
    dive(n - 1);
    __asm__ volatile(""); /* no tail call */
}

static int twice(int x) { return 2 * x; }
static int less(int x) { return x - 1; }

static int threaded(const unsigned char *code)
{
    static const void *const op[] = {&&add, &&sub, &&end};
    int x = 0;
    goto *op[*code++];
add:
    x += 3;
    goto *op[*code++];
sub:
    x -= 1;
    goto *op[*code++];
end:
    return x;
}

static void strings(char *to, const char *from, unsigned long n)
{
    unsigned long count = n;
    void *d = to;
    const void *s = from;
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(count) : : "memory");
    count = n + 1;
    d = to;
    __asm__ volatile("repne scasb" : "+D"(d), "+c"(count) : "a"(0) : "memory", "cc");
}

int main(void)
{
    int (*const f[])(int) = {twice, less, deep};
    volatile int sum = 0;
    char buf[300], text[300];
    for (volatile int i = 0; i < 20; i++)
        if (setjmp(back) == 0)
            dive(i * 10);
    for (int i = 0; i < 200; i++)
        sum += f[i % 3](i);
    memset(text, 'x', sizeof text);
    text[280] = '\0';
    for (unsigned long n = 0; n < 290; n += 7)
        strings(buf, text, n);
    sum += threaded((const unsigned char[]){0, 0, 1, 0, 1, 1, 0, 2});
    printf("%d\n", sum);
    return 0;
}
