/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of optcast-perf's values: exact in every order, and every fault is seen. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tools/perf/values.h"

#define RANKS_MAX 200

/* Arithmetic of the types themselves, for any order: unlike the tables, nothing is widened. */
#define ORDER(name, ctype)                                                                    \
    static ctype name(oc_perf_op_t op, ctype a, ctype b)                                      \
    {                                                                                         \
        switch (op) {                                                                         \
        case OC_PERF_SUM:                                                                     \
            return (ctype) (a + b);                                                           \
        case OC_PERF_PROD:                                                                    \
            return (ctype) (a * b);                                                           \
        case OC_PERF_MIN:                                                                     \
            return a < b ? a : b;                                                             \
        default:                                                                              \
            return a > b ? a : b;                                                             \
        }                                                                                     \
    }
ORDER(apply_float, float)
ORDER(apply_double, double)

static void check_float_order(oc_perf_type_t type, oc_perf_op_t op, unsigned ranks, int step)
{
    static oc_perf_pattern_t result, inputs[RANKS_MAX];

    oc_perf_pattern_result(&result, type, op, ranks);
    for (unsigned rank = 0; rank < ranks; rank++) {
        oc_perf_pattern_input(&inputs[rank], type, op, rank, ranks);
    }
    for (unsigned i = 0; i < OC_PERF_PERIOD; i++) {
        unsigned rank = (i * 7) % ranks;
        float single = 0;
        double full = 0;

        for (unsigned n = 0; n < ranks; n++, rank = (rank + ranks + (unsigned) step) % ranks) {
            float x = OC_PERF_FLOAT == type ? ((float *) inputs[rank].data)[i] : 0;
            double y = OC_PERF_DOUBLE == type ? ((double *) inputs[rank].data)[i] : 0;

            single = 0 == n ? x : apply_float(op, single, x);
            full = 0 == n ? y : apply_double(op, full, y);
        }
        assert_memory_equal(oc_perf_expected(&result, i),
                            OC_PERF_FLOAT == type ? (void *) &single : (void *) &full,
                            oc_perf_type_size(type));
    }
}

/* Forwards and backwards, from any rank on. */
static void test_floats_are_exact_in_every_order(void **state)
{
    static const unsigned ranks[] = {1, 2, 3, 4, 64, 65, 199};

    (void) state;
    for (size_t r = 0; r < sizeof(ranks) / sizeof(ranks[0]); r++) {
        for (int op = OC_PERF_SUM; op <= OC_PERF_MAX; op++) {
            check_float_order(OC_PERF_FLOAT, (oc_perf_op_t) op, ranks[r], 1);
            check_float_order(OC_PERF_FLOAT, (oc_perf_op_t) op, ranks[r], -1);
            check_float_order(OC_PERF_DOUBLE, (oc_perf_op_t) op, ranks[r], -1);
        }
    }
}

static int64_t number_at(const oc_perf_pattern_t *pattern, oc_perf_type_t type, unsigned index)
{
    char text[64];

    oc_perf_value_text(type, oc_perf_expected(pattern, index), text, sizeof(text));
    return OC_PERF_UINT64 == type ? (int64_t) strtoull(text, NULL, 10) : strtoll(text, NULL, 10);
}

/* Sums of all that is positive and of all that is negative bound every part of every order. */
static void check_no_overflow(oc_perf_type_t type, unsigned ranks)
{
    static oc_perf_pattern_t inputs[RANKS_MAX], result;
    unsigned bits = 8 * (unsigned) oc_perf_type_size(type) - oc_perf_type_is_signed(type);
    __int128 limit = ((__int128) 1 << bits) - 1;

    oc_perf_pattern_result(&result, type, OC_PERF_SUM, ranks);
    for (unsigned rank = 0; rank < ranks; rank++) {
        oc_perf_pattern_input(&inputs[rank], type, OC_PERF_SUM, rank, ranks);
    }
    for (unsigned i = 0; i < OC_PERF_PERIOD; i++) {
        __int128 above = 0, below = 0;

        for (unsigned rank = 0; rank < ranks; rank++) {
            int64_t number = number_at(&inputs[rank], type, i);

            above += number > 0 ? number : 0;
            below += number < 0 ? number : 0;
        }
        assert_true(above <= limit && -below <= limit);
        assert_true((int64_t) (above + below) == number_at(&result, type, i));
    }
}

