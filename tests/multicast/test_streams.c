/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of simulated TCP: what it carries, how fast, and how it shares links. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "tests/multicast/flow.h"
#include "tests/multicast/streams.h"

#define HOSTS    6
#define MEGABYTE (1u << 20)

static const unsigned hosts[HOSTS] = {0, 1, 2, 3, 4, 5};

static fabric_config_t links;
static size_t window;
static events_t *events;
static fabric_t *fabric;
static streams_t *streams;

/* By sender. */
static struct {
    unsigned count, dropped;
    uintptr_t last;
    uint64_t at;
    size_t bytes;
} got[HOSTS];

static size_t message_length;

/* Messages are numbers from 1, which have to come in order. */
static void be_delivered(void *arg, unsigned from, unsigned to, void *thing)
{
    assert_null(arg);
    assert_true(to < HOSTS && to != from);
    assert_int_equal((uintptr_t) thing, got[from].last + 1);
    got[from].last++;
    got[from].count++;
    got[from].bytes += message_length;
    got[from].at = events_now(events);
}

static void be_dropped(void *arg, void *thing)
{
    assert_null(arg);
    assert_non_null(thing);
    got[0].dropped++;
}

/* 1 Gbit/s, 10 us, room for everything. */
static int set_up(void **state)
{
    (void) state;
    links = (fabric_config_t) {.num_hosts = HOSTS, .rate = 125000000, .latency = 10000,
                               .port_queue = 1 << 30};
    window = 256 << 10;
    for (unsigned i = 0; i < HOSTS; i++) {
        got[i].count = got[i].dropped = 0;
        got[i].last = 0;
        got[i].bytes = 0;
    }
    return 0;
}

static void begin(void)
{
    streams_config_t config = {.num_processes = HOSTS, .host_of = hosts, .window = window,
                               .delivered = be_delivered, .dropped = be_dropped};

    config.events = events = events_new(0);
    config.fabric = fabric = fabric_new(&links, events);
    streams = streams_new(&config);
}

static int tear_down(void **state)
{
    (void) state;
    events_free(events);
    streams_free(streams);
    fabric_free(fabric);
    return 0;
}

static void send(unsigned from, unsigned to, unsigned count, size_t length)
{
    message_length = length;
    for (unsigned i = 0; i < count; i++) {
        streams_send(streams, from, to, length, (void *) (uintptr_t) (i + 1));
    }
}

static void run_until(uint64_t until)
{
    while (events_step(events, until)) {
    }
}

static void run(void)
{
    run_until(events_now(events) + 100 * OC_SECOND);
}

/* Seconds that so many bytes of payload take on a link in full segments. */
static double full_speed(size_t bytes)
{
    return (double) bytes * (FLOW_SEGMENT + FLOW_HEADER) / FLOW_SEGMENT / (double) links.rate;
}

static void test_first_message(void **state)
{
    (void) state;
    begin();
    send(0, 1, 1, 100);
    run();
    assert_int_equal(got[0].count, 1);
    /* two round trips before it, and its own way */
    assert_in_range(got[0].at, 5 * 10000, 5 * 10000 + 40000);
    assert_int_equal(streams_peers(streams, 0), 1);
    assert_int_equal(streams_peers(streams, 1), 1);
    assert_int_equal(streams_peers(streams, 2), 0);
}

static void test_both_directions(void **state)
{
    (void) state;
    begin();
    send(0, 1, 50, 3000);
    send(1, 0, 70, 3000);
    run();
    assert_int_equal(got[0].count, 50);
    assert_int_equal(got[1].count, 70);
    assert_int_equal(streams_peers(streams, 0), 1);
}

