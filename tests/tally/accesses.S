/* SPDX-License-Identifier: MIT */
/* Loads and stores to count by hand: the comments give each instruction's, and what the test is to find stands in counts.py.
 * -DPARALLEL: a second thread has run before, whereupon QEMU does atomic instructions in another way. */
    .globl _start
    .text
_start:
#ifdef PARALLEL
    mov $56, %eax /* clone(VM | FS | FILES | SIGHAND | THREAD | SYSVSEM) */
    mov $0x50f00, %edi
    lea stack_end(%rip), %rsi
    xor %edx, %edx
    xor %r10, %r10
    xor %r8, %r8
    syscall
    test %eax, %eax
    jnz parent
    mov $60, %eax /* the thread ends */
    xor %edi, %edi
    syscall
parent:
#endif
    push %rax             /* 0 1 */
    pop %rbx              /* 1 0 */
    call here             /* 0 1 */
here:
    pop %rcx              /* 1 0 */
    call function         /* 0 1 */
    mov x(%rip), %rax     /* 1 0 */
    mov %rax, x(%rip)     /* 0 1 */
    add %rax, x(%rip)     /* 1 1 */
    lock xadd %rax, x(%rip) /* 1 1 */
    xchg %rax, x(%rip)    /* 1 1 */
    lea x(%rip), %rdx     /* 0 0 */
    cmp %rax, (%rdx)      /* 1 0 */
    movups y(%rip), %xmm0 /* 1 0: 16 bytes are one access */
    movups %xmm0, z(%rip) /* 0 1 */
    lea y(%rip), %rsi
    lea z(%rip), %rdi
    mov $5, %ecx
    rep movsb             /* 5 5: each round of its own */
    movsq                 /* 1 1 */
    mov $4, %ecx
loop:
    push x(%rip)          /* 4 4 */
    dec %ecx
    jnz loop
again:
    pop %rax              /* 4 0: a loop of one instruction that goes upwards */
    inc %ecx
    cmp $4, %ecx
    jne again
    call *pointer(%rip)   /* 1 1 */
    jmp *target(%rip)     /* 1 0 */
end:
    mov $60, %eax
    xor %edi, %edi
    syscall
function:
    ret                   /* 2 0 */

    .data
    .balign 64
x:
    .quad 0
pointer:
    .quad function
target:
    .quad end
y:
    .fill 64, 1, 7
z:
    .fill 64
    .bss
    .balign 64
    .fill 4096
stack_end:
    .section .note.GNU-stack, "", @progbits
