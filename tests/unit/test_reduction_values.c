/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of single results: those that the contract names, and the rounding of 16 bits. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "reduction/reduction.h"
#include "tests/unit/reduction_reference.h"

/* ---- Written out by hand. ---- */

/* Reduces two values of 4 bytes or fewer, or a copy of one; for results written out by hand. */
static uint32_t reduce2(unsigned op, unsigned type, uint32_t a, const uint32_t *b)
{
    unsigned char x[MAX_ELEM], y[MAX_ELEM] = { 0 }, out[MAX_ELEM];
    const void *src[2] = { x, y };

    store_int(type, x, a);
    if (b)
        store_int(type, y, *b);
    oc_reduce_kernel(op, type)(out, src, b ? 2 : 1, 1);
    return (uint32_t)load_int(type, out);
}

static void test_integers_by_hand(void **state)
{
    static const uint32_t one = 1, two = 2, ffff = 0xffff, top16 = 0x8000, top32 = 1u << 31;

    (void)state;
    assert_int_equal((int32_t)reduce2(OC_OP_SUM, OC_TYPE_INT8, 127, &one), -128);
    assert_int_equal((int32_t)reduce2(OC_OP_SUM, OC_TYPE_INT32, INT_MAX, &one), INT_MIN);
    assert_int_equal(reduce2(OC_OP_PROD, OC_TYPE_UINT16, 0xffff, &ffff), 1);
    assert_int_equal(reduce2(OC_OP_PROD, OC_TYPE_INT16, 0x8000, &top16), 0);
    assert_int_equal(reduce2(OC_OP_PROD, OC_TYPE_INT32, 1u << 31, &top32), 0);
    assert_int_equal((int32_t)reduce2(OC_OP_MIN, OC_TYPE_INT16, 0xffff, &one), -1);
    assert_int_equal(reduce2(OC_OP_MIN, OC_TYPE_UINT16, 0xffff, &one), 1);
    assert_int_equal(reduce2(OC_OP_LAND, OC_TYPE_UINT8, 4, &two), 1);
    assert_int_equal(reduce2(OC_OP_LXOR, OC_TYPE_UINT8, 4, &two), 0);
    assert_int_equal(reduce2(OC_OP_LOR, OC_TYPE_UINT8, 4, NULL), 4);
}

static void assert_float_pair(unsigned op, float a, float b, float want)
{
    const void *src[2] = { &a, &b };
    float got;

    oc_reduce_kernel(op, OC_TYPE_FLOAT)(&got, src, 2, 1);
    if (isnan(want))
        assert_true(isnan(got));
    else
        assert_memory_equal(&got, &want, sizeof(got));
}

/* A comparison with NaN is false, and so is one of -0 with +0: the right operand is taken. */
static void test_floats_by_hand(void **state)
{
    (void)state;
    assert_float_pair(OC_OP_MIN, NAN, 1.0f, 1.0f);
    assert_float_pair(OC_OP_MIN, 1.0f, NAN, NAN);
    assert_float_pair(OC_OP_MAX, NAN, 1.0f, 1.0f);
    assert_float_pair(OC_OP_MAX, 1.0f, NAN, NAN);
    assert_float_pair(OC_OP_MIN, -0.0f, 0.0f, 0.0f);
    assert_float_pair(OC_OP_MIN, 0.0f, -0.0f, -0.0f);
    assert_float_pair(OC_OP_MAX, 0.0f, -0.0f, -0.0f);
    assert_float_pair(OC_OP_SUM, FLT_TRUE_MIN, FLT_TRUE_MIN, 2 * FLT_TRUE_MIN);
    assert_float_pair(OC_OP_SUM, INFINITY, -INFINITY, NAN);
}

/* (2^24 + 1) + 1 loses both ones; 2^24 + (1 + 1) would not. */
static void test_left_fold(void **state)
{
    const float big = 16777216.0f, one = 1.0f;
    const void *src[3] = { &big, &one, &one };
    float got;

    (void)state;
    oc_reduce_kernel(OC_OP_SUM, OC_TYPE_FLOAT)(&got, src, 3, 1);
    assert_memory_equal(&got, &big, sizeof(got));
}

