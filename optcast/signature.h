/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the functions of 16-bit floats tell what they are: behind the jump with which each begins is
 * its name. The component reads it there, whether the program was linked with the library or
 * contains it: the names of functions that a program does not export nobody else knows.
 */
#ifndef OPTCAST_SIGNATURE_H
#define OPTCAST_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
/* endbr64; jmp rel32: the target is in bytes 5 to 8 */
#    define OPTCAST_JUMP(target)    ".byte 0xf3, 0x0f, 0x1e, 0xfa, 0xe9\n.long " target " - . - 4\n"
#    define OPTCAST_BEFORE_TARGET   "\xf3\x0f\x1e\xfa\xe9"
#    define OPTCAST_TARGET_SIZE     4
#    define OPTCAST_FUNCTION        "@function"
#elif defined(__aarch64__)
/* bti c; nop; b: the target is in the last instruction */
#    define OPTCAST_JUMP(target)    ".inst 0xd503245f, 0xd503201f\nb " target "\n"
#    define OPTCAST_BEFORE_TARGET   "\x5f\x24\x03\xd5\x1f\x20\x03\xd5"
#    define OPTCAST_TARGET_SIZE     4
#    define OPTCAST_FUNCTION        "%function"
#else
#    error "operations of 16-bit floats have no signature for this architecture"
#endif

/* Defines the function NAME, of global scope, that does what WORK of this file does. */
#define OPTCAST_SIGN(name, work)                                                       \
    __asm__(".text\n.p2align 4\n.globl " name "\n.type " name ", " OPTCAST_FUNCTION "\n" name ":\n" \
            OPTCAST_JUMP(work) ".asciz \"" name "\"\n.p2align 2\n.size " name ", . - " name "\n")

/*
 * Whether that is the name of the function at an address. Of any function no more bytes are read
 * than are as they should be, and one.
 */
static inline bool optcast_is_signed(uintptr_t function, const char *name)
{
    static const unsigned char before[] = OPTCAST_BEFORE_TARGET;
    const volatile unsigned char *at = (const volatile unsigned char *) function;

    for (size_t i = 0; i < sizeof(before) - 1; i++) {
        if (before[i] != *at++) {
            return false;
        }
    }
    at += OPTCAST_TARGET_SIZE;
    for (size_t i = 0; i <= strlen(name); i++) {
        if ((unsigned char) name[i] != *at++) {
            return false;
        }
    }
    return true;
}

#endif
