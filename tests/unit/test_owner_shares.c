/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of the shares that aggregators get of vectors whose result goes to owners: all of it is
 * shared, and no member takes in more than the least that is possible.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "client/plan/owner_shares.h"

#define MEMBERS 8u
#define MIB     ((uint64_t) 1 << 20)

static uint64_t shares[2 * MEMBERS];

/* Servers first. */
static void share(const uint64_t *owned, uint32_t members, unsigned servers, uint32_t for_servers)
{
    oc_owner_lane_t lanes[2 * MEMBERS];

    for (unsigned i = 0; i < servers + members; i++) {
        lanes[i] = i < servers ? (oc_owner_lane_t) {.weight = 1 + i}
                               : (oc_owner_lane_t) {.member = i - servers};
    }
    assert_int_equal(oc_owner_shares(owned, members, lanes, servers + members, for_servers,
                                     shares), OC_OK);
}

/* Bytes that a member takes in: contributions and results. */
static uint64_t taken_in(const uint64_t *owned, uint32_t members, unsigned servers, uint32_t member)
{
    return (members - 2) * shares[servers + member] + owned[member];
}

static uint64_t most_taken_in(const uint64_t *owned, uint32_t members)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < members; i++) {
        uint64_t in = taken_in(owned, members, 0, i);

        most = in > most ? in : most;
    }
    return most;
}

static uint64_t sum_of_shares(unsigned lanes)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < lanes; i++) {
        sum += shares[i];
    }
    return sum;
}

/* Whole numbers lose less than one byte for each lane. */
static void assert_about(uint64_t value, uint64_t expected)
{
    assert_in_range(value, expected < 2 * MEMBERS ? 0 : expected - 2 * MEMBERS,
                    expected + 2 * MEMBERS);
}

static void test_equal(void **state)
{
    uint64_t owned[MEMBERS];

    (void) state;
    for (unsigned i = 0; i < MEMBERS; i++) {
        owned[i] = 2 * MIB;
    }
    share(owned, MEMBERS, 0, 0);
    for (unsigned i = 0; i < MEMBERS; i++) {
        assert_int_equal(shares[i], 2 * MIB);
    }
}

/* One has half of it: the others aggregate most of that. */
static void test_half(void **state)
{
    uint64_t owned[MEMBERS], all = 14 * MIB;

    (void) state;
    for (unsigned i = 0; i < MEMBERS; i++) {
        owned[i] = 3 == i ? 7 * MIB : MIB;
    }
    share(owned, MEMBERS, 0, 0);
    assert_about(sum_of_shares(MEMBERS), all);
    assert_about(most_taken_in(owned, MEMBERS), all * 7 / 8);
    for (unsigned i = 0; i < MEMBERS; i++) {
        assert_about(taken_in(owned, MEMBERS, 0, i), all * 7 / 8);
    }
}

/* Of a Reduce the root's link is full of results. */
static void test_root(void **state)
{
    uint64_t owned[MEMBERS] = {[2] = 14 * MIB};

    (void) state;
    share(owned, MEMBERS, 0, 0);
    assert_int_equal(shares[2], 0);
    for (unsigned i = 0; i < MEMBERS; i++) {
        assert_about(shares[i], 2 == i ? 0 : 2 * MIB);
    }
    assert_about(most_taken_in(owned, MEMBERS), 14 * MIB);
}

static void test_two(void **state)
{
    const uint64_t owned[] = {3 * MIB, MIB};

    (void) state;
    share(owned, 2, 0, 0);
    assert_int_equal(shares[0], 3 * MIB);
    assert_int_equal(shares[1], MIB);
}

/* One server beside two: it gets its half, not a third. */
static void test_two_and_a_server(void **state)
{
    const uint64_t owned[] = {3 * MIB, MIB};

    (void) state;
    share(owned, 2, 1, 500);
    assert_int_equal(shares[0], 2 * MIB);
    assert_int_equal(shares[1] * 2, 3 * MIB);
    assert_int_equal(shares[2] * 2, MIB);
}

/* Servers have their part, by weight, and the members share the rest. */
static void test_servers(void **state)
{
    uint64_t owned[MEMBERS];

    (void) state;
    for (unsigned i = 0; i < MEMBERS; i++) {
        owned[i] = 3 * MIB;
    }
    share(owned, MEMBERS, 3, 250);
    assert_about(shares[0], MIB);
    assert_about(shares[1], 2 * MIB);
    assert_about(shares[2], 3 * MIB);
    for (unsigned i = 0; i < MEMBERS; i++) {
        assert_about(shares[3 + i], 18 * MIB / MEMBERS);
    }
}

/* As doc/architecture.md has it: k/n, or for the pair 2(n-1)k/((n-2)k + n(n-1)). */
static void test_part_of_servers(void **state)
{
    (void) state;
    assert_int_equal(oc_owner_part_of_servers(4000, 8, false), 500);
    assert_int_equal(oc_owner_part_of_servers(500, 8, false), 62);
    assert_int_equal(oc_owner_part_of_servers(0, 8, false), 0);
    assert_int_equal(oc_owner_part_of_servers(4000, 8, true), 700);
    assert_int_equal(oc_owner_part_of_servers(1000, 8, true), 225);
    assert_int_equal(oc_owner_part_of_servers(7500, 8, true), 1000);
    assert_int_equal(oc_owner_part_of_servers(1000, 2, true), 1000);
    assert_int_equal(oc_owner_part_of_servers(0, 8, true), 0);
}

static void test_only_servers(void **state)
{
    const oc_owner_lane_t lanes[] = {{.weight = 1}, {.weight = 3}};
    const uint64_t owned[] = {5 * MIB, 2 * MIB, MIB};

    (void) state;
    assert_int_equal(oc_owner_shares(owned, 3, lanes, 2, 1000, shares), OC_OK);
    assert_int_equal(shares[0], 2 * MIB);
    assert_int_equal(shares[1], 6 * MIB);
}

/* So little that nothing of it is left when it is shared. */
static void test_next_to_nothing(void **state)
{
    const uint64_t owned[MEMBERS] = {[1] = 1};

    (void) state;
    share(owned, MEMBERS, 2, 500);
    assert_true(sum_of_shares(2 + MEMBERS) > 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_two_and_a_server),
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_part_of_servers),
        cmocka_unit_test(test_only_servers),
        cmocka_unit_test(test_next_to_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
