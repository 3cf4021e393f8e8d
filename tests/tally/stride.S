/* SPDX-License-Identifier: MIT */
/* Walks over LINES cache lines, ROUNDS times, with a load or (-DSTORE) a store each, and nothing else but code. */
    .globl _start
    .text
_start:
    mov $ROUNDS, %ebx
round:
    lea array(%rip), %rax
    mov $LINES, %ecx
line:
#ifdef STORE
    mov %rcx, (%rax)
#else
    mov (%rax), %rdx
#endif
    add $64, %rax
    dec %ecx
    jnz line
    dec %ebx
    jnz round
    mov $60, %eax
    xor %edi, %edi
    syscall

    .bss
    .balign 4096
array:
    .fill LINES * 64
    .section .note.GNU-stack, "", @progbits
