/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of how a vector is divided among servers and peers. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/plan/division.h"
#include "net/address.h"

#define MAX_LANES  4096
#define MAX_PERIOD 16384
#define ONE        OC_WEIGHT_ONE

static uint64_t shares[MAX_LANES];

/* A server for each weight (0 at the end), and a peer on each host if it helps: how many lanes. */
static unsigned make_shares(uint32_t hosts, const uint32_t *weights)
{
    uint32_t peers = 0;
    uint64_t sum = 0;
    unsigned count = 0;

    for (unsigned i = 0; 0 != weights[i]; i++) {
        sum += weights[i];
    }
    peers = 0 == sum || oc_peers_help(hosts, sum) ? hosts : 0;
    for (unsigned i = 0; 0 != weights[i]; i++) {
        shares[count++] = oc_share_of_server(peers, weights[i], 1);
    }
    for (unsigned i = 0; i < peers; i++) {
        shares[count++] = oc_share_of_peer(peers, sum);
    }
    return count;
}

/*
 * How long the busiest link needs, where 1 is the whole vector on a host's: what a division says of
 * it, and the formula.
 */
static double busiest(uint32_t hosts, const uint32_t *weights, const double *parts, unsigned count)
{
    unsigned servers = 0;
    double most = 0;

    for (; 0 != weights[servers]; servers++) {
        double time = hosts * parts[servers] * ONE / weights[servers];

        most = time > most ? time : most;
    }
    for (unsigned i = servers; i < count; i++) {
        double time = 1 - parts[i] + (hosts - 1) * parts[i];

        most = time > most ? time : most;
    }
    return servers == count && most < 1 ? 1 : most;
}

static double formula(double n, double k)
{
    return k >= n ? 1 : 2 * n * (n - 1) / (n * n + k * n - 2 * k);
}

static void expect_time(uint32_t hosts, const uint32_t *weights, double expected)
{
    unsigned count = make_shares(hosts, weights);
    double parts[64], sum = 0, k = 0;
    oc_division_t division;

    for (unsigned i = 0; i < count; i++) {
        sum += (double) shares[i];
    }
    for (unsigned i = 0; i < count; i++) {
        parts[i] = (double) shares[i] / sum;
    }
    for (unsigned i = 0; 0 != weights[i]; i++) {
        k += (double) weights[i] / ONE;
    }
    assert_true(fabs(busiest(hosts, weights, parts, count) - formula(hosts, k)) < 1e-6);
    assert_true(fabs(formula(hosts, k) - expected) < 0.005);
    assert_int_equal(oc_division_make(shares, count, &division), OC_OK);
    for (unsigned i = 0; i < count; i++) {
        parts[i] = (double) division.portions[i].weight / division.period;
    }
    /* small whole numbers cost a hundredth at most */
    assert_true(busiest(hosts, weights, parts, count) < formula(hosts, k) * 1.011);
    oc_division_free(&division);
}

static void test_times(void **state)
{
    (void) state;
    expect_time(8, (const uint32_t[]) {0}, 1.75);
    expect_time(8, (const uint32_t[]) {ONE, 0}, 1.6);
    expect_time(8, (const uint32_t[]) {ONE, ONE, 0}, 1.474);
    expect_time(8, (const uint32_t[]) {ONE, ONE, ONE, ONE, 0}, 1.273);
    expect_time(8, (const uint32_t[]) {ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE, 0}, 1);
    expect_time(4, (const uint32_t[]) {ONE, ONE, ONE, ONE, ONE, ONE, 0}, 1);
    expect_time(2, (const uint32_t[]) {ONE, 0}, 1);
    expect_time(2, (const uint32_t[]) {0}, 1);
    expect_time(3, (const uint32_t[]) {ONE, 0}, 1.2);
    /* weights count as that many servers */
    expect_time(8, (const uint32_t[]) {4 * ONE, 0}, 1.273);
    expect_time(8, (const uint32_t[]) {3 * ONE, ONE, 0}, 1.273);
    expect_time(8, (const uint32_t[]) {ONE / 2, ONE * 3 / 2, 0}, 1.474);
    expect_time(8, (const uint32_t[]) {2500, 700, 0}, 1.346);
    expect_time(8, (const uint32_t[]) {8 * ONE, 0}, 1);
    expect_time(8, (const uint32_t[]) {7 * ONE, 5 * ONE, 0}, 1);
}

static void test_who_helps(void **state)
{
    (void) state;
    assert_true(oc_peers_help(8, 7999));
    assert_false(oc_peers_help(8, 8000));
    assert_false(oc_peers_help(8, 100000));
    assert_true(oc_peers_help(OC_MAX_PEERS, 1));
    assert_false(oc_peers_help(OC_MAX_PEERS + 1, 1));
    /* a vector that does not leave its host is the servers' if there are any */
    assert_false(oc_peers_help(1, 1));
    assert_false(oc_peers_help(0, 1));
}