static void test_sums_do_not_overflow(void **state)
{
    (void) state;
    for (int type = OC_PERF_INT8; type <= OC_PERF_UINT64; type++) {
        check_no_overflow((oc_perf_type_t) type, 2);
        check_no_overflow((oc_perf_type_t) type, 5);
        check_no_overflow((oc_perf_type_t) type, 63);
        check_no_overflow((oc_perf_type_t) type, 200);
    }
}

static void test_products_do_not_overflow(void **state)
{
    static oc_perf_pattern_t input;

    (void) state;
    for (unsigned ranks = 1; ranks <= 200; ranks += 13) {
        int64_t products[OC_PERF_PERIOD];

        for (unsigned i = 0; i < OC_PERF_PERIOD; i++) {
            products[i] = 1;
        }
        for (unsigned rank = 0; rank < ranks; rank++) {
            oc_perf_pattern_input(&input, OC_PERF_INT8, OC_PERF_PROD, rank, ranks);
            for (unsigned i = 0; i < OC_PERF_PERIOD; i++) {
                products[i] *= number_at(&input, OC_PERF_INT8, i);
                assert_in_range(products[i] + 127, 0, 254);
                assert_int_not_equal(products[i], 0);
            }
        }
    }
}

/* What is known by heart: operations on int32 with their C meaning, rank by rank. */
static void test_results_of_integers(void **state)
{
    static oc_perf_pattern_t a, b, c, result;

    (void) state;
    for (int op = 0; op < OC_PERF_OP_END; op++) {
        oc_perf_pattern_input(&a, OC_PERF_INT32, (oc_perf_op_t) op, 0, 3);
        oc_perf_pattern_input(&b, OC_PERF_INT32, (oc_perf_op_t) op, 1, 3);
        oc_perf_pattern_input(&c, OC_PERF_INT32, (oc_perf_op_t) op, 2, 3);
        oc_perf_pattern_result(&result, OC_PERF_INT32, (oc_perf_op_t) op, 3);
        for (unsigned i = 0; i < OC_PERF_PERIOD; i++) {
            int32_t x = ((int32_t *) a.data)[i], y = ((int32_t *) b.data)[i];
            int32_t z = ((int32_t *) c.data)[i], least = x < y ? x : y, most = x < y ? y : x;
            const int32_t expected[OC_PERF_OP_END] = {
                (int32_t) ((uint32_t) x + (uint32_t) y + (uint32_t) z),
                (int32_t) ((uint32_t) x * (uint32_t) y * (uint32_t) z), least < z ? least : z,
                most < z ? z : most, x & y & z, x | y | z, x ^ y ^ z, x && y && z,
                x || y || z, !x ^ !y ^ !z ^ 1};

            assert_int_equal(((int32_t *) result.data)[i], expected[op]);
        }
    }
}

/* -1 is smaller than 1 only if there is a sign. */
static void test_min_of_unsigned(void **state)
{
    static oc_perf_pattern_t a, b, result;
    unsigned large = 0;

    (void) state;
    oc_perf_pattern_input(&a, OC_PERF_UINT64, OC_PERF_MIN, 0, 2);
    oc_perf_pattern_input(&b, OC_PERF_UINT64, OC_PERF_MIN, 1, 2);
    oc_perf_pattern_result(&result, OC_PERF_UINT64, OC_PERF_MIN, 2);
    for (unsigned i = 0; i < OC_PERF_PERIOD; i++) {
        uint64_t x = ((uint64_t *) a.data)[i], y = ((uint64_t *) b.data)[i];

        assert_true(((uint64_t *) result.data)[i] == (x < y ? x : y));
        large += x > INT64_MAX && y < INT64_MAX;
    }
    assert_true(large > 100);
}

static int32_t fold_two(int op, int32_t x, int32_t y)
{
    const int32_t values[OC_PERF_OP_END] = {
        (int32_t) ((uint32_t) x + (uint32_t) y), (int32_t) ((uint32_t) x * (uint32_t) y),
        x < y ? x : y, x < y ? y : x, x & y, x | y, x ^ y, x && y, x || y, !x != !y};

    return values[op];
}