static void test_a_stream_fills_its_link(void **state)
{
    double seconds;

    (void) state;
    begin();
    send(0, 1, 64, MEGABYTE);
    run();
    assert_int_equal(got[0].count, 64);
    seconds = (double) got[0].at / OC_SECOND;
    assert_true(seconds > full_speed(64 * MEGABYTE));
    assert_true(seconds < 1.01 * full_speed(64 * MEGABYTE));
    assert_int_equal(fabric_total(fabric).lost, 0);
    /* every second segment is acknowledged */
    assert_in_range(fabric_up(fabric, 1)->packets, 64 * MEGABYTE / FLOW_SEGMENT / 2,
                    64 * MEGABYTE / FLOW_SEGMENT / 2 + 100);
    /* the window, and the headers that it has on the link */
    assert_true(fabric_down(fabric, 1)->most_queued <= window * 21 / 20);
}

/* Queues of 100 KB: the window of one connection does not fit. */
static void test_losses_are_repaired(void **state)
{
    (void) state;
    links.port_queue = 100000;
    begin();
    for (unsigned from = 1; from < HOSTS; from++) {
        send(from, 0, 16, MEGABYTE);
    }
    run();
    for (unsigned from = 1; from < HOSTS; from++) {
        assert_int_equal(got[from].count, 16);
        assert_true((double) got[from].at / OC_SECOND < 1.25 * full_speed(5 * 16 * MEGABYTE));
    }
    assert_true(fabric_total(fabric).lost > 0);
}

static void test_streams_share_a_link(void **state)
{
    double shares[2];

    (void) state;
    links.port_queue = 200000;
    links.jitter = 5000;
    begin();
    send(1, 0, 4000, 100000);
    run_until(OC_SECOND / 4);
    send(2, 0, 4000, 100000);
    run_until(OC_SECOND);
    for (unsigned i = 0; i < 2; i++) {
        got[1 + i].bytes = 0;
    }
    run_until(3 * OC_SECOND);
    for (unsigned i = 0; i < 2; i++) {
        shares[i] = (double) got[1 + i].bytes / (2.0 * (double) links.rate);
    }
    assert_true(shares[0] + shares[1] > 0.9);
    assert_true(shares[0] > 0.3 && shares[1] > 0.3);
}

/* The last segments of a message, after which nothing comes that would tell of a loss. */
static void test_lost_ends(void **state)
{
    (void) state;
    links.port_queue = 4000;
    begin();
    for (unsigned from = 1; from < HOSTS; from++) {
        send(from, 0, 1, 2900);
    }
    run();
    for (unsigned from = 1; from < HOSTS; from++) {
        assert_int_equal(got[from].count, 1);
        assert_true(got[from].at < 5 * OC_SECOND);
    }
}

/* Small messages, one after the other: their acknowledgements go together. */
static void test_acknowledgements_of_little(void **state)
{
    uint64_t begun;

    (void) state;
    begin();
    send(0, 1, 1, 100);
    run();
    begun = fabric_up(fabric, 1)->bytes;
    for (unsigned i = 1; i < 200; i++) {
        streams_send(streams, 0, 1, 100, (void *) (uintptr_t) (i + 1));
        run_until(events_now(events) + OC_MILLISECOND / 2);
    }
    assert_int_equal(got[0].count, 200);
    assert_in_range(fabric_up(fabric, 1)->bytes - begun, 2 * FLOW_HEADER, 4 * FLOW_HEADER);
}

static void test_freed_with_messages_under_way(void **state)
{
    unsigned left;

    (void) state;
    begin();
    send(0, 1, 10, MEGABYTE);
    run_until(40 * OC_MILLISECOND);
    left = 10 - got[0].count;
    assert_in_range(left, 1, 9);
    send(0, 2, 5, 100);
    tear_down(state);
    assert_int_equal(got[0].dropped, left + 5);
    begin();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_first_message),
        TEST(test_both_directions),
        TEST(test_a_stream_fills_its_link),
        TEST(test_losses_are_repaired),
        TEST(test_streams_share_a_link),
        TEST(test_lost_ends),
        TEST(test_acknowledgements_of_little),
        TEST(test_freed_with_messages_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
