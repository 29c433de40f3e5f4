/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of folds of 16-bit floats that end elsewhere: what is left for the owner to add
 * and to round gives the same bits as the whole fold at once.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "reduction/reduction.h"
#include "tests/unit/reduction_reference.h"

#define MOST_INPUTS 12
#define MOST        5000u
#define GUARD       32

static const unsigned types[] = {OC_TYPE_FLOAT16, OC_TYPE_BFLOAT16},
                      ops[] = {OC_OP_SUM, OC_OP_PROD, OC_OP_MIN, OC_OP_MAX};

/* Inputs side by side, as a server has them: the first place is free, for the result. */
static uint8_t inputs[(1 + MOST_INPUTS) * MOST * 2 + GUARD];
static uint8_t partial[MOST * 4 + GUARD], expected[MOST * 2], result[MOST * 2 + GUARD];

static const void *input(size_t number, size_t count)
{
    return inputs + (1 + number) * count * 2;
}

static void fill(unsigned type, size_t num, size_t count)
{
    for (size_t i = 0; i < (1 + num) * count; i++) {
        store_value(type, inputs + i * 2, i < NUM_SPECIALS ? (int) i : -1);
    }
    memset(inputs + (1 + num) * count * 2, 0xc3, GUARD);
    memset(partial, 0xc3, sizeof(partial));
    memset(result, 0xc3, sizeof(result));
}

static void check(const uint8_t *got, unsigned type, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t a[2], b[2];

        memcpy(a, got + 2 * i, 2);
        memcpy(b, expected + 2 * i, 2);
        unify_nan(type, a);
        unify_nan(type, b);
        assert_memory_equal(a, b, 2);
    }
}

static void check_guard(const uint8_t *guard)
{
    for (unsigned i = 0; i < GUARD; i++) {
        assert_int_equal(guard[i], 0xc3);
    }
}

/* All inputs but the last one, apart from them; then the last, beside or in place. */
static void check_apart(unsigned op, unsigned type, size_t num, size_t count)
{
    const void *sources[MOST_INPUTS];

    fill(type, num, count);
    for (size_t k = 0; k < num; k++) {
        sources[k] = input(k, count);
    }
    oc_reduce(oc_reduce_kernel(op, type), expected, sources, num, count);
    oc_reduce_wide(op, type, partial, sources, num - 1, count);
    check_guard(partial + count * 4);
    oc_reduce_narrow(op, type, result, partial, sources[num - 1], count);
    check_guard(result + count * 2);
    check(result, type, count);
    oc_reduce_wide(op, type, partial, sources, num - 1, count);
    oc_reduce_narrow(op, type, (void *) sources[num - 1], partial, sources[num - 1], count);
    check(sources[num - 1], type, count);
}

/* The result is twice as long as the free place, and reaches into the first input. */
static void check_overlapping(unsigned op, unsigned type, size_t num, size_t count)
{
    const void *sources[MOST_INPUTS];
    static uint8_t last[MOST * 2];

    fill(type, num, count);
    for (size_t k = 0; k < num; k++) {
        sources[k] = input(k, count);
    }
    memcpy(last, sources[num - 1], count * 2);
    oc_reduce(oc_reduce_kernel(op, type), expected, sources, num, count);
    oc_reduce_wide(op, type, inputs, sources, num - 1, count);
    check_guard(inputs + (1 + num) * count * 2);
    assert_memory_equal(sources[num - 1], num > 2 ? last : sources[num - 1], count * 2);
    oc_reduce_narrow(op, type, result, inputs, last, count);
    check(result, type, count);
}

static void test_all(void **state)
{
    static const size_t counts[] = {0, 1, 2, 15, 64, 2047, 2048, 2049, MOST};

    (void) state;
    for (unsigned t = 0; t < 2; t++) {
        for (unsigned o = 0; o < 4; o++) {
            for (unsigned c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
                for (size_t num = 2; num <= MOST_INPUTS; num += num < 4 ? 1 : 4) {
                    check_apart(ops[o], types[t], num, counts[c]);
                    check_overlapping(ops[o], types[t], num, counts[c]);
                }
            }
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
