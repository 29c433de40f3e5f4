/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of what repairs cost: what several hosts have missed is multicast again, one host is
 * given its own, few ranks connect to each other, and it does not take long.
 */
/* Test: quick 120; sanitizers: all 300 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/fixture.h"

#define MEGABYTE (1u << 20)
#define PAYLOAD  (1472u - OC_DATAGRAM_HEADER)

/* What is lost: all datagrams of a kind from a rank on, to some ranks. */
static struct {
    oc_datagram_kind_t kind;
    uint64_t receivers;          /* a bit each */
    uint32_t first, count;       /* fragments of rank 0's block */
    unsigned long long lost;
} plot;

static bool lose(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    oc_datagram_t header;

    (void) arg;
    (void) from;
    assert_true(oc_datagram_decode(bytes, length, &header));
    if (plot.kind != header.kind || 0 != header.rank || 0 == (plot.receivers >> to & 1)
        || header.index < plot.first || header.index - plot.first >= plot.count) {
        return true;
    }
    plot.lost++;
    return false;
}

static int set_up(void **state)
{
    (void) set_up_crew(state);
    network_real(&config.network, 2);
    memset(&plot, 0, sizeof(plot));
    return 0;
}

/* A Bcast of rank 0. */
static void add_bcast(unsigned ranks, size_t bytes, size_t *lengths)
{
    memset(lengths, 0, ranks * sizeof(*lengths));
    lengths[0] = bytes;
    (void) crew_add(crew, &(operation_t) {.lengths = lengths, .blocking = true});
}

static double seconds(unsigned ranks, unsigned operation)
{
    uint64_t begin = 0, end = 0;

    for (unsigned i = 0; i < ranks; i++) {
        const outcome_t *outcome = crew_outcome(crew, i, operation);

        begin = outcome->begin > begin ? outcome->begin : begin;
        end = outcome->end > end ? outcome->end : end;
    }
    return (double) (end - begin) * 1e-9;
}

/* At most 2 log n partners, and the neighbours in the tree. */
static void expect_few_connections(unsigned ranks)
{
    unsigned most = 8;

    for (unsigned step = 1; step < ranks; step *= 2) {
        most += 2;
    }
    for (unsigned i = 0; i < ranks; i++) {
        assert_in_range(network_peers(crew_network(crew), i), 1, most);
    }
}

/* On its way from the root to the switch: nobody else has it. */
static void play_root_loss(unsigned ranks, size_t bytes)
{
    size_t lengths[256];
    unsigned long long distinct;

    assert_true(ranks <= 256);
    begin_crew(ranks);
    expect_probed();
    fabric_lose_up(network_fabric(crew_network(crew)), 0, 0.01);
    add_bcast(ranks, bytes, lengths);
    expect_success(60 * OC_SECOND);
    distinct = fabric_up(network_fabric(crew_network(crew)), 0)->lost * PAYLOAD;
    assert_true(distinct > 10 * PAYLOAD);
    assert_in_range(crew_totals(crew).repair_bytes, distinct / 2, 2 * distinct);
    assert_true(crew_totals(crew).fragments_recast > 0);
    expect_few_connections(ranks);
}

static void test_what_all_have_missed_is_multicast_again(void **state)
{
    (void) state;
    play_root_loss(8, 8 * MEGABYTE);
    play_root_loss(64, 8 * MEGABYTE);
    play_root_loss(200, 8 * MEGABYTE);
}

/* Much of what the root sends is in its kernel at once, and on its way for long. */
static void test_root_of_a_slow_link(void **state)
{
    (void) state;
    config.network.rate = 25000000; /* bytes a second */
    play_root_loss(8, 8 * MEGABYTE);
    play_root_loss(64, 8 * MEGABYTE);
}

static void test_one_host_is_given_its_own(void **state)
{
    size_t lengths[16];

    (void) state;
    config.network.meddler.datagram = lose;
    plot.kind = OC_DATAGRAM_FRAGMENT;
    plot.receivers = 1 << 5;
    plot.first = 100;
    plot.count = 50;
    begin_crew(16);
    expect_probed();
    add_bcast(16, MEGABYTE, lengths);
    expect_success(60 * OC_SECOND);
    assert_int_equal(plot.lost, 50);
    assert_int_equal(crew_totals(crew).fragments_recast, 0);
    assert_int_equal(crew_totals(crew).repair_bytes, 50 * PAYLOAD);
    assert_int_equal(crew_counters(crew, 5)->fragments_recovered, 50);
}

/* Multicast does not help a rank that it does not reach. */
static void test_a_host_that_hears_nothing_is_given_everything(void **state)
{
    size_t lengths[16];

    (void) state;
    config.network.meddler.datagram = lose;
    plot.kind = OC_DATAGRAM_REPAIR;
    plot.receivers = 1 << 3 | 1 << 4;
    plot.count = UINT32_MAX;
    begin_crew(16);
    expect_probed();
    fabric_lose_up(network_fabric(crew_network(crew)), 0, 0.05);
    add_bcast(16, 4 * MEGABYTE, lengths);
    expect_success(60 * OC_SECOND);
    assert_true(plot.lost > 0);
    assert_true(crew_totals(crew).fragments_recast > 0);
}

