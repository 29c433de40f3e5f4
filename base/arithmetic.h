/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floating-point environment of a thread that may be somebody else's: results are computed in
 * the default one of C (to nearest, subnormals kept, no traps), whatever the program has set, and
 * the program finds its own as it was, also which exceptions were raised.
 *
 * Registers are read and written only where they differ: fegetenv and fesetenv also save what
 * belongs to the x87, which takes a hundred times as long and is used by nothing here.
 */
#ifndef OC_BASE_ARITHMETIC_H
#define OC_BASE_ARITHMETIC_H

#include <stdint.h>

#if defined(__x86_64__)

#include <xmmintrin.h>

/* All exceptions are masked. Flags: the exceptions that were raised. */
#define OC_MXCSR_DEFAULT 0x1f80u
#define OC_MXCSR_FLAGS   0x003fu

typedef struct {
    uint32_t mxcsr;
} oc_arithmetic_t;

/* The barriers keep the compiler from moving computations across. */
static inline oc_arithmetic_t oc_arithmetic_begin(void)
{
    oc_arithmetic_t before = {.mxcsr = _mm_getcsr()};

    if (OC_MXCSR_DEFAULT != (before.mxcsr & ~OC_MXCSR_FLAGS)) {
        _mm_setcsr(OC_MXCSR_DEFAULT);
    }
    __asm__ volatile("" ::: "memory");
    return before;
}

static inline void oc_arithmetic_end(oc_arithmetic_t before)
{
    __asm__ volatile("" ::: "memory");
    if (_mm_getcsr() != before.mxcsr) {
        _mm_setcsr(before.mxcsr);
    }
}

#elif defined(__aarch64__)

typedef struct {
    uint64_t control, status;
} oc_arithmetic_t;

static inline oc_arithmetic_t oc_arithmetic_begin(void)
{
    oc_arithmetic_t before;

    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(before.control), "=r"(before.status)
                     :: "memory");
    if (0 != before.control) {
        __asm__ volatile("msr fpcr, xzr" ::: "memory");
    }
    return before;
}

static inline void oc_arithmetic_end(oc_arithmetic_t before)
{
    uint64_t status;

    __asm__ volatile("mrs %0, fpsr" : "=r"(status) :: "memory");
    if (status != before.status) {
        __asm__ volatile("msr fpsr, %0" :: "r"(before.status) : "memory");
    }
    if (0 != before.control) {
        __asm__ volatile("msr fpcr, %0" :: "r"(before.control) : "memory");
    }
}

#else

#include <fenv.h>

typedef fenv_t oc_arithmetic_t;

static inline oc_arithmetic_t oc_arithmetic_begin(void)
{
    oc_arithmetic_t before;

    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    __asm__ volatile("" ::: "memory");
    return before;
}

static inline void oc_arithmetic_end(oc_arithmetic_t before)
{
    __asm__ volatile("" ::: "memory");
    fesetenv(&before);
}

#endif
#endif
