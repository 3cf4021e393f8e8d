/* SPDX-License-Identifier: MIT */
/* A program to look up symbols in. The linker puts .known at 0x700000, so the tests know every address from this text. */
#include <stdio.h>
#include <stdlib.h>

__asm__(".section .known,\"ax\",@progbits\n"
        /* 0x700000, 0x20 bytes, under five names */
        ".globl known_sized, __known_sized, known_size_of_many\n.weak known_weak\n"
        ".type known_sized,@function\n.type __known_sized,@function\n.type known_weak,@function\n"
        ".type known_size_of_many,@function\n.type klocal,@function\n"
        "known_sized: __known_sized: known_weak: known_size_of_many: klocal:\n"
        ".cfi_startproc\n.skip 0x20,0x90\n.cfi_endproc\n"
        ".size known_sized,0x20\n.size __known_sized,0x20\n.size known_weak,0x20\n.size known_size_of_many,0x20\n"
        ".size klocal,0x20\n"
        /* 0x700020: nothing */
        ".skip 0x10,0x90\n"
        /* 0x700030: a label, up to the next function */
        ".globl bare_label\nbare_label: .skip 0x10,0x90\n"
        /* 0x700040 to 0x700080, with a function and a label inside */
        ".globl outer, inner\n.type outer,@function\n.type inner,@function\n"
        "outer: .cfi_startproc\n.skip 0x10,0x90\n"
        "inner: .skip 0x10,0x90\n.size inner,0x10\n"
        ".skip 8,0x90\ninner_label: .skip 0x18,0x90\n.cfi_endproc\n.size outer,0x40\n"
        /* 0x700080, 0x700090: names of C++ and Rust */
        ".globl _ZN5shape6circle4areaEd\n.type _ZN5shape6circle4areaEd,@function\n"
        "_ZN5shape6circle4areaEd: .cfi_startproc\n.skip 0x10,0x90\n.cfi_endproc\n.size _ZN5shape6circle4areaEd,0x10\n"
        ".globl _ZN4core3fmt5write17h0123456789abcdefE\n.type _ZN4core3fmt5write17h0123456789abcdefE,@function\n"
        "_ZN4core3fmt5write17h0123456789abcdefE: .skip 0x10,0x90\n.size _ZN4core3fmt5write17h0123456789abcdefE,0x10\n"
        /* 0x7000a0, 0x18 bytes: no name, only a frame; then nothing for 8 */
        ".cfi_startproc\n.skip 0x18,0x90\n.cfi_endproc\n.skip 8,0x90\n"
        /* 0x7000c0 to the end of the section at 0x7000d0: a function that says no size, with a local name too */
        ".globl __last_function\n.type __last_function,@function\n.type last_local,@function\n"
        "__last_function: last_local: .skip 0x10,0x90\n"
        ".text\n");

int main(int argc, char **argv)
{
    puts(argv[0]);
    return atoi(argv[argc - 1]);
}
