/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of packing: against structures of C, with gaps that nobody may touch. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "client/collective/pack.h"

#define COUNT 1000
#define GAP   0xa5

typedef struct {
    double value;
    int index;
} double_int_t;

typedef struct {
    short value;
    int index;
} short_int_t;

#define DEFINE_TEST(type, value_type)                                                            \
    static void test_##type(void **state)                                                        \
    {                                                                                            \
        const oc_layout_t layout = {.extent = sizeof(type), .first = sizeof(value_type),         \
                                    .second_at = offsetof(type, index)};                         \
        const size_t size = sizeof(value_type) + sizeof(int);                                    \
        type *in = malloc(COUNT * sizeof(type)), *out = malloc(COUNT * sizeof(type));            \
        type expected;                                                                           \
        char *packed = malloc(COUNT * size);                                                     \
                                                                                                 \
        (void) state;                                                                            \
        memset(in, 0, COUNT * sizeof(type));                                                     \
        memset(out, GAP, COUNT * sizeof(type));                                                  \
        for (int i = 0; i < COUNT; i++) {                                                        \
            in[i].value = (value_type) (3 * i + 1);                                              \
            in[i].index = -i;                                                                    \
        }                                                                                        \
        oc_pack(packed, in, COUNT, size, &layout);                                               \
        for (int i = 0; i < COUNT; i++) {                                                        \
            assert_memory_equal(packed + (size_t) i * size, &in[i].value, sizeof(value_type));   \
            assert_memory_equal(packed + (size_t) i * size + sizeof(value_type), &in[i].index,   \
                                sizeof(int));                                                    \
        }                                                                                        \
        oc_unpack(out, packed, COUNT, size, &layout);                                            \
        for (int i = 0; i < COUNT; i++) {                                                        \
            memset(&expected, GAP, sizeof(expected));                                            \
            memcpy((char *) &expected + offsetof(type, value), &in[i].value,                     \
                   sizeof(value_type));                                                          \
            memcpy((char *) &expected + offsetof(type, index), &in[i].index, sizeof(int));       \
            assert_memory_equal(&out[i], &expected, sizeof(expected));                           \
        }                                                                                        \
        free(in);                                                                                \
        free(out);                                                                               \
        free(packed);                                                                            \
    }

DEFINE_TEST(double_int_t, double)
DEFINE_TEST(short_int_t, short)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_int_t),
        cmocka_unit_test(test_short_int_t),
    };

    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
