/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions of 16-bit floats: every number, and both sides of every border between two. */
/* Test: quick 120 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optcast/convert.h"

typedef struct {
    int fraction_bits, bias;
    uint16_t infinity;
    float (*widen)(uint16_t number);
    uint16_t (*narrow)(float value);
} format_t;

static const format_t float16 = {10, 15, 0x7c00, float16_to_float, float16_of_float};
static const format_t bfloat16 = {7, 127, 0x7f80, bfloat16_to_float, bfloat16_of_float};

/* From the definition of the format; infinity as if the exponent went on. */
static double magnitude_of(const format_t *format, uint16_t number)
{
    int exponent = number >> format->fraction_bits;
    double fraction = ldexp(number & ((1 << format->fraction_bits) - 1), -format->fraction_bits);

    return 0 == exponent ? ldexp(fraction, 1 - format->bias)
                         : ldexp(1 + fraction, exponent - format->bias);
}

static void check_numbers(const format_t *format)
{
    for (uint32_t number = 0; number < 0x10000; number++) {
        uint16_t magnitude = number & 0x7fff;
        float value = format->widen((uint16_t) number);

        if (magnitude > format->infinity) {
            assert_true(isnan(value));
            assert_true((format->narrow(value) & 0x7fff) > format->infinity);
            continue;
        }
        assert_int_equal(0 != signbit(value), number >> 15);
        if (magnitude == format->infinity) {
            assert_true(isinf(value));
        } else {
            assert_true(fabs((double) value) == magnitude_of(format, magnitude));
        }
        assert_int_equal(format->narrow(value), number);
    }
}

static void check_borders(const format_t *format)
{
    for (uint16_t low = 0; low < format->infinity; low++) {
        uint16_t high = low + 1, even = 0 == low % 2 ? low : high;
        float middle = (float) ((magnitude_of(format, low) + magnitude_of(format, high)) / 2);

        assert_int_equal(format->narrow(middle), even);
        assert_int_equal(format->narrow(-middle), even | 0x8000);
        assert_int_equal(format->narrow(nextafterf(middle, 0)), low);
        assert_int_equal(format->narrow(nextafterf(middle, INFINITY)), high);
    }
}

static void check_extremes(const format_t *format)
{
    assert_int_equal(format->narrow(0x1.fffffep127f), format->infinity);
    assert_int_equal(format->narrow(-INFINITY), format->infinity | 0x8000);
    assert_int_equal(format->narrow(0x1p-149f), 0);
    assert_int_equal(format->narrow(-0x1p-149f), 0x8000);
    /* a NaN whose upper bits say nothing of it */
    assert_true((format->narrow(float_of_bits(0x7f800001)) & 0x7fff) > format->infinity);
}

static void check_format(const format_t *format)
{
    check_numbers(format);
    check_borders(format);
    check_extremes(format);
}

static void test_float16(void **state)
{
    (void) state;
    check_format(&float16);
}

static void test_bfloat16(void **state)
{
    (void) state;
    check_format(&bfloat16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float16),
        cmocka_unit_test(test_bfloat16),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
