/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of control messages over a socket: pieces, bursts, ends and limits. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/stream.h"

static oc_stream_t stream;
static int peer;
static uint8_t bytes[OC_MAX_BODY + OC_FRAME_SIZE];
static uint8_t address[OC_MAX_ADDRESS];

static void open_pair(size_t max_body)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    oc_stream_init(&stream, pair[0], max_body);
    peer = pair[1];
}

static void close_pair(void)
{
    oc_stream_close(&stream);
    oc_stream_close(&stream);
    close(peer);
}

static oc_control_t ping(uint32_t number)
{
    return (oc_control_t) {.type = OC_CONTROL_PING, .ping = number};
}

static oc_control_t *large_message(unsigned num_aggregators)
{
    static oc_control_t message;

    memset(&message, 0, sizeof(message));
    message.type = OC_CONTROL_WELCOME;
    message.welcome.version = 1;
    message.welcome.incarnation = 1;
    message.welcome.num_aggregators = (uint16_t) num_aggregators;
    for (unsigned i = 0; i < num_aggregators; i++) {
        message.welcome.address[i] = (oc_bytes_t) {.data = address, .length = sizeof(address)};
    }
    return &message;
}

static void put(const void *data, size_t length)
{
    assert_int_equal(send(peer, data, length, MSG_NOSIGNAL), length);
}

static void expect_ping(uint32_t number)
{
    oc_control_t message;
    size_t used = 0;

    assert_int_equal(oc_stream_next(&stream, &message, &used), OC_OK);
    assert_int_equal(message.type, OC_CONTROL_PING);
    assert_int_equal(message.ping, number);
    oc_stream_drop(&stream, used);
}

static void expect_next(oc_status_t expected)
{
    oc_control_t message;
    size_t used;

    assert_int_equal(oc_stream_next(&stream, &message, &used), expected);
}

static void test_nothing_there(void **state)
{
    (void) state;
    open_pair(1024);
    assert_int_equal(oc_stream_read(&stream), OC_OK);
    expect_next(OC_IN_PROGRESS);
    assert_int_equal(oc_stream_flush(&stream), OC_OK);
    assert_false(oc_stream_wants_write(&stream));
    close_pair();
}

static void test_byte_by_byte(void **state)
{
    oc_control_t message = ping(0x01020304);
    size_t length = oc_control_encode(&message, bytes, sizeof(bytes));

    (void) state;
    open_pair(1024);
    for (size_t i = 0; i < length; i++) {
        expect_next(OC_IN_PROGRESS);
        put(bytes + i, 1);
        assert_int_equal(oc_stream_read(&stream), OC_OK);
    }
    expect_ping(0x01020304);
    expect_next(OC_IN_PROGRESS);
    close_pair();
}

static void test_several_in_one_read(void **state)
{
    size_t length = 0;

    (void) state;
    open_pair(4096);
    for (uint32_t i = 0; i < 100; i++) {
        oc_control_t message = ping(i);

        length += oc_control_encode(&message, bytes + length, sizeof(bytes) - length);
    }
    put(bytes, length - 1);
    assert_int_equal(oc_stream_read(&stream), OC_OK);
    for (uint32_t i = 0; i < 99; i++) {
        expect_ping(i);
    }
    expect_next(OC_IN_PROGRESS);
    put(bytes + length - 1, 1);
    assert_int_equal(oc_stream_read(&stream), OC_OK);
    expect_ping(99);
    expect_next(OC_IN_PROGRESS);
    close_pair();
}

/* The pointers of a message are good until it is dropped. */
static void test_pointers(void **state)
{
    oc_control_t *message = large_message(1), got;
    size_t length = oc_control_encode(message, bytes, sizeof(bytes)), used;

    (void) state;
    open_pair(OC_MAX_BODY);
    put(bytes, length);
    assert_int_equal(oc_stream_read(&stream), OC_OK);
    assert_int_equal(oc_stream_next(&stream, &got, &used), OC_OK);
    assert_int_equal(used, length);
    assert_int_equal(got.welcome.address[0].length, sizeof(address));
    assert_memory_equal(got.welcome.address[0].data, address, sizeof(address));
    oc_stream_drop(&stream, used);
    close_pair();
}

/* More bytes than the limit wait in the socket, and come when there is room again. */
static void test_more_than_the_buffer(void **state)
{
    uint32_t sent = 0, got = 0;
    oc_control_t message;
    size_t used, length = 0;

    (void) state;
    open_pair(64);
    for (; sent < 2000; sent++) {
        message = ping(sent);
        length += oc_control_encode(&message, bytes + length, sizeof(bytes) - length);
    }
    put(bytes, length);
    for (int round = 0; round < 2000 && got < sent; round++) {
        assert_int_equal(oc_stream_read(&stream), OC_OK);
        while (OC_OK == oc_stream_next(&stream, &message, &used)) {
            assert_int_equal(message.ping, got++);
            oc_stream_drop(&stream, used);
        }
    }
    assert_int_equal(got, sent);
    close_pair();
}

/* A peer that sends for ever gets no more memory than one message and what was rounded up. */
static void test_bounded_input(void **state)
{
    oc_control_t *message = large_message(OC_MAX_AGGREGATORS);
    size_t length = oc_control_encode(message, bytes, sizeof(bytes)), at = 0;

    (void) state;
    open_pair(100000);
    while (at < length) {
        ssize_t put_in = send(peer, bytes + at, length - at, MSG_NOSIGNAL);

        at += put_in > 0 ? (size_t) put_in : 0;
        assert_int_equal(oc_stream_read(&stream), OC_OK);
        if (stream.in_used > 100000) {
            break;
        }
    }
    expect_next(OC_ERR_LIMIT);
    assert_true(stream.in_capacity <= 2 * (100000 + OC_FRAME_SIZE));
    close_pair();
}

