/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of simulated links and switches: times, queues, and the ways that packets go. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "tests/multicast/events.h"
#include "tests/multicast/fabric.h"

#define MAX_HOSTS 600

static fabric_config_t config;
static events_t *events;
static fabric_t *fabric;
static unsigned arrivals[MAX_HOSTS], released, sent;
static uint64_t last_arrival, sent_at;

static void be_sent(void *owner, void *thing)
{
    assert_ptr_equal(owner, &config);
    assert_ptr_equal(thing, &released);
    sent++;
    sent_at = events_now(events);
}

static void arrive(void *owner, void *thing, unsigned host)
{
    assert_ptr_equal(owner, &config);
    assert_ptr_equal(thing, &released);
    arrivals[host]++;
    last_arrival = events_now(events);
}

static void be_released(void *owner, void *thing)
{
    assert_ptr_equal(owner, &config);
    assert_ptr_equal(thing, &released);
    released++;
}

static const fabric_client_t client = {be_sent, arrive, be_released};

/* A byte takes a nanosecond. */
static int set_up(void **state)
{
    (void) state;
    config = (fabric_config_t) {.num_hosts = 4, .rate = OC_SECOND, .latency = 100,
                                .port_queue = 1 << 30};
    memset(arrivals, 0, sizeof(arrivals));
    released = sent = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    events_free(events);
    fabric_free(fabric);
    return 0;
}

static void begin(void)
{
    events = events_new(0);
    fabric = fabric_new(&config, events);
}

static void begin_anew(void **state)
{
    tear_down(state);
    memset(arrivals, 0, sizeof(arrivals));
    released = sent = 0;
    begin();
}

static void run(void)
{
    uint64_t until = events_now(events) + 10 * OC_SECOND;

    while (events_step(events, until)) {
    }
}

static void send(unsigned from, uint32_t to, size_t bytes)
{
    fabric_send(fabric, from, to, bytes, &client, &config, &released);
}

static void test_one_packet(void **state)
{
    (void) state;
    begin();
    send(0, 2, 1000);
    run();
    assert_int_equal(arrivals[2], 1);
    assert_int_equal(arrivals[0] + arrivals[1] + arrivals[3], 0);
    assert_int_equal(last_arrival, 1000 + 1000 + 100);
    assert_int_equal(sent_at, 1000);
    assert_int_equal(sent, 1);
    assert_int_equal(released, 1);
    assert_int_equal(fabric_up(fabric, 0)->bytes, 1000);
    assert_int_equal(fabric_down(fabric, 2)->bytes, 1000);
    assert_int_equal(fabric_total(fabric).packets, 2);
}

static void test_links_are_shared(void **state)
{
    (void) state;
    begin();
    for (unsigned i = 0; i < 10; i++) {
        send(0, 2, 1000);
        send(1, 2, 1000);
    }
    assert_int_equal(fabric_wait(fabric, 0, 500), 10500);
    run();
    assert_int_equal(arrivals[2], 20);
    /* the last of the first link has to wait for ten of the other */
    assert_int_equal(last_arrival, 1000 + 20 * 1000 + 100);
    assert_int_equal(fabric_down(fabric, 2)->most_queued, 11 * 1000);
}

static void test_full_queues_lose(void **state)
{
    (void) state;
    config.port_queue = 5000;
    begin();
    for (unsigned i = 0; i < 10; i++) {
        send(0, 2, 1000);
        send(1, 2, 1000);
    }
    run();
    assert_int_equal(fabric_down(fabric, 2)->most_queued, 5000);
    assert_int_equal(arrivals[2] + fabric_down(fabric, 2)->lost, 20);
    /* one goes on while two come, and four wait at the end */
    assert_int_equal(arrivals[2], 10 + 4);
    assert_int_equal(released, 20);
}

/* What a link was free for is used later, as far as the bucket holds it. */
static void test_token_buckets(void **state)
{
    uint64_t begin_at;

    (void) state;
    config.burst = 5000;
    begin();
    run();
    begin_at = events_now(events);
    for (unsigned i = 0; i < 10; i++) {
        send(0, 2, 1000);
    }
    assert_int_equal(fabric_wait(fabric, 0, 0), 5000);
    run();
    assert_int_equal(arrivals[2], 10);
    assert_int_equal(last_arrival - begin_at, 5000 + 100);
}

