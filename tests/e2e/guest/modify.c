/* SPDX-License-Identifier: MIT */
/* Code made at run time: functions written into one page again and again, a function that changes its own next instruction, a
 * page whose data lies beside its code, and code that is unmapped and replaced. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int function(void);

static uint8_t *page(void *at)
{
    return mmap(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

/* mov eax, value; then `more` times: dec eax; jns over one inc; ret */
static void write_function(uint8_t *at, uint32_t value, int more)
{
    *at++ = 0xb8;
    memcpy(at, &value, 4);
    at += 4;
    for (int i = 0; i < more; i++) {
        memcpy(at, "\xff\xc8\x79\x02\xff\xc0", 6);
        at += 6;
    }
    *at = 0xc3;
}

/* The function at `at` writes the immediate of its own last instruction: mov byte [rip+1], 7 (or by address); mov al, 0; ret. */
static void write_changer(uint8_t *at)
{
    uint32_t disp = 1;
#ifdef __x86_64__
    memcpy(at, "\x31\xc0\xc6\x05", 4); /* xor eax, eax; mov byte [rip + disp32], imm8 */
#else
    memcpy(at, "\x31\xc0\xc6\x05", 4); /* xor eax, eax; mov byte [disp32], imm8 */
    disp = (uint32_t)(uintptr_t)(at + 10);
#endif
    memcpy(at + 4, &disp, 4);
    at[8] = 7;
    memcpy(at + 9, "\xb0\x00\xc3", 3);
}

/* inc dword [data]; mov eax, [data]; ret, with the data in the same page. */
static void write_counter(uint8_t *at, uint8_t *data)
{
    uint32_t address = (uint32_t)(uintptr_t)data;
#ifdef __x86_64__
    memcpy(at, "\xff\x05", 2);
    address = (uint32_t)(data - (at + 6));
    memcpy(at + 2, &address, 4);
    memcpy(at + 6, "\x8b\x05", 2);
    address = (uint32_t)(data - (at + 12));
    memcpy(at + 8, &address, 4);
#else
    memcpy(at, "\xff\x05", 2);
    memcpy(at + 2, &address, 4);
    memcpy(at + 6, "\x8b\x05", 2);
    memcpy(at + 8, &address, 4);
#endif
    at[12] = 0xc3;
}

int main(void)
{
    uint8_t *p = page(NULL);
    long sum = 0;
    for (uint32_t i = 0; i < 40; i++) {
        write_function(p, i, (int)(i % 5));
        sum += ((function *)(uintptr_t)p)();
    }
    for (int i = 0; i < 5; i++) {
        write_changer(p + 512);
        sum += ((function *)(uintptr_t)(p + 512))();
    }
    memset(p + 2048, 0, 4);
    write_counter(p + 1024, p + 2048);
    for (int i = 0; i < 10; i++)
        sum += ((function *)(uintptr_t)(p + 1024))();
    for (uint32_t i = 0; i < 5; i++) {
        munmap(p, 4096);
        p = page(p);
        write_function(p, 100 + i, 3);
        sum += ((function *)(uintptr_t)p)();
    }
    mprotect(p, 4096, PROT_READ | PROT_WRITE);
    write_function(p, 1000, 1);
    mprotect(p, 4096, PROT_READ | PROT_EXEC);
    sum += ((function *)(uintptr_t)p)();
    printf("%ld\n", sum);
    return 0;
}
