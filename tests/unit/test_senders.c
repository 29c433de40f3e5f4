/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of the addresses that datagrams are taken from.
 *
 * Test: quick 10
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "multicast/transport/senders.h"

#define MANY 5000u

static oc_origin_t number(unsigned i)
{
    return (oc_origin_t) {.address = {[14] = (uint8_t) (i >> 8), [15] = (uint8_t) i},
                          .port = 40000 + i % 3};
}

static void test_many(void **state)
{
    oc_senders_t senders = {0};
    oc_origin_t origin;

    (void) state;
    for (unsigned i = 0; i < MANY; i++) {
        origin = number(i);
        assert_false(oc_senders_have(&senders, &origin));
        assert_true(oc_senders_admit(&senders, &origin));
        assert_true(oc_senders_have(&senders, &origin));
    }
    for (unsigned i = 0; i < MANY; i++) {
        origin = number(i);
        assert_true(oc_senders_have(&senders, &origin));
        origin.port += 3; /* another process of the same host */
        assert_false(oc_senders_have(&senders, &origin));
        origin = number(i);
        origin.address[0] = 1;
        assert_false(oc_senders_have(&senders, &origin));
    }
    oc_senders_clear(&senders);
    assert_false(oc_senders_have(&senders, &origin));
}

/* As often as it was admitted: each of its groups counts. */
static void test_several_users(void **state)
{
    oc_senders_t senders = {0};
    oc_origin_t origin = number(7), other = number(8);

    (void) state;
    assert_true(oc_senders_admit(&senders, &origin));
    assert_true(oc_senders_admit(&senders, &origin));
    assert_true(oc_senders_admit(&senders, &other));
    oc_senders_dismiss(&senders, &origin);
    assert_true(oc_senders_have(&senders, &origin));
    oc_senders_dismiss(&senders, &origin);
    assert_false(oc_senders_have(&senders, &origin));
    oc_senders_dismiss(&senders, &origin);
    assert_true(oc_senders_have(&senders, &other));
    oc_senders_dismiss(&senders, &other);
    assert_false(oc_senders_have(&senders, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_several_users),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