/* Whatever one of the ranks does: it is only later. */
static void test_a_partner_that_computes(void **state)
{
    size_t lengths[16];

    (void) state;
    for (unsigned away = 1; away < 16; away += 3) {
        begin_crew(16);
        expect_probed();
        fabric_lose_up(network_fabric(crew_network(crew)), 0, 0.05);
        add_bcast(16, 4 * MEGABYTE, lengths);
        crew_pause(crew, away, now() + OC_MILLISECOND, OC_SECOND);
        expect_success(60 * OC_SECOND);
        assert_true(seconds(16, 0) < 1.5);
    }
}

/* 6 MiB on 64 hosts with 10 Gbit/s. */
static double play_losses(double share)
{
    begin_crew(64);
    expect_probed();
    for (unsigned i = 0; i < 64; i++) {
        fabric_lose_down(network_fabric(crew_network(crew)), i, share);
    }
    (void) crew_add(crew, &(operation_t) {.block = 6 * MEGABYTE / 64, .blocking = true});
    expect_success(60 * OC_SECOND);
    expect_few_connections(64);
    return seconds(64, 0);
}

static void test_losses_at_hosts_take_no_longer_than_the_operation(void **state)
{
    double lossless = play_losses(0);

    (void) state;
    assert_true(play_losses(0.001) < 2 * lossless);
    assert_true(play_losses(0.01) < 2 * lossless);
}

static int by_time(const void *one, const void *other)
{
    double a = *(const double *) one, b = *(const double *) other;

    return (a > b) - (a < b);
}

/* The median of operations of so many bytes of each rank. */
static double play_some(unsigned ranks, size_t block, double share)
{
    double times[9];
    unsigned count = sizeof(times) / sizeof(times[0]);

    begin_crew(ranks);
    expect_probed();
    for (unsigned i = 0; i < ranks; i++) {
        fabric_lose_down(network_fabric(crew_network(crew)), i, share);
    }
    for (unsigned i = 0; i < count; i++) {
        (void) crew_add(crew, &(operation_t) {.block = block, .blocking = true});
        expect_success(60 * OC_SECOND);
        times[i] = seconds(ranks, i);
    }
    if (0 == share) {
        assert_int_equal(crew_totals(crew).fragments_lost, 0);
        assert_int_equal(crew_totals(crew).fragments_duplicated, 0);
    }
    qsort(times, count, sizeof(times[0]), by_time);
    return times[count / 2];
}

/* All wait for a rank that computes, and look less and less often: what is lost afterwards is soon missed. */
static void test_repairs_after_a_pause_come_soon(void **state)
{
    uint64_t pause = 50 * OC_MILLISECOND, over;

    (void) state;
    begin_crew(8);
    expect_probed();
    for (unsigned i = 0; i < 12; i++) {
        bool paused = i >= 2; /* the first ones tell how fast the network is */

        if (2 == i) {
            fabric_lose_up(network_fabric(crew_network(crew)), 1, 0.1);
        }
        over = now() + OC_MILLISECOND / 10 + pause;
        if (paused) {
            crew_pause(crew, 1, over - pause, pause);
        }
        (void) crew_add(crew, &(operation_t) {.block = MEGABYTE / 8, .blocking = true});
        expect_success(60 * OC_SECOND);
        for (unsigned rank = 0; paused && rank < 8; rank++) {
            assert_in_range(crew_outcome(crew, rank, i)->end, over, over + 8 * OC_MILLISECOND);
        }
    }
}

/* 256 KiB on 64 hosts, and a fragment of each of 8: ranks miss some in most operations. */
static void test_small_operations_do_not_wait_for_long(void **state)
{
    (void) state;
    assert_true(play_some(64, 4096, 0.01) < 0.004);
    assert_true(play_some(8, 1000, 0.05) < 0.003);
}

static void test_repairs_on_slow_links_come_soon(void **state)
{
    double lossless;

    (void) state;
    config.network.rate = 25000000; /* bytes a second */
    config.network.piece = 16384;
    lossless = play_some(8, MEGABYTE / 8, 0);
    assert_true(play_some(8, MEGABYTE / 8, 0.05) < 1.5 * lossless);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_crew)
    const struct CMUnitTest tests[] = {
        TEST(test_what_all_have_missed_is_multicast_again),
        TEST(test_root_of_a_slow_link),
        TEST(test_one_host_is_given_its_own),
        TEST(test_a_host_that_hears_nothing_is_given_everything),
        TEST(test_a_partner_that_computes),
        TEST(test_losses_at_hosts_take_no_longer_than_the_operation),
        TEST(test_repairs_after_a_pause_come_soon),
        TEST(test_small_operations_do_not_wait_for_long),
        TEST(test_repairs_on_slow_links_come_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
