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

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Floats travel between hosts, and are cut anywhere: they are those of scalar code, in order. */
static bool conversions_are_in_order(unsigned type)
{
    const oc_convert_fn_t widen = oc_widen_kernel(type), narrow = oc_narrow_kernel(type);
    static float floats[MOST];
    static uint8_t halves[MOST * 2];

    fill(type, 1, MOST / 2);
    for (size_t first = 0; first < 40; first++) {
        size_t count = 1000 - first;

        widen(floats, inputs + 2 * first, count);
        narrow(halves, floats, count);
        for (size_t i = 0; i < count; i++) {
            float expected_float = (float) load_float(type, inputs + 2 * (first + i));
            uint8_t half[2];

            store_float(type, half, (double) floats[i]);
            unify_nan(type, half);
            unify_nan(type, halves + 2 * i);
            if ((floats[i] < expected_float || floats[i] > expected_float)
                || 0 != memcmp(half, halves + 2 * i, 2)) {
                return false;
            }
        }
    }
    return true;
}

/* Each instruction set that there is, in a process of its own. */
static void test_conversions(void **state)
{
    (void) state;
    for (int isa = 0; isa < OC_ISA_END; isa++) {
        int status = 1;
        pid_t child = fork();

        if (0 == child) {
            setenv("OPTCAST_ISA", oc_isa_name((oc_isa_t) isa), 1);
            _exit(conversions_are_in_order(types[0]) && conversions_are_in_order(types[1]) ? 0
                                                                                          : 1);
        }
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        assert_int_equal(status, 0);
    }
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
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
