/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the checksum of blocks: both ways against one bit at a time. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "multicast/core/crc32c.h"

#define LARGE (64u << 10)

static uint32_t reference(uint32_t crc, const uint8_t *data, size_t length)
{
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        }
    }
    return ~crc;
}

static uint8_t *random_bytes(size_t length)
{
    uint8_t *bytes = malloc(length);
    uint64_t state = 12345;

    assert_non_null(bytes);
    for (size_t i = 0; i < length; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t) (state >> 56);
    }
    return bytes;
}

/* In memory of just that size, so that reading beyond it is seen. */
static void expect_same(const uint8_t *data, size_t length, uint32_t before)
{
    uint32_t expected = reference(before, data, length);
    uint8_t *copy = malloc(length > 0 ? length : 1);

    assert_non_null(copy);
    memcpy(copy, data, length);
    if (oc_crc32c(before, copy, length) != expected) {
        fail_msg("oc_crc32c is wrong for %zu bytes after 0x%x", length, before);
    }
    if (oc_crc32c_table(before, copy, length) != expected) {
        fail_msg("oc_crc32c_table is wrong for %zu bytes after 0x%x", length, before);
    }
    free(copy);
}

/* The first of all, as later ones find tables made. */
static void test_first(void **state)
{
    uint8_t *data = random_bytes(3 * 1024);

    (void) state;
    assert_int_equal(oc_crc32c(0, data, 3 * 1024), reference(0, data, 3 * 1024));
    free(data);
}

/* From RFC 3720, B.4, and the usual one. */
static void test_known_values(void **state)
{
    uint8_t bytes[32];

    (void) state;
    assert_int_equal(oc_crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(oc_crc32c_table(0, "123456789", 9), 0xe3069283u);
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(oc_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aau);
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(oc_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43u);
    assert_int_equal(oc_crc32c(0, bytes, 0), 0);
    assert_int_equal(oc_crc32c(77, bytes, 0), 77);
}

static void test_all_lengths(void **state)
{
    uint8_t *data = random_bytes(LARGE);

    (void) state;
    for (size_t length = 0; length < 600; length++) {
        expect_same(data + length % 9, length, 0);
        expect_same(data, length, 0xdeadbeefu);
    }
    /* around what is done in three parts */
    for (size_t length = 3 * 1024 - 20; length < 3 * 1024 + 20; length++) {
        expect_same(data, length, 0);
        expect_same(data + 3, 3 * length, 0x1234567u);
    }
    expect_same(data, LARGE, 0);
    free(data);
}

static void test_chaining(void **state)
{
    uint8_t *data = random_bytes(LARGE);
    uint32_t whole = oc_crc32c(0, data, LARGE);

    (void) state;
    for (size_t cut = 0; cut <= LARGE; cut += 1013) {
        uint32_t first = oc_crc32c(0, data, cut), table = oc_crc32c_table(0, data, cut);

        assert_int_equal(oc_crc32c(first, data + cut, LARGE - cut), whole);
        assert_int_equal(oc_crc32c_table(table, data + cut, LARGE - cut), whole);
    }
    free(data);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_all_lengths),
        cmocka_unit_test(test_chaining),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