static void expect_crossings(unsigned from, uint32_t to, unsigned long long links)
{
    unsigned long long before = fabric_total(fabric).packets;

    send(from, to, 1000);
    run();
    assert_int_equal(fabric_total(fabric).packets - before, links);
}

static void test_ways_in_a_clos(void **state)
{
    (void) state;
    config.num_hosts = 64;
    config.leaf_hosts = 4;
    config.pod_hosts = 16;
    begin();
    expect_crossings(0, 3, 2);
    expect_crossings(0, 4, 4);
    expect_crossings(15, 0, 4);
    expect_crossings(0, 16, 6);
    expect_crossings(63, 0, 6);
    assert_int_equal(arrivals[3] + arrivals[4] + arrivals[0] + arrivals[16], 5);
    assert_int_equal(released, 5);
}

static unsigned parts(unsigned all, unsigned share)
{
    return (all + share - 1) / share;
}

/* Every host casts once: P (P + ceil(P/L) + ceil(P/Q)) links, and all others get each packet. */
static void expect_all_to_all(unsigned hosts, unsigned leaf, unsigned pod)
{
    begin();
    for (unsigned i = 0; i < hosts; i++) {
        send(i, FABRIC_ALL, 100);
    }
    run();
    for (unsigned i = 0; i < hosts; i++) {
        assert_int_equal(arrivals[i], hosts - 1);
    }
    assert_int_equal(released, hosts);
    assert_int_equal(fabric_total(fabric).packets,
                     hosts * (hosts + parts(hosts, leaf) + parts(hosts, pod)));
}

static void test_multicast_in_a_clos(void **state)
{
    static const unsigned shapes[][3] = {{64, 4, 16}, {100, 8, 32}, {63, 4, 16}, {65, 4, 16},
                                         {600, 16, 64}};

    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        config.num_hosts = shapes[i][0];
        config.leaf_hosts = shapes[i][1];
        config.pod_hosts = shapes[i][2];
        memset(arrivals, 0, sizeof(arrivals));
        released = 0;
        if (i > 0) {
            tear_down(state);
        }
        expect_all_to_all(shapes[i][0], shapes[i][1], shapes[i][2]);
    }
}

/* A ring in the order of hosts, whose steps go to the next one: 2 - 2/P times as many links. */
static void test_ring_in_a_clos(void **state)
{
    const unsigned hosts = 128, leaf = 8, pod = 32;
    unsigned long long multicast = hosts * (hosts + hosts / leaf + hosts / pod);

    (void) state;
    config.num_hosts = hosts;
    config.leaf_hosts = leaf;
    config.pod_hosts = pod;
    begin();
    for (unsigned step = 0; step + 1 < hosts; step++) {
        for (unsigned i = 0; i < hosts; i++) {
            send(i, (i + 1) % hosts, 100);
        }
        run();
    }
    assert_int_equal(fabric_total(fabric).packets * hosts, multicast * (2 * hosts - 2));
}

static void test_one_level_less(void **state)
{
    (void) state;
    config.num_hosts = 16;
    config.leaf_hosts = 4;
    begin();
    expect_crossings(0, 15, 4);
    expect_crossings(0, FABRIC_ALL, 1 + 1 + 3 + 15);
    config.leaf_hosts = 16;
    begin_anew(state);
    expect_crossings(0, FABRIC_ALL, 1 + 15);
}

static void test_slow_trunks(void **state)
{
    (void) state;
    config.num_hosts = 8;
    config.leaf_hosts = 4;
    config.trunk_rate = OC_SECOND / 10;
    begin();
    for (unsigned i = 0; i < 4; i++) {
        send(i, 4 + i, 1000);
    }
    run();
    assert_int_equal(last_arrival, 1000 + 4 * 10000 + 10000 + 1000 + 3 * 100);
}

static void test_freed_with_packets_under_way(void **state)
{
    (void) state;
    begin();
    send(0, FABRIC_ALL, 1000);
    send(0, 1, 1000);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(events_step(events, UINT64_MAX));
    }
    begin_anew(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_one_packet),
        TEST(test_links_are_shared),
        TEST(test_full_queues_lose),
        TEST(test_token_buckets),
        TEST(test_ways_in_a_clos),
        TEST(test_multicast_in_a_clos),
        TEST(test_ring_in_a_clos),
        TEST(test_one_level_less),
        TEST(test_slow_trunks),
        TEST(test_freed_with_packets_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