/* Two NaNs are an infinity in Annex G of C. */
static void test_complex_by_hand(void **state)
{
    static const struct {
        float a[2], b[2], want[2];
    } cases[] = {
        { { 1, 2 }, { 3, 5 }, { -7, 11 } },
        { { 0, 1 }, { 0, 1 }, { -1, 0 } },
        { { INFINITY, INFINITY }, { 1, 1 }, { NAN, INFINITY } },
        { { INFINITY, INFINITY }, { 1, 0 }, { NAN, NAN } },
        /* Contracted, the imaginary part would be -2^-46. */
        { { 1 + 0x1p-23f, 1 }, { -1, 1 - 0x1p-23f }, { -2, 0 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const void *src[2] = { cases[i].a, cases[i].b };
        float got[2];

        oc_reduce_kernel(OC_OP_PROD, OC_TYPE_COMPLEX_FLOAT)(got, src, 2, 1);
        for (int part = 0; part < 2; part++) {
            if (isnan(cases[i].want[part]))
                assert_true(isnan(got[part]));
            else
                assert_memory_equal(&got[part], &cases[i].want[part], sizeof(got[part]));
        }
    }
}

static void assert_pair(unsigned op, double a, int ai, double b, int bi, double want, int want_i)
{
    struct {
        double value;
        int32_t index;
    } __attribute__((packed)) x = { a, ai }, y = { b, bi }, wanted = { want, want_i }, got;
    const void *src[2] = { &x, &y };

    oc_reduce_kernel(op, OC_TYPE_DOUBLE_INT32)(&got, src, 2, 1);
    assert_memory_equal(&got, &wanted, sizeof(got));
}

/* Of equal values the lower index; else as MIN and MAX; a pair is taken as a whole. */
static void test_pairs_by_hand(void **state)
{
    (void)state;
    assert_pair(OC_OP_MINLOC, 1, 7, 2, 3, 1, 7);
    assert_pair(OC_OP_MAXLOC, 1, 7, 2, 3, 2, 3);
    assert_pair(OC_OP_MINLOC, 1, 7, 1, 3, 1, 3);
    assert_pair(OC_OP_MINLOC, 1, 3, 1, 7, 1, 3);
    assert_pair(OC_OP_MAXLOC, 1, 7, 1, 3, 1, 3);
    assert_pair(OC_OP_MAXLOC, 1, -3, 1, 7, 1, -3);
    assert_pair(OC_OP_MAXLOC, -0.0, 1, 0.0, 2, -0.0, 1);
    assert_pair(OC_OP_MAXLOC, -0.0, 2, 0.0, 1, 0.0, 1);
    assert_pair(OC_OP_MINLOC, -0.0, 1, 0.0, 1, 0.0, 1);
    assert_pair(OC_OP_MINLOC, NAN, 1, 5, 2, 5, 2);
    assert_pair(OC_OP_MINLOC, 5, 1, NAN, 2, NAN, 2);
}

/* ---- 16-bit floats. ---- */

/* Every 16-bit pattern, and after it room for results. */
#define PATTERNS 65536
static uint16_t all[PATTERNS], others[2][PATTERNS], results[PATTERNS];

static void check_patterns(unsigned op, unsigned type, oc_isa_t isa, size_t num_src)
{
    const void *src[3] = { all, others[0], others[1] };

    oc_reduce_kernel_isa(op, type, isa)(results, src, num_src, PATTERNS);
    for (size_t i = 0; i < PATTERNS; i++) {
        unsigned char fold_state[MAX_ELEM];
        uint16_t want;

        begin_fold(type, fold_state, &all[i]);
        for (size_t k = 1; k < num_src; k++)
            fold(op, type, fold_state, &others[k - 1][i]);
        end_fold(type, &want, fold_state);
        unify_nan(type, &want);
        unify_nan(type, &results[i]);
        if (results[i] != want)
            fail_msg("%s %s %s, %zu inputs: %#x, %#x, %#x give %#x instead of %#x",
                     oc_isa_name(isa), oc_op_name(op), oc_type_name(type), num_src, all[i],
                     others[0][i], others[1][i], results[i], want);
    }
}

static void set_others(unsigned type, size_t k, double value)
{
    for (size_t i = 0; i < PATTERNS; i++)
        store_float(type, &others[k][i], value);
}

/* With nothing added or multiplied each number comes back; but for NaNs, bit by bit. */
static void check_identity(unsigned op, unsigned type, oc_isa_t isa)
{
    set_others(type, 0, op == OC_OP_SUM ? -0.0 : 1.0);
    check_patterns(op, type, isa, 2);
    for (size_t i = 0; i < PATTERNS; i++) {
        if (!isnan(load_float(type, &all[i])))
            assert_int_equal(results[i], all[i]);
    }
}

/*
 * Every number, and half the distance to the next: a tie. Then a little more and a little less.
 * fp32 has the bits for that, and subnormals have no half: products make their ties.
 */
static void check_sums_near_ties(unsigned type, oc_isa_t isa)
{
    static const double little[] = { 0, 0x1p-6, -0x1p-6 };

    for (size_t n = 0; n < sizeof(little) / sizeof(little[0]); n++) {
        for (size_t i = 0; i < PATTERNS; i++) {
            const uint16_t next = (uint16_t)(all[i] + 1);
            const double step = load_float(type, &next) - load_float(type, &all[i]);

            store_float(type, &others[0][i], isfinite(step) ? step / 2 : 0);
            store_float(type, &others[1][i], isfinite(step) ? step * little[n] : 0);
        }
        check_patterns(OC_OP_SUM, type, isa, 3);
    }
}

/* Ties of subnormals, overflow, and ties of what has one bit more. */
static void check_products(unsigned type, oc_isa_t isa)
{
    const double last = type == OC_TYPE_FLOAT16 ? 0x1p-10 : 0x1p-7;
    const double factors[] = { 0, -1, 0.5, 0.25, 0.75, 1.5, 1 + last, 2 - last, 3, 0x1p-10,
                               -0x1p-14 * 1.5, 0x1p-24, 1024, 60000, NAN, -INFINITY };

    for (size_t n = 0; n < sizeof(factors) / sizeof(factors[0]); n++) {
        set_others(type, 0, factors[n]);
        for (unsigned op = OC_OP_SUM; op <= OC_OP_MAX; op++)
            check_patterns(op, type, isa, 2);
    }
}

static void test_halves(void **state)
{
    const oc_isa_t isa = *(const oc_isa_t *)*state;

    if (!oc_reduce_kernel_isa(OC_OP_SUM, OC_TYPE_FLOAT, isa)) {
        print_message("%s: not in this build, or this CPU cannot run it\n", oc_isa_name(isa));
        skip();
    }
    for (size_t i = 0; i < PATTERNS; i++)
        all[i] = (uint16_t)i;
    for (unsigned type = OC_TYPE_FLOAT16; type <= OC_TYPE_BFLOAT16; type++) {
        check_identity(OC_OP_SUM, type, isa);
        check_identity(OC_OP_PROD, type, isa);
        check_sums_near_ties(type, isa);
        check_products(type, isa);
    }
}

static void assert_halves(unsigned op, unsigned type, const uint16_t *values, size_t n,
                          uint16_t want)
{
    const void *src[4];
    uint16_t got;

    for (size_t k = 0; k < n; k++)
        src[k] = values + k;
    oc_reduce_kernel(op, type)(&got, src, n, 1);
    assert_int_equal(got, want);
}

/* The reference might be wrong too. */
static void test_halves_by_hand(void **state)
{
    const unsigned f = OC_TYPE_FLOAT16, b = OC_TYPE_BFLOAT16;

    (void)state;
    /* 2048 + 1 + 1: the ones would be lost if each step were rounded. */
    assert_halves(OC_OP_SUM, f, (uint16_t[]){ 0x6800, 0x3c00, 0x3c00 }, 3, 0x6801);
    assert_halves(OC_OP_SUM, f, (uint16_t[]){ 0x6800, 0x3c00 }, 2, 0x6800);
    assert_halves(OC_OP_SUM, f, (uint16_t[]){ 0x6801, 0x3c00 }, 2, 0x6802);
    /* 65504 + 15 stays, 65504 + 16 is infinity; and back, before it is rounded. */
    assert_halves(OC_OP_SUM, f, (uint16_t[]){ 0x7bff, 0x4b80 }, 2, 0x7bff);
    assert_halves(OC_OP_SUM, f, (uint16_t[]){ 0x7bff, 0x4c00 }, 2, 0x7c00);
    assert_halves(OC_OP_SUM, f, (uint16_t[]){ 0x7bff, 0x7bff, 0xfbff }, 3, 0x7bff);
    /* 2^-24 / 2 is a tie with 0, 3 * 2^-24 / 2 one with 2^-23. */
    assert_halves(OC_OP_PROD, f, (uint16_t[]){ 0x0001, 0x3800 }, 2, 0x0000);
    assert_halves(OC_OP_PROD, f, (uint16_t[]){ 0x8003, 0x3800 }, 2, 0x8002);
    /* 256 + 1 + 1, and half of the last place of 1 and of 1 + 2^-7. */
    assert_halves(OC_OP_SUM, b, (uint16_t[]){ 0x4380, 0x3f80, 0x3f80 }, 3, 0x4381);
    assert_halves(OC_OP_SUM, b, (uint16_t[]){ 0x3f80, 0x3b80 }, 2, 0x3f80);
    assert_halves(OC_OP_SUM, b, (uint16_t[]){ 0x3f81, 0x3b80 }, 2, 0x3f82);
    assert_halves(OC_OP_SUM, b, (uint16_t[]){ 0x7f7f, 0x7f7f }, 2, 0x7f80);
    assert_halves(OC_OP_PROD, b, (uint16_t[]){ 0x0001, 0x3f00 }, 2, 0x0000);
    /* One input is copied, a signalling NaN too. */
    assert_halves(OC_OP_SUM, f, (uint16_t[]){ 0x7c01 }, 1, 0x7c01);
    assert_halves(OC_OP_SUM, b, (uint16_t[]){ 0xff81 }, 1, 0xff81);
    assert_halves(OC_OP_MIN, f, (uint16_t[]){ 0x8000, 0x0000 }, 2, 0x0000);
    assert_halves(OC_OP_MAX, b, (uint16_t[]){ 0x0000, 0x8000 }, 2, 0x8000);
}

int main(void)
{
    static oc_isa_t isas[] = { OC_ISA_BASELINE, OC_ISA_AVX2, OC_ISA_AVX512 };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_by_hand),
        cmocka_unit_test(test_floats_by_hand),
        cmocka_unit_test(test_left_fold),
        cmocka_unit_test(test_complex_by_hand),
        cmocka_unit_test(test_pairs_by_hand),
        cmocka_unit_test(test_halves_by_hand),
        { "halves_baseline", test_halves, NULL, NULL, &isas[0] },
        { "halves_avx2", test_halves, NULL, NULL, &isas[1] },
        { "halves_avx512", test_halves, NULL, NULL, &isas[2] },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