/* Each server has its weight, however many aggregators share it. */
static void test_aggregators(void **state)
{
    oc_division_t division;

    (void) state;
    shares[0] = oc_share_of_server(0, ONE, 1);
    for (unsigned i = 1; i < 4; i++) {
        shares[i] = oc_share_of_server(0, ONE, 3);
    }
    assert_int_equal(oc_division_make(shares, 4, &division), OC_OK);
    assert_int_equal(division.period, 6);
    assert_int_equal(division.portions[0].weight, 3);
    assert_int_equal(division.least, 1);
    oc_division_free(&division);
}

/* Every place is somebody's, and any piece from the beginning has of each lane what it should. */
static void check_places(const oc_division_t *division)
{
    uint32_t *given = calloc(division->num_lanes, sizeof(*given));
    unsigned *owner = calloc(division->period, sizeof(*owner));
    uint64_t sum = 0;

    for (unsigned lane = 0; lane < division->num_lanes; lane++) {
        const oc_portion_t *portion = &division->portions[lane];

        assert_true(portion->weight >= division->least);
        sum += portion->weight;
        for (uint32_t i = 0; i < portion->weight; i++) {
            assert_true(portion->places[i] < division->period);
            assert_int_equal(owner[portion->places[i]], 0);
            assert_true(0 == i || portion->places[i] > portion->places[i - 1]);
            owner[portion->places[i]] = lane + 1;
        }
    }
    assert_int_equal(sum, division->period);
    for (uint32_t place = 0; place < division->period; place++) {
        given[owner[place] - 1]++;
        for (unsigned lane = 0; lane < division->num_lanes; lane++) {
            double due = (double) (place + 1) * division->portions[lane].weight / division->period;

            if (!(fabs(given[lane] - due) < 1)) {
                fail_msg("lane %u has %u places of %u, and should have %f", lane, given[lane],
                         place + 1, due);
            }
        }
    }
    free(given);
    free(owner);
}

static void check_numbers(const oc_division_t *division)
{
    for (unsigned lane = 0; lane < division->num_lanes; lane++) {
        uint64_t weight = division->portions[lane].weight, last = 0;

        for (uint64_t number = 0; number < 3 * weight; number++) {
            uint64_t place = oc_division_place(division, lane, number);

            assert_true(0 == number || place > last);
            assert_int_equal(oc_division_before(division, lane, place), number);
            assert_int_equal(oc_division_before(division, lane, place + 1), number + 1);
            last = place;
        }
        assert_int_equal(oc_division_before(division, lane, 0), 0);
        /* a vector of 2^63 bytes in its millionth operation is no trouble */
        assert_int_equal(oc_division_before(division, lane, (uint64_t) division->period << 40),
                         weight << 40);
    }
}

static void check_division(unsigned count)
{
    oc_division_t division;

    assert_int_equal(oc_division_make(shares, count, &division), OC_OK);
    assert_int_equal(division.num_lanes, count);
    assert_true(division.least > 0);
    assert_true(division.period <= (count > MAX_PERIOD ? count : MAX_PERIOD));
    check_places(&division);
    check_numbers(&division);
    oc_division_free(&division);
}

static void test_places(void **state)
{
    uint64_t random = 1;

    (void) state;
    for (uint32_t hosts = 2; hosts < 20; hosts++) {
        for (uint32_t servers = 0; servers < hosts + 2; servers++) {
            uint32_t weights[32] = {0};

            for (uint32_t i = 0; i < servers; i++) {
                random = random * 6364136223846793005ull + 1442695040888963407ull;
                weights[i] = hosts % 2 ? ONE : 1 + (uint32_t) (random >> 40) % (4 * ONE);
            }
            check_division(make_shares(hosts, weights));
        }
    }
}

static void test_extremes(void **state)
{
    (void) state;
    shares[0] = 1;
    check_division(1);
    shares[1] = UINT64_MAX;
    check_division(2);
    /* one heavy lane among many light ones is not held back by them */
    for (unsigned i = 0; i < 200; i++) {
        shares[i] = 100 == i ? 50 : 1;
    }
    check_division(200);
    shares[0] = oc_share_of_server(65536, 1000 * ONE, 1);
    shares[1] = oc_share_of_server(65536, 1, 64);
    shares[2] = oc_share_of_peer(65536, 1000 * ONE + 1);
    check_division(3);
    for (unsigned i = 0; i < MAX_LANES; i++) {
        shares[i] = 1 + i % 7;
    }
    check_division(1000);
}

/* Lanes with the same share take turns: lane (chunk + sequence) mod their number. */
static void test_equal(void **state)
{
    oc_division_t division;

    (void) state;
    for (unsigned i = 0; i < MAX_LANES; i++) {
        shares[i] = 12345;
    }
    for (unsigned count = 1; count <= MAX_LANES; count = 3 * count + 1) {
        assert_int_equal(oc_division_make(shares, count, &division), OC_OK);
        assert_int_equal(division.period, count);
        for (unsigned lane = 0; lane < count; lane++) {
            assert_int_equal(division.portions[lane].weight, 1);
            assert_int_equal(oc_division_place(&division, lane, 5), 5 * count + lane);
        }
        oc_division_free(&division);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_who_helps),
        cmocka_unit_test(test_aggregators),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_equal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