/* Elements of the result of all ranks that the others alone would not give. */
static unsigned owed_to(unsigned missing, int op, unsigned ranks)
{
    static oc_perf_pattern_t input, result;
    int32_t folded[OC_PERF_PERIOD] = {0};
    unsigned differ = 0, first = 0 == missing;

    for (unsigned rank = first; rank < ranks; rank++) {
        oc_perf_pattern_input(&input, OC_PERF_INT32, (oc_perf_op_t) op, rank, ranks);
        for (unsigned i = 0; i < OC_PERF_PERIOD && rank != missing; i++) {
            int32_t value = ((int32_t *) input.data)[i];

            folded[i] = first == rank ? value : fold_two(op, folded[i], value);
        }
    }
    oc_perf_pattern_result(&result, OC_PERF_INT32, (oc_perf_op_t) op, ranks);
    for (unsigned i = 0; i < OC_PERF_PERIOD; i++) {
        differ += folded[i] != ((int32_t *) result.data)[i];
    }
    return differ;
}

static void test_every_rank_matters(void **state)
{
    (void) state;
    for (int op = 0; op < OC_PERF_OP_END; op++) {
        assert_int_equal(owed_to(9, op, 9), 0);
        for (unsigned rank = 0; rank < 9; rank++) {
            assert_true(owed_to(rank, op, 9) > 0);
        }
    }
}

static void test_fill_and_count(void **state)
{
    static oc_perf_pattern_t pattern;
    static int16_t data[5000];
    size_t wrong = 99;

    (void) state;
    oc_perf_pattern_input(&pattern, OC_PERF_INT16, OC_PERF_OP_END, 3, 4);
    data[4321] = 77;
    oc_perf_fill(&pattern, data, 4321, 1000);
    assert_int_equal(data[4321], 77);
    assert_int_equal(data[0], ((int16_t *) pattern.data)[1000]);
    assert_int_equal(data[21], ((int16_t *) pattern.data)[0]);
    assert_int_equal(oc_perf_count_wrong(&pattern, data, 4321, 1000, &wrong), 0);
    data[30] ^= 1;
    data[4320] ^= 256;
    assert_int_equal(oc_perf_count_wrong(&pattern, data, 4321, 1000, &wrong), 2);
    assert_int_equal(wrong, 30);
    assert_int_equal(oc_perf_count_wrong(&pattern, data, 30, 1000, &wrong), 0);
    /* the same values one element further on are wrong nearly everywhere */
    oc_perf_fill(&pattern, data, 4321, 1000);
    assert_true(oc_perf_count_wrong(&pattern, data, 4321, 1001, &wrong) > 4300);
    /* so are those of a whole chunk further on, whatever power of two that is */
    for (unsigned chunk = 64; chunk <= 1u << 30; chunk *= 2) {
        assert_true(oc_perf_count_wrong(&pattern, data, 4321, 1000 + chunk, &wrong) > 4300);
    }
}

static void test_poison_is_wrong_everywhere(void **state)
{
    static oc_perf_pattern_t pattern;
    static uint8_t data[3000];
    size_t wrong;

    (void) state;
    for (int op = 0; op < OC_PERF_OP_END; op++) {
        oc_perf_pattern_result(&pattern, OC_PERF_UINT8, (oc_perf_op_t) op, 5);
        oc_perf_poison(&pattern, data, sizeof(data), 12345);
        assert_int_equal(oc_perf_count_wrong(&pattern, data, sizeof(data), 12345, &wrong),
                         sizeof(data));
        assert_int_equal(wrong, 0);
    }
}

static void test_texts(void **state)
{
    char text[64];

    (void) state;
#define TEXT(type, ctype, value, expected) \
    oc_perf_value_text(type, &(ctype) {value}, text, sizeof(text)); \
    assert_string_equal(text, expected)
    TEXT(OC_PERF_INT8, int8_t, -5, "-5");
    TEXT(OC_PERF_UINT8, uint8_t, 251, "251");
    TEXT(OC_PERF_INT16, int16_t, -300, "-300");
    TEXT(OC_PERF_UINT32, uint32_t, UINT32_MAX, "4294967295");
    TEXT(OC_PERF_INT64, int64_t, INT64_MIN, "-9223372036854775808");
    TEXT(OC_PERF_UINT64, uint64_t, UINT64_MAX, "18446744073709551615");
    TEXT(OC_PERF_FLOAT, float, -2.5f, "-2.5");
    TEXT(OC_PERF_DOUBLE, double, 0.1, "0.10000000000000001");
#undef TEXT
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats_are_exact_in_every_order),
        cmocka_unit_test(test_sums_do_not_overflow),
        cmocka_unit_test(test_products_do_not_overflow),
        cmocka_unit_test(test_results_of_integers),
        cmocka_unit_test(test_min_of_unsigned),
        cmocka_unit_test(test_every_rank_matters),
        cmocka_unit_test(test_fill_and_count),
        cmocka_unit_test(test_poison_is_wrong_everywhere),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
