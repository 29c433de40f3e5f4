/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of the simulated network itself: what it promises, other tests rely on. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "tests/multicast/network.h"

#define NODES 4

/* A node that writes down what arrives. */
typedef struct {
    unsigned datagrams, messages, turns;
    uint8_t last[64];             /* first bytes of the messages */
    uint64_t datagram_at, message_at;
    bool spins;
} witness_t;

static network_config_t config;
static network_t *network;
static witness_t witnesses[NODES];

static void get_datagram(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    witness_t *witness = arg;

    (void) from;
    assert_true(length >= OC_DATAGRAM_HEADER);
    assert_int_equal(bytes[0], 0x11);
    witness->datagrams++;
    witness->datagram_at = network_now(network);
}

static void get_message(void *arg, const uint8_t *bytes, size_t length)
{
    witness_t *witness = arg;

    assert_true(length > 0);
    witness->last[witness->messages++ % sizeof(witness->last)] = bytes[0];
    witness->message_at = network_now(network);
}

static uint64_t progress(void *arg)
{
    witness_t *witness = arg;

    witness->turns++;
    return witness->spins ? network_now(network) : UINT64_MAX;
}

static bool wants_nothing(void *arg)
{
    (void) arg;
    return false;
}

static int set_up(void **state)
{
    (void) state;
    network_defaults(&config, NODES);
    config.rate = 1000000000; /* a byte takes a nanosecond */
    memset(witnesses, 0, sizeof(witnesses));
    return 0;
}

static void begin(void)
{
    network = network_new(&config);
    for (unsigned i = 0; i < NODES; i++) {
        node_t node = {.datagram = get_datagram, .message = get_message, .progress = progress,
                       .wants_to_send = wants_nothing, .arg = &witnesses[i]};

        network_attach(network, i, &node);
    }
}

static int tear_down(void **state)
{
    (void) state;
    network_free(network);
    return 0;
}

static unsigned cast(unsigned from, unsigned count)
{
    static const uint8_t payload[1000];
    oc_transport_t *transport = network_transport(network, from);
    oc_outgoing_t batch[OC_MAX_BATCH];

    for (unsigned i = 0; i < count; i++) {
        memset(batch[i].header, 0x11, sizeof(batch[i].header));
        batch[i].payload = payload;
        batch[i].length = sizeof(payload) - OC_DATAGRAM_HEADER;
    }
    return transport->ops->send(transport, batch, count);
}

static void post(unsigned from, unsigned to, uint8_t number)
{
    network_post(network, from, to, &number, 1, NULL, 0, true);
}

static void run_for(uint64_t time)
{
    assert_false(network_run(network, network_now(network) + time, NULL, NULL));
}

static void test_reaches_all_others(void **state)
{
    uint64_t sent;

    (void) state;
    begin();
    sent = network_now(network);
    assert_int_equal(cast(1, 1), 1);
    run_for(OC_SECOND);
    for (unsigned i = 0; i < NODES; i++) {
        assert_int_equal(witnesses[i].datagrams, i != 1);
    }
    /* both links, latency, and until the node looks */
    assert_in_range(witnesses[0].datagram_at - sent, 1000 + 1000 + 5000, 9000);
}

/* ns from sending three datagrams to the last arrival, and packets on the sender's link. */
static uint64_t send_three(size_t piece, unsigned long long *packets)
{
    uint64_t sent;

    config.piece = piece;
    begin();
    sent = network_now(network);
    assert_int_equal(cast(1, 3), 3);
    run_for(OC_SECOND);
    assert_int_equal(witnesses[0].datagrams, 3);
    *packets = fabric_up(network_fabric(network), 1)->packets;
    return witnesses[0].datagram_at - sent;
}

static void test_pieces_cross_links_whole(void **state)
{
    unsigned long long packets;

    /* of each datagram but the last the second link carries the bytes while the first one is busy */
    assert_in_range(send_three(0, &packets), 3000 + 1000 + 5000, 11000);
    assert_int_equal(packets, 3);
    tear_down(state);
    set_up(state);
    assert_in_range(send_three(2000, &packets), 3000 + 1000 + 5000, 11000);
    assert_int_equal(packets, 2);
    tear_down(state);
    set_up(state);
    assert_in_range(send_three(3000, &packets), 3000 + 3000 + 5000, 13000);
    assert_int_equal(packets, 1);
}

static void test_loopback(void **state)
{
    (void) state;
    config.loopback = true;
    begin();
    assert_int_equal(cast(1, 1), 1);
    run_for(OC_SECOND);
    assert_int_equal(witnesses[1].datagrams, 1);
}

static void test_link_has_no_room(void **state)
{
    (void) state;
    config.send_queue = 10000;
    begin();
    assert_int_equal(cast(0, 8), 8);
    assert_int_equal(cast(0, 8), 2);
    assert_int_equal(cast(0, 8), 0);
    run_for(5000); /* five are out */
    assert_int_equal(cast(0, 8), 5);
    run_for(OC_SECOND);
    assert_int_equal(witnesses[1].datagrams, 15);
}

static void test_incast_is_lost(void **state)
{
    (void) state;
    config.port_queue = 30000;
    begin();
    for (unsigned from = 1; from < NODES; from++) {
        assert_int_equal(cast(from, 40), 40);
    }
    run_for(OC_SECOND);
    /* 120 in 40 us, of which 40 go on, and 30 wait */
    assert_in_range(witnesses[0].datagrams, 69, 72);
    assert_int_equal(witnesses[0].datagrams + network_traffic(network, 0)->lost_at_port, 120);
    /* two senders for each of the others */
    assert_in_range(witnesses[1].datagrams, 69, 72);
}