static void test_too_large(void **state)
{
    oc_control_t message = ping(1);

    (void) state;
    open_pair(3);
    put(bytes, oc_control_encode(&message, bytes, sizeof(bytes)));
    assert_int_equal(oc_stream_read(&stream), OC_OK);
    expect_next(OC_ERR_LIMIT);
    stream.max_body = 4;
    expect_ping(1);
    close_pair();
}

static void test_garbage(void **state)
{
    (void) state;
    open_pair(1024);
    put("G", 1);
    assert_int_equal(oc_stream_read(&stream), OC_OK);
    expect_next(OC_ERR_INVALID);
    close_pair();
    open_pair(1024);
    put("OCST\x63\0\x07\0\4\0\0\0", 12);
    assert_int_equal(oc_stream_read(&stream), OC_OK);
    expect_next(OC_ERR_VERSION);
    close_pair();
}

/* What came before the end is still there to be looked at. */
static void test_peer_closes(void **state)
{
    oc_control_t message = ping(5);
    size_t length = oc_control_encode(&message, bytes, sizeof(bytes));

    (void) state;
    open_pair(1024);
    put(bytes, length);
    put(bytes, length - 3);
    close(peer);
    assert_int_equal(oc_stream_read(&stream), OC_ERR_UNREACHABLE);
    expect_ping(5);
    expect_next(OC_IN_PROGRESS);
    assert_int_equal(oc_stream_read(&stream), OC_ERR_UNREACHABLE);
    assert_int_equal(oc_stream_send(&stream, &message), OC_ERR_UNREACHABLE);
    peer = -1;
    close_pair();
}

static size_t drain_peer(uint8_t *into, size_t room)
{
    size_t got = 0;
    ssize_t more;

    while (got < room && (more = recv(peer, into + got, room - got, 0)) > 0) {
        got += (size_t) more;
    }
    return got;
}

/* A message larger than what the socket takes goes in pieces, complete and in order. */
static void test_partial_writes(void **state)
{
    static uint8_t got[OC_MAX_BODY + OC_FRAME_SIZE + 64];
    oc_control_t *message = large_message(OC_MAX_AGGREGATORS), last = ping(9);
    size_t expected = oc_control_encode(message, bytes, sizeof(bytes)), total = 0;
    int small = 4096, rounds = 0;

    (void) state;
    open_pair(1024);
    (void) setsockopt(stream.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    assert_int_equal(oc_stream_send(&stream, message), OC_OK);
    assert_true(oc_stream_wants_write(&stream));
    assert_int_equal(oc_stream_send(&stream, &last), OC_OK);
    while (total < expected + OC_FRAME_SIZE + 4 && rounds++ < 100000) {
        total += drain_peer(got + total, sizeof(got) - total);
        assert_int_equal(oc_stream_flush(&stream), OC_OK);
    }
    assert_false(oc_stream_wants_write(&stream));
    assert_int_equal(total, expected + OC_FRAME_SIZE + 4);
    assert_memory_equal(got, bytes, expected);
    assert_true(rounds > 2);
    assert_int_equal(oc_control_decode(got + expected, OC_FRAME_SIZE + 4, 4, &last),
                     OC_FRAME_SIZE + 4);
    assert_int_equal(last.ping, 9);
    close_pair();
}

/* A peer that does not read is given up before it costs more than a few messages' memory. */
static void test_peer_does_not_read(void **state)
{
    oc_status_t status = OC_OK;
    int sent = 0;

    (void) state;
    open_pair(1024);
    while (OC_OK == status && sent < 100) {
        status = oc_stream_send(&stream, large_message(OC_MAX_AGGREGATORS));
        sent++;
    }
    assert_int_equal(status, OC_ERR_TIMEOUT);
    assert_in_range(sent, 2, 10);
    assert_true(stream.out_used <= 5u * OC_MAX_BODY);
    close_pair();
}

static void test_send_nonsense(void **state)
{
    oc_control_t message = {.type = 99};

    (void) state;
    open_pair(1024);
    assert_int_equal(oc_stream_send(&stream, &message), OC_ERR_INVALID);
    assert_false(oc_stream_wants_write(&stream));
    message = ping(3);
    assert_int_equal(oc_stream_send(&stream, &message), OC_OK);
    assert_int_equal(drain_peer(bytes, sizeof(bytes)), OC_FRAME_SIZE + 4);
    close_pair();
}

static void test_close_of_nothing(void **state)
{
    oc_stream_t nothing = {.fd = -1};

    (void) state;
    oc_stream_close(&nothing);
    oc_stream_close(&nothing);
    assert_int_equal(nothing.fd, -1);
}

static int setup(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(address); i++) {
        address[i] = (uint8_t) (i * 13 + 1);
    }
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_several_in_one_read),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_more_than_the_buffer),
        cmocka_unit_test(test_bounded_input),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_peer_closes),
        cmocka_unit_test(test_partial_writes),
        cmocka_unit_test(test_peer_does_not_read),
        cmocka_unit_test(test_send_nonsense),
        cmocka_unit_test(test_close_of_nothing),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, setup, NULL);
}
