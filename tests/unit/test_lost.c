/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of sets of lost servers and of those that are back: a union has all, in order, and no order of hearing makes another set. */
/* Test: quick 20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "protocol/lost.h"

static oc_lost_t set_of(const uint64_t *servers, unsigned count)
{
    oc_lost_t lost = {.count = 0};

    for (unsigned i = 0; i < count; i++) {
        assert_true(oc_lost_add(&lost, servers[i]));
    }
    return lost;
}

static void test_order(void **state)
{
    static const uint64_t some[] = {7, 3, UINT64_MAX, 3, 5}, others[] = {5, UINT64_MAX, 7, 3, 7};
    oc_lost_t a = set_of(some, 5), b = set_of(others, 5);

    (void) state;
    assert_int_equal(a.count, 4);
    assert_true(3 == a.servers[0] && 5 == a.servers[1] && 7 == a.servers[2]
                && UINT64_MAX == a.servers[3]);
    assert_true(oc_lost_epoch(&a) == oc_lost_epoch(&b));
    assert_true(oc_lost_has(&a, 5));
    assert_false(oc_lost_has(&a, 6));
}

static void test_union(void **state)
{
    static const uint64_t some[] = {1, 9, 4}, others[] = {4, 8};
    oc_lost_t a = set_of(some, 3), b = set_of(others, 2), a_then_b = a, b_then_a = b;

    (void) state;
    assert_false(oc_lost_covers(&a, &b));
    assert_true(oc_lost_join(&a_then_b, &b));
    assert_true(oc_lost_join(&b_then_a, &a));
    assert_int_equal(a_then_b.count, 4);
    assert_true(oc_lost_covers(&a_then_b, &a) && oc_lost_covers(&a_then_b, &b));
    assert_true(oc_lost_covers(&b_then_a, &a_then_b) && oc_lost_covers(&a_then_b, &b_then_a));
    assert_true(oc_lost_epoch(&a_then_b) == oc_lost_epoch(&b_then_a));
}

/* The number of a team is in the low bits of a group's id. */
static void test_epochs(void **state)
{
    oc_lost_t lost = {.count = 0};
    uint64_t before = oc_lost_epoch(&lost);

    (void) state;
    assert_true(0 == before);
    for (uint64_t server = 1; server <= OC_MAX_LOST; server++) {
        assert_true(oc_lost_add(&lost, server << 32));
        assert_true(oc_lost_epoch(&lost) != before);
        before = oc_lost_epoch(&lost);
        assert_true(0 == (before & 0xffff));
    }
}

static void test_full(void **state)
{
    oc_lost_t lost = {.count = 0}, more = {.count = 0}, before;

    (void) state;
    for (uint64_t server = 1; server <= OC_MAX_LOST; server++) {
        assert_true(oc_lost_add(&lost, 2 * server));
    }
    before = lost;
    assert_false(oc_lost_add(&lost, 3));
    assert_true(oc_lost_add(&lost, 4));
    assert_true(oc_lost_add(&more, 2) && oc_lost_add(&more, 3));
    assert_false(oc_lost_join(&lost, &more));
    assert_memory_equal(&lost, &before, sizeof(lost));
}

static const oc_returned_t returned[] = {{.incarnation = 7, .number = 1}, {.incarnation = 3, .number = 2}};

/* A server that is back makes another epoch, in which order ever; so does its loss. */
static void test_returned(void **state)
{
    static const uint64_t some[] = {1, 9};
    oc_lost_t a = set_of(some, 2), b = a, lost = a;
    uint64_t before = oc_lost_epoch(&a);

    (void) state;
    assert_true(oc_lost_add_returned(&a, returned[0]) && oc_lost_add_returned(&a, returned[1]));
    assert_true(oc_lost_add_returned(&b, returned[1]) && oc_lost_add_returned(&b, returned[0])
                && oc_lost_add_returned(&b, returned[0]));
    assert_int_equal(a.num_returned, 2);
    assert_true(3 == a.returned[0].incarnation && 2 == a.returned[0].number && 7 == a.returned[1].incarnation);
    assert_true(oc_lost_epoch(&a) == oc_lost_epoch(&b) && oc_lost_epoch(&a) != before);
    assert_true(oc_lost_covers(&a, &lost));
    assert_false(oc_lost_covers(&lost, &a));
    assert_true(oc_lost_join(&lost, &a) && oc_lost_covers(&lost, &a));
    assert_false(oc_lost_has(&lost, 7));
    assert_true(oc_lost_add(&lost, 7) && oc_lost_epoch(&lost) != oc_lost_epoch(&a));
}

/* Nothing is lost, and one is back: that is no empty set. */
/* Whoever says what, and in which order: all believe the same. */
static void test_two_numbers(void **state)
{
    static const oc_returned_t high = {.incarnation = 5, .number = 9}, low = {.incarnation = 5, .number = 4};
    oc_lost_t a = {0}, b = {0};

    (void) state;
    assert_true(oc_lost_add_returned(&a, high) && oc_lost_add_returned(&b, low));
    assert_false(oc_lost_covers(&a, &b));
    assert_true(oc_lost_covers(&b, &a));
    assert_true(oc_lost_join(&a, &b) && oc_lost_join(&b, &a));
    assert_int_equal(a.num_returned, 1);
    assert_int_equal(a.returned[0].number, 4);
    assert_true(oc_lost_epoch(&a) == oc_lost_epoch(&b) && oc_lost_covers(&a, &b));
}

static void test_only_returned(void **state)
{
    oc_lost_t none = {.count = 0}, one = none;

    (void) state;
    assert_true(oc_lost_is_empty(&none) && 0 == oc_lost_epoch(&none));
    assert_true(oc_lost_add_returned(&one, returned[0]));
    assert_false(oc_lost_is_empty(&one));
    assert_true(0 != oc_lost_epoch(&one));
}

static void test_full_of_returned(void **state)
{
    oc_lost_t lost = {.count = 0}, before;

    (void) state;
    for (uint64_t i = 1; i <= OC_MAX_LOST; i++) {
        assert_true(oc_lost_add_returned(&lost, (oc_returned_t) {.incarnation = 2 * i}));
    }
    before = lost;
    assert_false(oc_lost_add_returned(&lost, (oc_returned_t) {.incarnation = 3}));
    assert_true(oc_lost_add_returned(&lost, (oc_returned_t) {.incarnation = 4}));
    assert_memory_equal(&lost, &before, sizeof(lost));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_union),
        cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_returned),
        cmocka_unit_test(test_two_numbers),
        cmocka_unit_test(test_only_returned),
        cmocka_unit_test(test_full_of_returned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
