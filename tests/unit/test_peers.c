/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of messages between processes: several ends inside one process. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "multicast/peers/cast_peers.h"
#include "multicast/wire/contact.h"

#define PATIENCE (60 * OC_SECOND)
#define LONGEST  4096u
#define MANY     3000u
#define ROOM     (256u << 10)

/* One process; left posts to right in all tests. */
static const uint8_t job_key[OC_JOB_KEY_SIZE] = {1, 2, 3};

typedef struct {
    oc_peers_t *peers;
    unsigned arrived, lost, wrong;
    size_t length;             /* that the next messages must have */
    oc_cast_peer_t *last_lost;
} end_t;

static end_t left, right;
static oc_cast_peer_t *to_right;
static oc_outbox_t *outbox;

static uint8_t byte_at(size_t i)
{
    return (uint8_t) (i * 7 + 1);
}

static void on_arrived(void *arg, const uint8_t *bytes, size_t length)
{
    end_t *end = arg;

    end->arrived++;
    if (length != end->length) {
        end->wrong++;
    }
    for (size_t i = 0; i < length; i++) {
        if (byte_at(i) != bytes[i]) {
            end->wrong++;
            return;
        }
    }
}

static void on_lost(void *arg, oc_cast_peer_t *peer)
{
    end_t *end = arg;

    end->lost++;
    end->last_lost = peer;
}

static void open_end(end_t *end)
{
    oc_peers_events_t events = {.arrived = on_arrived, .lost = on_lost, .arg = end};
    char error[256] = "";

    *end = (end_t) {.length = LONGEST};
    if (OC_OK
        != oc_peers_open(&events, NULL, LONGEST, job_key, &end->peers, error, sizeof(error))) {
        fail_msg("%s", error);
    }
    oc_admission_admit(oc_peers_admission(end->peers), &in6addr_loopback, 1);
}

static oc_cast_peer_t *get_peer(end_t *from, uint32_t process, const end_t *to)
{
    size_t length;
    const void *address = oc_peers_address(to->peers, &length);
    oc_cast_peer_t *peer = oc_cast_peer_get(from->peers, process,
                                            oc_contact_digest(address, length));

    assert_non_null(peer);
    oc_cast_peer_learn(peer, address, length, false);
    return peer;
}

/* Network transport only: what two hosts would use, and what notices a loss. */
static int setup(void **state)
{
    (void) state;
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    open_end(&left);
    open_end(&right);
    outbox = oc_outbox_new();
    to_right = get_peer(&left, 7, &right);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    oc_outbox_drop(outbox);
    oc_peers_close(left.peers);
    oc_peers_close(right.peers);
    return 0;
}

static void post(size_t head, size_t data)
{
    uint8_t bytes[2 * LONGEST];

    for (size_t i = 0; i < head + data; i++) {
        bytes[i] = byte_at(i);
    }
    oc_cast_peer_post(to_right, outbox, bytes, head, 0 == data ? NULL : bytes + head, data);
    /* they were copied */
    memset(bytes, 0, sizeof(bytes));
}

static void progress(void)
{
    if (NULL != left.peers) {
        (void) oc_peers_progress(left.peers);
    }
    if (NULL != right.peers) {
        (void) oc_peers_progress(right.peers);
    }
}

static void wait_for(const unsigned *count, unsigned value)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (*count < value && oc_clock_ns() < end) {
        progress();
    }
    assert_int_equal(*count, value);
}

/* Until nothing is pending any more. */
static void wait_for_leaving(void)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (oc_peers_pending(left.peers) > 0 && oc_clock_ns() < end) {
        progress();
    }
    assert_int_equal(oc_peers_pending(left.peers), 0);
}

static void test_messages_of_all_lengths(void **state)
{
    unsigned count = 0;

    (void) state;
    for (size_t head = 1; head <= LONGEST; head = head * 3 + 1) {
        size_t data = LONGEST - head;

        right.length = head;
        post(head, 0);
        wait_for(&right.arrived, ++count);
        right.length = LONGEST;
        post(head, data);
        wait_for(&right.arrived, ++count);
    }
    wait_for_leaving();
    assert_int_equal(right.wrong, 0);
    assert_int_equal(oc_outbox_unsent(outbox), 0);
    assert_int_equal(oc_cast_peer_room(to_right), ROOM);
}

static void test_many_messages(void **state)
{
    (void) state;
    for (unsigned i = 0; i < MANY; i++) {
        post(24, LONGEST - 24);
        if (0 == i % 50) {
            progress();
        }
    }
    assert_true(oc_outbox_unsent(outbox) <= oc_peers_pending(left.peers));
    wait_for(&right.arrived, MANY);
    wait_for_leaving();
    assert_int_equal(right.wrong, 0);
    assert_int_equal(oc_outbox_unsent(outbox), 0);
    assert_int_equal(oc_cast_peer_room(to_right), ROOM);
}

static void test_room(void **state)
{
    (void) state;
    assert_int_equal(oc_cast_peer_room(to_right), ROOM);
    for (size_t posted = 0; posted <= ROOM; posted += LONGEST) {
        post(LONGEST, 0);
    }
    /* nothing has been progressed: at most what the connection takes at once has left */
    assert_true(oc_cast_peer_room(to_right) + LONGEST * oc_outbox_unsent(outbox) >= ROOM);
    assert_true(oc_cast_peer_room(to_right) < ROOM);
}

static void test_message_that_is_too_long(void **state)
{
    (void) state;
    post(LONGEST, 1);
    post(LONGEST, 0);
    wait_for(&right.arrived, 1);
    assert_int_equal(right.wrong, 0);
}

