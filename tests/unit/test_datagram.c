/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the header of multicast datagrams. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "multicast/wire/datagram.h"
#include "tests/unit/fence.h"

static uint8_t buffer[OC_DATAGRAM_MAX + 1];
static fence_t fence;

static const oc_datagram_t legal = {.kind = OC_DATAGRAM_FRAGMENT, .token = 0x0123456789abcdefull,
                                    .generation = 0xfedcba98, .rank = 0xa1b2,
                                    .index = 0x89abcdef, .length = 1000};

static bool judge(size_t length, oc_datagram_t *datagram)
{
    return oc_datagram_decode(fence_copy(&fence, buffer, length), length, datagram);
}

static int setup(void **state)
{
    (void) state;
    fence_open(&fence, sizeof(buffer));
    oc_datagram_encode(&legal, buffer);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    fence_close(&fence);
    return 0;
}

static void test_round_trip(void **state)
{
    static const size_t lengths[] = {0, 1, 1000, OC_DATAGRAM_MAX - OC_DATAGRAM_HEADER};
    oc_datagram_t datagram = legal, got;

    (void) state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        datagram.kind = 0 == i % 2 ? OC_DATAGRAM_PROBE : OC_DATAGRAM_FRAGMENT;
        datagram.length = (uint16_t) lengths[i];
        oc_datagram_encode(&datagram, buffer);
        assert_true(judge(OC_DATAGRAM_HEADER + lengths[i], &got));
        assert_int_equal(got.kind, datagram.kind);
        assert_int_equal(got.token, datagram.token);
        assert_int_equal(got.generation, datagram.generation);
        assert_int_equal(got.rank, datagram.rank);
        assert_int_equal(got.index, datagram.index);
        assert_int_equal(got.length, datagram.length);
    }
}

static void test_layout(void **state)
{
    static const uint8_t expected[OC_DATAGRAM_HEADER] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'O', 'M', 4, 1, 0x98, 0xba, 0xdc, 0xfe,
        0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0xef, 0xcd, 0xab, 0x89, 0xb2, 0xa1, 0xe8,
        0x03};

    (void) state;
    assert_memory_equal(buffer, expected, sizeof(expected));
}

static void test_wrong_lengths(void **state)
{
    oc_datagram_t got;

    (void) state;
    for (size_t length = 0; length < OC_DATAGRAM_HEADER + 1000; length++) {
        assert_false(judge(length, &got));
    }
    assert_true(judge(OC_DATAGRAM_HEADER + 1000, &got));
    assert_false(judge(OC_DATAGRAM_HEADER + 1001, &got));
}

static void test_wrong_fields(void **state)
{
    oc_datagram_t got;

    (void) state;
    for (size_t at = OC_MAC_SIZE; at < OC_MAC_SIZE + 4; at++) {
        uint8_t good = buffer[at];

        for (unsigned value = 0; value < 256; value++) {
            bool is_kind = OC_MAC_SIZE + 3 == at && value >= 1 && value <= 3;

            buffer[at] = (uint8_t) value;
            assert_int_equal(judge(OC_DATAGRAM_HEADER + 1000, &got), value == good || is_kind);
        }
        buffer[at] = good;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_lengths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_fields, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