static void test_node_that_does_not_look(void **state)
{
    (void) state;
    config.staging = 20000;
    begin();
    network_pause(network, 2, network_now(network) + OC_MILLISECOND);
    assert_int_equal(cast(0, 50), 50);
    run_for(OC_SECOND);
    assert_int_equal(witnesses[1].datagrams, 50);
    assert_int_equal(witnesses[2].datagrams, 20);
    assert_int_equal(network_traffic(network, 2)->lost_at_node, 30);
}

static void test_faults_are_independent(void **state)
{
    (void) state;
    config.faults.drop = 0.5;
    begin();
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(cast(0, 50), 50);
        run_for(OC_SECOND);
    }
    assert_in_range(witnesses[1].datagrams, 200, 300);
    assert_in_range(witnesses[2].datagrams, 200, 300);
    assert_int_not_equal(witnesses[1].datagrams, witnesses[2].datagrams);
}

static void test_messages_arrive_in_any_order(void **state)
{
    unsigned seen[32] = {0}, overtaken = 0;

    (void) state;
    begin();
    for (uint8_t i = 0; i < 32; i++) {
        post(0, 3, i);
    }
    assert_int_equal(network_unsent(network, 0), 32);
    assert_int_equal(network_room(network, 0, 3), config.message_room - 32);
    run_for(OC_SECOND);
    assert_int_equal(witnesses[3].messages, 32);
    for (unsigned i = 0; i < 32; i++) {
        seen[witnesses[3].last[i]]++;
        overtaken += i > 0 && witnesses[3].last[i] < witnesses[3].last[i - 1];
    }
    for (unsigned i = 0; i < 32; i++) {
        assert_int_equal(seen[i], 1);
    }
    assert_true(overtaken > 5);
    assert_int_equal(network_unsent(network, 0), 0);
    assert_int_equal(network_room(network, 0, 3), config.message_room);
}

/* What was posted just before stays until the process looks again. */
static void test_paused_nodes_send_no_messages(void **state)
{
    (void) state;
    begin();
    run_for(OC_MILLISECOND);
    post(0, 1, 1);
    network_pause(network, 0, network_now(network) + OC_SECOND);
    run_for(OC_SECOND / 2);
    assert_int_equal(witnesses[1].messages, 0);
    assert_int_equal(network_unsent(network, 0), 1);
    run_for(OC_SECOND);
    assert_int_equal(witnesses[1].messages, 1);
}

static void test_paused_nodes_get_messages_later(void **state)
{
    uint64_t until;

    (void) state;
    begin();
    until = network_now(network) + OC_SECOND;
    network_pause(network, 1, until);
    post(0, 1, 1);
    run_for(2 * OC_SECOND);
    assert_int_equal(witnesses[1].messages, 1);
    assert_true(witnesses[1].message_at >= until);
}

static void test_dead_nodes(void **state)
{
    (void) state;
    begin();
    run_for(OC_MILLISECOND);
    post(2, 0, 1);
    network_kill(network, 2);
    post(0, 2, 1);
    (void) cast(0, 1);
    run_for(OC_SECOND);
    assert_int_equal(witnesses[0].messages, 0);
    assert_int_equal(witnesses[2].messages, 0);
    assert_int_equal(witnesses[2].datagrams, 0);
    assert_int_equal(network_room(network, 0, 2), config.message_room - 1);
}

static bool lose_for_two(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    (void) arg;
    (void) from;
    (void) bytes;
    (void) length;
    return 2 != to;
}

static void test_meddler(void **state)
{
    (void) state;
    config.meddler = (meddler_t) {.datagram = lose_for_two, .message = lose_for_two};
    begin();
    (void) cast(0, 5);
    post(0, 1, 1);
    post(0, 2, 1);
    run_for(OC_SECOND);
    assert_int_equal(witnesses[1].datagrams, 5);
    assert_int_equal(witnesses[2].datagrams, 0);
    assert_int_equal(witnesses[1].messages, 1);
    assert_int_equal(witnesses[2].messages, 0);
}

static void test_spinning_is_a_complaint(void **state)
{
    (void) state;
    begin();
    witnesses[3].spins = true;
    run_for(OC_SECOND);
    assert_non_null(strstr(network_complaint(network), "node 3"));
}

static void test_idle_nodes_have_no_turns(void **state)
{
    (void) state;
    begin();
    run_for(3600 * OC_SECOND);
    assert_string_equal(network_complaint(network), "");
    for (unsigned i = 0; i < NODES; i++) {
        assert_in_range(witnesses[i].turns, 1, 2);
    }
}

static void test_same_seed_same_run(void **state)
{
    uint64_t ends[3];

    (void) state;
    for (unsigned run = 0; run < 3; run++) {
        config.seed = 2 == run ? 8 : 7;
        if (run > 0) {
            network_free(network);
        }
        begin();
        post(0, 1, 1);
        run_for(OC_SECOND);
        ends[run] = witnesses[1].message_at;
    }
    assert_true(ends[0] == ends[1]);
    assert_true(ends[0] != ends[2]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_reaches_all_others),
        TEST(test_pieces_cross_links_whole),
        TEST(test_loopback),
        TEST(test_link_has_no_room),
        TEST(test_incast_is_lost),
        TEST(test_node_that_does_not_look),
        TEST(test_faults_are_independent),
        TEST(test_messages_arrive_in_any_order),
        TEST(test_paused_nodes_send_no_messages),
        TEST(test_paused_nodes_get_messages_later),
        TEST(test_dead_nodes),
        TEST(test_meddler),
        TEST(test_spinning_is_a_complaint),
        TEST(test_idle_nodes_have_no_turns),
        TEST(test_same_seed_same_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