static void test_outbox_dropped_before_the_messages_left(void **state)
{
    (void) state;
    for (unsigned i = 0; i < 100; i++) {
        post(LONGEST, 0);
    }
    oc_outbox_drop(outbox);
    outbox = NULL;
    oc_cast_peer_release(to_right);
    wait_for(&right.arrived, 100);
    assert_int_equal(right.wrong, 0);
}

static void test_peers_are_shared(void **state)
{
    oc_cast_peer_t *again = get_peer(&left, 7, &right);

    (void) state;
    assert_ptr_equal(again, to_right);
    assert_int_equal(oc_cast_peer_process(again), 7);
    oc_cast_peer_release(again);
    post(LONGEST, 0);
    wait_for(&right.arrived, 1);
}

static void test_loss(void **state)
{
    (void) state;
    post(LONGEST, 0);
    wait_for(&right.arrived, 1);
    assert_string_equal(oc_cast_peer_reason(to_right), "");
    oc_peers_close(right.peers);
    right.peers = NULL;
    post(LONGEST, 0);
    wait_for(&left.lost, 1);
    assert_ptr_equal(left.last_lost, to_right);
    assert_string_equal(oc_cast_peer_reason(to_right), "its connection broke");
    wait_for_leaving();
    /* to somebody who is gone */
    post(LONGEST, 0);
    assert_int_equal(oc_outbox_unsent(outbox), 0);
    progress();
    assert_int_equal(left.lost, 1);
    oc_cast_peer_release(to_right);
}

static void test_peer_that_comes_back(void **state)
{
    oc_cast_peer_t *before = to_right;

    (void) state;
    post(LONGEST, 0);
    wait_for(&right.arrived, 1);
    oc_peers_close(right.peers);
    open_end(&right);
    to_right = get_peer(&left, 7, &right);
    assert_ptr_not_equal(to_right, before);
    post(LONGEST, 0);
    wait_for(&right.arrived, 1);
    assert_int_equal(left.lost, 1);
    assert_ptr_equal(left.last_lost, before);
    oc_cast_peer_release(before);
    post(LONGEST, 0);
    wait_for(&right.arrived, 2);
}

/* One that is not known yet. */
static void get_unknown(const end_t *to, const void **address, size_t *length)
{
    oc_cast_peer_release(to_right);
    *address = oc_peers_address(to->peers, length);
    to_right = oc_cast_peer_get(left.peers, 8, oc_contact_digest(*address, *length));
    assert_non_null(to_right);
    assert_false(oc_cast_peer_is_known(to_right));
}

static void test_address_comes_later(void **state)
{
    const void *address;
    uint8_t wrong[8] = {1, 2, 3};
    size_t length;

    (void) state;
    get_unknown(&right, &address, &length);
    /* nobody knows where this has to go */
    post(24, 1000);
    assert_int_equal(oc_outbox_unsent(outbox), 0);
    assert_int_equal(oc_peers_pending(left.peers), 0);
    oc_cast_peer_learn(to_right, wrong, sizeof(wrong), false);
    assert_false(oc_cast_peer_is_known(to_right));
    oc_cast_peer_learn(to_right, address, length, false);
    assert_true(oc_cast_peer_is_known(to_right));
    oc_cast_peer_learn(to_right, wrong, sizeof(wrong), false);
    right.length = 1024;
    post(24, 1000);
    wait_for(&right.arrived, 1);
    wait_for_leaving();
    assert_int_equal(right.wrong, 0);
    assert_int_equal(oc_cast_peer_room(to_right), ROOM);
}

/* Who learns of a peer because that seeks it waits for its first message; who meets it otherwise does not. */
static void test_shy(void **state)
{
    const void *address;
    size_t length;

    (void) state;
    get_unknown(&right, &address, &length);
    oc_cast_peer_learn(to_right, address, length, true);
    assert_true(oc_cast_peer_is_known(to_right));
    assert_false(oc_cast_peer_is_reachable(to_right));
    oc_cast_peer_learn(to_right, address, length, false);
    assert_false(oc_cast_peer_is_reachable(to_right));
    oc_cast_peer_heard(to_right);
    assert_true(oc_cast_peer_is_reachable(to_right));
    oc_cast_peer_learn(to_right, address, length, true);
    assert_true(oc_cast_peer_is_reachable(to_right));
}

static void test_lost_before_it_was_known(void **state)
{
    const void *address;
    size_t length;

    (void) state;
    get_unknown(&right, &address, &length);
    assert_non_null(oc_cast_peer_get(left.peers, 8, 1 + oc_contact_digest(address, length)));
    wait_for(&left.lost, 1);
    assert_ptr_equal(left.last_lost, to_right);
    oc_cast_peer_learn(to_right, address, length, false);
    post(24, 1000);
    assert_int_equal(oc_outbox_unsent(outbox), 0);
    assert_int_equal(oc_peers_pending(left.peers), 0);
    oc_cast_peer_release(to_right);
}

static void test_sleep(void **state)
{
    uint64_t end = oc_clock_ns() + PATIENCE;
    struct pollfd event = {.events = POLLIN};

    (void) state;
    post(LONGEST, 0);
    wait_for(&right.arrived, 1);
    while (!oc_peers_arm(right.peers, &event.fd) && oc_clock_ns() < end) {
        progress();
    }
    assert_int_equal(poll(&event, 1, 0), 0);
    post(LONGEST, 0);
    (void) oc_peers_progress(left.peers);
    assert_int_equal(poll(&event, 1, 5000), 1);
    wait_for(&right.arrived, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_messages_of_all_lengths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_message_that_is_too_long, setup, teardown),
        cmocka_unit_test_setup_teardown(test_outbox_dropped_before_the_messages_left, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_peers_are_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(test_loss, setup, teardown),
        cmocka_unit_test_setup_teardown(test_peer_that_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_address_comes_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_before_it_was_known, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sleep, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
