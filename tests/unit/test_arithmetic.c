/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of reductions in a foreign floating-point environment: the bits are those of
 * the default one, traps are not sprung, and the environment is as before, exceptions included.
 */
/* Test: quick 20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "reduction/reduction.h"

#define COUNT 37

static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/* Subnormals are zero; no function of C says so. */
static void flush_subnormals(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
    uint64_t control;

    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" :: "r"(control | UINT64_C(1) << 24) : "memory");
#endif
}

static uint64_t environment(void)
{
#if defined(__x86_64__)
    return _mm_getcsr();
#elif defined(__aarch64__)
    uint64_t control, status;

    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status));
    return control ^ status << 32;
#else
    return (uint64_t) fegetround() << 32 | (uint64_t) fetestexcept(FE_ALL_EXCEPT);
#endif
}

/* Sums that are inexact, subnormal, too large and none. */
static void fill(float a[COUNT], float b[COUNT])
{
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float) (i + 1) * 0x1.000002p0f;
        b[i] = (float) (i + 1) * 0x1.8p-26f;
    }
    a[3] = FLT_MIN / 2;
    b[3] = FLT_MIN / 4;
    a[4] = FLT_MIN;
    b[4] = -FLT_MIN * 0.75f;
    a[5] = b[5] = FLT_MAX;
    a[6] = INFINITY;
    b[6] = -INFINITY;
}

static void check(int rounding, int flush, int raised, int traps)
{
    float a[COUNT], b[COUNT], expected[COUNT], got[COUNT], wide[COUNT];
    uint16_t narrow[COUNT], expected_narrow[COUNT];
    const void *src[] = {a, b};
    uint64_t before, after;
    fenv_t own;

    fegetenv(&own);
    fill(a, b);
    oc_reduce_kernel(OC_OP_SUM, OC_TYPE_FLOAT)(expected, src, 2, COUNT);
    oc_narrow_kernel(OC_TYPE_FLOAT16)(expected_narrow, a, COUNT);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(raised);
    fesetround(rounding);
    if (flush) {
        flush_subnormals();
    }
    if (traps) {
        /* not where the processor has none, as on most with aarch64 */
        (void) feenableexcept(FE_INVALID | FE_OVERFLOW | FE_INEXACT);
    }
    before = environment();
    oc_reduce(oc_reduce_kernel(OC_OP_SUM, OC_TYPE_FLOAT), got, src, 2, COUNT);
    oc_convert(oc_narrow_kernel(OC_TYPE_FLOAT16), narrow, a, COUNT);
    oc_convert(oc_widen_kernel(OC_TYPE_FLOAT16), wide, narrow, COUNT);
    after = environment();
    fesetenv(&own);
    assert_int_equal(before, after);
    for (int i = 0; i < COUNT; i++) {
        if (!isnan(expected[i])) {
            assert_memory_equal(&got[i], &expected[i], sizeof(float));
        }
    }
    assert_memory_equal(narrow, expected_narrow, sizeof(narrow));
}

static void test_environments(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(roundings) / sizeof(roundings[0]); i++) {
        for (int flush = 0; flush < 2; flush++) {
            check(roundings[i], flush, 0, 0);
            check(roundings[i], flush, FE_DIVBYZERO | FE_UNDERFLOW, 0);
            check(roundings[i], flush, FE_ALL_EXCEPT, 0);
            check(roundings[i], flush, 0, 1);
        }
    }
}

/* The test would prove nothing if these environments changed no bits. */
static void test_that_it_matters(void **state)
{
    float a[COUNT], b[COUNT], expected[COUNT], got[COUNT];
    const void *src[] = {a, b};
    fenv_t own;

    (void) state;
    fill(a, b);
    oc_reduce_kernel(OC_OP_SUM, OC_TYPE_FLOAT)(expected, src, 2, COUNT);
    fegetenv(&own);
    fesetround(FE_UPWARD);
    flush_subnormals();
    oc_reduce_kernel(OC_OP_SUM, OC_TYPE_FLOAT)(got, src, 2, COUNT);
    fesetenv(&own);
    assert_memory_not_equal(&got[3], &expected[3], sizeof(float));
    assert_memory_not_equal(got, expected, 3 * sizeof(float));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environments),
        cmocka_unit_test(test_that_it_matters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
